"""The spike of the least upper bound at alignment 1, mu0 tabulated once for every spike, equations (26), (28)-(31).

At fixed bulk c the function x -> mu0(x, c) does not depend on the spike r, which enters as x = r kappa only. A Gaussian
average is smooth over distances of sqrt(c), so a table and interpolation of high order serve every r.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from math import comb

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import Activation
from giantsteps.numerics.bounds.ridge import local_minima
from giantsteps.numerics.gaussian.quadrature import WIDEST_STEP, conditional_moments, integrand, reach
from giantsteps.numerics.gaussian.spike_rule import half_length, layers, spacing, spike_rule
from giantsteps.numerics.saddle_point.profile import WIDEST_SPACING

Array = NDArray[np.float64]

# Twelve points at this distance, in units of sqrt(c), leave 1e-12 of a Gaussian average.
_TABLE_STEP = 0.1
_POINTS = 12
_SCAN = 49
_ROUNDING = 1e-14
# Squares of anything smaller fit into double precision.
_LARGEST = 1e150


def upper_bound_of_spike(
    activation: Activation, target: Activation, bulk: float, largest: float, refine: int = 1
) -> Callable[[float], float]:
    """r -> dist^2(g, span{mu0(r kappa)}) in L^2 of kappa ~ N(0, 1), for 0 <= r <= largest, equation (26); O(1) in d.

    The rule along the spike is doubled `refine` times. Raises ValueError where a second moment is infinite at the
    largest spike or double precision overflows there.
    """
    student, teacher = integrand(activation), integrand(target)
    width = math.sqrt(bulk) / largest
    widest = min(WIDEST_SPACING, spacing(teacher, 1.0, 0.0), spacing(student, largest, bulk))
    widest = min(widest, WIDEST_STEP * width / math.hypot(1.0, width))
    length = half_length([reach(teacher, 1.0), reach(student, largest, bulk)])
    rule = spike_rule(tuple(sorted(set(layers(teacher, 1.0, 0.0)))), widest, length, refine)
    goal = teacher.values(rule.nodes)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = _tabulated(lambda x: conditional_moments(student, x, math.sqrt(bulk)).mean, largest * length, bulk)

    def bound(spike: float) -> float:
        mu0 = mean(spike * rule.nodes)
        size = float(rule.weights @ mu0**2)
        factor = float(rule.weights @ (goal * mu0)) / size if size > 0.0 else 0.0
        return float(rule.weights @ (goal - factor * mu0) ** 2)

    return bound


def _tabulated(function: Callable[[Array], Array], end: float, bulk: float) -> Callable[[Array], Array]:
    """A function on [-end, end] that varies over sqrt(bulk), by barycentric interpolation on a uniform grid."""
    step = _TABLE_STEP * math.sqrt(bulk)
    count = math.ceil(end / step) + _POINTS
    values = function(step * np.arange(-count, count + 1, dtype=np.float64))
    if not np.all(np.abs(values) < _LARGEST):
        raise ValueError("the function overflows double precision at this spike")
    places = np.arange(_POINTS)
    signs = np.array([(-1.0) ** j * comb(_POINTS - 1, j) for j in range(_POINTS)])

    def interpolated(x: Array) -> Array:
        position = x / step + count
        first = np.floor(position).astype(np.int64) - (_POINTS // 2 - 1)
        distance = (position - first)[:, None] - places
        # On a grid point its own weight outgrows all others.
        weights = signs / np.where(distance == 0.0, 1e-60, distance)
        result: Array = (weights * values[first[:, None] + places]).sum(axis=1) / weights.sum(axis=1)
        return result

    return interpolated


def best_spike_at_alignment_one(
    activation: Activation, target: Activation, bulk: float, largest: float, refine: int = 1
) -> tuple[float, float]:
    """(r, upper bound) at the spike in [0, largest] of the least upper bound; raises as `upper_bound_of_spike`."""
    bound = upper_bound_of_spike(activation, target, bulk, largest, refine)
    grid = [float(r) for r in np.linspace(0.0, largest, _SCAN)]
    ends = [(r, bound(r)) for r in (0.0, largest)]
    # rounding is relative to the bound, which is as small as E[g^2] may be
    minima = local_minima(bound, grid, _ROUNDING * max(error for _, error in ends))
    candidates = [(m.at, m.error) for m in minima] + ends
    return min(candidates, key=lambda candidate: candidate[1])
