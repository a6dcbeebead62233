"""Gaussian expectations against closed forms, with kinks, jumps, layers, roots, oscillation and growth."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import erf

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.expressions.tree import ExpressionError
from giantsteps.numerics.gaussian.quadrature import (
    NARROW_LAYER,
    Rule,
    Unsettled,
    _compared,
    conditional_moments,
    doublings,
    integrand,
    reach,
    slope_integrand,
    step,
)
from giantsteps.numerics.gaussian.smooth_panels import gauss_legendre
from giantsteps.numerics.gaussian.spike_rule import Layer, half_length, layers, spacing, spike_rule

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


@pytest.mark.parametrize(("text", "level"), [("1e200*z**3", 0), ("1e200*sqrt(Abs(z))", 4)])
def test_where_squares_overflow_a_rule_is_refined_until_the_averages_agree(text: str, level: int) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        assert doublings(integrand(activation(text)), -0.5, 1.0, 0.7) == (level, 0.0)


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


@pytest.mark.parametrize("text", ["tanh(z)", "exp(-60*z**2)", "1/(1 + 40*z**2)", "sin(30*z)", "exp(-9*z**2)", "relu"])
def test_a_rule_that_settles_where_the_function_varies_faster_settles_here(text: str) -> None:
    # Scales share a check; one that did not need a finer rule may not hide that another does.
    function = integrand(activation(text))
    for scale in np.geomspace(0.05, 3.0, 7):
        assert doublings(function, -1.0, 1.0, scale) == _compared(function, -1.0, 1.0, scale)


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


def test_no_scale_means_the_function_itself() -> None:
    moments = conditional_moments(integrand(activation("relu")), SHIFTS, 0.0)
    assert np.array_equal(moments.mean, np.maximum(SHIFTS, 0.0))
    assert np.array_equal(moments.square, np.maximum(SHIFTS, 0.0) ** 2)
    assert not np.any(moments.slope)
    assert not np.any(moments.rest)


@pytest.mark.parametrize("text", ["tanh", "hardtanh"])
def test_many_shifts_in_pieces_are_the_same_as_one_by_one(text: str) -> None:
    function = integrand(activation(text))
    shifts = np.linspace(-5.0, 5.0, 12_001)
    together = conditional_moments(function, shifts, 1.0)
    some = slice(0, None, 3000)
    # The order of summation differs between block sizes in the linear algebra library.
    apart = conditional_moments(function, shifts[some], 1.0)
    assert together.mean[some] == pytest.approx(apart.mean, abs=ROUNDING)
    assert together.rest[some] == pytest.approx(apart.rest, abs=ROUNDING)


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


@pytest.mark.parametrize("frequency", [1, 2, 3, 4, 8])
def test_no_oscillation_deceives_two_rules_in_a_row(frequency: int) -> None:
    # E cos(w kappa) = exp(-w^2/2) is zero to rounding at w = 2 pi j/h, where the rule of step h sees nothing but 1.
    coarse, fine = spike_rule((), 0.2, 9.5, 3), spike_rule((), 0.2, 9.5, 4)
    apart = coarse.nodes[1] - coarse.nodes[0]
    values = [_average(rule, np.cos(2.0 * math.pi * frequency / apart * rule.nodes)) for rule in (coarse, fine)]
    assert values[0] == pytest.approx(1.0, abs=1e-10)
    assert abs(values[1]) < 1e-10


def test_steps_become_shorter_with_the_strip_and_never_too_wide() -> None:
    widths = [step(a) for a in (1e-3, 0.1, 1.0, 5.0, math.inf)]
    assert widths == sorted(widths)
    assert step(0.1) == pytest.approx(2 * math.pi * 0.1 / 37, rel=1e-3)


def test_layers_and_spacing_follow_the_slope() -> None:
    relu, tanh = integrand(activation("relu(z - 1)")), integrand(activation("tanh"))
    assert layers(relu, 2.0, 0.25, 0.5) == (Layer(0.25, 0.25),)
    assert layers(relu, 0.0, 0.25) == ()
    assert spacing(relu, 2.0, 0.25) == math.inf
    assert spacing(tanh, 0.0, 1.0) == math.inf
    assert spacing(tanh, 4.0, 1.0) == pytest.approx(spacing(tanh, 1.0, 1.0) / 4)


def test_reach_covers_growth() -> None:
    bounded, cubic, steep = (integrand(activation(t)) for t in ("tanh", "z**3", "exp(z)"))
    assert reach(bounded, 1.0) < reach(cubic, 1.0) < reach(cubic, 1.0) + 5
    assert reach(steep, 2.0) >= reach(bounded, 2.0) + 4.0
    with pytest.raises(ValueError, match="infinite"):
        reach(integrand(activation("exp(z**2/5)")), 1.5)
    assert half_length([8.94, 9.3]) == 9.5


def test_gauss_legendre_integrates_to_its_order() -> None:
    nodes, weights = gauss_legendre(16)
    assert weights @ nodes**30 == pytest.approx(2 / 31, rel=1e-13)


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


def test_peaks_that_cannot_be_found_are_reported() -> None:
    function = integrand(activation("exp(-sin(100*z)**2*10**8)"))
    assert function.hidden
    assert doublings(function, 0.0, 0.0, 1.0)[1] >= 1.0


def test_the_scale_of_agreement_is_where_the_function_is_large() -> None:
    # exp(-z^2) vanishes at the middle of a rule on [0, 27]; the rule converges at 0, where all of it is.
    assert doublings(integrand(activation("exp(-z**2)")), 0.0, 27.0, 1.0)[1] == 0.0


def test_what_grows_is_not_checked_at_a_larger_scale() -> None:
    # E f^2 is finite at this scale, 4 q s^2 = 0.93, and infinite at the next one of those that models share, 1.044.
    found = conditional_moments(integrand(activation("exp(23*z**2/100 - 200)")), np.zeros(1), 1.005)
    assert found.mean[0] == pytest.approx(math.exp(-200.0) / math.sqrt(1.0 - 0.46 * 1.005**2), rel=1e-12)
    assert found.square[0] == pytest.approx(math.exp(-400.0) / math.sqrt(1.0 - 0.92 * 1.005**2), rel=1e-12)


def test_a_variance_beyond_every_rule_is_refused() -> None:
    with pytest.raises(ExpressionError, match="varies too much"):
        doublings(integrand(activation("tanh")), 0.0, 1.0, 1e25)


def test_an_average_knows_what_the_values_of_its_function_lose() -> None:
    # 1 for z > 0, and 10^9 times the rounding of z + 10^-9: the same at all nodes of a binade, and so of any rule.
    function = integrand(activation("(relu(z+1e-9)-relu(z))*1e9"))
    level, left = doublings(function, -1.0, 1.0, 1.0)
    off = abs(float(conditional_moments(function, np.zeros(1), 1.0).mean[0]) - 0.5)
    assert level == 0
    assert 1e-9 < off < left < 1e-7
    with pytest.raises(Unsettled, match="its values lose their digits to rounding: averages over"):
        conditional_moments(integrand(activation("(relu(z+1e-13)-relu(z))*1e13")), np.zeros(1), 1.0)


@pytest.mark.parametrize(
    "text", ["tanh(50*z)", "erf(1e5*z)", "exp(-1e6*(z-2)**2)", "z+tanh(300*z)", "1e200*z", "relu(z-20)", "he5"]
)
def test_what_is_steep_large_or_far_out_loses_no_digits(text: str) -> None:
    # A few roundings of each value; where a slope is all in a layer it counts by its size there.
    for look in (integrand, slope_integrand):
        assert look(activation(text)).rounding < 1e-15


def test_what_values_lose_is_beside_their_size_whatever_their_sign() -> None:
    positive, negative = (activation(f"{sign}(2 + (relu(z+1e-9)-relu(z))*1e9)") for sign in ("", "-"))
    lost = integrand(positive).rounding
    assert lost > 1e-9
    assert integrand(negative).rounding == pytest.approx(lost, rel=0.1)
    # Of 1 at most beside 3, under the root of the density at their largest.
    assert lost == pytest.approx(integrand(activation("(relu(z+1e-9)-relu(z))*1e9")).rounding / 3.0, rel=0.7)
