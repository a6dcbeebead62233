"""Which studies the report shows, in its order; each is a module with a function `study`."""

from __future__ import annotations

from importlib import import_module

from onestep.reports.measurements.study import Study

STUDIES: tuple[str, ...] = (
    "studies.vocabulary",
    "measurements.calibration",
    "studies.networks.any_activation",
    "studies.networks.practitioner",
    "studies.finite_samples",
    "studies.other_inputs",
    "studies.networks.initial_overlap",
    "studies.networks.second_step",
    "studies.networks.learning_rate",
    "studies.width",
    "studies.threshold",
    "studies.bound_functions",
    "studies.best_ridge",
    "studies.spectrum_sample",
    "studies.speed",
)


def study_of(name: str) -> Study | None:
    """The study of one module, a unit of parallel work; None where its measurements are not installed."""
    found: Study | None = import_module(f"onestep.reports.{name}").study()
    return found
