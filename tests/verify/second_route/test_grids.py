"""The numbers that claims are checked against: grids and derivatives, at values known by other routes."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp

from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.derivations.saddle_point import symbols as s_saddle
from giantsteps.verify.second_route.equivalence.features import derivative
from giantsteps.verify.second_route.gradient_step.steps import spike_moments
from giantsteps.verify.second_route.grids import SMOOTH, average, grid, half_line, hermite_numbers
from giantsteps.verify.second_route.values import by_glyph, by_letter, by_pair, upper

ROUNDING = 1e-13  # a few hundred roundings of 1e-16


def test_gaussian_moments_on_the_line() -> None:
    # E z^2 = 1, E z^4 = 3, E sin(z)^2 = (1 - exp(-2))/2
    assert average(lambda z: z**2) == pytest.approx(1.0, abs=ROUNDING)
    assert average(lambda z: z**4) == pytest.approx(3.0, abs=ROUNDING)
    assert average(lambda z: np.sin(z) ** 2) == pytest.approx((1 - math.exp(-2)) / 2, abs=ROUNDING)


@pytest.mark.parametrize("dimension", [1, 2, 3, 4])
def test_gaussian_moments_on_product_grids(dimension: int) -> None:
    points, weights = grid(dimension)
    # E |x|^2 = n, E |x|^4 = n (n + 2)
    squares = np.sum(points**2, axis=1)
    assert weights @ squares == pytest.approx(dimension, rel=ROUNDING)
    assert weights @ squares**2 == pytest.approx(dimension * (dimension + 2), rel=ROUNDING)


def test_half_line_moments() -> None:
    z, weights = half_line()
    # P(z > 0) = 1/2, E[z; z > 0] = 1/sqrt(2 pi)
    assert weights.sum() == pytest.approx(0.5, abs=ROUNDING)
    assert weights @ z == pytest.approx(1 / math.sqrt(2 * math.pi), abs=ROUNDING)


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives_of_the_functions_are_their_derivatives(name: str) -> None:
    function, z = SMOOTH[name], np.array([-1.3, 0.2, 0.9])
    # a complex step is exact to rounding where the function is analytic
    step = 1e-30j
    assert np.imag(function.value(z + step)) / 1e-30 == pytest.approx(function.prime(z), abs=ROUNDING)
    assert np.imag(function.prime(z + step)) / 1e-30 == pytest.approx(function.second(z), abs=ROUNDING)


def test_cauchy_derivatives() -> None:
    # exp(2 h): derivatives 2 and 4; errors of 1e-16 are divided by the radius squared
    assert derivative(lambda h: complex(np.exp(2 * h)), 1) == pytest.approx(2.0, abs=1e-12)
    assert derivative(lambda h: complex(np.exp(2 * h)), 2) == pytest.approx(4.0, abs=1e-12)


def test_hermite_numbers_of_erf_and_sine() -> None:
    # erf: h1 = 2/sqrt(3 pi), h2 = (2/pi) arcsin(2/3), h1_check = 4/(pi sqrt 5) - 4/(3 pi), by Gaussian integrals;
    # sine: h1* = exp(-1/2)
    numbers = hermite_numbers("erf", "sin")
    assert numbers[s.h1.name] == pytest.approx(2 / math.sqrt(3 * math.pi), abs=ROUNDING)
    assert numbers[s.h2.name] == pytest.approx(2 / math.pi * math.asin(2 / 3), abs=ROUNDING)
    expected = 4 / (math.pi * math.sqrt(5)) - 4 / (3 * math.pi)
    assert numbers[s.h1_check.name] == pytest.approx(expected, abs=ROUNDING)
    assert numbers[s.h1_star.name] == pytest.approx(math.exp(-0.5), abs=ROUNDING)


def test_a_batch_of_one_sample() -> None:
    # one sample: |v~|^2 = y^2 |x|^2; for a sine target in the plane E = E[sin^2 u^2] + E[sin^2]
    measured = spike_moments({"sizes": "1x2", "activation": "sin", "target": "sin"})
    expected = average(lambda z: np.sin(z) ** 2 * z**2) + average(lambda z: np.sin(z) ** 2)
    assert measured[s.v_square_mean.name] == pytest.approx(expected, rel=1e-11)


def test_two_symbols_of_one_glyph_are_an_error() -> None:
    plain, positive = sp.Symbol("B"), sp.Symbol("B", positive=True)
    assert by_glyph({plain: 1.0, sp.Symbol("b"): np.float64(2.0)}) == {"B": 1.0, "b": 2.0}
    with pytest.raises(ValueError, match="two symbols are written B"):
        by_glyph({plain: 1.0, positive: 2.0})


def test_families_are_filled_letter_by_letter_and_pair_by_pair() -> None:
    matrix = np.array([[1.0, 2.0], [2.0, 3.0]])
    assert by_letter({s_saddle.m_of: [4.0, 5.0]}) == {s_saddle.m_of[0]: 4.0, s_saddle.m_of[1]: 5.0}
    assert by_pair({s_saddle.q1_of: matrix}) == upper(s_saddle.q1_of, (1.0, 2.0, 3.0))
    assert by_pair({s_saddle.q1_of: matrix})[s_saddle.q1_of[0][1]] == 2.0
