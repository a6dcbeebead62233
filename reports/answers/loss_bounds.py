"""What `giantsteps bounds` answers, and what it prints for a loss other than the square one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from giantsteps.numerics.models.documents import finite, warnings_of
from giantsteps.reports.answers.widths import shown
from giantsteps.reports.command_line.console import number, table

if TYPE_CHECKING:
    from giantsteps.numerics.models.model import Model

Points = list[tuple[dict[str, float], "dict[str, Any]"]]

_NONE_TRIED = "the loss falls towards the upper bound as the ridge grows, and no ridge of the scan does better"
_NONE_SOLVED = "the solver converges at no ridge of the scan; this is the loss at infinite ridge"
_GROWS = "the loss falls towards the bound as the output grows without limit, and does not reach it"


def bounds_json(model: Model, step: Callable[[], None], width: int) -> dict[str, Any]:
    """Both bounds and the best ridge, with its value at the width; of another loss the other bounds that hold beside.

    Raises ModelError if the loss is not supported for the model.
    """
    from giantsteps.numerics.bounds.best import RIDGES
    from giantsteps.numerics.bounds.of_model import bounds

    found, document = bounds(model), {}
    step()
    best = found.best_ridge()
    low, high = best.scanned["ridge"]
    least = best.to_dict(width) | {"at_smallest_ridge_tried": best.converged and best.values["ridge"] == low}
    if model.loss.name != "square":
        step()
        solved = 0 if math.isinf(low) else 1 + round(math.log10(high / low))  # one a decade
        least["ridge"] = finite(best.values["ridge"], _NONE_TRIED if solved else _NONE_SOLVED)
        least["ridges_left_out"] = RIDGES - solved
        document = {"loss": model.loss.name, "optimised": "test loss per sample, label noise included"}
    return document | found.to_dict() | {
        "best_ridge": least,
        "best_eta": None,
        "bounds_converged": found.converged,
        "converged": found.converged and best.converged,
        "warnings": warnings_of(least, model),
    }  # fmt: skip


def loss_bounds_text(swept: tuple[str, ...], results: Points, width: int) -> str:
    """One line per point, and what the bounds are of; the least loss at the finite width beside its limit."""
    first = results[0][1]
    header = [*swept, "lower bound", "least test loss", f"at width {width}", "at ridge", "upper bound"]
    header += ["mse at least", "class. error at most"] if "classification_error" in first else ["mse at least"]
    rows = []
    for point, document in results:
        best, ridge = document["best_ridge"], document["best_ridge"]["ridge"]
        row = [
            *(number(point[name], 6) for name in swept),
            number(document["lower"], 8) + ("" if document["lower_reached"] else " *"),
            number(best["test_error"], 8),
            shown(best, 8),
            "infinite" if isinstance(ridge, dict) else number(ridge, 6),
            number(document["upper"], 8) + ("" if document["upper_reached"] else " *"),
            number(document["mean_squared_error"]["lower"], 8),
        ]
        if "classification_error" in document:
            row.append(number(document["classification_error"]["upper"], 8))
        rows.append(row)
    lines = [
        f"{first['loss']} loss per test sample, label noise included; every bound is a limit of infinite width",
        table(rows, header, right=frozenset(range(len(header)))),
    ]
    if any(not (document["lower_reached"] and document["upper_reached"]) for _, document in results):
        lines.append(f"* {_GROWS}")
    left_out = sum(document["best_ridge"]["ridges_left_out"] for _, document in results)
    from giantsteps.numerics.bounds.best import LARGEST_RIDGE, SMALLEST_RIDGE

    ends = sum(at_end(document["best_ridge"]["ridge"]) for _, document in results)
    if ends:
        lines.append(
            f"at {ends} of {len(results)} points the best ridge is an end of the scan, which goes from "
            f"{SMALLEST_RIDGE:g} to {LARGEST_RIDGE:g}: one beyond it may do better"
        )
    if left_out:
        lines.append(f"{left_out} ridges at the ends of the scan were left out")
    return "\n".join(lines)


def at_end(ridge: object) -> bool:
    """Whether a best ridge is an end of the scan, so that the least loss may lie beyond it."""
    from giantsteps.numerics.bounds.best import LARGEST_RIDGE, SMALLEST_RIDGE

    return isinstance(ridge, float) and not SMALLEST_RIDGE * (1 + 1e-9) < ridge < LARGEST_RIDGE * (1 - 1e-9)
