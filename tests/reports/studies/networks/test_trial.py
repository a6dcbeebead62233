"""The trial of networks of any activation: its draw, its stored predictions, its samples and its verdicts."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from giantsteps.numerics.experiments.weights import OBSERVABLES
from giantsteps.reports.measurements.experiments import read
from giantsteps.reports.measurements.normal_deviates import deviates
from giantsteps.reports.measurements.theory import DIGITS
from giantsteps.reports.studies.networks.any_activation import judged_in, verdicts
from giantsteps.reports.studies.networks.drawn import (
    ACTIVATIONS,
    ANY_ACTIVATION,
    COUNT,
    MEASURED,
    RANGES,
    RUNS,
    SEVERAL_STEPS,
    TARGETS,
    Entry,
    Trial,
    draw,
)  # fmt: skip
from giantsteps.reports.studies.networks.predicted import KEY, SAMPLES, THEORIES, at_dimension, stored
from giantsteps.reports.studies.networks.several_steps import coefficients
from giantsteps.verify.checks.finite_size import CONFIRMED, INCONCLUSIVE, REFUTED

# At every dimension the ratios are rounded differently; one says as much of the code as all.
DIMENSION = 400


def test_the_list_fills_its_ranges() -> None:
    for trial in (ANY_ACTIVATION, SEVERAL_STEPS):
        found = draw(trial)
        assert Counter(entry.network.steps for entry in found) == dict.fromkeys(trial.steps, COUNT // len(trial.steps))
        assert len(found) == COUNT == 2 * len(ACTIVATIONS)
        assert {entry.target for entry in found} == set(TARGETS)
        assert all(one.target != other.target for one, other in zip(found[::2], found[1::2], strict=True))
        for name, (low, high) in RANGES.items():
            values = sorted(float(getattr(entry.network, name)) for entry in found)
            # The outermost of 24 cells; half a unit of the third digit of what was drawn.
            share = (high - low) / COUNT if name == "noise" else low * ((high / low) ** (1.0 / COUNT) - 1.0)
            assert low * 0.995 <= values[0] <= (low + share) * 1.005
            assert values[-1] <= high * 1.005


def named(entry: Entry) -> str:
    return f"{entry.activation} {entry.target}"


@pytest.mark.parametrize("entry", draw(), ids=named)
def test_the_stored_predictions_are_those_of_today(entry: Entry) -> None:
    predictions_are_kept(entry, ANY_ACTIVATION)


# The first of every number of steps; all of them take minutes.
CHEAP = [next(entry for entry in draw(SEVERAL_STEPS)[12:] if entry.network.steps == count) for count in (2, 3, 4, 5)]


@pytest.mark.parametrize(
    "entry",
    [entry if entry in CHEAP else pytest.param(entry, marks=pytest.mark.thorough) for entry in draw(SEVERAL_STEPS)],
    ids=named,
)
def test_the_predictions_of_several_steps_are_those_of_today(entry: Entry) -> None:
    predictions_are_kept(entry, SEVERAL_STEPS)


def predictions_are_kept(entry: Entry, trial: Trial) -> None:
    several = len(trial.steps) > 1
    assert tuple(stored(trial)[entry.drawn.name]) == THEORIES
    for theory, runs in stored(trial)[entry.drawn.name].items():
        assert tuple(runs) == tuple(dimension for dimension, _ in RUNS)
        there, found = runs[DIMENSION], at_dimension(entry.drawn, DIMENSION, theory)
        # Two saddle points of several steps were stored as not converged, to 1e-5.
        assert found.converged or not there.converged
        assert there.converged or several
        if there.values:
            of_network = {"chi", *(OBSERVABLES if several else ())}
            assert set(there.values) == set(MEASURED) - {"chi"} | (of_network if theory == "network" else set())
        for name, value in there.values.items():
            # Half a unit of the last digit that is stored, and as much for the quadrature; after unstable steps the
            # law claims 1e-6.
            tolerance = (1e-6 if several else 10.0 ** (1 - DIGITS)) if there.converged else 1e-4
            assert abs(found.values[name] - value) <= tolerance * max(abs(value), there.scales[name])


@pytest.mark.parametrize("trial", [ANY_ACTIVATION, SEVERAL_STEPS], ids=lambda trial: trial.slug)
def test_every_network_is_measured_as_it_was_planned(trial: Trial) -> None:
    # The smallest dimensions first, with all the seeds of the plan; the largest networks may lack the largest.
    plan = {str(dimension): seeds for dimension, seeds in RUNS}
    kept, exploded = (*MEASURED, *(OBSERVABLES if len(trial.steps) > 1 else ())), 0
    for entry in draw(trial):
        runs = read(trial.folder / SAMPLES)[KEY][entry.drawn.name]
        assert list(runs) == list(plan)[: len(runs)]
        assert len(runs) >= 2
        exploded += not all(runs.values())
        for dimension, found in runs.items():
            counts = {name: len(values) for name, values in found.items()}
            assert counts in ({}, dict.fromkeys(kept, plan[dimension]))
    # Three networks are out of the theory's range, and no other leaves that of the simulation.
    assert exploded <= (3 if len(trial.steps) > 1 else 0)


def test_several_steps_follow_the_theory_and_every_term_of_the_recursion_is_seen() -> None:
    judged = judged_in(read(SEVERAL_STEPS.folder / SAMPLES), SEVERAL_STEPS)
    own, other = (verdicts([j for j in judged if j.reached], theory) for theory in ("network", "isotropic"))
    assert (own[REFUTED], own[CONFIRMED] >= 15, other[REFUTED] >= 5) == (0, True, True)
    weights = deviates([j.weights.comparisons for j in judged if j.weights])
    assert set(weights) == set(OBSERVABLES)
    # 21 networks: the root mean square of one observable is above 1.5 with probability 0.002 under the theory.
    assert max(float(np.sqrt(np.mean(np.square(z)))) for z in weights.values()) < 1.5
    terms = coefficients([j for j in judged if j.weights])
    for name in ("along", "across", "scatter", "turned", "spread"):
        assert abs(terms[name][0] - 1.0) < 3.5 * terms[name][1] < 0.1


def test_the_network_s_own_bulk_stands_and_the_isotropic_one_falls() -> None:
    judged = judged_in(read(ANY_ACTIVATION.folder / SAMPLES))
    assert len(judged) == COUNT
    own, other = (verdicts(judged, theory) for theory in ("network", "isotropic"))
    # A right theory would be refuted in one of 24 networks with probability 2.4 % at most.
    assert own[REFUTED] == 0
    assert own[INCONCLUSIVE] <= COUNT // 4
    assert other[REFUTED] >= 8
    assert own[CONFIRMED] > other[CONFIRMED]
    # 24 networks of 5 observables: |z| > 4.2 is met by chance in 0.3 % of such trials.
    assert (
        max(abs(z) for found in deviates([j.reports["network"].comparisons for j in judged]).values() for z in found)
        < 4.2
    )
