"""A second gradient step beside the theory of one: the page `reports.studies.networks.second_step`.

python -m benchmarks.studies.second_step simulate    run what is not in second_step.json yet
python -m benchmarks.studies.second_step             print the page from the stored samples
"""

from __future__ import annotations

from giantsteps.reports.measurements.experiments import main
from giantsteps.reports.studies.networks.second_step import EXPERIMENTS, SEED, SLUG, study

if __name__ == "__main__":
    main(SLUG, EXPERIMENTS, SEED, study)
