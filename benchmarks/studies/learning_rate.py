"""The best learning rate: theory and simulated networks: the page `reports.studies.networks.learning_rate`.

python -m benchmarks.studies.learning_rate simulate    run what is not in learning_rate.json yet
python -m benchmarks.studies.learning_rate             print the page from the stored samples
"""

from __future__ import annotations

from giantsteps.reports.measurements.experiments import main
from giantsteps.reports.studies.networks.learning_rate import EXPERIMENTS, SEED, SLUG, study

if __name__ == "__main__":
    main(SLUG, EXPERIMENTS, SEED, study)
