"""Owen's T function: derivatives, symmetries, values by three routes."""

from __future__ import annotations

import random

import mpmath
import pytest
import sympy as sp
from flint import acb, arb
from scipy.special import owens_t as scipy_owens_t

from giantsteps.derivations.language.normal_probabilities import OwensT
from giantsteps.numerics.balls.arithmetic import precision
from giantsteps.verify.protocol.balls import NoBallError, owens_t

h, a = sp.symbols("h a", real=True)
PLACES = [(random.Random(k).uniform(-3, 3), random.Random(k + 50).uniform(-4, 4)) for k in range(8)]


def defined(x: float, slope: float) -> float:
    """T from its definition, by mpmath's quadrature at 30 digits."""
    with mpmath.workdps(30):
        total = mpmath.quad(lambda t: mpmath.exp(-(x**2) * (1 + t * t) / 2) / (1 + t * t), [0, slope])
        return float(total / (2 * mpmath.pi))


def test_special_values() -> None:
    assert OwensT(0, a) == sp.atan(a) / (2 * sp.pi)
    assert OwensT(h, 0) == 0
    assert OwensT(h, 1) == (1 - sp.erf(h / sp.sqrt(2)) ** 2) / 8


@pytest.mark.parametrize(("x", "slope"), PLACES)
def test_three_routes_agree(x: float, slope: float) -> None:
    # SciPy's own algorithm, mpmath's quadrature of the definition, and SymPy's evaluation of the class. 1e-14: a few
    # roundings of numbers below 1/4.
    expected = defined(x, slope)
    assert float(scipy_owens_t(x, slope)) == pytest.approx(expected, abs=1e-14)
    assert float(OwensT(sp.Float(x, 25), sp.Float(slope, 25)).evalf(20)) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize(("x", "slope"), PLACES)
def test_the_ball_contains_the_value_and_is_small(x: float, slope: float) -> None:
    with precision(128):
        ball = owens_t(acb(arb(x)), acb(arb(slope)))
    assert abs(float(ball.real.mid()) - defined(x, slope)) < 1e-14  # the reference is rounded to double precision
    assert float(ball.real.rad()) < 1e-30


def test_the_ball_of_a_complex_first_argument() -> None:
    # entire in h, by the definition with mpmath's quadrature; a complex slope is refused
    with mpmath.workdps(30):
        z = mpmath.mpc(0.5, 1.25)
        total = mpmath.quad(lambda t: mpmath.exp(-(z**2) * (1 + t * t) / 2) / (1 + t * t), [0, 0.75]) / (2 * mpmath.pi)
    with precision(128):
        ball = owens_t(acb(0.5, 1.25), acb(0.75))
        assert abs(complex(ball) - complex(total)) < 1e-15
        assert float(ball.rad()) < 1e-30
        with pytest.raises(NoBallError, match="real"):
            owens_t(acb(1), acb(0, 1))


@pytest.mark.parametrize(("x", "slope"), PLACES[:4])
def test_derivatives_against_difference_quotients(x: float, slope: float) -> None:
    # Central differences of step 1e-5: error 1e-10 of the third derivative, and 1e-16/1e-5 of rounding.
    step = 1e-5
    for symbol, lower, upper in (
        (h, defined(x - step, slope), defined(x + step, slope)),
        (a, defined(x, slope - step), defined(x, slope + step)),
    ):
        derivative = float(sp.diff(OwensT(h, a), symbol).subs({h: x, a: slope}))
        assert derivative == pytest.approx((upper - lower) / (2 * step), abs=1e-9)


def test_a_number_above_one_is_brought_below_one() -> None:
    # T(h, a) + T(a h, 1/a) = (1 - erf(h/sqrt 2) erf(a h/sqrt 2))/4 for a > 0: checked by the definition.
    rewritten = OwensT(h, sp.Integer(3))
    assert not any(t.args[1] > 1 for t in rewritten.atoms(OwensT))
    assert float(rewritten.subs(h, sp.Rational(7, 10)).evalf()) == pytest.approx(defined(0.7, 3.0), abs=1e-14)


def test_latex_and_generated_code() -> None:
    assert sp.latex(OwensT(h, a)) == r"T\left(h, a\right)"
    assert sp.latex(OwensT(h, a) ** 2) == r"T\left(h, a\right)^{2}"
    compiled = sp.lambdify((h, a), OwensT(h, a), modules=["scipy", "numpy"])
    assert float(compiled(0.5, 0.25)) == pytest.approx(defined(0.5, 0.25), abs=1e-15)
