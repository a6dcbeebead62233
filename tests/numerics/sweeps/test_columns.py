"""Every column of a row is a field of what one point alone gives; every field of a sweep is in its digest."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Any

import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.experiments.ensembles import Sizes
from giantsteps.numerics.experiments.simulate import simulate
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.models.solution import Solution
from giantsteps.numerics.saddle_point.one_group.batch import AT_WIDTH, solve_together
from giantsteps.numerics.saddle_point.solve import solve
from giantsteps.numerics.sweeps.chunk import columns
from giantsteps.numerics.sweeps.sweep import Axis, Experiment, Sweep, SweepError
from tests.shared.sweeping import SAME, rows, theory

GROUPS = (ReadoutGroup(1.0, 0.25, bias=0.3), ReadoutGroup(-0.5, 0.75, bias=-0.2))
STEP = {"beta": 1.3, "ridge": 0.2, "alpha": 1.1, "alpha0": 1.7, "noise": 0.15}
WIDTH = 37
GIVEN = {"beta": 1.3, "spike": 1.1, "bulk": 1.2, "alignment": 0.8, "ridge": 0.2, "alpha": 1.5, "noise": 0.15}
MANY = {"alpha": (0.7, 1.5), "ridge": (0.2, 0.4), "noise": (0.1, 0.2, 0.3, 0.4)}
# One of each: together in batches, with rows of one norm and of several, and alone: groups, another loss, a network's
# own bulk, too few points for a batch.
BATCHES = {
    "batch": theory(MANY, fixed=GIVEN, width=WIDTH),
    "batch, spike down": theory(MANY, fixed=GIVEN | {"spike": -0.5}, width=WIDTH),
    "batch of rows": theory(MANY, fixed=GIVEN, width=WIDTH, rows="gaussian"),
}
SWEEPS = BATCHES | {
    "groups": theory({"ridge": (0.2,)}, fixed=GIVEN, groups=GROUPS, width=WIDTH),
    "loss": theory({"ridge": (0.2,)}, fixed=GIVEN, loss="huber:0.7", width=WIDTH),
    "network": theory({"eta": (2.0,)}, fixed=STEP, bulk_model="network", width=WIDTH),
    "rows": theory({"noise": (0.3,)}, fixed=GIVEN, rows="gaussian", width=WIDTH),
}


def by_column(solution: Solution, groups: int) -> dict[str, float]:
    """What a point has, by the names of its columns."""
    found = {"test_error": solution.test_error, "training_error": solution.training_error}
    order, each = solution.order_parameters, range(groups)
    for name in ("m", "zeta", "psi", "q2", "V2", "chi"):
        value = getattr(order, name)
        found |= {name if groups == 1 else f"{name}_{a}": float(value[a]) for a in each if value.size}
    for name in ("q1", "V1"):
        value = getattr(order, name)
        if groups == 1:
            found[name] = float(value.reshape(-1)[0])
            continue
        # Of the symmetric q1 the upper half alone.
        found |= {f"{name}_{a}_{b}": float(value[a, b]) for a in each for b in each if name == "V1" or a <= b}
    return found


def _together(sweep: Sweep) -> dict[int, list[float]]:
    models = [sweep.subject(sweep.point(index)) for index in range(len(sweep))]
    return solve_together([model for model in models if isinstance(model, Model)], WIDTH)


@pytest.mark.parametrize("name", SWEEPS)
def test_every_column_is_a_field_of_the_single_solution(name: str) -> None:
    sweep = SWEEPS[name]
    assert bool(_together(sweep)) == (name in BATCHES)
    for index, row in tuple(enumerate(rows(sweep)))[:: 5 if name in BATCHES else 1]:
        subject = sweep.subject(sweep.point(index))
        assert isinstance(subject, Model)
        point = sweep.point(index)
        given = point if not sweep.has_step else {x: point[x] for x in ("alpha", "beta", "ridge", "noise")}
        assert {x: getattr(subject, x) for x in given} == given
        assert (subject.loss.name, subject.gaussian_rows) == (sweep.loss, sweep.rows == "gaussian")
        solution = solve(subject)
        there = solution.at_width(WIDTH)
        expected = by_column(solution, len(sweep.groups))
        expected |= dict(zip(AT_WIDTH, (there.test_error, there.training_error), strict=False))
        if name == "loss":
            assert solution.mean_squared_error is not None
            expected |= {"mean_squared_error": solution.mean_squared_error}
        if name not in BATCHES:  # what bounds the batch's own rounding is its own
            expected |= {"residual": solution.residual, "error_estimate": solution.error_estimate}
            expected |= {AT_WIDTH[2]: there.error_estimate}
        # All different, but for V1 which is symmetric: no column is filled with another.
        assert len(set(expected.values())) == len(expected) - (name == "groups")
        found = {column: row[column] for column in expected}
        assert found == pytest.approx(expected, rel=SAME, abs=SAME if name in BATCHES else 0.0)
        if sweep.has_step:
            expected |= {column: getattr(subject, column) for column in ("spike", "bulk", "alignment")}
            assert {column: row[column] for column in expected} == expected
        left = {"point", "converged", "status", "residual", "error_estimate", AT_WIDTH[2], "classification_error"}
        swept = {axis.name for axis in sweep.swept}
        assert set(row) - set(expected) - swept <= left
        assert {axis.name: row[axis.name] for axis in sweep.swept} == {x: sweep.point(index)[x] for x in swept}


@pytest.mark.parametrize("kind", ["srf", "network", "equivalent"])
@pytest.mark.parametrize("law", ["unit", "gaussian"])
def test_every_measured_column_is_that_of_one_simulation(kind: str, law: str) -> None:
    experiment = Experiment(20, 3, seed=4, kind=kind)
    swept = {"ridge": (0.2, 0.5), "noise": (0.1, 0.4)}
    if kind == "equivalent" and law == "gaussian":
        found = rows(theory({"ridge": (0.2,)}, kind="simulation", experiment=experiment, rows=law))
        assert found[0]["converged"] == 0
        return
    fixed = {**STEP, "eta": 2.0} if kind == "network" else None
    sweep = theory(swept, fixed=fixed, kind="simulation", experiment=experiment, rows=law, groups=GROUPS)
    for index, row in enumerate(rows(sweep)):
        subject = sweep.subject(sweep.point(index))
        assert isinstance(subject, Network if kind == "network" else Model)
        assert subject.gaussian_rows == (law == "gaussian")
        run = simulate(subject, dimension=20, seeds=3, seed=4, kind=kind)
        assert (row["n"], row["p"], row["n0"]) == (run.sizes.n, run.sizes.p, run.sizes.n0)
        expected = {}
        for name, found in run.estimates.items():
            column = "simulated_" + name.replace("[", "_").replace(",", "_").replace("]", "")
            # A test set is spread along the mean readout of the points that share it.
            error = 0.5 if name == "test_error" else 1e-9
            assert row[column] == pytest.approx(found.mean, rel=error), column
            expected[column] = found.mean
            assert row[f"{column}_standard_error"] == pytest.approx(found.standard_error, rel=10 * error), column
        # A network on the sphere has rows of one norm before its step, and of as many after it.
        measured = {x for x in columns(sweep) if x.startswith("simulated_") and not x.endswith("_standard_error")}
        assert measured == set(expected)
        assert (row["status"], row["converged"]) == ("simulated", 1)


def test_the_theory_beside_a_simulation_is_at_its_ratios() -> None:
    """Of all sizes, the batch's too: of d = 20 they are 22, 26 and 34, and 7 and 19 neurons."""
    step = {**STEP, "alpha": 1.11, "beta": 1.29, "alpha0": 1.69}
    experiment = Experiment(20, 2, kind="network")
    (row,) = rows(theory({"eta": (2.0,)}, fixed=step, groups=GROUPS, kind="both", experiment=experiment))
    realised = {**step, "alpha": 1.1, "beta": 1.3, "alpha0": 1.7}
    sizes = Sizes.rounded(20, alpha=1.11, beta=1.29, alpha0=1.69, fractions=(0.25, 0.75))
    assert (row["n"], row["p"], row["n0"]) == (22, 26, 34) == (sizes.n, sizes.p, sizes.n0)
    groups = tuple(replace(group, fraction=share) for group, share in zip(GROUPS, sizes.fractions, strict=True))
    network = Network(activation("tanh(z)"), activation("sin(z)"), eta=2.0, readout=groups, **realised)
    expected = solve(network.model())
    assert row["test_error"] == pytest.approx(expected.test_error, rel=SAME)
    assert row["spike"] == pytest.approx(expected.model.spike, rel=1e-12)
    assert (row["status"], row["converged"]) == ("converged", 1)


# --- the digest and what a sweep is held to


OTHERS: dict[str, dict[str, Any]] = {
    "activation": {"activation": "erf(z)"},
    "target": {"target": "tanh(z)"},
    "axes": {"axes": (Axis("alpha", (0.5, 1.0)), *theory({"alpha": (0.5,)}).axes[1:-1], Axis("ridge", (0.2,), False))},
    "kind": {"kind": "both"},
    "mode": {"mode": "zip"},
    "groups": {"groups": GROUPS},
    "bulk_model": {"bulk_model": "isotropic"},
    "loss": {"loss": "huber:0.5"},
    "experiment": {"experiment": Experiment(20, 3)},
    "rows": {"rows": "gaussian"},
    "width": {"width": 37},
    "same_batch": {"same_batch": True},
    "schedule": {"schedule": (("eta", (1.0, 2.0)),)},
}


@pytest.mark.parametrize("name", [field.name for field in fields(Sweep)])
def test_every_field_is_in_the_digest(name: str) -> None:
    given = {"fixed": {**STEP, "eta": 1.0}} if name in ("bulk_model", "same_batch", "schedule") else {}
    if name in ("kind", "experiment"):
        given |= {"kind": "simulation", "experiment": Experiment(20, 2)}
    base = theory({"noise": (0.1, 0.2)} if name == "bulk_model" else {"alpha": (0.5, 1.0)}, **given)
    assert replace(base, **OTHERS[name]).digest != base.digest
    assert replace(base).digest == base.digest


@pytest.mark.parametrize("changed", [{"dimension": 21}, {"seeds": 3}, {"seed": 1}, {"kind": "equivalent"}])
def test_every_field_of_the_experiment_is_in_the_digest(changed: dict[str, Any]) -> None:
    base = Experiment(20, 2)
    one, other = (theory({"alpha": (0.5,)}, kind="both", experiment=x) for x in (base, replace(base, **changed)))
    assert one.digest != other.digest


@pytest.mark.parametrize("changed", [{"weight": 0.5}, {"fraction": 0.5}, {"bulk": 1.5}, {"bias": 0.1}])
def test_every_field_of_a_group_is_in_the_digest(changed: dict[str, Any]) -> None:
    other = (replace(GROUPS[0], **changed), replace(GROUPS[1], fraction=1.0 - changed.get("fraction", 0.25)))
    assert theory({"alpha": (0.5,)}, groups=other).digest != theory({"alpha": (0.5,)}, groups=GROUPS).digest


LEAST = {"dimension": 2, "seeds": 1, "seed": 0}


@pytest.mark.parametrize("name", LEAST)
def test_the_least_experiment_is_accepted_and_less_is_not(name: str) -> None:
    theory({"alpha": (0.5,)}, kind="both", experiment=Experiment(**LEAST))
    with pytest.raises(SweepError, match="dimension >= 2, seeds >= 1 and seed >= 0"):
        theory({"alpha": (0.5,)}, kind="both", experiment=Experiment(**(LEAST | {name: LEAST[name] - 1})))


def test_a_parameter_that_is_not_swept_has_one_value() -> None:
    one = theory({"alpha": (0.5,)}).axes
    assert len(theory({"alpha": (0.5,)})) == 1
    for values in ((), (0.1, 0.2)):
        axes = (*(axis for axis in one if axis.name != "beta"), Axis("beta", values, swept=False))
        with pytest.raises(SweepError, match=f"beta has {len(values)} values"):
            Sweep("tanh(z)", "sin(z)", axes)


def test_the_least_width_is_accepted_and_less_is_not() -> None:
    assert theory({"alpha": (0.5,)}, width=1).width == 1
    with pytest.raises(SweepError, match="width = 0"):
        theory({"alpha": (0.5,)}, width=0)


@pytest.mark.parametrize("kind", ["srf", "equivalent"])
def test_what_only_a_network_has_is_refused_of_others(kind: str) -> None:
    stepped = {**STEP, "eta": 1.0}
    network, other = Experiment(20, 2, kind="network"), Experiment(20, 2, kind=kind)
    theory({"noise": (0.1,)}, fixed=stepped, kind="both", experiment=network, bulk_model="network")
    theory({"noise": (0.1,)}, fixed=stepped, kind="both", experiment=other)
    with pytest.raises(SweepError, match="requires kind"):
        theory({"noise": (0.1,)}, fixed=stepped, kind="both", experiment=other, bulk_model="network")
    with pytest.raises(SweepError, match="takes its gradient step"):
        theory({"alpha": (0.5,)}, kind="both", experiment=network)
    with pytest.raises(SweepError, match="follows from its gradient step"):
        theory({"alpha": (0.5,)}, bulk_model="network")


def test_a_bulk_may_be_left_out_where_every_group_has_its_own() -> None:
    given = {"beta": 1.0, "spike": 1.0, "alignment": 0.8, "ridge": 0.1}
    own = tuple(replace(group, bulk=1.5) for group in GROUPS)
    sweep = theory({"alpha": (0.5,)}, fixed=given, groups=own)
    assert sweep.subject(sweep.point(0)).bulks == (1.5, 1.5)  # type: ignore[union-attr]
    with pytest.raises(SweepError, match="missing: bulk"):
        theory({"alpha": (0.5,)}, fixed=given, groups=(own[0], GROUPS[1]))
    for name in ("spike", "alignment"):
        with pytest.raises(SweepError, match=f"missing: {name}"):
            theory({"alpha": (0.5,)}, fixed={x: y for x, y in given.items() if x != name}, groups=own)


def test_chunks_of_points_that_share_nothing_are_small() -> None:
    experiment, few = Experiment(20, 2), tuple(0.1 + 0.01 * k for k in range(100))
    # Few points leave chunks for several workers; simulations are shared over ridges, eight at most.
    assert theory({"ridge": few}).chunk == 16
    assert theory({"alpha": few, "ridge": few}, kind="simulation", experiment=experiment).chunk == 8
    assert theory({"ridge": few, "alpha": few}, kind="both", experiment=experiment).chunk == 1
    many, long = (tuple(0.1 + 1e-4 * k for k in range(count)) for count in (200, 10_000))
    step = {**STEP, "eta": 1.0}
    # A 64th of the points where the functions of kappa are shared, fifty where every point has its own.
    whole = math.ceil(200 * 200 / 64)
    assert theory({"spike": many, "beta": many}).chunk == whole
    assert theory({"alpha0": many, "alpha": many}, fixed=step, bulk_model="isotropic").chunk == whole
    # The spike and the bulk of a step depend on beta.
    assert theory({"alpha0": many, "beta": many}, fixed=step, bulk_model="isotropic").chunk == 50
    assert theory({"alpha": long, "ridge": long}, mode="zip").chunk == math.ceil(10_000 / 64)
    assert theory({"alpha": long, "spike": long}, mode="zip").chunk == 50
    for more in ({"groups": GROUPS}, {"rows": "gaussian"}, {"loss": "huber:0.5"}):
        assert theory({"alpha": many, "ridge": many}, **more).chunk == 16  # type: ignore[arg-type]
