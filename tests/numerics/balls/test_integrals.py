"""Breakpoints that are known to a ball: what lies between its middle and the true place is in the radius."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from flint import arb
from scipy import integrate

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.balls import integrals
from giantsteps.numerics.balls.integrals import Moment, expectations

PLACE, WIDTH = 0.3, 1e-3


@pytest.mark.parametrize("off", [-0.999, -0.5, 0.0, 0.5, 0.999])
@pytest.mark.parametrize(
    ("text", "height"),
    [
        # Zero on one side: the sliver of the other is all there is.
        ("step(z-3/10)", 1.0),
        ("7*step(3/10-z)", 7.0),
        # Both sides count; which of them the middle puts wrong is not known.
        ("Piecewise((5, z < 3/10), (2, True))", 3.0),
    ],
)
def test_a_sliver_at_a_breakpoint_is_in_the_radius_and_is_no_wider(
    text: str, height: float, off: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = expectations(activation(text), (Moment(sigma=1),), bits=64)[0]

    def blurred(_: Any) -> Any:
        return arb(PLACE + off * WIDTH, WIDTH)

    monkeypatch.setattr(integrals, "location_ball", blurred)
    found = expectations(activation(text), (Moment(sigma=1),), bits=16)[0]
    assert found.contains(right)
    # The middle is off by the height of the jump times the density there: 1e-5 for what 16 bits leave.
    density = math.exp(-PLACE * PLACE / 2.0) / math.sqrt(2.0 * math.pi)
    moved = abs(float(found.mid()) - float(right.mid()))
    assert moved == pytest.approx(height * density * abs(off) * WIDTH, rel=5e-3, abs=1e-5)
    # The radius is that of the slivers of both branches, their heights added up.
    both = {1.0: 1.0, 7.0: 7.0, 3.0: 7.0}[height]
    assert float(found.rad()) == pytest.approx(both * density * WIDTH, rel=5e-3, abs=1e-5)


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
