"""The shares of experiments that prefer another basin: counted, predicted, and when they decide nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bounds.learned_bias import Basins, BiasMinimum, LearnedBias
from giantsteps.numerics.models.model import Model
from giantsteps.reports.measurements.basin_shares import basin_shares, ended, ended_sentence, scatter, tail, undecided
from giantsteps.verify.checks.finite_size import CONFIRMED, INCONCLUSIVE, Observation, compare_all

MODEL = Model(activation("tanh"), activation("sin"), alpha=1.0, beta=1.0, ridge=0.1, spike=1.0, alignment=0.5, bulk=1.0)
FOUND = LearnedBias(
    bias=1.0, energy=0.5, model=MODEL, minima=(BiasMinimum(-1.0, 0.52), BiasMinimum(1.0, 0.5)), tied=False,
    at_edge=False, reach=4.0, barriers=(0.1,),
)  # fmt: skip
HOME = Basins((0.1, math.inf), ((-math.inf, 0.1),))


def samples(gap: float, s: float, bias: float = 1.0) -> dict[int, dict[str, list[float]]]:
    rng = np.random.default_rng(11)
    sizes = {100: 4000, 400: 2000}
    return {
        d: {"energy_gap": list(gap + s / math.sqrt(d) * rng.standard_normal(k)), "bias": [bias] * k}
        for d, k in sizes.items()
    }


def test_the_share_follows_from_gap_and_scatter() -> None:
    gap, s = 0.02, 0.4
    found = basin_shares(FOUND, HOME, samples(gap, s), {key: {"energy_gap": gap} for key in (100, 400)})
    assert scatter({d: x["energy_gap"] for d, x in samples(gap, s).items()}) == pytest.approx(s, rel=0.05)
    for share, expected in zip(found.shares, (0.3085, 0.1587), strict=True):  # Phi(-1/2), Phi(-1)
        assert share.predicted == pytest.approx(expected, abs=0.01)
        # Four standard errors of a share of 2000 or more: exceeded with probability 1e-4.
        assert share.elsewhere == pytest.approx(expected, abs=4.0 * 0.011)
        assert share.cut_off == 0.0
    assert found.objection is None
    assert "in the basin of 1, biases above 0.1" in found.sentence


def test_of_several_other_basins_each_experiment_that_prefers_any_counts_once() -> None:
    # Of ten experiments two prefer the first, three the second, and one of them both.
    first, second = [-1.0] * 2 + [1.0] * 8, [1.0, -1.0, -1.0, -1.0] + [1.0] * 6
    drawn = {d: {"energy_gap[0]": first, "energy_gap[1]": second, "bias": [1.0] * 10} for d in (100, 400)}
    found = basin_shares(FOUND, HOME, drawn, {d: {"energy_gap[0]": 0.5, "energy_gap[1]": 0.5} for d in (100, 400)})
    assert [share.elsewhere for share in found.shares] == [0.4, 0.4]
    for share in found.shares:  # the chances of the two are added
        alone = [
            tail(0.5, scatter({d: drawn[d][name] for d in drawn}), share.dimension)
            for name in ("energy_gap[0]", "energy_gap[1]")
        ]
        assert share.predicted == pytest.approx(sum(part for part in alone if part is not None), rel=1e-12)


def test_experiments_at_the_barrier_decide_nothing() -> None:
    found = basin_shares(FOUND, HOME, samples(0.02, 0.4, bias=0.1), {d: {"energy_gap": 0.02} for d in (100, 400)})
    assert found.objection is not None
    assert "100% at d = 100" in found.objection
    rng = np.random.default_rng(3)
    observed = [Observation(d, tuple(1.0 + rng.standard_normal(20) / d), 1.0) for d in (100, 200, 400)]
    report = compare_all({"m": observed})
    assert report.verdict == CONFIRMED
    assert undecided(report, None) is report
    objected = undecided(report, found.objection)
    assert objected.verdict == INCONCLUSIVE
    assert objected.comparisons[0].z is None
    assert objected.comparisons[0].extrapolated == report.comparisons[0].extrapolated


def test_one_experiment_shows_no_scatter() -> None:
    one = {d: {"energy_gap": [0.1], "bias": [1.0]} for d in (100, 200)}
    found = basin_shares(FOUND, HOME, one, {d: {"energy_gap": 0.1} for d in (100, 200)})
    assert [share.predicted for share in found.shares] == [None, None]
    assert tail(0.1, None, 100) is None
    assert "one seed a dimension shows no scatter" in found.sentence
    assert "predict -" not in found.sentence
    assert all("predicted" not in share for share in found.to_dict()["shares"])
    many = basin_shares(FOUND, HOME, samples(0.02, 0.4), {d: {"energy_gap": 0.02} for d in (100, 400)})
    assert "scatter predict 31%, 16%" in many.sentence
    assert all("predicted" in share for share in many.to_dict()["shares"])


def test_where_biases_of_the_whole_line_ended() -> None:
    found = ended(FOUND, [-2.0, 0.0, 0.2, 1.5])
    assert found == (0.5, 0.5)
    assert "all end in the lowest" in ended_sentence(FOUND, found)
