r"""An exact calculus of orders in d: a quantity of order d^e is its exponent e, a SymPy expression.

Products add exponents, roots halve them, and of several terms the one of largest exponent decides a sum. Which one that
is has to follow from the assumptions on the symbols: every comparison leaves an obligation behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sympy as sp

from onestep.derivations.language.derivation import NonNegative


@dataclass(frozen=True)
class Order:
    """d^exponent up to a positive factor that does not depend on d."""

    exponent: sp.Expr

    def __mul__(self, other: Order) -> Order:
        return Order(sp.expand(self.exponent + other.exponent))

    def __truediv__(self, other: Order) -> Order:
        return Order(sp.expand(self.exponent - other.exponent))

    def power(self, exponent: sp.Expr | int) -> Order:
        """(d^e)^x = d^(e x)."""
        return Order(sp.expand(self.exponent * exponent))

    def root(self) -> Order:
        """The square root."""
        return self.power(sp.Rational(1, 2))


ONE = Order(sp.S.Zero)
DIMENSION = Order(sp.S.One)


@dataclass(frozen=True)
class Sum:
    """A sum of terms of different order: the term that decides it, and why no other does."""

    leader: str
    order: Order
    obligations: tuple[NonNegative, ...]


def total(terms: Mapping[str, Order]) -> Sum:
    """The order of a sum of terms without cancellation: the largest exponent, with a proof that it is the largest.

    Raises ValueError where the assumptions on the symbols do not decide which term that is.
    """
    for leader, order in terms.items():
        gaps = {name: sp.factor(order.exponent - other.exponent) for name, other in terms.items() if name != leader}
        if all(gap.is_nonnegative for gap in gaps.values()):
            proofs = tuple(
                NonNegative(f"{leader} is not below {name}", order.exponent - terms[name].exponent, ((gap, sp.S.One),))
                for name, gap in gaps.items()
            )
            return Sum(leader, order, proofs)
    raise ValueError(f"which of {', '.join(terms)} is largest is not decided by the signs of the symbols")
