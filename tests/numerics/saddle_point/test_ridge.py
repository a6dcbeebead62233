"""The ridge saddle point: limits, what no ridge means, and what is not called converged."""

from __future__ import annotations

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.models.model import Model, ModelError, ReadoutGroup
from giantsteps.numerics.saddle_point.ridge import solve

WORKED = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "spike": 1.0, "bulk": 1.0, "alignment": 0.8}


def _model(student: str, target: str, **values: object) -> Model:
    return Model(activation(student), activation(target), **values)  # type: ignore[arg-type]


def test_alignment_one_is_the_limit_of_alignments_below() -> None:
    # The layers of the target have width sqrt(1 - gamma^2); the error moves by O(width) where the target jumps, here
    # 4e-6 times a constant of order one.
    values = {"alpha": 1.2, "beta": 0.8, "ridge": 0.05, "spike": 1.4, "bulk": 0.9}
    at = solve(_model("tanh", "sign", **values, alignment=1.0)).test_error
    below = solve(_model("tanh", "sign", **values, alignment=1.0 - 1e-11)).test_error
    assert 0.0 < abs(at - below) < 2e-5


def test_unequal_fractions_of_equal_groups_share_the_mean_by_size() -> None:
    groups = (ReadoutGroup(1.0, 0.2), ReadoutGroup(1.0, 0.8))
    split = solve(_model("relu", "tanh", **WORKED, readout=groups)).order_parameters
    assert split.m[1] / split.m[0] == pytest.approx(4.0, rel=1e-9)


def test_a_bias_of_the_group_is_a_shift_of_the_activation() -> None:
    biased = solve(_model("tanh", "relu", **WORKED, readout=(ReadoutGroup(bias=0.5),)))
    shifted = solve(_model("tanh(z + 1/2)", "relu", **WORKED))
    assert biased.test_error == pytest.approx(shifted.test_error, rel=1e-11)


@pytest.mark.parametrize("student", ["sin", "relu", "tanh"])
@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 1.0), (2.5, 1.0)])
def test_no_ridge_is_the_limit_from_above(student: str, alpha: float, beta: float) -> None:
    values = {"alpha": alpha, "beta": beta, "spike": 0.3, "bulk": 1.0, "alignment": 0.8, "noise": 0.1}
    limit = solve(_model(student, "sin", **values, ridge=0.0))
    near = solve(_model(student, "sin", **values, ridge=1e-9))
    assert limit.converged
    # Regular on both sides of the threshold: the error is linear in the ridge, with slopes up to about 50 here.
    assert near.test_error == pytest.approx(limit.test_error, abs=1e-6)
    if alpha < beta:
        assert limit.training_error == 0.0
        assert np.all(np.isinf(limit.order_parameters.V2))
        assert near.order_parameters.q2 == pytest.approx(limit.order_parameters.q2, rel=1e-6)


def test_linear_features_interpolate_at_the_input_dimension() -> None:
    # A linear student with n < d: rank d, so the training error vanishes without ridge though beta is smaller still.
    limit = solve(_model("z", "tanh", alpha=0.5, beta=0.8, ridge=0.0, spike=0.5, bulk=1.0, alignment=0.8))
    near = solve(_model("z", "tanh", alpha=0.5, beta=0.8, ridge=1e-9, spike=0.5, bulk=1.0, alignment=0.8))
    assert limit.training_error == 0.0
    assert near.test_error == pytest.approx(limit.test_error, abs=1e-6)


def test_means_that_cancel_by_more_than_the_digits_are_not_called_converged() -> None:
    # exp at next to no spike: three means that are all but constant, a tiny ridge, order parameters of order 1e9.
    groups = (
        ReadoutGroup(0.25, 0.48, None, 0.11),
        ReadoutGroup(-0.32, 0.5, 0.26),
        ReadoutGroup(-1.26, 0.02, None, 2.04),
    )
    values = {"alpha": 0.245, "beta": 0.908, "ridge": 2e-5, "spike": 2e-5, "bulk": 1.644, "alignment": 1.0}
    solution = solve(_model("exp(z)", "relu", **values, readout=groups))
    assert not solution.converged
    assert "rounding" in solution.status


@pytest.mark.parametrize("alpha", [0.5, 1.5])
def test_constant_features_have_no_ridgeless_limit(alpha: float) -> None:
    # Zero, before and after a step: nothing decides between the weights of the features, on either side.
    zero, line = activation("0"), activation("z")
    given = Model(zero, line, alpha, 1.0, 0.0, spike=1.0, bulk=1.0, alignment=0.5)
    stepped = Model.from_gradient_step(
        zero,
        line,
        alpha=alpha,
        beta=1.0,
        ridge=0.0,
        alpha0=2.0,
        eta=3.0,
        readout=(ReadoutGroup(bias=0.2),),
        bulk_model="isotropic",
    )
    for model in (given, stepped):
        with pytest.raises(ModelError, match="all equal"):
            solve(model)
        assert solve(model.changed(ridge=0.1)).converged


@pytest.mark.parametrize(("beta", "excess", "bulk"), [(2.0, 0.001, 2.0), (2.0, 0.01, 1.0), (5.0, 0.01, 1.0)])
@pytest.mark.parametrize("fractions", [(1.0,), (0.5, 0.5)])
def test_a_little_beyond_interpolation_the_solution_is_the_one_of_positive_overlap(
    beta: float, excess: float, bulk: float, fractions: tuple[float, ...]
) -> None:
    # Without a ridge, steps from below the solution lead to T < 0 where tau > 0: on to what solves the equations and is
    # no overlap, or to roots of negative numbers.
    values = {"alpha": beta * (1.0 + excess), "beta": beta, "spike": 1.0, "bulk": bulk, "alignment": 0.8}
    groups = tuple(ReadoutGroup(fraction=share) for share in fractions)
    found, near = (solve(_model("tanh", "sin", **values, ridge=ridge, readout=groups)) for ridge in (0.0, 1e-12))
    assert found.converged
    assert np.diagonal(found.order_parameters.V1).min() > 0.0
    # The ridge moves it by its share of excess^2, times some tens.
    assert found.test_error == pytest.approx(near.test_error, rel=1e-10 / excess**2)
