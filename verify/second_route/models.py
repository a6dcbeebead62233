"""Random models for the claims of Sections 3.3 and 4.3: a point of a domain as a model, and its functions.

Activations and targets are smooth, so that the evaluator's fixed grid is accurate to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.numerics.models.model import Model
from giantsteps.verify.checks.points import Point
from giantsteps.verify.compiled import along, saddle_points
from giantsteps.verify.compiled.random_features import marchenko_pastur
from giantsteps.verify.protocol.claim import Domain, Range

Array = NDArray[np.float64]
Bounds = tuple[float, float]

SMOOTH = ("tanh(z)", "erf(z)", "sin(z)", "atan(z)", "z/sqrt(1 + z**2) + 1/4")

# Functions for witnesses against false statements: generic, smooth, of order one, and of no particular parity.
GENERIC: Mapping[str, Callable[..., Any]] = {
    "mu0": lambda x: np.tanh(x) + 0.2 * np.cos(x),
    "mu1": lambda x: 0.3 + np.exp(-0.4 * x * x),
    "mu2": lambda x: 0.5 + 0.1 * np.sin(x),
    "y0": lambda x: np.sin(x) + 0.3,
    "y1": lambda x: 0.4 * np.cos(x) + 0.1 * x,
    "y2": lambda x: 1.5 + 0.2 * np.tanh(x),
    "g": lambda x: np.tanh(x) + 0.1 * x,
    "varrho": lambda u: 1.2 + np.tanh(u),
    "vartau": lambda u: u + 0.3,
    "varpi": lambda u: 0.7 - 0.2 * u,
}


def between(student: str, target: str, **values: float) -> Model:
    """The model of a student and a target given as text."""
    return Model(activation(student), activation(target), **values)  # type: ignore[arg-type]


def problem(
    students: tuple[str, ...], targets: tuple[str, ...], alpha: Bounds, beta: Bounds, ridge: Bounds,
    noise: Bounds = (0.0, 0.3),
) -> tuple[Range, ...]:  # fmt: skip
    """Student and target, the ratios and the ridge (spread evenly in the logarithm), and the label noise."""
    return (
        Range("activation", choices=students),
        Range("target", choices=targets),
        *(Range(x, *ends, log=True) for x, ends in ((s.alpha, alpha), (s.beta, beta), (s.ridge, ridge))),
        Range(s.noise, *noise),
    )


RANGES = (
    *problem(SMOOTH, SMOOTH, (0.3, 4.0), (0.3, 3.0), (0.02, 5.0)),
    Range(s.r, 0.3, 2.5),
    Range(s.c, 0.6, 1.8),
    Range(s.gamma, -0.9, 0.9),
)
DOMAIN = Domain(ranges=RANGES, interpretations=(GENERIC,))


_ROLES = {
    "alpha": s.alpha, "beta": s.beta, "ridge": s.ridge, "noise": s.noise, "spike": s.r, "bulk": s.c,
    "alignment": s.gamma,
}  # fmt: skip


@lru_cache(maxsize=4096)
def _model(student: str, target: str, *values: float) -> Model:
    return between(student, target, **dict(zip(_ROLES, values, strict=True)))


def model_at(point: Point) -> Model:
    """The model of a point whose coordinates are those of ``RANGES``."""
    values = (float(point[symbol.name]) for symbol in _ROLES.values())
    return _model(str(point["activation"]), str(point["target"]), *values)


def functions_at(point: Point) -> Mapping[str, Callable[..., Any]]:
    """mu0, mu1, mu2, y0, y1, y2 (with label noise) and g of the model at a point."""
    return functions_of(model_at(point))


def functions_of(
    model: Model, along_spike: Callable[[Model], Mapping[str, Callable[[Array], Array]]] = saddle_points.functions_of
) -> Mapping[str, Callable[..., Any]]:
    """The functions along the spike of a model, from their definitions, and its target."""
    functions = {name: partial(at_distinct, of) for name, of in along_spike(model).items()}
    return {**functions, "g": partial(along.evaluated, model.target.expression)}


def at_distinct(function: Callable[[Array], Array], kappa: Array) -> Array:
    """The function at each distinct place once: grids in several variables repeat them."""
    kappa = np.asarray(kappa, dtype=float)
    distinct, inverse = _distinct(kappa.tobytes(), kappa.shape)
    return function(distinct)[inverse]


@lru_cache(maxsize=16)
def _distinct(raw: bytes, shape: tuple[int, ...]) -> tuple[Array, NDArray[np.intp]]:
    distinct, inverse = np.unique(np.frombuffer(raw).reshape(shape), return_inverse=True)
    return distinct, inverse


@lru_cache(maxsize=4096)
def density_integrals(beta: float, c: float, shift: float, conjugate: float) -> Mapping[str, float]:
    """Integrals over the Marchenko-Pastur density: V1, V2 and the second moments of the resolvent."""
    eigenvalue, weight = marchenko_pastur(beta, c)
    resolvent = 1 / (shift + conjugate * eigenvalue)

    def moment(k: int, j: int) -> float:
        return float(weight @ (eigenvalue**k * resolvent**j))

    return {
        s.V1.name: moment(1, 1),
        s.V2.name: moment(0, 1),
        s.resolvent_square.name: moment(0, 2),
        s.resolvent_mixed.name: moment(1, 2),
        s.resolvent_double.name: moment(2, 2),
    }
