"""Numbers for SymPy statements: symbols take values, undefined functions take implementations, expectations are summed.

This is the verifier's own evaluator. It knows nothing of the solver: an expectation over standard normal variables
is a trapezoidal sum on a fixed grid, which is accurate to rounding for functions that are smooth on the scale of the
grid (step 1/32 in one dimension, 1/10 in two), the only ones it is used for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray
from sympy.core.function import AppliedUndef
from sympy.printing.numpy import SciPyPrinter

from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.glossary import refuse_repeated_names

Functions = Mapping[str, Callable[..., Any]]


@dataclass(frozen=True)
class Place:
    """Where a statement is tested: numbers for its symbols, and implementations of its undefined functions.

    ``exponent``: what is tested there is how a quantity scales with the dimension.
    """

    values: Mapping[str, float]
    functions: Functions = field(default_factory=dict)
    exponent: bool = False


# exp(-72) = 5e-32: the tail is below rounding; in three dimensions exp(-32) = 1e-14 is near it.
_HALF_WIDTH = {1: 12.0, 2: 12.0, 3: 8.0}
_STEPS = {1: 1 / 32, 2: 1 / 10, 3: 1 / 3}


def evaluate(
    expression: sp.Expr, values: Mapping[str, float], functions: Functions | None = None, *, shifted: bool = False
) -> float:
    """The value of ``expression`` at ``values`` (symbol name -> number), in double precision.

    ``shifted`` moves the grid by half a step: for smooth integrands the value stays, for others it shows the error.
    Raises ValueError naming a symbol that has no value, or for a value that is not real, and GlyphError for two symbols
    of one name. A result that is not finite is returned as it is.
    """
    return evaluate_all((expression,), values, functions, shifted=shifted)[0]


def evaluate_all(
    expressions: Iterable[sp.Expr],
    values: Mapping[str, float],
    functions: Functions | None = None,
    *,
    shifted: bool = False,
) -> list[float]:
    """The values of several expressions at one point, as ``evaluate`` has them; an expectation of several is summed
    once.
    """
    whole = tuple(map(sp.sympify, expressions))
    prepared, averages = _without_expectations(whole)
    named = dict(values)
    for dummy, expectation in averages:
        named[dummy.name] = _average(expectation, named, functions or {}, shifted)
    results = _call(prepared, named, functions or {})
    for expression, result in zip(whole, results, strict=True):
        if np.iscomplexobj(result):
            raise ValueError(f"{expression} is not real at this point")
    return [float(result) for result in results]


@dataclass(frozen=True)
class Violation:
    """By how much a relation fails at a point: ``error`` relative to the size of its sides.

    ``scale`` is that size over the larger side: 1, or more where the sides are below ``ABSOLUTE`` and errors are
    measured against it. ``margin`` is the error with its sign, below zero where an inequality holds: what a search for
    a counterexample climbs.
    """

    error: float
    scale: float
    margin: float = 0.0


def describe(point: Mapping[str, float | str]) -> str:
    """A point as text, four digits per number."""
    return ", ".join(f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in point.items())


# Below this size errors are absolute: the quantities of the theory are of order one.
ABSOLUTE = 1e-3


def relation_violation(relation: sp.Basic, place: Place) -> Violation:
    """By how much one relation fails. Raises TypeError for what is none."""
    left, right = (evaluate(side, place.values, place.functions) for side in relation.args)
    if not (math.isfinite(left) and math.isfinite(right)):
        return Violation(math.nan, math.inf)
    larger = max(abs(left), abs(right))
    size = max(larger, ABSOLUTE)
    scale = size / larger if larger > 0 else math.inf
    match relation:
        case sp.Equality():
            excess = abs(left - right)
        case sp.LessThan():
            excess = left - right
        case sp.GreaterThan():
            excess = right - left
        case sp.StrictLessThan():
            excess = left - right if left < right else max(left - right, size)
        case sp.StrictGreaterThan():
            excess = right - left if left > right else max(right - left, size)
        case _:
            raise TypeError(f"not a relation: {relation}")
    return Violation(max(0.0, excess / size), scale, excess / size)


@lru_cache(maxsize=4096)
def _without_expectations(
    expressions: tuple[sp.Expr, ...],
) -> tuple[tuple[sp.Expr, ...], tuple[tuple[sp.Symbol, Expectation], ...]]:
    """The expressions with a symbol for each outermost expectation, and what the symbols stand for."""
    averages: dict[Expectation, sp.Symbol] = {}

    def outermost(node: sp.Basic) -> sp.Basic:
        if isinstance(node, Expectation):
            return averages.setdefault(node, sp.Symbol(f"_average{len(averages)}", real=True))
        return node.func(*map(outermost, node.args)) if node.has(Expectation) else node

    prepared = tuple(map(outermost, expressions))
    return prepared, tuple((symbol, expectation) for expectation, symbol in averages.items())


@lru_cache(maxsize=8)
def _grid(dimension: int, shifted: bool) -> tuple[tuple[NDArray[np.float64], ...], NDArray[np.float64]]:
    step = _STEPS[dimension]
    line = np.arange(-_HALF_WIDTH[dimension], _HALF_WIDTH[dimension] + step / 2, step)
    if shifted:
        line = line + step / 2
    weight = step * np.exp(-(line**2) / 2) / np.sqrt(2 * np.pi)
    nodes = np.meshgrid(*([line] * dimension), indexing="ij")
    weights = weight
    for _ in range(dimension - 1):
        weights = np.multiply.outer(weights, weight)
    return tuple(x.ravel() for x in nodes), weights.ravel()


def _average(expectation: Expectation, values: Mapping[str, float], functions: Functions, shifted: bool) -> float:
    """The average at a point; a statement and its mutants have most of theirs in common."""
    symbols, names = _needs(expectation)
    if not set(symbols) <= set(values) or not set(names) <= set(functions):
        return _summed(expectation, values, functions, shifted)  # which says what is missing
    there = tuple((name, values[name]) for name in symbols)
    return _known_average(expectation, there, tuple((name, functions[name]) for name in names), shifted)


@lru_cache(maxsize=4096)
def _needs(expectation: Expectation) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the symbols and of the undefined functions on which an average depends."""
    undefined = {f.func.__name__ for f in expectation.integrand.atoms(AppliedUndef)}
    return tuple(sorted(s.name for s in expectation.free_symbols)), tuple(sorted(undefined))


@lru_cache(maxsize=4096)
def _known_average(
    expectation: Expectation,
    values: tuple[tuple[str, float], ...],
    functions: tuple[tuple[str, Callable[..., Any]], ...],
    shifted: bool,
) -> float:
    return _summed(expectation, dict(values), dict(functions), shifted)


def _summed(expectation: Expectation, values: Mapping[str, float], functions: Functions, shifted: bool) -> float:
    nodes, weights = _grid(len(expectation.variables), shifted)
    inner, averages = _without_expectations((expectation.integrand,))
    named: dict[str, Any] = dict(values)
    for dummy, nested in averages:
        if nested.free_symbols & set(expectation.variables):
            raise ValueError("an expectation may not depend on the variable of an outer one")
        named[dummy.name] = _average(nested, values, functions, shifted)
    named.update({v.name: x for v, x in zip(expectation.variables, nodes, strict=True)})
    (integrand,) = _call(inner, named, functions)
    if np.iscomplexobj(integrand):
        raise ValueError(f"{expectation.integrand} is not real everywhere")
    return float(np.dot(weights, np.broadcast_to(integrand, weights.shape)))


def _call(expressions: tuple[sp.Expr, ...], values: Mapping[str, Any], functions: Functions) -> Any:
    symbols = _symbols(expressions)
    missing = [s.name for s in symbols if s.name not in values]
    if missing:
        raise ValueError(f"no value for {', '.join(missing)} in {', '.join(map(str, expressions))}; measure it")
    compiled = _compile(expressions, symbols, tuple(sorted(functions)))
    with np.errstate(all="ignore"):  # a value that is not finite is the caller's to judge
        return compiled(functions, *(values[s.name] for s in symbols))


@lru_cache(maxsize=4096)
def _symbols(expressions: tuple[sp.Expr, ...]) -> tuple[sp.Symbol, ...]:
    free = set().union(*(expression.free_symbols for expression in expressions))
    refuse_repeated_names(free, expressions[0] if len(expressions) == 1 else expressions)
    return tuple(sorted(free, key=lambda s: s.name))


class _Printer(SciPyPrinter):
    """Python for an expression, terms and factors as they stand, with one identifier for each symbol.

    SymPy would make them by a substitution for each symbol, and sort the terms again. What a part of an expression is
    in Python depends on nothing around it, and is kept: a statement and its mutants share most of theirs.
    """

    def __init__(self, functions: Iterable[str]) -> None:
        super().__init__(
            {
                "fully_qualified_modules": False,
                "inline": True,
                "allow_unknown_functions": True,
                "user_functions": {name: name for name in functions},
                "order": "none",
            }
        )
        self.known: dict[sp.Expr, str] = {}

    def _print(self, expr: Any, **kwargs: Any) -> str:
        if kwargs or not isinstance(expr, sp.Add | sp.Mul | sp.Pow):
            return str(super()._print(expr, **kwargs))
        if expr not in self.known:
            if len(self.known) >= _MOST_PARTS:
                self.known.clear()
            self.known[expr] = str(super()._print(expr))
        return self.known[expr]

    def _print_Symbol(self, symbol: sp.Symbol) -> str:
        return _identifier(symbol)

    _print_Dummy = _print_Symbol


_MOST_PARTS = 1 << 16
_IDENTIFIERS: dict[sp.Symbol, str] = {}


def _identifier(symbol: sp.Symbol) -> str:
    """What a symbol is called in Python, one name for each."""
    return _IDENTIFIERS.setdefault(symbol, f"_{len(_IDENTIFIERS)}")


@lru_cache(maxsize=256)
def _printer(functions: tuple[str, ...]) -> _Printer:
    return _Printer(functions)


@lru_cache(maxsize=4096)
def _compile(
    expressions: tuple[sp.Expr, ...], symbols: tuple[sp.Symbol, ...], names: tuple[str, ...]
) -> Callable[..., Any]:
    # Compiled once: undefined functions are looked up at each call in ``current``, which changes from point to point.
    current: dict[str, Callable[..., Any]] = {}
    table = {name: (lambda *arguments, name=name: current[name](*arguments)) for name in names}
    fixed = sp.lambdify(
        list(map(_identifier, symbols)),
        list(expressions),
        modules=[table, "scipy", "numpy"],
        printer=_printer(names),
        docstring_limit=0,
    )

    def call(functions: Functions, *arguments: Any) -> Any:
        current.update(functions)
        return fixed(*arguments)

    return call
