"""Bounds A (1 + |x|)^k of functions, and of their Gaussian averages at complex arguments and parameters."""

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
from giantsteps.numerics.balls.gaussian_bounds import Envelope, involutions, mean_power

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


def complex_size(function: Activation, r: Ball, bias: Fraction, c: Ball, order: int) -> Envelope | None:
    """A bound of |E[He_n(z) f(w + s z)]/s^n|, w = r x + bias, s^2 = c, at real x for complex r and c; n = order.

    None unless Re c > 0. The density of N(w, c) at complex w = x' + iy, c has modulus sqrt(theta) e^{y^2/(2 Re c)},
    theta = |c|/Re c, times that of N(x' + y Im c/Re c, theta |c|). With u = that mean + sqrt(theta |c|) z, |f(u)| <=
    A (1+|u|)^k and |u - w| <= theta |y| + sqrt(theta |c|) |z|,

        |h_n| <= theta^{(n+1)/2} e^{y^2/(2 Re c)} |c|^{-n/2} I_n (1 + |y|/sqrt(Re c))^n
                 A ((1+|x'|+theta|y|) max(1, sqrt(theta |c|)))^k E(1+|z|)^{n+k},

    x' = Re r x + bias, y = Im r x.
    """
    growth = polynomial_growth(function.growth)
    real = c.real.lower()
    if growth is None or not real > 0:
        return None
    size, tall = c.abs_upper(), abs(r.imag).upper()
    theta = (size / real).upper()
    k, n = growth.degree, order
    constant = theta.sqrt() ** (n + 1) * involutions(n) / c.abs_lower().sqrt() ** n
    constant *= (tall / real.sqrt()).max(arb(1)) ** n
    reach = (1 + rational_ball(abs(bias))) * (abs(r.real) + theta * tall).max(arb(1))
    constant *= growth.constant * (reach * (theta * size).sqrt().max(arb(1))) ** k * mean_power(n + k)
    return Envelope(constant.upper(), n + k, quadratic=(tall * tall / (2 * real)).upper())
