"""The studies of a report by their names: each a module with a `STUDY`, or with what is named behind a colon."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from giantsteps.reports.figures.files import own_style
from giantsteps.reports.measurements.experiments import Measurement
from giantsteps.reports.measurements.study import Study
from giantsteps.reports.text.anchors import anchor


def figure_places(studies: Sequence[Study], figures: Mapping[str, int]) -> list[tuple[str, str, str]]:
    """Where each figure of the paper stands: its name, what it shows, and the name of the study's page.

    Those of ``figures`` have the figure of that number as well, by the slug of the study.
    """
    found = []
    for study in studies:
        name, _, shows = study.title.rpartition(": ") if study.slug.startswith("figure_") else ("", "", study.title)
        if study.slug in figures:
            name = f"Figure {figures[study.slug]}"
        found += [(name, shows, f"study-{anchor(study.slug)}")] if name else []
    return sorted(found, key=lambda place: place[0])


def found_at(name: str) -> Measurement | Callable[[], Study | None]:
    """The measurement, or the function that makes a study, of this name."""
    module, _, attribute = name.partition(":")
    found: Any = getattr(import_module(module), attribute or "STUDY")
    return found  # type: ignore[no-any-return]


@own_style()
def study_of(name: str) -> Study | None:
    """One study, a unit of parallel work; None where its measurements are not installed."""
    found = found_at(name)
    return found.study() if isinstance(found, Measurement) else found()
