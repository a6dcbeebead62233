"""Rules of order in a limit: weak inequalities pass to it, and what is held between two terms of one limit has it."""

from __future__ import annotations

import sympy as sp

from onestep.derivations.kernel.algebra import constants
from onestep.derivations.kernel.statements import AtLeast, Refused, Tends
from onestep.derivations.kernel.terms import free
from onestep.derivations.kernel.theorem import Conclusion, Theorem, rule


@rule
def limit_order(premises: tuple[Theorem, ...], variable: sp.Symbol) -> Conclusion:
    """v >= w from f >= g with f -> v and g -> w; a side that is no limit's expression is held constant.

    Sound: were v < w, then f < g far enough out.
    """
    inequality, *limits = premises
    statement = inequality.statement
    if not isinstance(statement, AtLeast) or not limits:
        raise Refused("an inequality and a limit are needed")
    known = _values(tuple(limits), variable)
    if not known.keys() <= {statement.left, statement.right}:
        raise Refused("a limit is of neither side")
    held = tuple(side for side in (statement.left, statement.right) if side not in known)
    if any(variable in free(side) for side in held):
        raise Refused(f"{variable} is the variable of the limit, and stands in {held}")
    left, right = (known.get(side, side) for side in (statement.left, statement.right))
    return Conclusion(AtLeast(left, right), conditions=constants(held, variable))


@rule
def squeeze(premises: tuple[Theorem, ...]) -> Conclusion:
    """f -> v from u >= f, f >= l, u -> v and l -> v; a bound that is v itself needs no limit.

    Sound: for every neighbourhood of v, u and l are in it far enough out, and f is between them.
    """
    above, below, *limits = premises
    if not (isinstance(above.statement, AtLeast) and isinstance(below.statement, AtLeast) and limits):
        raise Refused("two inequalities and a limit are needed")
    f, upper, lower = above.statement.right, above.statement.left, below.statement.right
    if below.statement.left != f:
        raise Refused(f"{below.statement.left} and {f} are not one term")
    first = limits[0].statement
    if not isinstance(first, Tends):
        raise Refused(f"{first} is no limit")
    known = _values(tuple(limits), first.variable)
    if {known.get(upper, upper), known.get(lower, lower)} != {first.value} or not known.keys() <= {upper, lower}:
        raise Refused(f"{upper} and {lower} do not both tend to {first.value}")
    return Conclusion(Tends(f, first.value, first.variable), conditions=constants((first.value,), first.variable))


def _values(limits: tuple[Theorem, ...], variable: sp.Symbol) -> dict[sp.Expr, sp.Expr]:
    """What each expression tends to."""
    found: dict[sp.Expr, sp.Expr] = {}
    for limit in limits:
        if not isinstance(limit.statement, Tends) or limit.statement.variable != variable:
            raise Refused(f"{limit.statement} is no limit in {variable}")
        found[limit.statement.expression] = limit.statement.value
    return found
