"""Real roots of polynomials that are square-root numbers, a + b sqrt(d) with rational a, b and a whole d, exactly.

A quadratic factor A z^2 + B z + C of a primitive integer polynomial with leading coefficient L has whole A that divides
L, so that L times the sum of its roots and L times their product are whole numbers: they are read off the brackets of
two real roots, and the factor is confirmed by division.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction

from giantsteps.derivations.activations import real_roots
from giantsteps.derivations.activations.real_roots import Polynomial

Bracket = tuple[Fraction, Fraction]

# Beyond these sizes a root stays a bracketed zero: the pairs of roots are tried one by one, and a discriminant is
# factored by trial division.
_LARGEST_DEGREE = 16
_LARGEST_DISCRIMINANT = 10**12


@functools.lru_cache(maxsize=256)
def _surds(p: tuple[Fraction, ...]) -> dict[Bracket, tuple[Fraction, Fraction, int]]:
    if len(p) - 1 > _LARGEST_DEGREE:
        return {}
    polynomial = list(p)
    found: dict[Bracket, tuple[Fraction, Fraction, int]] = {}
    irrational = [bracket for bracket in real_roots.isolate(polynomial) if bracket[0] < bracket[1]]
    for i, left in enumerate(irrational):
        for right in irrational[i + 1 :]:
            if left in found or right in found:
                continue
            factor = _quadratic_factor(polynomial, left, right)
            if factor is not None:
                centre, radius, radicand = factor
                found[left], found[right] = (centre, -radius, radicand), (centre, radius, radicand)
    return found


def surd(p: Polynomial, bracket: Bracket) -> tuple[Fraction, Fraction, int] | None:
    """(a, b, d) with the root of p in an isolating bracket equal to a + b sqrt(d), d squarefree; None if it is none.

    None also where the degree or the numbers are too large for the search.
    """
    return _surds(tuple(p)).get(bracket)


def _quadratic_factor(p: Polynomial, left: Bracket, right: Bracket) -> tuple[Fraction, Fraction, int] | None:
    """(a, b, d), b > 0, with roots a -+ b sqrt(d) in the two brackets; None if no quadratic factor has both."""
    lead = abs(real_roots.integers(p)[-1])
    size = 2 + max(abs(end) for end in (*left, *right))
    near = [_narrowed(p, bracket, 1 / (8 * lead * size)) for bracket in (left, right)]
    total, product = sum(near), near[0] * near[1]
    a, b, c = Fraction(lead), Fraction(-round(lead * total)), Fraction(round(lead * product))
    if not real_roots.divides([c, b, a], p) or not all(_changes_sign([c, b, a], end) for end in (left, right)):
        return None
    shared = math.gcd(lead, b.numerator, c.numerator)
    a, b, c = a / shared, b / shared, c / shared
    outside = _square_part(b * b - 4 * a * c)
    if outside is None:
        return None
    root, radicand = outside
    return -b / (2 * a), root / (2 * a), radicand


def _narrowed(p: Polynomial, bracket: Bracket, width: Fraction) -> Fraction:
    """The middle of the bracket, halved until it is no wider."""
    low, high = bracket
    while high - low > width:
        low, high = real_roots.halved(p, low, high)
    return (low + high) / 2


def _changes_sign(p: Polynomial, bracket: Bracket) -> bool:
    low, high = (real_roots.value_at(p, end) for end in bracket)
    return (low > 0) != (high > 0)


def _square_part(value: Fraction) -> tuple[Fraction, int] | None:
    """(f, d) with value = f^2 d for a squarefree whole d; None for numbers too large to be factored at once."""
    whole = value.numerator * value.denominator
    if not 0 < whole <= _LARGEST_DISCRIMINANT:
        return None
    root, free, rest, prime = 1, 1, whole, 2
    while prime**3 <= rest:
        while rest % prime == 0:
            rest //= prime
            root, free = (root * prime, free // prime) if free % prime == 0 else (root, free * prime)
        prime += 1
    # no prime factor of what is left is at most its cube root: it is 1, a prime, a product of two or a square
    if math.isqrt(rest) ** 2 == rest:
        return Fraction(root * math.isqrt(rest), value.denominator), free
    return Fraction(root, value.denominator), free * rest
