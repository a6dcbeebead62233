"""The minimum of a convex function of a few variables, with a lower bound that its own slopes prove.

A value F_k and a slope g_k at x_k bound a convex function everywhere: F(x) >= F_k + g_k.(x - x_k), a cut. Weights
w_k >= 0 with sum 1 and sum_k w_k g_k = 0 therefore give

    inf F >= sum_k w_k (F_k - g_k.x_k).

The level bundle method (Lemarechal, Nemirovskii and Nesterov, Math. Program. 69, 1995) projects the best point onto the
set where all cuts are below a level between the bound and the best value. The projection is a least-distance problem,
which nonnegative least squares solves (Lawson and Hanson, Solving Least Squares Problems, chapter 23). Where the set is
empty the multipliers are such weights, and the bound rises above the level. Kinks and flat directions do no harm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_MOST_EVALUATIONS = 2_000
# The level lies at this share of the gap above the lower bound.
_LEVEL = 0.3
# A level set farther away than this many times the last step is tried as if it were empty: the square of the inverse
# has to stay above the rounding of nonnegative least squares.
_FAR = 1e6
# Steps beyond this many times the best point are given up.
_FARTHEST = 1e12
# What the sum of weighted slopes leaves counts at this many times the distance of the best point from the origin.
_REACH = 1e3
# Points that prove a bound are kept for a start on a function that is nearly the same, where the gap has fallen by this
# factor since the last ones that were.
_KEPT = 0.1


@dataclass(frozen=True)
class ConvexMinimum:
    """The best point, the value there, and `lower`, which no value of the function is below.

    nearby: the points whose cuts prove `lower` and the bounds before it.
    """

    at: Array
    value: float
    lower: float
    nearby: tuple[Array, ...]

    @property
    def gap(self) -> float:
        """How far the value may be above the infimum."""
        # Rounding puts the bound above the value by as much as it may be too low.
        return abs(self.value - self.lower)


def convex_minimum(
    function: Callable[[Array], tuple[float, Array]],
    starts: Iterable[Array],
    *,
    floor: float = 0.0,
    relative: float = 1e-10,
    absolute: float = 1e-15,
) -> ConvexMinimum:
    """The minimum of a convex function that returns value and slope and is nowhere below `floor`.

    The search ends when the gap is under `relative` times the value plus `absolute`, when rounding leaves no progress,
    where the function overflows, or after 2,000 evaluations; `gap` says what it has left.
    """
    cuts = _Cuts([np.array(start, dtype=float) for start in starts], function)
    lower, step = floor, 1.0 + float(np.linalg.norm(cuts.best))
    nearby: list[Array] = []
    kept = math.inf
    while math.isfinite(cuts.value) and len(cuts.values) < _MOST_EVALUATIONS:
        gap = cuts.value - lower
        if gap <= relative * abs(cuts.value) + absolute:
            break
        moved, weights = cuts.projection(lower + _LEVEL * gap, gap, step)
        if moved is not None:
            size = float(np.linalg.norm(moved))
            if np.array_equal(cuts.best + moved, cuts.best) or not cuts.add(cuts.best + moved):
                break
            step = size
            continue
        raised = cuts.bound(weights, step)
        if raised >= lower + 0.5 * _LEVEL * gap:  # the level itself, but for rounding
            lower = raised
            if gap <= _KEPT * kept:
                nearby += [cuts.points[k] for k in np.flatnonzero(weights)]
                kept = gap
        elif step < _FARTHEST * (1.0 + float(np.linalg.norm(cuts.best))):
            step *= _FAR  # the set is not empty, only far away
        else:
            break
    return ConvexMinimum(cuts.best, cuts.value, lower, (*nearby, cuts.best))


class _Cuts:
    """All cuts so far, and the best point."""

    def __init__(self, starts: list[Array], function: Callable[[Array], tuple[float, Array]]) -> None:
        self._function = function
        self.points: list[Array] = []
        self.values: list[float] = []
        self.slopes: list[Array] = []
        self.best: Array = starts[0]
        self.value = math.inf
        for start in starts:
            self.add(start)

    def add(self, x: Array) -> bool:
        """The cut at x; whether value and slope are finite, else there is none."""
        value, slope = self._function(x)
        if not (math.isfinite(value) and np.all(np.isfinite(slope))):
            return False
        self.points.append(x)
        self.values.append(value)
        self.slopes.append(slope)
        if value < self.value:
            self.best, self.value = x, value
        return True

    def _at_best(self) -> tuple[Array, Array]:
        """The cuts' values at the best point (K,) and their slopes (K, r)."""
        slopes = np.array(self.slopes)
        away = self.best - np.array(self.points)
        return np.array(self.values) + np.einsum("kr,kr->k", slopes, away), slopes

    def projection(self, level: float, gap: float, step: float) -> tuple[Array | None, Array]:
        """The shortest move from the best point to where all cuts are below the level, and the cuts' weights (K,).

        None where that set is empty, or farther away than nonnegative least squares can tell.
        """
        from scipy.optimize import nnls

        heights, slopes = self._at_best()
        # In units of the gap and of the last step; a row per cut, of length one.
        rows, excess = slopes * (step / gap), (heights - level) / gap
        sizes = np.sqrt(np.sum(rows**2, axis=1) + excess**2)
        rows, excess = rows / sizes[:, None], excess / sizes
        wanted = np.zeros(rows.shape[1] + 1)
        wanted[-1] = 1.0
        try:
            found, _ = nnls(np.vstack([-rows.T, excess]), wanted, maxiter=100 + 50 * len(rows))
        except RuntimeError:  # no end of its iterations: rounding
            return np.zeros(rows.shape[1]), np.zeros(len(rows))
        left = np.append(-rows.T @ found, excess @ found - 1.0)
        weights = found / sizes
        if float(left @ left) * _FAR**2 <= 1.0 or left[-1] >= 0.0:
            return None, weights / max(float(np.sum(weights)), 1e-300)
        return -left[:-1] / left[-1] * step, weights

    def bound(self, weights: Array, step: float) -> float:
        """What weights of sum 1 say of the infimum, less what is left of their sum of slopes."""
        heights, slopes = self._at_best()
        left = float(np.linalg.norm(weights @ slopes))
        return float(weights @ heights) - left * _REACH * (float(np.linalg.norm(self.best)) + step)
