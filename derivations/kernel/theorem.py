"""What a theorem is, how rules make one, and how one is made again.

A rule is a pure function from premises and arguments to a conclusion. Calling it makes a theorem that remembers the
rule, the premises and the arguments; its assumptions and conditions are those of all its premises together. `replay`
calls every rule of a proof again, from the leaves on, and compares: a theorem that was put together by hand, or whose
leaves were tampered with, does not survive it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, wraps
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from onestep.derivations.kernel.rational import vanishing
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
from onestep.derivations.kernel.terms import admit, defined_where, free, positive, substitute
from onestep.derivations.language.named_functions import DERIVATIVES, PARTIALS


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
    if conclude.__name__ in RULES:
        raise TypeError(f"there is a rule {conclude.__name__} already")
    RULES[conclude.__name__] = conclude

    @wraps(conclude)
    def make(premises: tuple[Theorem, ...] = (), *arguments: Any) -> Theorem:
        return _made(conclude.__name__, premises, arguments)

    return make


def _made(name: str, premises: tuple[Theorem, ...], arguments: tuple[Any, ...]) -> Theorem:
    concluded = RULES[name](premises, *arguments)
    assumptions = concluded.assumptions.union(*(p.assumptions for p in premises))
    inherited = () if concluded.instead else (p.conditions for p in premises)
    conditions = concluded.conditions.union(*inherited)
    if type(concluded.statement) not in (Equation, AtLeast, Tends):
        raise Refused(f"{concluded.statement} is no statement")
    for term in sides(concluded.statement):
        conditions |= defined_where(admit(term))
    for condition in conditions:
        if not _can_be_met(condition, assumptions):
            raise Refused(f"{condition.term} never {condition.demand}")
    meanings = meanings_of(assumptions)
    _constants_are_constant(conditions, assumptions)
    if isinstance(concluded.statement, Tends) and concluded.statement.variable in meanings:
        raise Refused(f"{concluded.statement.variable} grows, and is a name for something")
    return Theorem(concluded.statement, assumptions, conditions, name, premises, arguments)


@lru_cache(maxsize=16384)
def _can_be_met(condition: Condition, assumptions: frozenset[Assumption]) -> bool:
    """Whether a condition is not refuted by what its symbols are defined to be: what holds nowhere is no theorem."""
    if condition.demand is Demand.CONSTANT:
        return True
    meanings = _values(assumptions)
    term = condition.term
    for _ in range(len(meanings) + 1):
        if condition.demand is Demand.NONZERO and vanishing(term, (term,)) == frozenset():
            return False
        if condition.demand is Demand.NONNEGATIVE and positive(sp.expand(-term)):
            return False
        if not free(term) & meanings.keys():
            return True
        term = substitute(term, meanings)
    return True


@lru_cache(maxsize=4096)
def _values(assumptions: frozenset[Assumption]) -> Mapping[sp.Expr, sp.Expr]:
    """What symbols are said to equal. The meaning of a slope is no term: its value stands in the rule's equation."""
    stated = [leaf.statement for leaf in assumptions if isinstance(leaf.statement, Equation)]
    told = [equation for equation in stated if isinstance(equation.left, sp.Symbol)]
    return {equation.left: equation.right for equation in told if not equation.right.has(sp.Derivative)}


def replay(theorem: Theorem) -> Theorem:
    """The same theorem, made anew from its leaves. Raises Refused at the first theorem that no rule makes."""
    for node in nodes(theorem):
        again = _again(node, node.rule, node.premises)
        kept = ("statement", "assumptions", "conditions")
        if again.arguments is not node.arguments or any(getattr(again, part) != getattr(node, part) for part in kept):
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
    slopes, meanings = _slopes(), dict[sp.Expr, frozenset[sp.Expr]]()
    for leaf in assumptions:
        if leaf.ground is Ground.DEFINITION:
            name, meaning = defined(leaf)
            if name in meanings or name in slopes:
                raise Refused(f"{name} is defined twice")
            meanings[name] = meaning
    known = slopes | meanings
    open_, before = set(known), 0
    while len(open_) != before:  # what names nothing that is open is no part of a circle
        before = len(open_)
        open_ = {name for name, meaning in known.items() if meaning & open_}
    if open_:
        raise Refused(f"{', '.join(map(str, open_ & set(meanings)))} are defined in a circle")
    return known


@lru_cache(maxsize=4096)
def _moved_by(variable: sp.Symbol, assumptions: frozenset[Assumption]) -> frozenset[sp.Expr]:
    """All that rests on a variable, where what model and hypotheses equate moves together, too."""
    linked = dict(meanings_of(assumptions))
    for leaf in assumptions:
        if leaf.ground in (Ground.MODEL, Ground.HYPOTHESIS) and not isinstance(leaf.statement, Tends):
            together = spoken(leaf)
            linked |= {name: linked.get(name, frozenset()) | together for name in together}
    return resting_on(variable, linked)


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
    """What a limit took for constant does not rest on its variable."""
    for condition in conditions:
        variable = condition.variable
        if condition.demand is Demand.CONSTANT and variable and condition.term in _moved_by(variable, assumptions):
            raise Refused(f"{condition.term} was held constant in {variable}, which it is defined by")


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
