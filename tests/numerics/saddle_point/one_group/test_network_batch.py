"""Many points of a network's own bulk at once are what one at a time gives, by functions of one variable."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bulk.network import NetworkBulk
from giantsteps.numerics.bulk.network_law import BulkLaw, isotropic_law, step_laws
from giantsteps.numerics.models.model import Model, ModelError, ReadoutGroup
from giantsteps.numerics.saddle_point.one_group import batch as batches
from giantsteps.numerics.saddle_point.one_group.batch import FEWEST, NUMBERS, BatchSolution, solve_batch, solve_families
from giantsteps.numerics.saddle_point.one_group.network_gains import Gains
from giantsteps.numerics.saddle_point.ridge import solve

PARAMETERS = ("m", "zeta", "psi", "q1", "q2", "V1", "V2", "chi")


def _step(student: str, target: str, **values: float) -> Model:
    numbers = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "alpha0": 2.0, "eta": 3.0} | values
    return Model.from_gradient_step(activation(student), activation(target), bulk_model="network", **numbers)


def _law(model: Model) -> BulkLaw:
    (law,) = step_laws(model)
    return law


def _compare(batch: BatchSolution, place: tuple[int, ...], model: Model) -> None:
    """One point of a batch and the same alone, each within what both say of themselves."""
    one = solve(model)
    assert bool(batch.converged[place]) == one.converged, batch.status[place]
    assert batch.residual[place] <= 1e-12
    # Both have an estimate of the test error; the floor is the rounding of the sum of its terms, of order one.
    allowed = batch.error_estimate[place] + one.error_estimate + 1e-14
    assert abs(batch.test_error[place] - one.test_error) <= allowed
    assert abs(batch.training_error[place] - one.training_error) <= allowed
    for name in PARAMETERS:
        expected = float(np.ravel(getattr(one.order_parameters, name))[0])
        # Newton's methods in (T, tau) stop at a relative 1e-13 and 1e-9 squared, which a small ridge magnifies.
        assert getattr(batch, name)[place] == pytest.approx(expected, rel=1e-9, abs=1e-10), name
    wide, alone = batch.at_width(300), one.at_width(300)
    left = wide.error_estimate[place] + alone.error_estimate
    assert abs(wide.test_error[place] - alone.test_error) <= left + 1e-14


@pytest.mark.parametrize("seed", range(3))
def test_a_batch_is_its_points(seed: int) -> None:
    rng = np.random.default_rng(seed)
    student = ("erf", "relu", "gelu")[seed]
    target = ("tanh(z + 0.5)", "sin", "sign")[int(rng.integers(3))]
    sizes = {"alpha0": 10.0 ** rng.uniform(-0.5, 1.0), "eta": 10.0 ** rng.uniform(-0.5, 1.0)}
    model = _step(student, target, noise=float(rng.choice([0.0, 0.3])), beta=float(rng.uniform(0.3, 3.0)), **sizes)
    alpha, ridge = 10.0 ** rng.uniform(-1.0, 1.0, 4), 10.0 ** rng.uniform(-4.0, 1.0, 4)
    batch = solve_batch(model, alpha=alpha, ridge=ridge)
    for k in range(4):
        _compare(batch, (k,), model.changed(alpha=float(alpha[k]), ridge=float(ridge[k])))


def test_points_may_differ_in_all_that_a_step_has() -> None:
    model = _step("tanh", "sin")
    batch = solve_batch(model, eta=[[0.0], [4.0]], noise=[0.0, 0.2])
    assert batch.shape == batch.chi.shape == (2, 2)
    # Without a step all rows have one norm, and no noise is seen.
    assert batch.chi[0].tolist() == [0.0, 0.0]
    for place, noise in np.ndenumerate(np.array([[0.0, 0.2], [0.0, 0.2]])):
        one = solve(model.changed(eta=4.0 * place[0], noise=float(noise)))
        assert batch.test_error[place] == pytest.approx(one.test_error, rel=1e-11)


def test_the_order_of_points_does_not_matter() -> None:
    model, rng = _step("tanh(z + 0.7)", "tanh"), np.random.default_rng(4)
    alpha, ridge = 10.0 ** rng.uniform(-1.0, 1.0, 300), 10.0 ** rng.uniform(-3.0, 1.0, 300)
    order = rng.permutation(300)
    one, other = (solve_batch(model, alpha=alpha[some], ridge=ridge[some]) for some in (np.arange(300), order))
    for name in NUMBERS[:-2]:
        # Matrix products of other shapes sum in another order; the rest is the same.
        assert getattr(one, name)[order] == pytest.approx(getattr(other, name), rel=1e-10, abs=1e-12), name


def test_gaussian_rows_are_a_law_of_rows_too() -> None:
    values = {"spike": 1.0, "bulk": 1.2, "alignment": 0.8}
    model = Model(activation("tanh"), activation("sin"), 1.5, 1.0, 0.1, **values, gaussian_rows=True)
    batch = solve_batch(model, ridge=[0.01, 1.0], beta=[1.0, 2.0], noise=[0.0, 0.3])
    _compare(batch, (0,), model.changed(ridge=0.01))
    _compare(batch, (1,), model.changed(ridge=1.0, beta=2.0, noise=0.3))


def test_families_of_a_sweep_share_a_law() -> None:
    model = _step("tanh", "sin")
    along = [model.changed(alpha=0.5 + 0.2 * k) for k in range(10)]
    # The same spike, bulk and alignment by twice the eta at twice the beta: another beta is another law of T and tau.
    wider = [one.changed(beta=2.0, eta=6.0) for one in along]
    found = dict(zip(("one", "other"), solve_families([*along, *wider]), strict=True))
    assert [places for places, _ in found.values()] == [[*range(10)], [*range(10, 20)]]
    for (_, batch), models in zip(found.values(), (along, wider), strict=True):
        assert batch.test_error[3] == pytest.approx(solve(models[3]).test_error, rel=1e-11)
        assert batch.chi[3] == pytest.approx(solve(models[3]).order_parameters.chi[0], rel=1e-9)


def test_a_law_that_is_none_is_marked() -> None:
    with pytest.raises(ModelError, match="moment of order 8"):
        solve(_step("tanh", "exp(z**2/10)"))
    batch = solve_batch(_step("tanh", "exp(z**2/10)"), ridge=[0.1, 0.2])
    assert not batch.converged.any()
    assert "moment of order 8" in batch.status[0]
    assert np.isnan(batch.test_error).all()


@pytest.mark.parametrize("student", ["tanh", "relu"])
def test_the_functions_of_the_gain_are_those_of_the_bulk(student: str) -> None:
    law, (ridge, beta) = _law(_step(student, "sin", noise=0.1)), (0.1, 1.3)
    gains, bulk = Gains(law), NetworkBulk(ridge, beta, law)
    for conjugate in (1e-12, 0.03, 2.0, 60.0):
        point = bulk.at(np.array([conjugate, 0.2]))
        x = beta * point.values[1]
        filled, bent = (row[0] for row in gains.filled(np.array([conjugate * x])))
        form, turned = (row[..., 0] for row in gains.overlaps(np.array([conjugate * x])))
        # The rounding of a hundred operations; that of K, a difference, grows with the gain.
        assert filled == pytest.approx(point.values[0] / point.values[1], rel=1e-13)
        assert x * form == pytest.approx(point.overlap, rel=1e-11, abs=1e-12)
        by_D = point.slopes[0, 1]
        # By the chain rule, through g = C x.
        along = by_D * (form + x * conjugate * turned)
        assert along == pytest.approx(point.overlap_jacobian()[1], rel=1e-10, abs=1e-11)
        moved = by_D * (filled + x * conjugate * bent) / beta
        assert moved == pytest.approx(point.jacobian[0, 1], rel=1e-12)


def test_the_functions_of_the_gain_for_an_isotropic_bulk() -> None:
    # B = c: f = c/(1 + g c), and M = f on v and theta_perp, without the projection's rounding.
    gains, g = Gains(isotropic_law(1.7, 0.6, gaussian_rows=True)), np.array([1e-30, 1e-3, 1.0, 54.0, 55.0, 1e6])
    filled, bent = gains.filled(g)
    assert filled == pytest.approx(1.7 / (1.0 + 1.7 * g), rel=1e-13)
    assert bent == pytest.approx(-((1.7 / (1.0 + 1.7 * g)) ** 2), rel=1e-12)
    assert np.all(gains.lost(g) < 1.0)
    nowhere = np.array([np.nan, 1e60])
    assert np.isnan(gains.filled(nowhere)[0]).all()
    assert gains.lost(nowhere).tolist() == [0.0, 0.0]


def test_what_a_point_loses_does_not_depend_on_other_points() -> None:
    law = _law(_step("relu", "sin"))
    g, far = np.array([1e-3, 0.7, 60.0]) / law.bulk, np.array([1e40]) / law.bulk
    alone, together = Gains(law), Gains(law)
    # So far out a panel has no numbers: whoever asks for it gets none, and nobody else hears of it.
    assert np.isnan(together.filled(far)[0]).all()
    together.filled(np.array([1e9]) / law.bulk)
    assert together.lost(g).tolist() == [float(alone.lost(one)[0]) for one in np.split(g, 3)]
    assert together.lost(far).tolist() == [0.0]


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


def test_models_that_differ_in_one_field_share_no_family(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[Model, int]] = []

    def none(model: Model, columns: list[Any], *_: Any) -> Any:
        seen.append((model, len(columns[0])))
        raise ModelError("looked at")

    monkeypatch.setattr(batches, "_solved_family", none)
    one, half = ReadoutGroup(), ReadoutGroup(1.0, 0.5)
    base = _step("relu", "sin")
    given = base.changed(bulk_model="isotropic").as_given()
    apart = [base, given, _step("gelu", "sin"), _step("relu", "tanh")]
    apart += [base.changed(alpha0=3.0), base.changed(eta=4.0), base.changed(beta=1.5)]
    apart += [base.changed(noise=base.noise + 0.2), base.changed(readout=(replace(one, weight=0.5),))]
    apart += [base.changed(readout=(replace(one, bias=0.5),))]
    apart += [given.changed(**{name: 0.9 * getattr(given, name)}) for name in ("spike", "bulk", "alignment")]
    apart += [replace(given, gaussian_rows=True), given.changed(readout=(replace(one, bulk=0.7),))]
    together = [model.changed(alpha=1.0 + 0.1 * k) for k in range(FEWEST) for model in apart]
    # Along alpha and ridge, and for rows of one law along beta and noise, too, functions are the same.
    together += [base.changed(ridge=0.3), given.changed(beta=2.0), given.changed(noise=0.3)]
    # What no batch takes, and families of too few.
    left_out = [base.changed(ridge=0.0), base.changed(loss="huber:1"), base.changed(readout=(half, half))]
    few = [base.changed(eta=9.0, alpha=1.0 + k) for k in range(FEWEST - 1)]
    assert list(solve_families([*together, *left_out, *few])) == []
    assert [size for _, size in seen] == [FEWEST + 1, FEWEST + 2] + [FEWEST] * (len(apart) - 2)
    assert [model for model, _ in seen] == together[: len(apart)]
