"""Equations as pairs, a symbol and what it is equal to: of theorems, and for the slopes of such symbols."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import sympy as sp

from giantsteps.derivations.kernel.statements import sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.expectation import Expectation

Pair = tuple[sp.Symbol, sp.Expr]


def concluded(theorem: Theorem) -> Pair:
    """What an equation says of the symbol on its left."""
    left, right = sides(theorem.statement)
    assert isinstance(left, sp.Symbol)
    return left, right


def slope_of(symbol: sp.Symbol, variable: sp.Symbol) -> sp.Symbol:
    """d symbol/d variable."""
    return sp.Symbol(rf"\partial{symbol.name}/\partial{variable.name}", real=True)


def slopes(pairs: Sequence[Pair], *variables: sp.Symbol) -> list[Pair]:
    """The equations differentiated: x' = sum over y of (dF/dy) y', y among what they determine, and dF/dvariable."""
    partials = [
        {y: sp.diff(right, y) for y in right.free_symbols & {*variables, *(symbol for symbol, _ in pairs)}}
        for _, right in pairs
    ]
    found: list[Pair] = []
    for variable in variables:
        moved = {symbol: slope_of(symbol, variable) for symbol, _ in pairs} | {variable: sp.S.One}
        found += [
            (moved[left], sp.Add(*(slope * moved[y] for y, slope in of.items() if y in moved)))
            for (left, _), of in zip(pairs, partials, strict=True)
        ]
    return averages_named(found)


def slope_through(formula: sp.Expr, pairs: Iterable[Pair], variable: sp.Symbol) -> sp.Expr:
    """How a formula moves with the variable by way of the symbols that the equations determine."""
    return sp.Add(*(sp.diff(formula, x) * slope_of(x, variable) for x, _ in pairs))


def averages_named(pairs: Iterable[Pair]) -> list[Pair]:
    """The same equations with an equation of its own for every average, so that each stands once."""
    names: dict[sp.Expr, sp.Symbol] = {}

    def name(average: sp.Expr) -> sp.Symbol:
        return names.setdefault(average, sp.Symbol(rf"\langle{len(names) + 1}\rangle", real=True))

    rest = [(left, right.replace(lambda part: isinstance(part, Expectation), name)) for left, right in pairs]
    return [*((symbol, average) for average, symbol in names.items()), *rest]
