"""Whether assumptions can hold at each value of the variable of a limit, with constant what the limit holds constant.

A limit speaks of a family: for each value of its variable from one on, values of all symbols and functions for which
the assumptions hold, those that it holds constant the same along the family. Where no such family is, the limit says
nothing, and what follows from it may be false at the one point at which the assumptions hold. Whether there is one
cannot be decided; `hold_all_along` asks for a way to make it, and refuses what has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

import sympy as sp
from sympy.core.function import AppliedUndef

from onestep.derivations.kernel.conditions import (
    formulas_of,
    in_full,
    in_the_end,
    meanings_in,
    names,
    not_refuted,
    outside_averages,
    put_in,
    reached_from,
    resting,
    said,
    signless,
    spoken,
    supposed,
)
from onestep.derivations.kernel.rational import degrees, vanishing
from onestep.derivations.kernel.statements import Assumption, AtLeast, Condition, Demand, Ground, Refused, Tends, sides
from onestep.derivations.kernel.terms import derivative, free, nonnegative, nonzero, shares_sign, substitute
from onestep.derivations.language.named_functions import DERIVATIVES, PARTIALS, sgn

Names = frozenset[sp.Expr]


@dataclass(frozen=True)
class _Told:
    """What a leaf says in full: a term that is zero (or not negative), the names in it, and whether it says that the
    slope of something is zero.
    """

    leaf: Assumption
    term: sp.Expr
    names: Names
    stationary: bool


@lru_cache(maxsize=16384)
def hold_all_along(conditions: frozenset[Condition], assumptions: frozenset[Assumption]) -> None:
    """Raises Refused where no family is found along which the model and the hypotheses hold.

    In full they have meanings in place of names, and for a limit or a slope what that was found to be. They are set
    aside one by one: (1) one that is solved for a name of which no other speaks, since that name may be whatever it
    says, all else given; (2) one that is solved for its only name whose value is not given, which then is. Sound: of
    what is left none speaks of the variable or of what moves with it, so it holds with all in it constant; the names of
    (2), in turn, and those of (1), in the opposite order, then take their values at each value of the variable. None of
    these is held constant, has a meaning, or takes a value against its sign, and a coefficient is not zero.

    (3) What is left says that slopes are zero at each value of the variable: a saddle point, which `_far_out` makes
    from some value on. Where they speak of the variable only by functions without a formula, which a limit that is
    assumed describes, the hypothesis is taken at its word.
    """
    grow = {c.variable for c in conditions if c.demand is Demand.CONSTANT and c.variable is not None}
    grow |= {leaf.statement.variable for leaf in supposed(assumptions) if isinstance(leaf.statement, Tends)}
    for variable in grow:
        held = frozenset(c.term for c in conditions if c.demand is Demand.CONSTANT and c.variable == variable)
        _hold_along(variable, held - {variable}, conditions, assumptions)


def _hold_along(
    variable: sp.Symbol, held: Names, conditions: frozenset[Condition], assumptions: frozenset[Assumption]
) -> None:
    found = {c.variable: c.term for c in conditions if c.demand is Demand.IS and c.variable is not None}
    meanings = {**meanings_in(assumptions, True), **found}
    ways = resting(assumptions, variable)
    ways = ways | {name: ways.get(name, frozenset()) | names(meaning) for name, meaning in found.items()}
    limits = {leaf: names(sides(leaf.statement)[0]) - leaf.universal for leaf in said(assumptions, variable)}
    still = frozenset[sp.Expr]().union(*(on for on in limits.values() if variable not in _reached(on, ways)))
    moving = still | {variable}
    fixed = _reached(held, ways)
    lemmas = frozenset().union(*(spoken(leaf) for leaf in assumptions if leaf.ground is Ground.LEMMA))
    closed = fixed | ways.keys() | moving
    if not limits and not any(_reached(spoken(leaf), ways) & moving for leaf in said(assumptions)):
        return
    given = closed.union(*limits.values(), (name for name in lemmas if not isinstance(name, sp.Symbol)))
    put = {name: meaning for name, meaning in meanings.items() if name not in held}
    # In one order, so that the same is found in every process.
    leaves = sorted(said(assumptions), key=lambda leaf: (leaf.name, str(sides(leaf.statement)[0])))
    left = [_in_full(leaf, put, ways, assumptions) for leaf in leaves]
    values: dict[sp.Expr, sp.Expr] = {}
    asked = _reached(frozenset().union(*(names(c.term) for c in conditions if not c.of_variable)), ways)
    bound = asked | ways.keys() | still
    while (
        any(told.names & moving for told in left)
        and (step := _set_aside(left, given, still, bound, variable)) is not None
    ):
        told, name, value = step
        left.remove(told)
        values[name] = value
        if any(name in other.names for other in left):
            given, moving = given | {name}, moving | {name} if told.names & moving else moving
    for limit, on in limits.items():
        if _reached(on, ways) & held and _reached(on, ways) <= closed | values.keys():
            raise Refused(f"{limit.name} says where something tends that was held constant")
    stuck = [told for told in left if told.names & moving]
    # What speaks of the variable by what is said to tend somewhere alone is taken at its word.
    stuck = [told for told in stuck if told.names & (moving - still) or told.names <= given]
    if any(not told.stationary for told in stuck):
        raise Refused(f"{stuck[0].leaf.name} may hold at one {variable} at most, with {held} constant")
    if any(variable in told.names for told in stuck):
        _far_out(left, variable, given, moving, values, conditions)
    elif not all(told.names - given for told in stuck):
        raise Refused(f"a saddle point may be there at one {variable} at most, with {held} constant")
    _keep_signs(conditions, variable, {**put, **values})


def _reached(found: Names, ways: Mapping[sp.Expr, Names]) -> Names:
    """Names and all that they rest on."""
    return found.union(*(reached_from(name, ways) for name in found))


def _in_full(
    leaf: Assumption, put: Mapping[sp.Expr, sp.Expr], ways: Mapping[sp.Expr, Names], assumptions: frozenset[Assumption]
) -> _Told:
    left, right = sides(leaf.statement)
    *_, term = put_in(left - right, {n: meaning for n, meaning in put.items() if n not in leaf.universal})
    term = in_full(term, formulas_of(assumptions))
    slopes = {sides(other.statement)[0] for other in assumptions if sides(other.statement)[1].has(sp.Derivative)}
    return _Told(leaf, term, _reached(_spoken(sp.expand(term)) - leaf.universal, ways), left in slopes and right == 0)


def _spoken(term: sp.Expr) -> Names:
    """The symbols that are free in a term and the heads of its functions."""
    return free(term) | {call.func for call in term.atoms(AppliedUndef)}


def _set_aside(
    left: list[_Told], given: Names, still: Names, bound: Names, variable: sp.Symbol
) -> tuple[_Told, sp.Expr, sp.Expr] | None:
    """What is solved for a name of its own, else for the only one that is not given, the name and its value; or what is
    not below a name of its own that is not `bound`, and not negative or said to tend somewhere: so that name may be as
    low as it has to be.
    """
    only: tuple[_Told, sp.Expr, sp.Expr] | None = None
    for told in left:
        elsewhere = frozenset[sp.Expr]().union(*(other.names for other in left if other is not told))
        above, below = sides(told.leaf.statement)
        own = isinstance(below, sp.Symbol) and not below.is_nonzero
        own = own and below not in elsewhere | bound | told.leaf.universal
        if isinstance(told.leaf.statement, AtLeast) and own and (nonnegative(above) or above in still):
            return told, below, sp.Integer(0)
        unknown = told.names - given
        if (solved := _solved(told, unknown - elsewhere, variable)) is not None:
            return told, *solved
        if only is None and len(unknown) == 1 and (solved := _solved(told, unknown, variable)) is not None:
            only = told, *solved
    return only


def _solved(told: _Told, among: Names, variable: sp.Symbol) -> tuple[sp.Expr, sp.Expr] | None:
    """One of some names, and what it has to be for a term to be zero, whatever all else is: a symbol, or a function
    without a formula of different symbols, which stands nowhere else in the term.
    """
    for name in sorted(among, key=str):
        place, loose = name, frozenset[sp.Symbol]()
        if not isinstance(name, sp.Symbol):
            calls = [call for call in told.term.atoms(AppliedUndef) if call.func == name]
            loose = frozenset(calls[0].args) if len(calls) == 1 else loose
            if not loose or len(loose) != len(calls[0].args) or not all(isinstance(part, sp.Symbol) for part in loose):
                continue
            if name in DERIVATIVES or name in PARTIALS:
                continue
            place = calls[0]
        value = _root(told.term, place, variable)
        if value is not None and not names(value) & (told.leaf.universal - loose | {name}):
            return name, value
    return None


def _root(term: sp.Expr, part: sp.Expr, variable: sp.Symbol) -> sp.Expr | None:
    """What a part of a term is where the term is zero: where that is linear in it, with a coefficient that is not zero,
    or in the square of what is not negative, and it has the sign of the part from some value of the variable on. None
    where that is not seen.
    """
    for form in (term, sp.expand(term)):
        for power in (1, 2) if part.is_nonnegative else (1,):
            place = sp.Dummy("place", real=True)
            inside = form.xreplace({part**power: place})
            if inside.has(part) or place not in free(inside):
                continue
            with suppress(Refused):
                slope = sp.expand(derivative(inside, place))
                value = -substitute(inside, {place: sp.Integer(0)}) / slope
                if place in free(slope) or not nonzero(slope):
                    continue
                if shares_sign(_real(value), part) or (part.is_nonnegative and _above_zero(value, variable)):
                    return value if power == 1 else sp.sqrt(value)
    return None


def _above_zero(term: sp.Expr, variable: sp.Symbol) -> bool:
    """Whether what leads in a term as a variable grows is not negative, and not always zero."""
    found = degrees(term, variable)
    return found.over > -1 and nonnegative(found.top * found.leading)


def _real(term: sp.Expr) -> sp.Expr:
    """A term with names for its roots of even order, which are not negative where it has a value."""
    roots = (power for power in term.atoms(sp.Pow) if power.exp.is_Rational and power.exp.q % 2 == 0)
    return term.xreplace({root: sp.Dummy("root", nonnegative=True) for root in roots})


def _far_out(
    left: list[_Told],
    variable: sp.Symbol,
    given: Names,
    moving: Names,
    values: Mapping[sp.Expr, sp.Expr],
    conditions: frozenset[Condition],
) -> None:
    """Raises Refused where a saddle point is not found from some value of the variable on.

    Sound, if all is as smooth as it looks: without what vanishes as the variable grows, the slopes are solved one by
    one, each for a name of its own or for its only one, with a coefficient that is not zero. At infinity there is a
    saddle point then, with a matrix of slopes of slopes that is triangular and so has an inverse; by the theorem on
    implicit functions there is one from some value on. A coefficient is not zero by its sign, or nothing else speaks of
    what it names; what is to be nonzero elsewhere is not a condition that this saddle point breaks. The signs of the
    names along the family are not asked.
    """
    put = {name: value for name, value in values.items() if isinstance(name, sp.Symbol)}
    # What else speaks of a name holds it constant; what speaks of what moves with the saddle point holds along with it.
    told_else = frozenset[sp.Expr]().union(*(told.names for told in left if not told.stationary))
    given = given | told_else
    # Of the sign of a number leaves say what it is, whatever else they say.
    told_else = (told_else | {name for name in values if not isinstance(name, sp.Symbol)}) - {sgn}
    kept = [c for c in conditions if not c.of_variable]
    asked, before = [told for told in left if told.names & moving], 0
    while before != len(asked):
        before = len(asked)
        along = frozenset[sp.Expr]().union(*(told.names for told in asked)) - given
        asked.extend(told for told in left if told not in asked and told.names & along)
    terms = [(told, _at_infinity(substitute(told.term, put), variable, given)) for told in asked]
    while terms:
        for k, (_, term) in enumerate(terms):
            others = frozenset[sp.Symbol]().union(*(free(other) for j, (_, other) in enumerate(terms) if j != k))
            unknown = free(term) - given
            for name in sorted(unknown if len(unknown) == 1 else unknown - others, key=str):
                slope = sp.expand(derivative(term, name))
                generic = vanishing(slope, (slope,)) is None and not names(signless(slope)) & told_else
                if name not in free(slope) and (generic or nonzero(slope)):
                    break
            else:
                continue
            at = {name: -substitute(term, {name: sp.Integer(0)}) / slope}
            if any(name in free(c.term) and vanishing(substitute(c.term, at), ()) is not None for c in kept):
                raise Refused(f"a saddle point may be where {name} is not to be")
            terms = [(t, sp.expand(substitute(o, at))) for j, (t, o) in enumerate(terms) if j != k]
            break
        else:
            raise Refused(f"a saddle point may be there at one {variable} at most")


def _at_infinity(term: sp.Expr, variable: sp.Symbol, given: Names) -> sp.Expr:
    """A sum without the parts that vanish as a variable grows. Raises Refused where another one speaks of it, or where
    there is a root of what is not given and may vanish.
    """
    parts = [p for p in sp.Add.make_args(sp.expand(term)) if variable not in free(p) or not _vanishes(p, variable)]
    if any(variable in free(part) for part in parts):
        raise Refused(f"a slope may not tend to anything as {variable} grows")
    roots = {power.base for power in sp.expand(term).atoms(sp.Pow) if not power.exp.is_Integer}
    if any(isinstance(base, sp.Symbol) and not base.is_positive for base in roots - given - {variable}):
        raise Refused(f"a slope may not be smooth far out in {variable}")
    return sp.Add(*parts)


@lru_cache(maxsize=4096)
def _vanishes(term: sp.Expr, variable: sp.Symbol) -> bool:
    """Whether a term goes to zero as a variable grows."""
    found = degrees(in_the_end(term, variable), variable)
    return found.over < found.under


def _keep_signs(conditions: frozenset[Condition], variable: sp.Symbol, put: Mapping[sp.Expr, sp.Expr]) -> None:
    """Raises Refused where what is not to be zero or negative is so from some value of the variable on, or speaks of a
    function that moves with it.
    """
    symbols = {name: value for name, value in put.items() if isinstance(name, sp.Symbol)}
    for condition in conditions:
        if condition.of_variable or not names(condition.term) & put.keys():
            continue
        *_, term = put_in(condition.term, symbols)
        calls = outside_averages(term).atoms(AppliedUndef)
        if any(call.func in put and variable in names(put[call.func]) for call in calls):
            raise Refused(f"{condition.term} may not be as it has to be as {variable} grows")
        not_refuted(condition, term, variable)
        if condition.demand is not Demand.NONNEGATIVE or variable not in free(term):
            continue
        with suppress(Refused):
            found = degrees(term, variable)
            if found.over > -1 and not nonnegative(found.top * found.leading):
                break
    else:
        return
    raise Refused(f"{condition.term} may be negative as {variable} grows")
