"""Saddle points far out: whether there is one from some value of the variable of a limit on, and with which signs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from giantsteps.derivations.kernel.rational import degrees, vanishing
from giantsteps.derivations.kernel.statements import Assumption, Condition, Demand, Refused
from giantsteps.derivations.kernel.terms import derivative, free, names, nonnegative, nonzero, positive, substitute
from giantsteps.derivations.kernel.vacuity.conditions import in_the_end, of_its_sign
from giantsteps.derivations.kernel.vacuity.formulas import relatives
from giantsteps.derivations.kernel.vacuity.values import averaged
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import DERIVATIVES, PARTIALS, sgn

Names = frozenset[sp.Expr]
Values = Mapping[sp.Symbol, sp.Expr]
Conditions = frozenset[Condition]


@dataclass(frozen=True)
class Told:
    """An assumption with its definitions inserted: a term that is zero (or not negative), the names in it, and whether
    it says that a slope is zero.
    """

    assumed: Assumption
    term: sp.Expr
    names: Names
    stationary: bool


@dataclass(frozen=True)
class Point:
    """A saddle point far out: the leading terms of its names, the other names in assumptions (or conditions too), and
    integrands that are not zero.
    """

    near: Values
    tied: Names
    told_else: Names
    alive: set[sp.Expr]


def saddle_point(
    left: list[Told],
    variable: sp.Symbol,
    given: Names,
    moving: Names,
    values: Mapping[sp.Expr, sp.Expr],
    defined: Names,
    binding: list[sp.Expr],
) -> Point:
    """A saddle point from some value of the variable on. Raises Refused where none is found.

    Sound: without what vanishes as the variable grows, the slopes are solved one by one, each for a name of its own or
    for its only one, with a coefficient that is not zero. At infinity there is a saddle point then, with a matrix of
    slopes of slopes that is triangular and so has an inverse; by the theorem on implicit functions there is one from
    some value on, since `_smooth` sees that the slopes have slopes there. A coefficient is `generic`, and so is what
    it is at the saddle point at infinity. Meanings speak of the names in ``defined``, and what is ``binding`` is
    not to be negative. `signs_far_out` asks for the signs of the names and for the conditions.
    """
    put = {name: value for name, value in values.items() if isinstance(name, sp.Symbol)}
    # What else speaks of a name holds it constant; what speaks of what moves with the saddle point holds along with it.
    given = given.union(*(told.names for told in left if not told.stationary))
    asked, before = [told for told in left if told.names & moving], 0
    while before != len(asked):
        before = len(asked)
        along = frozenset[sp.Expr]().union(*(told.names for told in asked)) - given
        asked.extend(told for told in left if told not in asked and told.names & along)
    told_else = frozenset[sp.Expr]().union(*(told.names for told in left if told not in asked or not told.stationary))
    functions = {name for name in values if not isinstance(name, sp.Symbol)}
    tied = relatives(told_else | defined | functions)
    told_else = tied | guarded(binding, tied)
    whole = [sp.expand(substitute(told.term, put)) for told in asked]
    if any(not isinstance(name, sp.Symbol) for full in whole for name in names(full) & values.keys()):
        raise Refused(f"a function may move with {variable}, and a slope speaks of it")
    terms = [(full, _at_infinity(full, variable)) for full in whole]
    solved: list[tuple[sp.Symbol, sp.Expr, sp.Expr, sp.Expr]] = []
    while terms:
        for k, (full, term) in enumerate(terms):
            others = frozenset[sp.Symbol]().union(*(free(other) for j, (_, other) in enumerate(terms) if j != k))
            unknown = free(term) - given
            for name in sorted(unknown if len(unknown) == 1 else unknown - others, key=str):
                slope = sp.expand(derivative(term, name))
                if name not in free(slope) and generic(slope, told_else):
                    break
            else:
                continue
            at = {name: -substitute(term, {name: sp.Integer(0)}) / slope}
            solved.append((name, at[name], full / slope, slope))
            terms = [(t, sp.expand(substitute(o, at))) for j, (t, o) in enumerate(terms) if j != k]
            break
        else:
            raise Refused(f"a saddle point may be there at one {variable} at most")
    far: dict[sp.Symbol, sp.Expr] = {}
    for name, value, _, slope in reversed(solved):
        # By way of another name a coefficient may be zero at the saddle point.
        if not generic(substitute(slope, far), told_else):
            raise Refused(f"a saddle point may be there at one {variable} at most: {slope} may be zero there")
        far[name] = substitute(value, far)
    _smooth(whole, far, variable)
    alive = set[sp.Expr]()
    near = {
        name: far[name] if far[name] != 0 else _first(name, full, far, variable, alive) for name, _, full, _ in solved
    }
    return Point(near, tied, told_else, alive)


@lru_cache(maxsize=4096)
def generic(term: sp.Expr, told_else: Names, alive: Names = frozenset(), depth: int = 3) -> bool:
    """Whether a term is decidedly not zero but for some values of names and functions of which nothing else speaks.

    That is where it is not zero by its sign, or has a slope in such a name that is not zero but for some values, or is
    so with constants in place of such functions; it is a function of which nothing is said; or it is the average of
    what does not change its sign, and is not always zero: a product of what is positive and of powers of an integrand
    with an average that is not zero, which are the ``alive`` ones, is not. That it is not zero in normal form is not
    enough.
    """
    if nonzero(term) or (isinstance(term, AppliedUndef) and term.func not in told_else):
        return True
    if isinstance(term, sp.Mul):
        return all(generic(part, told_else, alive, depth) for part in term.args)
    if isinstance(term, sp.Pow):
        return generic(term.base, told_else, alive, depth)
    if vanishing(term, (term,)) is not None:
        return False
    if isinstance(term, Expectation):
        inside, at_zero = term.integrand, dict.fromkeys(term.variables, sp.Integer(0))
        if inside.func is sgn and inside.args[0].is_polynomial(*term.variables):
            # The sign of a number plus what is symmetric: its average is zero where the number is.
            inner = [derivative(inside.args[0], name) for name in term.variables]
            if not any(free(slope) & {*term.variables} for slope in inner):
                return generic(substitute(inside.args[0], at_zero), told_else, alive, depth)
        factor, inside = inside.as_independent(*term.variables, as_Add=False)
        bases = [part.as_base_exp()[0] for part in sp.Mul.make_args(inside)]
        living = any(all(positive(base) or positive(base / whole) for base in bases) for whole in alive)
        living |= (nonnegative(inside) or nonnegative(-inside)) and generic(
            inside, told_else - {*term.variables}, alive, depth
        )
        if living and generic(factor, told_else, alive, depth):
            return True
    # One choice of the functions will do: constants, where no slopes of theirs stand in the term.
    heads = frozenset(call.func for call in term.atoms(AppliedUndef)) - told_else - {sgn}
    alone = {head for head in heads if relatives(frozenset({head})) & heads == {head}}
    values = {call: _constant(call.func) for call in term.atoms(AppliedUndef) if call.func in alone}
    if values and generic(averaged(term.xreplace(values)), told_else, alive, depth):
        return True
    if depth == 0:
        return False
    with suppress(Refused):
        slopes = (sp.expand(derivative(term, name)) for name in sorted(free(term) - told_else, key=str))
        return any(generic(slope, told_else, alive, depth - 1) for slope in slopes)
    return False


@lru_cache(maxsize=4096)
def _constant(head: Any) -> sp.Dummy:
    """The value of a function without a formula that is constant, with its sign."""
    return sp.Dummy(str(head), **head._kwargs)


def _smooth(terms: list[sp.Expr], far: Values, variable: sp.Symbol) -> None:
    """Raises Refused where terms may have no slopes at a saddle point at infinity, or what they divide by may grow less
    there than elsewhere. A function without a formula may jump, but where its slope has a name.
    """
    for term in terms:
        roots = {power.base for power in term.atoms(sp.Pow) if not (power.exp.is_Integer and power.exp > 0)}
        for base in roots | {call.args[0] for call in term.atoms(sp.log)}:
            if not free(base) & far.keys():
                continue
            lead = degrees(in_the_end(base, variable), variable).top if variable in free(base) else base
            if any(vanishing(substitute(part, far), ()) is not None for part in (base, lead)):
                raise Refused(f"a slope may not be smooth where {base} is zero")
        for call in term.atoms(AppliedUndef, sp.Abs, sp.Max, sp.ceiling, sgn):
            if free(call) & far.keys() and call.func not in DERIVATIVES.keys() | PARTIALS.keys():
                raise Refused(f"a slope may jump with {call}")


def _first(name: sp.Symbol, full: sp.Expr, far: Values, variable: sp.Symbol, alive: set[sp.Expr]) -> sp.Expr:
    """The coefficient that leads in what a name is that goes to zero, where the slope solved for it, over its
    coefficient, is the name and what vanishes: that is at the saddle point at infinity what leads in it on the way.
    The name itself where that has its sign at each value of the variable: both are averages of what never changes its
    sign, and one integrand is the other one times a positive factor. A name has its sign wherever the assumptions hold.
    """
    rest = sp.expand(full) - name
    if any(free(part) & far.keys() and not _vanishes(part, variable) for part in sp.Add.make_args(rest)):
        raise Refused(f"{name} may have the wrong sign as {variable} grows")
    found = degrees(in_the_end(substitute(-rest, far), variable), variable)
    lead, power = found.top / found.leading, found.over - found.under
    for part in sp.Add.make_args(rest):
        # A part that vanishes at the saddle point at infinity may lead on the way.
        if free(part) & far.keys():
            order = degrees(in_the_end(part, variable), variable)
            if order.over - order.under > power:
                raise Refused(f"{name} may have the wrong sign as {variable} grows: {part} may lead in it")
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


def guarded(binding: list[sp.Expr], told: Names) -> Names:
    """The names in terms that are not to be negative, as far as they may be so at some values alone, as -x^2 - y^2 is,
    and not around the value zero of one name that is not ``told``.
    """
    free_names = sorted(frozenset[sp.Symbol]().union(*map(free, binding)) - told, key=str)
    # What jumps says nothing of its surroundings.
    smooth = [t for t in binding if not t.atoms(sp.ceiling, sgn)]
    around = ([t for t in smooth if positive(substitute(t, {name: sp.Integer(0)}))] for name in free_names)
    met = max(around, key=len, default=[])
    found = frozenset[sp.Expr]().union(*(names(t) for t in binding if t not in met))
    return found | guarded(met, told | found) if len(met) < len(binding) else found


def signs_far_out(
    point: Point, variable: sp.Symbol, conditions: Conditions, tied: Names, guards: list[sp.Expr]
) -> None:
    """Raises Refused where names of a saddle point may lose their signs far out, or conditions may not hold.

    What leads is decidedly positive, or not negative and not always zero, or a function of which nothing is said. Else
    it grows with names that are not ``tied``: with all of them large enough, what is asked for is so; or that is said
    of what leads in it where a function of which nothing is said is small: it is as small as it has to be then.
    """
    above, apart = list[sp.Expr](), list[sp.Expr]()
    for condition in sorted({*conditions}.union(*(of_its_sign(name, name) for name in point.near)), key=str):
        if not condition.of_variable and free(condition.term) & point.near.keys():
            lead = leading(condition.term, point.near, variable)
            if not _one_sign(condition.term, lead):
                (above if condition.demand is Demand.NONNEGATIVE else apart).append(lead)
    for term in apart:
        if _forced(term, point):
            raise Refused(f"{term} may be zero at a saddle point far out")
    unknown = [t for t in above if not (positive(t) or (nonnegative(t) and not _forced(t, point)))]
    # What the guards say of the saddle point is among the terms.
    apart = [guard for guard in guards if not free(guard) & point.near.keys()]
    unknown = [t for t in unknown if not _chosen(t, point, [*apart, *(other for other in unknown if other != t)])]
    if all(_lifted(unknown, guards, tied, point)):
        return
    calls, large = {call for term in unknown for call in term.atoms(AppliedUndef)}, sp.Dummy("large", positive=True)
    for head in sorted({call.func for call in calls} - point.told_else.union({sgn}, *map(names, guards)), key=str):
        small = {call: call / large for call in calls if call.func in relatives(frozenset({head}))}
        with suppress(Refused):
            if all(_lifted([leading(t.xreplace(small), {}, large) for t in unknown], guards, tied, point)):
                return
    raise Refused(f"{', '.join(map(str, unknown))} may be negative at a saddle point far out")


def _lifted(terms: list[sp.Expr], guards: list[sp.Expr], tied: Names, point: Point) -> Iterator[bool]:
    """Whether each term is positive, or grows beyond all bounds with names that are not ``tied``."""
    lifting = list[tuple[sp.Symbol, list[sp.Expr]]]()
    for name in frozenset[sp.Symbol]().union(*map(free, terms)) - tied:
        with suppress(Refused):
            rates = (sp.expand(_signed_outside(derivative(term, name))) for term in (*terms, *guards))
            found = [] if name.is_negative else list(takewhile(nonnegative, rates))
            if len(found) == len(terms) + len(guards):
                lifting.append((name, found))
    for k, term in enumerate(terms):
        yield positive(term) or any(_lifts(part, n, point) for n, at in lifting for part in sp.Add.make_args(at[k]))


def _chosen(term: sp.Expr, point: Point, others: list[sp.Expr]) -> bool:
    """Whether a term is a function that may be as large as it has to be: not declared to be below zero, and neither
    assumptions nor other terms speak of it.
    """
    if not isinstance(term, AppliedUndef) or term.is_nonpositive:
        return False
    return term.func not in point.told_else | relatives(frozenset().union(*map(names, others)))


def _lifts(slope: sp.Expr, name: sp.Symbol, point: Point) -> bool:
    """Whether what has a slope grows beyond all bounds with a name: the slope, not negative, does not vanish as the
    name grows.
    """
    with suppress(Refused):
        found = degrees(in_the_end(slope, name), name)
        return found.over >= found.under and not _forced(found.top / found.leading, point)
    return False


def leading(term: sp.Expr, near: Values, variable: sp.Symbol) -> sp.Expr:
    """The coefficient that leads in a term as a variable grows, for names that are nearly what is given. Raises Refused
    where what leads cancels, since the names are known to their first order only.
    """
    nearly = {name: sp.Dummy("nearly one", positive=True) for name in near}
    moved = substitute(term, {name: value * nearly[name] for name, value in near.items()})
    found = degrees(in_the_end(moved, variable), variable)
    lead = substitute(found.top / found.leading, dict.fromkeys(nearly.values(), sp.Integer(1)))
    if found.over < 0 or vanishing(lead, (lead,)) is not None:
        raise Refused(f"{term} may vanish at a saddle point far out")
    return lead


def _forced(term: sp.Expr, point: Point) -> bool:
    """Whether nothing sees that a term is not zero but for some values of names and functions of which nothing else
    speaks.
    """
    return not generic(term, point.told_else, frozenset(point.alive))


@lru_cache(maxsize=16384)
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
