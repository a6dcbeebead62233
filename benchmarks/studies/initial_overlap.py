"""Rows that overlap before the step, where Result 3.1 breaks: the page `reports.studies.networks.initial_overlap`.

python -m benchmarks.studies.initial_overlap simulate    run what is not in initial_overlap.json yet
python -m benchmarks.studies.initial_overlap             print the page from the stored samples
"""

from __future__ import annotations

from giantsteps.reports.measurements.experiments import main
from giantsteps.reports.studies.networks.initial_overlap import EXPERIMENTS, SEED, SLUG, study

if __name__ == "__main__":
    main(SLUG, EXPERIMENTS, SEED, study)
