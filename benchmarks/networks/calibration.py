"""Every extension of the theory beside its own simulation, on models that were drawn, not chosen.

    python -m benchmarks.networks.calibration simulate [--workers N]    draw, simulate, measure; writes calibration.json
    python -m benchmarks.networks.calibration theory                    what takes long of it; writes
    calibration_theory.json python -m benchmarks.networks.calibration                           judge the stored samples
    and print the table

Learned biases are judged in the basins that `benchmarks.networks.learned_basins` measures.

Per item (`reports.measurements.models`) six models are drawn by a seeded generator; each is simulated at three
dimensions with enough independent seeds that the finite-size protocol has 53 degrees of freedom or more. Models that
are stored already are not simulated again. The judging turns every observable into one deviate z, which is standard
normal where the theory is right. Needs NumPy and SciPy beside the suite itself.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator

import numpy as np

from benchmarks.networks.stored_runs import Wanted, measured, write_all
from giantsteps.numerics.experiments.simulate import simulate
from giantsteps.reports.measurements import learned_basins
from giantsteps.reports.measurements.models import (
    DATA,
    ITEMS,
    LANDMARK,
    LANDMARK_RUN,
    MODELS,
    Data,
    Samples,
    models_of,
    stored,
)
from giantsteps.reports.measurements.normal_deviates import normality
from giantsteps.reports.measurements.theory import landmark, write_theory

# Of the first model; every model has its own, or all would share their draws and their deviates.
SEED = 1
# Where the landmark stands among the items, for its seed: what is appended to them leaves it alone.
_LANDMARK_PLACE = 12


def run(key: str, index: int, dimension: int, seeds: int) -> tuple[Samples, float]:
    """The samples of one model at one dimension, to six digits, and the processor time; q1 is left out."""
    start = time.process_time()
    drawn = models_of(key)[index] if key != "landmark" else LANDMARK
    found = simulate(
        drawn.subject, dimension=dimension, seeds=seeds, seed=seed_of(key, index), kind=drawn.kind,
        learned=drawn.learned,
    )  # fmt: skip
    expected = ("q1", "spike", "alignment", "bulk")
    kept = {name: values for name, values in found.samples if not name.startswith(expected)}
    digits = {name: [float(f"{x:.6g}") for x in values] for name, values in kept.items()}
    return digits, time.process_time() - start


def seed_of(key: str, index: int) -> int:
    """The seed of one model's experiments."""
    keys = [item.key for item in ITEMS]
    keys.insert(_LANDMARK_PLACE, "landmark")
    return SEED + MODELS * keys.index(key) + index


def measure(workers: int) -> Iterator[tuple[str, Data]]:
    """Simulate what is not stored yet; yields all data after each run."""
    wanted = [
        Wanted(item.key, i, drawn.name, item.runs) for item in ITEMS for i, drawn in enumerate(models_of(item.key))
    ]
    return measured(stored(), [*wanted, Wanted("landmark", 0, LANDMARK.name, (LANDMARK_RUN,))], run, workers)


def main() -> None:
    """See the module's first lines."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["simulate"]:
        write_all(DATA, arguments, measure)
    if arguments[:1] == ["theory"]:
        write_theory()
    deviates: dict[str, list[float]] = {}
    verdicts: Counter[str] = Counter()
    for item, drawn, report in learned_basins.judged(stored(), learned_basins.stored()):
        verdicts[report.verdict] += 1
        cells = []
        for comparison in report.comparisons:
            if comparison.z is not None:
                deviates.setdefault(comparison.observable.split("[")[0], []).append(comparison.z)
                cells.append(f"{comparison.observable} {comparison.z:+.1f}")
        print(f"{item.key:14s} {report.verdict:13s} {drawn.name}\n    {', '.join(cells)}")
    print(", ".join(f"{count} {verdict}" for verdict, count in verdicts.items()))
    for name, found in deviates.items():
        z = np.array(found)
        print(
            f"{name}: {len(z)} deviates, mean {z.mean():.2f}, spread {z.std():.2f}, largest {np.abs(z).max():.1f}, "
            f"Kolmogorov-Smirnov {normality(z):.2g}"
        )
    for name, (theory, mean, error) in landmark(stored()).items():
        print(f"{LANDMARK.name}, d = {LANDMARK_RUN[0]}: {name} {theory:.5g} ({mean:.5g} +- {error:.2g})")


if __name__ == "__main__":
    main()
