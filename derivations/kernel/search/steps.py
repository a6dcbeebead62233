"""One more line of a derivation: the other side written in another way, an equation solved, a slope with a name."""

from __future__ import annotations

from functools import reduce
from typing import Any

import sympy as sp

from giantsteps.derivations.kernel.algebra import rewrite, ring
from giantsteps.derivations.kernel.search.assumptions import define
from giantsteps.derivations.kernel.statements import Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem


def in_order(term: sp.Expr, kind: Any) -> list[sp.Expr]:
    """The parts of a kind in one order, whatever the order of a set: so that a proof is the same in every process."""
    return sorted(term.atoms(kind), key=sp.default_sort_key)


def value(theorem: Theorem) -> sp.Expr:
    """The right side of a theorem."""
    return sides(theorem.statement)[1]


def equal(theorem: Theorem, right: sp.Expr) -> Theorem:
    """``theorem`` with its right side written in another way, by algebra."""
    left, now = sides(theorem.statement)
    return theorem if now == right else ring((theorem,), Equation(left, right), (sp.Integer(1),))


def replaced(theorem: Theorem, old: sp.Expr, new: sp.Expr) -> Theorem:
    """``theorem`` with a term written in another way, by algebra, wherever it stands; under averages too."""
    return theorem if old == new else rewrite((theorem, ring((), Equation(old, new))))


def rewritten(theorem: Theorem, *equations: Theorem) -> Theorem:
    """``theorem`` rewritten by each equation in turn that applies to its right side."""
    return reduce(rewritten_once, equations, theorem)


def rewritten_once(theorem: Theorem, by: Theorem) -> Theorem:
    old, _ = sides(by.statement)
    return rewrite((theorem, by)) if sides(theorem.statement)[1].has(old) else theorem


def rewritten_both(theorem: Theorem, *equations: Theorem) -> Theorem:
    """``theorem`` with both sides rewritten by each equation that applies."""
    for by in equations:
        if any(side.has(sides(by.statement)[0]) for side in sides(theorem.statement)):
            theorem = rewrite((theorem, by))
    return theorem


def named(theorem: Theorem, *names: Theorem) -> Theorem:
    """``theorem`` with what the ``names`` stand for on its right side under its name, each in turn."""
    for name in names:
        if value(theorem).has(value(name)):
            theorem = rewrite((theorem, name), True)
    return theorem


def by_ring(goal: Equation, *premises: Theorem) -> Theorem:
    """``goal`` from premises whose left sides are atoms.

    Each is put for its right side in turn; the cofactor is the quotient of what that changes by what is changed.
    """
    difference = goal.left - goal.right
    cofactors = []
    for premise in premises:
        old, new = sides(premise.statement)
        atom = sp.Dummy("atom", real=True)
        marked = difference.xreplace({old: atom})
        after = marked.xreplace({atom: new})
        cofactors.append(sp.cancel((marked - after) / (atom - new)).xreplace({atom: old}))
        difference = after
    return ring(tuple(premises), goal, tuple(cofactors))


def isolated(atom: sp.Expr, theorem: Theorem) -> Theorem:
    """atom = its value by an equation that is linear in it. Raises ValueError if it is not."""
    left, right = sides(theorem.statement)
    mark = sp.Dummy("atom", real=True)
    difference = (left - right).xreplace({atom: mark})
    weight = sp.cancel(sp.diff(difference, mark))
    if weight == 0 or weight.has(mark):
        raise ValueError(f"the equation is not linear in {atom}")
    found = sp.expand(-difference.xreplace({mark: sp.Integer(0)}) / weight, deep=False)
    return ring((theorem,), Equation(atom, found), (1 / weight,))


def named_slope(name: sp.Symbol, meaning: str, slope: Theorem) -> Theorem:
    """``name`` for a derivative at a point, and its value."""
    return rewrite((define(name, sides(slope.statement)[0], meaning), slope))
