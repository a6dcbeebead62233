"""Names and what they rest on: no name is defined twice or by way of itself, and what moves with a variable, by way of
whatever names, is not constant in it. What a condition asks for far out is said of what is constant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from giantsteps.derivations.kernel.rational import degrees
from giantsteps.derivations.kernel.statements import Assumption, Condition, Demand, Equation, Refused, Tends, sides
from giantsteps.derivations.kernel.terms import (
    bound,
    constants,
    free,
    names,
    nonzero,
    positive,
    shares_sign,
    substitute,
)
from giantsteps.derivations.language.named_functions import DERIVATIVES, PARTIALS

# What each name rests on.
Meanings = dict[sp.Expr, frozenset[sp.Expr]]
_SLOPES: list[tuple[Any, Meanings]] = []  # the functions that have names for their slopes by now, and `slopes_named`
# Parts of a term with meanings in place of names: no proof of the theory needs as many.
_LARGEST_FORM = 32768


@lru_cache(maxsize=16384)
def far_out(condition: Condition, variable: sp.Symbol, assumptions: frozenset[Assumption]) -> frozenset[Condition]:
    """What a condition asks for if it is to hold from some value of the variable of a limit on: something of the
    coefficient that leads in it, all else held constant. Where that is not known the condition stays, and the variable
    with it.
    """
    moving = moving_with(variable, assumptions)
    if condition.of_variable or not free(condition.term) & {variable, *moving}:
        return frozenset({condition})
    *_, term = forms(condition.term, assumptions, True)
    found = None
    with suppress(Refused):
        found = degrees(term, variable) if not names(term) & moving and condition.demand is not Demand.EXISTS else None
    if found is None:
        return frozenset({condition, Condition(variable, Demand.CONSTANT, variable)})
    # It leads with all else constant: what moves with the variable later on is not put in.
    return constants((term,), variable) | of_leading(condition, found.top, found.leading)


def of_leading(condition: Condition, top: sp.Expr, leading: sp.Expr) -> frozenset[Condition]:
    """What a condition asks of the coefficients that lead in its numerator and denominator, as far as signs do not
    decide it.
    """
    if condition.demand is Demand.NONZERO:
        return frozenset() if nonzero(top) else frozenset({Condition(top)})
    head = top * leading
    return frozenset() if positive(head) else frozenset({Condition(head), Condition(head, Demand.NONNEGATIVE)})


def forms(term: sp.Expr, assumptions: frozenset[Assumption], defined: bool = False) -> Iterator[sp.Expr]:
    """A term, and what it is with meanings in place of names (those of definitions alone, if ``defined``), until there
    are no names left, or until it is too large to be looked at: each name may double it.
    """
    return put_in(term, meanings_in(assumptions, defined))


def unfolded(term: sp.Expr, assumptions: frozenset[Assumption], within: frozenset[sp.Symbol] = frozenset()) -> sp.Expr:
    """A term with what functions are, by definition or a lemma, in their place, but where an average around them binds
    another symbol of that name: ``within``.
    """
    for assumed in assumptions if isinstance(term, AppliedUndef) else ():
        name, meaning = sides(assumed.statement)
        fits = name.func == term.func and len(name.args) == len(term.args) and _says_what(assumed)
        if fits and all(map(shares_sign, term.args, name.args)) and not (free(meaning) - free(name)) & within:
            return unfolded(substitute(meaning, dict(zip(name.args, term.args, strict=True))), assumptions, within)
    within |= bound(term)
    return term.func(*(unfolded(part, assumptions, within) for part in term.args)) if term.args else term


def _says_what(assumed: Assumption) -> bool:
    """Whether an equation says what a function is of any arguments: a definition, or a lemma without functions."""
    name, meaning = sides(assumed.statement)
    by_lemma = assumed.is_lemma and not meaning.atoms(AppliedUndef) and are_universal(name.args, free(name))
    return isinstance(assumed.statement, Equation) and (assumed.defines or by_lemma)


def put_in(term: sp.Expr, meanings: Mapping[sp.Symbol, sp.Expr]) -> Iterator[sp.Expr]:
    yield term
    for _ in meanings:  # as often as there are names, in case that they go round in a circle
        if not free(term) & meanings.keys():
            return
        term = substitute(term, meanings)
        if size(term) > _LARGEST_FORM:
            return
        yield term


@lru_cache(maxsize=65536)
def size(term: sp.Expr) -> int:
    """How many parts a term has, itself and those of its parts among them."""
    return 1 + sum(map(size, term.args))


@lru_cache(maxsize=4096)
def meanings_in(assumptions: frozenset[Assumption], defined: bool = False) -> Mapping[sp.Symbol, sp.Expr]:
    """What symbols are by equations that are assumed, or by definitions alone, in no circle."""
    found: dict[sp.Symbol, sp.Expr] = {}
    for assumed in sorted(assumptions, key=_order):
        name, meaning = sides(assumed.statement)
        fine = isinstance(assumed.statement, Equation) and isinstance(name, sp.Symbol) and not assumed.universal
        # The meaning of a slope is no term: its value stands in the equation that the rule gives.
        if fine and not meaning.has(sp.Derivative) and (assumed.defines or not defined):
            rests = {name: free(meaning)} | {other: free(value) for other, value in found.items()}
            if name not in found and name not in reached_from(name, rests):
                found[name] = meaning
    return found


@lru_cache(maxsize=16384)
def _order(assumed: Assumption) -> tuple[str, str, str]:
    return assumed.ground, assumed.name, str(assumed.statement)


@lru_cache(maxsize=4096)
def fixed(assumptions: frozenset[Assumption]) -> frozenset[sp.Symbol]:
    """The free symbols of assumptions that do not stand for any value; those of lemmas all do."""
    return frozenset().union(*(_free_in(assumed) for assumed in assumptions if not assumed.is_lemma))


@lru_cache(maxsize=16384)
def _free_in(assumed: Assumption) -> frozenset[sp.Symbol]:
    return frozenset().union(*map(free, sides(assumed.statement))) - assumed.universal


@lru_cache(maxsize=4096)
def meanings_of(assumptions: frozenset[Assumption]) -> Meanings:
    """For each name that is defined, and each named slope, what its definition names.

    Raises Refused where a name is defined twice, or by way of itself.
    """
    slopes, meanings = slopes_named(), Meanings()
    for assumed in assumptions:
        if assumed.defines:
            name, meaning = defined(assumed)
            if name in meanings or name in slopes:
                raise Refused(f"{name} is defined twice")
            meanings[name] = meaning
    # A circle goes through a definition: what a slope rests on are the functions that it is one of, and theirs.
    named = frozenset(slopes)
    rests = {n: on.union(*(reached_from(slope, slopes) for slope in on & named)) for n, on in meanings.items()}
    open_, before = set(meanings), 0
    while len(open_) != before:  # what names nothing that is open is no part of a circle
        before = len(open_)
        open_ = {name for name in open_ if rests[name] & open_}
    if open_:
        raise Refused(f"{', '.join(map(str, open_))} are defined in a circle")
    return slopes | meanings


@lru_cache(maxsize=4096)
def moving_with(variable: sp.Symbol, assumptions: frozenset[Assumption]) -> frozenset[sp.Expr]:
    """What moves with the variable of a limit: what is defined by way of it, but as a limit in it, and what model and
    hypotheses equate with that. What they fix by way of definitions is seen by `hold_all_along`.
    """
    rests, still = resting(assumptions, variable), _still(assumptions, variable)
    for assumed in said(assumptions):
        rests |= {name: rests.get(name, frozenset()) | spoken(assumed) for name in spoken(assumed) - still}
    return resting_on(variable, rests) - {variable}


def resting(assumptions: frozenset[Assumption], variable: sp.Symbol) -> Meanings:
    """What each name is defined by way of; a limit in the variable has one value."""
    meanings = meanings_of(assumptions).copy()
    for name in _still(assumptions, variable):
        meanings.pop(name, None)
    return meanings


def _still(assumptions: frozenset[Assumption], variable: sp.Symbol) -> frozenset[sp.Expr]:
    """The names of limits in the variable."""
    limits = (assumed.statement for assumed in assumptions if assumed.defines)
    return frozenset(t.value for t in limits if isinstance(t, Tends) and t.variable == variable)


def supposed(assumptions: frozenset[Assumption]) -> list[Assumption]:
    """What model and hypotheses say."""
    return [assumed for assumed in assumptions if assumed.supposes]


def said(assumptions: frozenset[Assumption], variable: sp.Symbol | None = None) -> list[Assumption]:
    """What they say at each value of the variable of a limit, or else of limits in a ``variable``."""
    return [assumed for assumed in supposed(assumptions) if getattr(assumed.statement, "variable", None) == variable]


def resting_on(variable: sp.Symbol, meanings: Meanings) -> frozenset[sp.Expr]:
    """The names that rest on a variable, by way of any number of meanings."""
    found, fresh = set[sp.Expr](), {variable}
    while fresh:
        fresh = {name for name, meaning in meanings.items() if meaning & fresh} - found
        found |= fresh
    return frozenset(found)


@lru_cache(maxsize=16384)
def spoken(assumed: Assumption) -> frozenset[sp.Expr]:
    """The symbols and heads of functions of which an assumption speaks, but for what stands for any value."""
    return frozenset().union(*map(names, sides(assumed.statement))) - assumed.universal


@lru_cache(maxsize=16384)
def defined(assumed: Assumption) -> tuple[sp.Expr, frozenset[sp.Expr]]:
    """What a definition gives a meaning to, as a symbol or the head of a function, and all that its meaning names."""
    name, meaning = sides(assumed.statement)
    if isinstance(assumed.statement, Tends):
        name, meaning = meaning, name
    elif not isinstance(assumed.statement, Equation):
        raise Refused(f"{assumed.name}: a definition is an equation or a limit")
    if isinstance(name, sp.Symbol) and not assumed.universal:
        head = name
    elif isinstance(name, AppliedUndef) and are_universal(name.args, assumed.universal):
        head = name.func
    else:
        raise Refused(f"{assumed.name}: {name} is neither a symbol nor a function of the symbols it is defined for")
    named = names(meaning) - assumed.universal  # what stands for any value is no name that the meaning rests on
    if head in named:
        raise Refused(f"{assumed.name}: {name} is defined by itself")
    return head, named


def reached_from(name: sp.Expr, meanings: Mapping[sp.Expr, frozenset[sp.Expr]]) -> frozenset[sp.Expr]:
    """All that a name rests on, by way of any number of meanings."""
    found, fresh = set[sp.Expr](), frozenset({name})
    while fresh:
        fresh = frozenset().union(*(meanings.get(other, frozenset()) for other in fresh)) - found
        found |= fresh
    return frozenset(found)


def slopes_named() -> Meanings:
    """The functions that each named slope is one of: two may have one slope."""
    named = (tuple(DERIVATIVES.items()), tuple(PARTIALS.items()))
    if not _SLOPES or _SLOPES[0][0] != named:  # compared by identity, which is cheaper than to hash a function
        pairs = [*named[0], *((function, slope) for function, slopes in named[1] for slope in slopes)]
        found: Meanings = {}
        for function, slope in pairs:
            found[slope] = found.get(slope, frozenset()) | {function}
        _SLOPES[:] = [(named, found)]
    return _SLOPES[0][1]


def are_universal(arguments: tuple[sp.Expr, ...], universal: frozenset[sp.Symbol]) -> bool:
    """Whether the arguments of a function that is defined are different symbols, all that stand for any value."""
    return frozenset(arguments) == universal and len(arguments) == len(universal)
