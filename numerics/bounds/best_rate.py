"""The rate or spike of the least bounds: a scan, and every dip refined."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from giantsteps.numerics.bounds.best import check_rate
from giantsteps.numerics.bounds.results import Bounds, Minimum
from giantsteps.numerics.bounds.ridge import bounds, local_minima
from giantsteps.numerics.models.model import Model

# The scan of bounds starts at this share of its first step: at zero there is no spike.
_START = 0.5
# A dip of a bound is narrowed to this width, relative where it lies beyond 1: it is flat there to second order.
_WIDTH = 1e-7
# What is scanned unless it is said.
_LARGEST = {"eta": 30.0, "spike": 10.0}


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


def best_bounds(model: Model, parameter: str, *, largest: float | None = None, points: int = 61) -> BestBounds:
    """The learning rates "eta" after a step, or the spikes "spike" at fixed c and gamma (equations (28)-(31)), of least
    upper and least lower bound, above 0 and up to 30 or 10.

    Raises ModelError where the gradient-step map does not exist, for the spike of a model from a step, and where steps
    have rates of their own.
    """
    if parameter == "eta":
        check_rate(model)
    largest = _LARGEST[parameter] if largest is None else largest
    grid = [float(x) for x in np.linspace(0.0, largest, points)[1:]]
    ends = (_START * grid[0], largest)

    @cache
    def at(x: float) -> Bounds:
        return bounds(model.changed(**{parameter: x}))

    def best(bound: Callable[[float], float]) -> BestBound:
        # A bound of zero (perfect learning) is a dip as good as any: no depth is required.
        minima = local_minima(bound, grid, noise=0.0, width=_WIDTH)
        values = [bound(x) for x in (ends[0], *grid)]
        least = min((*minima, *(Minimum(x, bound(x)) for x in ends)), key=lambda m: m.error)
        return BestBound(least.at, least.error, minima, ends, max(values) - min(values))

    return BestBounds(best(lambda x: at(x).upper), best(lambda x: at(x).lower))
