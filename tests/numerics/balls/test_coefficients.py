"""Certified coefficients against closed forms, multiple-precision quadrature and a Hermite series."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import arb
from hypothesis import given, seed, settings
from mpmath import erf, erfc, exp, mpf, pi, sqrt

from giantsteps.derivations.activations.activation import Activation, activation
from giantsteps.derivations.expressions.calculus import derivative
from giantsteps.derivations.expressions.tree import Expression, ExpressionError
from giantsteps.numerics.balls.arithmetic import BallError, precision
from giantsteps.numerics.balls.coefficients import (
    Certified,
    conditional_balls,
    hermite_balls,
    hermite_coefficients_ball,
)
from giantsteps.numerics.gaussian.evaluate import compile_numpy, evaluate_mpmath
from tests.derivations.expressions.test_expressions import trees
from tests.numerics.balls.test_arithmetic import contains

DIGITS = 60

NAMED = [
    "tanh", "erf", "sign", "relu", "leaky_relu(z, 1/10)", "elu(z, 2)", "gelu", "silu", "softplus", "softsign",
    "hardtanh", "arctan", "sin", "cos", "he3", "he4", "z**3 - z/2", "swish(z, 2)", "mish", "sigmoid", "exp(-z**2)",
    "step", "Abs(z)",
]  # fmt: skip


def _spike(a: Any, centre: Any) -> tuple[Any, Any, Any, Any]:
    """mean, h1, h2, h1_check of exp(-a (z-m)^2): a Gaussian integral each, by completing the square."""
    mean = exp(-a * centre**2 / (1 + 2 * a)) / sqrt(1 + 2 * a)
    h1 = mean * 2 * a * centre / (1 + 2 * a)
    norm = exp(-2 * a * centre**2 / (1 + 4 * a)) / sqrt(1 + 4 * a)
    tilted = 4 * a * centre / (1 + 4 * a)
    return mean, h1, norm, 4 * a**2 * norm * (1 / (1 + 4 * a) + (tilted - centre) ** 2) - h1**2


def _kink(d: Any) -> tuple[Any, Any, Any, Any]:
    """mean, h1, h2, h1_check of Max(z, d): truncated moments of a Gaussian."""
    above, density = erfc(d / sqrt(2)) / 2, exp(-d * d / 2) / sqrt(2 * pi)
    return density + d * (1 - above), above, above + d * density + d * d * (1 - above), above * (1 - above)


# mean, h1, h2, h1_check in closed form (None: not known in closed form, inf: infinite)
CLOSED: dict[str, Callable[[], tuple[Any, Any, Any, Any]]] = {
    "erf": lambda: (
        0, 2 / sqrt(3 * pi), 2 / pi * mpmath.asin(mpf(2) / 3), 4 / (pi * sqrt(5)) - 4 / (3 * pi)),
    "sin": lambda: (0, exp(mpf(-1) / 2), (1 - exp(-2)) / 2, (1 + exp(-2)) / 2 - exp(-1)),
    "cos": lambda: (exp(mpf(-1) / 2), 0, (1 + exp(-2)) / 2, (1 - exp(-2)) / 2),
    "sign": lambda: (0, sqrt(2 / pi), 1, math.inf),
    "step": lambda: (mpf(1) / 2, 1 / sqrt(2 * pi), mpf(1) / 2, math.inf),
    "relu": lambda: (1 / sqrt(2 * pi), mpf(1) / 2, mpf(1) / 2, mpf(1) / 4),
    # slopes 1 and a: E sigma' = (1+a)/2, variance ((1-a)/2)^2
    "leaky_relu(z, 1/10)": lambda: (mpf(9) / 10 / sqrt(2 * pi), mpf(11) / 20, mpf(101) / 200, mpf(81) / 400),
    "hardtanh": lambda: (
        0, erf(1 / sqrt(2)), 1 - 2 * exp(mpf(-1) / 2) / sqrt(2 * pi), erf(1 / sqrt(2)) * erfc(1 / sqrt(2))),
    # E[z^2 Phi(z)^2] by parts: 1/3 + 1/(2 sqrt(3) pi)
    "gelu": lambda: (1 / (2 * sqrt(pi)), mpf(1) / 2, mpf(1) / 3 + 1 / (2 * sqrt(3) * pi), None),
    "arctan": lambda: (
        0, sqrt(pi * exp(1) / 2) * erfc(1 / sqrt(2)), None, mpf(1) / 2 - pi * exp(1) / 2 * erfc(1 / sqrt(2)) ** 2),
    "exp(-z**2)": lambda: _spike(mpf(1), mpf(0)),
    "exp(-(z-8)**2*10**6)": lambda: _spike(mpf(10) ** 6, mpf(8)),
    "Max(z, 1/10**9)": lambda: _kink(mpf(10) ** -9),
    "Abs(z)": lambda: (sqrt(2 / pi), 0, 1, 1),
    "he3": lambda: (0, 0, 6, 18),
    "he4": lambda: (0, 0, 24, 96),
    "exp(z)": lambda: (exp(mpf(1) / 2), exp(mpf(1) / 2), exp(2), exp(2) - exp(1)),
    "exp(z**2/5)": lambda: (sqrt(mpf(5) / 3), 0, sqrt(5), mpf(4) / 25 * sqrt(mpf(125))),
    "exp(z**2/3)": lambda: (sqrt(3), 0, math.inf, math.inf),
    "sin(200*z)": lambda: (
        0, 200 * exp(-20000), (1 - exp(-80000)) / 2, 20000 * (1 + exp(-80000)) - 40000 * exp(-40000)),
}  # fmt: skip


def _agrees(found: Certified, exact: Any, digits: int) -> None:
    if exact is None:
        return
    if exact == math.inf:
        assert found.infinite
        assert not found.finite
        assert found.reason
        return
    assert found.finite, found.reason
    assert contains(found.required(), mpf(exact), digits)


@pytest.mark.parametrize("text", CLOSED)
def test_balls_hold_the_closed_forms(text: str) -> None:
    with mpmath.workdps(DIGITS):
        exact = CLOSED[text]()
    found = hermite_balls(activation(text))
    with mpmath.workdps(DIGITS):
        for ball, value in zip((found.mean, found.h1, found.h2, found.h1_check), exact, strict=True):
            _agrees(ball, value, 50)  # ten of the 60 digits are left for cancellation


@pytest.mark.parametrize("text", NAMED)
def test_named_activations_are_certified_to_thirty_digits(text: str) -> None:
    function = activation(text)
    found, finer = hermite_balls(function), hermite_balls(function, bits=200)
    for name in ("mean", "h1", "h2", "h1_check", "curvature"):
        ball, fine = getattr(found, name), getattr(finer, name)
        if name == "h1_check" and function.jumps:
            assert ball.infinite
            continue
        assert ball.radius < 1e-30
        assert fine.radius < 1e-50
        with precision(200):
            assert ball.required().overlaps(fine.required())


def _reference(function: Activation, integrand: Callable[[Any], Any]) -> Any:
    """A Gaussian mean by mpmath's tanh-sinh rule between the breakpoints, independent of balls."""
    cuts = sorted({-9.5, -6.0, -3.0, -1.0, 0.0, 1.0, 3.0, 6.0, 9.5} | {b.value for b in function.breakpoints})
    return mpmath.quad(lambda x: integrand(x) * mpmath.npdf(x), [mpf(c) for c in cuts])


@pytest.mark.parametrize("text", [t for t in NAMED if t not in CLOSED or t in ("gelu", "arctan")])
def test_balls_agree_with_multiple_precision_quadrature(text: str) -> None:
    function = activation(text)
    found = hermite_balls(function, bits=80)
    with mpmath.workdps(20):
        tree = function.expression
        f = lambda x: evaluate_mpmath(tree, x)  # noqa: E731
        h1 = _reference(function, lambda x: x * f(x))
        h2 = _reference(function, lambda x: f(x) ** 2)
    # beyond |z| = 9.5 there is less than 1e-18; the rule resolves the rest to 16 digits
    assert float(found.h1.value) == pytest.approx(float(h1), abs=1e-14)
    assert float(found.h2.value) == pytest.approx(float(h2), abs=1e-13)


def test_reference_values_of_tanh() -> None:
    found = hermite_balls(activation("tanh"))
    # digits published with the problem: quadrature in 17 digits by an independent program
    assert found.h1.value == pytest.approx(0.60570550960215883, abs=2e-16)
    assert found.h2.value == pytest.approx(0.39429449039784117, abs=2e-16)
    assert found.h1_check.value == pytest.approx(0.09752373808585732, abs=2e-16)
    # tanh' = 1 - tanh^2, so that h1 + h2 = 1 exactly
    with precision(160):
        assert (found.h1.required() + found.h2.required()).overlaps(arb(1))


def test_hermite_coefficients_of_the_exponential_and_of_relu() -> None:
    # exp(z) = sqrt(e) sum He_k/k!, so s_k = sqrt(e/k!)
    found = hermite_coefficients_ball(activation("exp(z)"), 12)
    with mpmath.workdps(DIGITS):
        for k, ball in enumerate(found):
            _agrees(ball, sqrt(exp(1) / mpmath.factorial(k)), 40)
            assert ball.radius < 1e-30
    # relu: s_2 = 1/sqrt(4 pi), s_3 = 0, s_4 = -1/sqrt(48 pi), from E[He_k relu] = He_{k-2}(0) phi(0)
    relu = hermite_coefficients_ball(activation("relu"), 4)
    with mpmath.workdps(DIGITS):
        for ball, value in zip(relu[2:], (1 / sqrt(4 * pi), mpf(0), -1 / sqrt(48 * pi)), strict=True):
            _agrees(ball, value, 38)


@pytest.mark.parametrize(("spike", "bulk", "kappa", "bias"), [(1, 1, 0.5, 0), (2.5, 0.7, -1.25, 0.3), (0, 1.5, 2, 0)])
def test_conditional_coefficients_in_closed_form(spike: float, bulk: float, kappa: float, bias: float) -> None:
    with mpmath.workdps(DIGITS):
        m, c = mpf(spike) * mpf(kappa) + mpf(bias), mpf(bulk)
        cumulative, density = erfc(-m / sqrt(2 * c)) / 2, exp(-m * m / (2 * c)) / sqrt(2 * pi * c)
        sign0, sign1 = erf(m / sqrt(2 * c)), 2 * density
        relu0, relu1 = m * cumulative + c * density, cumulative
        forms = {
            "erf": (erf(m / sqrt(1 + 2 * c)), 2 / sqrt(pi * (1 + 2 * c)) * exp(-m * m / (1 + 2 * c)), None),
            "sign": (sign0, sign1, 1 - sign0**2 - c * sign1**2),
            "relu": (relu0, relu1, (m * m + c) * cumulative + m * c * density - relu0**2 - c * relu1**2),
            "sin": (
                exp(-c / 2) * mpmath.sin(m),
                exp(-c / 2) * mpmath.cos(m),
                (1 - exp(-2 * c) * mpmath.cos(2 * m)) / 2
                - exp(-c) * mpmath.sin(m) ** 2
                - c * exp(-c) * mpmath.cos(m) ** 2,
            ),
        }
    for text, exact in forms.items():
        found = conditional_balls(activation(text), spike=spike, bulk=bulk, kappa=kappa, bias=bias)
        with mpmath.workdps(DIGITS):
            for ball, value in zip((found.mu0, found.mu1, found.mu2_squared), exact, strict=True):
                _agrees(ball, value, 45)
                assert ball.radius < 1e-30


def test_conditional_coefficients_say_what_is_infinite() -> None:
    found = conditional_balls(activation("exp(z**2/5)"), spike=1, bulk=Fraction(5, 4), kappa=0)
    assert found.mu0.finite
    assert found.mu2_squared.infinite
    assert found.mu0.radius == pytest.approx(float(found.mu0.required().rad()), rel=1e-8, abs=0.0)
    assert found.mu0.radius >= float(found.mu0.required().rad()) > 0.0
    with pytest.raises(BallError):
        conditional_balls(activation("tanh"), spike=1, bulk=0, kappa=0)


def test_a_jump_makes_the_derivative_infinite_and_says_so() -> None:
    check = hermite_balls(activation("sign")).h1_check
    assert check.infinite
    assert "Result 3.1 does not apply" in check.reason
    with pytest.raises(BallError, match="jump"):
        check.required()


@pytest.mark.parametrize(
    ("text", "scales"),
    [
        ("1/cosh(1000*(z-3)) + 1/cosh(z)", [3.0]),
        ("1/cosh(100*z) + 1/cosh(10*(z-1))", [0.0, 1.0]),
        ("exp(-10**8*(z-2)**2)", [2.0]),
    ],
)
def test_narrow_spikes_are_not_missed(text: str, scales: list[float]) -> None:
    function = activation(text)
    found = hermite_balls(function, bits=80)
    f = compile_numpy(function.expression)
    # panels that shrink geometrically towards every spike, 40 Gauss-Legendre nodes each, in double precision
    cuts = sorted({-10.0, 10.0} | {s + d * 2.0**-k for s in scales for k in range(-3, 30) for d in (-1, 1)})
    nodes, weights = np.polynomial.legendre.leggauss(40)
    total = 0.0
    for a, b in pairwise(cuts):
        x = (a + b) / 2 + (b - a) / 2 * nodes
        total += float(np.sum(weights * f(x) * np.exp(-x * x / 2))) * (b - a) / 2 / math.sqrt(2 * math.pi)
    assert found.mean.value == pytest.approx(total, rel=1e-12)


@seed(20264)
@settings(max_examples=30, deadline=None)
@given(trees(8))
def test_random_expressions_have_no_wrong_digit(tree: Expression) -> None:
    try:
        function = Activation.checked(tree)
        jumps = function.jumps
    except ExpressionError:
        return
    found = hermite_balls(function, bits=64, operations=2_000_000)
    step = 1e-3
    z = np.arange(-12_000, 12_000) * step + step / 2
    weight = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    f = compile_numpy(tree)(z)
    slope = np.abs(np.diff(f)).max() / step
    for ball, integrand in ((found.mean, f), (found.h1, z * f), (found.h2, f * f)):
        if not ball.finite:
            assert ball.reason
            continue
        exact, size = (float((values * weight).sum() * step) for values in (integrand, np.abs(integrand)))
        # the midpoint rule errs by step^2 at kinks (times the slope) and by half a step at jumps
        rough = step * np.abs(f).max() * 4 if jumps else step**2 * (1 + slope) * 4 * (1 + np.abs(f).max())
        assert abs(ball.value - exact) <= 1e-6 * (1 + size) + rough


def test_printed_digits_are_certain() -> None:
    found = hermite_balls(activation("tanh"), bits=40).h1
    assert found.digits() >= 11
    assert found.text(8).startswith("[0.6057055")


def test_derivative_route_agrees() -> None:
    """h1 = E[sigma'] by Stein's lemma: the derivative as an activation of its own, a second route to h1."""
    for text in ("tanh", "gelu", "mish", "sin"):
        first = hermite_balls(activation(text)).h1
        mean = hermite_balls(Activation.checked(derivative(activation(text).expression))).mean
        with precision(160):
            assert first.required().overlaps(mean.required())


def test_a_square_root_makes_the_derivative_infinite() -> None:
    # sigma = |z|^q: sigma'^2 = q^2 |z|^(2q-2) is integrable at 0 iff q > 1/2
    found = hermite_balls(activation("sqrt(Abs(z))"))
    assert found.h1_check.infinite
    with mpmath.workdps(DIGITS):
        # E|z|^(1/2) = 2^(1/4) Gamma(3/4)/sqrt(pi), E|z| = sqrt(2/pi)
        _agrees(found.mean, mpf(2) ** (mpf(1) / 4) * mpmath.gamma(mpf(3) / 4) / sqrt(pi), 40)
        _agrees(found.h2, sqrt(2 / pi), 40)
    # No number of evaluations certifies the power 2/3.
    undecided = hermite_balls(activation("Abs(z)**(2/3)"), bits=64, operations=2_000_000).h1_check
    assert not undecided.infinite
    assert not undecided.finite
    assert undecided.reason


# The part that is a polynomial, as coefficients c_0, c_1 of its parity, in 1 + sign: sigma(z) = even + odd part.
_HALF_POLYNOMIAL = {
    "relu": (1, 0.5), "gelu": (1, 0.5), "softplus": (1, 0.5), "silu": (1, 0.5), "squareplus": (1, 0.5),
    "leaky_relu(z, 1/4)": (1, 0.625), "sigmoid": (0, 0.5), "step": (0, 0.5), "logsigmoid": (1, 0.5),
}  # fmt: skip


@pytest.mark.parametrize("text", _HALF_POLYNOMIAL)
def test_coefficients_that_are_zero_are_exactly_zero(text: str) -> None:
    parity, lowest = _HALF_POLYNOMIAL[text]
    found = hermite_coefficients_ball(activation(text), 60, bits=110)
    assert all(one.finite for one in found)
    assert found[parity].value == lowest
    assert all(found[k].required().is_zero() for k in range(parity + 2, 61, 2))
    # The other half is not: each is known to its sign, up to where such a coefficient is smaller than the precision.
    assert all(found[k].radius < 2.0**-100 for k in range(1 - parity, 61, 2))
