"""The theory beside the samples of the calibration, and how the two are judged.

The theory of some items (other losses, a learned bias, two directions) takes seconds per model. `python -m
benchmarks.networks calibration theory` computes it once and stores it beside the samples; a test computes it again and
compares.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from giantsteps.numerics.experiments.ridge import Prediction
from giantsteps.numerics.experiments.simulate import predict
from giantsteps.reports.measurements.experiments import text_of
from giantsteps.reports.measurements.models import ITEMS, LANDMARK, LANDMARK_RUN, RUNS, Data, Drawn, Samples, models_of
from giantsteps.verify.checks.finite_size import Observation, Report, compare_all

SLOW_THEORY = Path(__file__).parent.parent.parent / "benchmarks" / "networks" / "calibration_theory.json"
# Of the stored theory: the samples have six.
DIGITS = 9


@cache
def computed(drawn: Drawn, dimension: int) -> Prediction:
    """The theory of a model at the ratios realised at dimension d, computed now."""
    sizes = drawn.sizes(dimension)
    return predict(drawn.theory(sizes), learned=drawn.learned, basins=drawn.basins, sizes=sizes)


def theory_of(drawn: Drawn, dimension: int) -> Prediction:
    """The same from the stored theory where that has it, with DIGITS digits."""
    return stored_theory().get((drawn.name, dimension)) or computed(drawn, dimension)


@cache
def stored_theory() -> Mapping[tuple[str, int], Prediction]:
    """The stored theory by the model's name, which holds all its parameters, and dimension; empty if not installed."""
    if not SLOW_THEORY.is_file():
        return {}
    found = json.loads(SLOW_THEORY.read_text(encoding="utf-8"))
    return {
        (name, int(dimension)): Prediction(**one) for name, runs in found.items() for dimension, one in runs.items()
    }


def rounded(found: Prediction) -> dict[str, Any]:
    """A prediction as it is stored, to DIGITS digits."""
    values, scales = (
        {name: float(f"{x:.{DIGITS}g}") for name, x in numbers.items()} for numbers in (found.values, found.scales)
    )
    return {"values": values, "scales": scales, "converged": found.converged}


def write_theory() -> None:
    """Compute and store the theory of the slow items: JSON with one line per model and dimension.

    Raises ValueError, and writes nothing, where the theory does not converge.
    """
    slow = [drawn for item in ITEMS if item.slow for drawn in models_of(item.key)]
    data = {drawn.name: {str(d): rounded(computed(drawn, d)) for d, _ in RUNS} for drawn in slow}
    if lost := [name for name, runs in data.items() if not all(one["converged"] for one in runs.values())]:
        raise ValueError(f"the theory of {lost[0]} does not converge")
    SLOW_THEORY.write_text(text_of(data, 2), encoding="utf-8")
    stored_theory.cache_clear()


def judge(drawn: Drawn, runs: Mapping[str, Samples]) -> Report:
    """The theory at the realised ratios beside the samples."""
    return judged_by(partial(theory_of, drawn), runs)


def judged_by(
    theory_at: Callable[[int], Prediction], runs: Mapping[str, Samples], names: Collection[str] = ()
) -> Report:
    """A theory by dimension beside the samples of one model, of the observables that are named or of all; extrapolated
    in 1/d by `verify.checks.finite_size`. The test error has to be CONFIRMED."""
    observations: dict[str, list[Observation]] = {}
    scales: Mapping[str, float] = {}
    for dimension, samples in sorted(runs.items(), key=lambda item: int(item[0])):
        theory = theory_at(int(dimension))
        # The ratios of the largest dimension are as good as those that were drawn to quote the theory at.
        scales = theory.scales
        for name in names or samples:
            expected = theory.values[name] if theory.converged else np.nan
            observations.setdefault(name, []).append(Observation(int(dimension), tuple(samples[name]), expected))
    return compare_all(observations, scales=scales, required=("test_error",))


def landmark(data: Data) -> dict[str, tuple[float, float, float]]:
    """Theory (at the width simulated), mean and standard error of every observable of LANDMARK; empty if not measured.

    Uncertainties are those of one dimension: nothing is extrapolated.
    """
    dimension, _ = LANDMARK_RUN
    samples = data.get("landmark", {}).get(LANDMARK.name, {}).get(str(dimension), {})
    if not samples:
        return {}
    theory = computed(LANDMARK, dimension)
    return {
        name: (theory.values[name], float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values))))
        for name, values in samples.items()
    }
