"""Bounds A (1 + |x|)^k of functions, and of their Gaussian averages at complex arguments."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.activations.growth import Growth
from giantsteps.derivations.activations.strip_growth import strip_growth
from giantsteps.numerics.balls.arithmetic import log_of, rational_ball
from giantsteps.numerics.balls.gaussian_bounds import Envelope, mean_power

Ball = Any


@dataclass(frozen=True)
class Line:
    """The argument slope kappa + bias + sqrt(variance) z of a function, exact rational numbers."""

    slope: Fraction
    bias: Fraction
    variance: Fraction

    def scale(self) -> Ball:
        """sqrt(variance) at the current precision."""
        return rational_ball(self.variance).sqrt()

    def factor(self) -> Ball:
        """The slope as a ball."""
        return rational_ball(self.slope)

    def argument(self, kappa: Ball) -> Ball:
        """slope kappa + bias."""
        return self.factor() * kappa + rational_ball(self.bias)


@dataclass(frozen=True)
class BallLine(Line):
    """A line whose slope and scale are balls: `slope` is at least the size of theirs, and `variance` not zero."""

    slopes: Ball = None
    scales: Ball = None

    def scale(self) -> Ball:
        """The ball of the scale, whatever the precision."""
        return self.scales

    def factor(self) -> Ball:
        """The ball of the slope."""
        return self.slopes


def polynomial_growth(growth: Growth | None) -> Envelope | None:
    """A growth bound as one in powers of 1 + |x|, None where the function may grow faster."""
    if growth is None or growth.rate > 0 or growth.quadratic > 0:
        return None
    return Envelope(rational_ball(growth.constant).upper(), math.ceil(growth.degree))


def branch_bound(function: Activation, height: Fraction) -> Envelope | None:
    """A bound of every branch of f on the strip |Im| <= height; None where one has none."""
    found = [polynomial_growth(strip_growth(panel.branch, height)) for panel in function.panels]
    known = [bound for bound in found if bound is not None]
    if len(known) < len(found):
        return None
    return Envelope(max((bound.constant for bound in known), key=float), max(bound.degree for bound in known))


def average_bound(
    function: Activation, slope: Fraction, bias: Fraction, scale: Ball, height: Fraction, order: int, power: int
) -> Envelope | None:
    """A bound of |E[z^j f(w + s z)^l]|, w = slope kappa + bias, for |Im kappa| <= height; j = order, l = power.

    Two proofs, the smaller bound is taken. Let |f(x)| <= A (1+|x|)^k on the line, Y = |slope| height.

    1. The average is the integral of f(t)^l ((t-w)/s)^j times the density of N(w, s^2) at t, an entire function of w.
       With t = Re w + s z the density is at most e^{Y^2/(2 s^2)} times its value at Im w = 0, and |(t-w)/s| <= |z| +
       Y/s.
    2. Where |f| <= A (1+|Re|)^k on the strip |Im| <= Y, it bounds f(w + s z) directly, and no exponential is needed.

    In both 1 + |x + s z| <= (1+|x|) max(1, s) (1+|z|), and 1 + |slope x + bias| <= (1+|bias|) max(1, |slope|) (1+|x|).
    In both |z|^j may be (1+|z|)^j. None where f grows faster than a power, as far as is known.
    """
    lift, low = abs(slope) * height, scale.lower()
    stretch = (1 + rational_ball(abs(bias))) * rational_ball(max(Fraction(1), abs(slope)))
    stretch *= scale.upper().max(arb(1))
    found: list[Envelope] = []

    def spread(bound: Envelope, moved: Ball) -> None:
        """(1+|z|)^j A^l (1 + |w + s z|)^(k l) averaged over z, as a bound in kappa."""
        degree = bound.degree * power
        constant = moved * bound.constant**power * stretch**degree * mean_power(degree + order)
        found.append(Envelope(constant.upper(), degree))

    # Branches of a piecewise function are bounded one by one, so that s = 0 has a meaning branch by branch.
    if low > 0:
        on_line = polynomial_growth(function.growth)
        if on_line is not None:
            y = rational_ball(lift) / low
            spread(on_line, (y * y / 2).exp() * (1 + y) ** order)
    if len(function.panels) == 1 or scale == 0:
        on_strip = branch_bound(function, lift)
        if on_strip is not None:
            spread(on_strip, arb(1))
    return min(found, key=lambda bound: (bound.degree, log_of(bound.constant)), default=None)
