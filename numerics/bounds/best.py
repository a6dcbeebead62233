"""The learning rate, ridge or spike of least test error: a scan, and its dips refined by gradients.

The scan has the product of one grid a number. Every point that is no higher than its neighbours begins a search with
the derivatives of `numerics.saddle_point.gradient`, in the logarithm of the ridge, since the error varies over powers
of ten there. Of one number it ends at the root of the slope (SciPy's brentq), of several where the slopes are as small
as their errors (L-BFGS-B), so that the place is known to about that over the curvature.

The ridge alone is scanned in six points a decade, over [1e-6, 1e6] and as much more as the size of the features asks
for, and the error is followed to infinite ridge (`numerics.bounds.infinite_ridge`). With another loss, whose solutions
take longer, it is scanned in one point a decade from ridge 1 both ways, as far as the solver converges, and no further
down than to the second loss in a row above the limit.
"""

from __future__ import annotations

import itertools
import math
from bisect import insort
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import cast

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.accepts import accepts
from giantsteps.numerics.bounds import ridge
from giantsteps.numerics.bounds.results import Best, Bounds, Point
from giantsteps.numerics.models.given import model_of, within_reach
from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.models.solution import Solution
from giantsteps.numerics.saddle_point.solve import solve

Array = NDArray[np.float64]

# What is scanned of each number unless it is said: the end, and the points with one number alone, and with others (of
# the ridge one a decade).
_EVEN = {"eta": (30.0, 61, 16), "spike": (10.0, 41, 16)}
_RIDGES, _POINTS_A_DECADE = (ridge.SMALLEST_RIDGE, ridge.LARGEST_RIDGE), 6
# Of the ridge with another loss: the ends, one point a decade, and where a dip beside an end of what converges is
# looked for, as a share of the way to the next place.
SMALLEST_RIDGE, LARGEST_RIDGE, RIDGES = 1e-3, 1e3, 7
_BESIDE = 0.1
_MOST_DIPS = 4
# A dip that is less deep, beside 1 + its error, is rounding (with the square loss), or what iterations leave.
_SHALLOW = {True: 1e-14, False: 1e-9}
# A root of the slope is bracketed to this width: the slope itself is known to no more.
_CLOSE = 1e-9


def _names(over: object) -> tuple[str, ...]:
    names = (over,) if isinstance(over, str) else tuple(over) if isinstance(over, Iterable) else ()
    if not names or len(set(names)) < len(names) or not {"eta", "spike", "ridge"}.issuperset(names):
        raise ModelError(
            f'over = {over!r} is not accepted: eta, spike and ridge are, for example over=("eta", "ridge")'
        )
    return cast("tuple[str, ...]", names)


@accepts(model=model_of, over=_names)
@within_reach
def best(
    model: Model,
    over: Sequence[str],
    *,
    largest: float | None = None,
    points: int | None = None,
) -> Best:
    """The numbers `over` of least test error, the others as in the model: eta or spike, ridge, or both.

    The ridge is scanned over powers of ten and compared with the limit of infinite ridge. Raises ModelError for a
    number that the model does not have, and where steps have rates of their own.

    model: the problem; its own values of the numbers play no part.
    over: one or several of eta, spike and ridge.
    largest: the end of the scan of eta (30) or of the spike (10), which begins at 0.
    points: the places of that scan.

    >>> found = giantsteps.best(trained, over=("eta", "ridge"))
    >>> found.values["eta"], found.at_width(500).test_error
    (2.3085..., 0.13089...)
    """
    for name in over:
        if name == "eta":
            check_rate(model)
        model.changed(**{name: 1.0})  # that it has one
    return _Search(model, over, largest, points).found()


def check_rate(model: Model) -> None:
    """Raises ModelError where steps have rates of their own."""
    if model.step is not None and isinstance(model.step.eta, tuple):
        raise ModelError("the best eta is sought as one rate for all steps: give one number, for example eta=3")


def limits(model: Model) -> Bounds:
    """Both bounds, for the model's own loss."""
    if model.loss.name == "square":
        return ridge.bounds(model)
    from giantsteps.numerics.bounds import any_loss  # the square loss does not wait for the others

    return any_loss.loss_bounds(model)


# Coordinates, the error there, and whether it is inside the scan.
_Minimum = tuple[Array, float, bool]
_NOWHERE: _Minimum = (np.array([math.inf]), math.inf, False)


@dataclass(frozen=True)
class _Search:
    """A scan of a model over numbers, one grid each, and what was solved so far."""

    model: Model
    over: Sequence[str]
    largest: float | None
    points: int | None
    known: dict[tuple[float, ...], Solution | None] = field(default_factory=dict)

    @property
    def square(self) -> bool:
        """Whether the loss is the square one."""
        return self.model.loss.name == "square"

    def _grid(self, name: str) -> Array:
        """The scan of a number in the coordinate in which it is sought: the logarithm of the ridge."""
        several = len(self.over) > 1
        if name != "ridge":
            most, alone, beside = _EVEN[name]
            largest = most if self.largest is None else self.largest
            return np.linspace(0.0, largest, self.points or (beside if several else alone))
        if not several and not self.square:
            return self._converging()
        low, high = _RIDGES if several else ridge.scanned_ridges(self.model)
        decades = round(math.log10(high / low))
        return np.linspace(math.log(low), math.log(high), 1 + decades * (1 if several else _POINTS_A_DECADE))

    def _converging(self) -> Array:
        """The ridges of the scan for another loss at which it converges."""
        limit, middle = limits(self.model).upper, RIDGES // 2
        grid = np.linspace(math.log(SMALLEST_RIDGE), math.log(LARGEST_RIDGE), RIDGES).tolist()
        below: list[float] = []
        for x in reversed(grid[:middle]):
            if math.isinf(self._error([x])):
                break
            below.append(x)
            if len(below) > 1 and min(self._error([x]) for x in below[-2:]) > limit:
                break
        above = itertools.takewhile(lambda x: math.isfinite(self._error([x])), grid[middle:])
        kept = [*reversed(below), *above]
        for end, beside in (kept[:2], kept[:-3:-1]) if len(kept) > 1 else ():
            # A loss that falls from an end of the scan, and is least there among its places, has a dip beside it.
            if self._error([end]) < self._error([beside]):
                insort(kept, end + _BESIDE * (beside - end))
        return np.array(kept)

    def _place(self, at: Sequence[float] | Array) -> Point:
        pairs = zip(self.over, at, strict=True)
        return {name: math.exp(x) if name == "ridge" else float(x) for name, x in pairs}

    def _solution(self, at: Sequence[float] | Array) -> Solution | None:
        key = tuple(map(float, at))
        if key not in self.known:
            try:
                found = solve(self.model.changed(**self._place(at)))
            except ModelError:
                found = None
            self.known[key] = found if found is not None and found.converged else None
        return self.known[key]

    def _error(self, at: Sequence[float] | Array) -> float:
        found = self._solution(at)
        return math.inf if found is None else found.test_error

    def _sloped(self, at: Sequence[float] | Array) -> tuple[float, Array]:
        """The test error and its slopes in the coordinates; a wall where there is no solution."""
        found, place = self._solution(at), self._place(at)
        if found is None:
            return math.inf, np.zeros(len(at))
        slopes, inner = found.gradient(*self.over), {"ridge": place.get("ridge", 1.0)}
        return found.test_error, np.array([slopes[name].value * inner.get(name, 1.0) for name in self.over])

    def _slope(self, x: float) -> float:
        """The slope in the one number that is sought; zero where there is none."""
        try:
            return float(self._sloped([x])[1][0])
        except ModelError:
            return 0.0

    def _dips(self, errors: Array) -> list[tuple[int, ...]]:
        """Places inside the grids that no neighbour is below and one is above, the lowest first."""
        around = list(itertools.product((-1, 0, 1), repeat=errors.ndim))
        inside = itertools.product(*(range(1, size - 1) for size in errors.shape))
        alone = self.square and tuple(self.over) == ("ridge",)

        def dip(at: tuple[int, ...]) -> bool:
            near = np.array([errors[tuple(np.add(at, step))] for step in around])
            deep = ridge.depth(errors.tolist(), at[0]) if errors.ndim == 1 else near.max() - errors[at]
            shallow = ridge.shallow(self.model) if alone else _SHALLOW[self.square] * (1.0 + abs(errors[at]))
            return bool(np.isfinite(errors[at]) and near.min() >= errors[at] and deep > shallow)

        return sorted((at for at in inside if dip(at)), key=lambda at: float(errors[at]))[:_MOST_DIPS]

    def _refined(self, grids: Sequence[Array], at: tuple[int, ...]) -> _Minimum:
        """The minimum beside a place of the scan: of one number between the neighbours of the place, of several on the
        whole scan.
        """
        from scipy.optimize import brentq, minimize, minimize_scalar

        ends = [(max(k - 1, 0), k + 1) if len(at) == 1 else (0, -1) for k in at]
        box = [(float(grid[a]) or _first(grid), float(grid[b])) for grid, (a, b) in zip(grids, ends, strict=True)]
        if len(at) == 1:
            (low, high), slope = box[0], cache(self._slope)
            if slope(low) < 0.0 < slope(high):
                x = float(brentq(slope, low, high, xtol=_CLOSE))
            else:
                x = float(minimize_scalar(lambda x: self._error([x]), bounds=box[0], method="bounded").x)
            candidates = [(np.array([x]), self._error([x]), low < x < high) for x in (x, low, high)]
            return min(candidates, key=lambda candidate: candidate[1])
        start = [float(grid[k]) for grid, k in zip(grids, at, strict=True)]
        end = {"ftol": 0.0, "gtol": 1e-10, "maxiter": 60}
        found = minimize(self._sloped, start, jac=True, bounds=box, method="L-BFGS-B", options=end)
        inside = all(low < x < high for (low, high), x in zip(box, found.x, strict=True))
        return np.asarray(found.x), float(found.fun), inside

    def _minima(self, grids: Sequence[Array]) -> list[_Minimum]:
        """The refined dips of the scan, and its least point; nothing where there is no solution."""
        errors = np.array([self._error(at) for at in itertools.product(*grids)]).reshape(tuple(map(len, grids)))
        if not errors.size:
            return []
        # A test error that rises from 0 on may have a minimum before the first place of the scan.
        rising = [(0,)] if errors.ndim == 1 and grids[0][0] == 0.0 and errors[0] <= errors[1] else []
        refined = [self._refined(grids, at) for at in (*self._dips(errors), *rising)]
        least = np.unravel_index(int(np.argmin(errors)), errors.shape)
        if refined and all(0 < k < size - 1 for k, size in zip(least, errors.shape, strict=True)):
            return refined
        place = np.array([grid[k] for grid, k in zip(grids, least, strict=True)])
        return [*refined, (place, float(errors[least]), False)]

    def found(self) -> Best:
        """The least of all minima, of the ends of the scan and of infinite ridge."""
        grids = [self._grid(name) for name in self.over]
        scanned, minima = set(self.known), self._minima(grids)
        alone, close = tuple(self.over) == ("ridge",), 0.0
        beyond: list[_Minimum] = []
        if alone and self.square:
            far, found, close = ridge.far_minimum(self.model)
            beyond = [(np.array([math.log(one.at)]), one.error, True) for one in found]
            # What still falls at the largest ridge falls to a minimum beyond or to the limit.
            kept = [one for one in minima if one[0][0] < (math.log(far) if beyond else grids[0][-1])]
            minima = [*kept, *beyond]
        at, error, _ = min(minima, key=lambda one: one[1], default=_NOWHERE)
        limit, converged = None, True
        if "ridge" in self.over:
            there = self._solution(at)
            limit = limits(self.model if there is None else there.model)
            converged = limit.converged and len(grids[0]) > 0
            close = close if self.square else _SHALLOW[False] * (1.0 + limit.upper)
            better = error < limit.upper - close
            if not better and beyond:
                at, error, _ = beyond[0]
            limit = None if better or beyond else limit
        solution = self._solution(at) if limit is None else None
        values, estimate, slopes = self._place(at), math.inf, {}
        placed = zip(self.over, grids, at, strict=True)
        ends = [name for name, grid, x in placed if len(grid) and x in (grid[0], _first(grid), grid[-1])]
        if limit is not None:
            values["ridge"], error, estimate = math.inf, limit.upper, limit.error_estimate
            ends = [name for name in ends if name != "ridge"]
        elif solution is not None:
            error, estimate = solution.test_error, solution.error_estimate
            with suppress(ModelError):
                slopes = solution.gradient(*self.over)
        if alone and not self.square:
            missed = any(one is None for key, one in self.known.items() if key not in scanned)
            converged = converged and not missed and (not ends or at[0] == math.log(SMALLEST_RIDGE))
        # Of several numbers two searches may end in one minimum.
        listed = {tuple(np.round(x, 5)): (self._place(x), low) for x, low, inside in minima if inside}
        ranges = {name: _ends(name, grid) for name, grid in zip(self.over, grids, strict=True)}
        sorted_minima = tuple(listed[key] for key in sorted(listed))
        model, solved = (None, limit is not None) if solution is None else (solution.model, True)
        converged = bool(converged and solved)
        return Best(values, error, estimate, converged, tuple(ends), ranges, sorted_minima, slopes, model, solution)


def _ends(name: str, grid: Array) -> tuple[float, float]:
    """The ends of a scan; infinite where nothing could be scanned."""
    if not len(grid):
        return math.inf, math.inf
    low, high = (float(x) for x in (grid[0], grid[-1]))
    return (math.exp(low), math.exp(high)) if name == "ridge" else (low, high)


def _first(grid: Array) -> float:
    """Where the search begins on a scan from 0, at which there is no derivative; elsewhere the beginning."""
    return float(grid[0] or 1e-3 * grid[1])
