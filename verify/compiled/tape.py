"""A compiler from formulas of theorems to functions over a number type.

A formula is written down once as a list of operations in which every part stands once. What does not depend on the
unknowns is run once; the rest is run for every iterate. Numbers are whatever has the operations of Python: arrays of
NumPy, whose last axes are the nodes of rules, or `vectors.Vector` over balls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import sympy as sp
from sympy.core.function import AppliedUndef

from giantsteps.derivations.language.expectation import Expectation


class CompileError(ValueError):
    """What cannot be compiled: a symbol without a value, or a function that no number type has."""


class Numbers(Protocol):
    """A number type: how it has exact numbers, functions, and averages over a bound variable."""

    def number(self, value: sp.Number | sp.NumberSymbol) -> Any:
        """A rational number or pi."""

    def root(self, value: Any) -> Any:
        """The square root."""

    def function(self, name: str, value: Any) -> Any:
        """A named function, such as erf."""

    def mean(self, variable: sp.Symbol, value: Any) -> Any:
        """The average over a standard normal variable, on its rule."""


@dataclass(frozen=True)
class _Operation:
    kind: str
    what: Any
    of: tuple[int, ...]


class Tape:
    """Formulas as operations; `free`: the symbols without a rule that they have."""

    def __init__(self, formulas: Iterable[sp.Expr]) -> None:
        self.operations: list[_Operation] = []
        self._places: dict[sp.Expr, int] = {}
        self._bound: set[sp.Symbol] = set()
        self.results = [self._write(sp.sympify(formula)) for formula in formulas]
        symbols = {one.what for one in self.operations if one.kind == "symbol"}
        self.free = frozenset(symbols - self._bound)

    def _write(self, formula: sp.Expr) -> int:
        if formula not in self._places:
            operation = self._operation(formula)
            self._places[formula] = len(self.operations)
            self.operations.append(operation)
        return self._places[formula]

    def _operation(self, formula: sp.Expr) -> _Operation:
        def of(*parts: sp.Expr) -> tuple[int, ...]:
            return tuple(map(self._write, parts))

        if isinstance(formula, sp.Symbol):
            return _Operation("symbol", formula, ())
        if isinstance(formula, sp.Rational | sp.NumberSymbol):
            return _Operation("number", formula, ())
        if isinstance(formula, Expectation):
            inner, self._bound = formula.integrand, self._bound | set(formula.variables)
            for variable in formula.variables[:-1]:
                inner = Expectation(inner, variable)
            return _Operation("mean", formula.variables[-1], of(inner))
        if isinstance(formula, sp.Add):
            return _Operation("sum", None, of(*formula.args))
        if isinstance(formula, sp.Mul):
            return _Operation("product", None, of(*formula.args))
        if isinstance(formula, sp.Pow) and (2 * formula.exp).is_Integer:
            return _Operation("power", int(2 * formula.exp), of(formula.base))
        if isinstance(formula, AppliedUndef):
            return _Operation("call", formula.func.__name__, of(*formula.args))
        if isinstance(formula, sp.Function):
            return _Operation("function", type(formula).__name__, of(*formula.args))
        raise CompileError(f"{formula} cannot be compiled: it is a {type(formula).__name__}")

    def depending(self, unknowns: Iterable[sp.Symbol]) -> list[bool]:
        """Which operations depend on one of these symbols."""
        chosen = set(unknowns)
        found: list[bool] = []
        for one in self.operations:
            own = one.kind == "symbol" and one.what in chosen
            found.append(own or any(found[place] for place in one.of))
        return found


class Program:
    """A tape with values for all that is not unknown; called with the unknowns it gives the formulas' values.

    Raises CompileError naming a symbol or a function that has none.
    """

    def __init__(
        self,
        tape: Tape,
        numbers: Numbers,
        given: Mapping[sp.Symbol, Any],
        functions: Mapping[str, Callable[..., Any]],
        unknowns: Sequence[sp.Symbol],
    ) -> None:
        self.tape, self.numbers, self.functions = tape, numbers, functions
        missing = sorted(symbol.name for symbol in tape.free - set(given) - set(unknowns))
        if missing:
            raise CompileError(f"no value and no equation for {', '.join(missing)}")
        self._later = tape.depending(unknowns)
        self._known: list[Any] = []
        for one, later in zip(tape.operations, self._later, strict=True):
            self._known.append(None if later else self._run(one, self._known, given))

    def __call__(self, values: Mapping[sp.Symbol, Any]) -> list[Any]:
        found = list(self._known)
        for place, (one, later) in enumerate(zip(self.tape.operations, self._later, strict=True)):
            if later:
                found[place] = self._run(one, found, values)
        return [found[place] for place in self.tape.results]

    def _run(self, one: _Operation, found: Sequence[Any], values: Mapping[sp.Symbol, Any]) -> Any:
        of = [found[place] for place in one.of]
        match one.kind:
            case "symbol":
                return values[one.what]
            case "number":
                return self.numbers.number(one.what)
            case "mean":
                return self.numbers.mean(one.what, of[0])
            case "sum":
                total = of[0]
                for part in of[1:]:
                    total = total + part
                return total
            case "product":
                total = of[0]
                for part in of[1:]:
                    total = total * part
                return total
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
        found = whole
        for _ in range(exponent - 1):
            found = found * whole
        return found if halves > 0 else 1 / found
