"""Breakpoints that are known to a ball: what lies between its middle and the true place is in the radius."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from flint import arb
from scipy import integrate

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.balls.integrals import Moment, expectations


def test_a_constant_that_is_no_polynomial_has_no_slope() -> None:
    # Its slope is zero and has no logarithm: the widest step was sought by one, and no number came out.
    function = activation("cosh(97) + 1")
    slope = expectations(function, (Moment(slope=1),), bits=60)[0]
    assert slope.contains(0)
    assert slope.rad() < 1e-15
    mean = expectations(function, (Moment(sigma=1),), bits=60)[0]
    assert mean.overlaps(arb(97).cosh() + 1)


MOMENTS = (
    Moment(sigma=1), Moment(hermite=1, sigma=1), Moment(hermite=2, sigma=1), Moment(sigma=2), Moment(hermite=2),
    Moment(hermite=1, slope=1), Moment(hermite=2, slope=2),
)  # fmt: skip


@pytest.mark.parametrize("mean", [0, Fraction(1, 3)])
@pytest.mark.parametrize(
    ("text", "function", "slope"),
    [
        ("sin(z)", math.sin, math.cos),
        ("cos(z)", math.cos, lambda z: -math.sin(z)),
        ("z**3/4-z+1/8", lambda z: z**3 / 4.0 - z + 0.125, lambda z: 0.75 * z * z - 1.0),
        ("sin(z+1/2)", lambda z: math.sin(z + 0.5), lambda z: math.cos(z + 0.5)),
    ],
)
def test_moments_of_every_kind_are_right_together(
    text: str, function: Callable[[float], float], slope: Callable[[float], float], mean: Fraction
) -> None:
    # Odd, even and neither: what vanishes, what is summed over half the line, and what needs the whole; a polynomial.
    def value(moment: Moment, z: float) -> float:
        x = float(mean) + z
        hermite = (1.0, z, z * z - 1.0)[moment.hermite]
        return float(hermite * function(x) ** moment.sigma * slope(x) ** moment.slope)

    found = expectations(activation(text), MOMENTS, mean=mean, bits=60)
    for moment, ball in zip(MOMENTS, found, strict=True):
        density = integrate.quad(
            lambda z, m=moment: value(m, z) * math.exp(-z * z / 2.0), -12.0, 12.0, epsabs=1e-12, epsrel=1e-12
        )[0]
        # Quadrature to 1e-12, and a tail of e^{-72}.
        assert float(ball.mid()) == pytest.approx(density / math.sqrt(2.0 * math.pi), rel=2e-12, abs=2e-12), moment
        assert float(ball.rad()) < 1e-15
