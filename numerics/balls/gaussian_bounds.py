"""Rigorous bounds of Gaussian tails and means of functions bounded by A (1+|z|)^k exp(a|z| + q z^2), as balls."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from onestep.derivations.activations.growth import Growth
from onestep.numerics.balls.arithmetic import rational_ball

Ball = Any


@dataclass(frozen=True)
class Envelope:
    """|g(z)| <= constant (1+|z|)^degree exp(rate |z| + quadratic z^2); every entry an upper bound as an arb."""

    constant: Ball
    degree: int
    rate: Ball
    quadratic: Ball

    def times_hermite(self, order: int, height: Fraction = Fraction(0)) -> Envelope:
        """The envelope of He_order(z + i y) g, |y| <= height: |He_k(w)| <= (sum of its |coefficients|) (1+|w|)^k."""
        factor = arb(involutions(order)) * (1 + rational_ball(height)) ** order
        return Envelope(self.constant * factor, self.degree + order, self.rate, self.quadratic)

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
        """Upper bound of E[|g(z)|], by Cauchy-Schwarz between the polynomial and the exponential factor."""
        variance = 1 / (1 - 2 * self.quadratic)
        power = 2 * self.degree
        polynomial = arb(1)
        if power:  # E(1+|X|)^K <= 2^(K-1) (1 + E|X|^K), E|X|^K = variance^(K/2) (K-1)!!
            moment = variance**self.degree * math.prod(range(1, power, 2))
            polynomial = ((1 + moment) * 2 ** (power - 1)).sqrt()
        exponential = arb(1) if self.rate == 0 else (2 * (2 * self.rate**2 * variance).exp()).sqrt()
        return (self.constant * variance.sqrt() * polynomial * exponential).upper()


def involutions(order: int) -> int:
    """The sum of the absolute coefficients of He_order: I_k = I_{k-1} + (k-1) I_{k-2}."""
    before, current = 0, 1
    for k in range(order):
        before, current = current, current + k * before
    return current


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
