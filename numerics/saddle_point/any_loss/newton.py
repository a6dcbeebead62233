"""The saddle point of a convex loss by Newton's method, damped, and where that ends nowhere along a path.

The damping is Deuflhard's: a step is taken as far as the next correction by the same Jacobian is shorter. It does not
depend on how the equations are scaled. The path leads from the readout of least loss with Gaussian noise in its output
(at a ridge that is not small) to that without; every problem on the way is convex and has one solution, which is a
smooth function of the place on the path.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.bulk.equivalent import DeterministicEquivalent
from giantsteps.numerics.saddle_point.any_loss.system import Linearised, System

Array = NDArray[np.float64]

_MOST_ITERATIONS = 50
_LEAST_DAMPING = 1e-5
# Relative corrections: those not worth taking; so small that the next is rounding; and those beside which a rule serves
# that was made for another output.
ROUNDING, _LAST, _ROUGH = 1e-12, 1e-7, 1e-2
# How much of V and of q - P^2 a step may take away.
_SHARE = 0.1
# The path: variance of the noise at its beginning and its last noise beside it, and the shortest step.
_LAST_NOISE = 1e-9
_SHORTEST = 2e-3
# A ridge (beside alpha/beta) that is not small.
_EASY_RIDGE = 0.1


@dataclass(frozen=True)
class Found:
    """Where a search ended, the size of the last correction, and how often the equations were averaged.

    x is `at.x` after the last correction: `at` holds the equations before it.
    """

    x: Array
    at: Linearised
    correction: float
    evaluations: int

    @property
    def ended(self) -> bool:
        """Whether no correction but rounding is left."""
        return self.correction <= _LAST


def newton(system: System, start: Array) -> Found:
    """Damped Newton's method on one rule, which is made anew once the output is roughly known."""
    rough = _search(system, start, _ROUGH)
    if rough.correction > _ROUGH:
        return rough
    last = _search(system, rough.x, _LAST)
    return replace(last, evaluations=last.evaluations + rough.evaluations)


def polished(system: System, start: Array) -> Found:
    """Newton's method from the solution on a coarser rule, with the equations where it ends."""
    found = _search(system, start, _LAST)
    if found.correction <= ROUNDING:
        return replace(found, x=found.at.x)
    return replace(found, at=system.at(found.x, found.at.averages), evaluations=found.evaluations + 1)


def _search(system: System, start: Array, goal: float) -> Found:
    """Newton's method on the rule made for the start, until a correction is at the goal; that is still taken."""
    at, evaluations = system.at(start, system.sampler(start)), 1
    damping, size = 1.0, math.inf
    for _ in range(_MOST_ITERATIONS):
        inverse = _inverse(at)
        if inverse is None:
            return Found(at.x, at, math.inf, evaluations)
        scales = system.scales(at.output)
        narrow = -inverse @ at.gap
        size, step = _size(narrow, scales), system.widened(narrow)
        if size <= goal and system.admissible(at.x + step, system.output(at.x + step)):
            return Found(at.x + step, at, size, evaluations)
        damping = min(1.0, 4.0 * damping)
        taken = None
        while taken is None and damping >= _LEAST_DAMPING:
            moved = at.x + damping * step
            if _keeps_enough(at, moved):
                there, evaluations = system.at(moved, at.averages), evaluations + 1
                if np.all(np.isfinite(there.gap)):
                    shorter = _size(inverse @ there.gap, scales) <= (1.0 - 0.25 * damping) * size
                    taken = there if shorter else None
            damping *= 1.0 if taken is not None else 0.5
        if taken is None:
            break
        at = taken
    return Found(at.x, at, size, evaluations)


def _inverse(at: Linearised) -> Array | None:
    jacobian = at.jacobian
    if not (np.all(np.isfinite(jacobian)) and np.all(np.isfinite(at.gap))):
        return None
    try:
        return np.asarray(np.linalg.inv(jacobian))
    except np.linalg.LinAlgError:
        return None


def _size(step: Array, scales: Array) -> float:
    return float(np.max(np.abs(step) / scales))


def _keeps_enough(at: Linearised, moved: Array) -> bool:
    """Whether a step leaves a share of V and of q - P^2 at every node."""
    before, after = at.output, at.system.output(moved)
    if not at.system.admissible(moved, after):
        return False
    own, left = before.variance - before.across**2, after.variance - after.across**2
    return bool(np.all(after.V >= _SHARE * before.V) and np.all(left >= _SHARE * own - 1e-14 * after.variance))


def along_path(
    system: System, start: Array, noise: float, equivalent: Callable[[float], DeterministicEquivalent]
) -> Found:
    """Newton's method along the path; `noise` is the variance at its beginning, `equivalent` gives that of a ridge."""
    ridge = system.model.ridge
    easy = max(ridge, _EASY_RIDGE * system.ratio)

    def stage(t: float) -> System:
        if t == 0.0:
            return system
        variance = noise * _LAST_NOISE ** (1.0 - t)
        return system.smoothed(variance, equivalent(ridge * (easy / ridge) ** t))

    found = newton(stage(1.0), start)
    evaluations = found.evaluations
    t, step = 1.0, 0.25
    while found.ended and t > 0.0 and step >= _SHORTEST:
        to = max(0.0, t - step)
        tried = newton(stage(to), found.x)
        evaluations += tried.evaluations
        if tried.ended:
            found, t, step = tried, to, 2.0 * step
        else:
            step *= 0.5
    return replace(found, evaluations=evaluations, correction=found.correction if t == 0.0 else math.inf)
