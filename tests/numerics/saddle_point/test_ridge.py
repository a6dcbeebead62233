"""The ridge saddle point: worked values, the theorems computed, identities, limits, random models."""

from __future__ import annotations

import math

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.models.model import Model, ModelError, ReadoutGroup
from giantsteps.numerics.saddle_point.ridge import solve
from tests.shared.command_line import PRINTED

WORKED = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "spike": 1.0, "bulk": 1.0, "alignment": 0.8}


def _model(student: str, target: str, **values: object) -> Model:
    return Model(activation(student), activation(target), **values)  # type: ignore[arg-type]


def _scalars(solution) -> dict[str, float]:
    parameters = solution.order_parameters
    return {
        name: float(np.ravel(getattr(parameters, name))[0]) for name in ("m", "zeta", "psi", "q1", "q2", "V1", "V2")
    }


def test_tanh_student_sin_target() -> None:
    solution = solve(_model("tanh", "sin", **WORKED))
    # Converged values of another program (Gauss-Hermite, 61 x 81 nodes), to the digits it printed.
    assert solution.test_error == pytest.approx(0.1258656085, abs=5e-11)
    assert solution.training_error == pytest.approx(0.04535, abs=5e-6)
    for name, value in PRINTED.items():
        assert _scalars(solution)[name] == pytest.approx(value, abs=5e-6)
    assert solution.converged
    assert solution.residual <= 1e-12
    assert solution.status == "converged"


def test_tanh_student_sign_target_after_a_gradient_step() -> None:
    # The kink that Gauss-Hermite rules get wrong in the second digit; the value is known to the digits printed.
    model = Model.from_gradient_step(
        activation("tanh"),
        activation("sign"),
        alpha=0.5,
        beta=1.0,
        ridge=0.1,
        alpha0=2.0,
        eta=3.0,
        bulk_model="isotropic",
    )
    assert solve(model).test_error == pytest.approx(0.657570, abs=5e-7)


def test_two_groups() -> None:
    groups = (ReadoutGroup(1.0, 0.5, 1.0), ReadoutGroup(-0.5, 0.5, 1.3))
    solution = solve(_model("tanh", "sin", **WORKED, readout=groups))
    assert solution.test_error == pytest.approx(0.1278618, abs=5e-8)
    assert solution.residual <= 1e-12


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


def test_no_spike_and_an_odd_activation_leave_no_mean() -> None:
    solution = solve(_model("tanh", "sin", **(WORKED | {"spike": 0.0})))
    assert _scalars(solution)["m"] == 0.0
    assert solution.residual <= 1e-12


def test_without_spike_the_alignment_does_not_matter() -> None:
    # Plain random features: the input has no distinguished direction, theta is split between v and its complement.
    errors = [
        solve(_model("relu", "sign", **(WORKED | {"spike": 0.0, "alignment": g}))).test_error for g in (0, 0.6, 1, -1)
    ]
    assert errors == pytest.approx([errors[0]] * 4, rel=1e-11)


def test_without_spike_only_the_linear_part_of_the_target_is_learned() -> None:
    # With ever more neurons and yet more samples: error -> h2* - h1*^2 = (1 - e^{-2})/2 - e^{-1}, from above.
    floor = 0.5 * (1 - math.exp(-2)) - math.exp(-1)
    values = WORKED | {"spike": 0.0, "ridge": 1e-4}
    sizes = ((50.0, 5.0), (5000.0, 50.0), (500000.0, 500.0))
    excess = [solve(_model("tanh", "sin", **(values | {"alpha": a, "beta": b}))).test_error - floor for a, b in sizes]
    assert excess == sorted(excess, reverse=True)
    assert 0.0 < excess[-1] < 5e-4


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


def test_no_ridge_at_the_threshold_diverges_and_says_so() -> None:
    values = {"alpha": 1.0, "beta": 1.0, "spike": 0.3, "bulk": 1.0, "alignment": 0.8}
    with pytest.raises(ModelError, match="threshold"):
        solve(_model("tanh", "sin", **values, ridge=0.0))
    # ... like ridge^(-1/2): a hundred times smaller ridge, ten times the error (corrections of relative order 1e-4).
    errors = [solve(_model("tanh", "sin", **values, ridge=ridge)).test_error for ridge in (1e-8, 1e-10)]
    assert errors[1] / errors[0] == pytest.approx(10.0, rel=0.02)


def test_no_ridge_out_of_reach_is_refused() -> None:
    # A saturating activation with a strong spike: 1/V grows like exp(4 r |kappa|) and tails far out decide.
    with pytest.raises(ModelError, match="out of reach"):
        solve(_model("tanh", "sin", alpha=0.5, beta=1.0, ridge=0.0, spike=2.0, bulk=1.0, alignment=0.8))


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
        with pytest.raises(ModelError, match="one constant"):
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
