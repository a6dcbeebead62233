"""A network's own bulk far from inputs of order one: loud and fast labels, long and short steps, by second routes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.saddle_point.one_group.batch import solve_batch
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.verify.digits.solve import solve as solve_to

EPS = float(np.finfo(float).eps)


def network(student: str, target: str, **changes: Any) -> Model:
    step = {"alpha": 1.5, "beta": 1.3, "ridge": 0.1, "alpha0": 2.0, "eta": 3.0, **changes}
    return Model.from_gradient_step(student, target, bulk_model="network", **step)


# A jump off the middle, labels whose moments grow, labels that alias on a coarse grid; each with another rate, batch
# ratio, ridge, ratio of samples and readout; and the size of the terms of the test error, E[y^2] + noise.
LOUD: dict[str, Any] = {
    "noise of 25": ("relu", "sign", {"noise": 25.0, "alpha0": 0.05, "eta": 0.05, "ridge": 100.0}, 26.0),
    "fourth power": ("relu", "z**4", {"alpha0": 50.0, "eta": 12.0, "ridge": 1e-6, "alpha": 0.1}, 105.0),
    "weight -3": ("relu", "sin(9*z)", {"readout": (ReadoutGroup(-3.0, 1.0),), "eta": 1.0, "alpha": 20.0}, 0.5),
    "short step": ("tanh", "sin(9*z)", {"alpha0": 0.05, "eta": 0.05, "ridge": 1e-6}, 0.5),
    "long step": ("tanh(z+7/10)", "sign(z-3/2)", {"alpha0": 50.0, "eta": 12.0, "ridge": 100.0, "alpha": 20.0}, 1.0),
    "weight 1/10": ("relu", "sin(9*z)", {"readout": (ReadoutGroup(0.1, 1.0, bias=0.4),), "alpha": 0.1}, 0.5),
}


@pytest.mark.parametrize("which", LOUD)
def test_doubles_are_as_good_as_they_say_far_away(which: str) -> None:
    student, target, changes, size = LOUD[which]
    model = network(student, target, **changes)
    double, precise = solve(model), solve_to(model, digits=16)
    wrong = abs(float(precise.test_error) - double.test_error)
    assert wrong <= double.error_estimate
    # Some thousand roundings of the largest terms at most: an estimate that is larger says nothing of these.
    assert double.error_estimate <= 1e3 * wrong + 3e3 * EPS * (size + double.test_error)
    assert abs(float(precise.training_error) - double.training_error) <= double.error_estimate
    for name in ("m", "zeta", "chi", "psi", "q1", "q2", "V1", "V2"):
        found, exact = (float(getattr(one.order_parameters, name).flat[0]) for one in (double, precise))
        # As good as the test error, up to conditions of some hundred.
        assert abs(found - exact) <= 1e2 * max(double.error_estimate / size, 1e-14) * (size + abs(exact)), name


# What no digits are built for stands here: labels that grow like an exponential, and rows that begin Gaussian.
FAR: dict[str, Any] = {
    "exponential": ("relu", "exp(z)", {"noise": 4.0, "eta": 0.5}, {"alpha": [0.1, 20.0], "ridge": [1e-6, 100.0]}),
    "Gaussian rows": (
        "tanh", "sin(9*z)", {"gaussian_rows": True, "noise": 4.0}, {"alpha": [20.0, 0.1], "noise": [4.0, 25.0]},
    ),
    "another step each": (
        "tanh", "sign(z-3/2)", {"noise": 25.0}, {"eta": [0.05, 12.0], "alpha0": [0.05, 50.0], "beta": [0.4, 2.7]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("which", FAR)
def test_a_batch_is_its_points_far_away(which: str) -> None:
    student, target, changes, along = FAR[which]
    model = network(student, target, **changes)
    batch = solve_batch(model, **along)
    for k in range(2):
        one = solve(model.changed(**{name: values[k] for name, values in along.items()}))
        assert one.converged
        allowed = batch.error_estimate[k] + one.error_estimate
        # Either estimate is that of the same sums.
        assert 1e-2 * one.error_estimate <= batch.error_estimate[k] <= 1e2 * one.error_estimate
        size = one.test_error + one.model.noise + 4.0
        assert abs(batch.test_error[k] - one.test_error) <= allowed
        assert abs(batch.training_error[k] - one.training_error) <= allowed + EPS * size
        for name in ("m", "zeta", "chi", "psi", "q1", "q2", "V1", "V2"):
            found, exact = float(getattr(batch, name)[k]), float(getattr(one.order_parameters, name).flat[0])
            # Newton's methods stop at 1e-13 and at 1e-9 squared, which a small ridge magnifies.
            assert found == pytest.approx(exact, rel=1e-9, abs=1e-9 * size), name


@pytest.mark.parametrize(
    ("student", "target", "weights", "changes"),
    [
        ("relu", "exp(z)", (3.0, 3.0), {"eta": 0.5, "alpha": 20.0}),
        ("tanh", "sin(9*z)", (0.1, 0.1), {"noise": 25.0, "gaussian_rows": True, "eta": 12.0}),
        ("tanh", "sign(z-3/2)", (-3.0, -3.0), {"alpha0": 0.05, "ridge": 1e-6}),
    ],
)
def test_a_group_cut_in_two_is_one(student: str, target: str, weights: tuple[float, float], changes: Any) -> None:
    whole, cut = ((ReadoutGroup(weights[0], 1.0),), tuple(map(ReadoutGroup, weights, (0.3, 0.7))))
    one, other = (solve(network(student, target, readout=readout, **changes)) for readout in (whole, cut))
    assert one.converged
    assert other.converged
    # An estimate says about how far rounding moves an error: by 0.1 to 1.3 of it, from one processor to another.
    allowed = 2.0 * (one.error_estimate + other.error_estimate)
    assert abs(one.test_error - other.test_error) <= allowed
    assert abs(one.training_error - other.training_error) <= allowed
