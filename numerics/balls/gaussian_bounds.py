"""Rigorous bounds of Gaussian tails and means of functions bounded by A (1+|z|)^k exp(a|z| + q z^2), as balls."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

from flint import arb, ctx

from giantsteps.derivations.activations.growth import Growth
from giantsteps.derivations.expressions.budget import spend
from giantsteps.numerics.balls.arithmetic import BallError, rational_ball

Ball = Any


def _zero() -> Ball:
    return arb(0)


@dataclass(frozen=True)
class Envelope:
    """|g(z)| <= constant (1+|z|)^degree exp(rate |z| + quadratic z^2); every entry an upper bound as an arb.

    Of a function on a strip or a rectangle around the line: with z = x + iy the bound is one in x, for all y there.
    """

    constant: Ball
    degree: int = 0
    rate: Ball = field(default_factory=_zero)
    quadratic: Ball = field(default_factory=_zero)

    def __add__(self, other: Envelope) -> Envelope:
        return Envelope(
            (self.constant + other.constant).upper(),
            max(self.degree, other.degree),
            self.rate.max(other.rate),
            self.quadratic.max(other.quadratic),
        )

    def __mul__(self, other: Envelope) -> Envelope:
        return Envelope(
            (self.constant * other.constant).upper(),
            self.degree + other.degree,
            (self.rate + other.rate).upper(),
            (self.quadratic + other.quadratic).upper(),
        )

    def scaled(self, factor: Ball, power: int = 0) -> Envelope:
        """The envelope of factor z^power g."""
        return Envelope((self.constant * abs(factor)).upper(), self.degree + power, self.rate, self.quadratic)

    def times_hermite(self, order: int, height: Ball = 0) -> Envelope:
        """The envelope of He_order(z + i y) g, |y| <= height: |He_k(w)| <= (sum of its |coefficients|) (1+|w|)^k."""
        return self.scaled(involutions(order) * (1 + arb(height)) ** order, order)

    def integrable(self) -> bool:
        """Whether the bound certifies a finite mean under N(0, 1)."""
        return bool(self.quadratic < arb(1) / 2)

    def tail(self, end: Ball) -> Ball:
        """Upper bound of E[|g(z)|; |z| > end] and of a trapezoidal sum over |z| > end; infinite when end is too small.

        Beyond `end` the bound times the density falls at least as fast as exp(-s z), s its logarithmic slope there.
        """
        slope = (1 - 2 * self.quadratic) * end - self.rate - self.degree / (1 + end)
        if not slope > 0:
            return arb.pos_inf()
        height = (
            self.constant * (1 + end) ** self.degree * ((self.quadratic - arb(1) / 2) * end**2 + self.rate * end).exp()
        )
        return (2 * height / (slope * (2 * arb.pi()).sqrt())).upper()

    def mean(self) -> Ball:
        """Upper bound of E|g(z)|, by Cauchy-Schwarz between the polynomial and the exponential factor; or infinity."""
        if not self.integrable():
            return arb.pos_inf()
        if self.rate == 0 and self.quadratic == 0:
            return (self.constant * mean_power(self.degree)).upper()
        variance = 1 / (1 - 2 * self.quadratic)
        exponential = arb(1) if self.rate == 0 else (2 * (2 * self.rate**2 * variance).exp()).sqrt()
        return (self.constant * variance.sqrt() * _root_mean_square(self.degree, variance) * exponential).upper()


def _root_mean_square(degree: int, variance: Ball) -> Ball:
    """An upper bound of the root of E(1+|X|)^(2 degree), X ~ N(0, variance)."""
    power = 2 * degree
    if not power:
        return arb(1)
    # E(1+|X|)^K <= 2^(K-1) (1 + E|X|^K), E|X|^K = variance^(K/2) (K-1)!!
    moment = variance**degree * math.prod(range(1, power, 2))
    return ((1 + moment) * 2 ** (power - 1)).sqrt()


def cut_off(envelopes: Sequence[Envelope], bits: int) -> Fraction:
    """An end, a multiple of 1/4, such that every tail beyond it is below 2**-bits; each trial spends of the budget.

    Raises BallError where none is found.
    """
    goal = arb(2) ** -bits
    # The density alone falls to it near sqrt(2 log 2 bits).
    first = max(8, math.floor(4 * math.sqrt(2 * math.log(2) * bits)) - 4)
    for quarter in range(first, first + 40_000):
        spend(20 * len(envelopes))
        if all(envelope.tail(arb(quarter) / 4) < goal for envelope in envelopes):
            return Fraction(quarter, 4)
    raise BallError("the integrand falls too slowly for its tail to be cut off")


def involutions(order: int) -> int:
    """The sum of the absolute coefficients of He_order: I_k = I_{k-1} + (k-1) I_{k-2}."""
    before, current = 0, 1
    for k in range(order):
        before, current = current, current + k * before
    return current


def mean_power(degree: int) -> Ball:
    """Upper bound of E(1 + |z|)^degree, z ~ N(0, 1)."""
    return _mean_power(degree, ctx.prec)


@lru_cache(maxsize=256)
def _mean_power(degree: int, bits: int) -> Ball:
    assert bits == ctx.prec
    return _root_mean_square(degree, arb(1)).upper()


def rational_upper(x: Ball) -> Fraction:
    """A rational upper bound of a ball."""
    man, exp = x.upper().man_exp()
    return Fraction(int(man)) * Fraction(2) ** int(exp)


def envelope(bound: Growth, mean: Ball, scale: Ball) -> Envelope:
    """The envelope in z of a function of x = mean + scale z (scale > 0) with a growth bound in x."""
    size, stretch = abs(mean).upper(), scale.upper()
    degree = math.ceil(bound.degree)
    quadratic = rational_ball(max(Fraction(0), bound.quadratic))
    rate = rational_ball(bound.rate)
    # 1 + |m| + s|z| <= (1+|m|) max(1, s) (1+|z|)
    constant = rational_ball(bound.constant) * ((1 + size) * stretch.max(arb(1))) ** degree
    constant *= (rate * size + quadratic * size**2).exp()
    return Envelope(
        constant.upper(),
        degree,
        (rate * stretch + 2 * quadratic * size * stretch).upper(),
        (quadratic * stretch**2).upper(),
    )
