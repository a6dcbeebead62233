"""Gaussian expectations against closed forms, with kinks, jumps, layers, roots, oscillation and growth."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import erf

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.gaussian.quadrature import (
    NARROW_LAYER,
    Rule,
    conditional_moments,
    doublings,
    integrand,
)
from giantsteps.numerics.gaussian.spike_rule import Layer, spike_rule

SHIFTS = np.array([-6.0, -1.3, -0.2, 0.0, 0.7, 2.5, 9.0])
# Sums of a few hundred rounded terms of order one: 1e-14 is a hundred units in the last place.
ROUNDING = 1e-14


def _normal(x: np.ndarray) -> np.ndarray:
    return np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


@pytest.mark.parametrize("scale", [0.05, 0.7, 1.0, 3.0])
def test_sign_in_closed_form(scale: float) -> None:
    moments = conditional_moments(integrand(activation("sign")), SHIFTS, scale)
    mean, slope = erf(SHIFTS / (scale * math.sqrt(2))), 2 * _normal(SHIFTS / scale)
    assert moments.mean == pytest.approx(mean, abs=ROUNDING)
    assert moments.slope == pytest.approx(slope, abs=ROUNDING)
    assert moments.square == pytest.approx(np.ones(7), abs=ROUNDING)
    assert moments.rest == pytest.approx(1 - mean**2 - slope**2, abs=ROUNDING)
    # E[(z^2 - 1) sign(a + s z)] = -2 (a/s) phi(a/s), by integrating twice.
    assert moments.curvature == pytest.approx(-2 * SHIFTS / scale * _normal(SHIFTS / scale), abs=10 * ROUNDING)


@pytest.mark.parametrize("scale", [0.05, 0.7, 1.0, 3.0])
def test_relu_in_closed_form(scale: float) -> None:
    moments = conditional_moments(integrand(activation("relu")), SHIFTS, scale)
    positive, edge = 0.5 * (1 + erf(SHIFTS / (scale * math.sqrt(2)))), _normal(SHIFTS / scale)
    size = 1 + SHIFTS**2 + scale**2
    assert np.all(np.abs(moments.mean - (SHIFTS * positive + scale * edge)) < ROUNDING * size)
    assert np.all(np.abs(moments.slope - scale * positive) < ROUNDING * size)
    square = (SHIFTS**2 + scale**2) * positive + SHIFTS * scale * edge
    assert np.all(np.abs(moments.square - square) < ROUNDING * size)


@pytest.mark.parametrize(
    "text", ["tanh", "hardtanh", "atan", "softplus", "gelu", "Piecewise((tanh(9*z), z > 1/3), (z, True))"]
)
@pytest.mark.parametrize("scale", [0.3, 1.4])
def test_against_adaptive_quadrature_split_at_the_breakpoints(text: str, scale: float) -> None:
    function = integrand(activation(text))
    shift = 0.4
    moments = conditional_moments(function, np.array([shift]), scale)
    points = [(b - shift) / scale for b in function.breakpoints]
    edges = sorted([-9.0, -3.0, 0.0, 3.0, 9.0, *points])

    def average(power: int, order: int) -> float:
        def value(z: float) -> float:
            f = float(function.values(np.array([shift + scale * z]))[0])
            return f**order * z**power * math.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)

        parts = [quad(value, a, b, epsabs=1e-14, epsrel=1e-13, limit=200)[0] for a, b in itertools.pairwise(edges)]
        return math.fsum(parts)

    # QUADPACK is asked for 1e-13 and reaches it on analytic pieces.
    assert moments.mean[0] == pytest.approx(average(0, 1), abs=1e-12)
    assert moments.slope[0] == pytest.approx(average(1, 1), abs=1e-12)
    assert moments.square[0] == pytest.approx(average(0, 2), abs=1e-12)


@pytest.mark.parametrize(("text", "order"), [("z", 1), ("z**3 - 3*z", 3), ("he(6, z)", 6), ("he(10, z)", 10)])
def test_hermite_polynomials_are_orthogonal_to_rounding(text: str, order: int) -> None:
    moments = conditional_moments(integrand(activation(text)), np.zeros(1), 1.0)
    norm = float(math.factorial(order))
    assert moments.square[0] == pytest.approx(norm, rel=1e-13)
    assert moments.mean[0] == pytest.approx(0.0, abs=1e-13 * math.sqrt(norm))
    assert moments.slope[0] == pytest.approx(float(order == 1), abs=1e-13 * math.sqrt(norm))
    # E(f - E f - z E z f)^2 of a linear function is the square of rounding errors, not their size.
    assert moments.rest[0] == pytest.approx(0.0 if order == 1 else norm, rel=1e-13, abs=1e-28)


def test_the_variance_left_keeps_its_digits_where_an_activation_saturates() -> None:
    # tanh x = 1 - 2 e^{-2x} + O(e^{-4x}): E(f - E f - z E z f)^2 = 4 e^{-4a} (e^{8 s^2} - e^{4 s^2} (1 + 4 s^2)).
    # As a difference of moments of order 1 this would have no digit right at a = 9, where it is 1e-13. The next term
    # of the expansion is smaller by e^{-2a + 6 s^2} = 1e-7.
    a, s = 9.0, 0.5
    moments = conditional_moments(integrand(activation("tanh")), np.array([a]), s)
    expected = 4 * math.exp(-4 * a) * (math.exp(8 * s * s) - math.exp(4 * s * s) * (1 + 4 * s * s))
    assert moments.rest[0] == pytest.approx(expected, rel=1e-5)


def test_exponential_and_gaussian_growth_in_closed_form() -> None:
    # E exp(a + s z) = exp(a + s^2/2), E exp(2 x) = exp(2 a + 2 s^2).
    moments = conditional_moments(integrand(activation("exp(z)")), SHIFTS, 1.5)
    assert moments.mean == pytest.approx(np.exp(SHIFTS + 1.125), rel=1e-13)
    assert moments.square == pytest.approx(np.exp(2 * SHIFTS + 4.5), rel=1e-13)
    # E exp(q x^2) with x ~ N(a, s^2) is exp(q a^2/(1 - 2 q s^2))/sqrt(1 - 2 q s^2); q = 1/8 and 1/4 (the square).
    steep = conditional_moments(integrand(activation("exp(z**2/8)")), SHIFTS, 1.1)
    for values, q in ((steep.mean, 0.125), (steep.square, 0.25)):
        left = 1 - 2 * q * 1.21
        assert values == pytest.approx(np.exp(q * SHIFTS**2 / left) / math.sqrt(left), rel=1e-12)


def test_a_narrow_entire_function_is_noticed() -> None:
    # exp(-60 z^2) is entire: nothing but doubling the rule shows that the first step is too wide.
    function = integrand(activation("exp(-60*z**2)"))
    assert function.splits is None
    assert doublings(function, -1.0, 1.0, 1.0)[0] > 0
    moments = conditional_moments(function, np.zeros(1), 1.0)
    assert moments.mean[0] == pytest.approx(1 / math.sqrt(121), rel=1e-13)
    assert moments.square[0] == pytest.approx(1 / math.sqrt(241), rel=1e-13)


@pytest.mark.parametrize("text", ["tanh(1000*z)", "tanh(1000*z - 300)", "sqrt(z**2 + 1/10**8)", "sigmoid(400*z)"])
def test_steep_analytic_functions_get_panels(text: str) -> None:
    function = integrand(activation(text))
    assert function.splits is not None
    assert not function.breakpoints
    shift = np.array([0.31, -1.0])
    moments = conditional_moments(function, shift, 0.8)
    for i in range(2):
        edges = sorted({-9.0, 9.0} | {float((x - shift[i]) / 0.8) for x in (-0.02, 0.0, 0.02, 0.28, 0.3, 0.32)})

        def value(z: float, at: float = float(shift[i])) -> float:
            f = float(function.values(np.array([at + 0.8 * z]))[0])
            return f * math.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)

        parts = [quad(value, a, b, epsabs=1e-14, epsrel=1e-13, limit=500)[0] for a, b in itertools.pairwise(edges)]
        assert moments.mean[i] == pytest.approx(math.fsum(parts), abs=1e-12)


def test_roots_at_a_breakpoint_are_graded() -> None:
    # E |z|^(1/2) = 2^(1/4) Gamma(3/4)/sqrt(pi), E |z| = sqrt(2/pi).
    function = integrand(activation("sqrt(Abs(z))"))
    assert function.rough
    moments = conditional_moments(function, np.zeros(1), 1.0)
    assert moments.mean[0] == pytest.approx(2**0.25 * math.gamma(0.75) / math.sqrt(math.pi), rel=1e-13)
    assert moments.square[0] == pytest.approx(math.sqrt(2 / math.pi), rel=1e-13)


def _average(rule: Rule, values: np.ndarray) -> float:
    return float(rule.weights @ values)


@pytest.mark.parametrize("features", [(), (Layer(0.3, 0.0),), (Layer(0.3, 1e-6), Layer(-2.0, 0.0), Layer(0.31, 0.05))])
@pytest.mark.parametrize("refine", [0, 1])
def test_spike_rules_integrate_polynomials(features: tuple[Layer, ...], refine: int) -> None:
    rule = spike_rule(features, 0.2, 9.5, refine)
    for power, expected in ((0, 1.0), (1, 0.0), (2, 1.0), (4, 3.0), (8, 105.0)):
        assert _average(rule, rule.nodes**power) == pytest.approx(expected, rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("width", [0.0, 1e-7, 1e-3, 0.05, NARROW_LAYER, 0.3, 2.0])
@pytest.mark.parametrize("location", [0.0, 0.77, -3.1])
def test_spike_rules_follow_a_layer(width: float, location: float) -> None:
    # E Phi((kappa - x)/w) = Phi(-x/sqrt(1 + w^2)), and E of the same times kappa is phi(x/sqrt(1+w^2))/sqrt(1+w^2).
    rule = spike_rule((Layer(location, width),), 0.2, 9.5)
    if width > 0:
        values = 0.5 * (1 + erf((rule.nodes - location) / (width * math.sqrt(2))))
    else:
        values = (rule.nodes > location).astype(float)
    stretch = math.hypot(1.0, width)
    assert _average(rule, values) == pytest.approx(0.5 * (1 - erf(location / stretch / math.sqrt(2))), abs=1e-13)
    first = math.exp(-0.5 * (location / stretch) ** 2) / math.sqrt(2 * math.pi) / stretch
    assert _average(rule, values * rule.nodes) == pytest.approx(first, abs=1e-13)


@pytest.mark.parametrize("steepness", [3, 5, 6, 8])
@pytest.mark.parametrize("centre", ["1/3", "2"])
def test_narrow_entire_functions_get_panels(steepness: int, centre: str) -> None:
    # E exp(-q (z - c)^2) = exp(-q c^2/(1 + 2q))/sqrt(1 + 2q); the square has 2q in place of q.
    function = integrand(activation(f"exp(-(z-{centre})**2*10**{steepness})"))
    assert function.splits is not None
    moments = conditional_moments(function, np.zeros(1), 1.0)
    c = {"1/3": 1 / 3, "2": 2.0}[centre]
    for found, q in ((moments.mean[0], 10.0**steepness), (moments.square[0], 2 * 10.0**steepness)):
        # z - c is rounded to 1e-16, which the slope of the peak, 10^(steepness/2), multiplies.
        assert found == pytest.approx(math.exp(-q * c * c / (1 + 2 * q)) / math.sqrt(1 + 2 * q), rel=1e-11)


def test_what_grows_is_not_checked_at_a_larger_scale() -> None:
    # E f^2 is finite at this scale, 4 q s^2 = 0.93, and infinite at the next one of those that models share, 1.044.
    found = conditional_moments(integrand(activation("exp(23*z**2/100 - 200)")), np.zeros(1), 1.005)
    assert found.mean[0] == pytest.approx(math.exp(-200.0) / math.sqrt(1.0 - 0.46 * 1.005**2), rel=1e-12)
    assert found.square[0] == pytest.approx(math.exp(-400.0) / math.sqrt(1.0 - 0.92 * 1.005**2), rel=1e-12)
