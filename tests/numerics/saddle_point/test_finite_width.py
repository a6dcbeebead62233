"""The term of order 1/p: it vanishes in the limit, networks of a finite width show it, and its error is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.experiments.ridge import Estimate
from giantsteps.numerics.experiments.simulate import simulate
from giantsteps.numerics.models.losses import loss_named
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.any_loss import convex
from giantsteps.numerics.saddle_point.ridge import solve

TANH, SIN = (activation(n) for n in ("tanh", "sin"))
WORKED = Model(TANH, SIN, alpha=1.5, beta=1.0, ridge=0.1, spike=1.0, bulk=1.0, alignment=0.8)
# The network's step of a small eta, collinear groups, a weak spike: the limit drops a term that is large here.
SMALL_STEP = Network(TANH, SIN, alpha=1.5, beta=1.0, ridge=0.1, alpha0=2.0, eta=0.1)
COLLINEAR = Model(
    TANH, activation("tanh(2*z)"), alpha=3.0, beta=1.0, ridge=0.01, spike=2.0, bulk=1.0, alignment=1.0,
    readout=(ReadoutGroup(1.0, 0.5), ReadoutGroup(1.1, 0.5)),
)  # fmt: skip
WEAK = replace(WORKED, spike=0.05)
WEAK_SIGN = replace(WEAK, target=activation("sign"))


def _measured(subject: Model | Network, loss: str, dimension: int, seeds: int) -> tuple[Estimate, float, float]:
    """The simulated test error, its limit and its value at the width simulated, at the realised ratios."""
    subject = replace(subject, loss=loss_named(loss))
    run = simulate(subject, dimension=dimension, seeds=seeds, seed=11)
    model = run.model.model("network") if isinstance(run.model, Network) else run.model
    limit = solve(model) if loss == "square" else convex.solve(model)
    return run.estimates["test_error"], limit.test_error, limit.at_width(run.sizes.p).test_error


CASES = [(SMALL_STEP, "square"), (COLLINEAR, "square"), (WEAK_SIGN, "logistic"), (WEAK, "huber:0.5")]


@pytest.mark.parametrize(("subject", "loss"), CASES, ids=["small step", "collinear", "logistic", "huber"])
def test_networks_are_where_the_finite_width_is_and_not_the_limit(subject: Model | Network, loss: str) -> None:
    measured, limit, wide = _measured(subject, loss, 200, 24)
    # A right value is refuted with probability 1e-4 (Student's t, 23 degrees of freedom); other corrections of order
    # 1/d are within a standard error here.
    assert abs(measured.mean - wide) < 4.7 * measured.standard_error
    assert abs(measured.mean - limit) > 10.0 * measured.standard_error
    assert wide > 1.4 * limit


def test_a_small_step_has_the_values_that_networks_showed() -> None:
    # Simulated networks at d = 800 outside of this suite: 0.1992(34) and 0.2615(30), where the limit is 0.156.
    for eta, measured, error in ((0.1, 0.1992, 0.0034), (0.01, 0.2615, 0.0030)):
        wide = solve(replace(SMALL_STEP, eta=eta).model("network")).at_width(800).test_error
        assert abs(wide - measured) < 4.0 * error


@pytest.mark.parametrize("alpha", [0.5, 2.5])
def test_without_ridge_the_finite_width_is_the_limit_of_small_ridges(alpha: float) -> None:
    # A student that does not saturate: with others the limit is not uniform along the spike.
    model = replace(WORKED, activation=activation("leaky_relu(z, 1/5)"), alpha=alpha, ridge=0.0)
    exact = solve(model).at_width(300)
    assert exact.converged
    # Linear in the ridge, with a slope of some hundreds at most.
    assert exact.test_error == pytest.approx(solve(model.changed(ridge=1e-9)).at_width(300).test_error, abs=1e-6)
