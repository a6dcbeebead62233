"""A derivation as data: steps a reader can follow and obligations a checker can discharge.

Nothing in this module decides anything. A derivation may find its results in any way it likes; what makes a result
trustworthy is the list of obligations it leaves behind, each small enough for ``verify.checks.checker`` to recheck with
elementary algebra alone. Relations are left as they are typed: SymPy's own constructors first try to decide them, which
costs more than all the rest and would turn what it can decide into the word `True`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sympy as sp


@dataclass(frozen=True)
class Vanishing:
    """The obligation that ``residual`` is identically zero on the domain of the derivation."""

    says: str
    residual: sp.Expr


@dataclass(frozen=True)
class RationalLimit:
    """The obligation that ``expression`` -> ``value`` as ``variable`` -> infinity.

    ``expression`` has to be rational in ``variable``: the checker compares the degrees of numerator and denominator of
    the difference, and nothing else.
    """

    says: str
    expression: sp.Expr
    variable: sp.Symbol
    value: sp.Expr


@dataclass(frozen=True)
class NonNegative:
    """The obligation that ``expression`` >= 0, witnessed by a sum of squares with non-negative weights.

    ``squares`` lists pairs (weight, base): the checker verifies that expression = sum weight * base**2 identically and
    that every weight is non-negative by the assumptions on its symbols.
    """

    says: str
    expression: sp.Expr
    squares: tuple[tuple[sp.Expr, sp.Expr], ...]


Obligation = Vanishing | RationalLimit | NonNegative


def eq(left: sp.Expr, right: sp.Expr) -> sp.Equality:
    """An equation, left as it is typed."""
    return sp.Eq(left, right, evaluate=False)


def ge(left: sp.Expr, right: sp.Expr) -> sp.GreaterThan:
    """An inequality, left as it is typed."""
    return sp.Ge(left, right, evaluate=False)


def le(left: sp.Expr, right: sp.Expr) -> sp.LessThan:
    """An inequality, left as it is typed."""
    return sp.Le(left, right, evaluate=False)


@dataclass(frozen=True, init=False)
class Step:
    """One line of a derivation: what holds, why, and what has to be checked for it."""

    reason: str
    statement: sp.Basic
    obligations: tuple[Obligation, ...]

    def __init__(self, reason: str, statement: sp.Basic, *obligations: Obligation) -> None:
        vars(self).update(reason=reason, statement=statement, obligations=obligations)


@dataclass(frozen=True, eq=False, init=False)
class Derivation:
    """A chain of steps that ends in ``results``: each symbol on the left is established to equal its expression.

    ``hypotheses`` are the sentences that the steps use without proving them (an exchange of limits, the
    replica-symmetric ansatz); they travel with every claim that rests on this derivation.
    """

    title: str
    source: str
    steps: tuple[Step, ...]
    results: Mapping[sp.Basic, sp.Expr]
    hypotheses: tuple[str, ...]

    def __init__(
        self,
        title: str,
        source: str,
        *steps: Step,
        results: Mapping[sp.Basic, sp.Expr] | None = None,
        hypotheses: tuple[str, ...] = (),
    ) -> None:
        vars(self).update(title=title, source=source, steps=steps, results=results or {}, hypotheses=hypotheses)

    @property
    def obligations(self) -> tuple[Obligation, ...]:
        """All obligations of all steps, in order."""
        return tuple(o for step in self.steps for o in step.obligations)
