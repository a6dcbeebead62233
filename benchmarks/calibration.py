"""Every extension of the theory beside its own simulation, on models that were drawn, not chosen.

    python -m benchmarks.calibration simulate [--workers N]    draw, simulate, measure; writes calibration.json
    python -m benchmarks.calibration theory                    what takes long of it; writes calibration_theory.json
    python -m benchmarks.calibration                           judge the stored samples and print the table

Learned biases are judged in the basins that `benchmarks.learned_basins` measures.

Per item (`reports.calibrated_models`) six models are drawn by a seeded generator; each is simulated at three dimensions
with enough independent seeds that the finite-size protocol has 53 degrees of freedom or more. Models that are stored
already are not simulated again. The judging turns every observable into one deviate z, which is standard normal where
the theory is right. Needs NumPy and SciPy beside the suite itself.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import as_completed

import numpy as np

from numerics.losses import loss_named
from numerics.simulate_loss import simulate_loss
from reports import learned_basins
from reports.calibrated_models import (
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
from reports.calibration_theory import landmark, write_theory
from reports.normal_deviates import normality
from reports.workers import pool

# Of the first model; every model has its own, or all would share their draws and their deviates.
SEED = 1
# Where the landmark stands among the items, for its seed: what is appended to them leaves it alone.
_LANDMARK_PLACE = 12


def run(key: str, index: int, dimension: int, seeds: int) -> tuple[Samples, float]:
    """The samples of one model at one dimension, to six digits, and the processor time; q1 is left out."""
    start = time.process_time()
    drawn = models_of(key)[index] if key != "landmark" else LANDMARK
    found = simulate_loss(
        drawn.subject, loss_named(drawn.loss), dimension=dimension, seeds=seeds, seed=seed_of(key, index),
        kind=drawn.kind, learned=drawn.learned,
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


def measure(known: Data, workers: int) -> Iterator[tuple[str, Data]]:
    """Simulate what is not known yet, the largest dimensions first; yields all data after each run."""
    data: Data = {}
    jobs = []
    for item in ITEMS:
        for index, drawn in enumerate(models_of(item.key)):
            runs = data.setdefault(item.key, {}).setdefault(drawn.name, {})
            for dimension, seeds in item.runs:
                old = known.get(item.key, {}).get(drawn.name, {}).get(str(dimension), {})
                if len(old.get("test_error", [])) == seeds:
                    runs[str(dimension)] = old
                else:
                    jobs.append((item.key, index, dimension, seeds))
    jobs.sort(key=lambda job: -job[2])
    old = known.get("landmark", {}).get(LANDMARK.name, {}).get(str(LANDMARK_RUN[0]), {})
    data["landmark"] = {LANDMARK.name: {str(LANDMARK_RUN[0]): old}}
    if len(old.get("test_error", [])) != LANDMARK_RUN[1]:
        jobs.append(("landmark", 0, *LANDMARK_RUN))
    with pool(workers=workers) as executor:
        waiting = {executor.submit(run, *job): job for job in jobs}
        for future in as_completed(waiting):
            key, index, dimension, _ = waiting[future]
            name = LANDMARK.name if key == "landmark" else models_of(key)[index].name
            samples, seconds = future.result()
            data[key][name][str(dimension)] = samples
            yield f"{key} {index}: d = {dimension}, {seconds:.1f} s", data


def _text(data: Data) -> str:
    """JSON with one line per model and dimension, in the order of the items."""
    items = []
    for key, models in data.items():
        lines = []
        for name, runs in models.items():
            ordered = sorted(runs.items(), key=lambda entry: int(entry[0]))
            listed = ",\n".join(f"   {json.dumps(d)}: {json.dumps(samples)}" for d, samples in ordered)
            lines.append(f"  {json.dumps(name)}: {{\n{listed}\n  }}")
        items.append(f" {json.dumps(key)}: {{\n" + ",\n".join(lines) + "\n }")
    return "{\n" + ",\n".join(items) + "\n}\n"


def main() -> None:
    """See the module's first lines."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["simulate"]:
        workers = int(arguments[arguments.index("--workers") + 1]) if "--workers" in arguments else 2
        for line, data in measure(stored(), workers):
            DATA.write_text(_text(data), encoding="utf-8")
            print(line, flush=True)
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
