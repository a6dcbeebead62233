"""What functions and their named slopes are: the formulas that assumptions give."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from giantsteps.derivations.kernel.conditions import are_universal, meanings_in, reached_from, slopes_named
from giantsteps.derivations.kernel.statements import Assumption, Condition, Demand, Equation, Refused, sides
from giantsteps.derivations.kernel.terms import derivative, free, names, shares_sign, substitute
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import DERIVATIVES, PARTIALS

# The arguments of a function that has a formula, and what it makes of them.
Formulas = Mapping[Any, tuple[tuple[sp.Symbol, ...], sp.Expr]]
Told = frozenset[tuple[Any, tuple[tuple[sp.Symbol, ...], sp.Expr]]]


@lru_cache(maxsize=4096)
def formulas_of(assumptions: frozenset[Assumption], supposed: bool = False) -> Formulas:
    """What functions that are defined, or that a lemma gives a formula without others (model and hypotheses too, if
    ``supposed``, and these by way of others that have one), and their named slopes, are of their arguments.
    """
    found: dict[Any, tuple[tuple[sp.Symbol, ...], sp.Expr]] = {}
    whole = [(assumed, *sides(assumed.statement)) for assumed in assumptions if isinstance(assumed.statement, Equation)]
    turned = [(assumed, right, left) for assumed, left, right in whole if not assumed.defines]
    equations = [equation for equation in (*whole, *turned) if isinstance(equation[1], AppliedUndef)]
    equations.sort(key=lambda equation: (not equation[0].defines, *_texts(*equation[1:])))
    before = -1
    while len(found) != before:  # what is told by way of a function comes after that function
        before = len(found)
        for assumed, name, meaning in equations:
            head, arguments, formula = name.func, tuple(name.args), meaning
            if head in found or not (assumed.defines or _tells(assumed, name, meaning, found, supposed)):
                continue
            pending = [(head, formula)]
            while pending:
                head, formula = pending.pop()
                if head in found or _circle(head, formula, found):
                    continue
                found[head] = arguments, formula
                slopes = (DERIVATIVES[head],) if head in DERIVATIVES else PARTIALS.get(head, ())
                for slope, argument in zip(slopes, arguments, strict=False):
                    with suppress(Refused):  # a slope without a name, of which nothing is said then
                        pending.append((slope, derivative(formula, argument)))
    return found


@lru_cache(maxsize=4096)
def _texts(name: sp.Expr, meaning: sp.Expr) -> tuple[str, str]:
    return sp.srepr(name), sp.srepr(meaning)


def _tells(assumed: Assumption, name: sp.Expr, meaning: sp.Expr, found: Formulas, supposed: bool) -> bool:
    """Whether an equation that is no definition gives a function a formula, for all values of its arguments and by way
    of functions that have one. What is defined by way of a function gives it none: that would be a circle.
    """
    every = assumed.universal | (free(name) if assumed.is_lemma else frozenset())
    if not are_universal(name.args, every & frozenset(name.args)):
        return False
    others = frozenset(call.func for call in meaning.atoms(AppliedUndef))
    if not supposed:
        return assumed.is_lemma and not others
    rests = {head: relatives(names(formula)) for head, (_, formula) in found.items()}
    near = relatives(others).union(*(reached_from(head, rests) for head in others))
    return others <= found.keys() and not near & relatives(frozenset({name.func}))


def _circle(head: Any, formula: sp.Expr, found: Formulas) -> bool:
    """Whether a formula for a function speaks of it, by way of the formulas that are found."""
    rests = {name: heads(meaning) for name, (_, meaning) in found.items()}
    return any(name == head or head in reached_from(name, rests) for name in heads(formula))


@lru_cache(maxsize=65536)
def needed(term: sp.Expr, assumptions: frozenset[Assumption]) -> Told:
    """The formulas for the functions in a term, for those in these formulas, and so on: many assumptions share them."""
    formulas = formulas_of(assumptions, True)
    found, near = dict[Any, tuple[tuple[sp.Symbol, ...], sp.Expr]](), heads(term)
    while fresh := {head: formulas[head] for head in near if head in formulas and head not in found}:
        found |= fresh
        near = frozenset().union(*(heads(formula) for _, formula in fresh.values()))
    return frozenset(found.items())


@lru_cache(maxsize=65536)
def heads(term: sp.Expr) -> frozenset[Any]:
    return frozenset(name for name in names(term) if not isinstance(name, sp.Symbol))


def in_full(term: sp.Expr, formulas: Formulas, anew: bool = True) -> sp.Expr:
    """A term with formulas in place of functions, where the signs of their arguments are those of the formulas.

    Variables averaged over get names that stand nowhere else; unless ``anew``, only those of which a formula speaks
    beside its arguments: no other one is captured.
    """
    if not names(term) & frozenset(formulas):
        return term
    if isinstance(term, Expectation):
        spoken = frozenset().union(*(free(meaning).difference(arguments) for arguments, meaning in formulas.values()))
        fresh = {v: sp.Dummy(v.name, real=True) for v in term.variables if anew or v in spoken}
        integrand = in_full(substitute(term.integrand, fresh), formulas, anew)
        return Expectation(integrand, *(fresh.get(v, v) for v in term.variables))
    parts = [in_full(part, formulas, anew) for part in term.args]
    if term.func in formulas:
        arguments, meaning = formulas[term.func]
        if len(parts) == len(arguments) and all(map(shares_sign, parts, arguments)):
            return in_full(substitute(meaning, dict(zip(arguments, parts, strict=True))), formulas, anew)
    return term.func(*parts)


def meanings_with(conditions: frozenset[Condition], assumptions: frozenset[Assumption]) -> Mapping[sp.Symbol, sp.Expr]:
    """What symbols are by equations that are assumed, and names of limits and slopes by what conditions have on record
    of them.
    """
    given = {c.variable: c.term for c in conditions if c.demand is Demand.IS and c.variable is not None}
    return {**given, **meanings_in(assumptions)}


@lru_cache(maxsize=65536)
def in_exponents(term: sp.Expr) -> frozenset[sp.Symbol]:
    """The symbols in the exponents of a term."""
    found = frozenset().union(*map(in_exponents, term.args))
    return found | free(term.exp) if isinstance(term, sp.Pow) else found


@lru_cache(maxsize=4096)
def relatives(found: frozenset[sp.Expr]) -> frozenset[sp.Expr]:
    """Names, and the slopes of functions among them, what these are slopes of, and so on: what is said of one is said
    of all.
    """
    before, families = frozenset[sp.Expr](), [functions | {slope} for slope, functions in slopes_named().items()]
    while found != before:
        before = found
        for family in families:  # sets know the hashes of what they hold: that of a function is dear
            if family & found:
                found |= family
    return found
