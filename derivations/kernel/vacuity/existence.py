"""What lemmas ask of functions: averages that exist, slopes that do, one bound for all of a limit under an average."""

from __future__ import annotations

from functools import cache, lru_cache

import sympy as sp
from sympy.core.function import AppliedUndef

from onestep.derivations.kernel.conditions import meanings_in, put_in
from onestep.derivations.kernel.statements import Assumption, Demand, Equation, Ground, Refused, Tends, sides
from onestep.derivations.kernel.terms import (
    admit,
    apart,
    averages,
    bound,
    bounded_below,
    derivative,
    free,
    letters,
    masked,
    nonnegative,
)
from onestep.derivations.kernel.theorem import Theorem, nodes
from onestep.derivations.kernel.vacuity.formulas import Told, formulas_of, heads, in_exponents, in_full, needed
from onestep.derivations.language.expectation import Expectation
from onestep.derivations.language.named_functions import DERIVATIVES, PARTIALS

# The rules that take a limit under an average.
_UNDER_AVERAGES = ("limit_average", "average_limit")


def all_exist(theorem: Theorem) -> None:
    """Raises Refused where an average in a proof may not exist, or may not tend to its limit, or a function has not got
    the slopes that it has names for: by what functions are, as the leaves of the whole say it.
    """
    assumptions = theorem.assumptions
    _have_slopes(assumptions)
    for average in _averaged_over(theorem):
        exists(average, assumptions)
    for node in _limits_under_averages(theorem):
        _dominated(node, needed(sides(node.statement)[0], assumptions))


def _averaged_over(theorem: Theorem) -> frozenset[Expectation]:
    """The averages in a proof."""
    for node in nodes(theorem):  # premises first, so that no proof is too deep
        found = _averages_to(node)
    return found


@cache
def _averages_to(node: Theorem) -> frozenset[Expectation]:
    own = map(averages, sides(node.statement))
    return frozenset().union(*own, *map(_averages_to, node.premises))


def _limits_under_averages(theorem: Theorem) -> frozenset[Theorem]:
    """The limits that a proof takes under averages."""
    for node in nodes(theorem):
        found = _limits_to(node)
    return found


@cache
def _limits_to(node: Theorem) -> frozenset[Theorem]:
    own = frozenset({node} if node.rule in _UNDER_AVERAGES else ())
    return own.union(*map(_limits_to, node.premises))


@lru_cache(maxsize=65536)
def exists(average: Expectation, assumptions: frozenset[Assumption]) -> None:
    """Raises Refused where the meaning of a function, the formula that a leaf gives, or what an exponent is may make an
    average infinite.
    """
    term, meanings = average, meanings_in(assumptions)
    if any(name in meanings for name in in_exponents(average)):
        *_, term = put_in(in_full(average, formulas_of(assumptions, True)), meanings)
    _exists_by(term, needed(term, assumptions))


@lru_cache(maxsize=16384)
def _exists_by(average: sp.Expr, told: Told) -> None:
    """Raises Refused where an average with formulas in place of functions may not exist, or where a function has a
    formula for arguments of one sign and is averaged over others too.
    """
    term, with_formula = in_full(average, dict(told), False), {head for head, _ in told}
    admit(term)
    for inner in averages(term) if with_formula else ():
        for call in inner.integrand.atoms(AppliedUndef):
            if free(call) & bound(inner) and call.func in with_formula:
                raise Refused(f"{average} may not exist: {call} may have a formula, by its sign")


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
    for argument in name.args:
        derivative(masked(meaning, frozenset(name.args)), argument)
    slope = DERIVATIVES.get(name.func)
    shared = list(DERIVATIVES.values()).count(slope) > 1
    if slope is not None and shared and derivative(meaning, *name.args) != slope(*name.args):
        raise Refused(f"the slope of {meaning} is not {slope(*name.args)}")


@lru_cache(maxsize=4096)
def _has_slopes(meaning: sp.Expr, arguments: tuple[sp.Symbol, ...], told: Told) -> None:
    whole = masked(in_full(meaning, dict(told)), frozenset(arguments))
    for argument in arguments:
        derivative(whole, argument)


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
