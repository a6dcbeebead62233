"""Spikes of several directions: three models, and one given bulk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from giantsteps.derivations.language import symbols as s
from giantsteps.derivations.saddle_point import directions
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.verify.checks.points import Point
from giantsteps.verify.protocol.claim import Domain, Range
from giantsteps.verify.second_route.models import GENERIC, between


def _model(student: str, target: str, spike: tuple[float, float], gamma: tuple[float, float], **values: float) -> Model:
    """A model of one letter whose spike has two directions."""
    one = between(student, target, alignment=gamma[0], spike=1.0, **values)
    return one.changed(further_alignments=(gamma[1],), readout=(ReadoutGroup(spike[0], further_weights=(spike[1],)),))


MODELS: Mapping[str, Model] = {
    "tanh learns sin": _model(
        "tanh(z)", "sin(z)", (0.9, 0.6), (0.3, 0.8), alpha=1.5, beta=0.7, ridge=0.3, noise=0.05, bulk=1.1
    ),
    "sin learns tanh": _model(
        "sin(z)", "tanh(z)", (0.8, -0.5), (0.7, 0.4), alpha=1.2, beta=1.3, ridge=0.4, noise=0.1, bulk=0.8
    ),
    "erf learns a bump": _model(
        "erf(z)", "exp(-z**2/2) + z", (-0.4, 1.1), (0.5, -0.6), alpha=2.0, beta=0.9, ridge=0.2, bulk=1.3
    ),
}
# The functions of two variables for witnesses against false statements.
GENERIC_PLANE: Mapping[str, Callable[..., Any]] = {
    name: lambda x, y, f=f: f(0.8 * x - 0.5 * y) + 0.1 * x
    for name, f in GENERIC.items()
    if name in ("mu0", "mu1", "mu2", "y0", "y1", "y2")
}
DOMAIN = Domain(
    (Range("model", choices=tuple(MODELS)),), hypotheses=(directions.ORTHOGONAL,), interpretations=(GENERIC_PLANE,)
)
GIVEN_BULK = Domain((Range("seed", 0.0, 1e6), Range(s.V1_hat, 0.2, 0.9), Range(s.ridge, 0.5, 2.0)))


def given_bulk(point: Point) -> Mapping[str, float]:
    """s_j.G0 s_l and s_j.G s_l for one random bulk and two orthonormal directions, by inverting both matrices."""
    generator = np.random.default_rng(int(float(point["seed"])))
    t, ridge = float(point[s.V1_hat.name]), float(point[s.ridge.name])
    W = generator.normal(size=(9, 7)) / np.sqrt(7.0)
    v = np.linalg.qr(generator.normal(size=(7, 2)))[0]
    S = W @ v
    whole = ridge * np.eye(9) + t * W @ W.T
    X = S.T @ np.linalg.solve(whole, S)
    K = S.T @ np.linalg.solve(whole - t * S @ S.T, S)
    pairs = ((0, 0), (0, 1), (1, 1))
    return {directions.whole_gram[a, b].name: float(X[a, b]) for a, b in pairs} | {
        directions.spike_gram[a, b].name: float(K[a, b]) for a, b in pairs
    }
