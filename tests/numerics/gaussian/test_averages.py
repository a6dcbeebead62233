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

# Balls are computed to 80 bits, within a time: what they leave undecided is not compared.
_BITS, _OPERATIONS = 80, 1_000_000


def _compare(text: str, found: dict[str, float], errors: dict[str, float], balls: object) -> None:
    """Each number within its error of its ball, and infinite where that is; no error above a billionth of the size."""
    size = 1.0 + abs(found.get("h2", 0.0))
    for name, value in found.items():
        ball: Certified = getattr(balls, name)
        if ball.infinite or math.isinf(value):
            assert ball.infinite or not ball.finite, (text, name)
            assert math.isinf(value) or not ball.infinite, (text, name)
        elif ball.finite:
            assert abs(value - ball.value) <= errors[name] + ball.radius, (text, name, value, ball.text(), errors[name])
            assert errors[name] <= 1e-9 * (size + abs(value)), (text, name)


@settings(max_examples=6, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(steep_activations(), arguments())
def test_averages_agree_with_their_balls_within_their_own_estimates(text: str, argument: tuple[float, float]) -> None:
    function, (shift, scale) = activation(text), argument
    constants = hermite_constants(function)
    names = ("mean", "h1", "h2", "h1_check", "curvature")
    numbers, errors = ({name: getattr(of, name) for name in names} for of in (constants, constants.errors))
    _compare(text, numbers, errors, hermite_balls(function, bits=_BITS, operations=_OPERATIONS))
    moments, left = settled_moments(integrand(function), np.array([shift]), scale)
    # scale**2 is rounded once more than scale: by eps of the bulk, which moves averages by eps of their size.
    balls = conditional_balls(function, spike=1, bulk=scale**2, kappa=shift, bits=_BITS, operations=_OPERATIONS)
    numbers, errors = (
        {"mu0": float(of.mean[0]), "mu1": float(of.slope[0]) / scale, "mu2_squared": float(of.rest[0])}
        for of in (moments, left)
    )
    _compare(text, numbers, errors, balls)


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
