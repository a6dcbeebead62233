"""Functions that balls enclose beside those of the library: against quadrature and another library's values."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from flint import acb
from scipy import integrate, special, stats

from giantsteps.derivations.language.normal_probabilities import OwensT, SignProduct
from giantsteps.verify.protocol.balls import NoBallError, enclose, owens_t, sign_product


@pytest.mark.parametrize(("h", "a"), [(0.0, 0.7), (0.4, 1.0), (-1.3, 0.25), (2.1, -3.0), (0.9, 12.0)])
def test_owens_function(h: float, a: float) -> None:
    found = owens_t(acb(h), acb(a))
    assert found.imag == 0
    # SciPy's function is good to double precision.
    assert float(found.real.mid()) == pytest.approx(special.owens_t(h, a), rel=1e-13)
    assert float(found.real.rad()) < 1e-15
    with pytest.raises(NoBallError):
        owens_t(acb(h), acb(a, 0.1))


def test_owens_function_of_a_complex_argument_is_complex() -> None:
    # dT/dh = -phi(h) erf(a h/sqrt 2)/2, along the imaginary axis from h = 0.4.
    def slope(y: float) -> complex:
        h = 0.4 + 1j * y
        return complex(
            -1j * np.exp(-h * h / 2.0) / math.sqrt(2.0 * math.pi) * special.erf(0.7 * h / math.sqrt(2.0)) / 2
        )

    moved = integrate.quad(slope, 0.0, 1.1, complex_func=True)[0]
    found = owens_t(acb(0.4, 1.1), acb(0.7))
    # Quadrature to 1e-10; both parts are of order one tenth.
    assert complex(found) == pytest.approx(special.owens_t(0.4, 0.7) + moved, abs=1e-9)
    assert abs(found.imag) > 0.01


X, Y, R = sp.symbols("x y r", real=True)
BELOW = stats.multivariate_normal([0.0, 0.0], [[1.0, 0.3], [0.3, 1.0]]).cdf([0.7, -1.2])
FUNCTIONS = {
    sp.exp(X) * sp.erf(Y) - sp.erfc(X * Y): math.exp(0.7) * math.erf(-1.2) - math.erfc(-0.84),
    sp.sin(X) / sp.cos(Y) + sp.atan(X + Y): math.sin(0.7) / math.cos(-1.2) + math.atan(-0.5),
    sp.asin(R) * sp.log(X) + sp.pi * sp.E: math.asin(0.3) * math.log(0.7) + math.pi * math.e,
    sp.sinh(X) - sp.cosh(Y) * sp.tanh(X): math.sinh(0.7) - math.cosh(-1.2) * math.tanh(0.7),
    sp.asinh(Y) + X**-3 + sp.sqrt(X): math.asinh(-1.2) + 0.7**-3 + math.sqrt(0.7),
    OwensT(Y, X): float(special.owens_t(-1.2, 0.7)),
    SignProduct(X, Y, R): 4.0 * BELOW - 2.0 * stats.norm.cdf(0.7) - 2.0 * stats.norm.cdf(-1.2) + 1.0,
}


@pytest.mark.parametrize("formula", FUNCTIONS, ids=str)
def test_every_function_of_a_formula_is_enclosed(formula: sp.Expr) -> None:
    found = enclose(formula, {X: Fraction(7, 10), Y: Fraction(-6, 5), R: Fraction(3, 10)})
    assert found.imag == 0
    assert float(found.real.mid()) == pytest.approx(FUNCTIONS[formula], rel=1e-14)


@pytest.mark.parametrize("formula", [sp.gamma(X), X**Y, sp.Symbol("z"), sp.Max(X, Y)])
def test_what_no_ball_is_known_of_is_said(formula: sp.Expr) -> None:
    with pytest.raises(NoBallError):
        enclose(formula, {X: 2, Y: 3})


@pytest.mark.parametrize(("h", "k", "rho"), [(0.0, 0.0, 0.6), (0.5, -1.2, 0.3), (-0.8, 0.4, -0.9), (1.5, 1.5, 0.0)])
def test_the_product_of_two_signs(h: float, k: float, rho: float) -> None:
    # Of Y given X the sign has the mean erf((k + rho x)/sqrt(2 (1 - rho^2))), and the sign of X + h turns at -h.
    def given(x: float) -> float:
        mean = special.erf((k + rho * x) / math.sqrt(2.0 * (1.0 - rho * rho)))
        return float(np.exp(-x * x / 2.0) / math.sqrt(2.0 * math.pi) * mean)

    above, below = (integrate.quad(given, *ends, epsabs=1e-13)[0] for ends in ((-h, 12.0), (-12.0, -h)))
    found = sign_product(acb(h), acb(k), acb(rho))
    assert found.imag == 0
    # Quadrature to 1e-13, and a tail of e^{-72}.
    assert float(found.real.mid()) == pytest.approx(above - below, abs=1e-12)
    for correlation in (1.0, -1.0):
        with pytest.raises(NoBallError):
            sign_product(acb(h), acb(k), acb(correlation))


def test_roots_of_even_order_and_no_others_are_enclosed() -> None:
    x = sp.Symbol("x", positive=True)
    for exponent in (sp.Rational(1, 2), sp.Rational(1, 4), sp.Rational(3, 2), sp.Rational(-1, 2), sp.Integer(3)):
        found = enclose(x**exponent, {x: 3})
        assert float(found.real.mid()) == pytest.approx(3.0 ** float(exponent), rel=1e-15)
        assert float(found.real.rad()) < 1e-14
    with pytest.raises(NoBallError):
        enclose(x ** sp.Rational(1, 3), {x: 3})
