"""Derivatives of Gaussian averages in ball arithmetic: h_n(w) = d^n/dw^n E f(w + s z) = E[He_n(z) f(w + s z)]/s^n.

mu0 = h_0, mu1 = h_1 and d mu0/dc = h_2/2 (the heat equation) at w = r kappa + bias, s^2 = c. Two kinds of f: analytic
in a strip, by the trapezoidal rule in u = w + s z on one grid that all w and s share; polynomials between rational
breakpoints, by closed forms in erfc. Bounds off the real line serve the rules in kappa and the interpolation in t.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, repeat
from operator import mul
from typing import Any

from flint import arb, arb_mat

from onestep.derivations.activations.activation import Activation
from onestep.derivations.activations.strip_growth import strip_growth
from onestep.numerics.balls.arithmetic import BallError, Program, program, rational_ball
from onestep.numerics.balls.averages import Smoothing, polynomial_smoothing
from onestep.numerics.balls.gaussian_bounds import Envelope, involutions
from onestep.numerics.balls.growth_bounds import Bound, mean_power, polynomial_growth, rational_upper

Ball = Any
Column = tuple[Ball, Ball, Ball]

ORDERS = (0, 1, 2)
_HEIGHTS = tuple(Fraction(n, 64) for n in (1024, 512, 256, 192, 128, 96, 72, 56, 44, 32, 24, 16, 12, 8, 4))
_MOST_NODES = 20_000


@dataclass
class Smoother:
    """h_0, h_1, h_2 of one function with errors of about 2**-bits, at the precision it was made for."""

    function: Activation
    bits: int
    _grids: dict[Fraction, _Grid] = field(default_factory=dict)

    def at(self, places: Sequence[Ball], scale: Ball) -> list[Column]:
        """(h_0, h_1, h_2) at each place w, for one scale s > 0. Raises BallError for functions of neither kind."""
        closed = polynomial_smoothing(self.function, scale)
        if closed is not None:
            return [_column(closed, place, scale) for place in places]
        if len(self.function.panels) > 1:
            raise BallError(
                f"{self.function} has breakpoints and is not a polynomial with rational coefficients between them"
            )
        return self._by_rule(places, scale)

    def _by_rule(self, places: Sequence[Ball], scale: Ball) -> list[Column]:
        """With u = (i + j) h around each w: sums of f(u) j^k beta^j gamma_j, beta and gamma the factors of the law."""
        size = max((abs(place).upper() for place in places), key=float)
        step, height, bound = self._step(scale, size)
        h = rational_ball(step)
        half, errors = _window(bound, height, h, scale, size, self.bits)
        grid = self._grids.setdefault(step, _Grid(program(self.function.panels[0].branch), step))
        variance = scale * scale
        rows, offsets = [], []
        for place in places:
            centre = round(float(place.mid() / h))
            offset = centre * h - place
            beta = (-offset * h / variance).exp()
            right = list(accumulate(repeat(beta, half), mul))
            left = list(accumulate(repeat(1 / beta, half), mul))
            values = grid.around(centre, half)
            rows.append(list(map(mul, [*reversed(left), arb(1), *right], values)))
            offsets.append(offset)
        common = [(-(j * h) * (j * h) / (2 * variance)).exp() for j in range(-half, half + 1)]
        powers = arb_mat([[g, g * j, g * j * j] for g, j in zip(common, range(-half, half + 1), strict=True)])
        sums = arb_mat(rows) * powers
        unit = h / (scale * (2 * arb.pi()).sqrt())
        found = []
        for i, offset in enumerate(offsets):
            weight = unit * (-(offset * offset) / (2 * variance)).exp()
            plain, first, second = (weight * sums[i, k] for k in range(3))
            # u - w = offset + j h
            shifted = offset * plain + h * first
            squared = offset * offset * plain + 2 * offset * h * first + h * h * second
            column = (plain, shifted / variance, (squared / variance - plain) / variance)
            mean, slope, bend = (value + error for value, error in zip(column, errors, strict=True))
            found.append((mean, slope, bend))
        return found

    def _step(self, scale: Ball, size: Ball) -> tuple[Fraction, Fraction, Bound]:
        """The widest step of a fixed ladder whose error meets the goal, the height of its proof and the bound there."""
        best: tuple[float, Fraction, Bound] | None = None
        low = scale.lower()
        for height in _HEIGHTS:
            y = rational_ball(height) / low
            if y > 16:
                continue
            bound = _growth_at(self.function, height)
            if bound is None:
                continue
            # the largest of the three orders: e^{y^2/2} (1+y)^2/s^2 A ((1+|w|) max(1, s))^k
            constant = (y * y / 2).exp() * bound.constant * ((1 + size) * scale.upper().max(arb(1))) ** bound.degree
            constant *= mean_power(bound.degree + 2) * 2 * (1 + y) ** 2 / low.min(arb(1)) ** 2
            needed = float(constant.upper().log()) + (self.bits + 4) * math.log(2)
            step = 2 * math.pi * float(height) / needed
            if best is None or step > best[0]:
                best = step, height, bound
        if best is None:
            raise BallError(f"no bound by a power was found for {self.function} in a strip")
        return _laddered(best[0]), best[1], best[2]


@dataclass
class _Grid:
    """f(i h) for a growing range of i around 0."""

    code: Program
    step: Fraction
    _reach: int = -1
    _values: list[Ball] = field(default_factory=list)

    def around(self, centre: int, half: int) -> list[Ball]:
        """f(i h) for |i - centre| <= half."""
        if abs(centre) + half > self._reach:
            self._extend(abs(centre) + 2 * half)
        start = centre - half + self._reach
        return self._values[start : start + 2 * half + 1]

    def _extend(self, reach: int) -> None:
        h = rational_ball(self.step)
        right = [self.code.run(i * h)[0] for i in range(self._reach + 1, reach + 1)]
        left = [self.code.run(-i * h)[0] for i in range(max(1, self._reach + 1), reach + 1)]
        self._values = [*reversed(left), *self._values, *right]
        self._reach = reach


def _laddered(step: float) -> Fraction:
    """Rounded down to 1, 5/4, 3/2 or 7/4 times a power of two, so that few grids are met."""
    mantissa, exponent = math.frexp(step)
    return Fraction(math.floor(8 * mantissa), 8) * Fraction(2) ** exponent


def _window(
    bound: Bound, height: Fraction, h: Ball, scale: Ball, size: Ball, bits: int
) -> tuple[int, tuple[Ball, Ball, Ball]]:
    """Nodes to either side of w, and balls around zero with the errors of h_0, h_1, h_2.

    In z the integrand is He_n(z) f(w + s z) phi(z)/s^n, f bounded by A (1+|Re|)^k on |Im| <= height = s y: the rule of
    step h/s errs by 2 M/(e^{2 pi height/h} - 1), M = e^{y^2/2} I_n (1+y)^n A ((1+|w|) max(1, s))^k E(1+|z|)^{n+k}/s^n;
    the nodes left out are bounded by a tail.
    """
    low = scale.lower()
    y = rational_ball(height) / low
    common = bound.constant * ((1 + size) * scale.upper().max(arb(1))) ** bound.degree
    factor = 2 * (y * y / 2).exp() / ((2 * arb.pi() * rational_ball(height) / h).exp() - 1)
    tails = [Envelope((common * involutions(n) / low**n).upper(), bound.degree + n, arb(0), arb(0)) for n in ORDERS]
    goal = arb(2) ** -(bits + 2)
    end = math.sqrt(2 * math.log(2) * bits)
    while not all(tail.tail(arb(end)) < goal for tail in tails):
        end += 0.25
        if end > 200:
            raise BallError("the rule across the spike could not be cut off")
    # offsets from the nearest node of the grid are at most h
    half = math.ceil(end * float(scale.upper()) / float(h)) + 2
    if 2 * half > _MOST_NODES:
        raise BallError(f"the rule across the spike would need {2 * half} nodes")
    found = []
    for n, tail in zip(ORDERS, tails, strict=True):
        across = factor * common * involutions(n) * (1 + y) ** n * mean_power(bound.degree + n) / low**n
        found.append(arb(0, (across + tail.tail(arb(end))).upper()))
    return half, (found[0], found[1], found[2])


def _column(closed: Smoothing, place: Ball, scale: Ball) -> Column:
    found = closed.at(place, (arb(0), arb(0)))
    return found.mean, found.first / scale, (found.second - found.mean) / (scale * scale)


@lru_cache(maxsize=1024)
def _growth_at(function: Activation, height: Fraction) -> Bound | None:
    """A bound of f on the strip |Im| <= height; on the line where height = 0, whatever the breakpoints."""
    if height == 0:
        return polynomial_growth(function.growth)
    if len(function.panels) > 1:
        return None
    return polynomial_growth(strip_growth(function.panels[0].branch, Fraction(math.ceil(height * 64), 64)))


def strip_bound(
    function: Activation, slope: Ball, bias: Fraction, scale: Ball, height: Fraction, order: int
) -> Bound | None:
    """A bound of h_order(slope kappa + bias) on |Im kappa| <= height; None where none is known.

    With |f(x)| <= A (1+|x|)^k on the line, Y = |slope| height, and |He_n(z)| <= I_n (1+|z|)^n: the Gaussian law moves
    into the density, |h_n| <= e^{Y^2/(2 s^2)} (1 + Y/s)^n I_n A E[(1+|z|)^n (1+|w+sz|)^k]/s^n; or f itself is bounded
    on the strip |Im| <= Y and the factors with Y fall away. In both 1 + |slope x + bias + s z| <= (1+|bias|) (1+|x|)
    max(1, |slope|) max(1, s) (1+|z|). The smaller constant is taken.
    """
    lift = rational_upper(abs(slope)) * height
    low = scale.lower()
    stretch = (1 + rational_ball(abs(bias))) * abs(slope).upper().max(arb(1)) * scale.upper().max(arb(1))
    found: list[Bound] = []
    for moved, growth in ((True, _growth_at(function, Fraction(0))), (False, _growth_at(function, lift))):
        if growth is None:
            continue
        y = rational_ball(lift)
        factor = (y * y / (2 * low * low)).exp() * (1 + y / low) ** order if moved else arb(1)
        constant = factor * involutions(order) * growth.constant * stretch**growth.degree
        constant *= mean_power(growth.degree + order) / low**order
        found.append(Bound(constant.upper(), growth.degree))
    return min(found, key=lambda bound: float(bound.constant.log()), default=None)


@dataclass(frozen=True)
class Size:
    """|F(x)| <= constant (1+|x|)^degree e^{quadratic x^2} at real x, the constant and the rate as upper bounds."""

    constant: Ball
    degree: int
    quadratic: Ball

    def __mul__(self, other: Size) -> Size:
        return Size(
            (self.constant * other.constant).upper(),
            self.degree + other.degree,
            (self.quadratic + other.quadratic).upper(),
        )

    def __add__(self, other: Size) -> Size:
        return Size(
            (self.constant + other.constant).upper(),
            max(self.degree, other.degree),
            self.quadratic.max(other.quadratic),
        )

    def scaled(self, factor: Ball, power: int = 0) -> Size:
        """The size of factor x^power F."""
        return Size((self.constant * abs(factor)).upper(), self.degree + power, self.quadratic)

    def mean(self) -> Ball:
        """An upper bound of E|F(x)|, x ~ N(0, 1), or infinity."""
        if not self.quadratic < arb(1) / 2:
            return arb.pos_inf()
        return Envelope(self.constant, self.degree, arb(0), self.quadratic).mean()


def complex_size(function: Activation, r: Ball, bias: Fraction, c: Ball, order: int) -> Size | None:
    """A bound of |h_order(r x + bias; c)| at real x for complex r and c; None unless Re c > 0.

    The density of N(w, c) at complex w = x' + iy, c has modulus sqrt(theta) e^{y^2/(2 Re c)}, theta = |c|/Re c, times
    that of N(x' + y Im c/Re c, theta |c|). With u = that mean + sqrt(theta |c|) z, |f(u)| <= A (1+|u|)^k and
    |u - w| <= theta |y| + sqrt(theta |c|) |z|,

        |h_n| <= theta^{(n+1)/2} e^{y^2/(2 Re c)} |c|^{-n/2} I_n (1 + |y|/sqrt(Re c))^n
                 A ((1+|x'|+theta|y|) max(1, sqrt(theta |c|)))^k E(1+|z|)^{n+k},

    x' = Re r x + bias, y = Im r x.
    """
    growth = _growth_at(function, Fraction(0))
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
    return Size(constant.upper(), n + k, (tall * tall / (2 * real)).upper())
