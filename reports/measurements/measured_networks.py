"""The networks that were measured, the samples that were stored, and how a theory is judged by them.

`python -m benchmarks.networks.network_trial simulate` measures; the samples lie beside that program and come with the
sources.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from onestep.derivations.activations.activation import activation
from onestep.numerics.experiments.ensembles import Sizes
from onestep.numerics.experiments.ridge import predicted
from onestep.numerics.models.model import Model
from onestep.numerics.models.network import Network
from onestep.numerics.saddle_point.ridge import solve
from onestep.verify.checks.finite_size import Comparison, Observation, compare

DATA = Path(__file__).parent.parent.parent / "benchmarks" / "networks" / "network_trial.json"
OBSERVABLES = ("test_error", "training_error", "m", "zeta", "chi", "psi", "q1", "q2")
# What the two theories both predict and what is measured well.
CALIBRATED = ("test_error", "training_error", "m", "zeta", "q2")


@dataclass(frozen=True)
class Point:
    """One network and the dimensions, with seeds, at which it is drawn."""

    student: str
    target: str
    alpha0: float
    eta: float
    beta: float
    alpha: float
    ridge: float
    noise: float
    runs: tuple[tuple[int, int], ...]

    @property
    def name(self) -> str:
        """A few words for tables."""
        noise = f", noise {self.noise:g}" if self.noise else ""
        return (
            f"{self.student}/{self.target}, alpha0 {self.alpha0:g}, eta {self.eta:g}, beta {self.beta:g}, "
            f"alpha {self.alpha:g}, ridge {self.ridge:g}{noise}"
        )

    def model(self, bulk_model: str, sizes: Sizes | None = None) -> Model:
        """The theory's model, at the realised ratios of a simulation where sizes are given."""
        ratios = sizes or self
        return Model.from_gradient_step(
            activation(self.student),
            activation(self.target),
            alpha=ratios.alpha,
            beta=ratios.beta,
            ridge=self.ridge,
            alpha0=sizes.n0 / sizes.d if sizes else self.alpha0,
            eta=self.eta,
            noise=self.noise,
            bulk_model=bulk_model,
        )

    def network(self) -> Network:
        """The network to simulate."""
        return Network(
            activation(self.student), activation(self.target), alpha=self.alpha, beta=self.beta, ridge=self.ridge,
            alpha0=self.alpha0, eta=self.eta, noise=self.noise,
        )  # fmt: skip


_USUAL = ((400, 36), (800, 18), (1600, 8))
_LARGE_BATCH = ((300, 32), (600, 16), (1200, 7))
POINTS = (
    Point("tanh", "tanh", 10, 10, 1, 1.5, 0.01, 0, (*_USUAL, (3200, 3))),
    Point("tanh", "tanh", 50, 10, 1, 1.5, 0.01, 0, _LARGE_BATCH),
    Point("tanh", "tanh", 1, 3, 2, 1, 0.1, 0, (*_USUAL, (3200, 3))),
    Point("erf", "sign", 2, 6, 1, 2, 0.05, 0, _USUAL),
    Point("erf", "tanh", 20, 12, 1.5, 2, 0.01, 0, _LARGE_BATCH),
    Point("erf", "sin", 10, 8, 1, 1.5, 0.02, 0, _USUAL),
    Point("erf", "sign", 50, 12, 2, 1, 0.02, 0, _LARGE_BATCH),
    Point("atan", "tanh", 3, 5, 0.5, 2, 0.05, 0, _USUAL),
    Point("atan", "sign", 5, 12, 2, 1.5, 0.05, 0, _USUAL),
    Point("tanh", "sign", 1, 12, 0.5, 1, 0.1, 0, _USUAL),
    Point("tanh", "sin", 4, 4, 0.8, 1.2, 0.1, 0.2, _USUAL),
    Point("hardtanh", "tanh", 10, 8, 1, 1.5, 0.02, 0, _USUAL),
    Point("sin", "hardtanh", 5, 3, 1, 2, 0.05, 0.1, _USUAL),
    # Outside the grid: fewer samples than inputs in the step, a target of no parity and non-zero mean, a tiny step.
    Point("erf", "tanh", 0.5, 4, 1, 1.5, 0.05, 0, _USUAL),
    Point("tanh", "relu", 5, 6, 1, 1.5, 0.05, 0, _USUAL),
    Point("tanh", "he3", 5, 6, 1, 2, 0.1, 0, _USUAL),
)

Data = dict[str, dict[str, dict[str, list[float]]]]


def stored() -> Data:
    """The samples of the last simulation."""
    found: Data = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {}
    return found


def judge(point: Point, runs: Mapping[str, Mapping[str, list[float]]], bulk_model: str) -> dict[str, Comparison]:
    """Each observable against one theory, extrapolated to infinite d; chi has no isotropic theory."""
    measured: dict[str, list[Observation]] = {}
    for dimension, samples in sorted(runs.items(), key=lambda item: int(item[0])):
        sizes = Sizes.rounded(int(dimension), alpha=point.alpha, beta=point.beta, alpha0=point.alpha0, fractions=(1.0,))
        solution = solve(point.model(bulk_model, sizes))
        theory = predicted(solution)
        theory |= {"chi": float(solution.order_parameters.chi.sum())}
        for name in OBSERVABLES:
            measured.setdefault(name, []).append(Observation(int(dimension), tuple(samples[name]), theory[name]))
    return {name: compare(name, observations, scale=1.0) for name, observations in measured.items()}
