"""E f, its derivative and E f^2 at any precision, against the rules of `coefficients_mp`, which are others."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb
from mpmath import mp

from onestep.derivations.activations.activation import activation
from onestep.numerics.balls.arithmetic import PrecisionError, precision
from onestep.numerics.balls.averages_mp import averages
from tests.references.coefficients_mp import gaussian_moments_mp


@pytest.mark.parametrize("name", ["tanh", "erf", "sin(2*z)", "sign", "relu", "hardtanh", "he3", "abs(z - 1/3)"])
@pytest.mark.parametrize("variance", [Fraction(1, 16), Fraction(9, 4)])
def test_another_quadrature_agrees(name: str, variance: Fraction) -> None:
    function = activation(name)
    with precision(150):
        at = averages(function, variance)
        found = [at(arb(x)) for x in (-1.5, 0.0, 0.375)]
    scale = mp.mpf(variance.numerator) / variance.denominator
    with mp.workdps(40):
        scale = mp.sqrt(scale)
        for x, average in zip((-1.5, 0.0, 0.375), found, strict=True):
            expected = gaussian_moments_mp(function, mp.mpf(x), scale, 28)
            values = [mp.make_mpf(value._mpf_) for value in average]
            # Stein: the derivative is E z f/s.
            for value, exact in zip(values, (expected.mean, expected.slope / scale, expected.square), strict=True):
                assert abs(value - exact) < mp.mpf(10) ** -26 * (1 + abs(exact))


def test_no_variance_is_the_function_itself() -> None:
    with precision(100):
        assert averages(activation("relu"), Fraction(0))(arb(-2)) == (0, 0, 0)
        assert averages(activation("relu"), Fraction(0))(arb(2)) == (2, 0, 4)


def test_what_is_neither_analytic_nor_piecewise_polynomial_is_refused() -> None:
    with precision(100), pytest.raises(PrecisionError, match="breakpoints"):
        averages(activation("elu(z)"), Fraction(1))


@pytest.mark.parametrize("power", [20, 60])
def test_a_small_function_has_its_digits(power: int) -> None:
    # E f and its derivative are those of 10^power f over 10^power, to the precision of the larger function.
    with precision(150):
        small, large = (
            averages(activation(text), Fraction(1))(arb(0.375)) for text in (f"tanh(z)/10**{power}", "tanh(z)")
        )
        size = arb(10) ** power
        for value, exact in zip(small, (large.mean / size, large.slope / size, large.square / size**2), strict=True):
            assert abs(value / exact - 1) < arb(10) ** -40
