"""Which studies the report shows, in its order; each a module with a `STUDY`, or what is named behind the colon."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from giantsteps.reports.figures.files import own_style
from giantsteps.reports.measurements.experiments import Measurement
from giantsteps.reports.measurements.study import Study

STUDIES: tuple[str, ...] = (
    "studies.paper.after_step:STUDY_1",
    "studies.paper.after_step:STUDY_2",
    "studies.paper.along_spike:STUDY_3",
    "studies.paper.spikes:STUDY_4",
    "studies.paper.spikes:STUDY_5",
    "studies.paper.letters:STUDY_6",
    "studies.paper.along_spike:STUDY_7",
    "studies.vocabulary",
    "measurements.calibration:study",
    "measurements.network_trial:study",
    "studies.networks.any_activation:study",
    "studies.networks.practitioner",
    "studies.networks.step_helps:study",
    "studies.finite_samples",
    "studies.other_inputs",
    "studies.networks.initial_overlap",
    "studies.networks.second_step",
    "studies.networks.learning_rate",
    "studies.width",
    "studies.threshold",
    "studies.bound_functions:study",
    "studies.best_ridge:study",
    "studies.spectrum_sample:study",
    "studies.speed:study",
)

# Where each figure of the paper stands in the report, by the name of its study.
PLACES = (
    ("Figure 1", "the function along the target", "study-figure-1"),
    ("Figure 2", "learning curves by the batch of the step", "study-figure-2"),
    ("Figure 3", "the functions that realise the bounds", "study-figure-3"),
    ("Figure 4", "learning curves by spike and by alignment", "study-figure-4"),
    ("Figure 5", "learning curves by the width of the network", "study-figure-5"),
    ("Figure 5", "the width at fixed and at best rates", "study-width"),
    ("Figure 6", "learning curves by the vocabulary of the readout", "study-figure-6"),
    ("Figure 6", "spiked random features and orthogonal rows by the vocabulary", "study-vocabulary"),
    ("Figure 7", "the pool of functions along the spike", "study-figure-7"),
    ("Figure 7", "the bounds along the learning rate", "study-bound-functions"),
    ("Figure 8", "the spectrum of the features", "study-spectrum-sample"),
)
# The figure of the paper that the first page shows.
FIRST = "figure_1"


def found_at(name: str) -> Measurement | Callable[[], Study | None]:
    """The measurement, or the function that makes a study, at a place of `STUDIES`."""
    module, _, attribute = name.partition(":")
    found: Any = getattr(import_module(f"giantsteps.reports.{module}"), attribute or "STUDY")
    return found  # type: ignore[no-any-return]


@own_style()
def study_of(name: str) -> Study | None:
    """One study, a unit of parallel work; None where its measurements are not installed."""
    found = found_at(name)
    return found.study() if isinstance(found, Measurement) else found()
