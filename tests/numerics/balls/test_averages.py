"""Gaussian averages as balls: closed forms, another quadrature, complex arguments, and the bounds off the line."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import pytest
from flint import acb, arb
from mpmath import mp

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.balls.arithmetic import BallError, precision, rational_ball
from giantsteps.numerics.balls.averages import ORDERS, smoothing
from giantsteps.numerics.balls.growth_bounds import Line, average_bound

VARIANCE = Fraction(3, 2)
LINE = Line(Fraction(1), Fraction(0), VARIANCE)
NAMES = ("tanh", "erf", "sin", "softplus(z)", "sign", "relu", "hardtanh", "he3")
# With averages at real places alone.
PIECES = ("elu", "softsign", "gelu_tanh", "where(z > sqrt(2), cos(z), -1)")


def by_quad(name: str, w: complex) -> list[complex]:
    """E[z^j f(w + s z)^l] for all (j, l) of ORDERS by mpmath's adaptive quadrature in t = w + s z: on the real line for
    any w. All of them take the same nodes, and what their integrands have in common is kept.
    """
    f = {
        "tanh": mp.tanh,
        "erf": mp.erf,
        "sin": mp.sin,
        "softplus(z)": lambda t: mp.log(1 + mp.exp(t)),
        "sign": mp.sign,
        "relu": lambda t: max(t, mp.mpf(0)),
        "hardtanh": lambda t: max(min(t, mp.mpf(1)), mp.mpf(-1)),
        "he3": lambda t: t**3 - 3 * t,
        "elu": lambda t: t if t > 0 else mp.expm1(t),
        "softsign": lambda t: t / (1 + abs(t)),
        "gelu_tanh": lambda t: t * (1 + mp.tanh(mp.sqrt(2 / mp.pi) * (t + 44715 * t**3 / mp.mpf(10) ** 6))) / 2,
        # A jump at an irrational place.
        "where(z > sqrt(2), cos(z), -1)": lambda t: mp.cos(t) if t > mp.sqrt(2) else mp.mpf(-1),
    }[name]
    with mp.workdps(25):
        s = mp.sqrt(mp.mpf(3) / 2)

        @cache  # by the node and the digits at which the quadrature asks for it
        def known(t: mp.mpf, _: int) -> tuple[mp.mpc, mp.mpf, mp.mpc]:
            z = (t - w) / s
            return z, f(t), mp.exp(-z * z / 2) / (s * mp.sqrt(2 * mp.pi))

        def integrand(order: int, power: int) -> Callable[[mp.mpf], mp.mpc]:
            def g(t: mp.mpf) -> mp.mpc:
                z, value, density = known(t, mp.prec)
                return z**order * value**power * density

            return g

        return [mp.quad(integrand(*one), [-18, -8, -4, -1, 0, 1, mp.sqrt(2), 4, 8, 18]) for one in ORDERS]


@pytest.mark.parametrize(("name", "w"), [*itertools.product(NAMES, (0.7, -1.3 + 0.25j)), *((p, 0.7) for p in PIECES)])
def test_the_averages_agree_with_another_quadrature(name: str, w: complex) -> None:
    with precision(120):
        inner = smoothing(activation(name), LINE, Fraction(1, 4), Fraction(2), 70)
        for ball, value in zip(inner.at(acb(w) if w.imag else arb(w)), by_quad(name, w), strict=True):
            # Twenty-five digits of mpmath, to the scale of he3's square.
            real, imag = (arb(mp.nstr(part, 25)) for part in (value.real, value.imag))
            assert abs(ball - acb(real, imag)) < 1e-18 * (1 + abs(value))
            assert acb(ball).real.rad() < 1e-19


@pytest.mark.parametrize("name", ["tanh", "tanh(2*z)", "atan(z)", "z/(1 + z**2)", "erf"])
@pytest.mark.parametrize("bits", [2, 4, 8, 16])
def test_coarse_rules_own_up_to_their_errors(name: str, bits: int) -> None:
    # Rules so coarse that their errors show: the enclosures still meet those of many bits.
    line = Line(Fraction(1), Fraction(0), Fraction(4))
    with precision(128):
        coarse = smoothing(activation(name), line, Fraction(0), Fraction(2), bits)
        fine = smoothing(activation(name), line, Fraction(0), Fraction(2), 90)
        for w in (0.0, 0.3, 0.7, 1.1, 2.0):
            pairs = zip(coarse.at(arb(w)), fine.at(arb(w)), strict=True)
            assert all(a.contains(b.mid()) for a, b in pairs)


@pytest.mark.parametrize("name", NAMES)
def test_a_box_holds_the_averages_of_its_points(name: str) -> None:
    with precision(80):
        inner = smoothing(activation(name), LINE, Fraction(1, 2), Fraction(3), 40)
        box = acb(arb(1, 0.25), arb("0.25", 0.25))
        whole = inner.at(box)
        for x, y in itertools.product((0.75, 1.0, 1.25), (0.0, 0.1, 0.5)):
            at = inner.at(acb(x, y))
            assert all(ball.overlaps(value) for ball, value in zip(whole, at, strict=True))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("variance", [Fraction(1, 10), Fraction(2)])
def test_the_bounds_hold_off_the_line(name: str, variance: Fraction) -> None:
    line = Line(Fraction(-3, 2), Fraction(1, 4), variance)
    height = Fraction(1, 3)
    with precision(80):
        inner = smoothing(activation(name), line, Fraction(1, 2), Fraction(10), 40)
        bounds = [average_bound(activation(name), line.slope, line.bias, line.scale(), height, *o) for o in ORDERS]
        for x, y in itertools.product((-5.0, -1.0, -0.3, 0.0, 0.4, 2.0, 5.0), (0.0, 0.2, 1 / 3)):
            values = inner.at(line.argument(acb(x, y)))
            for value, bound in zip(values, bounds, strict=True):
                assert bound is not None
                assert value.abs_lower() <= bound.constant * (1 + abs(arb(x))) ** bound.degree


def test_the_bound_off_the_line_is_nearly_reached() -> None:
    # E z sin(6 (w + z)) at w = 6 i is 6 cosh(36) e^{-18}, and |z - 6 i| has its part in the bound.
    with precision(80):
        bound = average_bound(activation("sin(6*z)"), Fraction(1), Fraction(0), arb(1), Fraction(6), 1, 1)
        value = 6 * arb(36).cosh() * arb(-18).exp()
        assert bound is not None
        assert value <= bound.constant <= 6 * value


def test_the_bound_grows_with_the_slope_the_bias_and_the_scale() -> None:
    # E relu(10 kappa + bias + s z) is 500 at kappa = 50, 1000 at bias 1000, and s/sqrt(2 pi) where both vanish.
    with precision(80):
        for slope, bias, scale, kappa, value in ((10, 0, 1, 50, 500), (0, 1000, 1, 0, 1000), (0, 0, 4000, 0, 1595)):
            bound = average_bound(activation("relu"), Fraction(slope), Fraction(bias), arb(scale), Fraction(0), 0, 1)
            assert bound is not None
            assert value <= bound.constant * (1 + kappa) ** bound.degree <= 6 * value


def test_what_cannot_be_smoothed_says_why() -> None:
    with precision(80):
        with pytest.raises(BallError, match="up to its breakpoints"):
            smoothing(activation("sqrt(Abs(z))"), LINE, Fraction(0), Fraction(3), 40)
        with pytest.raises(BallError, match="power"):
            smoothing(activation("exp(z/4)"), LINE, Fraction(0), Fraction(3), 40)
        exact = smoothing(activation("sign"), Line(Fraction(1), Fraction(0), Fraction(0)), Fraction(0), Fraction(3), 40)
        assert exact.at(rational_ball(Fraction(-1, 2)))[:3] == (-1, 0, 1)
