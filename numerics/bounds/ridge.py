"""Bounds on the test error over the ridge, and the best ridge, learning rate and spike (Section 4.3, Appendix E).

Every error here is E(g - f)^2 on new inputs, label noise excluded, as in `Solution.test_error`: label noise changes
the best ridge but neither bound. Norms are over the pair (kappa, z) of independent standard normal variables, so that
both bounds hold at any alignment; at alignment 1 they are equations (26) and (27).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.bounds.infinite_ridge import left_over, slope_at_infinity
from giantsteps.numerics.bounds.results import Bounds, Minimum
from giantsteps.numerics.models.given import square_only
from giantsteps.numerics.models.model import LARGEST, SMALLEST, Model
from giantsteps.numerics.saddle_point.level import solve_on
from giantsteps.numerics.saddle_point.map_uncertainty import SMALL, neighbours, relative_uncertainty
from giantsteps.numerics.saddle_point.profile import Profile, profile

Array = NDArray[np.float64]

_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
# The error is flat to second order at a minimum: a bracket of this width leaves 1e-14 of it.
_BRACKET = 1e-7
# The widths of two polynomials beside a minimum, of the spacing of the scan, how closely they have to agree on its
# place, also of the spacing, and the turns of Newton's method; a polished minimum is no higher but for rounding.
_SHARES, _AGREE, _TURNS, _ROUNDINGS = (0.15, 0.1), 1e-5, 8, 1e-15
# Doublings of the rule along the spike, at least and at most.
_RULE = 1
_MOST_DOUBLINGS = 6
# A rule is doubled until both bounds move by less than this share of E[g^2]; moving by more than the limit is not
# convergence.
_GOAL = 1e-11
_LIMIT = 1e-7


@lru_cache(maxsize=256)
def bounds(model: Model) -> Bounds:
    """Lower and upper bound, equations (27) and (26), on a rule along the spike doubled until they stay put.

    Raises ModelError for another loss than the square one: `numerics.bounds.of_model` takes any.
    """
    square_only(model, "the bound of equations (26) and (27)")
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
    estimate = moved + (table.unresolved + _ROUNDING) * square + _moved_by_the_map(model, now, refine, square)
    upper, lower = now
    # In exact arithmetic 0 <= lower <= upper.
    return Bounds(min(lower, upper), upper, estimate, bool(estimate <= _LIMIT * square), refine)


# Rounding of a residual of least squares, beside E[g^2].
_ROUNDING = 1e-15


def _moved_by_the_map(model: Model, now: tuple[float, float], refine: int, square: float) -> float:
    """How far the errors of a gradient step's averages move the bounds.

    Small ones and a network's count beside E[g^2], one for each of spike, bulk and alignment.
    """
    uncertain = relative_uncertainty(model)
    if uncertain <= SMALL or model.network_step is not None:
        return 3.0 * uncertain * square
    return sum(
        max(abs(_upper(other, refine) - now[0]), abs(_lower(other, refine) - now[1])) for other in neighbours(model)
    )


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
    left = left_over(table, functions, target)
    return float(left @ left)


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
        if errors[i] < errors[i - 1] and errors[i] <= errors[i + 1] and depth(errors, i) > noise:
            found.append(_golden_section(error, grid[i - 1], grid[i + 1], width))
    return tuple(found)


def polished_minima(
    error: Callable[[float], float], grid: Sequence[float], noise: float = 1e-14
) -> tuple[Minimum, ...]:
    """The same of an error that is smooth over a step of the grid, by one rule all along: places are those where the
    slope is zero, as far as two polynomials of different width agree on one.
    """
    spacing = min(b - a for a, b in pairwise(grid))
    return tuple(_polished(error, dip, spacing, (grid[0], grid[-1])) for dip in local_minima(error, grid, noise))


def depth(errors: Sequence[float], i: int) -> float:
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


def _polished(error: Callable[[float], float], found: Minimum, spacing: float, ends: tuple[float, float]) -> Minimum:
    """The minimum where the slopes of two polynomials through values beside it are zero; as found where they are not.

    At a minimum values are flat, and tell its place to the root of their rounding only; their differences from some
    distance tell it to the rounding over that distance.
    """
    wide, narrow = (_level(error, found, share * spacing, ends) for share in _SHARES)
    if wide is None or narrow is None or abs(wide - narrow) > _AGREE * spacing:
        return found
    best = error(narrow)
    return found if best > found.error + _ROUNDINGS * (1.0 + abs(found.error)) else Minimum(narrow, best)


def _level(error: Callable[[float], float], found: Minimum, step: float, ends: tuple[float, float]) -> float | None:
    """Where the polynomial of degree 6 through seven values is least, if within half a step of what was found."""
    if not ends[0] < found.at - 3.0 * step < found.at + 3.0 * step < ends[1]:
        return None
    places = np.arange(-3.0, 4.0)
    values = np.array([error(found.at + step * k) if k else found.error for k in places])
    slope = np.polynomial.Polynomial.fit(places, values - found.error, 6, domain=[-1.0, 1.0]).deriv()
    curvature, place = slope.deriv(), 0.0
    for _ in range(_TURNS):
        if not curvature(place) > 0.0 or abs(place) > 0.5:
            return None
        place -= float(slope(place) / curvature(place))
    return found.at + step * place


# The scan, beside the square of the features and of as much of it as the samples bring.
SMALLEST_RIDGE = 1e-6
LARGEST_RIDGE = 1e6
# Beyond this share of the largest ridge the error is its expansion at infinity.
_FAR = 1e-2
# Rounding of a test error, beside E[g^2] and the label noise.
_SHALLOW = 1e-14


def scanned_ridges(model: Model) -> tuple[float, float]:
    """The ends of a scan of the ridge: [1e-6, 1e6] and as much more, in powers of ten, as the size of the features and
    the number of samples ask for. A feature k times as large wants a ridge k^2 times as large.
    """
    table = profile(model, bounds(model).refine)
    bulks = np.array(model.bulks)[:, None]
    squares = (bulks * table.mu1**2 + table.mu2_squared) @ table.weights
    samples = max(1.0, model.alpha, model.alpha / model.beta)
    lowest, highest = float(np.min(squares)), float(np.max(squares)) * samples
    # An activation that vanishes has no scale, and ridges end where those of a model do.
    down = math.floor(min(0.0, math.log10(max(lowest, SMALLEST))))
    up = math.ceil(max(0.0, math.log10(max(highest, SMALLEST))))
    return max(SMALLEST_RIDGE * 10.0**down, SMALLEST), min(LARGEST_RIDGE * 10.0**up, LARGEST)


def shallow(model: Model) -> float:
    """Rounding of a test error: a dip that is not deeper is none."""
    table = profile(model, bounds(model).refine)
    return _SHALLOW * (float(table.weights @ (table.y0**2 + table.y1**2 + table.spread)) + model.noise)


def far_minimum(model: Model) -> tuple[float, tuple[Minimum, ...], float]:
    """The ridge beyond which the error is its expansion at infinite ridge (`numerics.bounds.infinite_ridge`), the
    minimum beyond if there is one, and how close to the limit an error is the limit.
    """
    found = bounds(model)
    table, coarser = profile(model, found.refine), profile(model, found.refine - 1)
    slope, far = slope_at_infinity(model, table, coarser), _FAR * scanned_ridges(model)[1]

    def error(log_ridge: float) -> float:
        return solve_on(table, model.changed(ridge=math.exp(log_ridge))).test_error

    # Without a slope the limit is a minimum of its own, and what is closer to it than rounding can tell is the limit.
    return far, _beyond(slope, found.upper, far, error), 10.0 * shallow(model) if slope == 0.0 else 0.0


def _beyond(slope: float, limit: float, far: float, error: Callable[[float], float]) -> tuple[Minimum, ...]:
    """The minimum that lies beyond a ridge `far`, if one does: of limit - slope e + bend e^2 + twist e^3, e = 1/ridge.

    What is left out is (far/largest)^2 of it, and less where the minimum is farther.
    """
    near, at = ((error(math.log(ridge)) - limit) * ridge**2 + slope * ridge for ridge in (far, 4.0 * far))
    twist = (near - at) * 4.0 * far / 3.0
    bend = at - twist / (4.0 * far)
    square = bend**2 + 3.0 * slope * twist
    if slope == 0.0 or bend <= 0.0 or square <= 0.0:
        return ()
    e = slope / (bend + math.sqrt(square))
    if not 1.0 / LARGEST <= e < 1.0 / far:
        return ()
    return (Minimum(1.0 / e, limit - e * (slope - e * (bend + e * twist))),)
