"""Tapes run over a number type: arrays of NumPy along the nodes of rules (`doubles`), or balls (`balls`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
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
    """Equations that determine each other, in order; `unknowns`: what a sweep reads before it has written it.

    `operations`: those of all equations in order, each once; `results`: the places of their values by symbol; `later`:
    which of the operations depend on the unknowns.
    """

    tapes: tuple[Tape, ...]
    unknowns: tuple[str, ...]
    operations: tuple[Operation, ...]
    results: Mapping[str, int]
    later: tuple[bool, ...]

    @property
    def symbols(self) -> tuple[str, ...]:
        """What the equations determine."""
        return tuple(tape.symbol for tape in self.tapes)


def check(tapes: Sequence[Tape], given: Mapping[str, Any], bound: Mapping[str, Any], functions: Functions) -> None:
    """Raises CompileError for a symbol that two equations determine, or that none does and that has no value, and for a
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


@lru_cache(maxsize=64)
def parts_of(tapes: tuple[Tape, ...]) -> tuple[Part, ...]:
    """The equations by what determines each other, each after all that it needs, within a part as they were given."""
    places = {tape.symbol: place for place, tape in enumerate(tapes)}
    needs = [{places[name] for name in tape.free if name in places} | {place} for place, tape in enumerate(tapes)]
    before = None
    while before != needs:
        before, needs = needs, [set[int]().union(*(needs[other] for other in needed)) for needed in needs]
    together: dict[frozenset[int], list[Tape]] = {}
    for tape, needed in zip(tapes, needs, strict=True):
        together.setdefault(frozenset(needed), []).append(tape)
    return tuple(_part(together[needed]) for needed in sorted(together, key=len))


def _part(tapes: Sequence[Tape]) -> Part:
    written: set[str] = set()
    unknowns: dict[str, None] = {}
    for tape in tapes:
        unknowns |= dict.fromkeys(sorted((tape.free & {one.symbol for one in tapes}) - written))
        written.add(tape.symbol)
    known: dict[Operation, int] = {}
    results: dict[str, int] = {}
    for tape in tapes:
        here: list[int] = []
        for one in tape.operations:
            if one.kind == "symbol" and one.what in results:
                here.append(results[one.what])
            else:
                moved = Operation(one.kind, one.what, tuple(here[place] for place in one.of))
                here.append(known.setdefault(moved, len(known)))
        results[tape.symbol] = here[-1]
    later: list[bool] = []
    for one in known:
        later.append((one.kind == "symbol" and one.what in unknowns) or any(later[place] for place in one.of))
    return Part(tuple(tapes), tuple(unknowns), tuple(known), results, tuple(later))


class Sweep:
    """The equations of a part in order, each with what those before it have just given.

    What stands in several of them is run once for all, what does not depend on the unknowns once and for all.
    """

    def __init__(self, part: Part, numbers: Numbers, given: Mapping[str, Any], functions: Functions) -> None:
        self.numbers, self.functions, self._part = numbers, functions, part
        self._known: list[Any] = []
        values = {**given, **numbers.nodes}
        for one, later in zip(part.operations, part.later, strict=True):
            self._known.append(None if later else self._run(one, self._known, values))

    def __call__(self, unknowns: Mapping[str, Any]) -> dict[str, Any]:
        """The value of each symbol."""
        found = list(self._known)
        for place, (one, later) in enumerate(zip(self._part.operations, self._part.later, strict=True)):
            if later:
                found[place] = self._run(one, found, unknowns)
        return {symbol: found[place] for symbol, place in self._part.results.items()}

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
