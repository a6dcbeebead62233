"""Functions of one real parameter, enclosed on an interval with two derivatives from their values at Chebyshev points.

Let F be analytic inside the ellipse of foci a, b and semi-axes (b-a)/4 (rho +- 1/rho), |F| <= M there. Its Chebyshev
coefficients are at most 2 M rho^-m, and at the n Chebyshev points every T_m, m >= n, equals one +-T_j, j < n, or 0.
So the interpolant p of degree n - 1 has

    |F^(k) - p^(k)| <= sum_{m >= n} 4 M rho^-m T_m^(k)(1),    T_m(1), T_m'(1), T_m''(1) = 1, m^2, m^2 (m^2 - 1)/3,

in the variable x of [-1, 1]. Values known up to delta add delta (1 + (2/pi) log n) T_{n-1}^(k)(1), by the Lebesgue
constant of these points and the inequality of V. A. Markov.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any

from flint import arb, arb_poly, ctx

from giantsteps.numerics.balls.arithmetic import rational_ball

Ball = Any
Jet = tuple[Ball, Ball, Ball]


@dataclass(frozen=True)
class Interpolated:
    """A function on [low, high]: a polynomial in x of [-1, 1], and what it and two derivatives in x miss by."""

    low: Fraction
    high: Fraction
    polynomial: Any
    errors: Jet

    def over(self, a: Fraction, b: Fraction) -> Jet:
        """Balls of F, F', F'' over [a, b] inside [low, high]; a = b gives them at a point."""
        half = rational_ball((self.high - self.low) / 2)
        middle = rational_ball(((a + b) - (self.low + self.high)) / (self.high - self.low))
        width = rational_ball((b - a) / (self.high - self.low))
        moved = self.polynomial(arb_poly([middle, width])) if b > a else self.polynomial(arb_poly([middle, arb(1)]))
        coefficients = moved.coeffs()
        found = []
        for order in range(3):
            terms = [math.perm(k, order) * c for k, c in enumerate(coefficients)][order:] or [arb(0)]
            if b > a:
                spread = sum((abs(term) for term in terms[1:]), arb(0)).upper()
                value = (terms[0] + arb(0, spread)) / width**order
            else:
                value = terms[0]
            found.append((value + arb(0, self.errors[order])) / half**order)
        return found[0], found[1], found[2]


def points(low: Fraction, high: Fraction, count: int) -> list[Ball]:
    """The Chebyshev points of [low, high] as balls, in the order that `interpolated` expects."""
    middle, half = rational_ball((low + high) / 2), rational_ball((high - low) / 2)
    return [middle + half * x for x in nodes(count, ctx.prec)]


def interpolated(low: Fraction, high: Fraction, values: Sequence[Ball], rho: Fraction, bound: Ball) -> Interpolated:
    """The function with these values at `points`, bounded by `bound` on the ellipse of rho > 1."""
    count = len(values)
    delta = largest([value.rad() for value in values]) * (1 + 2 * arb(count).log() / arb.pi())
    polynomial = through([value.mid() for value in values])
    radius = rational_ball(rho)
    errors = []
    for order in range(3):
        # (1 + 1/m)^(2k), k the order, bounds the growth of T_m^(k)(1) from m to m + 1 up to the factor of m^2 - 1.
        ratio = (1 + arb(2) / count) ** (2 * order) / radius
        if not ratio < 1:
            raise ValueError(f"{count} points are too few for an ellipse of rho = {float(rho):g}")
        first = 4 * bound * radius ** (-count) * _steepness(count, order)
        errors.append((first / (1 - ratio) + delta * _steepness(count - 1, order)).upper())
    return Interpolated(low, high, polynomial, (errors[0], errors[1], errors[2]))


def through(values: Sequence[Ball]) -> Any:
    """The polynomial in x with these values at the zeros of T_n, n their number."""
    count, bits = len(values), ctx.prec
    polynomial = arb_poly([arb(0)])
    for k, (row, chebyshev) in enumerate(zip(_cosines(count, bits), _chebyshev(count, bits), strict=True)):
        coefficient = sum((c * v for c, v in zip(row, values, strict=True)), arb(0)) * (2 if k else 1) / count
        polynomial += coefficient * chebyshev
    return polynomial


def ellipse(low: Fraction, high: Fraction, rho: Fraction, arcs: int) -> list[Ball]:
    """Complex balls that cover the upper half of the ellipse of rho around [low, high]."""
    from flint import acb

    middle, half = rational_ball((low + high) / 2), rational_ball((high - low) / 2)
    size = rational_ball(rho)
    wide, tall = half * (size + 1 / size) / 2, half * (size - 1 / size) / 2
    found = []
    for k in range(arcs):
        angle = arb.pi() * (arb(2 * k + 1) / (2 * arcs) + arb(0, (arb(1) / (2 * arcs)).upper()))
        found.append(acb(middle + wide * angle.cos(), tall * angle.sin()))
    return found


def largest(balls: Iterable[Ball]) -> Ball:
    """An upper bound of all of them; doubles would not order balls that are close."""
    return reduce(lambda a, b: a.max(b), balls).upper()


def needed_points(log_bound: float, rho: float, bits: int) -> int:
    """About how many points leave an error of 2**-bits in F; log_bound is that of M, minus infinity where F is 0.

    No fewer than make the terms of the sums above fall like rho^(-m/2), which `interpolated` sums as geometric ones.
    """
    fewest = math.ceil(2.0 / math.expm1(math.log(rho) / 8.0))
    return max(4, fewest, math.ceil(max(log_bound + bits * math.log(2) + 2.0, 0.0) / math.log(rho)))


def _steepness(m: int, order: int) -> int | Ball:
    """T_m^(order)(1)."""
    return (1, m * m, arb(m * m * (m * m - 1)) / 3)[order]


@lru_cache(maxsize=64)
def nodes(count: int, bits: int) -> tuple[Ball, ...]:
    """The zeros of T_count at the precision in force, `bits`."""
    assert bits == ctx.prec
    return tuple((arb.pi() * (2 * j + 1) / (2 * count)).cos() for j in range(count))


@lru_cache(maxsize=64)
def _cosines(count: int, bits: int) -> tuple[tuple[Ball, ...], ...]:
    """T_k at the points."""
    assert bits == ctx.prec
    table = [(arb.pi() * n / (2 * count)).cos() for n in range(4 * count)]
    return tuple(tuple(table[k * (2 * j + 1) % (4 * count)] for j in range(count)) for k in range(count))


@lru_cache(maxsize=64)
def _chebyshev(count: int, bits: int) -> tuple[Any, ...]:
    """T_0 .. T_{count-1} as polynomials."""
    assert bits == ctx.prec
    found = [arb_poly([1]), arb_poly([0, 1])]
    while len(found) < count:
        found.append(arb_poly([0, 2]) * found[-1] - found[-2])
    return tuple(found[:count])
