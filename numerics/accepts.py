"""Parameters that a public function reads before it uses them: a formula as text, a loss as its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import Parameter, signature
from typing import Any, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def accepts(**readers: Callable[[Any], Any]) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """The function with these parameters read by these readers first, which raise for what they cannot read.

    A cache of the function keeps its handle: `cache_clear` of the reading function clears it.
    """

    def reading(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        known = signature(function).parameters
        order = tuple(readers.get(name) for name in known)
        anything = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in known.values())

        @wraps(function)
        def read(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            for name in kwargs:
                if name not in known and not anything:
                    raise TypeError(_without(function.__name__, name, kwargs[name], known))
            values: list[Any] = [reader(x) if reader else x for reader, x in zip(order, args, strict=False)]
            named: dict[str, Any] = {name: readers[name](x) if name in readers else x for name, x in kwargs.items()}
            return function(*values, *args[len(order) :], **named)  # type: ignore[arg-type]

        if hasattr(function, "cache_clear"):
            read.cache_clear = function.cache_clear  # type: ignore[attr-defined]
        return read

    return reading


# What a model holds, and what a caller may think that a function of the model takes beside it.
_OF_MODEL = frozenset(
    ("activation", "target", "alpha", "beta", "ridge", "noise", "spike", "bulk", "alignment", "alpha0", "eta", "steps",
     "same_batch", "loss", "readout", "bulk_model", "gaussian_rows", "further_alignments")
)  # fmt: skip


_SWEPT = frozenset(("alpha", "beta", "ridge", "noise", "spike", "bulk", "alignment", "alpha0", "eta"))


def _without(function: str, name: str, value: object, known: Iterable[str]) -> str:
    """The sentence for a keyword that a function does not have."""
    if name not in _OF_MODEL or "model" not in known:
        return f"{function}() has no argument {name}: it takes {', '.join(known)}"
    several = isinstance(value, Iterable) and not isinstance(value, str)
    grid = f", and a grid is solve_batch(model, {name}={value if several else [value]!r})"
    return (
        f"{function}() accepts no {name}: use {function}(model.changed({name}=...))"
        f"{grid if function == 'solve' and name in _SWEPT else ''}"
    )
