"""Equations for slopes: what equations imply for the derivatives of the symbols that they determine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import sympy as sp

from giantsteps.derivations.language.expectation import Expectation

# A symbol and what it is equal to.
Pair = tuple[sp.Symbol, sp.Expr]


def slope_of(symbol: sp.Symbol, variable: sp.Symbol) -> sp.Symbol:
    """d symbol/d variable."""
    return sp.Symbol(rf"\partial{symbol.name}/\partial{variable.name}", real=True)


def slopes(pairs: Sequence[Pair], variable: sp.Symbol) -> list[Pair]:
    """The equations differentiated: x' = sum over y of (dF/dy) y', y among what they determine, and dF/dvariable."""
    moved = {symbol: slope_of(symbol, variable) for symbol, _ in pairs} | {variable: sp.S.One}

    def slope(formula: sp.Expr) -> sp.Expr:
        return sp.Add(*(sp.diff(formula, y) * moved[y] for y in formula.free_symbols & set(moved)))

    return [(moved[left], slope(right)) for left, right in pairs]


def averages_named(pairs: Iterable[Pair], prefix: str = "") -> list[Pair]:
    """The same equations with an equation of its own for every average, so that each stands once."""
    names: dict[sp.Expr, sp.Symbol] = {}

    def name(average: sp.Expr) -> sp.Symbol:
        return names.setdefault(average, sp.Symbol(rf"\langle{prefix}{len(names) + 1}\rangle", real=True))

    rest = [(left, right.replace(lambda part: isinstance(part, Expectation), name)) for left, right in pairs]
    return [*((symbol, average) for average, symbol in names.items()), *rest]
