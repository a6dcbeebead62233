"""Where a derivation begins, definitions, the setting, lemmas and hypotheses, and a step of it with its reason."""

from __future__ import annotations

from collections.abc import Iterable

import sympy as sp

from giantsteps.derivations.kernel.algebra import assume
from giantsteps.derivations.kernel.statements import Assumption, AtLeast, Equation, Ground, Tends, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Step, eq, ge


def define(name: sp.Expr, meaning: sp.Expr, reference: str, *universal: sp.Symbol) -> Theorem:
    """name := meaning."""
    assumed = Assumption.definition(name, Equation(name, meaning), reference, *universal)
    return assume((), assumed)


def in_model(name: str, statement: Equation | AtLeast | Tends, reference: str, *universal: sp.Symbol) -> Theorem:
    """What the setting says, for all values of the ``universal`` symbols."""
    return assume((), Assumption(Ground.MODEL, name, statement, reference, frozenset(universal)))


def lemma(name: str, statement: Equation | AtLeast | Tends, reference: str, *universal: sp.Symbol) -> Theorem:
    """A lemma of the textbooks."""
    return assume((), Assumption.lemma(name, statement, reference, *universal))


def hypothesis(name: str, statement: Equation | AtLeast | Tends, reference: str, *universal: sp.Symbol) -> Theorem:
    """What is taken on trust: ``reference`` is the claim that carries it, or the sentence in which it is made."""
    return assume((), Assumption(Ground.HYPOTHESIS, name, statement, reference, frozenset(universal)))


def proved(reason: str, theorem: Theorem) -> Step:
    """A step of a derivation: a theorem with its reason."""
    statement = theorem.statement
    left, right = sides(statement)
    if isinstance(statement, Tends):
        return Step(reason, eq(sp.Limit(left, statement.variable, sp.oo), right), theorem=theorem)
    return Step(reason, (ge if isinstance(statement, AtLeast) else eq)(left, right), theorem=theorem)


def each_proved(reason: str, theorems: Iterable[Theorem]) -> tuple[Step, ...]:
    """A step for each of several theorems that have one reason."""
    return tuple(proved(reason, theorem) for theorem in theorems)


def proved_in_turn(*told: tuple[str, Iterable[Theorem]]) -> tuple[Step, ...]:
    """For each of several quantities its theorems one after the other, each with the reason of its kind."""
    reasons, theorems = [reason for reason, _ in told], zip(*(found for _, found in told), strict=True)
    return tuple(proved(reason, one) for of_one in theorems for reason, one in zip(reasons, of_one, strict=True))
