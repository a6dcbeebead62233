"""Many points at once give what one at a time gives, and a bad point spoils no neighbour."""

from __future__ import annotations

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.models.model import LARGEST, SMALLEST, Model, ModelError, ReadoutGroup
from giantsteps.numerics.saddle_point.one_group.batch import NUMBERS, solve_batch, solve_families
from giantsteps.numerics.saddle_point.ridge import solve

UNIT = {"spike": 1.0, "bulk": 1.0, "alignment": 1.0}


def _model(student: str, target: str, **values: float) -> Model:
    return Model(activation(student), activation(target), alpha=1.0, beta=1.0, ridge=0.1, **(UNIT | values))


def test_a_bad_point_is_marked_and_spoils_no_neighbour() -> None:
    model = _model("tanh", "sin", spike=1.0, alignment=0.8)
    good = solve_batch(model, alpha=[1.0, 2.0], beta=1.0, ridge=0.1)
    mixed = solve_batch(model, alpha=[1.0, np.nan, -3.0, 2.0, 1.0], beta=1.0, ridge=[0.1, 0.1, 0.1, 0.1, 0.0])
    assert mixed.converged.tolist() == [True, False, False, True, False]
    assert "not accepted" in mixed.status[1]
    assert mixed.test_error[[0, 3]] == pytest.approx(good.test_error, rel=1e-13)


def test_points_that_are_not_accepted_have_no_numbers_anywhere() -> None:
    model = _model("tanh", "sin", spike=1.0, alignment=0.8)
    batch = solve_batch(model, ridge=[0.1, -1.0, 0.1], noise=[0.0, 0.1, -0.1], alpha=1.5, bulk=[1.0, 1.0, 2.0])
    wide, document = batch.at_width(300), batch.to_dict()
    assert batch.converged.tolist() == [True, False, False]
    for name in NUMBERS:
        assert np.isnan(getattr(batch, name)).tolist() == [False, True, True], name
    for name in ("test_error", "training_error", "error_estimate"):
        assert np.isnan(getattr(wide, name)).tolist() == [False, True, True], name
    for numbers in (document["test_error"], document["at_width"]["test_error"], document["order_parameters"]["m"]):
        assert [x is None for x in numbers] == [False, True, True]


def test_many_points_in_chunks_are_the_same_as_few() -> None:
    model = _model("tanh", "sin", spike=1.0, alignment=0.8)
    ridge = np.geomspace(1e-3, 10.0, 3000)
    many = solve_batch(model, alpha=1.5, beta=1.0, ridge=ridge)
    few = solve_batch(model, alpha=1.5, beta=1.0, ridge=ridge[::500])
    # Matrix products of different shapes sum in different orders.
    assert many.test_error[::500] == pytest.approx(few.test_error, rel=1e-12)
    assert len(many.status) == 3000


def test_the_solution_has_the_shape_of_the_grid() -> None:
    model = _model("tanh", "sin", spike=1.0, alignment=0.8)
    grid = solve_batch(model, alpha=np.array([[0.5], [2.0]]), beta=1.0, ridge=np.array([0.1, 1.0]))
    assert grid.shape == grid.status.shape == (2, 2)
    assert grid.test_error[1, 0] == pytest.approx(solve(model.changed(alpha=2.0, ridge=0.1)).test_error, rel=1e-11)


def test_families_are_what_shares_the_functions_of_kappa() -> None:
    groups = (ReadoutGroup(1.0, 0.5), ReadoutGroup(-0.5, 0.5))
    base = _model("tanh", "sin", spike=1.0, alignment=0.8)
    many = [base.changed(alpha=0.5 + 0.1 * k) for k in range(12)]
    other = [base.changed(spike=2.0, ridge=0.1 + k) for k in range(10)]
    # Left out: two points are too few, several groups and no ridge are not for a batch.
    left_out = [base.changed(bulk=2.0), base.changed(bulk=2.0, alpha=3.0), base.changed(ridge=0.0)]
    left_out += [
        Model(base.activation, base.target, 1.0 + k, 1.0, 0.1, readout=groups, spike=1.0, bulk=1.0, alignment=1.0)
        for k in range(4)
    ]
    models = [*many[:3], *left_out, *other, *many[3:]]
    found = list(solve_families(models))
    assert [places for places, _ in found] == [[0, 1, 2, *range(20, 29)], [*range(10, 20)]]
    for places, batch in found:
        expected = [solve(models[place]).test_error for place in places]
        assert batch.test_error == pytest.approx(expected, rel=1e-10)


def test_an_empty_grid_has_no_points_and_ranges_are_those_of_a_model() -> None:
    model = _model("tanh", "sin")
    for empty in ({"spike": []}, {"alpha": []}, {"bulk": np.zeros((2, 0))}):
        assert solve_batch(model, **empty).test_error.size == 0
    found = solve_batch(model, ridge=[1e-60, 0.1, 1e60], noise=[0.0, 0.0, 0.0])
    assert found.converged.tolist() == [False, True, False]
    assert "1e-50 to 1e50" in found.status[0]


@pytest.mark.parametrize("name", ["alpha", "beta", "ridge", "noise"])
def test_the_ends_of_a_range_belong_to_it(name: str) -> None:
    ends = [SMALLEST, np.nextafter(SMALLEST, 0.0), LARGEST, np.nextafter(LARGEST, np.inf)]
    found = solve_batch(_model("tanh", "sin"), **{name: np.array(ends)})
    assert [status.startswith("not accepted") for status in found.status] == [False, True, False, True]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"alpha": [1.0, 2.0], "ridge": [0.1, 0.2, 0.3]}, r"alpha \(2,\), ridge \(3,\)"),
        ({"alpha": np.ones((2, 3)), "spike": np.ones((3, 2)), "beta": 1.0}, r"alpha \(2, 3\), .*spike \(3, 2\)"),
        ({"ridge": "small"}, "ridge was given"),
        ({"alpha": [[1.0], [1.0, 2.0]]}, "alpha was given"),
    ],
)
def test_grids_that_are_none_are_refused_in_a_sentence(given: dict[str, object], said: str) -> None:
    with pytest.raises(ModelError, match=said):
        solve_batch(_model("tanh", "sin"), **given)  # type: ignore[arg-type]
