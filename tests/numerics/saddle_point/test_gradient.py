"""Derivatives of the test error against differences of solutions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import giantsteps
from giantsteps.numerics.models.model import UNIFORM, Model, ModelError, ReadoutGroup

STUDENTS = ("tanh", "erf", "relu", "gelu", "sin", "z + 0.3*he(3, z)")
TARGETS = ("sin", "tanh", "sign", "relu", "z + he(3, z)")


def _drawn(kind: str, seed: int) -> Model:
    """A model of a kind with parameters of order one, ridges from 0.001 to 1."""
    rng = np.random.default_rng([44, seed])

    def log(low: float, high: float) -> float:
        return float(np.exp(rng.uniform(math.log(low), math.log(high))))

    student, target = str(rng.choice(STUDENTS)), str(rng.choice(TARGETS))
    numbers: dict[str, Any] = {"alpha": log(0.3, 5), "beta": log(0.3, 3), "ridge": log(1e-3, 1), "noise": 0.0}
    spiked = {"spike": rng.uniform(0.3, 3), "bulk": log(0.3, 3), "alignment": rng.uniform(0.1, 0.95)}
    step = {"alpha0": log(0.5, 5), "eta": log(0.3, 6)}
    groups = (ReadoutGroup(1.0, 0.5), ReadoutGroup(float(rng.uniform(-1, 0.6)), 0.5))
    if kind.startswith("loss "):
        loss = kind.removeprefix("loss ")
        target = "sign" if loss in ("logistic", "hinge") else target
        return Model(student, target, **(numbers | {"ridge": log(0.02, 0.2)}), **spiked, loss=loss)
    numbers["noise"] = float(rng.choice([0.0, rng.uniform(0.01, 0.5)]))
    if kind in ("isotropic", "gaussian rows", "groups"):
        readout = groups if kind == "groups" else UNIFORM
        return Model(student, target, **numbers, **spiked, readout=readout, gaussian_rows=kind == "gaussian rows")
    if kind == "two steps":
        return Model.from_gradient_step("tanh", target, **numbers, **step, steps=2, bulk_model="isotropic")
    bulk = "isotropic" if kind == "paper" else "network"
    readout = groups if kind == "network groups" else UNIFORM
    return Model.from_gradient_step(student, target, **numbers, **step, bulk_model=bulk, readout=readout)


def _number(model: Model, name: str) -> float:
    return float(getattr(model.step if name in ("eta", "alpha0") else model, name))


def _richardson(model: Model, name: str) -> tuple[float, float]:
    """d test_error/d(a number) by extrapolated central differences of solutions, and how far it may be off."""
    value = _number(model, name)
    scale = (1.0 - value**2) if name == "alignment" else value / math.hypot(1.0, model.spike)
    rows: list[list[float]] = []
    for halvings in range(4):
        step = 0.02 * scale / 2**halvings
        above, below = (giantsteps.solve(model.changed(**{name: value + s * step})) for s in (1.0, -1.0))
        rows.append([(above.test_error - below.test_error) / (2.0 * step)])
        for k in range(halvings):
            rows[-1].append(rows[-1][k] + (rows[-1][k] - rows[-2][k]) / (4.0 ** (k + 1) - 1.0))
    moved = max(above.error_estimate, below.error_estimate)
    return rows[-1][-1], 2.0 * abs(rows[-1][-1] - rows[-2][-1]) + 2.0 * moved / step


KINDS = (
    *("isotropic", "paper", "groups", "gaussian rows") * 6, *("network",) * 8, *("two steps",) * 3,
    "network groups", "loss hinge", "loss logistic", "loss huber:1", "loss absolute",
)  # fmt: skip


@pytest.mark.parametrize(("seed", "kind"), list(enumerate(KINDS)))
def test_gradients_agree_with_differences_of_solutions(seed: int, kind: str) -> None:
    """The difference is at most both error estimates, and below 1e-6 of the derivative where these allow."""
    model = _drawn(kind, seed)
    solution = giantsteps.solve(model)
    assert solution.converged
    own = ("eta", "ridge") if model.step is not None else ("spike", "alignment", "ridge")
    for name, found in solution.gradient(*own).items():
        expected, uncertain = _richardson(model, name)
        assert abs(found.value - expected) <= found.error_estimate + uncertain, (model, name)
        assert found.error_estimate <= 1e-6 * abs(expected) + 1e6 * solution.error_estimate + 1e-9, (model, name)


@pytest.mark.parametrize(("loss", "target"), [("logistic", "sign"), ("huber:0.77", "erf"), ("absolute", "erf")])
@pytest.mark.parametrize("readout", [UNIFORM, (ReadoutGroup(0.7, 0.5, 1.3), ReadoutGroup(-0.1, 0.5, 0.7, 0.6))])
def test_gradients_of_other_losses_hold_where_the_output_has_little_variance(
    loss: str, target: str, readout: tuple[ReadoutGroup, ...]
) -> None:
    numbers: dict[str, Any] = {"spike": 1.0, "bulk": 1.0, "alignment": 0.8, "loss": loss, "readout": readout}
    model = Model("tanh", target, 1.5, 1.6, 10.0, **numbers)
    found = giantsteps.solve(model).gradient("ridge")["ridge"]
    expected, uncertain = _richardson(model, "ridge")
    assert abs(found.value - expected) <= found.error_estimate + uncertain
    assert found.error_estimate <= 1e-5 * abs(expected)


def test_a_gradient_without_names_has_every_number_of_the_model() -> None:
    given = Model("tanh", "sin", 1.5, 1.0, 0.1, noise=0.2, spike=1.0, bulk=1.0, alignment=0.8)
    found = giantsteps.solve(given).gradient()
    assert list(found) == ["alpha", "beta", "ridge", "noise", "spike", "bulk", "alignment"]
    for name in ("alpha", "beta", "noise", "bulk"):
        expected, uncertain = _richardson(given, name)
        assert abs(found[name].value - expected) <= found[name].error_estimate + uncertain
    stepped = Model.from_gradient_step("tanh", "sin", alpha=1.5, beta=1, ridge=0.1, alpha0=2, eta=3)
    assert list(giantsteps.solve(stepped).gradient()) == ["alpha", "beta", "ridge", "noise", "alpha0", "eta"]


def test_at_noise_zero_the_derivative_is_that_from_above() -> None:
    """The test error is affine in the noise of a model with a given spike."""
    model = Model("tanh", "sin", 1.5, 1.0, 0.1, spike=1.0, bulk=1.0, alignment=0.8)
    quiet, noisy = giantsteps.solve(model), giantsteps.solve(model.changed(noise=1.0))
    found = quiet.gradient("noise")["noise"]
    assert abs(found.value - (noisy.test_error - quiet.test_error)) <= found.error_estimate


@pytest.mark.parametrize(
    ("change", "name", "reason"),
    [
        ({"ridge": 0.0}, "alpha", "requires ridge > 0"),
        ({"spike": 0.0}, "spike", "no derivative in spike at 0"),
        ({"alignment": 1.0}, "alignment", "end of its range"),
        ({}, "eta", "not supported for this model"),
        ({}, "delta", "one of alpha, beta"),
        ({"readout": giantsteps.ReadoutLaw("normal", 0.5)}, "ridge", "not a density"),
        ({"ridge": 1e3, "loss": "hinge", "target": "sign"}, "ridge", "has converged"),
    ],
)
def test_a_derivative_that_does_not_exist_is_refused(change: dict[str, Any], name: str, reason: str) -> None:
    model = Model("tanh", "sin", 1.5, 1.0, 0.1, spike=1.0, bulk=1.0, alignment=0.8).changed(**change)
    with pytest.raises(ModelError, match=reason):
        giantsteps.solve(model).gradient(name)


def test_steps_with_rates_of_their_own_have_no_derivative_in_eta() -> None:
    step: dict[str, Any] = {"alpha": 1.5, "beta": 1, "ridge": 0.1, "alpha0": 2, "bulk_model": "isotropic"}
    model = Model.from_gradient_step("tanh", "sin", **step, eta=(2, 1), steps=2)
    with pytest.raises(ModelError, match="one eta for all steps"):
        giantsteps.solve(model).gradient("eta")
    with pytest.raises(ModelError, match="double precision"):
        giantsteps.solve(model).at_width(1000).gradient("ridge")
