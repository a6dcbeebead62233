"""Which studies the report shows, in its order; each a module with a `STUDY`, or what is named behind the colon."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from giantsteps.reports.figures.files import own_style
from giantsteps.reports.measurements.experiments import Measurement
from giantsteps.reports.measurements.study import Study
from giantsteps.reports.text.anchors import anchor

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
    "studies.networks.several_steps:study",
    "studies.networks.steps_and_samples:study",
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

# The figures of the paper that other studies have as well, by the slug of the study.
ALSO = {"width": 5, "vocabulary": 6, "bound-functions": 7, "spectrum_sample": 8}
# The figure of the paper that the first page shows.
FIRST = "figure_1"


def figure_places(studies: Sequence[Study]) -> list[tuple[str, str, str]]:
    """Where each figure of the paper stands: its name, what it shows, and the name of the study's page."""
    found = []
    for study in studies:
        name, _, shows = study.title.rpartition(": ") if study.slug.startswith("figure_") else ("", "", study.title)
        if study.slug in ALSO:
            name = f"Figure {ALSO[study.slug]}"
        found += [(name, shows, f"study-{anchor(study.slug)}")] if name else []
    return sorted(found, key=lambda place: place[0])


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
