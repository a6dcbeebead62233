"""From what is wanted back to what is known: equations that follow from theorems, and limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import sympy as sp

from giantsteps.derivations.kernel.algebra import congruence, rewrite, ring
from giantsteps.derivations.kernel.limits import limit_compose, limit_rational
from giantsteps.derivations.kernel.search.averages import expanded
from giantsteps.derivations.kernel.search.steps import equal, value
from giantsteps.derivations.kernel.statements import Equation, Refused, sides
from giantsteps.derivations.kernel.terms import averages, free
from giantsteps.derivations.kernel.theorem import Theorem


def follows(goal: Equation, theorems: Sequence[Theorem]) -> Theorem | None:
    """``goal`` with the left side of each theorem, which may stand under averages or roots, put for its right one, and
    with averages expanded; None if algebra does not see it then.
    """
    try:
        return concluded(goal, *theorems)
    except Refused:
        return None


def concluded(goal: Equation, *theorems: Theorem) -> Theorem:
    """``goal`` as `follows` finds it. Raises Refused where it does not follow."""
    left, right = (_worked_out(side, theorems) for side in sides(goal))
    chain = [(t, sp.Integer(sign)) for t, sign in ((left, 1), (right, -1)) if t is not None]
    return ring(tuple(t for t, _ in chain), goal, tuple(sign for _, sign in chain))


# A statement and its mutants have one left side, and theorems are equal where they are one object.
@lru_cache(maxsize=256)
def _worked_out(side: sp.Expr, theorems: tuple[Theorem, ...]) -> Theorem | None:
    """side = what it is by the theorems, with the averages that are left expanded; None if nothing changes it."""
    known = _put_all(None, side, theorems)
    left = sorted(averages(side if known is None else value(known)), key=sp.default_sort_key)
    return _put_all(known, side, [t for a in left if (t := _opened(a)) is not None])


def _opened(average: sp.Expr) -> Theorem | None:
    """The average expanded; None where its parts are not defined wherever the whole is."""
    try:
        return expanded(average)
    except Refused:
        return None


def _put_all(known: Theorem | None, side: sp.Expr, theorems: Sequence[Theorem]) -> Theorem | None:
    for by in theorems:
        now = side if known is None else value(known)
        if now.has(sides(by.statement)[0]):
            known = _put(known, now, by)
    return known


def _put(known: Theorem | None, now: sp.Expr, by: Theorem) -> Theorem:
    """side = ``now`` (None where they are the same) with the left side of an equation put for its right one in ``now``;
    what stands on the side itself stays, unless the place is under an average.
    """
    hole = sp.Dummy("hole", real=True)
    context = now.xreplace({sides(by.statement)[0]: hole})
    if known is not None and any(hole in free(average) for average in averages(context)):
        return rewrite((known, by))
    step = congruence((by,), context, hole)
    return step if known is None else rewrite((known, step))


def limit_of(expression: sp.Expr, variable: sp.Symbol) -> Theorem:
    """The limit of a rational term, found by SymPy and made by the rule."""
    return limit_rational((), expression, sp.expand(sp.limit(expression, variable, sp.oo)), variable)


def limit_by_parts(exact: Theorem, limits: Mapping[sp.Expr, Theorem], variable: sp.Symbol) -> Theorem:
    """left -> its limit, for left = a polynomial in atoms that have limits.

    Its coefficients are rational in the variable, and have limits of their own.
    """
    names = {atom: sp.Dummy("a", real=True) for atom in limits}
    right = sp.expand(value(exact).xreplace(names))
    masks = [name for atom, name in names.items() if not isinstance(atom, sp.Symbol)]
    holes = {name: limits[atom] for atom, name in names.items() if right.has(name)}
    form: sp.Expr = sp.Integer(0)
    for powers, coefficient in sp.Poly(right, *masks).terms() if masks else [((), right)]:
        held, varying = sp.factor(coefficient).as_independent(variable, as_Add=False)
        if variable in varying.free_symbols:
            hole = sp.Dummy("c", real=True)
            holes[hole] = limit_of(varying, variable)
            varying = hole
        form += held * varying * sp.Mul(*(name**power for name, power in zip(masks, powers, strict=True)))
    tends = limit_compose(tuple(holes.values()), form, tuple(holes))
    return rewrite((tends, equal(exact, sides(tends.statement)[0])), True)
