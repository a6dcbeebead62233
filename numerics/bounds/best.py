"""The learning rate, ridge or spike of least test error: a scan, and its dips refined by gradients.

The scan has the product of one grid a number. Every point that is no higher than its neighbours begins a search by
SciPy's L-BFGS-B, with the derivatives of `numerics.saddle_point.gradient`, in the logarithm of the ridge, since the
error varies over powers of ten there. The search ends where the slopes are as small as their errors, so that the place
is known to about that over the curvature.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.accepts import accepts
from giantsteps.numerics.bounds.of_model import bounds
from giantsteps.numerics.models.documents import WIDTH, at_width_json, finite
from giantsteps.numerics.models.given import model_of, within_reach
from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.models.notebook import Shown
from giantsteps.numerics.models.solution import Derivative, Solution
from giantsteps.numerics.saddle_point.solve import solve

Array = NDArray[np.float64]
Point = dict[str, float]

# What is scanned of each number unless it is said: with one number alone, and with others.
_EVEN = {"eta": (30.0, 61, 16), "spike": (10.0, 41, 16)}
_RIDGES = (1e-6, 1e6, 37, 13)
_MOST_DIPS = 4
# A dip that is less deep, beside 1 + its error, is rounding.
_SHALLOW = 1e-14


@dataclass(frozen=True)
class Best(Shown):
    """The least test error over some numbers of a model.

    A local minimum in double precision: nothing certifies that a scan saw every dip.

    values: the numbers where it is; the ridge may be infinite (no ridge does better than the upper bound).
    test_error: the least one.
    error_estimate: that of the solution there.
    converged: whether there is a solution there.
    at_end: the numbers that are at an end of the scan, beyond which the error may be less.
    scanned: the ends of the scan of each number.
    minima: every minimum found inside the scan, with its test error.
    gradient: the slopes that are left; none where there is no derivative.
    model: the model there; None at infinite ridge.
    solution: the solution there; None at infinite ridge.

    >>> best = giantsteps.best(model, over="ridge")
    >>> best.values["ridge"], best.at_end
    (0.15200..., ())
    """

    values: Point
    test_error: float
    error_estimate: float
    converged: bool
    at_end: tuple[str, ...]
    scanned: dict[str, tuple[float, float]]
    minima: tuple[tuple[Point, float], ...]
    gradient: dict[str, Derivative]
    model: Model | None
    solution: Solution | None

    def at_width(self, width: float = WIDTH) -> Solution:
        """The solution there at a finite width. Raises ModelError at infinite ridge."""
        if self.solution is None:
            raise ModelError("at infinite ridge a readout of finite width vanishes")
        return self.solution.at_width(width)

    def to_dict(self, width: int = WIDTH) -> dict[str, Any]:
        """As plain data for JSON, with the errors at the width."""
        numbers = {**self.values, "test_error": self.test_error, "error_estimate": self.error_estimate}
        document = dict(finite(numbers, "no ridge does better than the limit of infinite ridge"))
        document |= {
            "converged": self.converged,
            "at_end": list(self.at_end),
            "minima": [{**place, "test_error": error} for place, error in self.minima],
            "gradient": {name: one._asdict() for name, one in self.gradient.items()},
        }
        return document | at_width_json(width, self.converged, lambda: self.at_width(width))

    def _columns(self) -> dict[str, list[Any]]:
        numbers = {"test_error": self.test_error, "error_estimate": self.error_estimate, "converged": self.converged}
        return {name: [value] for name, value in {**self.values, **numbers}.items()}


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

    The ridge is scanned from 1e-6 to 1e6 and compared with the limit of infinite ridge. Raises ModelError for a number
    that the model does not have, and where steps have rates of their own.

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
    search = _Search(model, over, [_grid(name, len(over) > 1, largest, points) for name in over])
    return search.found()


def check_rate(model: Model) -> None:
    """Raises ModelError where steps have rates of their own."""
    if model.step is not None and isinstance(model.step.eta, tuple):
        raise ModelError("the best eta is sought as one rate for all steps: give one number, for example eta=3")


def _grid(name: str, several: bool, largest: float | None, points: int | None) -> Array:
    """The scan of a number in the coordinate in which it is sought: the logarithm of the ridge."""
    if name == "ridge":
        low, high, alone, beside = _RIDGES
        return np.linspace(math.log(low), math.log(high), beside if several else alone)
    most, alone, beside = _EVEN[name]
    return np.linspace(0.0, most if largest is None else largest, points or (beside if several else alone))


def _first(grid: Array) -> float:
    """Where the search begins on a scan from 0, at which there is no derivative; elsewhere the beginning."""
    return float(grid[0] or 1e-3 * grid[1])


@dataclass(frozen=True)
class _Search:
    """A scan of a model over numbers, one grid each."""

    model: Model
    over: Sequence[str]
    grids: list[Array]

    def _place(self, at: Sequence[float] | Array) -> Point:
        pairs = zip(self.over, at, strict=True)
        return {name: math.exp(x) if name == "ridge" else float(x) for name, x in pairs}

    def _solution(self, at: Sequence[float] | Array) -> Solution | None:
        try:
            found = solve(self.model.changed(**self._place(at)))
        except ModelError:
            return None
        return found if found.converged else None

    def _error(self, at: Sequence[float] | Array) -> float:
        found = self._solution(at)
        return math.inf if found is None else found.test_error

    def _sloped(self, at: Array) -> tuple[float, Array]:
        """The test error and its slopes in the coordinates; a wall where there is no solution."""
        found = self._solution(at)
        if found is None:
            return math.inf, np.zeros(len(at))
        slopes, place = found.gradient(*self.over), self._place(at)
        inner = {"ridge": place.get("ridge", 1.0)}
        return found.test_error, np.array([slopes[name].value * inner.get(name, 1.0) for name in self.over])

    def _dips(self, errors: Array) -> list[tuple[int, ...]]:
        """Places inside the grids that no neighbour is below and one is above, the lowest first."""
        around = list(itertools.product((-1, 0, 1), repeat=errors.ndim))
        inside = itertools.product(*(range(1, size - 1) for size in errors.shape))

        def dip(at: tuple[int, ...]) -> bool:
            near = np.array([errors[tuple(np.add(at, step))] for step in around])
            deep = near.max() - errors[at] > _SHALLOW * (1.0 + abs(errors[at]))
            return bool(np.isfinite(errors[at]) and near.min() >= errors[at] and deep)

        return sorted((at for at in inside if dip(at)), key=lambda at: float(errors[at]))[:_MOST_DIPS]

    def _refined(self, at: tuple[int, ...]) -> tuple[Array, float, bool]:
        """Place and value of the minimum beside a place of the scan, and whether it is inside where it was sought: of
        one number between the neighbours of the place, of several on the whole scan.
        """
        from scipy.optimize import minimize

        start = [float(grid[k]) for grid, k in zip(self.grids, at, strict=True)]
        ends = [(max(k - 1, 0), k + 1) if len(at) == 1 else (0, -1) for k in at]
        box = [(float(grid[a]) or _first(grid), float(grid[b])) for grid, (a, b) in zip(self.grids, ends, strict=True)]
        end = {"ftol": 0.0, "gtol": 1e-10, "maxiter": 60}
        found = minimize(self._sloped, start, jac=True, bounds=box, method="L-BFGS-B", options=end)
        inside = all(low < x < high for (low, high), x in zip(box, found.x, strict=True))
        return np.asarray(found.x), float(found.fun), inside

    def found(self) -> Best:
        """The least of all minima, of the ends of the scan and of infinite ridge."""
        shape = tuple(map(len, self.grids))
        errors = np.array([self._error(at) for at in itertools.product(*self.grids)]).reshape(shape)
        # A test error that rises from 0 on may have a minimum before the first place of the scan.
        rising = [(0,)] if errors.ndim == 1 and self.grids[0][0] == 0.0 and errors[0] <= errors[1] else []
        refined = [self._refined(at) for at in (*self._dips(errors), *rising)]
        least = np.unravel_index(int(np.argmin(errors)), shape)
        scanned = np.array([grid[k] for grid, k in zip(self.grids, least, strict=True)]), float(errors[least]), False
        at, error, _ = min((*refined, scanned), key=lambda candidate: candidate[1])
        solution, values = self._solution(at), self._place(at)
        placed = zip(self.over, self.grids, at, strict=True)
        ends = [name for name, grid, x in placed if x in (grid[0], _first(grid), grid[-1])]
        # Of several numbers two searches may end in one minimum.
        minima = {tuple(np.round(x, 5)): (self._place(x), low) for x, low, inside in refined if inside}
        listed = tuple(minima.values())
        low, high = (self._place([grid[k] for grid in self.grids]) for k in (0, -1))
        ranges = {name: (low[name], high[name]) for name in self.over}
        if "ridge" in self.over and solution is not None:
            limit = bounds(solution.model)
            if limit.upper <= error:
                at_infinity, ends = values | {"ridge": math.inf}, [name for name in ends if name != "ridge"]
                estimate, converged = limit.error_estimate, limit.converged
                return Best(at_infinity, limit.upper, estimate, converged, tuple(ends), ranges, listed, {}, None, None)
        if solution is None:
            return Best(values, error, math.inf, False, tuple(ends), ranges, listed, {}, None, None)
        try:
            slopes = solution.gradient(*self.over)
        except ModelError:
            slopes = {}
        return Best(
            values, solution.test_error, solution.error_estimate, True, tuple(ends), ranges, listed, slopes,
            solution.model, solution,
        )  # fmt: skip
