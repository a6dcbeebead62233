"""Gaussian averages as balls: closed forms, another quadrature, complex arguments, and the bounds off the line."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from flint import acb, arb
from mpmath import mp

from onestep.derivations.activations.activation import activation
from onestep.numerics.balls.arithmetic import BallError, precision, rational_ball
from onestep.numerics.balls.averages import smoothing
from onestep.numerics.balls.growth_bounds import Line, average_bound
from onestep.numerics.certificates.strip import Student, inverse_bound

VARIANCE = Fraction(3, 2)
LINE = Line(Fraction(1), Fraction(0), VARIANCE)
NAMES = ("tanh", "erf", "sin", "softplus(z)", "sign", "relu", "hardtanh", "he3")


def by_quad(name: str, order: int, power: int, w: complex) -> complex:
    """E[z^j f(w + s z)^l] by mpmath's adaptive quadrature in t = w + s z: on the real line for any w."""
    f = {
        "tanh": mp.tanh,
        "erf": mp.erf,
        "sin": mp.sin,
        "softplus(z)": lambda t: mp.log(1 + mp.exp(t)),
        "sign": mp.sign,
        "relu": lambda t: max(t, mp.mpf(0)),
        "hardtanh": lambda t: max(min(t, mp.mpf(1)), mp.mpf(-1)),
        "he3": lambda t: t**3 - 3 * t,
    }[name]
    with mp.workdps(25):
        s = mp.sqrt(mp.mpf(3) / 2)

        def g(t: mp.mpf) -> mp.mpf:
            z = (t - w) / s
            return z**order * f(t) ** power * mp.exp(-z * z / 2) / (s * mp.sqrt(2 * mp.pi))

        return mp.quad(g, [-18, -8, -4, -1, 0, 1, 4, 8, 18])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("w", [0.7, -1.3 + 0.25j])
def test_the_averages_agree_with_another_quadrature(name: str, w: complex) -> None:
    with precision(120):
        inner = smoothing(activation(name), LINE, Fraction(1, 4), Fraction(2), 70)
        point = acb(w.real, w.imag)
        found = inner.at(point, (arb("0.3"), arb("-0.2")))
        plain = inner.at(point)
        for ball, (order, power) in zip(plain, ((0, 1), (1, 1), (0, 2)), strict=False):
            value = by_quad(name, order, power, w)
            # Twenty-five digits of mpmath, to the scale of he3's square.
            assert abs(ball - acb(float(value.real), float(value.imag))) < 1e-13 * (1 + abs(value))
        # Subtracting a + b z changes the averages as it has to, E z^2 = 1 and E z^4 = 3.
        a, b = arb("0.3"), arb("-0.2")
        assert (found.mean + a).overlaps(plain.mean)
        assert (found.first + b).overlaps(plain.first)
        assert (found.square + 2 * a * plain.mean + 2 * b * plain.first - a * a - b * b).overlaps(plain.square)
        assert found.second.rad() < 1e-15


@pytest.mark.parametrize("name", ["tanh", "tanh(2*z)", "atan(z)", "z/(1 + z**2)", "erf"])
@pytest.mark.parametrize("bits", [2, 4, 8, 16])
def test_coarse_rules_own_up_to_their_errors(name: str, bits: int) -> None:
    # Rules so coarse that their errors show: the enclosures still meet those of many bits.
    line = Line(Fraction(1), Fraction(0), Fraction(4))
    with precision(128):
        coarse = smoothing(activation(name), line, Fraction(0), Fraction(2), bits)
        fine = smoothing(activation(name), line, Fraction(0), Fraction(2), 90)
        for w in (0.0, 0.3, 0.7, 1.1, 2.0):
            for minus in (None, (arb("0.5"), arb("0.25"))):
                pairs = zip(coarse.at(arb(w), minus), fine.at(arb(w), minus), strict=True)
                assert all(a is None or a.contains(b.mid()) for a, b in pairs)


@pytest.mark.parametrize("name", NAMES)
def test_a_box_holds_the_averages_of_its_points(name: str) -> None:
    with precision(80):
        inner = smoothing(activation(name), LINE, Fraction(1, 2), Fraction(3), 40)
        box = acb(arb(1, 0.25), arb("0.25", 0.25))
        whole = inner.at(box, (arb("0.3"), arb("-0.2")))
        for x, y in itertools.product((0.75, 1.0, 1.25), (0.0, 0.1, 0.5)):
            at = inner.at(acb(x, y), (arb("0.3"), arb("-0.2")))
            assert all(ball.overlaps(value) for ball, value in zip(whole, at, strict=True))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("variance", [Fraction(1, 10), Fraction(2)])
def test_the_bounds_hold_off_the_line(name: str, variance: Fraction) -> None:
    line = Line(Fraction(-3, 2), Fraction(1, 4), variance)
    height = Fraction(1, 3)
    with precision(80):
        inner = smoothing(activation(name), line, Fraction(1, 2), Fraction(10), 40)
        orders = ((0, 1), (1, 1), (0, 2))
        bounds = [average_bound(activation(name), line.slope, line.bias, line.scale(), height, *o) for o in orders]
        for x, y in itertools.product((-5.0, -1.0, -0.3, 0.0, 0.4, 2.0, 5.0), (0.0, 0.2, 1 / 3)):
            values = inner.at(line.argument(acb(x, y)))
            for value, bound in zip(values, bounds, strict=False):
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


@pytest.mark.parametrize("name", ["tanh", "relu", "sign"])
def test_the_strip_bound_of_one_plus_v_holds(name: str) -> None:
    with precision(64):
        height, end, line = Fraction(1, 4), Fraction(6), Line(Fraction(1), Fraction(0), Fraction(1))
        student = Student(smoothing(activation(name), line, height, end, 30), line)
        overlap, tau = arb(20, 1e-3), arb(40, 1e-3)
        bound = inverse_bound(student, overlap, tau, height, end, symmetric=False)
        assert bound is not None
        for x, y in itertools.product((-6.0, -2.0, 0.0, 1.0, 3.0, 6.0), (0.0, 0.1, 0.25)):
            value = student.around(acb(x, y), acb(0), arb(20), arb(40))[0]
            assert (1 / value).abs_lower() <= bound


@pytest.mark.parametrize("name", ["tanh", "relu", "sign"])
@pytest.mark.parametrize("size", [0.2, 1e-3])
def test_the_mean_value_form_holds_the_values_in_its_box(name: str, size: float) -> None:
    with precision(64):
        line = Line(Fraction(3, 2), Fraction(1, 4), Fraction(1, 2))
        student = Student(smoothing(activation(name), line, Fraction(1), Fraction(6), 50), line)
        offset = acb(arb(0, size), arb(0, size))
        for centre in (acb(0.25, 0.25), acb(-0.75, 0.3), acb(1.5, 0.25)):
            whole = student.around(centre, offset, arb(3), arb(20))[1]
            # V is of order ten here and its slope of order a hundred: a small box is not allowed to hold everything.
            assert size > 0.01 or whole.real.rad() < 1000 * size
            for x, y in itertools.product((-0.99, 0.0, 0.99), repeat=2):
                point = centre + acb(x * size, y * size)
                assert whole.overlaps(student.around(point, acb(0), arb(3), arb(20))[0])


def test_a_zero_of_one_plus_v_is_not_overlooked() -> None:
    # V of a sign is real on the imaginary axis, too: where it falls below -1 there, a zero of 1 + V lies on the way.
    with precision(64):
        line = Line(Fraction(1), Fraction(0), Fraction(1, 2))
        student = Student(smoothing(activation("sign"), line, Fraction(3, 2), Fraction(6), 30), line)
        overlap, tau = arb(1), arb(50)
        values = [student.around(acb(0, k / 8), acb(0), overlap, tau)[0] for k in range(13)]
        assert values[0].real > 0
        assert any(value.real < 0 and value.imag.contains(0) for value in values)
        assert inverse_bound(student, overlap, tau, Fraction(3, 2), Fraction(6), symmetric=True) is None


def test_what_cannot_be_smoothed_says_why() -> None:
    with precision(80):
        with pytest.raises(BallError, match="polynomial"):
            smoothing(activation("elu(z)"), LINE, Fraction(0), Fraction(3), 40)
        with pytest.raises(BallError, match="power"):
            smoothing(activation("exp(z/4)"), LINE, Fraction(0), Fraction(3), 40)
        exact = smoothing(activation("sign"), Line(Fraction(1), Fraction(0), Fraction(0)), Fraction(0), Fraction(3), 40)
        assert exact.at(rational_ball(Fraction(-1, 2)))[:3] == (-1, 0, 1)
