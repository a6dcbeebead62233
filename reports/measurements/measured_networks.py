"""The networks that were measured, the samples that were stored, and how a theory is judged by them.

`python -m benchmarks.networks network_trial simulate` measures; the samples lie beside that program and come with the
sources.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from giantsteps.numerics.experiments.ensembles import Sizes
from giantsteps.numerics.experiments.ridge import Prediction, at_sizes
from giantsteps.numerics.experiments.simulate import predict
from giantsteps.numerics.models.network import Network
from giantsteps.reports.measurements.models import Samples
from giantsteps.reports.measurements.theory import judged_by
from giantsteps.verify.checks.finite_size import Report

DATA = Path(__file__).parent.parent.parent / "benchmarks" / "networks" / "network_trial.json"
OBSERVABLES = ("test_error", "training_error", "m", "zeta", "chi", "psi", "q1", "q2")
# What the two theories both predict and what is measured well.
CALIBRATED = ("test_error", "training_error", "m", "zeta", "q2")


@dataclass(frozen=True)
class Point:
    """One network, a few words for tables, and the dimensions, with seeds, at which it is drawn."""

    name: str
    network: Network
    runs: tuple[tuple[int, int], ...]


_USUAL = ((400, 36), (800, 18), (1600, 8))
_LARGE_BATCH = ((300, 32), (600, 16), (1200, 7))


def _point(student: str, target: str, *numbers: float, runs: tuple[tuple[int, int], ...] = _USUAL) -> Point:
    """From alpha0, eta, beta, alpha, ridge and noise."""
    values: dict[str, Any] = dict(zip(("alpha0", "eta", "beta", "alpha", "ridge", "noise"), numbers, strict=True))
    words = ", ".join(f"{name} {value:g}" for name, value in values.items() if name != "noise" or value)
    return Point(f"{student}/{target}, {words}", Network(student, target, **values), runs)


POINTS = (
    _point("tanh", "tanh", 10, 10, 1, 1.5, 0.01, 0, runs=(*_USUAL, (3200, 3))),
    _point("tanh", "tanh", 50, 10, 1, 1.5, 0.01, 0, runs=_LARGE_BATCH),
    _point("tanh", "tanh", 1, 3, 2, 1, 0.1, 0, runs=(*_USUAL, (3200, 3))),
    _point("erf", "sign", 2, 6, 1, 2, 0.05, 0),
    _point("erf", "tanh", 20, 12, 1.5, 2, 0.01, 0, runs=_LARGE_BATCH),
    _point("erf", "sin", 10, 8, 1, 1.5, 0.02, 0),
    _point("erf", "sign", 50, 12, 2, 1, 0.02, 0, runs=_LARGE_BATCH),
    _point("atan", "tanh", 3, 5, 0.5, 2, 0.05, 0),
    _point("atan", "sign", 5, 12, 2, 1.5, 0.05, 0),
    _point("tanh", "sign", 1, 12, 0.5, 1, 0.1, 0),
    _point("tanh", "sin", 4, 4, 0.8, 1.2, 0.1, 0.2),
    _point("hardtanh", "tanh", 10, 8, 1, 1.5, 0.02, 0),
    _point("sin", "hardtanh", 5, 3, 1, 2, 0.05, 0.1),
    # Outside the grid: fewer samples than inputs in the step, a target of no parity and non-zero mean, a tiny step.
    _point("erf", "tanh", 0.5, 4, 1, 1.5, 0.05, 0),
    _point("tanh", "relu", 5, 6, 1, 1.5, 0.05, 0),
    _point("tanh", "he3", 5, 6, 1, 2, 0.1, 0),
)

Data = dict[str, dict[str, Samples]]


def judge(point: Point, runs: Mapping[str, Samples], bulk_model: str) -> Report:
    """One theory, at the ratios and the width that each dimension realises, beside the samples: by the observables of
    CALIBRATED together, at the protocol's rate."""

    def theory(dimension: int) -> Prediction:
        sizes = Sizes.of(point.network, dimension)
        realised = at_sizes(point.network, sizes)
        assert isinstance(realised, Network)
        return predict(realised.model(bulk_model), sizes=sizes)

    return judged_by(theory, runs, CALIBRATED)
