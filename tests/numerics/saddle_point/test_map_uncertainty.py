"""What is uncertain in a model is in the estimate of every answer: limits, widths, batches, losses and bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bounds.any_loss import loss_bounds
from giantsteps.numerics.bounds.ridge import bounds
from giantsteps.numerics.models import losses
from giantsteps.numerics.models.gradient_step import StepMap
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.models.parameters import EXACT, MapErrors
from giantsteps.numerics.saddle_point.any_loss.convex import solve as solve_loss
from giantsteps.numerics.saddle_point.map_uncertainty import neighbours
from giantsteps.numerics.saddle_point.one_group.batch import solve_batch
from giantsteps.numerics.saddle_point.overlapping import solve_overlapping
from giantsteps.numerics.saddle_point.ridge import solve


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


def test_every_number_of_a_loss_is_in_its_parameter_error() -> None:
    model, size = _given(1e-6), 1e-6
    found = solve_loss(model.changed(loss=losses.huber(0.5)))
    for what in ("spike", "bulk", "alignment"):
        moved = solve_loss(model.changed(**{what: getattr(model, what) - size}, loss=losses.huber(0.5)))
        gap = abs(moved.mean_squared_error - found.mean_squared_error)
        assert gap <= found.parameter_error * (1.0 + found.mean_squared_error)


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
