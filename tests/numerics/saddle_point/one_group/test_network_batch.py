"""Many points of a network's own bulk at once are what one at a time gives, by functions of one variable."""

from __future__ import annotations

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.models.model import Model, ModelError, ReadoutGroup
from giantsteps.numerics.saddle_point.one_group.batch import solve_batch
from giantsteps.numerics.saddle_point.ridge import solve


def _step(student: str, target: str, **values: float) -> Model:
    numbers = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "alpha0": 2.0, "eta": 3.0} | values
    return Model.from_gradient_step(activation(student), activation(target), bulk_model="network", **numbers)


def test_points_may_differ_in_all_that_a_step_has() -> None:
    model = _step("tanh", "sin")
    batch = solve_batch(model, eta=[[0.0], [4.0]], noise=[0.0, 0.2])
    assert batch.shape == batch.chi.shape == (2, 2)
    # Without a step all rows have one norm, and no noise is seen.
    assert batch.chi[0].tolist() == [0.0, 0.0]
    for place, noise in np.ndenumerate(np.array([[0.0, 0.2], [0.0, 0.2]])):
        one = solve(model.changed(eta=4.0 * place[0], noise=float(noise)))
        assert batch.test_error[place] == pytest.approx(one.test_error, rel=1e-11)


def test_a_law_that_is_none_is_marked() -> None:
    with pytest.raises(ModelError, match="moments of order 8"):
        solve(_step("tanh", "exp(z**2/10)"))
    batch = solve_batch(_step("tanh", "exp(z**2/10)"), ridge=[0.1, 0.2])
    assert not batch.converged.any()
    assert "moments of order 8" in batch.status[0]
    assert np.isnan(batch.test_error).all()


@pytest.mark.parametrize(("student", "degree", "largest"), [("z", 1, 1e30), ("relu", 1, 1e2), ("z**2", 2, 1e18)])
def test_the_unit_of_weights_does_not_matter(student: str, degree: int, largest: float) -> None:
    # Features of degree k, in w -> s w, scale as s^k: with the ridge as s^(2k) nothing else changes.
    found = []
    for bulk in (1.0, 1e-12, largest):
        rows = {"spike": bulk**0.5, "bulk": bulk, "alignment": 0.7, "gaussian_rows": True}
        model = Model(activation(student), activation("sin"), 2.0, 1.5, bulk**degree, **rows)
        batch = solve_batch(model)
        assert batch.converged, batch.status
        if bulk <= 1.0:
            half = ReadoutGroup(1.0, 0.5)
            found += [solve(model).test_error, solve(model.changed(readout=(half, half))).test_error]
        found.append(float(batch.test_error))
    # Rounding of an error of order one.
    assert found == pytest.approx([found[0]] * len(found), rel=1e-12)
