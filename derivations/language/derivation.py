"""A derivation as data: steps a reader can follow and obligations a checker can discharge.

Nothing in this module decides anything. A derivation may find its results in any way it likes; what makes a result
trustworthy is the list of obligations it leaves behind, each small enough for ``verify.checks.checker`` to recheck with
elementary algebra alone. Relations are left as they are typed: SymPy's own constructors first try to decide them, which
costs more than all the rest and would turn what it can decide into the word `True`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sympy as sp

if TYPE_CHECKING:
    from giantsteps.derivations.kernel.theorem import Theorem


@dataclass(frozen=True)
class Said:
    """What stands of an obligation on the page."""

    says: str


@dataclass(frozen=True)
class Vanishing(Said):
    """The obligation that ``residual`` is identically zero on the domain of the derivation."""

    residual: sp.Expr


@dataclass(frozen=True)
class RationalLimit(Said):
    """The obligation that ``expression`` -> ``value`` as ``variable`` -> infinity.

    ``expression`` has to be rational in ``variable``: the checker compares the degrees of numerator and denominator of
    the difference, and nothing else.
    """

    expression: sp.Expr
    variable: sp.Symbol
    value: sp.Expr


@dataclass(frozen=True)
class NonNegative(Said):
    """The obligation that ``expression`` >= 0, witnessed by a sum of squares with non-negative weights.

    ``squares`` lists pairs (weight, base): the checker verifies that expression = sum weight * base**2 identically and
    that every weight is non-negative by the assumptions on its symbols.
    """

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
    """One line of a derivation: what holds, why, and what has to be checked for it.

    ``theorem``: what the kernel made of it, which leaves nothing to be checked but the theorem's own proof.
    """

    reason: str
    statement: sp.Basic
    obligations: tuple[Obligation, ...]
    theorem: Theorem | None

    def __init__(
        self, reason: str, statement: sp.Basic, *obligations: Obligation, theorem: Theorem | None = None
    ) -> None:
        vars(self).update(reason=reason, statement=statement, obligations=obligations, theorem=theorem)


@dataclass(frozen=True, eq=False, init=False)
class Derivation:
    """A chain of steps that ends in ``results``: each symbol on the left is established to equal its expression.

    Theorems for results stand for what they say, left side and right; without results it is what the last step says.
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
        results: Mapping[sp.Basic, sp.Expr] | Iterable[Theorem] | None = None,
        hypotheses: tuple[str, ...] = (),
    ) -> None:
        if results is None:
            said = steps[-1].statement
            results = {said.lhs: said.rhs} if isinstance(said, sp.Equality) else {}
        elif not isinstance(results, Mapping):
            results = {vars(t.statement)["left"]: vars(t.statement)["right"] for t in results}
        vars(self).update(title=title, source=source, steps=steps, results=results, hypotheses=hypotheses)

    @property
    def theorems(self) -> tuple[Theorem, ...]:
        """What the kernel made of the steps, in order."""
        return tuple(step.theorem for step in self.steps if step.theorem is not None)

    def theorem_of(self, symbol: sp.Basic) -> Theorem:
        """The theorem that makes ``symbol`` equal to its result, the last of them. Raises LookupError without one."""
        found = self.known_theorem_of(symbol)
        if found is None:
            raise LookupError(f"no rule made {symbol} in {self.title}")
        return found

    def known_theorem_of(self, symbol: sp.Basic) -> Theorem | None:
        """The same, or None."""
        equal = [t for t in self.theorems if getattr(t.statement, "left", None) == symbol]
        return next((t for t in reversed(equal) if getattr(t.statement, "right", None) == self.results[symbol]), None)

    @property
    def obligations(self) -> tuple[Obligation, ...]:
        """All obligations of all steps, in order."""
        return tuple(o for step in self.steps for o in step.obligations)
