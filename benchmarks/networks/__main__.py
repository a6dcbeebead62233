"""Calibrations on models and networks that were drawn, beside the samples that are stored of them.

    python -m benchmarks.networks WHAT simulate [--workers N]    simulate what is not stored yet
    python -m benchmarks.networks WHAT                           what the pages say of the stored samples

WHAT is `calibration` (every extension of the theory), `learned_basins` (biases learned inside one basin of the limiting
training energy; in the lowest basin on the training sets of the calibration), `network_trial` (real gradient steps
beside both theories), `any_activation` (networks of any activation) or `several_steps` (the same after two to five
steps, weights measured too). `calibration theory` stores what takes long of the theory, `any_activation predict` and
`several_steps predict` what both theories say of their networks.

A model's deviates are its own only where no two models share their draws: so each has a seed of its own, but for the
networks of `network_trial`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.studies.__main__ import as_text
from giantsteps.numerics.experiments.ridge import Simulation
from giantsteps.numerics.experiments.simulate import simulate
from giantsteps.numerics.experiments.weights import OBSERVABLES, simulate_weights
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.network import Network
from giantsteps.reports.command_line.machine.workers import pool
from giantsteps.reports.measurements import calibration, learned_basins, measured_networks, models, network_trial
from giantsteps.reports.measurements.experiments import read, text_of
from giantsteps.reports.measurements.learned_basins import BASINS, confined, runs_of
from giantsteps.reports.measurements.models import ITEMS, LANDMARK, LANDMARK_RUN, MODELS, Samples, models_of
from giantsteps.reports.measurements.theory import write_theory
from giantsteps.reports.studies.networks import any_activation, drawn, predicted
from giantsteps.reports.studies.networks.drawn import ANY_ACTIVATION, SEVERAL_STEPS

# Seeds of the first model of the calibration; of every network of `network_trial`.
FIRST, TRIAL = 1, 2024
# Where the landmark stands among the items, for its seed: what is appended to them leaves it alone.
_LANDMARK_PLACE = 12
# Between the seeds of one basin and those of the next.
STREAM = 1000
# What is not kept of all observables.
_LEFT_OUT = ("q1", "spike", "alignment", "bulk")


@dataclass(frozen=True)
class Run:
    """One model at one dimension: its place in the file, and how it is simulated; `kept`: the observables, () for all
    but a few; so many digits of them."""

    place: tuple[str, ...]
    subject: Model | Network
    dimension: int
    seeds: int
    seed: int
    kept: tuple[str, ...] = ()
    digits: int = 6
    options: dict[str, Any] = field(default_factory=dict)
    by: Callable[..., Simulation] = simulate

    def __call__(self) -> tuple[Samples, float]:
        """The samples, and the processor time."""
        start = time.process_time()
        found = self.by(self.subject, dimension=self.dimension, seeds=self.seeds, seed=self.seed, **self.options)
        names = self.kept or [name for name, _ in found.samples if not name.startswith(_LEFT_OUT)]
        samples = {name: [float(f"{x:.{self.digits}g}") for x in found.values(name)] for name in names}
        return samples, time.process_time() - start


def seed_of(key: str, index: int) -> int:
    """The seed of one model's experiments in the calibration."""
    keys = [item.key for item in ITEMS]
    keys.insert(_LANDMARK_PLACE, "landmark")
    return FIRST + MODELS * keys.index(key) + index


def basin_seed(key: str, index: int) -> int:
    """The seed of one model's experiments in a basin: the calibration's own for the first basin."""
    return seed_of(learned_basins.ITEM, index) + STREAM * list(BASINS).index(key)


def of_calibration() -> list[Run]:
    """The drawn models of every item, and the landmark."""
    wanted = [(item.key, k, one, item.runs) for item in ITEMS for k, one in enumerate(models_of(item.key))]
    wanted.append(("landmark", 0, LANDMARK, (LANDMARK_RUN,)))
    return [
        Run((key, one.name, str(d)), one.subject, d, seeds, seed_of(key, k),
            options={"kind": one.kind, "learned": one.learned})
        for key, k, one, runs in wanted for d, seeds in runs
    ]  # fmt: skip


def of_basins() -> list[Run]:
    """The models with several minima, in the two lowest basins."""
    return [
        Run((key, one.name, str(d)), one.subject, d, seeds, basin_seed(key, k),
            options={"learned": True, "basins": one.basins})
        for key in BASINS for k, one in confined(key).items() for d, seeds in runs_of(key, one)
    ]  # fmt: skip


def of_trial() -> list[Run]:
    """Real networks of odd activations."""
    kept = measured_networks.OBSERVABLES
    return [
        Run((point.name, str(d)), point.network, d, seeds, TRIAL, kept, 7, {"kind": "network"})
        for point in measured_networks.POINTS
        for d, seeds in point.runs
    ]


def of_list(trial: drawn.Trial) -> list[Run]:
    """Networks of a drawn list, small ones first: a stop leaves the most networks measured."""

    def size(numbered: tuple[int, drawn.Entry]) -> float:
        one = numbered[1].network
        return one.beta * (sum(step.alpha0 for step in one.step.schedule) + one.alpha)

    listed = sorted(enumerate(drawn.draw(trial)), key=size)
    several = len(trial.steps) > 1
    kept = drawn.MEASURED + (OBSERVABLES if several else ())
    found = [
        Run((predicted.KEY, one.drawn.name, str(d)), one.drawn.subject, d, seeds, trial.first + k, kept,
            options={} if several else {"kind": "network"}, by=simulate_weights if several else simulate)
        for k, one in listed for d, seeds in drawn.RUNS
    ]  # fmt: skip
    return sorted(found, key=lambda run: run.dimension)


def measure(path: Path, known: Any, runs: Sequence[Run], workers: int) -> None:
    """Simulate what is not known yet, and store everything, in the order of the runs, after each of them."""
    data: dict[tuple[str, ...], Samples] = {}
    for run in runs:
        old = known
        for key in run.place:
            old = old.get(key, {})
        if len(old.get("test_error", ())) == run.seeds:
            data[run.place] = old
    with pool(workers=workers) as executor:
        waiting = {executor.submit(run): run for run in runs if run.place not in data}
        for future in as_completed(waiting):
            place = waiting[future].place
            data[place], seconds = future.result()
            whole: dict[str, Any] = {}
            for *keys, last in (run.place for run in runs):
                inner = whole
                for key in keys:
                    inner = inner.setdefault(key, {})
                if (*keys, last) in data:
                    inner[last] = data[*keys, last]
            path.write_text(text_of(whole, len(place)), encoding="utf-8")
            print(f"{', '.join(place)}: {seconds:.1f} s", flush=True)


def study_text(module: Any) -> str:
    """The page of a study."""
    study = module.study()
    return as_text(study) if study else "not all is measured yet: add `simulate`"


WHAT: dict[str, tuple[Path, Callable[[], list[Run]], Callable[[], str]]] = {
    "calibration": (models.DATA, of_calibration, lambda: study_text(calibration)),
    "learned_basins": (learned_basins.DATA, of_basins, lambda: study_text(calibration)),
    "network_trial": (measured_networks.DATA, of_trial, lambda: study_text(network_trial)),
    "any_activation": (
        ANY_ACTIVATION.folder / predicted.SAMPLES,
        lambda: of_list(ANY_ACTIVATION),
        lambda: study_text(any_activation),
    ),
    "several_steps": (SEVERAL_STEPS.folder / predicted.SAMPLES, lambda: of_list(SEVERAL_STEPS), lambda: ""),
}


def main(what: str, *words: str) -> None:
    """See the module's first lines."""
    path, runs, told = WHAT[what]
    if words[:1] == ("simulate",):
        measure(path, read(path), runs(), int(words[2]) if words[1:2] == ("--workers",) else 2)
    elif words == ("theory",):
        write_theory()
    elif words == ("predict",):
        trial = {one.slug: one for one in (ANY_ACTIVATION, SEVERAL_STEPS)}[what]
        trial.folder.mkdir(exist_ok=True)
        (trial.folder / "predictions.json").write_text(predicted.text(trial), encoding="utf-8")
    print(told())


if __name__ == "__main__":
    main(*sys.argv[1:])
