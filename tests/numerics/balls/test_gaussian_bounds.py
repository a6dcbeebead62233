"""Bounds of functions at an argument mean + scale z, by functions that reach them."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from flint import arb
from scipy import integrate

from giantsteps.derivations.activations.growth import Growth
from giantsteps.numerics.balls.arithmetic import precision, rational_ball
from giantsteps.numerics.balls.gaussian_bounds import Envelope, cut_off, envelope


def log_of(bound: Growth | Envelope, x: float) -> float:
    """The logarithm of A (1+|x|)^k exp(a |x| + q x^2)."""
    constant, rate, quadratic = (float(part) for part in (bound.constant, bound.rate, bound.quadratic))
    return math.log(constant) + float(bound.degree) * math.log1p(abs(x)) + rate * abs(x) + quadratic * x * x


BOUNDS = {
    "constant": Growth(Fraction(5)),
    "cube": Growth(Fraction(2), Fraction(3)),
    "exponential": Growth(Fraction(1), rate=Fraction(3, 2)),
    "gaussian": Growth(Fraction(1), quadratic=Fraction(1, 8)),
    "all": Growth(Fraction(1, 3), Fraction(2), Fraction(1, 2), Fraction(1, 16)),
}


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("scale", [0.25, 1.0, 6.0])
@pytest.mark.parametrize("mean", [-3.0, 0.0, 2.0])
def test_a_bound_at_a_moved_and_stretched_argument_holds_and_is_reached(name: str, mean: float, scale: float) -> None:
    bound = BOUNDS[name]
    with precision(80):
        moved = envelope(bound, arb(mean), arb(scale))
        gaps = [
            log_of(moved, z) - log_of(bound, mean + scale * z) for z in (-1e4, -40.0, -1.0, 0.0, 0.1, 3.0, 40.0, 1e4)
        ]
    # Logarithms of up to 1e9 in doubles: 1e-7 of rounding.
    assert all(gap > -1e-6 for gap in gaps)
    # All but the power of 1 + |x| is exact where mean and z have one sign; the power is at an end of the line or at
    # zero, where the mean is zero or the scale one.
    if bound.degree == 0 or mean == 0.0 or scale == 1.0:
        assert min(gaps) < 1e-2 + 0.1 * (bound.degree > 0)


ENVELOPES = (
    Envelope(arb(1)),
    Envelope(arb(3), 4),
    Envelope(arb(1), 0, arb(2)),
    Envelope(arb(1), 2, arb(1), arb(1) / 8),
    Envelope(arb(1), 0, arb(0), arb(1) / 3),
)


def beyond(bound: Envelope, end: float) -> float:
    """E[bound; |z| > end], by quadrature."""

    def value(z: float) -> float:
        return math.exp(log_of(bound, z) - z * z / 2.0) * 2.0 / math.sqrt(2.0 * math.pi)

    return float(integrate.quad(value, end, end + 60.0, epsabs=0.0, epsrel=1e-9, limit=200)[0])


@pytest.mark.parametrize("bound", ENVELOPES, ids=str)
def test_tails_and_means_of_bounds_are_bounded(bound: Envelope) -> None:
    assert bound.integrable()
    assert float(bound.mean()) >= beyond(bound, 0.0) * (1.0 - 1e-8)
    for end in (12.0, 20.0):
        found, least = float(bound.tail(arb(end))), beyond(bound, end)
        # What falls off like exp(-s z) instead of faster is more by about 1/s^2, here by less than 1/20.
        assert least <= found <= 1.05 * least
    place = cut_off([bound, ENVELOPES[0]], 40)
    assert bound.tail(rational_ball(place)) < arb(2) ** -40


def test_an_end_that_is_too_near_has_no_tail_and_half_a_square_no_mean() -> None:
    bound = Envelope(arb(1), 3, arb(4))
    # The logarithm of the bound and the density falls from s(z) = z - 4 - 3/(1 + z) > 0 on, z = 4.56.
    assert not bound.tail(arb(4.5)).is_finite()
    assert bound.tail(arb(4.6)).is_finite()
    for quadratic, finite in ((0.49, True), (0.5, False), (0.75, False)):
        square = Envelope(arb(1), 0, arb(0), arb(quadratic))
        assert square.integrable() is finite
        assert bool(square.mean().is_finite()) is finite
