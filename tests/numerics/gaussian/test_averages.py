"""Averages in double precision beside their balls, and their errors in the error estimate of a solution."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from mpmath import mp

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.balls.coefficients import Certified, conditional_balls, hermite_balls
from giantsteps.numerics.bounds.ridge import bounds
from giantsteps.numerics.bulk.network_constants import slope_constants
from giantsteps.numerics.gaussian.coefficients import hermite_constants
from giantsteps.numerics.gaussian.quadrature import conditional_moments, integrand
from giantsteps.numerics.gaussian.settled_moments import settled_moments, still_to_come
from giantsteps.numerics.models.gradient_step import gradient_step
from giantsteps.numerics.models.losses import huber
from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.models.parameters import EXACT, MapErrors
from giantsteps.numerics.saddle_point.any_loss.convex import solve as solve_loss
from giantsteps.numerics.saddle_point.map_uncertainty import neighbours
from giantsteps.numerics.saddle_point.one_group.batch import solve_batch
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


@pytest.mark.thorough
def test_averages_of_a_thousand_activations_agree_with_their_balls() -> None:
    counted = _property(_MANY, _LONG)
    print(f"{counted.compared} averages compared, {counted.undecided} without a ball, {counted.loose} claim > 1e-9")
    # The estimates are of use: few are loose, few comparisons are missing.
    assert counted.loose <= 0.01 * counted.compared
    assert counted.undecided <= 0.05 * counted.compared


@pytest.mark.parametrize(
    "text", ["erf(z)+exp(-(1000*(z+1))**2)", "tanh(10*z)+exp(-(1000*(z+1))**2)", "z+tanh(z)+exp(-(2490*(z+1))**2)"]
)
@pytest.mark.parametrize("shift", [-3.375, -3.3125, -3.352716872153655])
def test_sums_over_thousands_of_nodes_cost_a_few_roundings(text: str, shift: float) -> None:
    # A narrow peak far out takes thousands of nodes, of which all but a few average what is nearly constant: added up
    # one after another they cost fifty roundings, more than is claimed.
    counted = _Counted(_LONG)
    _compare_coefficients(counted, text, shift, math.sqrt(0.1))
    assert counted.compared == 3


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


def test_averages_that_do_not_settle_are_refused_where_nobody_carries_their_error() -> None:
    far = integrand(activation("exp(-sin(100*z)**2*10**8)"))
    with pytest.raises(ValueError, match="varies too fast for rules in double precision"):
        conditional_moments(far, np.zeros(1), 1.0)
    moments, errors = settled_moments(far, np.zeros(1), 1.0)
    assert errors.square[0] >= moments.square[0]


def test_the_rounding_of_breakpoints_is_in_the_estimate() -> None:
    # The slope 573 lives on a width of 1/287 around 1/3, whose ends are rounded to 1e-16.
    counted = _Counted(_LONG)
    _compare_constants(counted, "hardtanh(572949/1000*(z-1/3))")
    assert counted.compared == 5


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


def _uncertain(monkeypatch: pytest.MonkeyPatch, errors: MapErrors, student: str = "tanh(z)") -> Model:
    """A model after a gradient step whose averages are said to be off by so much."""
    monkeypatch.setattr(
        "giantsteps.numerics.models.model.gradient_step",
        lambda *a, **k: gradient_step(*a, **k)._replace(errors=errors),
    )
    return Model.from_gradient_step(activation(student), activation("sin"), bulk_model="isotropic", **STEPPED)


@pytest.mark.parametrize("size", [1e-3, 1e-6, 1e-10])
def test_the_errors_of_the_map_reach_the_error_of_the_solution(size: float, monkeypatch: pytest.MonkeyPatch) -> None:
    model = _uncertain(monkeypatch, MapErrors(size, 0.5 * size, 0.1 * size))
    one = solve(model)
    many = solve_batch(model, alpha=[model.alpha], beta=model.beta, ridge=model.ridge)
    # To first order, by differences of their own: the derivatives of the test error times the errors.
    h, exact = 1e-4, model.as_given()
    expected = 0.0
    for name, error in zip(("spike", "bulk", "alignment"), model.uncertainty, strict=True):
        ends = [solve(replace(exact, **{name: getattr(model, name) + x})).test_error for x in (-h, h)]
        expected += abs(ends[1] - ends[0]) / (2 * h) * error
    # Second order in h and in the error: 1e-3 of the sum at most.
    assert one.error_estimate == pytest.approx(expected, rel=5e-3, abs=1e-12)
    assert float(many.error_estimate[0]) == pytest.approx(expected, rel=5e-3, abs=1e-12)
    assert one.converged is (size < 1e-4)
    assert bool(many.converged[0]) is one.converged


def test_small_errors_of_the_map_are_multiplied_by_the_condition_of_the_equations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exact, uncertain = (solve(_uncertain(monkeypatch, errors)) for errors in (EXACT, MapErrors(1e-13, 0.0, 0.0)))
    assert 1.0 < uncertain.error_estimate / exact.error_estimate < 30.0


def test_neighbours_stay_models(monkeypatch: pytest.MonkeyPatch) -> None:
    model = _uncertain(monkeypatch, MapErrors(1e-2, 5e-3, 1e-3), "-tanh(z)")
    r, c, gamma = model.spike, model.bulk, model.alignment
    assert r < 0.0 < gamma
    moved = list(neighbours(model))
    assert [(m.spike, m.bulk, m.alignment) for m in moved] == [
        (r - 1e-2, c, gamma), (r, c + 5e-3, gamma), (r, c, gamma - 1e-3),
    ]  # fmt: skip
    assert all(m.uncertainty == EXACT for m in moved)


@pytest.mark.parametrize("steepness", [30, 110, 1000])
def test_the_network_constants_of_steep_steps(steepness: int) -> None:
    # s = g - h1 with g = (2k/sqrt(pi)) exp(-k^2 z^2): E g^n z^m by Gaussian integrals.
    k = float(steepness)

    def power(n: int, m: int) -> float:
        variance = 1.0 / (1.0 + 2.0 * n * k * k)
        return (2 * k / math.sqrt(math.pi)) ** n * math.sqrt(variance) * {0: 1.0, 2: variance}[m]

    h1 = power(1, 0)
    found = slope_constants(activation(f"erf({steepness}*z)"))
    square = power(2, 0) - h1**2
    expected = {
        "square": square,
        "second": power(1, 2) - h1,
        "weighted_square": power(2, 2) - 2 * h1 * power(1, 2) + h1**2,
        "cube": power(3, 0) - 3 * h1 * power(2, 0) + 2 * h1**3,
        "square_variance": power(4, 0) - 4 * h1 * power(3, 0) + 6 * h1**2 * power(2, 0) - 3 * h1**4 - square**2,
    }
    for name, value in expected.items():
        assert getattr(found, name) == pytest.approx(value, rel=20 * found.error), name
    assert found.error < 1e-10


def test_network_constants_that_do_not_settle_are_refused() -> None:
    with pytest.raises(ModelError, match="do not settle"):
        slope_constants(activation("z+exp(-sin(100*z)**2*10**8)"))


ROOT_STUDENT = "sign(z)*Abs(z)**(11/20)"


def _power_moments(power: float, place: float) -> tuple[float, float]:
    """E[f'] and E[f'^2] of f = sign(z - place) |z - place|^power, by Kummer's functions.

    E|z - b|^s = 2^(s/2) Gamma((s + 1)/2)/sqrt(pi) 1F1(-s/2; 1/2; -b^2/2) for s > -1.
    """
    with mp.workdps(30):
        b, a = mp.mpf(place), mp.mpf(power)

        def absolute(s: mp.mpf) -> mp.mpf:
            return 2 ** (s / 2) * mp.gamma((s + 1) / 2) / mp.sqrt(mp.pi) * mp.hyp1f1(-s / 2, 0.5, -b * b / 2)

        return float(a * absolute(a - 1)), float(a * a * absolute(2 * a - 2))


@pytest.mark.parametrize("place", ["0", "1/3", "-5/8", "5"])
@pytest.mark.parametrize("power", [11, 12, 15])
def test_slopes_with_an_integrable_singularity_are_off_by_no_more_than_they_say(power: int, place: str) -> None:
    # The panels that end on the root lose as little as 7 % of their error at a halving: fourteen times the last
    # difference is left.
    numerator, _, denominator = place.partition("/")
    h1, square = _power_moments(power / 20, int(numerator) / int(denominator or 1))
    found = hermite_constants(activation(f"sign(z-({place}))*Abs(z-({place}))**({power}/20)"))
    off = abs(found.h1_check - (square - h1 * h1))
    assert abs(found.h1 - h1) <= found.errors.h1
    # Not loose either: a factor two for a logarithm, what the last halvings moved, and rounding.
    assert off <= found.errors.h1_check <= 4.0 * off + 1e-12


@pytest.mark.parametrize("power", ["37/40", "19/20"])
def test_the_network_constants_of_a_singular_slope_know_their_error(power: str) -> None:
    a = float(Fraction(power))

    def moment(n: int) -> float:
        s = n * (a - 1.0)
        return a**n * 2 ** (s / 2) * math.gamma((s + 1) / 2) / math.sqrt(math.pi)

    h1 = moment(1)
    square = moment(2) - h1**2
    variance = moment(4) - 4 * h1 * moment(3) + 6 * h1**2 * moment(2) - 3 * h1**4 - square**2
    found = slope_constants(activation(f"sign(z)*Abs(z)**({power})"))
    assert abs(found.square_variance - variance) <= found.error * variance


@pytest.mark.parametrize(
    ("ratios", "expected"),
    # A geometric series of ratio q is left with last q/(1 - q), twice that is claimed; the size where nothing shrinks;
    # nothing where the last difference is rounding.
    [((1.0, 0.5), 1.0), ((1.0, 0.9), 16.2), ((1.0, 1.0), 30.0), ((1.0, 1.5), 30.0), ((1.0, 0.999), 30.0),
     ((1e-3, 1e-3), 0.0)],
)  # fmt: skip
def test_what_a_series_of_differences_has_left(ratios: tuple[float, float], expected: float) -> None:
    before, last = (np.array([x]) for x in ratios)
    assert still_to_come(before, last, np.array([1e-2]), np.array([30.0]))[0] == pytest.approx(expected, rel=1e-9)


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


def test_a_step_whose_averages_do_not_settle_is_refused() -> None:
    with pytest.raises(ModelError, match="do not settle in double precision"):
        Model.from_gradient_step("erf(10**13*z)+1/2", "tanh", bulk_model="isotropic", **STEPPED)
