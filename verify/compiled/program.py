"""Tapes run over a number type: arrays of NumPy along the nodes of rules (`doubles`), or balls (`balls`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add, mul
from typing import Any, Protocol

from giantsteps.verify.compiled.tape import CompileError, Operation, Tape

Functions = Mapping[str, Callable[..., Any]]


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


@dataclass(frozen=True)
class Part:
    """Equations that determine each other, in order; `unknowns`: what a sweep reads before it has written it."""

    tapes: tuple[Tape, ...]
    unknowns: tuple[str, ...]

    @property
    def symbols(self) -> tuple[str, ...]:
        """What the equations determine."""
        return tuple(tape.symbol for tape in self.tapes)


def parts_of(
    tapes: Sequence[Tape], given: Mapping[str, Any], bound: Mapping[str, Any], functions: Functions
) -> list[Part]:
    """The equations by what determines each other, each after all that it needs, within a part as they were given.

    Raises CompileError for a symbol that two equations determine, or that none does and that has no value, and for a
    function without values.
    """
    places = {tape.symbol: place for place, tape in enumerate(tapes)}
    twice = {tape.symbol for tape in tapes if tape.symbol in given or tapes[places[tape.symbol]] is not tape}
    if twice:
        raise CompileError(f"determined twice: {', '.join(sorted(twice))}")
    missing = frozenset[str]().union(*(tape.free for tape in tapes)) - {*places, *given, *bound}
    if missing:
        raise CompileError(f"no value and no equation for {', '.join(sorted(missing))}")
    calls = {one.what for tape in tapes for one in tape.operations if one.kind == "call"} - set(functions)
    if calls:
        raise CompileError(f"no values for the function {', '.join(sorted(calls))}")
    needs = [{places[name] for name in tape.free if name in places} | {place} for place, tape in enumerate(tapes)]
    for _ in tapes:
        needs = [set[int]().union(*(needs[other] for other in needed)) for needed in needs]
    together: dict[frozenset[int], list[Tape]] = {}
    for tape, needed in zip(tapes, needs, strict=True):
        together.setdefault(frozenset(needed), []).append(tape)
    return [_part(together[needed]) for needed in sorted(together, key=len)]


def _part(tapes: Sequence[Tape]) -> Part:
    written: set[str] = set()
    unknowns: dict[str, None] = {}
    for tape in tapes:
        unknowns |= dict.fromkeys(sorted((tape.free & {one.symbol for one in tapes}) - written))
        written.add(tape.symbol)
    return Part(tuple(tapes), tuple(unknowns))


class Sweep:
    """The equations of a part in order, each with what those before it have just given.

    What stands in several of them is run once for all, what does not depend on the unknowns once and for all.
    """

    def __init__(self, part: Part, numbers: Numbers, given: Mapping[str, Any], functions: Functions) -> None:
        self.numbers, self.functions = numbers, functions
        self._operations: list[Operation] = []
        self._results: dict[str, int] = {}
        known: dict[Operation, int] = {}
        for tape in part.tapes:
            here: list[int] = []
            for one in tape.operations:
                if one.kind == "symbol" and one.what in self._results:
                    here.append(self._results[one.what])
                    continue
                moved = Operation(one.kind, one.what, tuple(here[place] for place in one.of))
                if moved not in known:
                    known[moved] = len(self._operations)
                    self._operations.append(moved)
                here.append(known[moved])
            self._results[tape.symbol] = here[-1]
        self._later: list[bool] = []
        self._known: list[Any] = []
        values = {**given, **numbers.nodes}
        for one in self._operations:
            unknown = one.kind == "symbol" and one.what in part.unknowns
            self._later.append(unknown or any(self._later[place] for place in one.of))
            self._known.append(None if self._later[-1] else self._run(one, self._known, values))

    def __call__(self, unknowns: Mapping[str, Any]) -> dict[str, Any]:
        """The value of each symbol."""
        found = list(self._known)
        for place, (one, later) in enumerate(zip(self._operations, self._later, strict=True)):
            if later:
                found[place] = self._run(one, found, unknowns)
        return {symbol: found[place] for symbol, place in self._results.items()}

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
                return self.functions[one.what](*of)
        return self.numbers.function(one.what, of[0])

    def _power(self, base: Any, halves: int) -> Any:
        whole = self.numbers.root(base) if halves % 2 else base
        exponent = abs(halves) if halves % 2 else abs(halves) // 2
        found = reduce(mul, [whole] * exponent)
        return found if halves > 0 else 1 / found
