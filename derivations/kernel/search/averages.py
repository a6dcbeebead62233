"""Averages worked out: sums taken apart, moments evaluated, variables renamed, Stein's lemma."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import sympy as sp
from sympy.core.function import AppliedUndef

from giantsteps.derivations.kernel.algebra import differentiate, instantiate, rewrite
from giantsteps.derivations.kernel.averages import independent, linear, moment, rotate, stein
from giantsteps.derivations.kernel.search.steps import in_order, rewritten_once, value
from giantsteps.derivations.kernel.statements import sides
from giantsteps.derivations.kernel.terms import positive
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.expectation import Expectation

# The standard normal variable that an average over one variable is written with.
z = sp.Symbol("z", real=True)


@lru_cache(maxsize=4096)
def expanded(average: sp.Expr, kept: frozenset[sp.Symbol] = frozenset({z})) -> Theorem | None:
    """average = sum of constants times averages of monomials, each over its own variables; None if it is that already.

    Polynomial moments are evaluated, and an average over one variable that is not to be kept is written with z.
    """
    parts = _parts(average)
    theorem = None
    if len(parts) > 1 or parts[0] != (1, average.integrand):
        theorem = linear((), average, parts)
        if sides(theorem.statement)[0] == sides(theorem.statement)[1]:
            theorem = None
    pieces = {m: Expectation(m, *average.variables) for _, m in parts}
    for piece in pieces.values():
        if isinstance(piece, Expectation) and (known := _monomial(piece, kept)) is not None:
            theorem = known if theorem is None else rewritten_once(theorem, known)
    return theorem


def expansion(average: sp.Expr, *kept: sp.Symbol) -> Theorem:
    """The same of an average that is not expanded yet; averages over variables to keep stay over these."""
    found = expanded(average, frozenset({*kept} or {z}))
    assert found is not None
    return found


def _parts(average: sp.Expr) -> tuple[tuple[sp.Expr, sp.Expr], ...]:
    found = []
    factor, integrand = average.integrand.as_independent(*average.variables, as_Add=False)
    # Arguments of functions stay as they are written.
    masks, outside_of = _denominators(integrand, average.variables)
    integrand = integrand.xreplace(outside_of)
    for kind in (Expectation, AppliedUndef):
        calls = in_order(integrand.xreplace(masks), kind)
        masks |= {call: sp.Dummy("call", real=True) for call in calls}
    back = {name: call for call, name in masks.items()}
    for masked in sp.Add.make_args(sp.expand(integrand.xreplace(masks))):
        term = masked.xreplace(back)
        constant, rest = term.as_independent(*average.variables, as_Add=False)
        # What was multiplied into a denominator is taken out again.
        above, below = sp.fraction(rest)
        if below != 1:
            outside, below = sp.factor_terms(below).as_independent(*average.variables, as_Add=False)
            constant, above = constant / outside, above / below
        found.append((factor * constant, above))
    return tuple(found)


def _denominators(
    integrand: sp.Expr, variables: tuple[sp.Symbol, ...]
) -> tuple[dict[sp.Expr, sp.Expr], dict[sp.Expr, sp.Expr]]:
    """Sums in denominators whose sign is not decided, which are not multiplied out: their names, and what constants
    leave of them.
    """
    names: dict[sp.Expr, sp.Expr] = {}
    factored: dict[sp.Expr, sp.Expr] = {}
    # Few powers are such ones, and to put all of them in order would be dear.
    below = [p for p in integrand.atoms(sp.Pow) if p.base.is_Add and p.exp.is_Integer and p.exp < 0]
    for power in sorted(below, key=sp.default_sort_key):
        base, exponent = power.base, power.exp
        if base.has(*variables) and not positive(base):
            constant, rest = sp.factor_terms(base).as_independent(*variables, as_Add=False)
            factored[power] = constant**exponent * rest**exponent
            names[rest**exponent] = sp.Dummy("below", real=True)
    return names, factored


def _monomial(average: sp.Expr, kept: frozenset[sp.Symbol]) -> Theorem | None:
    """The average of a product of factors: independence, moments, and z for the variable."""
    groups = _groups(average)
    if len(groups) > 1:
        first = groups[0]
        rest = sp.Mul(*groups[1:])
        theorem = independent((), average, first, rest)
        for piece in (first, rest):
            part = Expectation(piece, *average.variables)
            if isinstance(part, Expectation) and (known := _monomial(part, kept)) is not None:
                theorem = rewritten_once(theorem, known)
        return theorem
    if len(average.variables) > 1:
        return None
    (variable,) = average.variables
    base, power = average.integrand.as_base_exp()
    if base == variable and power.is_Integer and power > 0:
        return moment((), variable, int(power))
    if variable not in kept and z not in average.free_symbols:
        return rotate((), average, (z,), ((sp.Integer(1),),))
    return None


def _groups(average: sp.Expr) -> list[sp.Expr]:
    variables = set(average.variables)
    groups: dict[frozenset[sp.Symbol], sp.Expr] = {}
    for factor in sp.Mul.make_args(average.integrand):
        used = frozenset(factor.free_symbols & variables)
        for other in [k for k in groups if k & used]:
            factor, used = factor * groups.pop(other), used | other
        groups[used] = groups.get(used, sp.Integer(1)) * factor
    return list(groups.values())


def reflected(average: sp.Expr, *negated: sp.Symbol) -> Theorem:
    """average = the average with variables negated in its integrand."""
    names = average.variables
    signs = {v: sp.Integer(-1 if v in negated else 1) for v in names}
    return rotate((), average, names, tuple(tuple(signs[v] if v == w else sp.Integer(0) for w in names) for v in names))


def renamed(theorem: Theorem, names: Mapping[sp.Symbol, sp.Symbol]) -> Theorem:
    """``theorem`` with variables averaged over on its right side renamed, in averages over nothing else."""
    for average in sorted(value(theorem).atoms(Expectation), key=sp.default_sort_key):
        old = average.variables
        if set(old) <= names.keys():
            new = tuple(names[v] for v in old)
            matrix = tuple(tuple(sp.Integer(int(v == w)) for w in new) for v in new)
            theorem = rewrite((theorem, rotate((), average, new, matrix)))
    return theorem


def over(variable: sp.Symbol, theorem: Theorem) -> Theorem:
    """``theorem`` on an average over one variable, with another name for that variable."""
    average, _ = sides(theorem.statement)
    return rewrite((theorem, rotate((), average, (variable,), ((sp.Integer(1),),))))


def averages_expanded(theorem: Theorem, *kept: sp.Symbol) -> Theorem:
    """``theorem`` with every average on its right side expanded; averages over variables to keep stay over these."""
    return _expanded_among(sides(theorem.statement)[1], theorem, kept)


def both_expanded(theorem: Theorem, *kept: sp.Symbol) -> Theorem:
    """``theorem`` with every average on both sides expanded."""
    return _expanded_among(sp.Tuple(*sides(theorem.statement)), theorem, kept)


def _expanded_among(place: sp.Basic, theorem: Theorem, kept: tuple[sp.Symbol, ...]) -> Theorem:
    for average in sorted(place.atoms(Expectation), key=sp.default_sort_key):
        known = expanded(average, frozenset({z, *kept}))
        if known is not None and any(side.has(average) for side in sides(theorem.statement)):
            theorem = rewrite((theorem, known))
    return theorem


def by_stein(theorem: Theorem) -> Theorem:
    """``theorem`` with its averages expanded and no factor z left beside a function of z: E[z f] = E[f']."""
    theorem = averages_expanded(theorem)
    while (found := _weighted(value(theorem))) is not None:
        theorem = averages_expanded(rewrite((theorem, stein((), *found))))
    return theorem


def _weighted(term: sp.Expr) -> tuple[sp.Expr, sp.Symbol, sp.Expr] | None:
    """An average in ``term`` of a variable times a function of it: the average, the variable and what is beside it."""
    for average in sorted(term.atoms(Expectation), key=sp.default_sort_key):
        factors = average.integrand.as_powers_dict()
        for variable in average.variables:
            rest = average.integrand / variable
            if factors.get(variable, 0) >= 1 and any(variable in f.free_symbols for f in rest.atoms(AppliedUndef)):
                return average, variable, rest
    return None


def slope_at(curve: Theorem, x: sp.Symbol, at: sp.Expr, times: int = 1) -> Theorem:
    """F'(at) = ..., or a higher derivative, of what F is as a function of x; no factors z are left in averages."""
    for _ in range(times):
        curve = differentiate((curve,), x)
    return by_stein(instantiate((curve,), {x: at}) if at != x else curve)
