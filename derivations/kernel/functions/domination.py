"""What stays below one bound all along a limit, so that it may be taken within an average."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp
from sympy.core.function import AppliedUndef

from onestep.derivations.kernel.functions.formulas import formulas_of, in_full
from onestep.derivations.kernel.statements import Assumption, Demand, Refused, sides
from onestep.derivations.kernel.terms import apart, bound, bounded_below, free, letters, masked, nonnegative
from onestep.derivations.language.expectation import Expectation

if TYPE_CHECKING:
    from onestep.derivations.kernel.theorem import Theorem


def dominated(
    term: sp.Expr,
    moving: set[sp.Symbol],
    variable: sp.Symbol,
    premises: tuple[Theorem, ...],
    later: frozenset[Assumption] = frozenset(),
) -> None:
    """Raises Refused where a term may grow beyond all bounds on the way, far out in a variable averaged over: by a
    denominator that comes near zero, or an exponential that widens. Of functions that are not known the lemma asks it;
    functions are known by what the premises assume, or is assumed ``later``.
    """
    term = in_full(term, formulas_of(later.union(*(p.assumptions for p in premises)), True))
    term = apart(term, free(term), letters(term))  # a name that is free is none that is averaged over within
    within = frozenset(moving).union(*map(bound, term.atoms(Expectation)))
    still = {c.term for p in premises for c in p.conditions if c.demand is Demand.CONSTANT and c.variable == variable}
    # A name may move with the variable, unless it is held constant; what a function makes of no variable, too.
    calls = [c for c in term.atoms(AppliedUndef) if not c.free_symbols & within and c.func not in still]
    values = {call: sp.Dummy(**call.func._kwargs) for call in calls}
    term = term.xreplace(values)
    spoken = frozenset().union(*(free(side) for p in premises for side in sides(p.statement)[:1]))
    ways = (spoken - still - within) | {variable, *values.values()}
    for part in term.atoms(sp.Pow, sp.exp):
        if not (free(part) & within and free(part) & ways):
            continue
        if part.func is sp.exp:
            known = [p for p in sp.Add.make_args(sp.expand(part.exp)) if masked(p, within) == p]
            moves = any(free(p) & within and free(p) & ways for p in known)
            fine = not moves or nonnegative(-part.exp) or nonnegative(-sp.Add(*known))
        else:
            fine = not free(part.exp) & ways and (
                nonnegative(part.exp) or not free(part.base) & ways or not free(part.base) & within
                or bounded_below(part.base, within | ways)
            )  # fmt: skip
        if not fine:
            raise Refused(f"{part} may not stay bounded as {variable} grows")
