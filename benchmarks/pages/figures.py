"""The networks of the paper's figures: the pages `reports.studies.paper`.

python -m benchmarks.pages.figures simulate    run what is not in figures.json yet
python -m benchmarks.pages.figures             print what is said of every figure
"""

from __future__ import annotations

import sys

from giantsteps.reports.measurements.experiments import as_text, measure
from giantsteps.reports.studies.paper import after_step, along_spike, letters, spikes
from giantsteps.reports.studies.paper.samples import EXPERIMENTS, FOLDER, SEED, SLUG

if __name__ == "__main__":
    if sys.argv[1:] == ["simulate"]:
        measure(SLUG, EXPERIMENTS, SEED, FOLDER)
    for study in (
        after_step.study_1, after_step.study_2, along_spike.study_3, spikes.study_4, spikes.study_5,
        letters.study_6, along_spike.study_7,
    ):  # fmt: skip
        found = study()
        print(as_text(found) if found else "not all is measured yet: add `simulate`")
