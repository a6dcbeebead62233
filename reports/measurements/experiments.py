"""Measured samples of a study: which experiments there are, how they are run, where they are stored.

The samples lie in `benchmarks/samples/<slug>.json` and come with the sources; every
number of a page is computed from them when the report is built.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from giantsteps.numerics.experiments.inputs import GAUSSIAN, Inputs
from giantsteps.numerics.experiments.ridge import Estimate, estimate
from giantsteps.numerics.experiments.simulate import simulate
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.command_line.console import estimate_text
from giantsteps.reports.measurements.study import Study
from giantsteps.verify.checks.finite_size import Fit, fit_line

FOLDER = Path(__file__).parent.parent.parent / "benchmarks" / "samples"

# {experiment: {observable: one value per seed}}
Data = dict[str, dict[str, list[float]]]


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

    def measured(self, data: Data, observable: str = "test_error") -> Measured:
        """One of its observables among stored samples."""
        return Measured.of(data[self.name][observable])


def at_dimensions(
    name: str, subject: Network | Model, runs: Iterable[tuple[int, int]], **options: Any
) -> tuple[Experiment, ...]:
    """One experiment for each dimension with its seeds, named by it; the options are fields of `Experiment`."""
    return tuple(Experiment(f"{name}, d = {d}", subject, d, seeds, **options) for d, seeds in runs)


def own_model(subject: Network | Model) -> Model:
    """The model that a subject is held against: of a network that with its own bulk."""
    return subject.model("network") if isinstance(subject, Network) else subject


@cache
def predicted_error(subject: Network | Model, theory: str = "network") -> float:
    """The test error of a theory at infinite dimension: of a network that with its own bulk or with the isotropic one.

    It is kept: text, table and figure of a page ask for the same points, whatever was measured there.
    """
    return solve(subject.model(theory) if isinstance(subject, Network) else subject).test_error


def line_of(data: Data, experiments: Iterable[Experiment], observable: str = "test_error") -> Fit:
    """The line in 1/d through the samples of experiments at several dimensions."""
    found = list(experiments)
    samples = [data[one.name][observable] for one in found]
    return fit_line([one.dimension for one in found], samples, [0.0] * len(found))


def read(path: Path) -> Any:
    """What was measured, from its file of JSON; empty where it is not installed or not measured."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def stored(slug: str) -> Data:
    """The samples of a study; empty as in `read`."""
    found: Data = read(FOLDER / f"{slug}.json")
    return found


def complete(data: Data, experiments: Sequence[Experiment]) -> bool:
    """Whether every experiment has as many samples as it asks for."""
    return all(len(data.get(e.name, {}).get(e.observables[0], ())) >= e.seeds for e in experiments)


def text_of(data: Mapping[str, Any], levels: int = 1) -> str:
    """JSON of so many levels of keys, each entry of the last on a line of its own."""
    return _lines(data, 1, levels) + "\n"


def _lines(data: Any, level: int, levels: int) -> str:
    if level > levels:
        return json.dumps(data)
    inner = (f"{' ' * level}{json.dumps(key)}: {_lines(one, level + 1, levels)}" for key, one in data.items())
    return "{\n" + ",\n".join(inner) + "\n" + " " * (level - 1) + "}"


@dataclass(frozen=True)
class Measurement:
    """A study as it is measured: its experiments with the seed of their draws, and the page made of their samples."""

    slug: str
    seed: int
    experiments: tuple[Experiment, ...]
    page: Callable[[Data], Study]

    def study(self) -> Study | None:
        """The page; None where samples are missing."""
        data = stored(self.slug)
        return self.page(data) if complete(data, self.experiments) else None

    def measure(self) -> None:
        """Run what is not stored yet; the file is written after each experiment, so that a stop loses one at most."""
        wanted = {experiment.name for experiment in self.experiments}
        data = {name: samples for name, samples in stored(self.slug).items() if name in wanted}
        for experiment in self.experiments:
            if not complete(data, [experiment]):
                start = time.process_time()
                data[experiment.name] = experiment.run(self.seed)
                (FOLDER / f"{self.slug}.json").write_text(text_of(data), encoding="utf-8")
                print(f"{experiment.name}: {time.process_time() - start:.1f} s", flush=True)


@dataclass(frozen=True)
class Measured(Estimate):
    """Mean over seeds, its standard error, and the spread of a single experiment."""

    spread: float

    @classmethod
    def of(cls, samples: Sequence[float]) -> Measured:
        """From one value per seed."""
        found = estimate(samples)
        return cls(found.mean, found.standard_error, float(np.std(samples, ddof=1)))

    @property
    def error(self) -> float:
        """The standard error."""
        return self.standard_error

    def z(self, theory: float) -> float:
        """How many standard errors the mean is above a theory."""
        return (self.mean - theory) / self.standard_error

    def __str__(self) -> str:
        return estimate_text(self.mean, self.standard_error)
