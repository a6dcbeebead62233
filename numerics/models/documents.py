"""Results as plain data (dictionaries, lists, numbers and text) for JSON, and the parts that all results share.

JSON has no infinity: what is infinite is {"infinite": true, "reason": ...}, and what is not a number is null, with a
status beside it that says why. Beside a limit stand its value at a finite width and what has to be known before it is
used. Each result writes its own document (`to_dict`), and the command line prints it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from giantsteps.numerics.models.parameters import ModelError

if TYPE_CHECKING:
    from giantsteps.numerics.models.model import Model

ORDER_PARAMETERS = ("m", "zeta", "psi", "q1", "q2", "V1", "V2")

# The width whose value stands beside every limit, and by what share of the limit it may differ without a word.
WIDTH = 1000
APART = 0.05
# Beside test and training error, of a loss other than the square one.
OTHER_ERRORS = ("mean_squared_error", "classification_error")


def finite(value: Any, reason: str = "it diverges") -> Any:
    """The document with infinities spelled out and NaN as null (the status beside it says why)."""
    if isinstance(value, Mapping):
        return {key: finite(item, reason) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item, reason) for item in value]
    if isinstance(value, float):
        if math.isinf(value):
            return {"infinite": True, "reason": reason}
        return None if math.isnan(value) else value
    return value


def at_width_json(width: int, converged: bool, found: Callable[[], Any]) -> dict[str, Any]:
    """The entry `at_width`, or null with the reason in `why`.

    Both errors, and for another loss than the square one the mean squared and the classification error.
    """
    if not converged:
        return {"at_width": None, "why": "the limit did not converge, and the value at a finite width starts from it"}
    try:
        there = found()
    except ModelError as error:
        return {"at_width": None, "why": str(error)}
    if not getattr(there, "converged", True):
        return {"at_width": None, "why": str(getattr(there, "status", "it did not converge"))}
    errors = {"test_error": float(there.test_error), "training_error": float(there.training_error)}
    others = {name: getattr(there, name, None) for name in OTHER_ERRORS}
    errors |= {name: float(value) for name, value in others.items() if value is not None}
    return {"at_width": {"width": width, **finite(errors)}}


def is_apart(document: dict[str, Any], name: str = "test_error") -> bool:
    """Whether an error at the finite width differs from the limit by more than 5 %."""
    limit, there = document.get(name), (document.get("at_width") or {}).get(name)
    if not isinstance(limit, float) or not isinstance(there, float):
        return False
    return abs(there - limit) > APART * abs(limit)


def apart_sentence(document: dict[str, Any]) -> str | None:
    """The sentence for one solution; None where test and classification error agree to 5 % with their limits."""
    parts = [_apart(document, name) for name in ("test_error", "classification_error") if is_apart(document, name)]
    if not parts:
        return None
    return f"at width {document['at_width']['width']} expect {' and '.join(parts)}"


def _apart(document: dict[str, Any], name: str) -> str:
    """How far an error at the finite width is from its limit, in words."""
    limit, there = document[name], document["at_width"][name]
    gap = there - limit
    # beside a limit that is nothing to six digits of the gap, a percentage says nothing
    size = f"{100.0 * abs(gap) / abs(limit):.3g} %" if abs(limit) > 1e-6 * abs(gap) else f"{abs(gap):.3g}"
    return f"a {name.replace('_', ' ')} of {there:.4g}, {size} {'above' if gap > 0.0 else 'below'} its limit"


def apart_points(width: float, count: int, total: int) -> str | None:
    """The sentence for many solutions; None where both values agree at all of them."""
    if not count:
        return None
    share = f"by more than {100 * APART:g} % at {count} of {total} points"
    return f"at width {width:g} the test error differs from its limit {share}"


def warnings_of(document: dict[str, Any], model: Model) -> list[str]:
    """What has to be known before the numbers of a document are used, one sentence each."""
    apart = apart_sentence(document)
    return [*model.warnings, *([apart] if apart else [])]


def with_warnings(document: dict[str, Any], model: Model) -> dict[str, Any]:
    """The document with its warnings."""
    return document | {"warnings": warnings_of(document, model)}


def point_document(
    model: Model, numbers: Mapping[str, float], order_parameters: dict[str, Any], converged: bool, status: str
) -> dict[str, Any]:
    """One solved point; `numbers` holds test_error, training_error, residual and error_estimate."""
    return {
        "test_error": numbers["test_error"],
        "training_error": numbers["training_error"],
        **model.spiked(),
        "order_parameters": order_parameters,
        "residual": numbers["residual"],
        "error_estimate": numbers["error_estimate"],
        "converged": converged,
        "status": status,
        **({"rows": "gaussian"} if model.gaussian_rows else {}),
        **({"steps": [state._asdict() for state in model.states]} if model.step is not None else {}),
    }
