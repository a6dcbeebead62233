"""The trial of networks of any activation: its draw, its stored predictions, its samples and its verdicts."""

from __future__ import annotations

from collections import Counter

import pytest

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
    draw,
)  # fmt: skip
from giantsteps.reports.studies.networks.predicted import KEY, SAMPLES, THEORIES, at_dimension, stored
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


@pytest.mark.parametrize("entry", draw(), ids=lambda entry: f"{entry.activation} {entry.target}")
def test_the_stored_predictions_are_those_of_today(entry: Entry) -> None:
    assert tuple(stored()[entry.drawn.name]) == THEORIES
    for theory, runs in stored()[entry.drawn.name].items():
        assert tuple(runs) == tuple(dimension for dimension, _ in RUNS)
        there, found = runs[DIMENSION], at_dimension(entry.drawn, DIMENSION, theory)
        assert found.converged is there.converged is True
        assert set(there.values) == set(MEASURED) - (set() if theory == "network" else {"chi"})
        for name, value in there.values.items():
            # Half a unit of the last digit that is stored, and as much for the quadrature.
            assert abs(found.values[name] - value) <= 10.0 ** (1 - DIGITS) * max(abs(value), there.scales[name])


def test_every_network_is_measured_as_it_was_planned() -> None:
    # The smallest dimensions first, with all the seeds of the plan; the largest networks may lack the largest.
    plan = {str(dimension): seeds for dimension, seeds in RUNS}
    for entry in draw():
        runs = read(ANY_ACTIVATION.folder / SAMPLES)[KEY][entry.drawn.name]
        assert list(runs) == list(plan)[: len(runs)]
        assert len(runs) >= 2
        for dimension, found in runs.items():
            assert {name: len(values) for name, values in found.items()} == dict.fromkeys(MEASURED, plan[dimension])


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
