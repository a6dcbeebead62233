"""What is uncertain in a model is in the estimate of every answer: limits, widths, batches, losses and bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import Activation, activation
from giantsteps.numerics.bounds.any_loss import loss_bounds
from giantsteps.numerics.bounds.results import LeastLoss
from giantsteps.numerics.bounds.ridge import bounds
from giantsteps.numerics.gaussian.coefficients import HermiteConstants, hermite_constants
from giantsteps.numerics.models import losses
from giantsteps.numerics.models.gradient_step import StepMap, gradient_step
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.models.parameters import EXACT, MapErrors
from giantsteps.numerics.models.readout_law import ReadoutLaw
from giantsteps.numerics.saddle_point.any_loss.convex import solve as solve_loss
from giantsteps.numerics.saddle_point.letters.density import solve_letters
from giantsteps.numerics.saddle_point.map_uncertainty import bulk_errors, neighbours, relative_uncertainty
from giantsteps.numerics.saddle_point.one_group.batch import solve_batch, solve_families
from giantsteps.numerics.saddle_point.overlapping import solve_overlapping
from giantsteps.numerics.saddle_point.ridge import solve

STEP = {"alpha": 1.5, "beta": 0.7, "ridge": 0.1, "alpha0": 2.0, "eta": 3.0}


def _given(size: float) -> Model:
    return Model(
        "tanh", "sin", alpha=1.5, beta=1.0, ridge=1e-3, noise=0.1, spike=1.2, bulk=1.3, alignment=0.8,
        given_uncertainty=MapErrors(size, size, size),
    )  # fmt: skip


def _batch(model: Model, width: float | None) -> tuple[float, float]:
    found = solve_batch(model, ridge=[model.ridge])
    told = found if width is None else found.at_width(width)
    return float(told.test_error[0]), float(told.error_estimate[0])


def _one(model: Model, width: float | None) -> tuple[float, float]:
    told = solve(model) if width is None else solve(model).at_width(width)
    return told.test_error, told.error_estimate


def _loss(loss: losses.Loss) -> Callable[[Model, float | None], tuple[float, float]]:
    def answer(model: Model, width: float | None) -> tuple[float, float]:
        told = solve_loss(model.changed(loss=loss), width=width)
        return told.test_error, told.error_estimate

    return answer


def _upper(model: Model, width: float | None) -> tuple[float, float]:
    return bounds(model).upper, bounds(model).error_estimate


def _upper_loss(model: Model, width: float | None) -> tuple[float, float]:
    found = loss_bounds(model)
    return found.upper, found.error_estimate


ANSWERS = {
    "ridge": _one, "batch": _batch, "square": _loss(losses.SQUARE), "huber": _loss(losses.huber(0.5)), "bounds": _upper,
    "bounds of a loss": _upper_loss,
}  # fmt: skip
CASES = [
    pytest.param(name, width, marks=pytest.mark.thorough if "loss" in name else ())
    for name in ANSWERS
    for width in (None, 300.0)
    if width is None or "bounds" not in name
]


# Errors that are solved again for, and those that enter like rounding.
@pytest.mark.parametrize("size", [1e-6, 9e-13])
@pytest.mark.parametrize(("name", "width"), CASES)
def test_every_answer_carries_the_uncertainty_of_its_model(name: str, width: float | None, size: float) -> None:
    model, answer, h = _given(size), ANSWERS[name], 1e-4
    expected = 0.0
    for what in ("spike", "bulk", "alignment"):
        ends = [answer(model.changed(**{what: getattr(model, what) + x}), width)[0] for x in (-h, h)]
        expected += abs(ends[1] - ends[0]) / (2.0 * h) * size
    told = answer(model, width)[1]
    # Second order in h and in the size: 1e-5 of the sum. Conditions of equations exaggerate, by far less than 1e3.
    assert 0.999 * expected <= told <= 1e3 * expected


@pytest.mark.parametrize("size", [1e-3, 9e-13])
def test_bounds_of_a_loss_are_as_uncertain_as_their_model(size: float, monkeypatch: pytest.MonkeyPatch) -> None:
    # Infima that are a known function of the model in place of those that take seconds.
    def least(model: Model, *, across: bool) -> LeastLoss:
        value = model.bulk + (0.5 if across else 2.0) * model.alignment + (0.0 if across else model.spike)
        return LeastLoss(value, (), at_infinity=True, error_estimate=0.0, converged=True)

    monkeypatch.setattr("giantsteps.numerics.bounds.any_loss.least_loss", least)
    found, known = (loss_bounds(_given(x).changed(loss=losses.huber(0.7))) for x in (size, 0.0))
    assert known.error_estimate == 0.0
    assert found.error_estimate >= 0.999 * (1.0 + 1.0 + 2.0) * size
    # Small errors count three times beside 1 + loss, which is 5.
    assert found.error_estimate <= 20.0 * size
    assert known.converged
    assert found.converged is (size < 1e-6)


def test_every_number_of_a_loss_is_in_its_parameter_error() -> None:
    model, size = _given(1e-6), 1e-6
    found = solve_loss(model.changed(loss=losses.huber(0.5)))
    for what in ("spike", "bulk", "alignment"):
        moved = solve_loss(model.changed(**{what: getattr(model, what) - size}, loss=losses.huber(0.5)))
        gap = abs(moved.mean_squared_error - found.mean_squared_error)
        assert gap <= found.parameter_error * (1.0 + found.mean_squared_error)


def test_the_bulks_of_all_groups_are_as_uncertain_as_the_step_makes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = (
        ReadoutGroup(1.0, 0.25), ReadoutGroup(-3.0, 0.25), ReadoutGroup(0.5, 0.25), ReadoutGroup(2.0, 0.25, bulk=1.1),
    )  # fmt: skip
    # What the averages may be off by is said to be this.
    errors = MapErrors(0.0, 1e-5, 0.0)
    monkeypatch.setattr(
        "giantsteps.numerics.models.model.gradient_step",
        lambda *a, **k: gradient_step(*a, **k)._replace(errors=errors),
    )
    model = Model.from_gradient_step("tanh", "sin", readout=groups, bulk_model="isotropic", **STEP)
    c = model.bulk
    there = [1.0 + u * u * (c + 1e-5 - 1.0) for u in (1.0, 3.0, 0.5)] + [1.1]
    forgotten = model.as_given()
    for one in (model, forgotten, forgotten.changed(alpha=2.0)):
        (moved,) = neighbours(one)
        assert moved.bulks == pytest.approx(there, rel=1e-14)
        assert moved.uncertainty == EXACT
        assert not any(bulk_errors(moved))
        largest = max(u * u * 1e-5 / bulk for u, bulk in zip((1.0, 3.0, 0.5), model.bulks[:3], strict=True))
        assert relative_uncertainty(one) == pytest.approx(largest, rel=1e-9)
    assert solve(forgotten).error_estimate == pytest.approx(solve(model).error_estimate, rel=1e-6)
    # A bulk that is given anew is known; groups that are given anew are, too.
    assert bulk_errors(forgotten.changed(bulk=c)) == pytest.approx((0.0, 9e-5, 2.5e-6, 0.0))
    assert relative_uncertainty(forgotten.changed(bulk=c, readout=groups)) == 0.0


@pytest.mark.parametrize("turn", [0.0, 0.3, -0.3, -0.8, -1.0, -2.5])
@pytest.mark.parametrize("weight", [0.1, 0.5, 3.0, -0.5, -1.0])
def test_the_bulk_of_a_group_is_as_uncertain_as_its_turn_and_its_noise(weight: float, turn: float) -> None:
    def own(turn: float, rest: float) -> float:
        return StepMap(1.0, (1.0 + turn) ** 2 + rest, 0.8, EXACT, turn).bulk_of(weight)

    off, turned = 1e-6, 3e-7 if turn else 0.0
    errors = MapErrors(0.0, 2.0 * abs(1.0 + turn) * turned + off, 0.0)
    told = StepMap(1.0, (1.0 + turn) ** 2 + 0.5, 0.8, errors, turn, turned).bulk_error(weight)
    moves = [abs(own(turn + s * turned, 0.5 + t * off) - own(turn, 0.5)) for s in (-1, 1) for t in (-1, 1)]
    # To first order: the turn's square is felt by weight^2 turned^2.
    assert told == pytest.approx(max(moves), abs=weight**2 * turned**2 + 1e-14)


CONSTANTS = ("h1", "h2", "h1_check")


@pytest.mark.parametrize("name", CONSTANTS)
@pytest.mark.parametrize("role", ["tanh", "sin"])
def test_the_errors_of_a_step_are_those_of_its_constants(role: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _told(role, name, activation("tanh"), activation("sin"), 5.0, monkeypatch)


@pytest.mark.parametrize("name", ["mean", "curvature", *CONSTANTS])
@pytest.mark.parametrize("role", ["student", "target"])
def test_the_errors_of_a_step_with_an_even_part(role: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # E[Y] enters both c's square and its noise: their moves may take each other off.
    _told(
        "tanh" if role == "student" else role, name, activation("softplus"), activation("sin(z + 1)"), 40.0, monkeypatch
    )


def _told(
    role: str, name: str, student: Activation, target: Activation, most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the map says that an error of a constant does to it is what that does, and not `most` times more."""
    step, off = {"alpha0": 0.6, "eta": 3.0, "beta": 0.7, "noise": 0.2}, 1e-9
    before = gradient_step(student, target, **step)
    none = type(hermite_constants(student).errors)(*[0.0] * len(hermite_constants(student).errors))

    def said(moved: bool) -> Callable[..., HermiteConstants]:
        def constants(function: object) -> HermiteConstants:
            found = hermite_constants(function)  # type: ignore[arg-type]
            here = function is (student if role == "tanh" else target)
            errors = none._replace(**{name: off}) if here and not moved else none
            value = getattr(found, name) + (off if here and moved else 0.0)
            return replace(found, errors=errors, **{name: value})

        return constants

    # Also what tells the even part apart from nothing reads them.
    monkeypatch.setattr("giantsteps.numerics.models.gradient_step.hermite_constants", said(moved=False))
    told = gradient_step.__wrapped__(student, target, **step).errors
    monkeypatch.setattr("giantsteps.numerics.models.gradient_step.hermite_constants", said(moved=True))
    after = gradient_step.__wrapped__(student, target, **step)
    for error, x, y in zip(told, before[:3], after[:3], strict=True):
        # To first order: 1e-8 of it and rounding are left. Of an alignment two parts of either sign are added up.
        assert abs(y - x) <= 1.00001 * error + 1e-14
        assert error <= most * abs(y - x) + 1e-14


def test_what_a_network_s_law_is_known_to_is_in_the_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model.from_gradient_step("tanh", "sin", bulk_model="network", **STEP)
    monkeypatch.setattr("giantsteps.numerics.bulk.network.law_error", lambda _: 1e-8)
    assert relative_uncertainty(model) == 1e-8
    found, loss = solve(model), solve_loss(model.changed(loss=losses.huber(0.5)))
    assert 1e-9 < found.error_estimate < 1e-6
    assert 1e-9 < found.at_width(300).error_estimate < 1e-6
    assert 1e-9 < loss.error_estimate < 1e-6
    assert bounds(model).error_estimate > 1e-9


@pytest.mark.thorough
def test_a_density_of_letters_is_as_uncertain_as_its_step() -> None:
    law, size = ReadoutLaw("uniform", 1.0), 9e-13
    ends = [solve_letters(_given(size).changed(bulk=1.3 + x, readout=law)).test_error for x in (-1e-4, 1e-4)]
    told = solve_letters(_given(size).changed(readout=law)).error_estimate
    assert told >= abs(ends[1] - ends[0]) / 2e-4 * size
    assert told > 2.0 * solve_letters(_given(0.0).changed(readout=law)).error_estimate


def test_points_of_one_family_are_as_uncertain_as_each_other() -> None:
    known, uncertain = ([_given(size).changed(alpha=1.0 + 0.1 * i) for i in range(10)] for size in (0.0, 1e-6))
    batches = dict(enumerate(solve_families([*known, *uncertain])))
    assert [places for places, _ in batches.values()] == [list(range(10)), list(range(10, 20))]
    assert batches[0][1].error_estimate.max() < 1e-11 < 1e-7 < batches[1][1].error_estimate.min()


def test_an_uncertainty_can_be_changed_like_any_field() -> None:
    errors = MapErrors(1e-3, 0.0, 0.0)
    model = _given(0.0).changed(given_uncertainty=errors, spike=1.0)
    assert (model.uncertainty, model.spike) == (errors, 1.0)


def test_rows_that_overlap_take_their_error_to_a_width() -> None:
    network = Network(activation("tanh"), activation("sin"), 1.5, 1.0, 0.1, alpha0=2.0, eta=1.0, overlap=0.3)
    found = solve_overlapping(network)
    assert found.converged
    assert found.at_width(1000).error_estimate >= 0.5 * found.error_estimate
    # A target that the grid of the batch's averages does not resolve: that is said, too.
    steep = solve_overlapping(replace(network, target=activation("he3+he5")))
    assert steep.error_estimate > 1e-5 * steep.test_error
    assert not steep.converged
    assert "finer grid" in steep.status


def test_a_batch_carries_what_its_limit_is_known_to() -> None:
    # A target that no rule resolves: both limits say so, and values that follow from them cannot be better known.
    model = _given(0.0).changed(target="exp(-sin(30*z)**2*10**4)")
    batch = solve_batch(model, ridge=[0.1, 1.0])
    left = batch.error_estimate
    assert not batch.converged.any()
    assert np.all(batch.at_width().error_estimate >= 0.9 * left)


@pytest.mark.parametrize("alignment", [0.8, -0.8, 0.0])
def test_an_alignment_moves_no_farther_than_an_alignment_goes(alignment: float) -> None:
    model = Model(
        "tanh", "sin", alpha=1.5, beta=1.0, ridge=0.1, spike=1.0, bulk=1.0, alignment=alignment,
        given_uncertainty=MapErrors(0.0, 0.0, 653.0),
    )  # fmt: skip
    (moved,) = neighbours(model)
    assert moved.alignment == (1.0 if alignment < 0.0 else -1.0)
    (moved,) = neighbours(model.changed(given_uncertainty=MapErrors(0.0, 0.0, 0.3)))
    assert moved.alignment == pytest.approx(alignment + 0.3 if alignment < 0.0 else alignment - 0.3, rel=1e-15)
