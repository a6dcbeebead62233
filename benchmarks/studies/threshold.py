"""No ridge: the interpolation threshold: the page `reports.studies.threshold`.

python -m benchmarks.studies.threshold simulate    run what is not in threshold.json yet
python -m benchmarks.studies.threshold             print the page from the stored samples
"""

from __future__ import annotations

from giantsteps.reports.measurements.experiments import main
from giantsteps.reports.studies.threshold import EXPERIMENTS, SEED, SLUG, study

if __name__ == "__main__":
    main(SLUG, EXPERIMENTS, SEED, study)
