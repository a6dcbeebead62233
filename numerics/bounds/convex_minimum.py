"""The minimum of a smooth convex function of a few variables, by the BFGS method with a weak Wolfe line search."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_MOST_ITERATIONS = 400
_MOST_TRIALS = 60
_DECREASE, _FLATTER = 1e-4, 0.9


@dataclass(frozen=True)
class ConvexMinimum:
    """Where the search ended, the value there, and `gap`, half of what the gradient promises a Newton step would gain.

    unbounded: the search went farther than `far` from the origin while the value still fell.
    """

    at: Array
    value: float
    gap: float
    unbounded: bool


def convex_minimum(
    function: Callable[[Array], tuple[float, Array]], start: Array, *, goal: float = 1e-13, far: float = 1e7
) -> ConvexMinimum:
    """The minimum of a convex function that returns value and gradient; `goal` is relative to 1 + |value|."""
    x = np.array(start, dtype=float)
    value, slope = function(x)
    if not len(x):
        return ConvexMinimum(x, value, 0.0, False)
    inverse = np.eye(len(x))
    fresh = True
    for _ in range(_MOST_ITERATIONS):
        gap = 0.5 * float(slope @ inverse @ slope)
        if gap <= goal * (1.0 + abs(value)) and (not fresh or gap == 0.0):
            return ConvexMinimum(x, value, gap, False)
        if float(np.linalg.norm(x)) > far:
            return ConvexMinimum(x, value, gap, True)
        found = _line_search(function, x, value, slope, -inverse @ slope)
        if found is None:
            if fresh:
                return ConvexMinimum(x, value, gap, False)
            inverse, fresh = np.eye(len(x)), True
            continue
        step, value, new_slope = found
        change = new_slope - slope
        curvature = float(step @ change)
        if curvature > 0.0:
            if fresh:
                inverse = np.eye(len(x)) * curvature / float(change @ change)
            left = np.eye(len(x)) - np.outer(step, change) / curvature
            inverse = left @ inverse @ left.T + np.outer(step, step) / curvature
            fresh = False
        x, slope = x + step, new_slope
    return ConvexMinimum(x, value, 0.5 * float(slope @ inverse @ slope), False)


def _line_search(
    function: Callable[[Array], tuple[float, Array]], x: Array, value: float, slope: Array, direction: Array
) -> tuple[Array, float, Array] | None:
    """A step that lowers the value enough and flattens the slope, or does the first only where the slope goes on.

    None where rounding leaves nothing to gain.
    """
    along = float(slope @ direction)
    lower: tuple[Array, float, Array] | None = None
    low, high, size = 0.0, math.inf, 1.0
    for _ in range(_MOST_TRIALS):
        there, new = function(x + size * direction)
        if not there <= value + _DECREASE * size * along or (size * along == 0.0):
            high = size
        elif float(new @ direction) < _FLATTER * along:
            low, lower = size, (size * direction, there, new)
        else:
            return size * direction, there, new
        size = 0.5 * (low + high) if math.isfinite(high) else 2.0 * low
        if float(np.max(np.abs(size * direction))) <= 1e-15 * (1.0 + float(np.max(np.abs(x)))):
            return lower
    return lower
