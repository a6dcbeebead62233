"""The best ridge over drawn models: what it claims against ridges that it did not try, and where infinity is right."""

from __future__ import annotations

import math

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bounds.best import best
from giantsteps.numerics.bounds.infinite_ridge import slope_at_infinity
from giantsteps.numerics.bounds.ridge import bounds
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.saddle_point.profile import profile
from giantsteps.numerics.saddle_point.ridge import solve

STUDENTS = ("tanh", "erf", "relu", "sign", "he3", "z + he2(z)", "100*tanh(z)", "tanh(z)/1000", "softplus")
TARGETS = ("tanh", "sin", "sign", "relu", "he3", "he2", "1000*sin(z)", "sin(2*z)/1000")


def drawn(index: int) -> Model:
    """A model with features and targets of sizes from 1e-3 to 1e3; each index has its own stream."""
    rng = np.random.default_rng(np.random.SeedSequence(4141, spawn_key=(index,)))
    alpha, beta = np.exp(rng.uniform(math.log(0.05), math.log(20.0), 2))
    groups = (ReadoutGroup(bias=float(rng.choice([0.0, 0.4]))),)
    if rng.random() < 0.3:
        groups = (ReadoutGroup(1.0, 0.4), ReadoutGroup(float(rng.uniform(-1.0, 0.5)), 0.6, 1.2, 0.2))
    return Model(
        activation(STUDENTS[rng.integers(len(STUDENTS))]),
        activation(TARGETS[rng.integers(len(TARGETS))]),
        alpha=float(alpha), beta=float(beta), ridge=1.0,
        noise=float(rng.choice([0.0, 0.1, 30.0])), spike=float(rng.uniform(-2.0, 2.0)),
        bulk=float(rng.uniform(0.2, 2.0)), alignment=float(rng.choice([0.0, 0.7, 0.999, 1.0])),
        readout=groups,
    )  # fmt: skip


def beaten_by(model: Model) -> list[tuple[float, float]]:
    """The ridges of a coarse scan of 1e-10 to 1e16 that do better than the best one, beyond both estimates."""
    least = best(model, over="ridge")
    assert least.converged
    found = []
    for ridge in 10.0 ** np.arange(-10.0, 16.5, 0.5):
        if least.at_end and ridge < least.values["ridge"]:
            continue
        solution = solve(model.changed(ridge=float(ridge)))
        gain = least.test_error - solution.test_error - least.error_estimate - solution.error_estimate
        if solution.converged and gain > 0.0:
            found.append((float(ridge), gain))
    return found


def test_a_finite_ridge_beyond_the_scan_is_found() -> None:
    # A cubic student has features of variance some hundreds, and its best ridge is near a million.
    model = Model(
        activation("he3"), activation("Max(z, 0)"), alpha=0.12004917540078847, beta=2.161758993510773, ridge=1.0,
        noise=0.1, spike=-1.868596060643224, bulk=0.1533886124792556, alignment=0.999,
    )  # fmt: skip
    assert math.isfinite(best(model, over="ridge").values["ridge"])
    assert beaten_by(model) == []


@pytest.mark.parametrize("index", range(10))
def test_no_ridge_beats_the_best(index: int) -> None:
    assert beaten_by(drawn(index)) == []


@pytest.mark.parametrize(
    "model",
    [
        Model(activation("tanh"), activation("sin"), 1.5, 1.0, 1.0, spike=1.0, bulk=1.0, alignment=0.8),
        Model(
            activation("relu"), activation("softplus"), 0.7, 2.0, 1.0, spike=1.0, bulk=1.0, alignment=0.5, noise=0.3,
            readout=(ReadoutGroup(1.0, 0.4, bias=0.3), ReadoutGroup(-0.5, 0.6, 1.4)),
        ),
        Model.from_gradient_step(
            activation("tanh"), activation("sin"), alpha=1.5, beta=0.7, ridge=1.0, alpha0=2.0, eta=3.0,
            bulk_model="network", readout=(ReadoutGroup(1.0, 0.5), ReadoutGroup(-0.5, 0.5)),
        ),
        Model(
            activation("relu"), activation("sin"), 1.5, 1.0, 1.0, spike=1.0, bulk=1.0, alignment=0.6,
            gaussian_rows=True,
        ),
        Model(
            activation("erf"), activation("sin(2*z)"), 1.5, 1.0, 1.0, spike=1.0, bulk=1.0, alignment=0.6,
            further_alignments=(0.5,),
            readout=(ReadoutGroup(1.5, 0.5, further_weights=(1.0,)), ReadoutGroup(1.5, 0.5, further_weights=(-1.0,))),
        ),
    ],
    ids=["worked", "groups", "network", "gaussian rows", "two directions"],
)  # fmt: skip
def test_the_error_falls_from_its_limit_at_the_rate_of_the_slope(model: Model) -> None:
    limit = bounds(model)
    slope = slope_at_infinity(model, profile(model, limit.refine), profile(model, limit.refine - 1))
    assert slope > 0.0
    size = float(np.max(np.sum(profile(model).squares, axis=0)))
    near, far = (
        (limit.upper - solve(model.changed(ridge=ridge)).test_error) * ridge for ridge in (1e4 * size, 2e4 * size)
    )
    # Richardson's extrapolation leaves second-order terms, squares of 1e-4; differences of errors keep some 8 digits.
    assert 2.0 * far - near == pytest.approx(slope, rel=1e-4)


def test_infinity_is_best_where_nothing_can_follow_the_target() -> None:
    odd_and_even = Model(activation("tanh"), activation("he2"), 1.5, 1.0, 1.0, spike=1.0, bulk=1.0, alignment=0.8)
    assert math.isinf(best(odd_and_even, over="ridge").values["ridge"])
    # The least asymmetry changes that, at a ridge that no scan reaches.
    leaning = Model(
        activation("tanh"), activation("he2(z) + z/10**5"), 1.5, 1.0, 1.0, spike=0.0, bulk=1.0, alignment=0.8
    )  # fmt: skip
    found, limit = best(leaning, over="ridge"), bounds(leaning)
    assert 1e6 < found.values["ridge"] < math.inf
    # The slope finds the ridge; what it gains is below rounding.
    assert found.test_error <= limit.upper + found.error_estimate + limit.error_estimate
