"""Bounds A (1 + |x|)^k of functions along the spike, and of Gaussian averages E[z^j f(x + s z)^l] off the real line."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from onestep.derivations.activations.activation import Activation
from onestep.derivations.activations.growth import Growth
from onestep.derivations.activations.strip_growth import strip_growth
from onestep.numerics.balls.arithmetic import BallError, rational_ball
from onestep.numerics.balls.gaussian_bounds import Envelope

Ball = Any


@dataclass(frozen=True)
class Bound:
    """|F(kappa)| <= constant (1 + |Re kappa|)^degree; constant an upper bound as an arb."""

    constant: Ball
    degree: int = 0

    def __add__(self, other: Bound) -> Bound:
        return Bound((self.constant + other.constant).upper(), max(self.degree, other.degree))

    def __mul__(self, other: Bound) -> Bound:
        return Bound((self.constant * other.constant).upper(), self.degree + other.degree)

    def scaled(self, factor: Ball) -> Bound:
        """The bound of factor F."""
        return Bound((self.constant * abs(factor)).upper(), self.degree)

    def mean(self) -> Ball:
        """Upper bound of E|F(x)|, x ~ N(0, 1)."""
        return self.constant * mean_power(self.degree)

    def tail(self, end: Ball) -> Ball:
        """Upper bound of E[|F(x)|; |x| > end]."""
        return Envelope(self.constant, self.degree, arb(0), arb(0)).tail(end)


def mean_power(degree: int) -> Ball:
    """Upper bound of E(1 + |z|)^degree, z ~ N(0, 1)."""
    return Envelope(arb(1), degree, arb(0), arb(0)).mean()


def rational_upper(x: Ball) -> Fraction:
    """A rational upper bound of a ball."""
    man, exp = x.upper().man_exp()
    return Fraction(int(man)) * Fraction(2) ** int(exp)


@dataclass(frozen=True)
class Line:
    """The argument slope kappa + bias + sqrt(variance) z of a function, exact rational numbers."""

    slope: Fraction
    bias: Fraction
    variance: Fraction

    def scale(self) -> Ball:
        """sqrt(variance) at the current precision."""
        return rational_ball(self.variance).sqrt()

    def argument(self, kappa: Ball) -> Ball:
        """slope kappa + bias."""
        return rational_ball(self.slope) * kappa + rational_ball(self.bias)


def polynomial_growth(growth: Growth | None) -> Bound | None:
    """A growth bound as one in powers of 1 + |x|, None where the function may grow faster."""
    if growth is None or growth.rate > 0 or growth.quadratic > 0:
        return None
    return Bound(rational_ball(growth.constant).upper(), math.ceil(growth.degree))


def average_bound(function: Activation, line: Line, height: Fraction, hermite: int, power: int) -> Bound:
    """A bound of |E[z^j f(w + s z)^l]|, w = slope kappa + bias, for |Im kappa| <= height; j = hermite, l = power.

    Two proofs, the smaller bound is taken. Let |f(x)| <= A (1+|x|)^k on the line, Y = |slope| height, s^2 = variance.

    1. The average is the integral of f(t)^l ((t-w)/s)^j times the density of N(w, s^2) at t, an entire function of w.
       With t = Re w + s z the density is at most e^{Y^2/(2 s^2)} times its value at Im w = 0, and |(t-w)/s| <= |z| +
       Y/s.
    2. Where |f| <= A (1+|Re|)^k on the strip |Im| <= Y, it bounds f(w + s z) directly, and no exponential is needed.

    In both 1 + |x + s z| <= (1+|x|) max(1, s) (1+|z|), and 1 + |slope x + bias| <= (1+|bias|) max(1, |slope|) (1+|x|).
    Raises BallError where f grows faster than a power.
    """
    lift = abs(line.slope) * height
    found: list[Bound] = []
    # Branches of a piecewise function are bounded one by one, so that variance = 0 has a meaning branch by branch.
    if line.variance > 0:
        on_line = polynomial_growth(function.growth)
        if on_line is not None:
            shifted = rational_ball(lift * lift / (2 * line.variance)).exp()
            shifted *= (1 + rational_ball(lift) / line.scale()) ** hermite
            found.append(_spread(on_line, line, hermite, power).scaled(shifted))
    strips = [polynomial_growth(strip_growth(panel.branch, lift)) for panel in function.panels]
    if (line.variance == 0 or len(strips) == 1) and all(bound is not None for bound in strips):
        known = [bound for bound in strips if bound is not None]
        found.append(
            _spread(
                Bound(max((b.constant for b in known), key=float), max(b.degree for b in known)), line, hermite, power
            )
        )
    if not found:
        raise BallError(f"no bound by a power was found for {function} off the real line")
    return min(found, key=lambda bound: (bound.degree, float(bound.constant.log())))


def _spread(bound: Bound, line: Line, hermite: int, power: int) -> Bound:
    """(1+|z|)^hermite A^l (1 + |w + s z|)^(k l) averaged over z, as a bound in kappa."""
    degree = bound.degree * power
    stretch = line.scale().max(arb(1)) if line.variance else arb(1)
    along = (1 + rational_ball(abs(line.bias))) * rational_ball(max(Fraction(1), abs(line.slope)))
    constant = bound.constant**power * (stretch * along) ** degree * mean_power(degree + hermite)
    return Bound(constant.upper(), degree)
