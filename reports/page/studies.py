"""Which studies the report shows, in its order; each is a module of this package with one function, `study`."""

from __future__ import annotations

from importlib import import_module

from onestep.reports.measurements.study import Study

STUDIES: tuple[str, ...] = (
    "vocabulary",
    "calibration",
    "finite_samples",
    "other_inputs",
    "initial_overlap",
    "second_step",
    "learning_rate",
    "width",
    "threshold",
    "bound_functions",
    "best_ridge",
    "spectrum_sample",
    "speed",
)


def study_of(name: str) -> Study | None:
    """The study of one module, a unit of parallel work; None where its measurements are not installed."""
    found: Study | None = import_module(f"onestep.reports.studies.{name}").study()
    return found
