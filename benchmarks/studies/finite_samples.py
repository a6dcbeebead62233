"""Finite samples: n = 500, d = 200, p = 100 beside the asymptotics: the page `reports.studies.finite_samples`.

python -m benchmarks.studies.finite_samples simulate    run what is not in finite_samples.json yet
python -m benchmarks.studies.finite_samples             print the page from the stored samples
"""

from __future__ import annotations

from giantsteps.reports.measurements.experiments import main
from giantsteps.reports.studies.finite_samples import EXPERIMENTS, SEED, SLUG, study

if __name__ == "__main__":
    main(SLUG, EXPERIMENTS, SEED, study)
