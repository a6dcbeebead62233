"""The value at a finite width that stands beside every limit, and the sentence where the two are far apart.

What the limit drops of order 1/p (`numerics.saddle_point.finite_width`) may be large where the data hold the means
weakly: after a small step, for functions mu0 that nearly vanish or nearly coincide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from giantsteps.numerics.models.documents import OTHER_ERRORS, apart_points, apart_sentence, is_apart
from giantsteps.reports.command_line.console import number


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
