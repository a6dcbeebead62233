"""The best learning rate, ridge and spike: minima with small slopes, ends of the scan, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import pytest

import giantsteps
from giantsteps.numerics.models.model import Model, ModelError

STEP: dict[str, Any] = {"alpha": 1.5, "beta": 1, "ridge": 0.1, "noise": 0.05, "alpha0": 2, "eta": 3}
SPIKED: dict[str, Any] = {"alpha": 2.0, "beta": 1.0, "ridge": 0.1, "spike": 1.0, "bulk": 1.0, "alignment": 0.8}


@pytest.mark.parametrize("bulk", ["isotropic", "network"])
def test_no_pair_a_percent_away_has_less_error_than_the_best_rate_and_ridge(bulk: str) -> None:
    model = Model.from_gradient_step("tanh", "sin", **STEP, bulk_model=bulk)
    found = giantsteps.best(model, over=("eta", "ridge"))
    assert (found.at_end, found.converged, len(found.minima)) == ((), True, 1)
    for name, slope in found.gradient.items():
        assert abs(slope.value) <= slope.error_estimate + 1e-9
        for factor in (0.99, 1.01):
            assert found.model is not None
            moved = giantsteps.solve(found.model.changed(**{name: factor * found.values[name]}))
            assert moved.test_error > found.test_error + 1e-7


def test_the_best_ridge_is_the_one_that_bounds_find() -> None:
    model = Model("tanh", "sign", **SPIKED, noise=0.3)
    expected, found = giantsteps.bounds(model).best_ridge(), giantsteps.best(model, over="ridge")
    assert (found.values, found.test_error) == (expected.values, expected.test_error)
    # The ridge of the model plays no part.
    assert giantsteps.best(model.changed(ridge=3.0), over=["ridge"]).values == found.values


def test_the_best_rate_and_ridge_are_better_than_each_alone() -> None:
    model = Model.from_gradient_step("relu", "tanh", **STEP, bulk_model="isotropic")
    both, rate, ridge = (giantsteps.best(model, over=over) for over in (("ridge", "eta"), "eta", "ridge"))
    assert both.test_error < min(rate.test_error, ridge.test_error)
    at_best_rate = giantsteps.best(model.changed(eta=both.values["eta"]), over="ridge")
    assert at_best_rate.values["ridge"] == pytest.approx(both.values["ridge"], rel=1e-6)


@pytest.mark.parametrize(
    ("student", "target", "eta", "error"), [("tanh", "sin", 3.4, 0.0852), ("relu", "tanh", 3.7, 0.2660)]
)
def test_the_best_rates_of_the_practitioners_page_are_found(
    student: str, target: str, eta: float, error: float
) -> None:
    numbers = {"alpha": 1.5, "beta": 1, "ridge": 0.1, "alpha0": 4, "eta": 1}
    model = Model.from_gradient_step(student, target, **numbers, bulk_model="isotropic")
    found = giantsteps.best(model, over="eta", largest=6, points=13)
    assert found.values["eta"] == pytest.approx(eta, rel=0.01)
    assert found.test_error == pytest.approx(error, abs=5e-5)


def test_a_best_ridge_may_be_infinite() -> None:
    model = Model("tanh", "he(2, z)", **(SPIKED | {"spike": 0.0}))
    found = giantsteps.best(model, over="ridge")
    assert math.isinf(found.values["ridge"])
    assert found.test_error == giantsteps.bounds(model).upper
    assert found.to_dict()["ridge"]["infinite"]
    with pytest.raises(ModelError, match="infinite ridge"):
        found.at_width(1000)


def test_a_rate_at_an_end_of_the_scan_is_told() -> None:
    model = Model.from_gradient_step("erf", "erf", **(STEP | {"noise": 0.0, "alpha0": 8}), bulk_model="isotropic")
    whole = giantsteps.best(model, over="eta", points=16)
    short = giantsteps.best(model, over="eta", points=6, largest=0.5 * whole.values["eta"])
    assert (whole.at_end, short.at_end) == ((), ("eta",))
    assert short.values["eta"] == 0.5 * whole.values["eta"]


def test_a_rate_below_the_first_of_the_scan_is_found() -> None:
    # The error rises from 0 to 0.5, the first rate after 0 on the scan.
    numbers: dict[str, Any] = {"alpha": 8, "beta": 2, "ridge": 0.1, "noise": 0.1, "alpha0": 4, "eta": 1}
    model = Model.from_gradient_step("relu", "tanh", **numbers)
    relu = giantsteps.best(model, over="eta")
    assert relu.values["eta"] == pytest.approx(0.0773, abs=1e-3)
    assert relu.test_error < giantsteps.solve(model.changed(eta=0)).test_error
    # In the limit the shortest step is best.
    tanh = giantsteps.best(Model.from_gradient_step("tanh", "relu", **numbers), over="eta")
    assert (tanh.at_end, tanh.scanned) == (("eta",), {"eta": (0.0, 30.0)})
    assert tanh.values["eta"] < 1e-3


def test_the_document_has_the_value_at_a_width() -> None:
    found = giantsteps.best(Model("tanh", "sin", **SPIKED), over=("spike", "ridge"))
    document = found.to_dict(500)
    assert document["at_width"]["test_error"] == found.at_width(500).test_error
    assert document["spike"] == found.values["spike"]


@pytest.mark.parametrize("over", ["alpha", (), ("eta", "eta"), 3, ("ridge", "noise")])
def test_only_rate_spike_and_ridge_have_a_best(over: Any) -> None:
    with pytest.raises(ModelError, match="eta, spike and ridge are"):
        giantsteps.best(Model("tanh", "sin", **SPIKED), over=over)


def test_a_number_that_the_model_does_not_have_is_refused() -> None:
    with pytest.raises(ModelError, match="no gradient step"):
        giantsteps.best(Model("tanh", "sin", **SPIKED), over="eta")
    with pytest.raises(ModelError, match="as_given"):
        giantsteps.best(Model.from_gradient_step("tanh", "sin", **STEP), over="spike")
