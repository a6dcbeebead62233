"""Enclosures between Chebyshev points against values in mpmath, at points and over intervals."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import acb, arb
from mpmath import mp

from giantsteps.numerics.balls.arithmetic import precision
from giantsteps.numerics.balls.chebyshev import Interpolated, ellipse, interpolated, needed_points, points

LOW, HIGH, RHO = Fraction(1), Fraction(3), Fraction(2)


def function(t: Any) -> Any:
    """sin(t^2)/(1 + t), of a ball: its pole at -1 is outside the ellipse, whose left end is at 3/4."""
    return (t * t).sin() / (1 + t)


def reference(t: Any) -> Any:
    return mp.sin(t * t) / (1 + t)


def built(bits: int, factor: float = 1.0, of: Callable[[Any], Any] = function) -> Interpolated:
    """The interpolation with values known to 2^-bits; `factor` multiplies the bound on the ellipse."""
    bound = max((abs(function(t)).upper() for t in ellipse(LOW, HIGH, RHO, 32)), key=float)
    count = needed_points(float(bound.log()), float(RHO), bits)
    values = [of(t) + arb(0, arb(2) ** -bits) for t in points(LOW, HIGH, count)]
    return interpolated(LOW, HIGH, values, RHO, bound * factor)


def inside(ball: Any, value: Any) -> bool:
    return bool(
        abs(ball - arb(mp.nstr(value, 40))) < ball.rad() + arb(10) ** -30 or ball.contains(arb(mp.nstr(value, 40)))
    )


@pytest.mark.parametrize("bits", [24, 60])
def test_values_and_derivatives_are_enclosed(bits: int) -> None:
    with precision(192), mp.workdps(50):
        found = built(bits)
        assert float(found.errors[0]) < 64 * 2.0**-bits
        for place in np.random.default_rng(0).integers(0, 1025, 12):
            at = LOW + (HIGH - LOW) * int(place) / 1024
            jet = found.over(at, at)
            for order in range(3):
                assert inside(jet[order], mp.diff(reference, mp.mpf(at.numerator) / at.denominator, order))


@pytest.mark.parametrize("rho", [Fraction(9, 8), Fraction(3), Fraction(32)])
@pytest.mark.parametrize("log_bound", [-math.inf, -200.0])
def test_what_is_smaller_than_the_accuracy_has_points_enough_for_its_errors(rho: Fraction, log_bound: float) -> None:
    with precision(64):
        bound = arb(log_bound).exp()
        count = needed_points(log_bound, float(rho), 44)
        errors = interpolated(LOW, HIGH, [arb(0)] * count, rho, bound).errors
        # e^-200 = 1e-87, and T_m'' of at most 136 points is below 136^4 = 3e8.
        assert all(0 <= float(error) < 1e-70 for error in errors)


def test_intervals_hold_their_points() -> None:
    with precision(192):
        found = built(60)
        for a, b in ((LOW, HIGH), (Fraction(5, 4), Fraction(3, 2)), (Fraction(23, 8), HIGH)):
            whole = found.over(a, b)
            for k in range(9):
                at = a + (b - a) * k / 8
                assert all(x.contains(y) or x.overlaps(y) for x, y in zip(whole, found.over(at, at), strict=True))


def test_another_function_is_not_enclosed() -> None:
    # The mutant: values of a function that is 2^-20 larger, with errors of 2^-60.
    with precision(192), mp.workdps(50):
        found = built(60, of=lambda t: function(t) + arb(2) ** -20)
        assert not inside(found.over(Fraction(2), Fraction(2))[0], reference(mp.mpf(2)))


def test_a_bound_far_too_small_does_not_hold() -> None:
    # The mutant: few points, and a bound on the ellipse that is too small by 1e6. The error claimed is broken.
    with precision(192), mp.workdps(50):
        bound = max((abs(function(t)).upper() for t in ellipse(LOW, HIGH, RHO, 32)), key=float)
        values = [function(t) for t in points(LOW, HIGH, 12)]
        right, wrong = (interpolated(LOW, HIGH, values, RHO, bound * factor) for factor in (1, arb(10) ** -6))
        places = [LOW + (HIGH - LOW) * k / 64 for k in range(65)]
        missed = [
            not inside(found.over(at, at)[0], reference(mp.mpf(at.numerator) / at.denominator))
            for found in (right, wrong)
            for at in places
        ]
        assert not any(missed[:65])
        assert any(missed[65:])


def test_too_few_points_are_refused() -> None:
    with precision(192), pytest.raises(ValueError, match="too few"):
        interpolated(LOW, HIGH, [arb(1), arb(2), arb(3)], Fraction(5, 4), arb(1))


def chebyshev(degree: int, x: Any) -> Any:
    """T_degree(x), |x| <= 1."""
    return (degree * x.acos()).cos()


@pytest.mark.parametrize("rho", [8, 40])
@pytest.mark.parametrize("count", [5, 12])
def test_the_bound_is_nearly_reached_by_the_polynomial_that_vanishes_at_all_points(rho: int, count: int) -> None:
    """T_n is zero at the n points: the interpolant is zero and errs by T_n itself, up to 1, n^2 and n^2 (n^2 - 1)/3.

    On the ellipse |T_n| <= (rho^n + rho^-n)/2, which makes the first term of the bound twice that; the others are a
    geometric series of ratio about 1/rho.
    """
    with precision(192):
        size = (arb(rho) ** count + arb(rho) ** -count) / 2
        values = [chebyshev(count, x) for x in points(Fraction(-1), Fraction(1), count)]
        errors = interpolated(Fraction(-1), Fraction(1), values, Fraction(rho), size).errors
    for order, (told, true) in enumerate(
        zip(errors, (1.0, count**2, count**2 * (count**2 - 1) / 3), strict=True)
    ):  # fmt: skip
        share = (1 + 2 / count) ** (2 * order) / rho
        assert true < float(told) < 2.01 * true / (1 - share)


@pytest.mark.parametrize("count", [4, 9, 33])
def test_what_the_values_are_known_to_is_nearly_reached_at_the_ends(count: int) -> None:
    """Values off by delta in the signs of the Lagrange polynomials at 1 move the interpolant there by delta Lambda_n.

    The Lebesgue constant Lambda_n of these points is (2/pi)(log n + 0.963) and a little more.
    """
    with precision(192):
        delta = arb(2) ** -40
        nodes = points(Fraction(-1), Fraction(1), count)
        products = [float(np.prod([float(x - y) for j, y in enumerate(nodes) if j != k])) for k, x in enumerate(nodes)]
        right = interpolated(
            Fraction(-1), Fraction(1), [arb(0) + arb(0, delta) for _ in nodes], Fraction(12), arb(0)
        ).errors  # fmt: skip
        signs = interpolated(Fraction(-1), Fraction(1), [delta * np.sign(p) for p in products], Fraction(12), arb(0))
        moved = float(abs(signs.over(Fraction(1), Fraction(1))[0])) / float(delta)
        # T_{n-1} itself, of size delta at most, has the largest slope and curvature of all such polynomials.
        last = interpolated(
            Fraction(-1), Fraction(1), [delta * chebyshev(count - 1, x) for x in nodes], Fraction(12), arb(0)
        ).over(Fraction(1), Fraction(1))  # fmt: skip
    told = [float(error) / float(delta) for error in right]
    assert 0.85 * told[0] < moved <= told[0]
    for order in (1, 2):
        assert told[order] / told[0] == pytest.approx(float(last[order]) / float(delta), rel=1e-6)


@pytest.mark.parametrize("rho", [Fraction(6, 5), Fraction(4)])
def test_the_arcs_of_an_ellipse_lie_on_it_and_hold_all_of_it(rho: Fraction) -> None:
    # Distances to the ends of the interval, the foci, add up to its length times (rho + 1/rho)/2.
    around = float(HIGH - LOW) * (float(rho) + 1.0 / float(rho)) / 2.0
    arcs = ellipse(LOW, HIGH, rho, 16)
    for arc in arcs:
        middle = complex(arc.mid())
        assert abs(middle - float(LOW)) + abs(middle - float(HIGH)) == pytest.approx(around, rel=1e-2)
    for angle in np.linspace(0.0, math.pi, 65):
        place = (LOW + HIGH) / 2 + float(HIGH - LOW) / 4.0 * (
            float(rho) * np.exp(1j * angle) + np.exp(-1j * angle) / float(rho)
        )
        assert any(arc.contains(acb(place.real, abs(place.imag))) for arc in arcs)
