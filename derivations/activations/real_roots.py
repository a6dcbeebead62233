"""Roots of polynomials with rational coefficients c_0, c_1, ..., by FLINT's factors and isolated complex roots."""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

from giantsteps.derivations.expressions.budget import spend
from giantsteps.derivations.expressions.exact import precision

# Polynomials and balls of FLINT, which takes longer to load than most activations need to be read.
Whole = Any
Ball = Any
Polynomial = list[Fraction]
Bracket = tuple[Fraction, Fraction]
Surd = tuple[Fraction, Fraction, int]

# Brackets of irrational roots have so many bits, or so many that they are disjoint.
_BITS = 64
# A larger discriminant is not factored: its roots stay bracketed zeros.
_LARGEST_DISCRIMINANT = 10**12


def value_at(p: Polynomial, x: Fraction) -> Fraction:
    """p(x) by Horner's rule."""
    total = Fraction(0)
    for c in reversed(p):
        total = total * x + c
    return total


def differentiated(p: Polynomial) -> Polynomial:
    """p'."""
    return [k * c for k, c in enumerate(p)][1:] or [Fraction(0)]


def common_divisor(p: Polynomial, q: Polynomial) -> Polynomial:
    """A greatest common divisor with integer coefficients."""
    return _coefficients(_whole(p).gcd(_whole(q)))


def without_multiples(p: Polynomial) -> Polynomial:
    """A polynomial with the roots of p, each once, and integer coefficients; p is not zero."""
    return p if len(p) == 2 else _product([factor for factor, _ in _factors(tuple(p))])


def square_part(p: Polynomial) -> tuple[Polynomial, Polynomial]:
    """(q, r) with p = q^2 r, where r has no multiple roots and q has integer coefficients; p is not zero."""
    factors = _factors(tuple(p))
    root = _product([factor ** (times // 2) for factor, times in factors])
    rest = _product([factor ** (times % 2) for factor, times in factors])
    scale = p[sum(factor.degree() * times for factor, times in factors)] / (root[-1] ** 2 * rest[-1])
    return root, [scale * c for c in rest]


def isolate(p: Polynomial) -> list[Bracket]:
    """Sorted disjoint brackets of the distinct real roots: (r, r) for a rational one, else ends that are no roots."""
    return [bracket for bracket, _ in real_roots(tuple(p))]


@functools.lru_cache(maxsize=512)
def real_roots(p: tuple[Fraction, ...]) -> list[tuple[Bracket, Surd | None]]:
    """The brackets of `isolate`, and beside each (a, b, d) where the root is a + b sqrt(d) with squarefree d.

    None also where the numbers are too large to be factored.
    """
    if len(p) == 2:
        return [((-p[0] / p[1], -p[0] / p[1]), None)]
    bits, factors = _BITS, [factor for factor, _ in _factors(p)]
    while True:
        found = sorted((item for factor in factors for item in _roots_of(factor, bits)), key=lambda item: item[0])
        if all(first[0][1] < second[0][0] for first, second in pairwise(found)):
            return found
        bits *= 2


@functools.lru_cache(maxsize=256)
def root_free_height(p: tuple[Fraction, ...]) -> Fraction:
    """A height y such that no complex root has |Im| <= y, to some 60 bits the largest; 0 with a real root."""
    least = Fraction(1 << 64)  # a constant has no roots at all
    for factor, _ in _factors(p):
        least = min(least, *(max(Fraction(0), low, -high) for _, (low, high) in _complex_roots(factor, _BITS)))
    return least * (1 - Fraction(1, 2**_BITS))  # an end of a ball may be the root itself


def ball_ends(ball: Ball) -> Bracket:
    """The ends of a finite ball."""
    return _fraction(ball.lower()), _fraction(ball.upper())


def _fraction(exact: Ball) -> Fraction:
    mantissa, exponent = map(int, exact.man_exp())
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def _coefficients(p: Whole) -> Polynomial:
    return [Fraction(int(c)) for c in p.coeffs()]


def _product(factors: list[Whole]) -> Polynomial:
    return _coefficients(math.prod(factors, start=_whole([Fraction(1)])))


def _whole(p: Polynomial) -> Whole:
    """A positive multiple of p with integer coefficients."""
    import flint

    scale = math.lcm(*(c.denominator for c in p))
    return flint.fmpz_poly([c.numerator * (scale // c.denominator) for c in p])


@functools.lru_cache(maxsize=512)
def _factors(p: tuple[Fraction, ...]) -> list[tuple[Whole, int]]:
    """The irreducible factors of p that are not constant, with their powers: integers, the leading one positive."""
    spend(len(p) ** 2)
    return list(_whole(list(p)).factor()[1])


def _complex_roots(factor: Whole, bits: int) -> list[tuple[Bracket, Bracket]]:
    """Brackets of real and imaginary part of all roots of an irreducible polynomial: disjoint, real ones first."""
    spend(10 * factor.degree() ** 2)  # measured up to degree 500
    with precision(bits):
        return [(ball_ends(root.real), ball_ends(root.imag)) for root, _ in factor.complex_roots()]


def _roots_of(factor: Whole, bits: int) -> list[tuple[Bracket, Surd | None]]:
    from flint import fmpz

    c, b, a = (int(k) for k in (*factor.coeffs(), 0)[:3])
    if factor.degree() == 1:
        return [((Fraction(-c, b), Fraction(-c, b)), None)]
    brackets = [real for real, imaginary in _complex_roots(factor, bits) if imaginary[0] == imaginary[1] == 0]
    discriminant = b * b - 4 * a * c
    if factor.degree() > 2 or not 0 < discriminant <= _LARGEST_DISCRIMINANT:
        return [(bracket, None) for bracket in brackets]
    primes = fmpz(discriminant).factor()
    root = math.prod(int(prime) ** (times // 2) for prime, times in primes)
    free = math.prod(int(prime) ** (times % 2) for prime, times in primes)
    surds = [(Fraction(-b, 2 * a), Fraction(sign * root, 2 * a), free) for sign in (-1, 1)]
    return list(zip(brackets, surds, strict=True))
