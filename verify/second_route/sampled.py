"""Experiments as data: models, what is drawn of them so many times at each dimension, and what stands beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar

import numpy as np
import sympy as sp

from giantsteps.verify.checks.evaluate import Functions
from giantsteps.verify.checks.scaling_check import Scaled
from giantsteps.verify.checks.simulation import Measured, at_sizes, column
from giantsteps.verify.protocol.claim import Profile
from giantsteps.verify.second_route.grids import Array

Model = TypeVar("Model")
# What statements are evaluated with: numbers by glyph, and implementations of undefined functions.
Beside = tuple[Mapping[str, float], Functions]


def steadied(samples: Array, controls: Array) -> Array:
    """K - m numbers of the samples' mean, from samples (K,) less what is linear in their m controls (K, m), which have
    mean zero.

    Where samples are mu + c.b + Gaussian noise of variance s^2, these are independent, of mean mu and of the variance
    s^2 (K - m)/k, k = 1.(1 - P) 1 with P the projector on the controls, whatever b: what of the samples is orthogonal
    to the controls, turned so that each entry has the same mean. Their own mean is the intercept of the regression, its
    error the regression's, on its K - m - 1 degrees of freedom: fitting costs as many as there are controls, so that a
    test keeps its level however few the samples. Raises ValueError where fewer than two numbers are left.
    """
    count, fitted = controls.shape
    if count < fitted + 2:
        raise ValueError(f"{count} samples leave no scatter beside {fitted} controls: {fitted + 2} are needed")
    across = np.linalg.qr(controls, mode="complete")[0][:, fitted:]
    left, ones = samples @ across, across.sum(axis=0)
    size, each = float(np.linalg.norm(ones)), (count - fitted) ** -0.5
    # The reflection that takes what is left of (1, .. 1) to equal entries, of the sign that cancels nothing.
    sign = 1.0 if ones.sum() > 0.0 else -1.0
    mirror = ones / size + sign * each
    turned = left - 2.0 * (mirror @ left) / (mirror @ mirror) * mirror
    return np.asarray(-sign * turned / (each * size))


@lru_cache(maxsize=512)
def _drawn(draw: Callable[[Any, int, int], Any], model: Any, d: int, seeds: range, controlled: bool) -> Any:
    found = [draw(model, d, seed) for seed in seeds]
    return tuple(np.array(part) for part in zip(*found, strict=True)) if controlled else (np.array(found), None)


@dataclass(frozen=True, eq=False)
class Sampled(Generic[Model]):
    """An experiment: ``draw`` of a model, at a dimension, by a seed gives a number for each of the ``columns``.

    ``beside`` gives what statements are evaluated with, at the ratios that whole sizes have. There are so many
    ``draws`` per seed of the profile, at its dimensions over ``share``, each recalled for all columns. Where it is
    ``controlled``, a draw gives numbers and controls of mean zero, which steady them. The variance falls as
    d^-``fluctuation``.
    """

    columns: tuple[sp.Basic, ...]
    models: Mapping[str, Model]
    draw: Callable[[Model, int, int], Any]
    beside: Callable[[Model, int], Beside]
    draws: int
    share: int = 2
    controlled: bool = False
    fluctuation: int = 1

    def __call__(self, quantity: sp.Basic, profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
        """What was measured of a quantity; raises ValueError for one that is not a column."""
        at = column(quantity, *self.columns)

        def one(model: Model, d: int) -> Measured:
            found, controls = _drawn(self.draw, model, d, profile.draws(self.draws), self.controlled)
            samples = steadied(found[:, at], controls) if self.controlled else found[:, at]
            return Measured(d, tuple(samples.tolist()), *self.beside(model, d), self.fluctuation)

        return at_sizes(self.models, profile, one, self.share)


def series(
    sizes: Iterable[tuple[int, int]], draw: Callable[[int, int], Any], values: Mapping[str, float], profile: Profile,
    controlled: bool = False,
) -> Scaled:  # fmt: skip
    """A positive number at dimensions, by so many draws per seed of the profile; ``controlled``, each comes with its
    controls, and its logarithm is taken less what is linear in them.
    """
    dimensions, samples = [], []
    for d, draws in sizes:
        found = [draw(d, seed) for seed in profile.draws(draws)]
        if controlled:
            numbers, controls = (np.array(part) for part in zip(*found, strict=True))
            found = np.exp(steadied(np.log(numbers), controls)).tolist()
        dimensions.append(d)
        samples.append(tuple(found))
    return Scaled(tuple(dimensions), tuple(samples), values)
