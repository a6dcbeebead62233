"""What lemmas ask of functions: averages that exist, slopes that do, one bound for all of a limit under an average."""

from __future__ import annotations

from functools import cache, lru_cache

import sympy as sp
from sympy.core.function import AppliedUndef

from onestep.derivations.kernel.algebra import substituted
from onestep.derivations.kernel.conditions import meanings_in, put_in, slopes_named
from onestep.derivations.kernel.rational import degrees
from onestep.derivations.kernel.statements import (
    Assumption,
    Condition,
    Demand,
    Equation,
    Ground,
    Refused,
    Tends,
    sides,
)
from onestep.derivations.kernel.terms import (
    ANY,
    NEAR,
    averages,
    bound,
    defined_where,
    derivative,
    free,
    letters,
    negative,
    nonnegative,
)
from onestep.derivations.kernel.theorem import Theorem, nodes
from onestep.derivations.kernel.vacuity.formulas import Told, formulas_of, heads, in_exponents, in_full, needed
from onestep.derivations.kernel.vacuity.growth import BOUNDED, apart, averages_exist_where, bounded_below, masked
from onestep.derivations.language.expectation import Expectation
from onestep.derivations.language.named_functions import DERIVATIVES, PARTIALS

Names = frozenset[sp.Symbol]
# The rules that take a limit under an average.
_UNDER_AVERAGES = ("limit_average", "average_limit")


def exist_where(theorem: Theorem) -> frozenset[Condition]:
    """Where all averages in a proof exist, by what functions are, as the leaves of the whole say it.

    Raises Refused where one may not, for all values that are asked for, or may not tend to its limit, or where a
    function has not got the slopes that it has names for.
    """
    assumptions = theorem.assumptions
    _have_slopes(assumptions)
    for node in nodes(theorem):  # premises first, so that no proof is too deep for what is found along it
        if node.rule in _UNDER_AVERAGES:
            _dominated(node, needed(sides(node.statement)[0], assumptions))
        slopes = _slopes_to(node)
    for call in slopes:
        _slope_is_there(call, needed(call, assumptions))
    asked = (condition.term for condition in theorem.conditions if condition.demand is Demand.EXISTS)
    return frozenset().union(*(_exists_where(average, assumptions) for average in asked))


@lru_cache(maxsize=65536)
def _exists_where(average: sp.Expr, assumptions: frozenset[Assumption]) -> frozenset[Condition]:
    """Where an average exists, by the meaning of a function, the formula that a leaf gives, or what an exponent is."""
    term, meanings = average, meanings_in(assumptions)
    if any(name in meanings for name in in_exponents(average)):
        *_, term = put_in(in_full(average, formulas_of(assumptions, True)), meanings)
    found = frozenset().union(*map(_nearby, averages_exist(term, needed(term, assumptions))))
    if any(free(masked(condition.term, frozenset(ANY))) & ANY for condition in found):
        raise Refused(f"{average} may not exist for all values of what is averaged over")
    return frozenset(condition for condition in found if not free(condition.term) & ANY)


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
    for leaf in assumptions:
        if leaf.ground is Ground.DEFINITION and isinstance(leaf.statement, Equation):
            _defined_with_slopes(*sides(leaf.statement))
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
    calls = (call for side in sides(node.statement) for call in side.atoms(AppliedUndef) if call.func in slopes_named())
    return frozenset(calls).union(*map(_slopes_to, node.premises))


@lru_cache(maxsize=16384)
def _slope_is_there(call: sp.Expr, told: Told) -> None:
    """Raises Refused where a function has a formula that has no slope at a place."""
    value = in_full(call, dict(told))
    refuted = (c.term == 0 or (c.demand is Demand.NONNEGATIVE and negative(c.term)) for c in defined_where(value))
    if value.has(sp.nan, sp.zoo, sp.oo) or any(refuted):
        raise Refused(f"{call} is the slope of what has none there")


@lru_cache(maxsize=4096)
def _dominated(limit: Theorem, told: Told) -> None:
    """Raises Refused where what stands under an average may grow beyond all bounds as its limit is taken, far out in a
    variable averaged over: by a denominator that comes near zero, or an exponential that widens. Of functions that are
    not known the lemma asks it; ``told`` are the formulas of others.
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
    ways = (free(statement.expression) - still - within) | {variable, *values.values()}
    if limit.rule == "average_limit" and isinstance(term, Expectation):
        for part in sp.Add.make_args(sp.expand(term.integrand)):
            if not _stays_bounded(part, within, ways, variable):
                raise Refused(f"{part} may not stay bounded as {variable} grows")
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


def _stays_bounded(term: sp.Expr, within: Names, ways: Names, variable: sp.Symbol) -> bool:
    """Whether a term grows with what is averaged over alone, whatever denominators and exponentials in it do, of which
    `_dominated` asks: of functions that are not known the lemma asks it.
    """
    if not free(term) & ways or any(free(call) & ways for call in term.atoms(AppliedUndef)):
        return True
    if not free(term) & within:
        return not _grows(term, ways - {variable}, variable)
    if isinstance(term, sp.Mul):
        alone, mixed = term.as_independent(*within, as_Add=False)
        return all(_stays_bounded(part, within, ways, variable) for part in (alone, *sp.Mul.make_args(mixed)))
    if isinstance(term, sp.Pow):
        return not nonnegative(term.exp) or _stays_bounded(term.base, within, ways, variable)
    if isinstance(term, sp.Add | Expectation) or term.func in (sp.Abs, sp.Max):
        return all(_stays_bounded(part, within | bound(term), ways, variable) for part in term.args)
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
