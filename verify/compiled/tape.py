"""Formulas of theorems as lists of operations, in which every part stands once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sympy as sp


class CompileError(ValueError):
    """An expression cannot be compiled: a symbol without a value, or an unsupported function."""


@dataclass(frozen=True)
class Operation:
    """`kind`: symbol, number, mean, sum, product, power (in halves), call of a given function, or named function."""

    kind: str
    what: Any
    of: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Tape:
    """The right side of an equation as operations, of which the last is its value; the symbol that it determines."""

    symbol: str
    positive: bool
    operations: tuple[Operation, ...]

    @cached_property
    def free(self) -> frozenset[str]:
        """The symbols that are no bound variable."""
        bound = {one.what for one in self.operations if one.kind == "mean"}
        return frozenset(one.what for one in self.operations if one.kind == "symbol") - bound


def document(tapes: Sequence[Tape]) -> dict[str, Any]:
    """Tapes as plain data: their operations, each once, and for every tape its symbol and the place of its value."""
    places: dict[Operation, int] = {}
    equations = []
    for tape in tapes:
        here: list[int] = []
        for one in tape.operations:
            here.append(places.setdefault(Operation(one.kind, one.what, tuple(here[k] for k in one.of)), len(places)))
        equations.append([tape.symbol, tape.positive, here[-1]])
    rows = [[one.kind, str(one.what) if one.kind == "number" else one.what, *one.of] for one in places]
    return {"equations": equations, "operations": rows}


def read(kept: Mapping[str, Any]) -> tuple[Tape, ...]:
    """The tapes of a document."""
    operations = [
        Operation(kind, Fraction(what) if kind == "number" and what != "pi" else what, tuple(of))
        for kind, what, *of in kept["operations"]
    ]
    return tuple(Tape(symbol, positive, _ending_at(operations, end)) for symbol, positive, end in kept["equations"])


def _ending_at(operations: Sequence[Operation], end: int) -> tuple[Operation, ...]:
    """What the operation at a place is made of, in order."""
    needed = {end}
    for place in range(end, -1, -1):
        if place in needed:
            needed.update(operations[place].of)
    new = {place: k for k, place in enumerate(sorted(needed))}
    return tuple(
        Operation(operations[place].kind, operations[place].what, tuple(new[k] for k in operations[place].of))
        for place in new
    )


def written(equations: Iterable[tuple[sp.Symbol, sp.Expr]]) -> tuple[Tape, ...]:
    """Equations (symbol, right side), each as a tape. Raises CompileError for what has no operation."""
    return tuple(Tape(left.name, bool(left.is_positive), tuple(_Writer(right).operations)) for left, right in equations)


class _Writer:
    def __init__(self, formula: sp.Expr) -> None:
        import sympy as sp  # here: whoever reads a tape needs none of it

        self.operations: list[Operation] = []
        self._places: dict[sp.Expr, int] = {}
        self._write(sp.sympify(formula))

    def _write(self, formula: sp.Expr) -> int:
        if formula not in self._places:
            operation = self._operation(formula)
            self._places[formula] = len(self.operations)
            self.operations.append(operation)
        return self._places[formula]

    def _operation(self, formula: sp.Expr) -> Operation:
        import sympy as sp
        from sympy.core.function import AppliedUndef

        from giantsteps.derivations.language.expectation import Expectation

        def of(*parts: sp.Expr) -> tuple[int, ...]:
            return tuple(map(self._write, parts))

        match formula:
            case sp.Symbol():
                return Operation("symbol", formula.name, ())
            case sp.Rational():
                return Operation("number", Fraction(int(formula.p), int(formula.q)), ())
            case sp.core.numbers.Pi():
                return Operation("number", "pi", ())
            case Expectation():
                inner = formula.integrand
                for variable in formula.variables[:-1]:
                    inner = Expectation(inner, variable)
                return Operation("mean", formula.variables[-1].name, of(inner))
            case sp.Add():
                return Operation("sum", None, of(*formula.args))
            case sp.Mul():
                return Operation("product", None, of(*formula.args))
            case sp.Pow() if (2 * formula.exp).is_Integer:
                return Operation("power", int(2 * formula.exp), of(formula.base))
            case sp.Pow():
                return Operation("function", "exp", of(formula.exp * sp.log(formula.base)))
            case AppliedUndef():
                return Operation("call", formula.func.__name__, of(*formula.args))
            case sp.Function() if len(formula.args) == 1:
                return Operation("function", type(formula).__name__, of(*formula.args))
        raise CompileError(f"{formula} cannot be compiled: it is a {type(formula).__name__}")
