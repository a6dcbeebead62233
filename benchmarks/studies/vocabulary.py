"""Samples of the page on vocabularies of the initial readout (Figure 6): spiked random features at three dimensions.

    python -m benchmarks.studies.vocabulary simulate    measure what is missing; writes vocabulary.json
    python -m benchmarks.studies.vocabulary             print the page

Some three minutes of one core.
"""

from __future__ import annotations

from giantsteps.reports.measurements.experiments import main
from giantsteps.reports.studies.vocabulary import EXPERIMENTS, SEED, SLUG, study

if __name__ == "__main__":
    main(SLUG, EXPERIMENTS, SEED, study)
