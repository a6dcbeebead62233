"""The model refuses what it has to refuse, in one sentence, and maps the gradient step as Result 3.1 does."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError

import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bulk.overlapping_rows import stepped
from giantsteps.numerics.models.gradient_step import gradient_step
from giantsteps.numerics.models.model import Model, ModelError, ReadoutGroup
from giantsteps.numerics.models.network import Network

TANH, SIN, SIGN, RELU = (activation(text) for text in ("tanh", "sin", "sign", "relu"))


def _model(**changes: object) -> Model:
    values: dict[str, object] = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "spike": 1.0, "bulk": 1.0, "alignment": 1.0}
    return Model(TANH, SIN, **(values | changes))  # type: ignore[arg-type]


def test_the_edges_of_the_ranges_are_accepted() -> None:
    _model(ridge=0.0, noise=0.0, alignment=-1.0, spike=-3.0)
    _model(alignment=1, alpha=2)  # integers are numbers
    assert isinstance(_model(alpha=2).alpha, float)


def test_groups_take_spike_and_bulk_of_the_model() -> None:
    model = _model(spike=2.0, bulk=1.2, readout=(ReadoutGroup(1.0, 0.5), ReadoutGroup(-0.5, 0.5, 1.3, 0.1)))
    assert model.slopes == (2.0, -1.0)
    assert model.bulks == (1.2, 1.3)
    assert model.biases == (0.0, 0.1)
    assert model.fractions == (0.5, 0.5)


def test_a_model_is_a_frozen_value() -> None:
    model = _model()
    assert model == _model()
    assert hash(model) == hash(_model())
    assert model.changed(ridge=0.2).ridge == 0.2
    with pytest.raises(FrozenInstanceError):
        model.alpha = 2.0  # type: ignore[misc]
    with pytest.raises(ModelError):
        model.changed(ridge=-0.2)


def test_the_gradient_step_map_in_closed_form() -> None:
    # Student He_3 + z: h1 = 1, sigma' = 3 z^2 - 2, E[(sigma' - h1)^2] = 9 E (z^2 - 1)^2 = 18. Target 2 z: h1* = 2,
    # h2* = 4, with noise 0.5: 4.5/alpha0 = 1.5.
    spike, bulk, alignment = gradient_step(
        activation("z**3 - 2*z"), activation("2*z"), alpha0=3.0, eta=0.5, beta=2.0, noise=0.5
    )[:3]
    assert spike == pytest.approx(0.25 * math.sqrt(5.5), rel=1e-13)
    assert alignment == pytest.approx(2.0 / math.sqrt(5.5), rel=1e-13)
    assert bulk == pytest.approx(1.0 + 0.25**2 * 1.5 * 18.0, rel=1e-13)


def test_groups_step_in_proportion_to_their_weight() -> None:
    groups = (ReadoutGroup(1.0, 0.4), ReadoutGroup(-0.5, 0.3), ReadoutGroup(2.0, 0.3, 1.1))
    values = {"alpha": 1.0, "beta": 1.0, "ridge": 0.1, "alpha0": 2.0, "eta": 1.5}
    uniform = Model.from_gradient_step(TANH, SIN, bulk_model="isotropic", **values)
    model = Model.from_gradient_step(TANH, SIN, **values, readout=groups, bulk_model="isotropic")
    assert model.slopes == (uniform.spike, -0.5 * uniform.spike, 2.0 * uniform.spike)
    # The update of a row is u times as large, its squared norm u^2 times; a bulk given by hand stays.
    assert model.bulks == pytest.approx((uniform.bulk, 1.0 + 0.25 * (uniform.bulk - 1.0), 1.1), rel=1e-15)


def test_no_step_leaves_plain_random_features() -> None:
    for changes in ({"alpha0": 0.0, "eta": 3.0}, {"alpha0": 2.0, "eta": 0.0}):
        model = Model.from_gradient_step(RELU, TANH, alpha=1.0, beta=1.0, ridge=0.1, bulk_model="isotropic", **changes)
        assert (model.spike, model.bulk, model.alignment) == (0.0, 1.0, 0.0)


@pytest.mark.parametrize("student", ["he(2, z)", "abs(z)", "cos(z)"])
def test_an_even_student_gets_no_spike(student: str) -> None:
    model = Model.from_gradient_step(
        activation(student), TANH, alpha=1.0, beta=1.0, ridge=0.1, alpha0=2.0, eta=1.0, bulk_model="isotropic"
    )
    assert model.spike == 0.0


def test_the_step_of_relu_in_closed_form() -> None:
    # h0 = E[sigma''] = a = 1/sqrt(2 pi), h1 = 1/2, E[(sigma' - 1/2)^2] = 1/4; target 2 z + 1: E[Y] = 1 - a, E[Y u] = 2,
    # E[Y^2] = 4 + (1 - a)^2 + 0.5.
    a, rate = 1.0 / math.sqrt(2.0 * math.pi), 3.0 / 2.0
    square = 4.5 + (1.0 - a) ** 2
    spike, bulk, alignment = gradient_step(RELU, activation("2*z + 1"), alpha0=3.0, eta=3.0, beta=2.0, noise=0.5)[:3]
    assert spike == pytest.approx(rate * 0.5 * math.sqrt(4.0 + square / 3.0), rel=1e-13)
    assert alignment == pytest.approx(2.0 / math.sqrt(4.0 + square / 3.0), rel=1e-13)
    assert bulk == pytest.approx((1.0 + rate * a * (1.0 - a)) ** 2 + rate**2 * 0.25 * square / 3.0, rel=1e-13)


def test_groups_of_relu_step_against_the_mean_of_all() -> None:
    # Weights 1 and -1/2 of equal number: E[u] = 1/4, so Y = y - a/4. With E[y] = 1 and E[y^2] = 5 the bulk of weight u
    # is (1 + u e a E[Y])^2 + u^2 e^2 E[Y^2]/(4 alpha0).
    a, groups = 1.0 / math.sqrt(2.0 * math.pi), (ReadoutGroup(1.0, 0.5), ReadoutGroup(-0.5, 0.5))
    values = {"alpha": 1.0, "beta": 1.0, "ridge": 0.1, "alpha0": 2.0, "eta": 1.5}
    model = Model.from_gradient_step(RELU, activation("2*z + 1"), **values, readout=groups, bulk_model="isotropic")
    mean = 1.0 - 0.25 * a
    for u, bulk in zip((1.0, -0.5), model.bulks, strict=True):
        noise = 0.25 * (u * 1.5) ** 2 * (4.0 + mean**2) / 2.0
        assert bulk == pytest.approx((1.0 + 1.5 * u * a * mean) ** 2 + noise, rel=1e-13)
    assert model.as_given().bulks == pytest.approx(model.bulks, rel=1e-15)
    # u and -u of equal number: E[u] = 0, and their bulks differ by 4 e a E[Y].
    opposite = (ReadoutGroup(1.0, 0.5), ReadoutGroup(-1.0, 0.5))
    model = Model.from_gradient_step(RELU, activation("2*z + 1"), **values, readout=opposite, bulk_model="isotropic")
    assert model.bulks[0] - model.bulks[1] == pytest.approx(4.0 * 1.5 * a, rel=1e-13)
    assert model.as_given().bulks == pytest.approx(model.bulks, rel=1e-15)


@pytest.mark.parametrize("student", ["relu", "gelu", "silu", "softplus", "sigmoid", "mish(z)", "elu(z)", "tanh(z+1)"])
def test_the_step_without_an_overlap_of_the_rows_is_this_one(student: str) -> None:
    # Another derivation, with its own averages along the rows' common part, at overlap 0.
    given = {"alpha0": 2.0, "eta": 3.0, "noise": 0.2}
    ours = gradient_step(activation(student), activation("sin(z + 1/2)"), beta=1.5, **given)
    network = Network(activation(student), activation("sin(z + 1/2)"), alpha=1.0, beta=1.5, ridge=0.1, **given)
    theirs = stepped(network)
    errors = (*ours.errors[:2], ours.errors.alignment)
    assert (ours.spike, ours.bulk, ours.alignment) == pytest.approx(
        (theirs.spike, theirs.bulk, theirs.alignment), rel=1e-11
    )
    assert max(errors) < 1e-11
