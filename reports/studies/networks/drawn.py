"""Networks that are on trial: drawn once by a seeded generator, before anything was predicted.

Every activation of the list learns two targets, every target is learned by four activations; which ones, and the
numbers inside an activation, the generator says. Step, batch, width, samples, ridge and noise fill their ranges as a
Latin hypercube: each is cut into as many cells as there are networks, of equal length on its scale, and has one value,
uniform, in each. Where several steps are on trial, each number of steps is taken by as many networks. No draw is
rejected.

`python -m benchmarks.networks any_activation predict` stores what both theories say of the list, `simulate` what
networks do; both files lie beside that program and come with the sources. `several_steps` in place of `any_activation`:
the same of networks after two to five steps, each on a batch of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from giantsteps.numerics.models.network import Network
from giantsteps.reports.measurements.models import Drawn

FOLDER = Path(__file__).parent.parent.parent.parent / "benchmarks" / "networks"
# Dimensions and independent seeds at each.
RUNS = ((200, 48), (400, 24), (800, 6), (1600, 2))
# What decides: what both theories predict and what is measured well, by which the odd networks were judged too.
JUDGED = ("test_error", "training_error", "m", "zeta", "q2")
# Kept beside them.
MEASURED = (*JUDGED, "psi", "chi")


@dataclass(frozen=True)
class Trial:
    """One list: its name, the seed that draws it, the seed of its first network's experiments, the numbers of steps."""

    slug: str
    seed: int
    first: int
    steps: tuple[int, ...] = (1,)

    @property
    def folder(self) -> Path:
        """Where its predictions and samples lie."""
        return FOLDER / self.slug


ANY_ACTIVATION = Trial("any_activation", seed=2402, first=500)
SEVERAL_STEPS = Trial("several_steps", seed=4980, first=600, steps=(2, 3, 4, 5))

# A number between braces is drawn from the range.
_SHIFT, _EVEN = (0.3, 1.0), (0.1, 0.4)
ACTIVATIONS: tuple[tuple[str, tuple[float, float]], ...] = (
    ("relu", _SHIFT), ("leaky_relu", _SHIFT), ("gelu", _SHIFT), ("silu", _SHIFT), ("softplus", _SHIFT), ("elu", _SHIFT),
    ("sigmoid", _SHIFT), ("tanh(z + {})", _SHIFT), ("tanh(z) + {}*he(2, z)", _EVEN), ("hardtanh(z + {})", _SHIFT),
    ("z/(1 + abs(z)) + {}*he(2, z)", _EVEN), ("cos(z) + z", _SHIFT),
)  # fmt: skip
TARGETS = ("tanh", "sin", "relu", "sign", "z + he(2, z)", "tanh(z + 1/2)")
COUNT = 2 * len(ACTIVATIONS)
# Least and largest; logarithmic but for the noise.
RANGES: Mapping[str, tuple[float, float]] = {
    "alpha0": (0.5, 20.0), "eta": (0.5, 12.0), "beta": (0.3, 3.0), "alpha": (0.5, 3.0), "ridge": (0.03, 1.0),
    "noise": (0.0, 0.5),
}  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """One network of the list, beside it its functions as text."""

    activation: str
    target: str
    network: Network

    @property
    def drawn(self) -> Drawn:
        """What is simulated and predicted; its name holds all parameters."""
        listed = ", ".join(f"{name} {getattr(self.network, name):g}" for name in RANGES)
        more = f", steps {self.network.steps}" if self.network.steps > 1 else ""
        return Drawn(f"{self.activation} / {self.target}: {listed}{more}", self.network)


@cache
def draw(trial: Trial = ANY_ACTIVATION) -> tuple[Entry, ...]:
    """The list of a trial."""
    rng = np.random.default_rng(trial.seed)
    students = [text.format(f"{rng.uniform(*range_):.2f}") for text, range_ in ACTIVATIONS for _ in range(2)]
    # An activation's two targets are different.
    while True:
        targets = [str(name) for name in rng.permutation(TARGETS * (COUNT // len(TARGETS)))]
        if all(first != second for first, second in zip(targets[::2], targets[1::2], strict=True)):
            break
    columns = {name: _filled(rng, range_, name) for name, range_ in RANGES.items()}
    rows: list[dict[str, Any]] = [{name: column[k] for name, column in columns.items()} for k in range(COUNT)]
    steps = [int(count) for count in rng.permutation(trial.steps * (COUNT // len(trial.steps)))]
    named = zip(students, targets, rows, steps, strict=True)
    return tuple(
        Entry(student, target, Network(student, target, **row, steps=count)) for student, target, row, count in named
    )


def _filled(rng: np.random.Generator, range_: tuple[float, float], name: str) -> list[float]:
    """One value in each of COUNT cells of the range, in random order, to three digits."""
    places = (rng.permutation(COUNT) + rng.uniform(size=COUNT)) / COUNT
    scale: Callable[[float], float] = (lambda x: x) if name == "noise" else np.log
    low, high = scale(range_[0]), scale(range_[1])
    values = low + (high - low) * places
    return [float(f"{value:.3g}") for value in (values if name == "noise" else np.exp(values))]
