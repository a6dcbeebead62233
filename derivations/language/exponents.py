r"""An exact calculus of orders in d: a quantity of order d^e is its exponent e, a SymPy expression.

Products add exponents, and roots halve them.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp


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


DIMENSION = Order(sp.S.One)
