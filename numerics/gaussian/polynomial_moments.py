"""Exact Gaussian moments of polynomials with rational coefficients, up to a power of the standard deviation."""

from __future__ import annotations

from fractions import Fraction

Coefficients = tuple[Fraction, ...]


def product(p: Coefficients, q: Coefficients) -> Coefficients:
    """The coefficients of p q, constant first."""
    result = [Fraction(0)] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            result[i + j] += a * b
    return tuple(result)


def power(p: Coefficients, exponent: int) -> Coefficients:
    """The coefficients of p**exponent."""
    result: Coefficients = (Fraction(1),)
    for _ in range(exponent):
        result = product(result, p)
    return result


def differentiated(p: Coefficients, times: int = 1) -> Coefficients:
    """The coefficients of a derivative."""
    for _ in range(times):
        p = tuple(k * a for k, a in enumerate(p))[1:] or (Fraction(0),)
    return p


def hermite_moment(p: Coefficients, order: int, mean: Fraction, variance: Fraction) -> Fraction:
    """E[He_order(z) p(mean + s z)]/s**order with s = sqrt(variance): E of the derivative, by Stein's lemma.

    E q(mean + s z) = sum_m q^(2m)(mean) variance^m/(2^m m!).
    """
    q = differentiated(p, order)
    total, weight, m = Fraction(0), Fraction(1), 0
    while True:
        total += weight * _value(q, mean)
        if len(q) <= 2:
            return total
        m += 1
        weight *= variance / (2 * m)
        q = differentiated(q, 2)


def _value(p: Coefficients, x: Fraction) -> Fraction:
    if x == 0:
        return p[0]
    total = Fraction(0)
    for a in reversed(p):
        total = total * x + a
    return total
