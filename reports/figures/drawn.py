"""The figures that the report draws, in its order."""

from __future__ import annotations

from collections.abc import Callable

from giantsteps.reports.figures import figures
from giantsteps.reports.figures.figures import Figure


def all_figures() -> tuple[Callable[[], Figure], ...]:
    """The figures in the order of the report, each to be called without arguments."""
    return (
        figures.functions_along_the_spike,
        figures.learning_curves_by_spike,
        figures.learning_curves_by_alignment,
        figures.learning_curves_by_batch,
        figures.bounds_over_the_ridge,
        figures.bounds_over_the_spike,
    )
