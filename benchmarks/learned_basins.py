"""Learned biases inside one basin of the limiting training energy, for the models of the calibration that have several.

    python -m benchmarks.learned_basins simulate [--workers N]    measure; writes learned_basins.json
    python -m benchmarks.learned_basins                           what the page of the calibration says of them

In the basin of the lowest minimum the training sets are those of `benchmarks.calibration`, where each bias was learned
on the whole line; in the basin of the second lowest they are new. Where the two minima are close in energy there are
larger dimensions as well. What is stored already is not simulated again.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from concurrent.futures import as_completed

from benchmarks.calibration import seed_of
from numerics.losses import loss_named
from numerics.simulate_loss import simulate_loss
from reports import close_basins
from reports.calibrated_models import Data, Samples
from reports.calibrated_models import stored as calibrated
from reports.learned_basins import BASINS, DATA, ITEM, confined, runs_of, stored
from reports.workers import pool

# Between the seeds of one stream and those of the next.
STREAM = 1000


def run(key: str, index: int, dimension: int, seeds: int) -> tuple[Samples, float]:
    """The samples of one model in one basin at one dimension, to six digits, and the processor time."""
    start = time.process_time()
    drawn = confined(key)[index]
    found = simulate_loss(
        drawn.subject, loss_named(drawn.loss), dimension=dimension, seeds=seeds, seed=basin_seed(key, index),
        learned=True, basins=drawn.basins,
    )  # fmt: skip
    kept = {name: values for name, values in found.samples if not name.startswith("q1")}
    return {name: [float(f"{x:.6g}") for x in values] for name, values in kept.items()}, time.process_time() - start


def basin_seed(key: str, index: int) -> int:
    """The seed of one model's experiments: the calibration's own for the first basin."""
    return seed_of(ITEM, index) + STREAM * list(BASINS).index(key)


def measure(known: Data, workers: int) -> Iterator[tuple[str, Data]]:
    """Simulate what is not known yet, the largest dimensions first; yields all data after each run."""
    data: Data = {}
    jobs = []
    for key in BASINS:
        for index, drawn in confined(key).items():
            runs = data.setdefault(key, {}).setdefault(drawn.name, {})
            for dimension, seeds in runs_of(key, drawn):
                old = known.get(key, {}).get(drawn.name, {}).get(str(dimension), {})
                if len(old.get("test_error", [])) == seeds:
                    runs[str(dimension)] = old
                else:
                    jobs.append((key, index, dimension, seeds))
    jobs.sort(key=lambda job: -job[2])
    with pool(workers=workers) as executor:
        waiting = {executor.submit(run, *job): job for job in jobs}
        for future in as_completed(waiting):
            key, index, dimension, _ = waiting[future]
            samples, seconds = future.result()
            data[key][confined(key)[index].name][str(dimension)] = samples
            yield f"{key} {index}: d = {dimension}, {seconds:.1f} s", data


def _text(data: Data) -> str:
    """JSON with one line per model and dimension."""
    keys = []
    for key, models in data.items():
        lines = []
        for name, runs in models.items():
            ordered = sorted(runs.items(), key=lambda entry: int(entry[0]))
            listed = ",\n".join(f"   {json.dumps(d)}: {json.dumps(samples)}" for d, samples in ordered)
            lines.append(f"  {json.dumps(name)}: {{\n{listed}\n  }}")
        keys.append(f" {json.dumps(key)}: {{\n" + ",\n".join(lines) + "\n }")
    return "{\n" + ",\n".join(keys) + "\n}\n"


def main() -> None:
    """See the module's first lines."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["simulate"]:
        workers = int(arguments[arguments.index("--workers") + 1]) if "--workers" in arguments else 2
        for line, data in measure(stored(), workers):
            DATA.write_text(_text(data), encoding="utf-8")
            print(line, flush=True)
    for paragraph in close_basins.paragraphs(calibrated(), stored()):
        print(f"{paragraph}\n")
    for table in close_basins.tables(stored()):
        print("\n".join([table.caption, *(" | ".join(row) for row in (table.columns, *table.rows)), ""]))


if __name__ == "__main__":
    main()
