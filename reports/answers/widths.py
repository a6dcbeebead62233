"""The value at a finite width that stands beside every limit, and the sentence where the two are far apart.

What the limit drops of order 1/p (`numerics.saddle_point.finite_width`) may be large where the data hold the means
weakly: after a small step, for functions mu0 that nearly vanish or nearly coincide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from giantsteps.numerics.models.documents import OTHER_ERRORS, apart_points, apart_sentence, at_width_json, is_apart
from giantsteps.reports.command_line.console import number

if TYPE_CHECKING:
    from giantsteps.numerics.models.model import Model


def apart_line(documents: Sequence[dict[str, Any]], width: int) -> str | None:
    """The sentence for one point or a sweep; None where all points agree."""
    if len(documents) == 1:
        return apart_sentence(documents[0])
    return apart_points(width, sum(map(is_apart, documents)), len(documents))


def shown(document: dict[str, Any], digits: int = 10) -> str:
    """The test error at the finite width for a cell of a table."""
    there = document.get("at_width")
    return "-" if there is None or not isinstance(there["test_error"], float) else number(there["test_error"], digits)


def error_rows(document: dict[str, Any]) -> list[tuple[str, str]]:
    """All errors for people: the limit and its value at the finite width. Where they are far apart, the value at the
    width comes first; where it is missing, its reason stands there.
    """
    limit, there = _errors(document), document.get("at_width")
    if there is None:
        return [*limit, *([("at finite width", document["why"])] if document.get("why") else [])]
    beside, where = _errors(there), f"at width {there['width']}"
    if apart_sentence(document):
        return [*((f"{name} {where}", value) for name, value in beside), ("limit", _together(limit))]
    return [*limit, (where, _together(beside))]


def _errors(document: dict[str, Any]) -> list[tuple[str, str]]:
    names = ("test_error", "training_error", *OTHER_ERRORS)
    return [
        (name.replace("_", " "), number(math.inf if isinstance(document[name], dict) else document[name]))
        for name in names
        if name in document
    ]


def _together(rows: list[tuple[str, str]]) -> str:
    return ", ".join(f"{name} {value}" for name, value in rows)


def best_at_width(best: dict[str, Any], width: int, model: Model) -> dict[str, Any]:
    """The document of a best ridge with the errors at the finite width there."""
    from giantsteps.numerics.saddle_point.solve import solve

    ridge = best["ridge"]
    if not isinstance(ridge, float):
        return best | {"at_width": None, "why": "at infinite ridge a readout of finite width vanishes"}
    solution = solve(model.changed(ridge=ridge))
    return best | at_width_json(width, solution.converged, partial(solution.at_width, width))
