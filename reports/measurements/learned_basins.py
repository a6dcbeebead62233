"""Biases that are learned inside one basin of the limiting training energy: which models, which experiments.

The lowest minimum of the limit is the learned bias of a large experiment. At the dimensions of the calibration some
training sets prefer the second lowest, and then the observables of the whole line are a mixture to which no expansion
in 1/d applies. So every drawn model with several minima is judged basin by basin, by a rule of the theory alone: the
bias is learned on the interval between the barriers around the minimum.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from giantsteps.numerics.bounds.learned_bias import LearnedBias, learned_bias
from giantsteps.numerics.models.model import Model
from giantsteps.reports.measurements.basin_shares import BasinShares, basin_shares, undecided
from giantsteps.reports.measurements.models import ITEMS, RUNS, Data, Drawn, Item, Samples, measured, models_of
from giantsteps.reports.measurements.theory import judge, theory_of
from giantsteps.verify.checks.finite_size import Report

DATA = Path(__file__).parent.parent.parent / "benchmarks" / "networks" / "learned_basins.json"
ITEM = "learned"
# key -> rank of the minimum by energy
BASINS = {"lowest": 0, "second": 1}
# Minima closer than this in relative energy are measured at larger dimensions too, in the basin of the lowest.
CLOSE = 0.05
LARGER = ((1200, 16),)

LEARNED = next(item for item in ITEMS if item.key == ITEM)
SECOND = replace(LEARNED, key="learned-second", title="Learned bias, basin of the second lowest minimum", rule="")


@cache
def confined(key: str) -> Mapping[int, Drawn]:
    """The models of the item with several minima, by their number, each at home in the basin asked for."""
    models = enumerate(models_of(ITEM))
    return {k: replace(drawn, rank=BASINS[key]) for k, drawn in models if len(minima_of(drawn).minima) > 1}


def minima_of(drawn: Drawn) -> LearnedBias:
    """The minima of the limiting training energy."""
    assert isinstance(drawn.subject, Model)
    return learned_bias(drawn.subject)


def gap_of(drawn: Drawn) -> float:
    """How far the second lowest minimum of the training energy is above the lowest, relative."""
    lowest, second, *_ = minima_of(drawn).ranked
    return second.energy / lowest.energy - 1.0


def runs_of(key: str, drawn: Drawn) -> tuple[tuple[int, int], ...]:
    """The dimensions and the seeds at each: those of the item, and LARGER where the minima are close."""
    return (*LEARNED.runs, *LARGER) if key == "lowest" and gap_of(drawn) < CLOSE else LEARNED.runs


def shares_of(drawn: Drawn, runs: Mapping[str, Samples]) -> BasinShares | None:
    """How many of the experiments prefer another basin; None for a bias that is learned on the whole line."""
    if drawn.basins is None:
        return None
    samples = {int(d): found for d, found in runs.items()}
    return basin_shares(minima_of(drawn), drawn.basins, samples, {d: theory_of(drawn, d).values for d in samples})


def judge_in_basin(drawn: Drawn, runs: Mapping[str, Samples]) -> Report:
    """`reports.measurements.theory.judge`, undecided where experiments have no minimum in the basin."""
    shares = shares_of(drawn, runs)
    return undecided(judge(drawn, runs), None if shares is None else shares.objection)


def judged(data: Data, basins: Data) -> Iterator[tuple[Item, Drawn, Report]]:
    """Every drawn model with the verdict on it; models with several minima of the energy in the two lowest basins."""
    own = {drawn.name: drawn for drawn in confined("lowest").values()} if ITEM in data else {}
    for item, drawn, runs in measured(data):
        if item.key != ITEM or drawn.name not in own:
            yield item, drawn, judge(drawn, runs)
        elif (inside := of_the_item(basins, "lowest", drawn)) is not None:
            yield item, own[drawn.name], judge_in_basin(own[drawn.name], inside)
    for drawn in confined("second").values() if own else ():
        if (inside := of_the_item(basins, "second", drawn)) is not None:
            yield SECOND, drawn, judge_in_basin(drawn, inside)


def of_the_item(basins: Data, key: str, drawn: Drawn) -> dict[str, Samples] | None:
    """The samples of a model in one basin at the dimensions of the item, None where one is missing."""
    runs = basins.get(key, {}).get(drawn.name, {})
    found = {str(d): runs[str(d)] for d, _ in RUNS if str(d) in runs}
    return found if len(found) == len(RUNS) else None
