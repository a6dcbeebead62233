"""What lemmas ask of functions: averages that exist, slopes that do, one bound for all of a limit under an average."""

from __future__ import annotations

from functools import cache, lru_cache

import sympy as sp
from sympy.core.function import AppliedUndef

from giantsteps.derivations.kernel.algebra import substituted
from giantsteps.derivations.kernel.conditions import moving_with, put_in, slopes_named, spoken, supposed
from giantsteps.derivations.kernel.rational import degrees
from giantsteps.derivations.kernel.statements import Assumption, Condition, Demand, Equation, Refused, Tends, sides
from giantsteps.derivations.kernel.terms import (
    ANY,
    NEAR,
    averages,
    bound,
    defined_where,
    derivative,
    free,
    letters,
    names,
    negative,
    nonnegative,
    shares_sign,
)
from giantsteps.derivations.kernel.theorem import Theorem, nodes
from giantsteps.derivations.kernel.vacuity.formulas import (
    Told,
    formulas_of,
    heads,
    in_exponents,
    in_full,
    meanings_with,
    needed,
    relatives,
)
from giantsteps.derivations.kernel.vacuity.growth import (
    BOUNDED,
    apart,
    averages_exist_where,
    bounded_below,
    for_some_functions,
    masked,
    moves_in,
)
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import DERIVATIVES, PARTIALS

Names = frozenset[sp.Symbol]
# The rules that take a limit under an average.
_UNDER_AVERAGES = ("limit_average", "average_limit")


@lru_cache(maxsize=1024)
def exist_where(theorem: Theorem) -> frozenset[Condition]:
    """Where all averages in a proof exist, by what functions are, as the assumptions of the whole say it.

    Raises Refused where one may not, for all values that are asked for, or may not tend to its limit, or where a
    function has not got the slopes that it has names for.
    """
    assumptions = theorem.assumptions
    _have_slopes(assumptions)
    for node in nodes(theorem):  # premises first, so that no proof is too deep for what is found along it
        if isinstance(node.statement, Tends) and node.rule in _UNDER_AVERAGES:
            moving = moving_with(node.statement.variable, assumptions)
            _dominated(node, needed(node.statement.expression, assumptions), moving, _held_to(assumptions))
        slopes = _slopes_to(node)
    at_places = (_slope_is_there(call, needed(call, assumptions), theorem.fixed) for call in slopes)
    asked = (condition.term for condition in theorem.conditions if condition.demand is Demand.EXISTS)
    recorded = frozenset(condition for condition in theorem.conditions if condition.demand is Demand.IS)
    return frozenset().union(*at_places, *(_exists_where(average, assumptions, recorded) for average in asked))


@lru_cache(maxsize=4096)
def _held_to(assumptions: frozenset[Assumption]) -> frozenset[sp.Expr]:
    """The functions of which more is said than what they tend to, or another name: what the lemma asks may not be."""
    said = [one for one in supposed(assumptions) if one.universal and not isinstance(one.statement, Tends)]
    heads_of = {assumed: frozenset(n for n in spoken(assumed) if not isinstance(n, sp.Symbol)) for assumed in said}
    bare = [one for one in said if all(isinstance(s.as_coeff_Mul()[1], AppliedUndef) for s in sides(one.statement))]
    held = relatives(frozenset().union(*(heads_of[assumed] for assumed in said if assumed not in bare)))
    for assumed in bare * len(bare):
        held |= relatives(heads_of[assumed]) if heads_of[assumed] & held else frozenset()
    return held


@lru_cache(maxsize=65536)
def _exists_where(
    average: sp.Expr, assumptions: frozenset[Assumption], recorded: frozenset[Condition]
) -> frozenset[Condition]:
    """Where an average exists: by the meaning of a function, the formula that an assumption gives, the value of an
    exponent, or the ``recorded`` values of names of limits and slopes.
    """
    term, exponents = average, _exponents(average, needed(average, assumptions))
    meanings = meanings_with(recorded, assumptions) if exponents else {}
    if any(name in meanings for name in exponents):
        *_, term = put_in(in_full(average, formulas_of(assumptions, True)), meanings)
    found = frozenset().union(*map(_nearby, averages_exist(term, needed(term, assumptions))))
    if any(moves_in(condition.term, frozenset(ANY)) for condition in found):
        raise Refused(f"{average} may not exist for all values of what is averaged over")
    return frozenset().union(*(for_some_functions(condition, frozenset(ANY)) for condition in found))


@lru_cache(maxsize=16384)
def _exponents(average: sp.Expr, told: Told) -> frozenset[sp.Symbol]:
    """The symbols in exponents of an average, with formulas in place of functions."""
    return in_exponents(in_full(average, dict(told), False))


def _nearby(condition: Condition) -> frozenset[Condition]:
    """What makes a condition hold for all values near one: that it does there, strictly, and does not jump."""
    for name in free(condition.term) & NEAR.keys():
        derivative(condition.term.replace(sp.Abs, lambda t: t), name)
    return substituted(condition, NEAR)


@lru_cache(maxsize=16384)
def averages_exist(term: sp.Expr, told: Told) -> frozenset[Condition]:
    """Where averages exist, with formulas in place of functions. Raises Refused where they may not, or where a function
    has a formula for arguments of one sign and is averaged over others too.
    """
    whole, with_formula = in_full(term, dict(told), False), {head for head, _ in told}
    for inner in averages(whole) if with_formula else ():
        for call in inner.integrand.atoms(AppliedUndef):
            if free(call) & bound(inner) and call.func in with_formula:
                raise Refused(f"{term} may not exist: {call} may have a formula, by its sign")
    return averages_exist_where(whole)


@lru_cache(maxsize=4096)
def _have_slopes(assumptions: frozenset[Assumption]) -> None:
    """Raises Refused where a function with a named slope has none, by its definition or the formulas of others."""
    for assumed in assumptions:
        if assumed.defines and isinstance(assumed.statement, Equation):
            _defined_with_slopes(*sides(assumed.statement))
    for head, (arguments, meaning) in formulas_of(assumptions, True).items():
        if (head in DERIVATIVES or head in PARTIALS) and heads(meaning):
            _has_slopes(meaning, arguments, needed(meaning, assumptions))


@lru_cache(maxsize=4096)
def _defined_with_slopes(name: sp.Expr, meaning: sp.Expr) -> None:
    """A function whose slopes have names is defined by what has slopes, as far as functions without a formula have; one
    that shares the name of its slope with another one, by what has that slope. Raises Refused else.
    """
    if name.func not in DERIVATIVES and name.func not in PARTIALS:
        return
    _has_slopes(meaning, tuple(name.args), frozenset())
    slope = DERIVATIVES.get(name.func)
    shared = list(DERIVATIVES.values()).count(slope) > 1
    if slope is not None and shared and derivative(meaning, *name.args) != slope(*name.args):
        raise Refused(f"the slope of {meaning} is not {slope(*name.args)}")


@lru_cache(maxsize=4096)
def _has_slopes(meaning: sp.Expr, arguments: tuple[sp.Symbol, ...], told: Told) -> None:
    """Raises Refused where a term has no slope in one of its arguments."""
    whole = masked(in_full(meaning, dict(told)), frozenset(arguments))
    for argument in arguments:
        derivative(whole, argument)


@cache
def _slopes_to(node: Theorem) -> frozenset[sp.Expr]:
    """The named slopes at places of which a proof speaks."""
    named = slopes_named().keys()
    with_slopes = (side for side in sides(node.statement) if names(side) & named)
    calls = (call for side in with_slopes for call in side.atoms(AppliedUndef) if call.func in named)
    return frozenset(calls).union(*map(_slopes_to, node.premises))


@lru_cache(maxsize=16384)
def _slope_is_there(call: sp.Expr, told: Told, fixed: frozenset[sp.Symbol]) -> frozenset[Condition]:
    """Where a function with a formula has a slope at a place, if that stands for no other one. Raises Refused where it
    has none.
    """
    if call.func not in dict(told):
        return frozenset()
    arguments, meaning = dict(told)[call.func]
    where = defined_where(in_full(meaning, dict(told)))
    at = dict(zip(arguments, call.args, strict=True))
    asked = frozenset().union(*(substituted(c, at) for c in where if c.demand is not Demand.EXISTS))
    if any(c.term == 0 or (c.demand is Demand.NONNEGATIVE and negative(c.term)) for c in asked):
        raise Refused(f"{call} is the slope of what has none there")
    return asked if free(sp.Tuple(*call.args)) <= fixed else frozenset()


@lru_cache(maxsize=4096)
def _dominated(limit: Theorem, told: Told, moving: frozenset[sp.Expr], held: frozenset[sp.Expr]) -> None:
    """Raises Refused where what stands under an average may grow beyond all bounds as its limit is taken, far out in a
    variable averaged over: by a denominator that comes near zero, or an exponential that widens. Of functions that are
    not known the lemma asks it, unless they are ``held`` to something; ``told`` are the formulas of others, and names
    that are ``moving`` may grow.
    """
    statement = limit.statement
    assert isinstance(statement, Tends)
    variable = statement.variable
    term = in_full(statement.expression, dict(told))
    term = apart(term, free(term), letters(term))  # a name that is free is none that is averaged over within
    within = frozenset[sp.Symbol]().union(*map(bound, term.atoms(Expectation)))
    still = {c.term for c in limit.conditions if c.demand is Demand.CONSTANT and c.variable == variable}
    # A name may move with the variable, unless it is held constant; what a function makes of no variable, too.
    calls = [c for c in term.atoms(AppliedUndef) if not c.free_symbols & within and c.func not in still]
    values = {call: sp.Dummy(**call.func._kwargs) for call in calls}
    term = term.xreplace(values)
    ways = (free(statement.expression) - still - within) | {variable, *values.values()} | free(term) & moving
    # Some function is to keep all parts of a term from growing at once: one that is constant, if any.
    plain = _without(term, frozenset(ways), held)
    if limit.rule == "average_limit" and isinstance(term, Expectation):
        for one in (term, plain):
            for part in sp.Add.make_args(sp.expand(one.integrand if isinstance(one, Expectation) else one)):
                if not _stays_bounded(part, within, ways, variable, held):
                    raise Refused(f"{part} may not stay bounded as {variable} grows")
    for part in term.atoms(sp.Pow, sp.exp) | plain.atoms(sp.Pow, sp.exp):
        if not (free(part) & within and free(part) & ways):
            continue
        if part.func is sp.exp:
            known = [p for p in sp.Add.make_args(sp.expand(part.exp)) if masked(p, within) == p or _outer(p) & held]
            moves = any(free(p) & within and free(p) & ways for p in known)
            fine = not moves or nonnegative(-part.exp) or nonnegative(-sp.Add(*known))
        else:
            fine = not free(part.exp) & ways and (
                nonnegative(part.exp) or not free(part.base) & ways or not free(part.base) & within
                or bounded_below(part.base, within | ways)
            )  # fmt: skip
        if not fine:
            raise Refused(f"{part} may not stay bounded as {variable} grows")


def _without(term: sp.Expr, ways: Names, held: frozenset[sp.Expr]) -> sp.Expr:
    """A term with one small number in place of functions of which nothing is known, zero if it may be."""
    unknown = {call.func for call in term.atoms(AppliedUndef) if free(call) & ways} - held
    calls = {call: sp.Dummy(**call.func._kwargs) for call in term.atoms(AppliedUndef) if call.func in unknown}
    for number in (0, 1, -1, 2):
        numbers = {call: sp.Integer(number) for call, name in calls.items() if shares_sign(sp.Integer(number), name)}
        plain = term.xreplace(numbers)
        if numbers.keys() == calls.keys() and not plain.has(sp.zoo, sp.nan):
            return plain
    return term


def _outer(term: sp.Expr) -> frozenset[sp.Expr]:
    """The functions without a formula in a term, but those in arguments of others."""
    return frozenset({term.func}) if isinstance(term, AppliedUndef) else frozenset().union(*map(_outer, term.args))


def _stays_bounded(term: sp.Expr, within: Names, ways: Names, variable: sp.Symbol, held: frozenset[sp.Expr]) -> bool:
    """Whether a term grows with what is averaged over alone, whatever denominators and exponentials in it do, of which
    `_dominated` asks: of functions that are not known the lemma asks it, unless more is said of them than that.
    """
    calls = (c for c in term.atoms(AppliedUndef) if free(c) & ways)
    if not free(term) & ways or any(call.func not in held for call in calls):
        return True
    if not free(term) & within:
        return not _grows(term, ways - {variable}, variable)
    if isinstance(term, sp.Mul):
        alone, mixed = term.as_independent(*within, as_Add=False)
        return all(_stays_bounded(part, within, ways, variable, held) for part in (alone, *sp.Mul.make_args(mixed)))
    if isinstance(term, sp.Pow):
        return nonnegative(-term.exp) or (
            nonnegative(term.exp) and _stays_bounded(term.base, within, ways, variable, held)
        )
    if isinstance(term, sp.Add | Expectation) or term.func in (sp.Abs, sp.Max):
        return all(_stays_bounded(part, within | bound(term), ways, variable, held) for part in term.args)
    return term.func in (sp.exp, *BOUNDED)


def _grows(term: sp.Expr, moving: Names, variable: sp.Symbol) -> bool:
    """Whether a term may grow beyond all bounds with a variable."""
    if free(term) & moving:
        return True
    try:
        found = degrees(term, variable)
    except Refused:
        return not (term.func is sp.exp and nonnegative(-term.exp))
    return found.over > found.under
