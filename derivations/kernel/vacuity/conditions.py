"""Conditions that nothing refutes: by signs, by the meanings of names, or far out in the variable of a limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache

import sympy as sp
from sympy.core.function import AppliedUndef

from giantsteps.derivations.kernel.conditions import (
    are_universal,
    forms,
    meanings_of,
    moving_with,
    of_leading,
    put_in,
    reached_from,
    said,
    size,
    spoken,
    supposed,
)
from giantsteps.derivations.kernel.rational import degrees
from giantsteps.derivations.kernel.statements import Assumption, AtLeast, Condition, Demand, Equation, Refused, sides
from giantsteps.derivations.kernel.terms import (
    ANY,
    REAL_FUNCTIONS,
    any_value,
    averages,
    bound,
    free,
    names,
    negative,
    nonnegative,
    nonzero,
    positive,
    substitute,
)
from giantsteps.derivations.kernel.vacuity.formulas import formulas_of, in_full, meanings_with, needed
from giantsteps.derivations.kernel.vacuity.growth import bounded_below, outside_averages
from giantsteps.derivations.kernel.vacuity.values import NEAR_BY, Where, averaged, meet
from giantsteps.derivations.language.expectation import Expectation

# Parts of an equation beyond which it is not solved: to multiply a large one out takes long.
_SMALL = 60
# How much larger what grows is far out: where nothing else is lost to rounding, and where some of it may be, of which
# nothing is known then.
_FAR_OUT = ((1e3, False), (1e60, True))


def beside_existence(conditions: frozenset[Condition]) -> frozenset[Condition]:
    """Conditions but that averages exist, which is no more than is read in the statements of a proof."""
    return frozenset(condition for condition in conditions if condition.demand is not Demand.EXISTS)


@lru_cache(maxsize=16384)
def can_hold(
    conditions: frozenset[Condition], assumptions: frozenset[Assumption], growing: frozenset[sp.Symbol] = frozenset()
) -> None:
    """Raises Refused where no values are found at which conditions hold, names have the signs that they are declared to
    have, and what is assumed not to be less is not; where among these the one side of an equation that is assumed is
    always the larger one; where far out in what is ``growing`` no functions are such as conditions ask for; or where by
    the conditions something is constant that is not.
    """
    meanings = meanings_with(conditions, assumptions)
    asked = {c for c in conditions if not c.of_variable}.union(*(of_its_sign(*pair) for pair in meanings.items()))
    told = supposed(assumptions)
    asked |= {_not_below(*_for_all(assumed)) for assumed in told if isinstance(assumed.statement, AtLeast)}
    asked |= {c for assumed in told for c in _instances(assumed, asked)}
    for head, (arguments, meaning) in formulas_of(assumptions, True).items():
        every = {argument: any_value(argument, 0) for argument in arguments}
        asked |= of_its_sign(sp.Dummy(**head._kwargs), substitute(meaning, every))
    near = {c: _in_full(c.term, meanings, assumptions) for c in asked}
    _have_values(near)
    # Of what grows, others see to it far out, but not of what functions without a formula make of all values.
    lasting = {c: term for c, term in near.items() if free(term) & ANY or not free(term) & growing}
    for far in _FAR_OUT if any(free(term) & ANY for term in near.values()) else ():
        _have_values(lasting, Where(growing, *far))
    for left, right in (sides(assumed.statement) for assumed in told if isinstance(assumed.statement, Equation)):
        if meanings.get(left) != right:
            apart = _in_full(left - right, meanings, assumptions)
            apart, solved = _solved(apart) if size(apart) < _SMALL else (apart, {})
            for one in (apart, -apart):
                _have_values({**near, Condition(one, Demand.NONNEGATIVE): one})
            if solved:
                _have_values({c: term.xreplace(solved) for c, term in near.items()})
    _constants_are_constant(conditions, assumptions)


def _not_below(left: sp.Expr, right: sp.Expr) -> Condition:
    return Condition(left - right, Demand.NONNEGATIVE)


def _instances(assumed: Assumption, asked: set[Condition]) -> Iterator[Condition]:
    """What an inequality says of a function for all its arguments, at those that it has in conditions, all of them
    where these are averaged over.
    """
    if not isinstance(assumed.statement, AtLeast):
        return
    for condition in asked:
        for call in condition.term.atoms(AppliedUndef):
            within = {name: any_value(name, 0) for name in free(call) - free(condition.term)}
            for of in _calls_of(assumed):
                if call.func == of.func and are_universal(of.args, assumed.universal):
                    at = dict(zip(of.args, (substitute(argument, within) for argument in call.args), strict=True))
                    yield _not_below(*(substitute(side, at) for side in sides(assumed.statement)))


def _for_all(assumed: Assumption) -> tuple[sp.Expr, sp.Expr]:
    """The sides of a statement, for any value of what stands for all and in no argument of a function."""
    every = {name: any_value(name, 0) for name in assumed.universal.difference(*map(free, _calls_of(assumed)))}
    left, right = (substitute(side, every) for side in sides(assumed.statement))
    return left, right


def _calls_of(assumed: Assumption) -> set[sp.Expr]:
    """The functions without a formula, at their arguments, of which an assumption speaks."""
    return {call for side in sides(assumed.statement) for call in side.atoms(AppliedUndef)}


def _have_values(terms: Mapping[Condition, sp.Expr], where: Where = NEAR_BY) -> None:
    """Raises Refused where no values are found at which conditions hold of these terms, with all meanings put in."""
    asked = {condition: (term, condition.demand) for condition, term in terms.items()}
    if not meet(frozenset(asked.values()), where):
        alone = (f"{c.term} never {c.demand}" for c, one in asked.items() if not meet(frozenset({one}), where))
        raise Refused(next(alone, "no values are found at which all conditions hold"))


def _in_full(term: sp.Expr, meanings: Mapping[sp.Symbol, sp.Expr], assumptions: frozenset[Assumption]) -> sp.Expr:
    """A term with meanings in place of names, and formulas in place of functions. Raises Refused where it is too large
    to be looked at.
    """
    *_, known = put_in(term, meanings)
    *_, known = put_in(in_full(known, dict(needed(known, assumptions)), False), meanings)
    if free(known) & meanings.keys():
        raise Refused(f"{term} is too large with all meanings put in")
    return known


@lru_cache(maxsize=4096)
def _solved(term: sp.Expr) -> tuple[sp.Expr, dict[sp.Expr, sp.Expr]]:
    """The numerator of a term; one of the averages, functions or symbols in it, and what that is where it is zero, if
    it is linear in it with a coefficient that is not zero.
    """
    term = sp.numer(sp.together(term))
    parts = [p for p in {*averages(term), *term.atoms(AppliedUndef)} if free(p) <= free(term)]
    for part in (*sorted(parts, key=str), *sorted(free(term) - ANY, key=str)):
        name = sp.Dummy(real=True)
        whole = sp.expand(term.xreplace({part: name}))
        slope, rest = whole.coeff(name, 1), whole.coeff(name, 0)
        linear = not rest.has(name) and not whole.has(part) and sp.expand(whole - slope * name - rest) == 0
        if linear and nonzero(slope):
            return term, {part: -rest / slope}
    return term, {}


def of_its_sign(name: sp.Symbol, meaning: sp.Expr) -> set[Condition]:
    """That what a name stands for has the sign that the name is declared to have."""
    above = name.is_nonnegative or name.is_negative
    found = {Condition(-meaning if name.is_negative else meaning, Demand.NONNEGATIVE)} if above else set()
    return found | ({Condition(meaning)} if name.is_nonzero else set())


def _constants_are_constant(conditions: frozenset[Condition], assumptions: frozenset[Assumption]) -> None:
    """What a limit or a derivative took for constant does not rest on its variable."""
    for condition in conditions:
        term, variable = condition.term, condition.variable
        moves = condition.demand is Demand.CONSTANT and term in moving_with(variable, assumptions)
        if moves or (condition.demand is Demand.APART and variable in reached_from(term, meanings_of(assumptions))):
            raise Refused(f"{term} was held constant in {variable}, which it is defined by")


def grows(variable: sp.Symbol, assumptions: frozenset[Assumption]) -> None:
    """Raises Refused where the variable of a limit cannot grow: a name, below zero, or held by a hypothesis."""
    alone = (
        assumed.supposes and frozenset().union(*map(names, sides(assumed.statement))) - assumed.universal == {variable}
        for assumed in assumptions
    )
    if variable in meanings_of(assumptions) or variable.is_negative or any(alone):
        raise Refused(f"{variable} grows, and is a name for something, or held")


@lru_cache(maxsize=16384)
def stays(condition: Condition, variable: sp.Symbol, assumptions: frozenset[Assumption]) -> frozenset[Condition]:
    """What a condition that `conditions.far_out` left as it is asks of what leads in its averages, if that is known.

    Raises Refused where it fails far out, or where more than it is said of a function of what moves with the variable:
    both may be true at one value of the variable alone.
    """
    moving = moving_with(variable, assumptions)
    if condition.of_variable or not free(condition.term) & {variable, *moving}:
        return frozenset()
    *_, term = forms(condition.term, assumptions, True)
    asked: frozenset[Condition] = frozenset()
    with suppress(Refused):
        leads = degrees(in_the_end(averaged(term), variable), variable)
        asked = of_leading(condition, leads.top, leads.leading)
    whole = in_full(term, formulas_of(assumptions))
    not_refuted(condition, whole, variable)
    heads = {call.func for call in whole.atoms(AppliedUndef) if free(call) & {variable, *moving}}
    if condition.demand is Demand.NONNEGATIVE and heads and binds(whole):
        raise Refused(f"{condition.term} may not be as it has to be as {variable} grows")
    listed = supposed(assumptions)
    if condition.demand is Demand.NONZERO and not outside_averages(whole).atoms(AppliedUndef):
        # What tends somewhere may be nonzero everywhere, and what has another name, if nothing is said of that.
        listed = said(assumptions)
        links = [one for one in listed if all(isinstance(side, AppliedUndef) for side in sides(one.statement))]
        listed = [assumed for assumed in listed if assumed not in links]
        for pair in [{side.func for side in sides(assumed.statement)} for assumed in links] * len(links):
            heads |= pair if pair & heads else set()
    # What is said of a function is said of its slopes, and the other way round.
    ways = meanings_of(assumptions)
    near = heads.union(*(reached_from(head, ways) for head in heads))
    told = frozenset().union(*(names(side) for assumed in listed for side in sides(assumed.statement)))
    told |= functions_of_lemmas(assumptions)
    if near & told.union(*(reached_from(name, ways) for name in told if not isinstance(name, sp.Symbol))):
        raise Refused(f"{condition.term} may not be as it has to be as {variable} grows: more is said of it")
    return asked


def not_refuted(condition: Condition, term: sp.Expr, variable: sp.Symbol) -> None:
    """Raises Refused where a condition fails from some value of the variable on, or speaks of a root, an elementary
    function or a power of what varies with it. Of functions without a formula nothing is known, and the condition
    stays.
    """
    if positive(term):
        return
    try:
        term = in_the_end(averaged(signless(term)), variable)
        found = degrees(term, variable) if variable in free(term) else None
    except Refused as unknown:
        powers = [power for power in term.atoms(sp.Pow) if power.exp.is_Rational and not power.exp.is_Integer]
        varying = [*(power.base for power in powers), *(power.exp for power in term.atoms(sp.Pow))]
        if any(variable in free(part) for part in (*varying, *term.atoms(*REAL_FUNCTIONS))):
            raise Refused(f"{condition.term} may not be as it has to be as {variable} grows") from unknown
        return
    below = found is not None and negative(found.top * found.leading)
    if found is not None and (found.over < 0 or (condition.demand is Demand.NONNEGATIVE and below)):
        raise Refused(f"{condition.term} is not as it has to be as {variable} grows")


def signless(term: sp.Expr) -> sp.Expr:
    """A term without the factors that are positive."""
    if isinstance(term, sp.Mul):
        return sp.Mul(*(signless(part) for part in term.args if not positive(part)))
    return sp.Pow(signless(term.base), term.exp) if isinstance(term, sp.Pow) else term


def in_the_end(term: sp.Expr, variable: sp.Symbol) -> sp.Expr:
    """A term with averages that depend on a variable by what leads in them as it grows. Raises Refused where their
    integrands are not rational in it, or what leads in a denominator may be small, as in E[1/(1 + d z^2)].
    """
    found: dict[sp.Expr, sp.Expr] = {}
    for average in averages(term):
        if variable in free(average):
            for base in (p.base for p in average.integrand.atoms(sp.Pow) if not nonnegative(p.exp)):
                parts = sp.Add.make_args(in_the_end(base, variable))
                if len(parts) > 1 and variable in free(base) and free(base) & bound(average):
                    head = degrees(sp.Add(*parts), variable)
                    if not (all(map(nonnegative, parts)) and bounded_below(head.top / head.leading, bound(average))):
                        raise Refused(f"{base} may be small as {variable} grows")
            inner = degrees(in_the_end(average.integrand, variable), variable)
            power = sp.Rational((inner.over - inner.under).numerator, (inner.over - inner.under).denominator)
            found[average] = variable**power * Expectation(inner.top / inner.leading, *average.variables)
    return term.xreplace(found)


def binds(term: sp.Expr) -> bool:
    """Whether that a term is not negative may bind its functions: one that stands alone is chosen."""
    return not (positive(term) or isinstance(term, AppliedUndef))


@lru_cache(maxsize=4096)
def functions_of_lemmas(assumptions: frozenset[Assumption]) -> frozenset[sp.Expr]:
    """The heads of functions of which lemmas speak: their symbols stand for any value."""
    spoken_of = frozenset().union(*(spoken(assumed) for assumed in assumptions if assumed.is_lemma))
    return frozenset(name for name in spoken_of if not isinstance(name, sp.Symbol))
