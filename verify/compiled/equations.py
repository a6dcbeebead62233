"""Equations of one's own, SymPy expressions with averages: their solution and an estimate of its error.

t, k, a = sympy.symbols("t k a", real=True)
solve_equations({k: a * Expectation(1 / (1 + k * t**2), t)}, {a: 2})[k]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import sympy as sp

from giantsteps.derivations.language.expectation import Expectation
from giantsteps.verify.compiled.doubles import Rule
from giantsteps.verify.compiled.laws import Law
from giantsteps.verify.compiled.program import Part, Sweep
from giantsteps.verify.compiled.system import Solved, SolveError, System
from giantsteps.verify.compiled.tape import CompileError, Operation, Tape, written

# Rules are refined until the estimate is below this, or until an array would have more entries than fit in memory.
_SETTLED, _FINER, _MOST_ENTRIES = 1e-12, (2.0, 4.0, 8.0, 16.0), 2e7
# How much coarser the rules are that the solution is compared with: several, since at a kink or jump two may agree by
# chance, and no simple fractions, by which waves would be seen alike. The estimate is three times what a value moves,
# since at a jump the errors of all rules are of one size.
_COARSER, _CAUTION = (1 / 2.718, 1 / 2.095, 1 / 1.618), 3.0
# On them every operation errs by 16 times what doubles may round away: of three draws one exceeds the true error.
_ROUNDED = 2.0**-49
_NONE: Mapping[Any, Any] = MappingProxyType({})


@dataclass(frozen=True)
class EquationsSolution(Solved):
    """The solution of equations: `solution[x]` is the value of a symbol or of a name.

    values: all values by name.
    residual: how far the values are from solving the equations.
    error_estimate: for the largest |error|/(1 + |value|).

    >>> x = sympy.Symbol("x", positive=True)
    >>> giantsteps.solve_equations({x: 1 + 1 / x})[x]
    1.618...
    """

    error_estimate: float

    def __getitem__(self, symbol: sp.Symbol | str) -> float:
        if str(symbol) not in self.values:
            raise KeyError(f"no equation determines {symbol}: there are {', '.join(self.values)}")
        return self.values[str(symbol)]

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value:.12g}" for name, value in self.values.items())
        return f"EquationsSolution({values}, error_estimate={self.error_estimate:.1e})"


def solve_equations(
    equations: Mapping[sp.Symbol, sp.Expr],
    numbers: Mapping[sp.Symbol, float] = _NONE,
    laws: Mapping[sp.Symbol, Law] = _NONE,
    functions: Mapping[Any, Callable[..., Any]] = _NONE,
) -> EquationsSolution:
    """The solution of equations {symbol: expression}, in which symbols may determine each other.

    equations: for each unknown the expression that it equals. `Expectation(f, t)` is an average over t.
    numbers: the values of all other symbols.
    laws: for each averaged variable its law; by default standard normal.
    functions: the values of each `sympy.Function`: of arrays, and of complex ones where it is called at unknowns, since
        slopes are computed by complex steps.

    The iteration starts at 1. It finds one solution, positive where a symbol is declared positive.

    The error is estimated by coarser rules, on which every operation is rounded more roughly. The estimate leaves out
    errors of the numbers and functions given, a peak that is narrower than the distance of the nodes (1/16 of a
    standard deviation, 1/20 of an interval), and part of a singular end such as x^(-0.9).

    Raises CompileError for what is not such an equation, and SolveError where no solution is found.

    >>> k, a, t = *sympy.symbols("k a", positive=True), sympy.Symbol("t", real=True)
    >>> found = giantsteps.solve_equations({k: a * giantsteps.Expectation(1 / (1 + k * t**2), t)}, {a: 2})
    >>> found[k]
    1.24297...
    """
    if not isinstance(equations, Mapping) or not equations:
        raise CompileError("equations are a mapping {symbol: expression} with at least one entry")
    formulas = {_symbol(left): _exact(left, right) for left, right in equations.items()}
    averages = set[Expectation]().union(*(right.atoms(Expectation) for right in formulas.values()))
    averaged = {_symbol(variable): Law.normal() for average in averages for variable in average.variables}
    _check_names(formulas, numbers, averaged, laws)
    averaged |= laws
    for variable, law in averaged.items():
        if not isinstance(law, Law):
            raise CompileError(f"{law!r} is not a law of {variable}: for example Law.normal() or Law.uniform(0, 1)")
        _check_sign(variable, float(np.min(_rule(law, 1.0).nodes)))
    for function, values in functions.items():
        if not callable(values):
            raise CompileError(f"{values!r} is not a function for {function}")
    problem = _Problem(
        tuple(formulas),
        written(formulas.items()),
        {variable.name: law for variable, law in averaged.items()},
        {symbol.name: _number(symbol, value) for symbol, value in numbers.items()},
        {getattr(function, "__name__", str(function)): values for function, values in functions.items()},
        [{variable.name for part in average.atoms(Expectation) for variable in part.variables} for average in averages],
    )
    if problem.entries(1.0) > _MOST_ENTRIES:
        raise CompileError(f"an average over as many variables as {', '.join(map(str, averaged))} has too many nodes")
    found = problem.solution(1.0)
    for finer in _FINER:
        if found.error_estimate <= _SETTLED or problem.entries(finer) > _MOST_ENTRIES:
            break
        found = problem.solution(finer)  # not the best of all: rules that agree by chance would be chosen
    return found


@dataclass(frozen=True)
class _Problem:
    symbols: tuple[sp.Symbol, ...]
    tapes: tuple[Tape, ...]
    laws: Mapping[str, Law]
    given: Mapping[str, float]
    functions: Mapping[str, Callable[..., Any]]
    together: Sequence[set[str]]  # names of variables that are averaged over together

    def rules(self, finer: float) -> dict[str, Rule]:
        return {name: _rule(law, finer) for name, law in self.laws.items()}

    def entries(self, finer: float) -> float:
        """How many numbers the largest array has: at each node of an average one for each unknown."""
        sizes = {name: len(rule.nodes) for name, rule in self.rules(finer).items()}
        return len(self.tapes) * max((math.prod(sizes[name] for name in names) for names in self.together), default=1)

    def solution(self, finer: float) -> EquationsSolution:
        found = self._solved(finer, Sweep)
        for symbol in self.symbols:
            if not math.isfinite(found.values[symbol.name]):
                raise SolveError(f"{symbol}: no finite value, its expression has {found.values[symbol.name]}")
            _check_sign(symbol, found.values[symbol.name], SolveError)
        moved = [self._moved(found, finer * coarser, seed) for seed, coarser in enumerate(_COARSER)]
        return EquationsSolution(found.values, found.residual, found.residual + _CAUTION * max(moved))

    def _moved(self, found: Solved, finer: float, seed: int) -> float:
        """The most by which a value differs on another rule with rougher operations, beside 1 + its size."""
        try:
            other = self._solved(finer, partial(_Rough, seed)).values
        except SolveError:
            return math.inf
        moved = max(abs(value - other[name]) / (1.0 + abs(value)) for name, value in found.values.items())
        return moved if math.isfinite(moved) else math.inf

    def _solved(self, finer: float, sweep: Callable[..., Sweep]) -> Solved:
        with np.errstate(all="ignore"):
            return System(self.tapes, self.rules(finer), self.given, self.functions, sweep).solve()


def _rule(law: Law, finer: float) -> Rule:
    try:
        nodes, weights = (np.asarray(values, dtype=float) for values in law.rule(finer))
    except (TypeError, ValueError):
        nodes = weights = np.zeros(0)
    if nodes.ndim != 1 or nodes.shape != weights.shape or not nodes.size:
        raise CompileError(f"the rule of the law {law.text} has to give nodes and as many weights")
    return Rule(nodes, weights)


class _Rough(Sweep):
    """A sweep whose operations err by some units in the last place, in each run by the same ones."""

    def __init__(self, seed: int, part: Part, *arguments: Any) -> None:
        self._random = np.random.default_rng([seed, *"".join(part.symbols).encode()])
        self._factors: dict[Operation, Any] = {}
        super().__init__(part, *arguments)

    def _run(self, one: Operation, found: Sequence[Any], values: Mapping[str, Any]) -> Any:
        value = super()._run(one, found, values)
        if one not in self._factors:
            # One for each node, and the same for each unknown, which has an axis before those of nodes.
            nodes = np.shape(value)[-len(self.numbers.nodes) :] if self.numbers.nodes else ()
            self._factors[one] = 1.0 + _ROUNDED * self._random.choice([-1.0, 1.0], nodes)
        return value * self._factors[one]


def _exact(left: sp.Symbol, right: Any) -> sp.Expr:
    """The expression with its decimal numbers, and constants such as E, as fractions. Raises CompileError."""
    try:
        formula = sp.sympify(right, strict=True)
    except sp.SympifyError:
        formula = None
    if not isinstance(formula, sp.Expr):
        raise CompileError(f"{right!r} is not an expression of SymPy for {left}")
    constants = formula.atoms(sp.Float, sp.core.numbers.NumberSymbol) - {sp.pi}
    return formula.xreplace({one: sp.Rational(one.evalf(30) if one.is_NumberSymbol else one) for one in constants})


def _symbol(one: Any) -> sp.Symbol:
    if not isinstance(one, sp.Symbol):
        raise CompileError(f"{one!r} is not a symbol of SymPy")
    return one


def _number(symbol: sp.Symbol, value: Any) -> float:
    """As a double of NumPy, by which a division by zero is infinite."""
    try:
        number = np.float64(float(value) if np.ndim(value) == 0 else math.nan)
    except (TypeError, ValueError):
        number = np.float64(math.nan)
    if not math.isfinite(number):
        raise CompileError(f"{symbol} = {value!r} is not accepted: it has to be one finite real number")
    _check_sign(symbol, number)
    return number


def _check_sign(symbol: sp.Symbol, value: float, error: type[Exception] = CompileError) -> None:
    """SymPy may have used what a symbol was declared to be."""
    for declared, holds in (("positive", value > 0.0), ("nonnegative", value >= 0.0)):
        if getattr(symbol, f"is_{declared}") and not holds:
            raise error(f"{symbol} is declared {declared}, and has the value {value:g}")


def _check_names(
    formulas: Mapping[sp.Symbol, sp.Expr], numbers: Iterable[Any], averaged: Iterable[Any], laws: Iterable[Any]
) -> None:
    """Symbols are told apart by their names. Raises CompileError where they cannot be."""
    free = {*formulas, *map(_symbol, numbers)}.union(*(right.free_symbols for right in formulas.values()))
    bound = set(averaged)
    for variable in map(_symbol, laws):
        if variable not in bound:
            raise CompileError(f"there is a law of {variable}, but no average over it")
    for symbol in sorted(free & bound, key=str):
        raise CompileError(f"{symbol} is averaged over, and stands outside of an average too: rename one of them")
    names = [symbol.name for symbol in free | bound]
    for name in sorted({name for name in names if names.count(name) > 1}):
        raise CompileError(f"two different symbols are called {name}: they differ in what is assumed of them")
