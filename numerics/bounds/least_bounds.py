"""The learning rate and the spike of the least upper and of the least lower bound: a scan, and every dip refined."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from giantsteps.derivations.activations.activation import Activation
from giantsteps.numerics.bounds.results import Bounds, Minimum
from giantsteps.numerics.bounds.ridge import bounds, local_minima
from giantsteps.numerics.models.model import UNIFORM, Model, ReadoutGroup

# The scan starts at this share of its first step: at zero there is no spike.
_START = 0.5
# A dip is narrowed to this width, relative where it lies beyond 1: the bound is flat there to second order.
_WIDTH = 1e-7


@dataclass(frozen=True)
class BestBound:
    """The least value of one bound on a scan of a parameter, every dip refined.

    scanned: the interval of the scan, and at_end says that the least value is at an end of it. spread: the largest less
    the least value on the scan.
    """

    at: float
    bound: float
    minima: tuple[Minimum, ...]
    scanned: tuple[float, float]
    spread: float

    @property
    def at_end(self) -> bool:
        """Whether the bound still falls towards an end of the scan."""
        return self.at in self.scanned


@dataclass(frozen=True)
class BestBounds:
    """Both bounds, each at its own best place."""

    upper: BestBound
    lower: BestBound


def best_bounds_rate(
    activation: Activation,
    target: Activation,
    *,
    alpha0: float,
    beta: float,
    noise: float = 0.0,
    groups: tuple[ReadoutGroup, ...] = UNIFORM,
    bulk_model: str = "network",
    gaussian_rows: bool = False,
    largest: float = 30.0,
    points: int = 61,
) -> BestBounds:
    """The learning rates eta in (0, largest] of least upper and least lower bound after the step of Result 3.1.

    Raises ModelError where the gradient-step map does not exist.
    """

    def at(eta: float) -> Bounds:
        model = Model.from_gradient_step(
            activation, target, alpha=1.0, beta=beta, ridge=1.0, alpha0=alpha0, eta=eta, noise=noise, readout=groups,
            bulk_model=bulk_model, gaussian_rows=gaussian_rows,
        )  # fmt: skip
        return bounds(model)

    return _best(at, largest, points)


def best_bounds_spike(model: Model, *, largest: float = 10.0, points: int = 61) -> BestBounds:
    """The spikes r in (0, largest] of least upper and least lower bound at fixed c and gamma, equations (28)-(31)."""
    return _best(lambda spike: bounds(model.changed(spike=spike)), largest, points)


def _best(at: Callable[[float], Bounds], largest: float, points: int) -> BestBounds:
    grid = [float(x) for x in np.linspace(0.0, largest, points)[1:]]
    ends, found = (_START * grid[0], largest), cache(at)

    def best(bound: Callable[[float], float]) -> BestBound:
        # A bound of zero (perfect learning) is a dip as good as any: no depth is required.
        minima = local_minima(bound, grid, noise=0.0, width=_WIDTH)
        values = [bound(x) for x in (ends[0], *grid)]
        least = min((*minima, *(Minimum(x, bound(x)) for x in ends)), key=lambda m: m.error)
        return BestBound(least.at, least.error, minima, ends, max(values) - min(values))

    return BestBounds(best(lambda x: found(x).upper), best(lambda x: found(x).lower))
