"""Gaussian averages with kinks, jumps, layers, roots, oscillation and growth, beside integrals by mpmath."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import erf

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.gaussian.quadrature import conditional_moments, integrand
from giantsteps.numerics.gaussian.spike_rule import NARROW_LAYER, Layer, Rule, spike_rule
from tests.references.integrals import moments

# Functions, places and widths: kinks, jumps, saturation, steep steps, narrow peaks that are entire, growth, roots.
CASES = [
    *(("sign(z)", shift, scale) for shift in (-0.2, 0.0, 2.5) for scale in (0.05, 1.0, 3.0)),
    *(("Max(z, 0)", shift, scale) for shift in (-1.3, 0.7) for scale in (0.05, 1.0, 3.0)),
    *((text, 0.4, scale) for text in ("tanh(z)", "hardtanh(z)", "atan(z)", "softplus(z)", "gelu(z)", "elu(z)")
      for scale in (0.3, 1.4)),
    ("Piecewise((tanh(9*z), z > 1/3), (z, True))", 0.4, 1.4),
    ("exp(z)", -1.3, 1.5), ("exp(z)", 2.5, 1.5), ("exp(z**2/8)", 0.7, 1.1), ("exp(-60*z**2)", 0.0, 1.0),
    ("z**3 - 3*z", 0.0, 1.0), ("z**6 - 15*z**4 + 45*z**2 - 15", 0.0, 1.0), ("sin(30*z)", 0.3, 1.0),
    ("1/(1 + 40*z**2)", 0.3, 0.5),
]  # fmt: skip


@pytest.mark.parametrize(("text", "shift", "scale"), CASES)
def test_averages_are_the_integrals(text: str, shift: float, scale: float) -> None:
    found = conditional_moments(integrand(activation(text)), np.array([shift]), scale)
    mean, slope, square, curvature = (float(value) for value in moments(text, shift, scale))
    # Sums of a few hundred rounded terms of the function's size.
    size = 2e-14 * math.sqrt(square)
    assert found.mean[0] == pytest.approx(mean, abs=size)
    assert found.slope[0] == pytest.approx(slope, abs=size)
    assert found.curvature[0] == pytest.approx(curvature, abs=10.0 * size)
    assert found.square[0] == pytest.approx(square, rel=1e-13)
    assert found.rest[0] == pytest.approx(square - mean**2 - slope**2, abs=1e-13 * square)


@pytest.mark.parametrize("steepness", [3, 5, 6, 8])
@pytest.mark.parametrize("centre", ["1/3", "2"])
def test_narrow_entire_functions_get_panels(steepness: int, centre: str) -> None:
    # E exp(-q (z - c)^2) = exp(-q c^2/(1 + 2q))/sqrt(1 + 2q); the square has 2q in place of q.
    function = integrand(activation(f"exp(-(z-{centre})**2*10**{steepness})"))
    found = conditional_moments(function, np.zeros(1), 1.0)
    c = {"1/3": 1 / 3, "2": 2.0}[centre]
    for value, q in ((found.mean[0], 10.0**steepness), (found.square[0], 2 * 10.0**steepness)):
        # z - c is rounded to 1e-16, which the slope of the peak, 10^(steepness/2), multiplies.
        assert value == pytest.approx(math.exp(-q * c * c / (1 + 2 * q)) / math.sqrt(1 + 2 * q), rel=1e-11)


@pytest.mark.parametrize("shift", [0.31, -1.0])
def test_steep_steps_and_roots_get_panels(shift: float) -> None:
    # E erf(k x - b) = erf((k a - b)/sqrt(1 + 2 k^2 s^2)) at x = a + s z.
    k, b, s = 1000.0, 300.0, 0.8
    found = conditional_moments(integrand(activation("erf(1000*z - 300)")), np.array([shift]), s)
    assert found.mean[0] == pytest.approx(float(erf((k * shift - b) / math.sqrt(1 + 2 * (k * s) ** 2))), abs=1e-13)
    # E |z|^(1/2) = 2^(1/4) Gamma(3/4)/sqrt(pi), E |z| = sqrt(2/pi).
    root = conditional_moments(integrand(activation("sqrt(Abs(z))")), np.zeros(1), 1.0)
    assert root.mean[0] == pytest.approx(2**0.25 * math.gamma(0.75) / math.sqrt(math.pi), rel=1e-13)
    assert root.square[0] == pytest.approx(math.sqrt(2 / math.pi), rel=1e-13)


def test_the_variance_left_keeps_its_digits_where_an_activation_saturates() -> None:
    # tanh x = 1 - 2 e^{-2x} + O(e^{-4x}): E(f - E f - z E z f)^2 = 4 e^{-4a} (e^{8 s^2} - e^{4 s^2} (1 + 4 s^2)).
    # As a difference of moments of order 1 this would have no digit right at a = 9, where it is 1e-13. The next term
    # of the expansion is smaller by e^{-2a + 6 s^2} = 1e-7.
    a, s = 9.0, 0.5
    found = conditional_moments(integrand(activation("tanh")), np.array([a]), s)
    expected = 4 * math.exp(-4 * a) * (math.exp(8 * s * s) - math.exp(4 * s * s) * (1 + 4 * s * s))
    assert found.rest[0] == pytest.approx(expected, rel=1e-5)


def test_what_grows_is_not_checked_at_a_larger_scale() -> None:
    # E f^2 is finite at this scale, 4 q s^2 = 0.93, and infinite at the next one of those that models share, 1.044.
    found = conditional_moments(integrand(activation("exp(23*z**2/100 - 200)")), np.zeros(1), 1.005)
    assert found.mean[0] == pytest.approx(math.exp(-200.0) / math.sqrt(1.0 - 0.46 * 1.005**2), rel=1e-12)
    assert found.square[0] == pytest.approx(math.exp(-400.0) / math.sqrt(1.0 - 0.92 * 1.005**2), rel=1e-12)


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
    gap = rule.nodes - location
    values = 0.5 * (1 + erf(gap / (width * math.sqrt(2)))) if width > 0 else (gap > 0).astype(float)
    stretch = math.hypot(1.0, width)
    assert _average(rule, values) == pytest.approx(0.5 * (1 - erf(location / stretch / math.sqrt(2))), abs=1e-13)
    first = math.exp(-0.5 * (location / stretch) ** 2) / math.sqrt(2 * math.pi) / stretch
    assert _average(rule, values * rule.nodes) == pytest.approx(first, abs=1e-13)
