"""What a theorem is, how rules make one, and how one is made again.

A rule is a pure function from premises and arguments to a conclusion. Calling it makes a theorem that remembers the
rule, the premises and the arguments; its assumptions and conditions are those of all its premises together. `replay`
calls every rule of a proof again, from the leaves on, and compares: a theorem that was put together by hand, or whose
leaves were tampered with, does not survive it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Any

import sympy as sp

from onestep.derivations.kernel.statements import (
    Assumption,
    Condition,
    Demand,
    Equation,
    Ground,
    Refused,
    Statement,
    Tends,
    sides,
)
from onestep.derivations.kernel.terms import admit, free
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
    for term in sides(concluded.statement):
        admit(term)
    _constants_are_constant(conditions, depending(assumptions))
    return Theorem(concluded.statement, assumptions, conditions, name, premises, arguments)


def replay(theorem: Theorem) -> None:
    """Make every theorem of a proof again. Raises Refused at the first one that no rule makes."""
    for node in nodes(theorem):
        if node.rule not in RULES:
            raise Refused(f"there is no rule {node.rule}")
        again = _made(node.rule, node.premises, node.arguments)
        kept = ("statement", "assumptions", "conditions")
        if any(getattr(again, part) != getattr(node, part) for part in kept):
            raise Refused(f"the rule {node.rule} does not conclude {node.statement}")


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


# Which function a named derivative is one of.
_SLOPES = {slope: function for function, slope in DERIVATIVES.items()} | {
    slope: function for function, slopes in PARTIALS.items() for slope in slopes
}


@lru_cache(maxsize=4096)
def fixed(assumptions: frozenset[Assumption]) -> frozenset[sp.Symbol]:
    """The free symbols of assumptions that do not stand for any value; those of lemmas all do."""
    found: set[sp.Symbol] = set()
    for leaf in assumptions:
        if leaf.ground is not Ground.LEMMA:
            found |= frozenset().union(*map(free, sides(leaf.statement))) - leaf.universal
    return frozenset(found)


@lru_cache(maxsize=4096)
def depending(assumptions: frozenset[Assumption]) -> Mapping[sp.Expr, frozenset[sp.Expr]]:
    """For each name that is defined, all that its meaning rests on, by way of other definitions too.

    Raises Refused where a name is defined twice, or by way of itself.
    """
    meanings: dict[sp.Expr, frozenset[sp.Expr]] = {}
    for leaf in assumptions:
        if leaf.ground is Ground.DEFINITION:
            name, meaning = defined(leaf)
            if name in meanings or name in _SLOPES:
                raise Refused(f"{name} is defined twice")
            meanings[name] = meaning | _functions(meaning)
    for _ in meanings:
        meanings = {n: m.union(*(meanings[other] for other in m & meanings.keys())) for n, m in meanings.items()}
    circular = [name for name, meaning in meanings.items() if name in meaning]
    if circular:
        raise Refused(f"{', '.join(map(str, circular))} are defined in a circle")
    return meanings


def _functions(meaning: frozenset[sp.Expr]) -> frozenset[sp.Expr]:
    """The functions whose derivatives, of any order, are named in a meaning."""
    found: set[sp.Expr] = set()
    pending = [part for part in meaning if part in _SLOPES]
    while pending:
        function = _SLOPES[pending.pop()]
        found.add(function)
        pending += [function] if function in _SLOPES else []
    return frozenset(found)


def _constants_are_constant(conditions: frozenset[Condition], meanings: Mapping[sp.Expr, frozenset[sp.Expr]]) -> None:
    """What a limit took for constant is not defined by way of its variable."""
    for condition in conditions:
        if condition.demand is Demand.CONSTANT and condition.variable in meanings.get(condition.term, ()):
            raise Refused(f"{condition.term} was held constant in {condition.variable}, which it is defined by")


def defined(leaf: Assumption) -> tuple[sp.Expr, frozenset[sp.Expr]]:
    """What a definition gives a meaning to, as a symbol or the head of a function, and all that its meaning names."""
    name, meaning = sides(leaf.statement)
    if isinstance(leaf.statement, Tends):
        name, meaning = meaning, name
    elif not isinstance(leaf.statement, Equation):
        raise Refused(f"{leaf.name}: a definition is an equation or a limit")
    if isinstance(name, sp.Symbol) and not leaf.universal:
        head = name
    elif isinstance(name, sp.core.function.AppliedUndef) and _are(name.args, leaf.universal):
        head = name.func
    else:
        raise Refused(f"{leaf.name}: {name} is neither a symbol nor a function of the symbols that it is defined for")
    named = frozenset(part.func if part.args else part for part in sp.preorder_traversal(meaning))
    if head in named:
        raise Refused(f"{leaf.name}: {name} is defined by itself")
    return head, named


def _are(arguments: tuple[sp.Expr, ...], universal: frozenset[sp.Symbol]) -> bool:
    """Whether the arguments of a function that is defined are different symbols, all that stand for any value."""
    return frozenset(arguments) == universal and len(arguments) == len(universal)
