"""Whatever a public function changes of a model, it is the model built anew: no stale spike, bulk or alignment."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import giantsteps
from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bounds.any_loss import loss_bounds
from giantsteps.numerics.bounds.best_rate import best_bounds
from giantsteps.numerics.bounds.ridge import upper_bound
from giantsteps.numerics.models.losses import LOGISTIC, SQUARE
from giantsteps.numerics.models.model import Model, ModelError, ReadoutGroup
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.models.readout_law import ReadoutLaw
from giantsteps.numerics.saddle_point.one_group.batch import solve_batch
from giantsteps.numerics.saddle_point.ridge import solve

TANH, SIN, SIGN = activation("tanh"), activation("sin"), activation("sign")
RATIOS: dict[str, Any] = {"alpha": 1.0, "beta": 1.0, "ridge": 0.1, "noise": 0.0}
STEP: dict[str, Any] = RATIOS | {"alpha0": 2.0, "eta": 2.0}
GIVEN: dict[str, Any] = RATIOS | {"spike": 1.0, "bulk": 1.1, "alignment": 0.8}
# A group that brings its own bulk keeps it where the others follow the step; a network takes no own bulk.
VOCABULARY = (ReadoutGroup(1.0, 0.5), ReadoutGroup(-0.4, 0.3, bias=0.2), ReadoutGroup(2.0, 0.2, bulk=1.3))
LETTERS = (ReadoutGroup(1.0, 0.5), ReadoutGroup(-0.4, 0.5, bias=0.2))
PLANE = (ReadoutGroup(1.0, 1.0, further_weights=(0.5,)),)

ISOTROPIC = partial(Model.from_gradient_step, bulk_model="isotropic")

# Every way to give a model: how it is built anew from all of its parameters, and those parameters.
KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "step": (ISOTROPIC, STEP),
    "step, groups": (ISOTROPIC, STEP | {"readout": VOCABULARY}),
    "step, gaussian rows": (ISOTROPIC, STEP | {"gaussian_rows": True}),
    "network": (Model.from_gradient_step, STEP | {"bulk_model": "network"}),
    "network, groups": (Model.from_gradient_step, STEP | {"bulk_model": "network", "readout": LETTERS}),
    "step, density": (ISOTROPIC, STEP | {"readout": ReadoutLaw("uniform", 0.5)}),
    "given": (Model, GIVEN),
    "given, groups": (Model, GIVEN | {"readout": VOCABULARY}),
    "given, plane": (Model, GIVEN | {"readout": PLANE, "alignment": 0.6, "further_alignments": (0.5,)}),
}
POSITIVE = st.floats(0.2, 4.0)
CHANGES: dict[str, st.SearchStrategy[Any]] = {
    "activation": st.sampled_from([TANH, "erf", "sin"]),
    "target": st.sampled_from([SIN, "sign", "tanh(2*z)"]),
    "alpha": POSITIVE, "beta": POSITIVE, "ridge": POSITIVE, "noise": st.floats(0.01, 1.0),
    "loss": st.sampled_from(["square", "huber:1", "hinge"]),
    "alpha0": st.one_of(st.just(0.0), POSITIVE), "eta": st.one_of(st.just(0.0), POSITIVE),
    "spike": st.floats(-2.0, 2.0), "bulk": POSITIVE, "alignment": st.floats(-0.7, 0.7),
}  # fmt: skip


def built(kind: str, changes: Mapping[str, Any]) -> Model:
    """A model of a kind, every parameter given at once."""
    build, values = KINDS[kind]
    everything = {"activation": TANH, "target": SIN} | values | dict(changes)
    model: Model = build(everything.pop("activation"), everything.pop("target"), **everything)
    return model


def numbers(model: Model) -> tuple[object, ...]:
    """All that a solver reads of a model."""
    found = (
        model.activation, model.target, model.alpha, model.beta, model.ridge, model.noise, model.spike, model.bulk,
        model.alignments, model.unequal_norms, model.network_step, model.loss, model.readout,
    )  # fmt: skip
    return found if model.law else (*found, model.spikes, model.bulks, model.fractions, model.biases)


@st.composite
def changed_models(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    kind = draw(st.sampled_from(sorted(KINDS)))
    own = [name for name in CHANGES if name in KINDS[kind][1] or name in ("activation", "target", "loss")]
    names = draw(st.lists(st.sampled_from(own), unique=True, min_size=1, max_size=4))
    return kind, {name: draw(CHANGES[name]) for name in names}


@settings(max_examples=150, deadline=None, derandomize=True)
@given(changed_models())
def test_a_changed_model_is_the_model_built_anew(case: tuple[str, dict[str, Any]]) -> None:
    kind, changes = case
    base, anew = built(kind, {}), built(kind, changes)
    one_by_one = base
    for name, value in changes.items():
        one_by_one = one_by_one.changed(**{name: value})
    for changed in (base.changed(**changes), one_by_one):
        assert changed == anew
        assert numbers(changed) == numbers(anew)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(changed_models())
def test_a_copy_with_a_stale_number_cannot_be_written(case: tuple[str, dict[str, Any]]) -> None:
    """What `dataclasses.replace` lets through is the model built anew; fields of the step are tried as well."""
    kind, changes = case
    fields = {name: value for name, value in changes.items() if name not in ("alpha0", "eta")}
    stepped = "alpha0" in KINDS[kind][1]
    base, anew = built(kind, {}), built(kind, fields)
    moved = max(abs(getattr(base, name) - getattr(anew, name)) for name in ("spike", "bulk", "alignment"))
    if stepped and moved > 1e-9:  # where a change is told from rounding
        with pytest.raises(ModelError, match="gradient step"):
            dataclasses.replace(base, **fields)
    elif moved == 0.0 or not stepped:
        assert numbers(dataclasses.replace(base, **fields)) == numbers(anew)
    if stepped:
        for name in ("spike", "bulk", "alignment"):
            with pytest.raises(ModelError, match="gradient step"):
                dataclasses.replace(built(kind, {}), **{name: 0.5})
            with pytest.raises(ModelError, match="as_given"):
                built(kind, {}).changed(**{name: 0.5})
        with pytest.raises(ModelError, match="gradient step"):
            dataclasses.replace(built(kind, {}), step=dataclasses.replace(built(kind, {}).step, eta=1.0))  # type: ignore[type-var]


def test_the_step_is_forgotten_on_request_and_by_that_name_alone() -> None:
    for kind in ("step", "step, groups", "step, gaussian rows"):
        model = built(kind, {})
        alone = model.as_given()
        assert alone.step is None
        assert (alone.spikes, alone.bulks, alone.alignments) == (model.spikes, model.bulks, model.alignments)
        assert alone.as_given() is alone
        assert alone.changed(beta=2.0).spikes == model.spikes
    with pytest.raises(ModelError, match="isotropic"):
        built("network", {}).as_given()
    isotropic = built("network", {}).changed(bulk_model="isotropic")
    assert isotropic == built("step", {})
    with pytest.raises(ModelError, match="no parameter"):
        isotropic.changed(betta=2.0)
    for name in ("alpha0", "eta"):
        with pytest.raises(ModelError, match="no gradient step"):
            built("given", {}).changed(**{name: 1.0})
    with pytest.raises(ModelError, match="from_gradient_step"):
        built("given", {}).changed(bulk_model="network")


def test_values_of_stepped_models() -> None:
    # tanh learns sin, alpha = 1, ridge = 0.1, alpha0 = eta = 2: computed by a solver that shares no code with this one.
    # With r, c and gamma of beta = 1 the first would be 0.1234224, with those without noise the second 0.276.
    model = built("step", {})
    assert solve(model.changed(beta=2.0)).test_error == pytest.approx(0.1391777, abs=5e-8)
    assert solve(model.changed(noise=0.3)).test_error == pytest.approx(0.315, abs=5e-4)
    batch = solve_batch(model, beta=[1.0, 2.0, 1.0], noise=[0.0, 0.0, 0.3])
    assert batch.test_error[1:] == pytest.approx([0.1391777, 0.315], abs=5e-4)


BATCHED = {
    "step": ("alpha", "beta", "ridge", "noise", "alpha0", "eta"),
    "given": ("alpha", "beta", "ridge", "noise", "spike", "bulk", "alignment"),
}


@st.composite
def grids(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    kind = draw(st.sampled_from(sorted(BATCHED)))
    names = draw(st.lists(st.sampled_from(BATCHED[kind]), unique=True, min_size=1, max_size=3))
    shapes = [(), (2,), (2, 1)]
    found = {}
    for name in names:
        shape = draw(st.sampled_from(shapes))
        values = draw(st.lists(CHANGES[name], min_size=2, max_size=2))
        found[name] = np.reshape(values[: int(np.prod(shape))], shape)
    return kind, found


@settings(max_examples=40, deadline=None, derandomize=True)
@given(grids())
def test_a_batch_is_its_points_in_the_shape_of_its_grid(case: tuple[str, dict[str, Any]]) -> None:
    kind, grid = case
    base = built(kind, {})
    batch = solve_batch(base, **grid)
    wide = dict(zip(grid, np.broadcast_arrays(*grid.values()), strict=True))
    shape = next(iter(wide.values())).shape
    assert batch.shape == batch.status.shape == batch.V1.shape == shape
    for place in np.ndindex(shape):
        one = solve(built(kind, {name: float(values[place]) for name, values in wide.items()}))
        assert batch.converged[place], batch.status[place]
        # Both are converged to 1e-11 by their own estimates; errors may be at different refinements.
        assert batch.test_error[place] == pytest.approx(one.test_error, rel=1e-10, abs=1e-11)
        assert batch.psi[place] == pytest.approx(float(one.order_parameters.psi[0]), rel=1e-9, abs=1e-10)


def test_a_batch_refuses_what_its_model_does_not_have() -> None:
    with pytest.raises(ModelError, match="as_given"):
        solve_batch(built("step", {}), spike=[1.0, 2.0])
    with pytest.raises(ModelError, match="no gradient step"):
        solve_batch(built("given", {}), eta=[1.0, 2.0])
    marked = solve_batch(built("step", {}), eta=[1.0, -1.0, np.nan], beta=[[1.0], [0.0]])
    assert marked.converged.tolist() == [[True, False, False], [False] * 3]
    assert marked.status[0, 1].startswith("eta = -1.0 is not accepted")
    assert solve_batch(built("given", {}), alpha=[]).shape == (0,)


def test_the_best_rate_leads_to_the_model_of_its_step() -> None:
    found = giantsteps.best(built("step", {"beta": 2.0, "noise": 0.3}), over="eta", largest=6.0, points=5)
    anew = built("step", {"beta": 2.0, "noise": 0.3, **found.values})
    assert found.model == anew
    assert solve(anew).test_error == pytest.approx(found.test_error, rel=1e-10)


def test_the_best_spike_is_for_models_whose_spike_may_change() -> None:
    with pytest.raises(ModelError, match="as_given"):
        best_bounds(built("step", {}), "spike")
    model = built("step", {})
    found = best_bounds(model.as_given(), "spike", largest=3.0, points=7).upper
    best = Model(TANH, SIN, 1.0, 1.0, 0.1, spike=found.at, bulk=model.bulk, alignment=model.alignment)
    assert upper_bound(best) == pytest.approx(found.bound, rel=1e-12)


def test_a_margin_loss_keeps_the_features_of_the_step_that_saw_the_target_itself() -> None:
    model = built("step", {"target": "tanh"})
    alike = Model(
        TANH, "sign(tanh(z))", 1.0, 1.0, 0.1, spike=model.spike, bulk=model.bulk, alignment=model.alignment,
    )  # type: ignore[arg-type]  # fmt: skip
    stepped, plain = (loss_bounds(one.changed(loss=LOGISTIC)) for one in (model, alike))
    assert stepped.upper == pytest.approx(plain.upper, rel=1e-12)


@pytest.mark.parametrize("bulk_model", ["isotropic", "network"])
def test_the_model_of_a_network_has_all_that_the_network_has(bulk_model: str) -> None:
    # No number here is a default, and no two are alike.
    groups = ReadoutGroup(1.0, 0.6, None, 0.0), ReadoutGroup(-0.5, 0.4, None, 0.3)
    loss = SQUARE if bulk_model == "network" else LOGISTIC
    network = Network(TANH, SIN, 1.1, 0.9, 0.2, 2.5, 1.7, 0.15, gaussian_rows=True, readout=groups, loss=loss)
    model = network.model(bulk_model)
    assert model.step is not None
    for field in dataclasses.fields(Network):
        if field.name == "overlap":  # what a step from rows without overlap does not have
            continue
        owner = model.step if field.name in ("alpha0", "eta", "steps", "same_batch") else model
        assert getattr(owner, field.name) == getattr(network, field.name), field.name
    assert model.bulk_model == bulk_model
