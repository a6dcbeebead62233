"""A tape run over a number type: arrays of NumPy along the nodes of rules (`doubles`), or balls (`balls`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from operator import add, mul
from typing import Any, Protocol

from giantsteps.verify.compiled.tape import CompileError, Operation, Tape


class Numbers(Protocol):
    """A number type: how it has exact numbers, functions, and averages over a bound variable."""

    @property
    def nodes(self) -> Mapping[str, Any]:
        """The values of the bound variables."""

    def number(self, value: Fraction | str) -> Any:
        """A rational number or pi."""

    def root(self, value: Any) -> Any:
        """The square root."""

    def function(self, name: str, value: Any) -> Any:
        """A named function, such as erf."""

    def mean(self, variable: str, value: Any) -> Any:
        """The average over a bound variable, on its rule."""


class Program:
    """A tape with values for all that is not unknown; called with the unknowns it gives the value.

    What does not depend on the unknowns is run once. Raises CompileError naming a symbol or a function that has none.
    """

    def __init__(
        self, tape: Tape, numbers: Numbers, given: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]],
        unknowns: Sequence[str],
    ) -> None:  # fmt: skip
        self.tape, self.numbers, self.functions = tape, numbers, functions
        missing = sorted(tape.free - set(given) - set(numbers.nodes) - set(unknowns))
        if missing:
            raise CompileError(f"no value and no equation for {', '.join(missing)}")
        self._later = tape.depending(unknowns)
        self._known: list[Any] = []
        known = {**given, **numbers.nodes}
        for one, later in zip(tape.operations, self._later, strict=True):
            self._known.append(None if later else self._run(one, self._known, known))

    def __call__(self, values: Mapping[str, Any]) -> Any:
        found = list(self._known)
        for place, (one, later) in enumerate(zip(self.tape.operations, self._later, strict=True)):
            if later:
                found[place] = self._run(one, found, values)
        return found[-1]

    def _run(self, one: Operation, found: Sequence[Any], values: Mapping[str, Any]) -> Any:
        of = [found[place] for place in one.of]
        match one.kind:
            case "symbol":
                return values[one.what]
            case "number":
                return self.numbers.number(one.what)
            case "mean":
                return self.numbers.mean(one.what, of[0])
            case "sum":
                return reduce(add, of)
            case "product":
                return reduce(mul, of)
            case "power":
                return self._power(of[0], one.what)
            case "call":
                if one.what not in self.functions:
                    raise CompileError(f"no values for the function {one.what}")
                return self.functions[one.what](*of)
        return self.numbers.function(one.what, of[0])

    def _power(self, base: Any, halves: int) -> Any:
        whole = self.numbers.root(base) if halves % 2 else base
        exponent = abs(halves) if halves % 2 else abs(halves) // 2
        found = reduce(mul, [whole] * exponent)
        return found if halves > 0 else 1 / found
