"""What lemmas ask of functions: averages that exist, slopes that do, one bound for all of a limit under an average."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import sympy as sp
from sympy.core.function import AppliedUndef

from onestep.derivations.kernel.algebra import replace, substituted
from onestep.derivations.kernel.conditions import meanings_in, put_in
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
from onestep.derivations.kernel.terms import averages, bound, derivative, free, letters, nonnegative
from onestep.derivations.kernel.theorem import Theorem, nodes
from onestep.derivations.kernel.vacuity.formulas import Told, formulas_of, heads, in_exponents, in_full, needed
from onestep.derivations.kernel.vacuity.growth import apart, averages_exist_where, bounded_below, masked
from onestep.derivations.language.expectation import Expectation
from onestep.derivations.language.named_functions import DERIVATIVES, PARTIALS

# The rules that take a limit under an average.
_UNDER_AVERAGES = ("limit_average", "average_limit")


def exist_where(theorem: Theorem) -> frozenset[Condition]:
    """Where all averages in a proof exist, by what functions are, as the leaves of the whole say it.

    Raises Refused where one may not, or may not tend to its limit, where a function has not got the slopes that it has
    names for, or where what is averaged over decides.
    """
    assumptions = theorem.assumptions
    _have_slopes(assumptions)
    found: dict[int, frozenset[Condition]] = {}
    for node in nodes(theorem):
        if node.rule in _UNDER_AVERAGES:
            _dominated(node, needed(sides(node.statement)[0], assumptions))
        beneath = [found[id(premise)] for premise in node.premises]
        own = (_side_exists_where(term, assumptions) for term in _terms(node))
        found[id(node)] = _carried(node, beneath).union(*own) if any(beneath) else frozenset().union(*own)
    return found[id(theorem)]


def _terms(node: Theorem) -> tuple[sp.Expr, ...]:
    """What a theorem speaks of: its sides, and slopes of theirs that its rule found."""
    if node.rule != "same_slope":
        return sides(node.statement)
    x = node.arguments[2]
    return (*sides(node.statement), *(derivative(side, x) for side in sides(node.statement)))


def _carried(node: Theorem, beneath: list[frozenset[Condition]]) -> frozenset[Condition]:
    """What the conditions of premises are for a theorem. Raises Refused where they speak of a variable that the rule
    takes all values of.
    """
    values: Mapping[sp.Symbol, sp.Expr] = {}
    every = frozenset[sp.Symbol]()
    match node.rule:
        case "instantiate":
            (values,) = node.arguments
        case "specialise":
            values = {node.arguments[0]: sides(node.premises[1].statement)[0]}
        case "average" | "average_limit":
            every = frozenset(node.arguments[0])
        case "same_slope":
            every = frozenset({node.arguments[2]})
        case "rewrite":
            old, new = sides(node.premises[1].statement)
            old, new = (new, old) if True in node.arguments else (old, new)
            caught = (replace(side, old, new)[1] for side in sides(node.premises[0].statement))
            if any(free(c.term) & variable for variable in caught for c in beneath[1]):
                raise Refused(f"{old} = {new} may not hold for all values of what is averaged over")
    if any(free(condition.term) & every for conditions in beneath for condition in conditions):
        raise Refused(f"an average may not exist for all values of {', '.join(map(str, every))}")
    first, *others = beneath
    return frozenset().union(*(substituted(c, values) for c in first), *others)


@lru_cache(maxsize=65536)
def _side_exists_where(term: sp.Expr, assumptions: frozenset[Assumption]) -> frozenset[Condition]:
    """Where averages exist, by the meaning of a function, the formula that a leaf gives, or what an exponent is."""
    meanings = meanings_in(assumptions)
    if any(name in meanings for average in averages(term) for name in in_exponents(average)):
        *_, term = put_in(in_full(term, formulas_of(assumptions, True)), meanings)
    return averages_exist(term, needed(term, assumptions)) if averages(term) else frozenset()


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
