"""Which activation learns most from one step: theory and simulated networks: `reports.studies.networks.practitioner`.

python -m benchmarks.studies.practitioner simulate    run what is not in practitioner.json yet
python -m benchmarks.studies.practitioner             print the page from the stored samples
"""

from __future__ import annotations

from giantsteps.reports.measurements.experiments import main
from giantsteps.reports.studies.networks.practitioner import EXPERIMENTS, SEED, SLUG, study

if __name__ == "__main__":
    main(SLUG, EXPERIMENTS, SEED, study)
