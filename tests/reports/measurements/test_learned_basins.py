"""Learned biases in one basin of the limit: the stored experiments, their verdicts, and what the page says of them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from benchmarks.networks.trials import basin_seed, seed_of
from giantsteps.reports.measurements import learned_basins, models
from giantsteps.reports.measurements.basin_shares import GAP
from giantsteps.reports.measurements.close_basins import says, tables
from giantsteps.reports.measurements.experiments import read
from giantsteps.reports.measurements.learned_basins import (
    CLOSE,
    ITEM,
    confined,
    gap_of,
    judge_in_basin,
    minima_of,
    of_the_item,
)
from giantsteps.reports.measurements.models import ITEMS, MODELS, RUNS, Drawn
from giantsteps.reports.measurements.theory import judge
from giantsteps.verify.checks.finite_size import CONFIRMED, REFUTED


@cache
def near() -> Drawn:
    """The one drawn model whose minima are close."""
    found = [drawn for drawn in confined("lowest").values() if gap_of(drawn) < CLOSE]
    assert len(found) == 1
    return found[0]


def test_no_two_streams_share_their_draws() -> None:
    own = [seed_of(item.key, index) for item in ITEMS for index in range(MODELS)] + [seed_of("landmark", 0)]
    assert not set(own) & {basin_seed("second", index) for index in range(MODELS)}
    # Those of the lowest basin are meant to be the training sets of the whole line.
    assert [basin_seed("lowest", index) for index in range(MODELS)] == [seed_of(ITEM, k) for k in range(MODELS)]


@pytest.mark.parametrize("number", [0, 2, 5])
def test_the_gap_tells_where_the_whole_line_ends(number: int) -> None:
    """Two measurements of one thing on the same training sets: the gap is negative where the bias is elsewhere."""
    drawn = confined("lowest")[number]
    barrier = minima_of(drawn).barriers[0]
    above = minima_of(drawn).bias > barrier
    for d, _ in RUNS:
        whole = read(models.DATA)[ITEM][drawn.name][str(d)]
        inside = read(learned_basins.DATA)["lowest"][drawn.name][str(d)]
        elsewhere = (np.array(whole["bias"]) > barrier) != above
        assert np.array_equal(elsewhere, np.array(inside[GAP]) < 0.0)
        # Where it is not, the experiments are the same; both are stored with six digits.
        same = [np.array(found["energy"])[~elsewhere] for found in (whole, inside)]
        assert same[0] == pytest.approx(same[1], rel=1e-5)


def test_close_minima_are_refuted_on_the_line_and_confirmed_in_the_basin() -> None:
    whole = replace(near(), rank=None)
    # Probability 1e-3 that a right theory is refuted.
    assert judge(whole, read(models.DATA)[ITEM][whole.name]).verdict == REFUTED
    inside = of_the_item(read(learned_basins.DATA), "lowest", near())
    assert inside is not None
    assert judge_in_basin(near(), inside).verdict == CONFIRMED
    # The comparison can fail: in the other basin, and beside the theory of twice the ridge.
    assert judge(replace(near(), rank=1), inside).verdict == REFUTED
    other = replace(near(), subject=replace(near().subject, ridge=2.0 * near().subject.ridge))
    assert judge(other, inside).verdict == REFUTED


def test_the_page_follows_from_the_samples() -> None:
    data, basins = {ITEM: read(models.DATA)[ITEM]}, read(learned_basins.DATA)
    line, near_by = says(data, basins)
    assert "refute 1 (tanh / relu" in line.found
    assert (line.seen, near_by.seen) == (False, True)
    assert len(tables(basins)) == 2
    shifted = {**basins, "lowest": {**basins["lowest"], near().name: {**basins["lowest"][near().name]}}}
    runs = shifted["lowest"][near().name]
    for d in runs:
        runs[d] = {**runs[d], GAP: [gap + 0.01 for gap in runs[d][GAP]]}
    *_, moved = says(data, shifted)
    assert "all three together: REFUTED" in moved.found
    assert says({}, {}) == []
    assert tables({}) == ()
