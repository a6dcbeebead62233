"""Parameters that a public function reads before it uses them: a formula as text, a loss as its name."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def accepts(**readers: Callable[[Any], Any]) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """The function with these parameters read by these readers first, which raise for what they cannot read.

    A cache of the function keeps its handle: `cache_clear` of the reading function clears it.
    """

    def reading(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        order = tuple(readers.get(name) for name in signature(function).parameters)

        @wraps(function)
        def read(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            values: list[Any] = [reader(x) if reader else x for reader, x in zip(order, args, strict=False)]
            named: dict[str, Any] = {name: readers[name](x) if name in readers else x for name, x in kwargs.items()}
            return function(*values, *args[len(order) :], **named)  # type: ignore[arg-type]

        if hasattr(function, "cache_clear"):
            read.cache_clear = function.cache_clear  # type: ignore[attr-defined]
        return read

    return reading
