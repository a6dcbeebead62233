"""Owen's T and the mean of a product of two signs: special values, symmetries, derivatives, several routes."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable

import mpmath
import pytest
import sympy as sp
from flint import acb, arb
from scipy.special import owens_t as scipy_owens_t
from scipy.stats import multivariate_normal

from giantsteps.derivations.language.normal_probabilities import OwensT, SignProduct
from giantsteps.numerics.balls.arithmetic import precision
from giantsteps.verify.protocol.balls import NoBallError, owens_t, sign_product

h, k, a, rho = sp.symbols("h k a rho", real=True)
_GENERATOR = random.Random(7)
SLOPES = [(_GENERATOR.uniform(-3, 3), _GENERATOR.uniform(-4, 4)) for _ in range(8)]
SIGNS = [(_GENERATOR.uniform(-3, 3), _GENERATOR.uniform(-3, 3), _GENERATOR.uniform(-0.95, 0.95)) for _ in range(6)]
PLACES = [*SLOPES, *SIGNS]


@functools.cache
def defined(*at: float) -> float:
    """T(h, a), or E[sign(X + h) sign(Y + k)] of correlation rho, from its definition by quadrature at 30 digits."""
    with mpmath.workdps(30):
        if len(at) == 2:
            return float(_integral(at[0], at[1]))
        first, second, r = at
        # Y given X is normal, X is integrated.
        width = mpmath.sqrt(2 * (1 - mpmath.mpf(r) ** 2))

        def inner(s: mpmath.mpf) -> mpmath.mpf:
            return mpmath.sign(s + first) * mpmath.erf((second + r * s) / width) * mpmath.npdf(s)

        return float(mpmath.quad(inner, [-12, *sorted([-first, 0, -second, -second / r]), 12]))


def _integral(x: complex, slope: float) -> mpmath.mpc:
    return mpmath.quad(lambda t: mpmath.exp(-(x**2) * (1 + t * t) / 2) / (1 + t * t), [0, slope]) / (2 * mpmath.pi)


def _function(at: tuple[float, ...]) -> tuple[type[sp.Function], Callable[..., acb], tuple[sp.Symbol, ...]]:
    return (OwensT, owens_t, (h, a)) if len(at) == 2 else (SignProduct, sign_product, (h, k, rho))


def test_special_values() -> None:
    assert OwensT(0, a) == sp.atan(a) / (2 * sp.pi)
    assert OwensT(h, 0) == 0
    assert OwensT(h, 1) == (1 - sp.erf(h / sp.sqrt(2)) ** 2) / 8
    assert SignProduct(h, k, 0) == sp.erf(h / sp.sqrt(2)) * sp.erf(k / sp.sqrt(2))
    assert SignProduct(0, 0, rho) == 2 * sp.asin(rho) / sp.pi
    assert SignProduct(0, k, rho) == SignProduct(k, 0, rho) == 4 * OwensT(k, rho / sp.sqrt(1 - rho**2))
    # the identity behind the last one, by the definition
    value = float((4 * OwensT(sp.Float(0.7, 25), sp.Float(0.4 / 0.84**0.5, 25))).evalf(20))
    assert value == pytest.approx(defined(1e-30, 0.7, 0.4), abs=1e-14)


def test_symmetries() -> None:
    assert SignProduct(h, k, rho) == SignProduct(k, h, rho)
    assert SignProduct(-h, k, -rho) == -SignProduct(h, k, rho)
    assert SignProduct(-h, -k, rho) == SignProduct(h, k, rho)


@pytest.mark.parametrize("at", PLACES)
def test_routes_agree(at: tuple[float, ...]) -> None:
    # The definition, SymPy's evaluation and generated code; 1e-14: a few roundings of numbers of order one.
    function, _, symbols = _function(at)
    exact, expected = function(*(sp.Float(v, 25) for v in at)), defined(*at)
    assert float(exact.evalf(20)) == pytest.approx(expected, abs=1e-14)
    compiled = sp.lambdify(symbols, 3 * function(*symbols), modules=["scipy", "numpy"])
    assert float(compiled(*at)) == pytest.approx(3 * expected, abs=1e-13)


@pytest.mark.parametrize("at", PLACES)
def test_scipys_own_algorithm_agrees(at: tuple[float, ...]) -> None:
    if len(at) == 2:
        assert float(scipy_owens_t(*at)) == pytest.approx(defined(*at), abs=1e-14)
        return
    # The bivariate normal distribution, of which SciPy promises 1e-8 only.
    first, second, r = at
    both = multivariate_normal([0, 0], [[1, r], [r, 1]]).cdf([first, second])
    phi = (1 + float(sp.erf(first / 2**0.5))) / 2, (1 + float(sp.erf(second / 2**0.5))) / 2
    assert 4 * both - 2 * sum(phi) + 1 == pytest.approx(defined(*at), abs=1e-7)


@pytest.mark.parametrize("at", PLACES)
def test_the_ball_contains_the_value_and_is_small(at: tuple[float, ...]) -> None:
    with precision(128):
        ball = _function(at)[1](*(acb(arb(v)) for v in at))
    assert abs(float(ball.real.mid()) - defined(*at)) < 1e-14  # the reference is rounded to double precision
    assert float(ball.real.rad()) < 1e-30
    assert ball.imag == 0


def test_the_ball_of_a_complex_first_argument() -> None:
    # entire in h, by the definition with mpmath's quadrature; a complex slope is refused
    with mpmath.workdps(30):
        total = complex(_integral(mpmath.mpc(0.5, 1.25), 0.75))
    with precision(128):
        ball = owens_t(acb(0.5, 1.25), acb(0.75))
        assert abs(complex(ball) - total) < 1e-15
        assert float(ball.rad()) < 1e-30
        with pytest.raises(NoBallError, match="real"):
            owens_t(acb(1), acb(0, 1))


def test_balls_at_two_precisions_overlap_also_for_complex_arguments() -> None:
    def value(bits: int) -> acb:
        with precision(bits):
            return sign_product(acb(1, 2) / 3, acb(2) / 7, acb(3) / 5)

    coarse, fine = value(64), value(200)
    with precision(200):
        assert coarse.contains(fine)
        # entire in h: the mean over a circle is the value at its centre, to the accuracy of the 64-point rule
        points = [sign_product(acb(1, 2) / 3 + (2 * acb.pi() * acb(0, j) / 64).exp(), acb(2) / 7, acb(3) / 5)
                  for j in range(64)]  # fmt: skip
        assert abs(complex(sum(points, acb(0)) / 64 - fine)) < 1e-25


def test_a_correlation_of_one_has_no_ball() -> None:
    for wrong in (acb(1), acb(2), acb(0, 1) / 2):
        with pytest.raises(NoBallError, match="correlation"):
            sign_product(acb(1), acb(1), wrong)


@pytest.mark.parametrize("at", [*SLOPES[:4], *SIGNS[:3]])
def test_derivatives_against_difference_quotients(at: tuple[float, ...]) -> None:
    # Central differences of step 1e-4: error 1e-8 of the third derivative, 1e-12 of rounding to doubles.
    step, (function, _, symbols) = 1e-4, _function(at)
    for i, symbol in enumerate(symbols):
        lower, upper = ([v + (side * step if j == i else 0) for j, v in enumerate(at)] for side in (-1, 1))
        derivative = float(sp.diff(function(*symbols), symbol).subs(dict(zip(symbols, at, strict=True))))
        assert derivative == pytest.approx((defined(*upper) - defined(*lower)) / (2 * step), abs=1e-6)


def test_a_number_above_one_is_brought_below_one() -> None:
    # T(h, a) + T(a h, 1/a) = (1 - erf(h/sqrt 2) erf(a h/sqrt 2))/4 for a > 0: checked by the definition.
    rewritten = OwensT(h, sp.Integer(3))
    assert not any(t.args[1] > 1 for t in rewritten.atoms(OwensT))
    assert float(rewritten.subs(h, sp.Rational(7, 10)).evalf()) == pytest.approx(defined(0.7, 3.0), abs=1e-14)


def test_latex() -> None:
    assert sp.latex(OwensT(h, a)) == r"T\left(h, a\right)"
    assert sp.latex(OwensT(h, a) ** 2) == r"T\left(h, a\right)^{2}"
