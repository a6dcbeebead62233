"""How far errors of Hermite constants move the map of a gradient step: against differences of the map itself."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import replace

import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.models import gradient_step as steps
from giantsteps.numerics.models.gradient_step import StepMap
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.parameters import EXACT, MapErrors, ModelError
from giantsteps.numerics.saddle_point.ridge import solve

STEP = {"alpha": 1.5, "beta": 1.2, "ridge": 0.1, "alpha0": 2.0, "eta": 3.0}
RATE, ALPHA0, WEIGHT, NOISE = 1.3, 2.0, 0.7, 0.2


def test_a_group_of_any_weight_has_the_bulk_of_its_own_step() -> None:
    # c_u = (1 + u turn)^2 + u^2 rest, with turn 0.3 and rest 0.2.
    for turn in (0.3, 0.0):
        made = StepMap(1.0, (1.0 + turn) ** 2 + 0.2, 0.5, EXACT, turn, 0.0)
        for u in (1.0, -1.0, 0.5, -2.0, 0.0):
            assert made.bulk_of(u) == pytest.approx((1.0 + u * turn) ** 2 + 0.2 * u * u, rel=1e-14)
    # Errors of the turn, 1e-6, and of the rest, 1e-5: each by its slope.
    made = StepMap(1.0, 1.89, 0.5, MapErrors(0.0, 2.6e-6 + 1e-5, 0.0), 0.3, 1e-6)
    for u in (1.0, -1.0, 0.5, -2.0, -1.0 / 0.3):
        expected = 2.0 * abs(u * (1.0 + 0.3 * u)) * 1e-6 + u * u * 1e-5
        assert made.bulk_error(u) == pytest.approx(expected, rel=1e-9, abs=0.0)


@pytest.mark.parametrize("name", ["spike", "bulk", "alignment"])
def test_numbers_of_a_step_are_its_own_to_rounding(name: str) -> None:
    model = Model.from_gradient_step("tanh", "sin", **STEP, bulk_model="isotropic")
    scale = 1e-12 * (1.0 + abs(getattr(model, name)))
    for off, same in ((0.9 * scale, True), (-0.9 * scale, True), (1.2 * scale, False), (-1.2 * scale, False)):
        with nullcontext() if same else pytest.raises(ModelError, match="cannot be changed alone"):
            replace(model, **{name: getattr(model, name) + off})


@pytest.mark.parametrize(("noise", "bulk"), [(0.0, 1.0), (0.1, None)])
def test_labels_that_the_initial_output_explains_leave_the_noise_alone(noise: float, bulk: float | None) -> None:
    # The variance of a constant target rounds below zero, and its h1* is rounding beside an E[Y^2] of nothing.
    function = activation("z**2 + z")
    made = steps.gradient_step(
        function, activation("0.3"), alpha0=2.0, eta=0.6, beta=0.3, noise=noise, mean_weight=0.3
    )  # fmt: skip
    assert abs(made.alignment) < 1e-12
    if bulk is not None:
        assert (made.spike, made.bulk, made.turn) == (0.0, bulk, 0.0)
    else:
        # E[z sigma] = 1, E[(sigma' - 1)^2] = 4, and E[Y^2] is the noise's variance.
        assert made.spike == pytest.approx(2.0 * math.sqrt(noise / 2.0), rel=1e-9)
        assert made.bulk == pytest.approx(1.0 + 4.0 * 4.0 * noise / 2.0, rel=1e-9)


def test_what_is_left_of_a_gradient_that_vanishes_is_an_error_of_the_map() -> None:
    # h1* = 3e-12 is rounding beside 0.5; a learning rate of 3e11 makes a step of order one of it.
    made = steps.gradient_step(activation("sigmoid"), activation("0.5 + 3e-12*z"), alpha0=2.0, eta=3e11, beta=2.0)
    assert (made.spike, made.bulk, made.alignment) == (0.0, 1.0, 0.0)
    h1 = 0.20662096414
    assert made.errors.spike > 1.5e11 * h1 * 3e-12
    # Twelve digits under the bar: the rate times h1 times 1e-11 E[g^2]^(1/2) (1 + 1/alpha0)^(1/2).
    assert made.errors.spike == pytest.approx(1.5e11 * h1 * 1e-11 * 0.5 * math.sqrt(1.5), rel=1e-9)
    assert made.errors.bulk > 0.0
    usual = steps.gradient_step(activation("sigmoid"), activation("0.5 + 3e-12*z"), alpha0=2.0, eta=3.0, beta=2.0)
    assert 0.0 < usual.errors.spike < 1e-11
    assert 0.0 < usual.errors.bulk < 1e-22


def test_what_is_left_of_a_gradient_that_vanishes_turns_the_rows() -> None:
    # E[Y] = 1e-12 beside 0.3 is rounding; E[sigma''] = 2 makes a turn of it, which the bulk feels to first order.
    for eta in (0.6, 3e10):
        made = steps.gradient_step(
            activation("z**2 + z"), activation("0.300000000001"), alpha0=2.0, eta=eta, beta=0.3, mean_weight=0.3
        )  # fmt: skip
        turn = 2.0 * eta / 0.3 * 1e-12
        assert (made.bulk, made.turn) == (1.0, 0.0)
        assert made.turn_error > turn
        assert made.errors.bulk > (1.0 + turn) ** 2 - 1.0
        assert made.bulk_error(-0.5) > abs((1.0 - 0.5 * turn) ** 2 - 1.0)


@pytest.mark.parametrize("text", ["he3", "z**3 - 3*z", "sin(z) - exp(-1/2)*z", "he(3, z) - he(5, z)/7"])
def test_a_slope_that_is_zero_by_cancellation_makes_no_spike(text: str) -> None:
    # E[z f] = 0, which no parity shows; its average is some 1e-17, and r -> 0 is not r = 0 (0.42 and 0.81 for he3).
    model = Model.from_gradient_step(
        text, "sin", alpha=1.5, beta=1.0, ridge=0.1, alpha0=2.0, eta=3.0, bulk_model="isotropic"
    )
    assert (model.spike, model.uncertainty.spike) == (0.0, 0.0)
    given = model.as_given().changed(spike=0.0)
    assert solve(model).test_error == pytest.approx(solve(given).test_error, rel=1e-12)
    assert solve(model).converged
    # A target without linear part has no alignment; a slope that is small, and seen to be, is kept.
    assert steps.gradient_step(activation("tanh"), activation(text), alpha0=2.0, eta=3.0, beta=1.0).alignment == 0.0
    for size in (1e-9, -1e-9):
        small = activation(f"{text} + ({size})*z")
        kept = steps.gradient_step(small, activation("sin"), alpha0=2.0, eta=3.0, beta=1.0)
        length = math.hypot(math.exp(-0.5), math.sqrt((1 - math.exp(-2)) / 4))
        assert kept.spike == pytest.approx(3.0 * size * length, rel=1e-4)
