"""Where conclusions hold: conditions that can be met, names and what they stand for, and what a limit holds constant.

A rule refuses a conclusion whose conditions hold nowhere, a name that is defined twice or by way of itself, and what is
constant by one assumption and moves by another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import combinations

import sympy as sp
from sympy.core.function import AppliedUndef

from onestep.derivations.kernel.functions.formulas import (
    Meanings,
    Told,
    are_universal,
    formulas_of,
    in_exponents,
    in_full,
    names,
    needed,
    reached_from,
    slopes_named,
)
from onestep.derivations.kernel.functions.points import above_somewhere
from onestep.derivations.kernel.rational import degrees, vanishing
from onestep.derivations.kernel.statements import Assumption, Condition, Demand, Equation, Ground, Refused, Tends, sides
from onestep.derivations.kernel.terms import (
    REAL_FUNCTIONS,
    admit,
    averaged,
    averages,
    binds,
    bound,
    bounded_below,
    constants,
    free,
    negative,
    nonnegative,
    nonzero,
    outside_averages,
    positive,
    substitute,
)
from onestep.derivations.language.expectation import Expectation

# Parts of a term with meanings in place of names: no proof of the theory needs as many.
_LARGEST_FORM = 4096


@lru_cache(maxsize=16384)
def can_hold(conditions: frozenset[Condition], assumptions: frozenset[Assumption]) -> None:
    """Raises Refused where conditions hold nowhere, or by them something is constant that is not."""
    # Names of limits and slopes stand for something too.
    given = {c.variable: c.term for c in conditions if c.demand is Demand.IS and c.variable is not None}
    meanings = {**given, **meanings_in(assumptions)}
    for condition in conditions:
        if not condition.of_variable and not _can_be_met(condition, _used(condition.term, meanings)):
            raise Refused(f"{condition.term} never {condition.demand}")
    _can_be_met_together(conditions)
    _constants_are_constant(conditions, assumptions)


@lru_cache(maxsize=4096)
def _can_be_met_together(conditions: frozenset[Condition]) -> None:
    """Raises Refused where two terms that are not to be negative add up to less than zero, or to zero though one of
    them is not to be zero; or where one term is to be above zero that never is.
    """
    above = [c for c in conditions if c.demand is Demand.NONNEGATIVE]
    for condition in above:
        if Condition(condition.term) in conditions and nonnegative(-condition.term):
            raise Refused(f"{condition.term} is never above zero")
    for first, second in combinations(above, 2):
        if not free(first.term) & free(second.term) or above_somewhere(first.term, second.term):
            continue
        total = sp.expand(first.term + second.term)
        if positive(-total) or (total == 0 and {Condition(first.term), Condition(second.term)} & conditions):
            raise Refused(f"{first.term} is not negative, nor is {second.term}")


def grows(variable: sp.Symbol, assumptions: frozenset[Assumption]) -> None:
    """Raises Refused where the variable of a limit cannot grow: a name, below zero, or held by a hypothesis."""
    alone = (
        leaf.ground in (Ground.MODEL, Ground.HYPOTHESIS)
        and frozenset().union(*map(names, sides(leaf.statement))) - leaf.universal == {variable}
        for leaf in assumptions
    )
    if variable in meanings_of(assumptions) or variable.is_negative or any(alone):
        raise Refused(f"{variable} grows, and is a name for something, or held")


@lru_cache(maxsize=16384)
def far_out(condition: Condition, variable: sp.Symbol, assumptions: frozenset[Assumption]) -> frozenset[Condition]:
    """What a condition asks for if it is to hold at all values of the variable of a limit from one on: something of
    the coefficient that leads in it, all else held constant. Where that is not known the condition stays, and the
    variable with it.
    """
    moving = _moving(assumptions, variable)
    if condition.of_variable or not free(condition.term) & {variable, *moving}:
        return frozenset({condition})
    *_, term = forms(condition.term, assumptions, True)
    asked: frozenset[Condition] = frozenset()
    try:
        found = degrees(term, variable) if not names(term) & moving else None
    except Refused:
        found = None
        with suppress(Refused):  # it stays, and of what leads in its averages as much is asked
            leads = degrees(in_the_end(averaged(term), variable), variable)
            asked = _of_leading(condition, leads.top, leads.leading)
    if found is None:
        whole = in_full(term, formulas_of(assumptions))
        not_refuted(condition, whole, variable)
        heads = {call.func for call in whole.atoms(AppliedUndef) if free(call) & {variable, *moving}}
        if condition.demand is Demand.NONNEGATIVE and heads and binds(whole):
            raise Refused(f"{condition.term} may not be as it has to be as {variable} grows")
        leaves = supposed(assumptions)
        if condition.demand is Demand.NONZERO and not outside_averages(whole).atoms(AppliedUndef):
            # What tends somewhere may be nonzero everywhere, and what has another name, if nothing is said of that.
            leaves = said(assumptions)
            links = [leaf for leaf in leaves if all(isinstance(side, AppliedUndef) for side in sides(leaf.statement))]
            leaves = [leaf for leaf in leaves if leaf not in links]
            for pair in [{side.func for side in sides(leaf.statement)} for leaf in links] * len(links):
                heads |= pair if pair & heads else set()
        # What is said of a function is said of its slopes, and the other way round.
        ways = meanings_of(assumptions)
        near = heads.union(*(reached_from(head, ways) for head in heads))
        told = frozenset().union(*(names(side) for leaf in leaves for side in sides(leaf.statement)))
        told |= functions_of_lemmas(assumptions)
        if near & told.union(*(reached_from(name, ways) for name in told if not isinstance(name, sp.Symbol))):
            raise Refused(f"{condition.term} may not be as it has to be as {variable} grows: more is said of it")
        return asked | {condition, Condition(variable, Demand.CONSTANT, variable)}
    # It leads with all else constant: what moves with the variable later on is not put in.
    return constants((term,), variable) | _of_leading(condition, found.top, found.leading)


def _of_leading(condition: Condition, top: sp.Expr, leading: sp.Expr) -> frozenset[Condition]:
    """What a condition asks of the coefficients that lead in its numerator and denominator, as far as signs do not
    decide it.
    """
    if condition.demand is Demand.NONZERO:
        return frozenset() if nonzero(top) else frozenset({Condition(top)})
    head = top * leading
    return frozenset() if positive(head) else frozenset({Condition(head), Condition(head, Demand.NONNEGATIVE)})


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
    term, heads = in_full(average, dict(told), False), {head for head, _ in told}
    admit(term)
    for inner in averages(term) if heads else ():
        for call in inner.integrand.atoms(AppliedUndef):
            if free(call) & bound(inner) and call.func in heads:
                raise Refused(f"{average} may not exist: {call} may have a formula, by its sign")


@lru_cache(maxsize=16384)
def _can_be_met(condition: Condition, meanings: frozenset[tuple[sp.Symbol, sp.Expr]]) -> bool:
    """Whether a condition is not refuted by what its symbols are defined to be: what holds nowhere is no theorem."""
    for term in put_in(condition.term, dict(meanings)):
        if condition.demand is Demand.NONZERO and vanishing(term, (term,)) == frozenset():
            return False
        if condition.demand is Demand.NONNEGATIVE and negative(term):
            return False
    return True


def _used(term: sp.Expr, meanings: Mapping[sp.Symbol, sp.Expr]) -> frozenset[tuple[sp.Symbol, sp.Expr]]:
    """The meanings of the names in a term, of those in these meanings, and so on: many assumptions share them."""
    found, near = set[tuple[sp.Symbol, sp.Expr]](), free(term)
    while fresh := {(name, meanings[name]) for name in near if name in meanings} - found:
        found |= fresh
        near = frozenset().union(*(free(meaning) for _, meaning in fresh))
    return frozenset(found)


def forms(term: sp.Expr, assumptions: frozenset[Assumption], defined: bool = False) -> Iterator[sp.Expr]:
    """A term, and what it is with meanings in place of names (those of definitions alone, if ``defined``), until there
    are no names left, or until it is too large to be looked at: each name may double it.
    """
    return put_in(term, meanings_in(assumptions, defined))


def put_in(term: sp.Expr, meanings: Mapping[sp.Symbol, sp.Expr]) -> Iterator[sp.Expr]:
    yield term
    for _ in meanings:  # as often as there are names, in case that they go round in a circle
        if not free(term) & meanings.keys():
            return
        term = substitute(term, meanings)
        if _size(term) > _LARGEST_FORM:
            return
        yield term


@lru_cache(maxsize=65536)
def _size(term: sp.Expr) -> int:
    return 1 + sum(map(_size, term.args))


@lru_cache(maxsize=4096)
def meanings_in(assumptions: frozenset[Assumption], defined: bool = False) -> Mapping[sp.Symbol, sp.Expr]:
    """What symbols are by equations that are assumed, or by definitions alone, in no circle."""
    found: dict[sp.Symbol, sp.Expr] = {}
    for leaf in sorted(assumptions, key=lambda leaf: (leaf.ground, leaf.name)):
        name, meaning = sides(leaf.statement)
        fine = isinstance(leaf.statement, Equation) and isinstance(name, sp.Symbol) and not leaf.universal
        # The meaning of a slope is no term: its value stands in the equation that the rule gives.
        if fine and not meaning.has(sp.Derivative) and (leaf.ground is Ground.DEFINITION or not defined):
            rests = {name: free(meaning)} | {other: free(value) for other, value in found.items()}
            if name not in found and name not in reached_from(name, rests):
                found[name] = meaning
    return found


@lru_cache(maxsize=4096)
def fixed(assumptions: frozenset[Assumption]) -> frozenset[sp.Symbol]:
    """The free symbols of assumptions that do not stand for any value; those of lemmas all do."""
    return frozenset().union(*(_free_in(leaf) for leaf in assumptions if leaf.ground is not Ground.LEMMA))


@lru_cache(maxsize=16384)
def _free_in(leaf: Assumption) -> frozenset[sp.Symbol]:
    return frozenset().union(*map(free, sides(leaf.statement))) - leaf.universal


@lru_cache(maxsize=4096)
def meanings_of(assumptions: frozenset[Assumption]) -> Meanings:
    """For each name that is defined, and each named slope, what its definition names.

    Raises Refused where a name is defined twice, or by way of itself.
    """
    slopes, meanings = slopes_named(), Meanings()
    for leaf in assumptions:
        if leaf.ground is Ground.DEFINITION:
            name, meaning = defined(leaf)
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
def _moving(assumptions: frozenset[Assumption], variable: sp.Symbol) -> frozenset[sp.Expr]:
    """What moves with the variable of a limit: what is defined by way of it, but as a limit in it, and what model and
    hypotheses equate with that. What they fix by way of definitions is seen by `hold_all_along`.
    """
    rests, still = resting(assumptions, variable), _still(assumptions, variable)
    for leaf in said(assumptions):
        rests |= {name: rests.get(name, frozenset()) | spoken(leaf) for name in spoken(leaf) - still}
    return resting_on(variable, rests) - {variable}


def resting(assumptions: frozenset[Assumption], variable: sp.Symbol) -> Meanings:
    """What each name is defined by way of; a limit in the variable has one value."""
    meanings = meanings_of(assumptions).copy()
    for name in _still(assumptions, variable):
        meanings.pop(name, None)
    return meanings


def _still(assumptions: frozenset[Assumption], variable: sp.Symbol) -> frozenset[sp.Expr]:
    """The names of limits in the variable."""
    limits = (leaf.statement for leaf in assumptions if leaf.ground is Ground.DEFINITION)
    return frozenset(t.value for t in limits if isinstance(t, Tends) and t.variable == variable)


def supposed(assumptions: frozenset[Assumption]) -> list[Assumption]:
    """What model and hypotheses say."""
    return [leaf for leaf in assumptions if leaf.ground in (Ground.MODEL, Ground.HYPOTHESIS)]


def said(assumptions: frozenset[Assumption], variable: sp.Symbol | None = None) -> list[Assumption]:
    """What they say at each value of the variable of a limit, or else of limits in a ``variable``."""
    return [leaf for leaf in supposed(assumptions) if getattr(leaf.statement, "variable", None) == variable]


@lru_cache(maxsize=4096)
def functions_of_lemmas(assumptions: frozenset[Assumption]) -> frozenset[sp.Expr]:
    """The heads of functions of which lemmas speak: their symbols stand for any value."""
    spoken_of = frozenset().union(*(spoken(leaf) for leaf in assumptions if leaf.ground is Ground.LEMMA))
    return frozenset(name for name in spoken_of if not isinstance(name, sp.Symbol))


def resting_on(variable: sp.Symbol, meanings: Meanings) -> frozenset[sp.Expr]:
    """The names that rest on a variable, by way of any number of meanings."""
    found, fresh = set[sp.Expr](), {variable}
    while fresh:
        fresh = {name for name, meaning in meanings.items() if meaning & fresh} - found
        found |= fresh
    return frozenset(found)


@lru_cache(maxsize=16384)
def spoken(leaf: Assumption) -> frozenset[sp.Expr]:
    """The symbols and heads of functions of which a leaf speaks, but for what stands for any value."""
    return frozenset().union(*map(names, sides(leaf.statement))) - leaf.universal


def _constants_are_constant(conditions: frozenset[Condition], assumptions: frozenset[Assumption]) -> None:
    """What a limit or a derivative took for constant does not rest on its variable."""
    for condition in conditions:
        term, variable = condition.term, condition.variable
        moves = condition.demand is Demand.CONSTANT and term in _moving(assumptions, variable)
        if moves or (condition.demand is Demand.APART and variable in reached_from(term, meanings_of(assumptions))):
            raise Refused(f"{term} was held constant in {variable}, which it is defined by")


@lru_cache(maxsize=16384)
def defined(leaf: Assumption) -> tuple[sp.Expr, frozenset[sp.Expr]]:
    """What a definition gives a meaning to, as a symbol or the head of a function, and all that its meaning names."""
    name, meaning = sides(leaf.statement)
    if isinstance(leaf.statement, Tends):
        name, meaning = meaning, name
    elif not isinstance(leaf.statement, Equation):
        raise Refused(f"{leaf.name}: a definition is an equation or a limit")
    if isinstance(name, sp.Symbol) and not leaf.universal:
        head = name
    elif isinstance(name, AppliedUndef) and are_universal(name.args, leaf.universal):
        head = name.func
    else:
        raise Refused(f"{leaf.name}: {name} is neither a symbol nor a function of the symbols that it is defined for")
    named = names(meaning) - leaf.universal  # what stands for any value is no name that the meaning rests on
    if head in named:
        raise Refused(f"{leaf.name}: {name} is defined by itself")
    return head, named
