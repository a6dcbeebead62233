"""What a theorem is, how rules make one, and how one is made again.

A rule is a pure function from premises and arguments to a conclusion. Calling it makes a theorem that remembers the
rule, the premises and the arguments; its assumptions and conditions are those of all its premises together. `replay`
calls every rule of a proof again, starting from the assumptions, and compares. It refuses a theorem that no rule made,
and one whose assumptions were changed.

What a theorem says: for each family of values of all symbols and functions, one for each value of the variables in
which its proof takes limits, and with constant what these hold constant, along which its assumptions and conditions
hold, functions have the slopes that they have names for, and what stands under an average has one bound where a limit
is taken: its statement holds along that family. A theorem is true so where there is no such family, and then says
nothing; whether it says something is no matter of rules, and asked of what is to be called proved
(`vacuity.established`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, wraps
from types import NoneType
from typing import Any, TypeVar, get_args

import sympy as sp

from giantsteps.derivations.kernel.conditions import far_out, fixed, meanings_of, supposed
from giantsteps.derivations.kernel.statements import (
    Assumption,
    Condition,
    Demand,
    Ground,
    Refused,
    Statement,
    sides,
    variables,
)
from giantsteps.derivations.kernel.terms import admit, defined_where, without_formula


@dataclass(frozen=True)
class Conclusion:
    """What a rule concludes, with the assumptions and conditions that it adds to those of its premises.

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
# Where rules are made, and nowhere else: whoever looks for a proof adds none.
MODULES = ("algebra", "averages", "calculus", "inequalities", "limits")


def rule(conclude: Rule) -> Callable[..., Theorem]:
    """Make a rule of a function of premises (a tuple) and arguments that returns a conclusion."""
    if conclude.__module__ not in {f"giantsteps.derivations.kernel.{name}" for name in MODULES}:
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
    for variable in variables(concluded.statement, *(premise.statement for premise in premises)):
        conditions = frozenset().union(*(far_out(c, variable, assumptions) for c in conditions))
        if supposed(assumptions):  # what was a limit is one still, though it holds nothing constant
            conditions |= {Condition(variable, Demand.CONSTANT, variable)}
    return Theorem(concluded.statement, assumptions, _one(conditions), name, premises, arguments)


_Part = TypeVar("_Part")
_SETS: dict[frozenset[Any], frozenset[Any]] = {}


def _one(found: frozenset[_Part]) -> frozenset[_Part]:
    """Equal sets as one object: what is known of a set is then found by identity, and no two terms are compared."""
    return _SETS.setdefault(found, found)


def _written(part: Any) -> None:
    """Whether an argument of a rule is what it looks like: numbers, names, terms, statements, and tuples of these.

    What only claims to be one of them could say something else each time that it is asked.
    """
    if type(part) in (tuple, frozenset, dict):
        for inner in (*part, *(part.values() if isinstance(part, dict) else ())):
            _written(inner)
    elif type(part) in (*get_args(Statement), Assumption):
        for name in part.__dataclass_fields__:
            _written(getattr(part, name))
    elif type(part) not in (str, int, bool, NoneType, Ground) and not without_formula(part):
        admit(part)


def replay(theorem: Theorem) -> Theorem:
    """The same theorem, made anew from its assumptions. Raises Refused at the first theorem that no rule makes."""
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
