"""Ball evaluation of expression trees and certified Gaussian expectations."""

from __future__ import annotations

import random
from fractions import Fraction

import mpmath
import pytest
from flint import acb, arb

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.expressions.budget import at_most
from giantsteps.derivations.expressions.calculus import derivative
from giantsteps.derivations.expressions.parser import parse
from giantsteps.numerics.balls.arithmetic import (
    BallError,
    evaluate_ball,
    location_ball,
    precision,
    rational_ball,
)
from giantsteps.numerics.balls.gaussian_bounds import involutions
from giantsteps.numerics.balls.integrals import InfiniteMoment, Moment, expectations
from giantsteps.numerics.gaussian.evaluate import evaluate_mpmath
from tests.derivations.expressions.test_expressions import NAMES

EXPRESSIONS = [
    *NAMES,
    "1/cosh(z)",
    "(1+z**2)**(1/3)",
    "Piecewise((z, 0 < z < 1), (z**2, True))",
    "Max(z, 1/3, -z)",
    "tan(tanh(z))",
]


def contains(ball: arb, value: mpmath.mpf, digits: int) -> bool:
    """Whether the ball holds a number known to `digits` digits."""
    with precision(int(digits * 3.33) + 40):
        known = arb(mpmath.nstr(value, digits + 10), arb(10) ** -digits * (1 + abs(arb(float(abs(value))))))
        return bool(ball.overlaps(known))


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_balls_hold_the_values_of_multiple_precision(text: str) -> None:
    rng = random.Random(7)
    tree = parse(text)
    with mpmath.workdps(60), precision(128):
        for _ in range(12):
            x = Fraction(rng.randint(-4000, 4000), rng.choice([997, 1000]))
            exact = evaluate_mpmath(tree, mpmath.mpf(x.numerator) / x.denominator)
            ball = evaluate_ball(tree, rational_ball(x))
            assert contains(ball, exact, 45)  # 60 digits were used, a few are lost
            # thin in, thin out: 128 bits less a few operations on numbers up to 5^5
            assert ball.rad() < 1e-30 * (1 + abs(exact))


@pytest.mark.parametrize("exponent", ["1/10", "33/64", "7/10", "3/2", "7/3"])
def test_a_power_around_zero_holds_those_of_its_edge(exponent: str) -> None:
    tree = parse(f"Abs(z)**({exponent})")
    power = mpmath.mpf(Fraction(exponent).numerator) / Fraction(exponent).denominator
    root = parse(f"z**({exponent})", limited=False)
    for radius in (0.5, 2.0, 1e-30):
        top = arb(float(mpmath.mpf(radius) ** power))
        for ball in (evaluate_ball(tree, arb(0, radius)), evaluate_ball(tree, arb(radius / 4, radius))):
            assert ball.is_finite()
            assert ball.contains(0)
            assert ball.overlaps(top)
            assert abs(ball).upper() < 1.5 ** float(power) * top
        plane = evaluate_ball(root, acb(arb(0, radius), arb(0, radius)))
        assert plane.is_finite()
        for turn in (acb(radius), acb(0, radius), acb(-radius, radius)):
            assert plane.overlaps(turn.pow(acb(arb(str(power)))))
        assert not evaluate_ball(root, acb(arb(0, radius), arb(0, radius)), analytic=True).is_finite()


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_wide_balls_hold_the_values_inside(text: str) -> None:
    rng = random.Random(8)
    tree, slope = parse(text), derivative(parse(text))
    for _ in range(12):
        middle, radius = rng.uniform(-3, 3), rng.uniform(0, 1)
        box = evaluate_ball(tree, arb(middle, radius))
        point = arb(middle + radius * rng.uniform(-0.999, 0.999))
        assert box.overlaps(evaluate_ball(tree, point))
        plane = evaluate_ball(tree, acb(arb(middle, radius), arb(0, radius)))
        assert not plane.is_finite() or plane.real.overlaps(evaluate_ball(tree, point))
        assert not evaluate_ball(slope, arb(middle, radius)).rad() < 0


@pytest.mark.parametrize(
    "text",
    [
        "Abs(z)",
        "sign(z)",
        "step",
        "relu",
        "sqrt(1+z)",
        "log(1+z)",
        "Piecewise((z, z > 0), (0, True))",
        "atan(2*z)",
        "asinh(2*z)",
    ],
)
def test_analytic_flag_reaches_every_node(text: str) -> None:
    # a box that meets the kink, or a branch point or cut (-1, i/2): not analytic there
    box = acb(arb(0, 2), arb(0, 2))
    assert not evaluate_ball(parse(text), box, analytic=True).is_finite()
    away = acb(arb(3, 0.1), arb(0, 0.1))
    assert evaluate_ball(parse(text), away, analytic=True).is_finite()


def test_constants_follow_the_precision() -> None:
    tree = parse("z/3 + pi")
    with precision(64):
        coarse = evaluate_ball(tree, arb(1))
    with precision(512):
        fine = evaluate_ball(tree, arb(1))
        assert fine.rad() < arb(2) ** -500
        assert coarse.overlaps(fine)


def test_locations_at_high_precision() -> None:
    place = activation("Abs(z**5 - z - 1)").breakpoints[0].location
    with precision(1000):
        ball = location_ball(place)
        assert ball.rad() < arb(2) ** -950
        # the residual of the polynomial at the ball holds zero
        assert (ball**5 - ball - 1).contains(0)


# closed forms: moments of polynomials and exponentials of a Gaussian
@pytest.mark.parametrize("bits", [64, 128, 300])
def test_moments_of_a_polynomial(bits: int) -> None:
    # x = 1/2 + sqrt(2) z: E x^2 = 1/4 + 2, E[z x^2] = 2 (1/2) sqrt 2, E x^4 = 1/16 + 6 (1/4) 2 + 3*4
    second, first, fourth = expectations(
        activation("z**2"), (Moment(0, 1), Moment(1, 1), Moment(0, 2)), mean=Fraction(1, 2), variance=2, bits=bits
    )
    with precision(bits + 20):
        assert second.overlaps(arb(9) / 4)
        assert first.overlaps(arb(2).sqrt())
        assert fourth.overlaps(arb(241) / 16)
        for ball in (second, first, fourth):
            assert ball.rad() < arb(2) ** -(bits - 10)


@pytest.mark.parametrize(
    "text", ["tanh", "gelu", "relu", "softsign", "1/(1+z**2)", "Max(exp(z), 2)", "sign(z - sqrt(2))"]
)
def test_trapezoid_and_panels_agree_at_two_precisions(text: str) -> None:
    function = activation(text)
    wanted = (Moment(0, 1), Moment(1, 1), Moment(0, 2), Moment(3, 1), Moment(1, 2))
    arguments = {"mean": Fraction(3, 10), "variance": Fraction(7, 5)}
    coarse = expectations(function, wanted, bits=80, **arguments)
    fine = expectations(function, wanted, bits=200, **arguments)
    with precision(260):
        for a, b in zip(coarse, fine, strict=True):
            assert a.overlaps(b)
            assert b.rad() < arb(2) ** -190 * (1 + abs(b))
            assert a.contains(b) or a.rad() < arb(2) ** -70


def test_infinite_and_undecided_moments_are_refused() -> None:
    with pytest.raises(InfiniteMoment):
        expectations(activation("exp(z**2/3)"), (Moment(0, 2),))
    with pytest.raises(InfiniteMoment):
        expectations(activation("exp(z**2/5)"), (Moment(0, 2),), variance=Fraction(5, 4))
    with pytest.raises(BallError, match="could not be decided"):
        expectations(activation("sin(z)*exp(z**2/3)"), (Moment(0, 2),))
    with pytest.raises(BallError, match="variance"):
        expectations(activation("tanh"), (Moment(0, 1),), variance=0)


def test_the_limit_on_operations_is_kept_and_said() -> None:
    function = activation("log(2+cos(exp(z)))")
    with at_most(10_000_000) as budget, pytest.raises(BallError, match="limit on the number of operations"):
        expectations(function, (Moment(0, 1),), operations=300_000)
    assert 0 <= 10_000_000 - budget.left - 300_000 < 10_000  # the callback counts every evaluation


def test_softplus_is_one_function_on_all_boxes() -> None:
    # Beside 2 pi i, on both sides of Re u = 0, values differ by little: no box changes the branch of the logarithm.
    left, right = (evaluate_ball(activation("softplus").expression, acb(x, 6.28), True) for x in (-1e-9, 1e-9))
    assert abs(left - right) < 1e-8


def test_a_square_around_zero_is_finite() -> None:
    # softplus(0) - log 2 is a ball around 0, whose power is not finite in flint's real arithmetic
    for text in ("softplus(z) - log(2)", "exp(z) - cos(z)*e/exp(1)", "z*softplus(z) + erf(1) - erf(1)*cosh(z)"):
        (square,) = expectations(activation(text), (Moment(0, 2),), bits=64)
        assert square.is_finite()


def test_sum_of_absolute_hermite_coefficients() -> None:
    # He_5 = z^5 - 10 z^3 + 15 z
    assert [involutions(k) for k in range(6)] == [1, 1, 2, 4, 10, 26]
