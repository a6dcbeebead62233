"""A callable becomes a formula: it is called with an object on which NumPy's functions and operators write text."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from giantsteps.derivations.expressions.parser import parse
from giantsteps.derivations.expressions.tree import Expression

# What a function may raise for an argument that it does not take: libraries have classes of their own.
FAILURES = (Exception,)
_LONGEST_TEXT = 10_000  # a loop may double a formula at every turn
_COMPARISONS = {"greater": ">", "greater_equal": ">=", "less": "<", "less_equal": "<="}
# Universal functions of NumPy and SciPy that the language does not write as name(argument, ...).
_WRITTEN = {
    "add": "{} + {}", "subtract": "{} - {}", "multiply": "{}*{}", "divide": "{}/{}", "power": "{}**{}",
    "negative": "-{}", "square": "{}**2", "reciprocal": "1/{}", "logaddexp": "{1} + softplus({0} - {1})",
    "log_expit": "logsigmoid({})", "heaviside": "where({0} < 0, 0, where({0} > 0, 1, {1}))",
}  # fmt: skip


class Traced(NDArrayOperatorsMixin):
    """A formula in z in place of an array; of a condition, 1 where it holds, else 0, also its `comparisons`."""

    def __init__(self, text: str, comparisons: tuple[str, ...] = ()) -> None:
        if len(text) > _LONGEST_TEXT:
            raise ValueError("the formula is too long")
        self.text, self.comparisons = text, comparisons

    def __bool__(self) -> bool:
        raise TypeError("a branch on the value of z is no formula")

    def __array_ufunc__(self, function: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            return NotImplemented
        name, written = function.__name__, [_text(given) for given in inputs]
        if name in _COMPARISONS:
            return _condition(f" {_COMPARISONS[name]} ".join(written))
        if name == "bitwise_and":
            return _condition(*inputs[0].comparisons, *inputs[1].comparisons)
        return Traced(_WRITTEN[name].format(*written) if name in _WRITTEN else f"{name}({', '.join(written)})")

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        if function is np.clip and not options:
            return np.minimum(np.maximum(*arguments[:2]), arguments[2])
        return _where(*arguments, **options) if function is np.where else NotImplemented


def _text(given: Any) -> str:
    return f"({given.text})" if isinstance(given, Traced) else f"({float(given)!r})"


def _condition(*comparisons: str) -> Traced:
    return Traced(_where(Traced("", comparisons), 1, 0).text, comparisons)


def _where(condition: Traced, holds: Any, fails: Any) -> Traced:
    (first, *more), text = condition.comparisons, _text(holds)  # of anything else there is none, which raises
    for comparison in (first, *more):
        text = f"where({comparison}, {text}, {_text(fails)})"
    return Traced(text)


def traced(function: Any) -> Expression | None:
    """The tree of a function that is called with z; None where it cannot be traced. Floats are shortest decimals."""
    try:
        return parse(_text(function(Traced("z"))), limited=False)
    except FAILURES:
        return None
