"""Inputs that are not Gaussian, dense and sparse targets: the page `reports.studies.other_inputs`.

python -m benchmarks.studies.other_inputs simulate    run what is not in other_inputs.json yet
python -m benchmarks.studies.other_inputs             print the page from the stored samples
"""

from __future__ import annotations

from giantsteps.reports.measurements.experiments import main
from giantsteps.reports.studies.other_inputs import EXPERIMENTS, SEED, SLUG, study

if __name__ == "__main__":
    main(SLUG, EXPERIMENTS, SEED, study)
