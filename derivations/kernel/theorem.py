"""What a theorem is, how rules make one, and how one is made again.

A rule is a pure function from premises and arguments to a conclusion. Calling it makes a theorem that remembers the
rule, the premises and the arguments; its assumptions and conditions are those of all its premises together. `replay`
calls every rule of a proof again, from the leaves on, and compares: a theorem that was put together by hand, or whose
leaves were tampered with, does not survive it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache, wraps
from itertools import islice
from types import NoneType
from typing import Any, TypeVar

import sympy as sp
from sympy.core.function import AppliedUndef

from onestep.derivations.kernel.rational import degrees, vanishing
from onestep.derivations.kernel.statements import (
    Assumption,
    AtLeast,
    Condition,
    Demand,
    Equation,
    Ground,
    Refused,
    Statement,
    Tends,
    sides,
)
from onestep.derivations.kernel.terms import (
    admit,
    averages,
    defined_where,
    derivative,
    free,
    nonzero,
    plain,
    positive,
    shares_sign,
    substitute,
    without_formula,
)
from onestep.derivations.language.expectation import Expectation
from onestep.derivations.language.named_functions import DERIVATIVES, PARTIALS

# Parts of a term with meanings in place of names: no proof of the theory needs as many.
_LARGEST_FORM = 4096


@dataclass(frozen=True)
class Conclusion:
    """What a rule concludes, with the leaves and conditions that it adds to those of its premises.

    ``instead``: the conditions stand in place of those of the premises, which they follow from or imply.
    """

    statement: Statement
    assumptions: frozenset[Assumption] = frozenset()
    conditions: frozenset[Condition] = frozenset()
    instead: bool = False


@dataclass(frozen=True, eq=False)
class Theorem:
    """``statement`` holds under ``assumptions`` wherever ``conditions`` hold; made by ``rule`` from ``premises``."""

    statement: Statement
    assumptions: frozenset[Assumption]
    conditions: frozenset[Condition]
    rule: str
    premises: tuple[Theorem, ...]
    arguments: tuple[Any, ...]

    @property
    def fixed(self) -> frozenset[sp.Symbol]:
        """The symbols of which the assumptions speak: they stand for no other value than their own."""
        return fixed(self.assumptions)


Rule = Callable[..., Conclusion]
RULES: dict[str, Rule] = {}


def rule(conclude: Rule) -> Callable[..., Theorem]:
    """Make a rule of a function of premises (a tuple) and arguments that returns a conclusion."""
    if not conclude.__module__.startswith("onestep.derivations.kernel."):
        raise TypeError(f"{conclude.__module__} is no part of the kernel, and makes no rule")
    if conclude.__name__ in RULES:
        raise TypeError(f"there is a rule {conclude.__name__} already")
    RULES[conclude.__name__] = conclude

    @wraps(conclude)
    def make(premises: tuple[Theorem, ...] = (), *arguments: Any) -> Theorem:
        return _made(conclude.__name__, premises, arguments)

    return make


def _made(name: str, premises: tuple[Theorem, ...], arguments: tuple[Any, ...]) -> Theorem:
    for argument in arguments:
        _written(argument)
    concluded = RULES[name](premises, *arguments)
    assumptions = _one(concluded.assumptions.union(*(p.assumptions for p in premises)))
    inherited = () if concluded.instead else (p.conditions for p in premises)
    conditions = concluded.conditions.union(*inherited)
    meanings_of(assumptions)  # no name is defined twice, or in a circle
    for term in sides(concluded.statement):
        conditions |= defined_where(admit(term))
        for average in averages(term):
            _exists(average, assumptions)
    for variable in _variables(concluded.statement, *(premise.statement for premise in premises)):
        _grows(variable, assumptions)
        conditions = frozenset().union(*(_far_out(c, variable, assumptions) for c in conditions))
    conditions = _one(conditions)
    _can_hold(conditions, assumptions)
    return Theorem(concluded.statement, assumptions, conditions, name, premises, arguments)


_Part = TypeVar("_Part")
_SETS: dict[frozenset[Any], frozenset[Any]] = {}


def _one(found: frozenset[_Part]) -> frozenset[_Part]:
    """Equal sets as one object: what is known of a set is then found by identity, and no two terms are compared."""
    return _SETS.setdefault(found, found)


@lru_cache(maxsize=16384)
def _can_hold(conditions: frozenset[Condition], assumptions: frozenset[Assumption]) -> None:
    """Raises Refused where conditions hold nowhere, or by them something is constant that is not."""
    for condition in conditions:
        if not _can_be_met(condition, assumptions):
            raise Refused(f"{condition.term} never {condition.demand}")
    _constants_are_constant(conditions, assumptions)


def _written(part: Any) -> None:
    """Whether an argument of a rule is what it looks like: numbers, names, terms, statements, and tuples of these.

    What only claims to be one of them could say something else each time that it is asked.
    """
    if type(part) in (tuple, frozenset, dict):
        for inner in (*part, *(part.values() if isinstance(part, dict) else ())):
            _written(inner)
    elif type(part) in (Equation, AtLeast, Tends, Assumption):
        for name in part.__dataclass_fields__:
            _written(getattr(part, name))
    elif type(part) not in (str, int, bool, NoneType, Ground) and not without_formula(part):
        plain(part)


def _variables(*statements: Statement) -> frozenset[sp.Symbol]:
    """The variables of the limits among statements."""
    return frozenset(statement.variable for statement in statements if isinstance(statement, Tends))


def _grows(variable: sp.Symbol, assumptions: frozenset[Assumption]) -> None:
    """Raises Refused where the variable of a limit cannot grow: a name, below zero, or held by a hypothesis."""
    alone = (
        leaf.ground in (Ground.MODEL, Ground.HYPOTHESIS)
        and frozenset().union(*map(names, sides(leaf.statement))) - leaf.universal == {variable}
        for leaf in assumptions
    )
    if variable in meanings_of(assumptions) or variable.is_negative or any(alone):
        raise Refused(f"{variable} grows, and is a name for something, or held")


@lru_cache(maxsize=16384)
def _far_out(condition: Condition, variable: sp.Symbol, assumptions: frozenset[Assumption]) -> frozenset[Condition]:
    """What a condition asks for if it is to hold at all values of the variable of a limit from one on: something of
    the coefficient that leads in it. Where that is not known the condition stays, and the variable with it.
    """
    moving = _moving(assumptions, variable)
    if condition.of_variable or not free(condition.term) & {variable, *moving}:
        return frozenset({condition})
    *_, term = forms(condition.term, assumptions, True)
    try:
        found = degrees(term, variable) if not names(term) & moving else None
    except Refused:
        found = None
    if found is None:
        return frozenset({condition, Condition(variable, Demand.CONSTANT, variable)})
    if condition.demand is Demand.NONZERO:
        return frozenset() if nonzero(found.top) else frozenset({Condition(found.top)})
    head = found.top * found.leading
    return frozenset() if positive(head) else frozenset({Condition(head), Condition(head, Demand.NONNEGATIVE)})


@lru_cache(maxsize=16384)
def _exists(average: Expectation, assumptions: frozenset[Assumption]) -> None:
    """Raises Refused where the meaning of a function that is defined may make an average infinite."""
    admit(_in_full(average, _formulas(assumptions)))


@lru_cache(maxsize=4096)
def _formulas(assumptions: frozenset[Assumption]) -> Mapping[Any, tuple[tuple[sp.Symbol, ...], sp.Expr]]:
    """What functions that are defined, and their named slopes, are of their arguments."""
    found: dict[Any, tuple[tuple[sp.Symbol, ...], sp.Expr]] = {}
    for leaf in assumptions:
        name, meaning = sides(leaf.statement)
        if leaf.ground is not Ground.DEFINITION or not isinstance(name, AppliedUndef):
            continue
        head, arguments = name.func, tuple(name.args)
        with suppress(Refused):  # a slope without a name, of which nothing is said then
            while head is not None and head not in found:
                found[head] = arguments, meaning
                head = DERIVATIVES.get(head)
                meaning = derivative(meaning, arguments[0]) if head is not None else meaning
    return found


def _in_full(term: sp.Expr, formulas: Mapping[Any, tuple[tuple[sp.Symbol, ...], sp.Expr]]) -> sp.Expr:
    if not any(call.func in formulas for call in term.atoms(AppliedUndef)):
        return term
    if isinstance(term, Expectation):
        fresh = {v: sp.Dummy(v.name, real=True) for v in term.variables}
        return Expectation(_in_full(substitute(term.integrand, fresh), formulas), *fresh.values())
    parts = [_in_full(part, formulas) for part in term.args]
    if term.func in formulas:
        arguments, meaning = formulas[term.func]
        if len(parts) == len(arguments) and all(map(shares_sign, parts, arguments)):
            return _in_full(substitute(meaning, dict(zip(arguments, parts, strict=True))), formulas)
    return term.func(*parts)


@lru_cache(maxsize=16384)
def _can_be_met(condition: Condition, assumptions: frozenset[Assumption]) -> bool:
    """Whether a condition is not refuted by what its symbols are defined to be: what holds nowhere is no theorem."""
    if condition.of_variable:
        return True
    for term in forms(condition.term, assumptions):
        if condition.demand is Demand.NONZERO and vanishing(term, (term,)) == frozenset():
            return False
        if condition.demand is Demand.NONNEGATIVE and positive(sp.expand(-term)):
            return False
    return True


def forms(term: sp.Expr, assumptions: frozenset[Assumption], defined: bool = False) -> Iterator[sp.Expr]:
    """A term, and what it is with meanings in place of names (those of definitions alone, if ``defined``), until there
    are no names left, or until it is too large to be looked at: each name may double it.
    """
    yield term
    meanings = _meanings(assumptions, defined)
    while free(term) & meanings.keys():
        term = substitute(term, meanings)
        if sum(1 for _ in islice(sp.preorder_traversal(term), _LARGEST_FORM + 1)) > _LARGEST_FORM:
            return
        yield term


@lru_cache(maxsize=4096)
def _meanings(assumptions: frozenset[Assumption], defined: bool = False) -> Mapping[sp.Symbol, sp.Expr]:
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


def replay(theorem: Theorem) -> Theorem:
    """The same theorem, made anew from its leaves. Raises Refused at the first theorem that no rule makes."""
    for node in nodes(theorem):
        again = _again(node, node.rule, node.premises)
        kept = ("statement", "assumptions", "conditions")
        parts = ((getattr(again, part), getattr(node, part)) for part in kept)
        if again.arguments is not node.arguments or any(new is not old and new != old for new, old in parts):
            raise Refused(f"the rule {node.rule} does not conclude {node.statement}")
    return again


@cache
def _again(node: Theorem, name: str, premises: tuple[Theorem, ...]) -> Theorem:
    """What the rule of that name makes of premises that were made anew, with the arguments of ``node``: once a process,
    since a rule is a pure function.
    """
    if name not in RULES:
        raise Refused(f"there is no rule {name}")
    return _made(name, tuple(_again(premise, premise.rule, premise.premises) for premise in premises), node.arguments)


def nodes(theorem: Theorem) -> Iterator[Theorem]:
    """All theorems of a proof, premises first, each once."""
    done: set[int] = set()
    pending = [(theorem, False)]
    while pending:
        node, ready = pending.pop()
        if ready:
            yield node
        elif id(node) not in done:
            done.add(id(node))
            pending += [(node, True), *((premise, False) for premise in node.premises)]


@lru_cache(maxsize=4096)
def fixed(assumptions: frozenset[Assumption]) -> frozenset[sp.Symbol]:
    """The free symbols of assumptions that do not stand for any value; those of lemmas all do."""
    return frozenset().union(*(_free_in(leaf) for leaf in assumptions if leaf.ground is not Ground.LEMMA))


@lru_cache(maxsize=16384)
def _free_in(leaf: Assumption) -> frozenset[sp.Symbol]:
    return frozenset().union(*map(free, sides(leaf.statement))) - leaf.universal


# What each name rests on.
Meanings = dict[sp.Expr, frozenset[sp.Expr]]
_SLOPES: list[tuple[Any, Meanings]] = []  # the functions that have names for their slopes by now, and `_slopes`


@lru_cache(maxsize=4096)
def meanings_of(assumptions: frozenset[Assumption]) -> Meanings:
    """For each name that is defined, and each named slope, what its definition names.

    Raises Refused where a name is defined twice, or by way of itself.
    """
    slopes, meanings = _slopes(), Meanings()
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
    """What moves with the variable of a limit: what is defined by way of it, but as a limit in it, what model and
    hypotheses equate with that, and what is bound by a value for a name that is defined by a formula. What a saddle
    point fixes, a value for the derivative of a quantity, is not followed.
    """
    rests, still = dict(_slopes()), set[sp.Expr]()
    for leaf in assumptions:
        if leaf.ground is Ground.DEFINITION:
            name, rests[name] = defined(leaf)
            if isinstance(leaf.statement, Tends) and leaf.statement.variable == variable:
                still.add(name)
    formulas = _meanings(assumptions, True)
    for leaf in assumptions:
        if leaf.ground in (Ground.MODEL, Ground.HYPOTHESIS) and not isinstance(leaf.statement, Tends):
            tied = together = spoken(leaf)
            if len(together) == 1 and together & formulas.keys():
                tied = together.union(*(reached_from(name, meanings_of(assumptions)) for name in together))
            rests |= {name: rests.get(name, frozenset()) | together for name in tied}
    moving: frozenset[sp.Expr] = frozenset({variable})
    while more := {name for name, on in rests.items() if on & moving} - moving - still:
        moving |= more
    return moving - {variable}


def reached_from(name: sp.Expr, meanings: Mapping[sp.Expr, frozenset[sp.Expr]]) -> frozenset[sp.Expr]:
    """All that a name rests on, by way of any number of meanings."""
    found, fresh = set[sp.Expr](), frozenset({name})
    while fresh:
        fresh = frozenset().union(*(meanings.get(other, frozenset()) for other in fresh)) - found
        found |= fresh
    return frozenset(found)


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


def names(term: sp.Expr) -> frozenset[sp.Expr]:
    """The symbols of a term and the heads of its functions."""
    parts = [part for part in sp.preorder_traversal(term) if isinstance(part, sp.Symbol | AppliedUndef)]
    return frozenset(part.func if isinstance(part, AppliedUndef) else part for part in parts)


def _constants_are_constant(conditions: frozenset[Condition], assumptions: frozenset[Assumption]) -> None:
    """What a limit or a derivative took for constant does not rest on its variable."""
    for condition in conditions:
        term, variable = condition.term, condition.variable
        moves = condition.demand is Demand.CONSTANT and term in _moving(assumptions, variable)
        if moves or (condition.demand is Demand.APART and variable in reached_from(term, meanings_of(assumptions))):
            raise Refused(f"{term} was held constant in {variable}, which it is defined by")


def _slopes() -> Meanings:
    """The functions that each named slope is one of: two may have one slope."""
    named = (tuple(DERIVATIVES.items()), tuple(PARTIALS.items()))
    if not _SLOPES or _SLOPES[0][0] != named:  # compared by identity, which is cheaper than to hash a function
        pairs = [*named[0], *((function, slope) for function, slopes in named[1] for slope in slopes)]
        found: Meanings = {}
        for function, slope in pairs:
            found[slope] = found.get(slope, frozenset()) | {function}
        _SLOPES[:] = [(named, found)]
    return _SLOPES[0][1]


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
    elif isinstance(name, AppliedUndef) and _are(name.args, leaf.universal):
        head = name.func
    else:
        raise Refused(f"{leaf.name}: {name} is neither a symbol nor a function of the symbols that it is defined for")
    named = names(meaning) - leaf.universal  # what stands for any value is no name that the meaning rests on
    if head in named:
        raise Refused(f"{leaf.name}: {name} is defined by itself")
    return head, named


def _are(arguments: tuple[sp.Expr, ...], universal: frozenset[sp.Symbol]) -> bool:
    """Whether the arguments of a function that is defined are different symbols, all that stand for any value."""
    return frozenset(arguments) == universal and len(arguments) == len(universal)
