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
from onestep.derivations.kernel.terms import derivative, free, nonnegative, nonzero, positive, shares_sign, substitute
from onestep.derivations.language.expectation import Expectation
from onestep.derivations.language.named_functions import DERIVATIVES, PARTIALS, sgn

Names = frozenset[sp.Expr]
Values = Mapping[sp.Symbol, sp.Expr]
Conditions = frozenset[Condition]


@dataclass(frozen=True)
class _Told:
    """What a leaf says in full: a term that is zero (or not negative), the names in it, and whether it says that the
    slope of something is zero.
    """

    leaf: Assumption
    term: sp.Expr
    names: Names
    stationary: bool


@dataclass(frozen=True)
class _Point:
    """A saddle point far out: what leads in its names, of what else leaves speak, and integrands that are not zero."""

    near: Values
    told_else: Names
    alive: set[sp.Expr]


@lru_cache(maxsize=16384)
def hold_all_along(conditions: Conditions, assumptions: frozenset[Assumption]) -> None:
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


def _hold_along(variable: sp.Symbol, held: Names, conditions: Conditions, assumptions: frozenset[Assumption]) -> None:
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
    if any(isinstance(name, sp.Symbol) for told in stuck for name in told.names & (moving - still)):
        low = [c for c in conditions if c.demand is Demand.NONNEGATIVE]
        guards = [in_full(list(put_in(c.term, put))[-1], formulas_of(assumptions)) for c in low]
        point = _far_out(left, variable, given, moving, values)
        tied = point.told_else.union(ways, still, values, *map(names, values.values()), point.near, (variable,))
        _signs_far_out(point, variable, conditions, tied, guards)
    elif not all(told.names - given for told in stuck):
        raise Refused(f"a saddle point may be there at one {variable} at most, with {held} constant")
    _keep_signs(conditions, variable, {**put, **values})
    functions = (name for name in values if not isinstance(name, sp.Symbol))
    told_else = frozenset[sp.Expr]().union(*(told.names for told in left), functions)
    symbols = {name: value for name, value in values.items() if isinstance(name, sp.Symbol)}
    for name, value in symbols.items():
        # What is not negative, as it is written, and not zero at one value of the variable is not zero far out.
        if not shares_sign(_real(value), name) and not (name.is_nonnegative and nonnegative(_real(value))):
            *_, value = put_in(value**2, symbols)
            lead = degrees(in_the_end(value, variable), variable).top
            if lead == 0 or names(signless(lead)) & told_else:
                raise Refused(f"{name} may have the wrong sign as {variable} grows: more is said of {lead}")


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
    written = sp.expand(term)
    named = free(written) | {call.func for call in written.atoms(AppliedUndef)}
    return _Told(leaf, term, _reached(named - leaf.universal, ways), left in slopes and right == 0)


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
    left: list[_Told], variable: sp.Symbol, given: Names, moving: Names, values: Mapping[sp.Expr, sp.Expr]
) -> _Point:
    """A saddle point from some value of the variable on. Raises Refused where none is found.

    Sound: without what vanishes as the variable grows, the slopes are solved one by one, each for a name of its own or
    for its only one, with a coefficient that is not zero. At infinity there is a saddle point then, with a matrix of
    slopes of slopes that is triangular and so has an inverse; by the theorem on implicit functions there is one from
    some value on, since `_smooth` sees that the slopes have slopes there. A coefficient is not zero by its sign, or
    nothing else speaks of what it names. `_signs_far_out` asks for the signs of the names and for the conditions.
    """
    put = {name: value for name, value in values.items() if isinstance(name, sp.Symbol)}
    # What else speaks of a name holds it constant; what speaks of what moves with the saddle point holds along with it.
    given = given.union(*(told.names for told in left if not told.stationary))
    asked, before = [told for told in left if told.names & moving], 0
    while before != len(asked):
        before = len(asked)
        along = frozenset[sp.Expr]().union(*(told.names for told in asked)) - given
        asked.extend(told for told in left if told not in asked and told.names & along)
    # Of the sign of a number leaves say what it is, whatever else they say.
    told_else = frozenset[sp.Expr]().union(*(told.names for told in left if told not in asked or not told.stationary))
    told_else = (told_else | {name for name in values if not isinstance(name, sp.Symbol)}) - {sgn}
    whole = [sp.expand(substitute(told.term, put)) for told in asked]
    if any(not isinstance(name, sp.Symbol) for full in whole for name in names(full) & values.keys()):
        raise Refused(f"a function may move with {variable}, and a slope speaks of it")
    terms = [(full, _at_infinity(full, variable)) for full in whole]
    solved: list[tuple[sp.Symbol, sp.Expr, sp.Expr]] = []
    while terms:
        for k, (full, term) in enumerate(terms):
            others = frozenset[sp.Symbol]().union(*(free(other) for j, (_, other) in enumerate(terms) if j != k))
            unknown = free(term) - given
            for name in sorted(unknown if len(unknown) == 1 else unknown - others, key=str):
                slope = sp.expand(derivative(term, name))
                if name not in free(slope) and (_generic(slope, told_else) or nonzero(slope)):
                    break
            else:
                continue
            at = {name: -substitute(term, {name: sp.Integer(0)}) / slope}
            solved.append((name, at[name], full / slope))
            terms = [(t, sp.expand(substitute(o, at))) for j, (t, o) in enumerate(terms) if j != k]
            break
        else:
            raise Refused(f"a saddle point may be there at one {variable} at most")
    far: dict[sp.Symbol, sp.Expr] = {}
    for name, value, _ in reversed(solved):
        far[name] = substitute(value, far)
    _smooth(whole, far)
    alive = set[sp.Expr]()
    near = {name: far[name] if far[name] != 0 else _first(name, full, far, variable, alive) for name, _, full in solved}
    return _Point(near, told_else, alive)


def _generic(term: sp.Expr, told_else: Names) -> bool:
    """Whether a term is not zero but for some values of names of which nothing else speaks."""
    return vanishing(term, (term,)) is None and not names(signless(term)) & told_else


def _smooth(terms: list[sp.Expr], far: Values) -> None:
    """Raises Refused where terms may have no slopes at a saddle point at infinity."""
    for term in terms:
        roots = {power.base for power in term.atoms(sp.Pow) if not (power.exp.is_Integer and power.exp > 0)}
        for base in roots | {call.args[0] for call in term.atoms(sp.log)}:
            if free(base) & far.keys() and vanishing(substitute(base, far), ()) is not None:
                raise Refused(f"a slope may not be smooth where {base} is zero")
        for call in outside_averages(term).atoms(sp.Abs, sp.Max, sp.ceiling, sgn):
            if free(call) & far.keys():
                raise Refused(f"a slope may jump with {call}")


def _first(name: sp.Symbol, full: sp.Expr, far: Values, variable: sp.Symbol, alive: set[sp.Expr]) -> sp.Expr:
    """The coefficient that leads in what a name is that goes to zero, where the slope solved for it, over its
    coefficient, is the name and what vanishes: that is at the saddle point at infinity what leads in it on the way.
    The name itself where that has its sign at each value of the variable: both are averages of what never changes its
    sign, and one integrand is the other one times what is positive. A name has its sign where the leaves hold at all.
    """
    rest = sp.expand(full) - name
    if any(free(part) & far.keys() and not _vanishes(part, variable) for part in sp.Add.make_args(rest)):
        raise Refused(f"{name} may have the wrong sign as {variable} grows")
    found = degrees(in_the_end(substitute(-rest, far), variable), variable)
    lead, power = found.top / found.leading, found.over - found.under
    if _one_sign(-rest, lead):
        alive |= {average.integrand for average in lead.atoms(Expectation) if name.is_nonzero}
        lead = name
    return lead * variable ** sp.Rational(power.numerator, power.denominator)


def _one_sign(term: sp.Expr, lead: sp.Expr) -> bool:
    """Whether what leads in a term has its sign whenever: both are averages of what never changes its sign, and one
    integrand is the other one times what is positive.
    """
    (factor, whole), (other, first) = (part.as_independent(Expectation, as_Add=False) for part in (term, lead))
    if not (isinstance(whole, Expectation) and isinstance(first, Expectation) and whole.variables == first.variables):
        return False
    inside = first.integrand
    ratio = factor * whole.integrand / (other * inside)
    return positive(ratio) and (nonnegative(inside) or nonnegative(-inside))


def _signs_far_out(
    point: _Point, variable: sp.Symbol, conditions: Conditions, tied: Names, guards: list[sp.Expr]
) -> None:
    """Raises Refused where names of a saddle point may lose their signs far out, or conditions may not hold.

    What leads is decidedly positive, or not negative and not always zero, or a function of which nothing is said. Else
    it grows with names that are not ``tied``: with all of them large enough, what is asked for is so.
    """
    above, apart = list[sp.Expr](), list[sp.Expr]()
    for condition in sorted({*conditions}.union(*map(_declared, point.near)), key=str):
        if not condition.of_variable and free(condition.term) & point.near.keys():
            lead = _leading(condition.term, point.near, variable)
            if not _one_sign(condition.term, lead):
                (above if condition.demand is Demand.NONNEGATIVE else apart).append(lead)
    for term in apart:
        if _forced(term, point):
            raise Refused(f"{term} may be zero at a saddle point far out")
    unknown = [t for t in above if not (positive(t) or (nonnegative(t) and not _forced(t, point)))]
    unknown = [t for t in unknown if not (isinstance(t, AppliedUndef) and t.func not in point.told_else)]
    lifting = list[list[sp.Expr]]()
    for name in frozenset[sp.Symbol]().union(*map(free, unknown)) - tied:
        with suppress(Refused):
            found = [sp.expand(_signed_outside(derivative(term, name))) for term in (*unknown, *guards)]
            if not name.is_negative and all(map(nonnegative, found)):
                lifting.append(found)
    for k, term in enumerate(unknown):
        if all(_forced(part, point) for found in lifting for part in sp.Add.make_args(found[k])):
            raise Refused(f"{term} may be negative at a saddle point far out")


def _declared(name: sp.Symbol) -> frozenset[Condition]:
    """What the declared sign of a name asks for."""
    found = {Condition(name)} if name.is_nonzero else set[Condition]()
    if name.is_nonnegative or name.is_negative:
        found.add(Condition(-name if name.is_negative else name, Demand.NONNEGATIVE))
    return frozenset(found)


def _leading(term: sp.Expr, near: Values, variable: sp.Symbol) -> sp.Expr:
    """The coefficient that leads in a term as a variable grows, for names that are nearly what is given. Raises Refused
    where what leads cancels, since the names are known to their first order only.
    """
    errors = {name: sp.Dummy("error", real=True) for name in near}
    moved = substitute(term, {name: value * (1 + errors[name]) for name, value in near.items()})
    found = degrees(in_the_end(moved, variable), variable)
    lead = substitute(found.top / found.leading, dict.fromkeys(errors.values(), sp.Integer(0)))
    if found.over < 0 or vanishing(lead, (lead,)) is not None:
        raise Refused(f"{term} may vanish at a saddle point far out")
    return lead


def _forced(term: sp.Expr, point: _Point) -> bool:
    """Whether nothing sees that a term is not zero but for some values of names and functions of which nothing else
    speaks: an average of what is positive and of powers of an integrand with an average that is not zero is none.
    """
    parts = term.args if isinstance(term, sp.Mul) else term.args[:1] if isinstance(term, sp.Pow) else ()
    if parts:
        return any(_forced(part, point) for part in parts)
    if nonzero(term) or any(not isinstance(name, sp.Symbol) for name in names(term) - point.told_else):
        return False
    if isinstance(term, Expectation):
        bases = [part.as_base_exp()[0] for part in sp.Mul.make_args(term.integrand)]
        return not any(all(positive(base) or positive(base / whole) for base in bases) for whole in point.alive)
    slopes = (sp.expand(derivative(term, name)) for name in free(term) - point.told_else)
    return not any(nonzero(slope) or _generic(slope, point.told_else) for slope in slopes)


def _signed_outside(term: sp.Expr) -> sp.Expr:
    """A term with the averages of what is not positive as the negative of other ones."""
    if not isinstance(term, Expectation):
        return term.func(*map(_signed_outside, term.args)) if term.args else term
    inside = sp.expand(_signed_outside(term.integrand))
    return -Expectation(-inside, *term.variables) if nonnegative(-inside) else Expectation(inside, *term.variables)


def _at_infinity(term: sp.Expr, variable: sp.Symbol) -> sp.Expr:
    """A sum without the parts that vanish as a variable grows. Raises Refused where another one speaks of it."""
    parts = [p for p in sp.Add.make_args(term) if variable not in free(p) or not _vanishes(p, variable)]
    if any(variable in free(part) for part in parts):
        raise Refused(f"a slope may not tend to anything as {variable} grows")
    return sp.Add(*parts)


@lru_cache(maxsize=4096)
def _vanishes(term: sp.Expr, variable: sp.Symbol) -> bool:
    """Whether a term goes to zero as a variable grows."""
    found = degrees(in_the_end(term, variable), variable)
    return found.over < found.under


def _keep_signs(conditions: Conditions, variable: sp.Symbol, put: Mapping[sp.Expr, sp.Expr]) -> None:
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
