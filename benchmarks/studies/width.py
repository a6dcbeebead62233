"""Test error against the width, and at the interpolation threshold: the page `reports.studies.width`.

python -m benchmarks.studies.width simulate    run what is not in width.json yet
python -m benchmarks.studies.width             print the page from the stored samples
"""

from __future__ import annotations

from giantsteps.reports.measurements.experiments import main
from giantsteps.reports.studies.width import EXPERIMENTS, SEED, SLUG, study

if __name__ == "__main__":
    main(SLUG, EXPERIMENTS, SEED, study)
