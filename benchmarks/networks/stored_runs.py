"""Samples by item, model and dimension, as one file that grows run by run: what the calibrations share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import as_completed
from dataclasses import dataclass
from pathlib import Path

from giantsteps.reports.command_line.machine.workers import pool
from giantsteps.reports.measurements.models import Data, Samples


@dataclass(frozen=True)
class Wanted:
    """One model of an item: `runs` are pairs of a dimension and a number of seeds."""

    key: str
    index: int
    name: str
    runs: tuple[tuple[int, int], ...]


def measured(
    known: Data,
    wanted: Iterable[Wanted],
    run: Callable[[str, int, int, int], tuple[Samples, float]],
    workers: int,
    smallest_first: bool = False,
) -> Iterator[tuple[str, Data]]:
    """Simulate what is not known yet, the largest dimensions first, unless a stop should leave the most networks
    measured; yields a line and all data after each run.

    run(key, index, dimension, seeds) gives the samples and the processor time; it has to be picklable.
    """
    data: Data = {}
    jobs = []
    for model in wanted:
        runs = data.setdefault(model.key, {}).setdefault(model.name, {})
        for dimension, seeds in model.runs:
            old = known.get(model.key, {}).get(model.name, {}).get(str(dimension), {})
            if len(old.get("test_error", [])) == seeds:
                runs[str(dimension)] = old
            else:
                jobs.append((model, dimension, seeds))
    jobs.sort(key=lambda job: job[1], reverse=not smallest_first)
    with pool(workers=workers) as executor:
        waiting = {executor.submit(run, job[0].key, job[0].index, *job[1:]): job for job in jobs}
        for future in as_completed(waiting):
            model, dimension, _ = waiting[future]
            samples, seconds = future.result()
            data[model.key][model.name][str(dimension)] = samples
            yield f"{model.key} {model.index}: d = {dimension}, {seconds:.1f} s", data


def write_all(path: Path, arguments: list[str], measure: Callable[[int], Iterator[tuple[str, Data]]]) -> None:
    """Write and say every step of measure(workers), with the number after --workers, or 2."""
    workers = int(arguments[arguments.index("--workers") + 1]) if "--workers" in arguments else 2
    for line, data in measure(workers):
        path.write_text(text_of(data), encoding="utf-8")
        print(line, flush=True)


def text_of(data: Data) -> str:
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
