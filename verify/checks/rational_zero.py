"""Whether a rational function is identically zero: everything over one denominator, and the numerator multiplied out.

Sums, products and integer powers are carried out on fractions of polynomials with rational coefficients. Their
generators are the leaves of the expression: symbols, and whatever else stands in it, taken as it is written. A root
b^(1/q) is a generator R with R^q = b, by which the numerator is reduced. A zero that is found is one for all values of
the leaves at which the expression is defined; a value that is not zero is one where the leaves are independent symbols.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import flint
import sympy as sp


class NotRationalError(ValueError):
    """A number that is no rational one, or a denominator that is zero."""


def rational_zero(expression: sp.Expr, squares: Mapping[sp.Symbol, sp.Expr] | None = None) -> bool | None:
    """Whether ``expression`` is zero by the algebra of fractions; None where that does not decide it.

    False only for symbols and roots of them, between which there are no relations. ``squares``: symbols that stand for
    square roots, and what of.
    """
    try:
        return _Field.of(sp.sympify(expression), squares or {}).vanishes(expression)
    except NotRationalError:
        return None


# A leaf as it is written, and its power that is known: (R, q, b) for R^q = b, q = 0 for none.
Leaf = tuple[sp.Expr, int, sp.Expr]


def _leaves(expression: sp.Expr, squares: Mapping[sp.Symbol, sp.Expr]) -> Iterator[Leaf]:
    """The leaves, each root after what it is the root of."""
    root = _root(expression, squares)
    if root is not None:
        yield from _leaves(root[2], squares)
        yield root
    elif isinstance(expression, sp.Add | sp.Mul):
        for part in expression.args:
            yield from _leaves(part, squares)
    elif isinstance(expression, sp.Pow) and expression.exp.is_Integer:
        yield from _leaves(expression.base, squares)
    elif not expression.is_Rational:
        if isinstance(expression, sp.Number) or expression is sp.zoo:  # a float, an infinity
            raise NotRationalError(str(expression))
        yield expression, 0, sp.S.Zero


def _root(expression: sp.Expr, squares: Mapping[sp.Symbol, sp.Expr]) -> Leaf | None:
    if expression in squares:
        return expression, 2, squares[expression]
    if expression is sp.I:
        return expression, 2, sp.S.NegativeOne
    if isinstance(expression, sp.Pow) and expression.exp.is_Rational and not expression.exp.is_Integer:
        degree = int(expression.exp.q)
        return sp.Pow(expression.base, sp.Rational(1, degree), evaluate=False), degree, expression.base
    return None


@dataclass(frozen=True)
class _Fraction:
    """A fraction of polynomials."""

    over: Any
    under: Any

    def __add__(self, other: _Fraction) -> _Fraction:
        if self.under == other.under:
            return _Fraction(self.over + other.over, self.under)
        common = self.under.gcd(other.under)
        left, right = other.under / common, self.under / common
        return _Fraction(self.over * left + other.over * right, self.under * left)

    def __mul__(self, other: _Fraction) -> _Fraction:
        if self.over == 0 or other.over == 0:
            return self if self.over == 0 else other
        first, second = self.over.gcd(other.under), other.over.gcd(self.under)
        return _Fraction(self.over / first * (other.over / second), self.under / second * (other.under / first))

    def __pow__(self, exponent: int) -> _Fraction:
        if exponent >= 0:
            return _Fraction(self.over**exponent, self.under**exponent)
        if self.over == 0:
            raise NotRationalError("a denominator is zero")
        return _Fraction(self.under**-exponent, self.over**-exponent)


class _Field:
    """Fractions in the leaves of one expression."""

    def __init__(self, leaves: Mapping[sp.Expr, Leaf], squares: Mapping[sp.Symbol, sp.Expr]) -> None:
        self.squares = squares
        bases = [base if q else leaf for leaf, q, base in leaves.values()]
        # Symbols beside the one root of each: what is not zero in these is not zero.
        roots = [base for _, q, base in leaves.values() if q]
        self.free = len(set(roots)) == len(roots) and all(isinstance(base, sp.Symbol) for base in bases)
        self.ring = flint.fmpq_mpoly_ctx.get([f"x{k}" for k in range(len(leaves))], "degrevlex")
        self.one = self.ring.constant(1)
        self.known = {leaf: self._whole(x) for leaf, x in zip(leaves, self.ring.gens(), strict=True)}
        # What follows speaks of earlier leaves only: the last root is replaced first.
        self.roots = [(k, q, self.value(base)) for k, (_, q, base) in enumerate(leaves.values()) if q][::-1]

    @staticmethod
    def of(expression: sp.Expr, squares: Mapping[sp.Symbol, sp.Expr]) -> _Field:
        """The field of the leaves of ``expression``."""
        return _Field({leaf[0]: leaf for leaf in _leaves(expression, squares)}, squares)

    def vanishes(self, expression: sp.Expr) -> bool | None:
        """Whether the expression is zero modulo the relations of its roots; None for zero over zero."""
        found = self.value(expression)
        if self._reduced(found.under) == 0:
            return None
        if self._reduced(found.over) == 0:
            return True
        return False if self.free else None

    def value(self, expression: sp.Expr) -> _Fraction:
        """The expression as a fraction."""
        known = self.known.get(expression)
        if known is None:
            known = self.known[expression] = self._value(expression)
        return known

    def _value(self, expression: sp.Expr) -> _Fraction:
        if expression.is_Rational:
            return self._whole(self.ring.constant(flint.fmpq(int(expression.p), int(expression.q))))
        if isinstance(expression, sp.Add):
            total = self._whole(self.ring.constant(0))
            for term in expression.args:
                total += self.value(term)
            return total
        if isinstance(expression, sp.Mul):
            product = self._whole(self.one)
            for factor in expression.args:
                product *= self.value(factor)
            return product
        root = _root(expression, self.squares)
        if root is not None:
            return self.known[root[0]] ** int(expression.exp.p)
        return self.value(expression.base) ** int(expression.exp)

    def _whole(self, polynomial: Any) -> _Fraction:
        return _Fraction(polynomial, self.one)

    def _reduced(self, polynomial: Any) -> Any:
        """Up to a factor: the powers R^(q k + j) replaced by b^k R^j."""
        for k, degree, base in self.roots:
            parts: dict[int, dict[tuple[int, ...], Any]] = {}
            for exponents, coefficient in polynomial.to_dict().items():
                whole, rest = divmod(int(exponents[k]), degree)
                parts.setdefault(whole, {})[(*exponents[:k], rest, *exponents[k + 1 :])] = coefficient
            most = max(parts, default=0)
            polynomial = self.ring.constant(0)
            for whole, part in parts.items():
                polynomial += self.ring.from_dict(part) * base.over**whole * base.under ** (most - whole)
        return polynomial
