"""Bounds on the test error over the ridge, and the best ridge, learning rate and spike (Section 4.3, Appendix E).

Every error here is E(g - f)^2 on new inputs, label noise excluded, as in `Solution.test_error`: label noise changes
the best ridge but neither bound. Norms are over the pair (kappa, z) of independent standard normal variables, so that
both bounds hold at any alignment; at alignment 1 they are equations (26) and (27).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from derivations.activation import Activation
from numerics.documents import bounds_document, eta_document, ridge_document, spike_document
from numerics.least_squares import least_norm
from numerics.model import UNIFORM, Model, ReadoutGroup
from numerics.profile import Profile, profile
from numerics.ridge import solve, solve_on

Array = NDArray[np.float64]

_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
# The error is flat to second order at a minimum: a bracket of this width leaves 1e-14 of it.
_BRACKET = 1e-7
# Doublings of the rule along the spike, at least and at most.
_RULE = 1
_MOST_DOUBLINGS = 6
# A rule is doubled until both bounds move by less than this share of E[g^2]; moving by more than the limit is not
# convergence.
_GOAL = 1e-11
_LIMIT = 1e-7


@dataclass(frozen=True)
class Bounds:
    """Both bounds on a rule doubled `refine` times; error_estimate is what the last doubling moved them by.

    converged: the estimate is under 1e-7 of E[g^2], and E[g^2] and E[sigma^2] along the spike agree with those of the
    inner rules.
    """

    lower: float
    upper: float
    error_estimate: float
    converged: bool
    refine: int

    def to_dict(self) -> dict[str, Any]:
        """As plain data for JSON, in the words of the command line."""
        return bounds_document(self)


@lru_cache(maxsize=256)
def bounds(model: Model) -> Bounds:
    """Lower and upper bound, equations (27) and (26), on a rule along the spike doubled until they stay put."""
    before = _upper(model, _RULE - 1), _lower(model, _RULE - 1)
    for refine in range(_RULE, _MOST_DOUBLINGS + 1):
        table = profile(model, refine)
        now = _upper(model, refine), _lower(model, refine)
        square = float(table.weights @ (table.y0**2 + table.y1**2 + table.spread))
        moved = max(abs(a - b) for a, b in zip(now, before, strict=True))
        settled = moved <= _GOAL * square and table.unresolved <= _GOAL
        if settled or table.unresolved == 1.0 or table.exhausted:
            break
        before = now
    estimate = moved + (table.unresolved + _ROUNDING) * square
    upper, lower = now
    # In exact arithmetic 0 <= lower <= upper.
    return Bounds(min(lower, upper), upper, estimate, bool(estimate <= _LIMIT * square), refine)


# Rounding of a residual of least squares, beside E[g^2].
_ROUNDING = 1e-15


def upper_bound(model: Model, refine: int | None = None) -> float:
    """dist^2(g, span{mu0_a}) = |g|^2 - <g, mu0>^2/|mu0|^2 for one group: the test error at ridge -> infinity.

    Equation (26) at alignment 1; an upper bound on the infimum over the ridge at any alignment. The rule along the
    spike is doubled `refine` times, or until the bounds stay put (`bounds` says whether they do).
    """
    return bounds(model).upper if refine is None else _upper(model, refine)


def _upper(model: Model, refine: int) -> float:
    table = profile(model, refine)
    across = float(table.weights @ (table.y1**2 + table.spread))
    return _distance(table, table.mu0, table.y0) + across


def lower_bound(model: Model, refine: int | None = None) -> float:
    """dist^2(g, span{mu0_a, kappa mu1_a, mu1_a z}): no ridge, alpha or beta gets below it.

    Equation (27) at alignment 1, where mu1_a z is orthogonal to g. Where the rows of the bulk differ in norm (a
    network's own bulk) the span has dmu0_a/dc_a as well, and the bound is lower.
    """
    return bounds(model).lower if refine is None else _lower(model, refine)


def _lower(model: Model, refine: int) -> float:
    table = profile(model, refine)
    along = np.concatenate([table.mu0, table.along])
    left = float(table.weights @ table.spread)
    return _distance(table, along, table.y0) + _distance(table, table.mu1, table.y1) + left


def _distance(table: Profile, functions: Array, target: Array) -> float:
    """min over coefficients of E(target - sum coefficient function)^2, as the square it is."""
    root = np.sqrt(table.weights)
    matrix = (functions * root).T
    size = math.sqrt(float(np.sum(table.weights * (table.mu0**2 + table.mu1**2 + table.mu2_squared))))
    right = root * target
    left = right - matrix @ least_norm(matrix, right, size)
    return float(left @ left)


@dataclass(frozen=True)
class Minimum:
    """A local minimum of an error along one parameter."""

    at: float
    error: float


@dataclass(frozen=True)
class BestRidge:
    """The ridge of least test error.

    ridge may be infinite (the infimum is the upper bound, approached as the ridge grows) or, when `at_zero`, the
    smallest ridge tried, below which the error still falls. `minima` lists the local minima at finite ridge;
    `converged` says that `solve` confirms the least error.
    """

    ridge: float
    test_error: float
    at_zero: bool
    minima: tuple[Minimum, ...]
    converged: bool = True

    @property
    def at_infinity(self) -> bool:
        """Whether no finite ridge does better than the limit."""
        return math.isinf(self.ridge)

    def to_dict(self) -> dict[str, Any]:
        """As plain data for JSON, in the words of the command line."""
        return ridge_document(self)


@dataclass(frozen=True)
class BestEta:
    """The learning rate of least test error, with the model it leads to.

    at_edge: the least error was found at the largest eta tried. `minima` lists the local minima inside.
    """

    eta: float
    test_error: float
    model: Model
    at_edge: bool
    minima: tuple[Minimum, ...]
    converged: bool = True

    def to_dict(self) -> dict[str, Any]:
        """As plain data for JSON, in the words of the command line."""
        return eta_document(self)


@dataclass(frozen=True)
class BestSpike:
    """A spike strength that minimises a bound, equations (28)-(31)."""

    spike: float
    bound: float

    def to_dict(self) -> dict[str, Any]:
        """As plain data for JSON, in the words of the command line."""
        return spike_document(self)


def local_minima(
    error: Callable[[float], float], grid: Sequence[float], noise: float = 1e-14, width: float = _BRACKET
) -> tuple[Minimum, ...]:
    """Every minimum inside the grid, by golden sections between the neighbours of each dip; grid increasing.

    A dip that is not deeper than `noise` on either side is rounding, not a minimum. The bracket of a minimum is
    narrowed to `width`, relative where it lies beyond 1.
    """
    errors = [error(x) for x in grid]
    found = []
    for i in range(1, len(grid) - 1):
        if errors[i] < errors[i - 1] and errors[i] <= errors[i + 1] and _depth(errors, i) > noise:
            found.append(_golden_section(error, grid[i - 1], grid[i + 1], width))
    return tuple(found)


def _depth(errors: Sequence[float], i: int) -> float:
    """How far the error rises on both sides of place i before it comes down again below it."""
    left = right = 0.0
    for value in reversed(errors[:i]):
        if value < errors[i]:
            break
        left = max(left, value - errors[i])
    for value in errors[i + 1 :]:
        if value < errors[i]:
            break
        right = max(right, value - errors[i])
    return min(left, right)


def _golden_section(error: Callable[[float], float], left: float, right: float, width: float) -> Minimum:
    inner, outer = right - _GOLDEN * (right - left), left + _GOLDEN * (right - left)
    at_inner, at_outer = error(inner), error(outer)
    while right - left > width * max(1.0, abs(left)):
        if at_inner <= at_outer:
            right, outer, at_outer = outer, inner, at_inner
            inner = right - _GOLDEN * (right - left)
            at_inner = error(inner)
        else:
            left, inner, at_inner = inner, outer, at_outer
            outer = left + _GOLDEN * (right - left)
            at_outer = error(outer)
    return Minimum(inner, at_inner) if at_inner <= at_outer else Minimum(outer, at_outer)


SMALLEST_RIDGE = 1e-6
LARGEST_RIDGE = 1e6


def best_ridge(model: Model) -> BestRidge:
    """Scan ridge over [1e-6, 1e6] (six points a decade), refine every dip, compare with ridge -> infinity.

    The error is not always unimodal in the ridge, so all dips of the scan are refined. The model's own ridge is
    ignored.
    """
    found = bounds(model)
    table = profile(model, found.refine)

    def error(log_ridge: float) -> float:
        return solve_on(table, model.changed(ridge=math.exp(log_ridge))).test_error

    low, high = math.log(SMALLEST_RIDGE), math.log(LARGEST_RIDGE)
    grid = [float(x) for x in np.linspace(low, high, 73)]
    minima = tuple(Minimum(math.exp(dip.at), dip.error) for dip in local_minima(error, grid))
    limit = found.upper
    candidates = [*minima, Minimum(SMALLEST_RIDGE, error(low)), Minimum(math.inf, limit)]
    # Closer to the limit than rounding can tell: the limit it is.
    tolerance = 1e-13 * max(1.0, limit)
    best = min(candidates, key=lambda candidate: candidate.error)
    if best.error >= limit - tolerance:
        best = candidates[-1]
    return BestRidge(best.at, best.error, best.at == SMALLEST_RIDGE, minima, found.converged and _holds(model, best))


def _holds(model: Model, best: Minimum) -> bool:
    """Whether `solve`, which refines its own rule, converges to the same error at the best ridge."""
    if math.isinf(best.at):
        return True
    solution = solve(model.changed(ridge=best.at))
    return solution.converged and abs(solution.test_error - best.error) <= _LIMIT * (1.0 + abs(best.error))


def best_eta(
    activation: Activation,
    target: Activation,
    *,
    alpha: float,
    beta: float,
    alpha0: float,
    ridge: float | None = None,
    noise: float = 0.0,
    largest: float = 30.0,
    points: int = 61,
    bulk_model: str = "isotropic",
    gaussian_rows: bool = False,
    groups: tuple[ReadoutGroup, ...] = UNIFORM,
) -> BestEta:
    """The learning rate eta in [0, largest] of least test error at fixed ridge, or at the best ridge when None.

    Scans eta evenly, then refines every dip. Raises ModelError where the gradient-step map does not exist.
    """

    def at(eta: float) -> Model:
        return Model.from_gradient_step(
            activation, target, alpha=alpha, beta=beta, ridge=1.0 if ridge is None else ridge,
            alpha0=alpha0, eta=eta, noise=noise, groups=groups, bulk_model=bulk_model, gaussian_rows=gaussian_rows,
        )  # fmt: skip

    def error(eta: float) -> float:
        return best_ridge(at(eta)).test_error if ridge is None else solve(at(eta)).test_error

    grid = [float(x) for x in np.linspace(0.0, largest, points)]
    minima = local_minima(error, grid)
    candidates = [*minima, Minimum(0.0, error(0.0)), Minimum(largest, error(largest))]
    best = min(candidates, key=lambda candidate: candidate.error)
    found = at(best.at)
    converged = best_ridge(found).converged if ridge is None else solve(found).converged
    return BestEta(best.at, best.error, found, best.at == largest, minima, converged)


def best_spike(
    model: Model, bound: Callable[[Model], float] = upper_bound, *, largest: float = 10.0, points: int = 101
) -> BestSpike:
    """The spike in [0, largest] that minimises a bound at fixed bulk and alignment, equations (28)-(31)."""

    def error(spike: float) -> float:
        return bound(model.changed(spike=spike))

    grid = [float(x) for x in np.linspace(0.0, largest, points)]
    candidates = [*local_minima(error, grid), Minimum(0.0, error(0.0)), Minimum(largest, error(largest))]
    best = min(candidates, key=lambda candidate: candidate.error)
    return BestSpike(best.at, best.error)
