"""The coefficients of `numerics.gaussian.coefficients` at any precision, in mpmath.

The rules are chosen as in double precision (trapezoid when analytic, panels between exact breakpoints otherwise) and
doubled until two successive values agree to the digits asked for. That is a check, not a bound: enclosures are the
business of ball arithmetic.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from mpmath import mp, mpf

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.expressions.parser import derivative
from giantsteps.numerics.balls.arithmetic import PrecisionError
from giantsteps.numerics.gaussian.evaluate import evaluate_mpmath
from giantsteps.numerics.gaussian.quadrature import integrand

# mpmath carries no types: an mpf is Any to the checker.
Real = Any

GUARD_DIGITS = 12
_MOST_DOUBLINGS = 6


class MomentsMp(NamedTuple):
    """E f, E z f, E f^2, E(f - E f - z E z f)^2, E (z^2 - 1) f for z ~ N(0, 1), with f at shift + scale z."""

    mean: Real
    slope: Real
    square: Real
    rest: Real
    curvature: Real


@dataclass(frozen=True)
class _Function:
    values: Callable[[Real], Real]
    breakpoints: tuple[Real, ...]
    strip: float
    degree: float
    rate: float
    quadratic: float
    splits: tuple[float, ...] | None
    rough: bool
    near: frozenset[float]


def gaussian_moments_mp(activation: Activation, shift: Real, scale: Real, digits: int) -> MomentsMp:
    """The five moments of f(shift + scale z), z ~ N(0, 1), each to about `digits` significant digits of its scale.

    Raises PrecisionError when doubling the rule keeps changing them.
    """
    with mp.workdps(digits + GUARD_DIGITS):
        function = _function(activation, lambda x: evaluate_mpmath(activation.expression, x))
        return _moments(function, shift, scale, digits)


def conditional_coefficients_mp(
    activation: Activation, spike: Real, bulk: Real, bias: Real, kappa: Real, digits: int
) -> tuple[Real, Real, Real]:
    """mu0, mu1, mu2 at one kappa, equation (15)."""
    with mp.workdps(digits + GUARD_DIGITS):
        scale = mp.sqrt(_real(bulk))
        moments = gaussian_moments_mp(activation, _real(spike) * _real(kappa) + _real(bias), scale, digits)
        return moments.mean, moments.slope / scale, mp.sqrt(moments.rest)


def target_moments_mp(target: Activation, alignment: Real, kappa: Real, digits: int) -> tuple[Real, Real, Real]:
    """y0, y1, y2 at one kappa, without label noise."""
    with mp.workdps(digits + GUARD_DIGITS):
        gamma = _real(alignment)
        scale = mp.sqrt((1 - gamma) * (1 + gamma))
        moments = gaussian_moments_mp(target, gamma * _real(kappa), scale, digits)
        return moments.mean, moments.slope, moments.square


class HermiteConstantsMp(NamedTuple):
    """The constants of equation (12) with E f and E[(z^2 - 1) f]."""

    mean: Real
    h1: Real
    h2: Real
    curvature: Real
    h1_check: Real


def hermite_constants_mp(activation: Activation, digits: int) -> HermiteConstantsMp:
    """E f, h1, h2, E[(z^2 - 1) f], E[(f' - h1)^2]; the last is infinite when f jumps."""
    with mp.workdps(digits + GUARD_DIGITS):
        moments = gaussian_moments_mp(activation, mpf(0), mpf(1), digits)
        if any(point.jump for point in activation.breakpoints):
            check = mp.inf
        else:
            slope = derivative(activation.expression)
            function = _function(activation, lambda x: evaluate_mpmath(slope, x))
            of_slope = _moments(function, mpf(0), mpf(1), digits)
            check = of_slope.rest + of_slope.slope**2 + (of_slope.mean - moments.slope) ** 2
        return HermiteConstantsMp(moments.mean, moments.slope, moments.square, moments.curvature, check)


def _real(x: Real) -> Real:
    return mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else mpf(x)


def _function(activation: Activation, values: Callable[[Real], Real]) -> _Function:
    double = integrand(activation)
    bits = mp.prec + 16
    points = []
    for point in activation.breakpoints:
        low, high = point.enclosure(bits)
        points.append(_real((low + high) / 2))
    return _Function(
        values, tuple(points), double.strip, double.degree, double.rate, double.quadratic,
        double.splits, double.rough, frozenset(double.breakpoints),
    )  # fmt: skip


def _moments(function: _Function, shift: Real, scale: Real, digits: int) -> MomentsMp:
    shift, scale = _real(shift), _real(scale)
    if scale == 0:
        value = function.values(shift)
        return MomentsMp(value, mpf(0), value * value, mpf(0), mpf(0))
    goal = mpf(10) ** -digits
    rule = _trapezoid if function.splits is None else _panels
    coarse = _sums(function, shift, scale, rule(function, shift, scale, 0))
    for level in range(1, _MOST_DOUBLINGS + 1):
        fine = _sums(function, shift, scale, rule(function, shift, scale, level))
        unit = mp.sqrt(fine.square)
        units = (unit, unit, fine.square, fine.square, unit)
        if all(abs(a - b) <= goal * size for a, b, size in zip(coarse, fine, units, strict=True)):
            return fine
        coarse = fine
    raise PrecisionError(f"{digits} digits were not reached for the Gaussian moments at {mp.nstr(shift, 8)}")


def _sums(function: _Function, shift: Real, scale: Real, rule: list[tuple[Real, Real]]) -> MomentsMp:
    sampled = [(z, weight, function.values(shift + scale * z)) for z, weight in rule]
    mean = mp.fsum(w * f for _, w, f in sampled)
    slope = mp.fsum(w * z * f for z, w, f in sampled)
    square = mp.fsum(w * f * f for _, w, f in sampled)
    rest = mp.fsum(w * (f - mean - slope * z) ** 2 for z, w, f in sampled)
    curvature = mp.fsum(w * (z * z - 1) * (f - mean) for z, w, f in sampled)
    return MomentsMp(mean, slope, square, rest, curvature)


def _length(function: _Function, shift: Real, scale: Real) -> Real:
    """Half length of the line of z beyond which the integrands are under the working precision."""
    dropped = mp.dps * mp.log(10)
    length = mp.sqrt(2 * dropped)
    for _ in range(4):
        length = mp.sqrt(2 * (dropped + 2 * function.degree * mp.log(length + 1)))
    curvature = 1 - 4 * function.quadratic * scale**2
    if curvature <= 0:
        raise PrecisionError("the second moment of the function is infinite")
    centre = (2 * function.rate * scale + 4 * function.quadratic * scale * abs(shift)) / curvature
    return length / mp.sqrt(curvature) + centre


def _weight(z: Real) -> Real:
    return mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi)


def _trapezoid(function: _Function, shift: Real, scale: Real, level: int) -> list[tuple[Real, Real]]:
    accurate = mp.dps * mp.log(10)
    height = min(mpf(0.95 * function.strip) / scale, mp.sqrt(2 * accurate))
    # Half the accuracy at level 0: the error is squared by each halving of the step.
    h = 2 * mp.pi * height / (accurate / 2 + height**2 / 2) / 2**level
    count = int(mp.ceil(_length(function, shift, scale) / h))
    return [(j * h, h * _weight(j * h)) for j in range(-count, count + 1)]


def _panels(function: _Function, shift: Real, scale: Real, level: int) -> list[tuple[Real, Real]]:
    length = _length(function, shift, scale)
    panels = int(mp.ceil(length)) * 2**level
    edges = {2 * length * mpf(j) / panels - length for j in range(panels + 1)}
    if not function.rough:
        # Steep places found in double precision; where they lie exactly does not matter.
        steep = [(mpf(place) - shift) / scale for place in function.splits or () if place not in function.near]
        edges |= {place for place in steep if abs(place) < length}
    for point in function.breakpoints:
        crossing = (point - shift) / scale
        # A root at a breakpoint: panels that shrink geometrically towards it, down to the working precision.
        flanks = [mpf(0)]
        if function.rough:
            for j in range(int(1.2 * mp.prec)):
                flanks += [mpf(2) ** -j, -(mpf(2) ** -j)]
        edges |= {crossing + flank for flank in flanks if abs(crossing + flank) < length}
    ordered = sorted(edges)
    nodes = gauss_legendre_mp(8 + mp.dps * 2 // 3, mp.prec)
    rule = []
    for left, right in itertools.pairwise(ordered):
        half = (right - left) / 2
        for node, weight in nodes:
            z = left + half * (1 + node)
            rule.append((z, half * weight * _weight(z)))
    return rule


@lru_cache(maxsize=16)
def gauss_legendre_mp(order: int, precision: int) -> tuple[tuple[Real, Real], ...]:
    """Nodes and weights of the Gauss-Legendre rule on [-1, 1] at a binary precision, by Newton's method."""
    with mp.workprec(precision + 16):
        rule = []
        for i in range(order):
            x = mp.cos(mp.pi * (4 * i + 3) / (4 * order + 2))
            for _ in range(4 + precision.bit_length()):
                value, slope = _legendre(order, x)
                change = value / slope
                x -= change
                if abs(change) <= mpf(2) ** -(precision + 8):
                    break
            slope = _legendre(order, x)[1]
            rule.append((x, 2 / ((1 - x * x) * slope * slope)))
        return tuple(rule)


def _legendre(order: int, x: Real) -> tuple[Real, Real]:
    """P_n(x) and P_n'(x) by the three-term recurrence."""
    previous, value = mpf(1), x
    for n in range(2, order + 1):
        previous, value = value, ((2 * n - 1) * x * value - (n - 1) * previous) / n
    return value, order * (x * value - previous) / (x * x - 1)
