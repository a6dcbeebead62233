"""Measured samples of a study: which experiments there are, how they are run, where they are stored.

The samples lie in `benchmarks/samples/<slug>.json` and come with the sources; every
number of a page is computed from them when the report is built.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from giantsteps.numerics.experiments.inputs import GAUSSIAN, Inputs
from giantsteps.numerics.experiments.ridge import estimate
from giantsteps.numerics.experiments.simulate import simulate
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.network import Network
from giantsteps.reports.figures.figures import Figure
from giantsteps.reports.measurements.study import Study

FOLDER = Path(__file__).parent.parent.parent / "benchmarks" / "samples"

# {experiment: {observable: one value per seed}}
Data = dict[str, dict[str, list[float]]]
Found = TypeVar("Found")


@dataclass(frozen=True)
class Experiment:
    """One finite-size experiment of a study; `name` is its key in the file and unique there.

    Experiments of one `stream`, dimension and kind share their draws; those of different streams are independent.
    """

    name: str
    subject: Network | Model
    dimension: int
    seeds: int
    inputs: Inputs = GAUSSIAN
    observables: tuple[str, ...] = ("test_error",)
    stream: int = 0

    def run(self, seed: int) -> dict[str, list[float]]:
        """The samples, to seven digits."""
        kind = "network" if isinstance(self.subject, Network) else "srf"
        found = simulate(
            self.subject,
            dimension=self.dimension,
            seeds=self.seeds,
            seed=seed + self.stream,
            kind=kind,
            inputs=self.inputs,
        )
        return {name: [float(f"{x:.7g}") for x in found.values(name)] for name in self.observables}


def at_sizes(
    runs: Iterable[tuple[int, int]], name: Callable[[int], str], subject: Network | Model, **options: Any
) -> tuple[Experiment, ...]:
    """One subject at several dimensions, each with its number of seeds; the name is a function of the dimension."""
    return tuple(Experiment(name(dimension), subject, dimension, seeds, **options) for dimension, seeds in runs)


def stored(slug: str, folder: Path = FOLDER) -> Data:
    """The samples of a study; empty where they are not installed or not measured."""
    path = folder / f"{slug}.json"
    found: Data = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found


def complete(data: Data, experiments: Sequence[Experiment]) -> bool:
    """Whether every experiment has as many samples as it asks for."""
    return all(len(data.get(e.name, {}).get(e.observables[0], ())) >= e.seeds for e in experiments)


def studied(
    slug: str,
    experiments: Sequence[Experiment],
    found_in: Callable[[Data], Found],
    page: Callable[[Found], Study],
    drawn: Callable[[Found], Figure],
) -> Study | None:
    """The page with its figure, both from what is found in the samples; None where samples are missing."""
    data = stored(slug)
    if not complete(data, experiments):
        return None
    found = found_in(data)
    return replace(page(found), figures=(drawn(found),))


def text_of(data: Data) -> str:
    """JSON with one line per experiment."""
    lines = (f" {json.dumps(name)}: {json.dumps(samples)}" for name, samples in data.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def measure(slug: str, experiments: Sequence[Experiment], seed: int, folder: Path = FOLDER) -> None:
    """Run what is not stored yet; the file is written after each experiment, so that a stop loses one at most."""
    data = stored(slug, folder)
    wanted = {experiment.name for experiment in experiments}
    data = {name: samples for name, samples in data.items() if name in wanted}
    for experiment in experiments:
        if complete(data, [experiment]):
            continue
        start = time.process_time()
        data[experiment.name] = experiment.run(seed)
        (folder / f"{slug}.json").write_text(text_of(data), encoding="utf-8")
        print(f"{experiment.name}: {time.process_time() - start:.1f} s", flush=True)


def main(slug: str, experiments: Sequence[Experiment], seed: int, study: Callable[[], Study | None]) -> None:
    """`python -m benchmarks.studies.SLUG simulate` measures what is missing; without `simulate` the page is printed."""
    if sys.argv[1:] == ["simulate"]:
        measure(slug, experiments, seed)
    found = study()
    print(as_text(found) if found else "nothing is measured yet: add `simulate`")


def as_text(study: Study) -> str:
    """A page as plain text: paragraphs and tables."""
    lines = [study.title, ""]
    for paragraph in study.text:
        lines += [paragraph, ""]
    for table in study.tables:
        widths = [max(len(row[k]) for row in (table.columns, *table.rows)) for k in range(len(table.columns))]
        lines += [table.caption]
        for row in (table.columns, *table.rows):
            lines.append("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        lines.append("")
    return "\n".join(lines)


@dataclass(frozen=True)
class Measured:
    """Mean over seeds, its standard error, and the spread of a single experiment."""

    mean: float
    error: float
    spread: float

    @classmethod
    def of(cls, samples: Sequence[float]) -> Measured:
        """From one value per seed."""
        found = estimate(samples)
        return cls(found.mean, found.standard_error, float(np.std(samples, ddof=1)))

    def z(self, theory: float) -> float:
        """How many standard errors the mean is above a theory."""
        return (self.mean - theory) / self.error

    def __str__(self) -> str:
        from giantsteps.reports.command_line.console import estimate_text

        return estimate_text(self.mean, self.error)
