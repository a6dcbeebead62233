"""Whether a theorem says something: its assumptions can hold at each value of the variable of a limit.

A limit speaks of a family: for each value of its variable from one on, values of all symbols and functions for which
the assumptions hold, those that it holds constant the same along the family. Where no such family is, the limit says
nothing, and what follows from it may be false at the one point at which the assumptions hold. Whether there is one
cannot be decided; `hold_all_along` asks for a way to make it, and refuses what has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache

import sympy as sp
from sympy.core.function import AppliedUndef

from giantsteps.derivations.kernel.conditions import (
    defined,
    meanings_in,
    put_in,
    reached_from,
    resting,
    said,
    spoken,
    supposed,
)
from giantsteps.derivations.kernel.rational import degrees
from giantsteps.derivations.kernel.statements import Assumption, AtLeast, Demand, Refused, Tends, sides
from giantsteps.derivations.kernel.terms import (
    derivative,
    free,
    names,
    nonnegative,
    nonzero,
    shares_sign,
    substitute,
)
from giantsteps.derivations.kernel.vacuity.conditions import (
    binds,
    functions_of_lemmas,
    in_the_end,
    not_refuted,
)
from giantsteps.derivations.kernel.vacuity.far_out import (
    Conditions,
    Names,
    Told,
    generic,
    guarded,
    leading,
    saddle_point,
    signs_far_out,
)
from giantsteps.derivations.kernel.vacuity.formulas import formulas_of, in_full, relatives
from giantsteps.derivations.kernel.vacuity.growth import outside_averages
from giantsteps.derivations.kernel.vacuity.values import averaged
from giantsteps.derivations.language.named_functions import DERIVATIVES, PARTIALS


@lru_cache(maxsize=16384)
def hold_all_along(conditions: Conditions, assumptions: frozenset[Assumption]) -> None:
    """Raises Refused where no family is found along which the model and the hypotheses hold.

    In full they have meanings in place of names, and for a limit or a slope what that was found to be. They are set
    aside one by one: (1) one that is solved for a name of which no other speaks, since that name may be whatever it
    says, all else given; (2) one that is solved for its only name whose value is not given, which then is. Sound: of
    what is left none speaks of the variable or of what moves with it, so it holds with all in it constant; the names of
    (2), in turn, and those of (1), in the opposite order, then take their values at each value of the variable. None of
    these is held constant, has a meaning, or takes a value against its sign, and a coefficient is not zero.

    (3) What is left says that slopes are zero at each value of the variable: a saddle point, which `saddle_point` makes
    from some value on. Where they speak of the variable only by functions without a formula, which a limit that is
    assumed describes, the hypothesis is taken at its word.
    """
    grow = {c.variable for c in conditions if c.demand is Demand.CONSTANT and c.variable is not None}
    grow |= {assumed.statement.variable for assumed in supposed(assumptions) if isinstance(assumed.statement, Tends)}
    for variable in grow:
        held = frozenset(c.term for c in conditions if c.demand is Demand.CONSTANT and c.variable == variable)
        _hold_along(variable, held - {variable}, conditions, assumptions)


def _hold_along(variable: sp.Symbol, held: Names, conditions: Conditions, assumptions: frozenset[Assumption]) -> None:
    found = {c.variable: c.term for c in conditions if c.demand is Demand.IS and c.variable is not None}
    meanings = {**meanings_in(assumptions, True), **found}
    ways = resting(assumptions, variable)
    ways = ways | {name: ways.get(name, frozenset()) | names(meaning) for name, meaning in found.items()}
    limits = {one: names(sides(one.statement)[0]) - one.universal for one in said(assumptions, variable)}
    still = frozenset[sp.Expr]().union(*(on for on in limits.values() if variable not in _reached(on, ways)))
    moving = still | {variable}
    fixed = _reached(held, ways)
    lemmas = functions_of_lemmas(assumptions)
    closed = fixed.union(ways, moving)
    if not limits and not any(_reached(spoken(assumed), ways) & moving for assumed in said(assumptions)):
        return
    given = closed.union(*limits.values(), lemmas)
    put = {name: meaning for name, meaning in meanings.items() if name not in held}
    # In one order, so that the same is found in every process.
    listed = sorted(said(assumptions), key=lambda assumed: (assumed.name, str(sides(assumed.statement)[0])))
    left = [_in_full(assumed, put, ways, assumptions) for assumed in listed]
    values: dict[sp.Expr, sp.Expr] = {}
    asked = _reached(frozenset().union(*(names(c.term) for c in conditions if not c.of_variable)), ways)
    bound = asked.union(ways, still)
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
        raise Refused(f"{stuck[0].assumed.name} may hold at one {variable} at most, with {held} constant")
    _still_functions(stuck, values, {**put, **values}, variable)
    low = [c for c in conditions if c.demand is Demand.NONNEGATIVE]
    guards = [in_full(list(put_in(c.term, put))[-1], formulas_of(assumptions)) for c in low]
    unknown = frozenset[sp.Expr]().union(*(told.names for told in stuck)) - given
    # What is defined is not free, nor are functions of lemmas.
    meant = lemmas.union(found) | {defined(assumed)[0] for assumed in assumptions if assumed.defines}
    binding = [sp.expand(averaged(term)) for term in guards if not names(term) & unknown]
    near: Mapping[sp.Symbol, sp.Expr] = {}
    if any(isinstance(name, sp.Symbol) for told in stuck for name in told.names & (moving - still)):
        point = saddle_point(left, variable, given, moving, values, meant, binding)
        tied = point.tied.union(ways, still, values, *map(names, values.values()), point.near, (variable,))
        near = point.near
        valued = [c for c in conditions if not c.of_variable]
        whole = frozenset(replace(c, term=in_full(c.term, formulas_of(assumptions))) for c in valued)
        signs_far_out(point, variable, whole, tied, guards)
    elif not all(told.names - given for told in stuck):
        raise Refused(f"a saddle point may be there at one {variable} at most, with {held} constant")
    _keep_signs(conditions, variable, {**put, **values})
    functions = (name for name in values if not isinstance(name, sp.Symbol))
    told_else = relatives(meant.union(*(told.names for told in left), functions))
    told_else |= guarded(binding, told_else)
    symbols = {name: value for name, value in values.items() if isinstance(name, sp.Symbol)}
    for name, value in symbols.items():
        # What is not negative, as it is written, and not zero at one value of the variable is not zero far out.
        if not shares_sign(value, name) and not (name.is_nonnegative and nonnegative(value)):
            square = isinstance(value, sp.Pow) and value.exp == sp.Rational(1, 2)
            *_, value = put_in(value.base if square else value, symbols)
            lead = leading(value, near, variable)
            if not nonnegative(lead) or not generic(lead, told_else):
                raise Refused(f"{name} may have the wrong sign as {variable} grows: more is said of {lead}")


def _still_functions(
    stuck: list[Told], values: Mapping[sp.Expr, sp.Expr], put: Mapping[sp.Expr, sp.Expr], variable: sp.Symbol
) -> None:
    """Raises Refused where a slope speaks of a function whose value moves with a variable, but for what functions are
    said to tend to: that is taken at its word.
    """
    symbols = {name: value for name, value in put.items() if isinstance(name, sp.Symbol)}
    on = {name: names(value) for name, value in put.items()}
    for name in _reached(frozenset[sp.Expr]().union(*(told.names for told in stuck)), on) & values.keys():
        if not isinstance(name, sp.Symbol):
            *_, value = put_in(values[name], symbols)
            if variable in free(value.xreplace(dict.fromkeys(value.atoms(AppliedUndef), sp.Integer(1)))):
                raise Refused(f"{name} may move with {variable}, and a slope speaks of it")


def _reached(found: Names, ways: Mapping[sp.Expr, Names]) -> Names:
    """Names and all that they rest on."""
    return found.union(*(reached_from(name, ways) for name in found))


def _in_full(
    assumed: Assumption, put: Mapping[sp.Expr, sp.Expr], ways: Mapping[sp.Expr, Names], known: frozenset[Assumption]
) -> Told:
    left, right = sides(assumed.statement)
    *_, term = put_in(left - right, {n: meaning for n, meaning in put.items() if n not in assumed.universal})
    term = in_full(term, formulas_of(known))
    stationary = right == 0 and left in _slopes_in(known)
    return Told(assumed, term, _reached(_named_in(term) - assumed.universal, ways), stationary)


@lru_cache(maxsize=4096)
def _slopes_in(assumptions: frozenset[Assumption]) -> frozenset[sp.Expr]:
    """What assumptions say to be a slope."""
    pairs = (sides(assumed.statement) for assumed in assumptions)
    return frozenset(name for name, meaning in pairs if meaning.has(sp.Derivative))


@lru_cache(maxsize=4096)
def _named_in(term: sp.Expr) -> Names:
    """The free symbols of a term, multiplied out, and the heads of its functions."""
    written = sp.expand(term)
    return free(written) | {call.func for call in written.atoms(AppliedUndef)}


def _set_aside(
    left: list[Told], given: Names, still: Names, bound: Names, variable: sp.Symbol
) -> tuple[Told, sp.Expr, sp.Expr] | None:
    """What is solved for a name of its own, else for the only one that is not given, the name and its value; or what is
    not below a name of its own that is not `bound`, and not negative or said to tend somewhere: so that name may be as
    low as it has to be.
    """
    only: tuple[Told, sp.Expr, sp.Expr] | None = None
    for told in left:
        elsewhere = frozenset[sp.Expr]().union(*(other.names for other in left if other is not told))
        above, below = sides(told.assumed.statement)
        own = isinstance(below, sp.Symbol) and not below.is_nonzero
        own = own and below not in elsewhere | bound | told.assumed.universal
        if isinstance(told.assumed.statement, AtLeast) and own and (nonnegative(above) or above in still):
            return told, below, sp.Integer(0)
        unknown = told.names - given
        if (solved := _solved(told, unknown - elsewhere, variable)) is not None:
            return told, *solved
        if only is None and len(unknown) == 1 and (solved := _solved(told, unknown, variable)) is not None:
            only = told, *solved
    return only


def _solved(told: Told, among: Names, variable: sp.Symbol) -> tuple[sp.Expr, sp.Expr] | None:
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
        if value is not None and not names(value) & (told.assumed.universal - loose | {name}):
            return name, value
    return None


@lru_cache(maxsize=4096)
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
                if shares_sign(value, part) or (part.is_nonnegative and _above_zero(value, variable)):
                    return value if power == 1 else sp.sqrt(value)
    return None


def _above_zero(term: sp.Expr, variable: sp.Symbol) -> bool:
    """Whether what leads in a term as a variable grows is not negative, and not always zero."""
    found = degrees(term, variable)
    return found.over > -1 and nonnegative(found.top * found.leading)


def _keep_signs(conditions: Conditions, variable: sp.Symbol, put: Mapping[sp.Expr, sp.Expr]) -> None:
    """Raises Refused where what is not to be zero or negative is so from some value of the variable on, or speaks of a
    function that moves with it.
    """
    symbols = {name: value for name, value in put.items() if isinstance(name, sp.Symbol)}
    for condition in conditions:
        if condition.of_variable or not names(condition.term) & {variable, *put}:
            continue
        *_, term = put_in(condition.term, symbols)
        calls = outside_averages(term).atoms(AppliedUndef)
        moved = any(variable in free(call) for call in calls) and condition.demand is Demand.NONNEGATIVE and binds(term)
        if moved or any(call.func in put and variable in names(put[call.func]) for call in calls):
            raise Refused(f"{condition.term} may not be as it has to be as {variable} grows")
        not_refuted(condition, term, variable)
        if condition.demand is not Demand.NONNEGATIVE or variable not in free(term):
            continue
        with suppress(Refused):
            found = degrees(in_the_end(averaged(term), variable), variable)
            if found.over > -1 and not nonnegative(found.top * found.leading):
                break
    else:
        return
    raise Refused(f"{condition.term} may be negative as {variable} grows")
