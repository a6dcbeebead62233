"""Averages in double precision beside their balls, and their errors in the error estimate of a solution."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from mpmath import mp

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.balls.coefficients import Certified, conditional_balls, hermite_balls
from giantsteps.numerics.bounds.ridge import bounds
from giantsteps.numerics.gaussian.coefficients import hermite_constants
from giantsteps.numerics.gaussian.quadrature import integrand
from giantsteps.numerics.gaussian.settled_moments import settled_moments
from giantsteps.numerics.models.losses import huber
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.any_loss.convex import solve as solve_loss
from giantsteps.numerics.saddle_point.ridge import solve
from tests.numerics.gaussian.drawn_activations import arguments, steep_activations

# Balls are computed to 80 bits, within a time: what they leave undecided is not compared, and counted.
_BITS, _SHORT, _LONG = 80, 1_000_000, 60_000_000
_SMALL, _MANY = 6, 1000


def _within(found: float, error: float, ball: Certified) -> bool:
    """Whether a number is within its error of the ball; what has no ball passes where it is infinite on both sides."""
    if ball.infinite or math.isinf(found):
        return ball.infinite and math.isinf(found)
    return abs(found - ball.value) <= error + ball.radius


class _Counted:
    """How many averages were compared, how many had no ball, how many claimed an error above a billionth."""

    def __init__(self, operations: int) -> None:
        self.operations = operations
        self.compared = self.undecided = self.loose = 0

    def compare(self, text: str, found: dict[str, float], errors: dict[str, float], balls: object) -> None:
        # The size that errors are relative to: E[f^2] and E[f'^2] are what rounding is made of.
        size = 1.0 + abs(found.get("h2", 0.0))
        for name, value in found.items():
            ball = getattr(balls, name)
            if not (ball.finite or ball.infinite):
                self.undecided += 1
                continue
            assert _within(value, errors[name], ball), (text, name, value, ball.text(), errors[name])
            self.compared += 1
            self.loose += errors[name] > 1e-9 * (size + (abs(value) if math.isfinite(value) else 0.0))


def _compare_constants(counted: _Counted, text: str) -> None:
    function = activation(text)
    constants = hermite_constants(function)
    names = ("mean", "h1", "h2", "h1_check", "curvature")
    counted.compare(
        text,
        {name: getattr(constants, name) for name in names},
        {name: getattr(constants.errors, name) for name in names},
        hermite_balls(function, bits=_BITS, operations=counted.operations),
    )


def _compare_coefficients(counted: _Counted, text: str, shift: float, scale: float) -> None:
    function = activation(text)
    moments, errors = settled_moments(integrand(function), np.array([shift]), scale)
    balls = conditional_balls(function, spike=1, bulk=scale**2, kappa=shift, bits=_BITS, operations=counted.operations)
    # scale**2 is rounded once more than scale: by eps of the bulk, which moves averages by eps of their size.
    counted.compare(
        text,
        {"mu0": float(moments.mean[0]), "mu1": float(moments.slope[0]) / scale, "mu2_squared": float(moments.rest[0])},
        {
            "mu0": float(errors.mean[0]),
            "mu1": float(errors.slope[0]) / scale,
            "mu2_squared": float(errors.rest[0]),
        },
        balls,
    )


@pytest.mark.parametrize("scale", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("place", [Fraction(1, 3), Fraction(-5, 7), Fraction(11, 9), Fraction(1000, 7)])
def test_where_a_function_jumps_is_known_to_rounding_alone(place: Fraction, scale: float) -> None:
    """E sign(s + a z - p) = erf((s - p)/(a sqrt 2)): a double for p moves it by eps p/a times twice the density."""
    shift = float(place) + 0.3 * scale
    moments, errors = settled_moments(integrand(activation(f"sign(z - ({place}))")), np.array([shift]), scale)
    with mp.workdps(40):
        p = mp.mpf(place.numerator) / place.denominator
        off = abs(float(mp.erf((shift - p) / (scale * mp.sqrt(2))) - moments.mean[0]))
    assert off <= errors.mean[0]
    # And by no more than the places' rounding: a few times 0.76 eps (|p| + |s|)/a, above the rounding of a sum.
    assert errors.mean[0] < 10.0 * 0.76 * 2.3e-16 * 2.0 * abs(shift) / scale + 1e-14


def _property(examples: int, operations: int) -> _Counted:
    counted = _Counted(operations)
    quiet = settings(
        max_examples=examples, deadline=None, database=None, derandomize=True,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip

    @quiet
    @given(steep_activations())
    def constants(text: str) -> None:
        _compare_constants(counted, text)

    @quiet
    @given(steep_activations(), arguments())
    def coefficients(text: str, argument: tuple[float, float]) -> None:
        _compare_coefficients(counted, text, *argument)

    constants()
    coefficients()
    return counted


def test_averages_agree_with_their_balls_within_their_own_estimates() -> None:
    assert _property(_SMALL, _SHORT).loose == 0


@pytest.mark.parametrize("steepness", [10, 64, 100, 120, 1000, 9999])
def test_steep_steps_have_their_slopes_squared_averaged(steepness: int) -> None:
    # E[(2k/sqrt(pi))^2 exp(-2 k^2 z^2)] = 4 k^2/(pi sqrt(1 + 4 k^2)), h1 = 2k/sqrt(pi (1 + 2 k^2)).
    k = float(steepness)
    exact = 4 * k * k / (math.pi * math.sqrt(1 + 4 * k * k)) - 4 * k * k / (math.pi * (1 + 2 * k * k))
    found = hermite_constants(activation(f"erf({steepness}*z)"))
    # The rounding of the argument k z: some eps.
    assert found.h1_check == pytest.approx(exact, rel=1e-14)
    assert abs(found.h1_check - exact) <= found.errors.h1_check <= 1e-11 * exact


@pytest.mark.parametrize("frequency", [3, 30, 300, 3000])
def test_fast_oscillations_are_resolved_or_said_not_to_be(frequency: int) -> None:
    # h1 = k exp(-k^2/2), E[sin^2] = (1 - exp(-2 k^2))/2, E[k^2 cos^2] = k^2 (1 + exp(-2 k^2))/2. Rules of steps 19:10
    # once took 300 z for the same slow oscillation.
    found = hermite_constants(activation(f"sin({frequency}*z)"))
    k = float(frequency)
    assert abs(found.h1 - k * math.exp(-k * k / 2)) <= found.errors.h1
    assert abs(found.h2 - (1 - math.exp(-2 * k * k)) / 2) <= found.errors.h2
    assert abs(found.h1_check - k * k * ((1 + math.exp(-2 * k * k)) / 2 - math.exp(-k * k))) <= found.errors.h1_check
    assert found.errors.h2 < 1e-9


STEPPED = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "alpha0": 2.0, "eta": 3.0}


def test_a_steep_step_learns_with_the_right_bulk() -> None:
    k, s = 110.0, 0.01
    model = Model.from_gradient_step(
        activation("z+erf(110*z)/100"), activation("tanh"), bulk_model="isotropic", **STEPPED
    )
    # sigma' - h1 = s (2k/sqrt(pi) exp(-k^2 z^2) - its mean).
    square = s * s * (4 * k * k / (math.pi * math.sqrt(1 + 4 * k * k)) - 4 * k * k / (math.pi * (1 + 2 * k * k)))
    label = 2.0 * float(mp.quad(lambda u: mp.tanh(u) ** 2 * mp.npdf(u), [0, 3, 6, 12]))
    exact = 1.0 + 9.0 * label / 2.0 * square
    assert model.bulk == pytest.approx(exact, rel=1e-13)
    found = solve(model)
    assert found.converged
    assert found.error_estimate < 1e-12


ROOT_STUDENT = "sign(z)*Abs(z)**(11/20)"


@pytest.mark.parametrize(
    "student",
    [
        *("sign(z-1/3)*Abs(z-1/3)**(1/2)", "sqrt(Abs(z-1/3))", "sqrt(Abs(z))"),
        # From one side alone.
        *("Piecewise((sqrt(-z), z < 0), (z, True))", "Piecewise((z, z < 0), (sqrt(z), True))", "sqrt(relu(-z))"),
    ],
)
def test_slopes_that_are_barely_not_square_integrable_are_infinite_wherever_their_root_is(student: str) -> None:
    # Away from 0 the bisection towards the root used up its panels on rounding, and 4.5 came out.
    found = hermite_constants(activation(student))
    assert math.isinf(found.h1_check)
    assert "not square integrable" in found.h1_check_reason


def test_every_answer_of_an_uncertain_step_says_so() -> None:
    # The slope of this student is barely square integrable: what its bulk is known to goes into all that rests on it.
    model = Model.from_gradient_step(ROOT_STUDENT, "tanh", bulk_model="isotropic", **STEPPED)
    ridge = solve(model).error_estimate
    assert ridge > 1e-5
    assert solve(model.as_given()).error_estimate == pytest.approx(ridge, rel=1e-3)
    # A bulk that is given anew is known; the spike's share is far smaller here.
    assert solve(model.as_given().changed(bulk=model.bulk)).error_estimate < 0.1 * ridge
    loss = solve_loss(model.changed(loss=huber(0.5)))
    assert min(loss.error_estimate, loss.parameter_error) > 1e-6
    assert bounds(model).error_estimate > 1e-6
    assert (
        solve(Model.from_gradient_step("erf(1000*z)", "tanh", bulk_model="isotropic", **STEPPED))
        .at_width()
        .error_estimate
        < 1e-11
    )
