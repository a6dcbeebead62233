"""The saddle point for a spike of two directions by its theorems: averages over both kappa."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.saddle_point import directions as derived
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.verify.compiled import saddle_points
from giantsteps.verify.compiled.along import averages
from giantsteps.verify.compiled.doubles import normal_rule
from giantsteps.verify.compiled.pairs import concluded
from giantsteps.verify.compiled.system import values_of
from giantsteps.verify.compiled.tape import Tape, written
from giantsteps.verify.compiled.theorems import isotropic_bulk

Array = NDArray[np.float64]
# Of the rules for both kappa: of functions analytic within w of the line exp(-2 pi w/step) is left.
_STEP, _REACH = 1 / 5, 8.0
_AT_ONCE = 4096  # places at which averages are taken together: each has some hundred nodes


class Model(saddle_points.Model, Protocol):
    """What a model of one letter has to say of itself; one weight of the spike and one alignment per direction."""

    @property
    def spikes(self) -> Sequence[Sequence[float]]: ...

    @property
    def alignments(self) -> Sequence[float]: ...


@lru_cache(maxsize=1)
def two_directions() -> tuple[Tape, ...]:
    """One letter, isotropic rows, two directions; V1 and V2 by their law in place of an average over modes."""
    by_modes = (s.q1_hat, s.q2_hat)
    found = (derived.equation(x).theorem_of(derived.CONJUGATE[x]) for x in derived.CONJUGATE if x not in by_modes)
    theorems = (*found, *isotropic_bulk(), derived.test_error().theorem_of(s.test_error))
    return written(map(concluded, theorems))


def functions_of(model: Model) -> Mapping[str, Callable[[Array, Array], Array]]:
    """mu0, mu1, mu2 and y0, y1, y2 (with label noise) as functions of both kappa."""
    (weights,), (bulk,) = model.spikes, model.bulks
    across = math.sqrt(1.0 - sum(gamma**2 for gamma in model.alignments))

    def student(index: int, x: Array, y: Array) -> Array:
        mean, slope, square, _ = _at(model.activation, weights, math.sqrt(bulk), x, y)
        return (mean, slope / math.sqrt(bulk), np.sqrt(np.maximum(square - mean**2 - slope**2, 0.0)))[index]

    def target(index: int, x: Array, y: Array) -> Array:
        mean, slope, square, _ = _at(model.target, model.alignments, across, x, y)
        return (mean, slope, square + model.noise)[index]

    return {f"{name}{k}": partial(of, k) for name, of in (("mu", student), ("y", target)) for k in range(3)}


def _at(function: Activation, weights: Sequence[float], scale: float, x: Array, y: Array) -> Sequence[Array]:
    places = np.asarray(weights[0] * x + weights[1] * y)
    values = _averages(function, scale, places.tobytes())
    return [value.reshape(places.shape) for value in values]


@lru_cache(maxsize=8)
def _averages(function: Activation, scale: float, raw: bytes) -> Sequence[Array]:
    places = np.frombuffer(raw)
    parts = [averages(function, places[k : k + _AT_ONCE], scale) for k in range(0, len(places), _AT_ONCE)]
    return [np.concatenate(found) for found in zip(*parts, strict=True)]


def solved(model: Model) -> Mapping[str, float]:
    """The saddle point of a model whose activation and target are smooth."""
    given = {s.alpha: model.alpha, s.beta: model.beta, s.ridge: model.ridge, s.noise: model.noise, s.c: model.bulks[0]}
    rules = {x.name: normal_rule(_STEP, _REACH) for x in derived.kappa}
    named = {symbol.name: value for symbol, value in given.items()}
    return values_of(two_directions(), rules, named, functions_of(model))
