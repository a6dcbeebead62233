"""Bounds on the test loss for any convex loss, beside direct minimisation, the solver and the square bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bounds.any_loss import least_loss, loss_bounds
from giantsteps.numerics.bounds.best import best
from giantsteps.numerics.bounds.ridge import bounds
from giantsteps.numerics.bounds.split_panels import Array
from giantsteps.numerics.gaussian.coefficients import conditional_coefficients
from giantsteps.numerics.gaussian.evaluate import compile_numpy
from giantsteps.numerics.models.losses import ABSOLUTE, HINGE, LOGISTIC, SQUARE, Loss, huber
from giantsteps.numerics.models.model import Model, ModelError, ReadoutGroup
from giantsteps.numerics.saddle_point.any_loss.convex import solve

TWO = (ReadoutGroup(1.0, 0.5), ReadoutGroup(-0.5, 0.5, 1.3))
EVERY: dict[str, Loss] = {
    "square": SQUARE, "huber": huber(0.5), "absolute": ABSOLUTE, "logistic": LOGISTIC, "hinge": HINGE,
}  # fmt: skip


def model(student: str = "tanh", target: str = "sin", **changes: Any) -> Model:
    values: dict[str, Any] = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "spike": 1.0, "bulk": 1.0, "alignment": 0.8}
    return Model(activation(student), activation(target), **(values | changes))


@pytest.mark.parametrize(
    "given",
    [
        model(),
        model(noise=0.3),
        model(alignment=1.0, noise=0.2),
        model("relu", "tanh(z) + he(2, z)/2"),
        model(readout=TWO),
        model(readout=(ReadoutGroup(1.0, 1.0, None, 0.4),)),
        model(gaussian_rows=True),
        model(target="sign", alignment=0.99),
        model(spike=0.0),
    ],
    ids=["plain", "noise", "aligned", "kinked", "two groups", "bias", "Gaussian rows", "steep", "no spike"],
)
def test_the_square_loss_gives_the_direct_bounds(given: Model) -> None:
    found, direct = loss_bounds(given), bounds(given)
    # Two rules, each within 1e-10; the same infimum by orthogonal projection and by descent.
    assert found.lower == pytest.approx(direct.lower, abs=1e-8)
    assert found.upper == pytest.approx(direct.upper, abs=1e-8)
    assert found.converged


def directly(given: Model, value: Callable[[Array, Array], Array], across: bool) -> float:
    """The least average of a loss by SciPy's simplex on a product grid of 400 x 400 midpoints."""
    line: Array = np.asarray((np.arange(400) + 0.5) * 0.045 - 9.0, dtype=np.float64)
    weight = np.exp(-(line**2) / 2.0) / math.sqrt(2.0 * math.pi) * 0.045
    found = conditional_coefficients(given.activation, given.spike, given.bulk, 0.0, line)
    label = compile_numpy(given.target.expression)(
        given.alignment * line[:, None] + math.sqrt(1.0 - given.alignment**2) * line
    )

    def average(b: Array) -> float:
        f = (b[0] * found.mu0 + (b[1] * line * found.mu1 if across else 0.0))[:, None]
        f = f + (b[2] * found.mu1[:, None] * line if across else 0.0)
        return float(weight @ value(label, f) @ weight)

    start = np.full(3 if across else 1, 0.3)
    return float(minimize(average, start, method="Nelder-Mead", options={"xatol": 1e-4, "fatol": 1e-8}).fun)


@pytest.mark.parametrize("name", ["huber", "absolute"])
def test_label_noise_is_averaged_out(name: str) -> None:
    noise, loss = 0.3, EVERY[name]
    x = np.arange(-9.0, 9.0, 0.02)
    density = np.exp(-(x**2) / 2.0) / math.sqrt(2.0 * math.pi) * 0.02
    given = model(alignment=1.0)

    def noisy(label: Array, f: Array) -> Array:
        # At alignment 1 neither depends on z, the second axis.
        column = (label[:, :1] - f[:, :1]) + math.sqrt(noise) * x
        return np.broadcast_to((loss.value(column, np.zeros_like(column)) @ density)[:, None], label.shape)

    found = least_loss(given.changed(noise=noise, loss=loss), across=False)
    assert found.value == pytest.approx(directly(given, noisy, across=False), abs=1e-5)


def test_a_label_that_is_the_sign_of_a_line_is_learned_by_a_growing_output() -> None:
    """mu1 is positive for an increasing activation, and mu1 theta.x has the sign of theta.x."""
    given = model(target="sign")
    for loss in (LOGISTIC, HINGE):
        found = loss_bounds(given.changed(loss=loss))
        assert found.lower == 0.0
        assert found.least.at_infinity
        assert not found.at_infinite_ridge.at_infinity
        assert found.upper > 0.3
    aligned = loss_bounds(model(target="sign", alignment=1.0).changed(loss=LOGISTIC))
    assert aligned.upper == 0.0
    assert aligned.mean_squared_error[1] is None


def test_a_label_off_that_line_is_not() -> None:
    found = loss_bounds(model(target="sign(z - 1/2)", alignment=0.6).changed(loss=HINGE))
    assert found.lower > 1e-3
    assert not found.least.at_infinity


@pytest.mark.parametrize("noise", [0.0, pytest.param(0.01, marks=pytest.mark.thorough)])
def test_a_sign_that_one_function_alone_has_is_found(noise: float) -> None:
    # One combination of two means vanishes at kappa = 0; noise of 0.01 turns 1e-23 of the labels round.
    readout = (ReadoutGroup(-0.26, 0.5, 0.68, -0.04), ReadoutGroup(1.06, 0.5, 0.9, -0.43))
    given = model("erf", "sign", spike=1.8, alignment=1.0, noise=noise, readout=readout)
    found = loss_bounds(given.changed(loss=HINGE))
    assert found.converged
    assert found.at_infinite_ridge.at_infinity
    assert found.lower == 0.0
    assert 0.0 <= found.upper <= found.error_estimate + 1e-13 <= 2.1e-9
    assert found.mean_squared_error[1] is None


def test_errors_beside_the_loss() -> None:
    found = loss_bounds(model(target="sign").changed(loss=ABSOLUTE))
    # The sign of mu0(kappa) is that of kappa, which differs from theta.x's with probability acos(gamma)/pi.
    assert found.classification_error == pytest.approx(math.acos(0.8) / math.pi, abs=1e-10)
    least, limit = found.mean_squared_error
    assert limit is not None
    direct = bounds(model(target="sign"))
    assert least == direct.lower
    # The readout that is best for another loss is not better in mean square.
    assert limit >= direct.upper - 1e-10
    assert loss_bounds(model(target="sign")).mean_squared_error[1] == pytest.approx(direct.upper, abs=1e-9)
    assert loss_bounds(model().changed(loss=ABSOLUTE)).classification_error is None


def test_a_readout_without_means_predicts_nothing_at_infinite_ridge() -> None:
    found = loss_bounds(model(target="sign", spike=0.0).changed(loss=LOGISTIC))
    assert found.upper == pytest.approx(math.log(2.0), abs=1e-12)
    assert found.classification_error == 0.5


@pytest.mark.parametrize(
    "given",
    [
        model("tanh", "erf", beta=1.6, alignment=1.0, loss=huber(0.77),
              readout=(ReadoutGroup(0.68, 0.5, 1.3, 0.0), ReadoutGroup(-0.079, 0.5, 0.72, 0.57))),
        model("tanh", "sign", noise=0.3, alignment=1.0, loss=ABSOLUTE),
    ],
    ids=["a dip of 1e-4 of the loss", "kinks"],
)  # fmt: skip
def test_no_ridge_near_the_best_one_does_better(given: Model) -> None:
    found = best(given, over="ridge")
    assert found.converged
    near = [solve(given.changed(ridge=found.values["ridge"] * factor)) for factor in np.geomspace(0.5, 2.0, 9)]
    for solution in near:
        assert solution.test_error >= found.test_error - found.error_estimate - solution.error_estimate
    # Beyond the share of the ridge to which it is searched for, by a parabola through its neighbours.
    least = np.polynomial.Polynomial.fit(np.linspace(-1.0, 1.0, 9), [s.test_error for s in near], 6).deriv().roots()
    real = least[np.abs(least.imag) < 1e-9].real
    assert np.min(np.abs(real)) * math.log(2.0) < 0.02


def test_what_is_not_built_says_so() -> None:
    with pytest.raises(ModelError, match="label noise"):
        loss_bounds(model(target="tanh", noise=0.1).changed(loss=LOGISTIC))
