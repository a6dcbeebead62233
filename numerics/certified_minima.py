"""The spike and the learning rate of least upper bound, and of least test error: found by a scan, then certified.

Two kinds of certificate. The upper bound has slopes in ball arithmetic: one minimum in a bracket, monotone on both
sides (`numerics.certify_optimum`). The test error at fixed ridge is a saddle point without slopes here: three of its
certificates, at the ends of a bracket and inside, with the least in the middle, show a minimum inside and no more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from derivations.activation import Activation
from numerics.balls import BallError
from numerics.bounds import Minimum, bounds, local_minima
from numerics.certify import certify
from numerics.certify_optimum import Optimum, Path, along_rate, along_spike, certify_minimum
from numerics.model import Model

# The slopes are swept this factor to both sides of the minimum, or to the ends of the scan.
_REACH = 4.0
# The ends of the bracket of a test error are this share of the rate away: the dip is then about 1e-6 deep, far above
# the rounding of r, c and gamma in the three models (1e-15), which the certificates take as given.
_HALF_WIDTH = 1e-3
_LEAST_DEPTH = 1e-11


@dataclass(frozen=True)
class BestBound:
    """The least upper bound on a scan of a parameter, every dip refined; `certificate` says what of it is certain."""

    at: float
    bound: float
    minima: tuple[Minimum, ...]
    certificate: Optimum


@dataclass(frozen=True)
class Dip:
    """Whether the test error has a certified local minimum inside `bracket`; where not, `status` says why."""

    certified: bool
    bracket: tuple[float, float]
    status: str


def best_bound_rate(
    activation: Activation,
    target: Activation,
    *,
    alpha0: float,
    beta: float,
    noise: float = 0.0,
    largest: float = 30.0,
    points: int = 61,
    reach: float = _REACH,
) -> BestBound:
    """The learning rate eta in (0, largest] of least upper bound, equation (26) after the step of Result 3.1.

    Raises ModelError where the gradient-step map does not exist.
    """

    def at(eta: float) -> float:
        model = Model.from_gradient_step(
            activation, target, alpha=1.0, beta=beta, ridge=1.0, alpha0=alpha0, eta=eta, noise=noise
        )
        return bounds(model).upper

    return _best(
        at, lambda: along_rate(activation, target, alpha0=alpha0, beta=beta, noise=noise), largest, points, reach
    )


def best_bound_spike(model: Model, *, largest: float = 10.0, points: int = 61, reach: float = _REACH) -> BestBound:
    """The spike r in (0, largest] of least upper bound at fixed c and gamma, equations (28)-(31)."""

    def path() -> Path:
        if len(model.groups) > 1 or model.rank > 1 or model.unequal_norms or any(model.biases):
            raise BallError("the optimum is certified for one group without bias, with rows of equal norm")
        return along_spike(model.activation, model.target, model.bulks[0], model.alignment)

    return _best(lambda spike: bounds(model.changed(spike=spike)).upper, path, largest, points, reach)


def _best(
    bound: Callable[[float], float], path: Callable[[], Path], largest: float, points: int, reach: float
) -> BestBound:
    grid = [float(x) for x in np.linspace(0.0, largest, points)[1:]]
    # A bound of zero (perfect learning) is a dip as good as any: no depth is asked for.
    minima = local_minima(bound, grid, noise=0.0)
    best = min((*minima, Minimum(grid[0], bound(grid[0])), Minimum(largest, bound(largest))), key=lambda m: m.error)
    low, high = max(grid[0], best.at / reach), min(largest, best.at * reach)
    try:
        found = certify_minimum(path(), best.at, low, high)
    except BallError as reason:
        found = Optimum(f"estimated: {reason}")
    return BestBound(float(best.at), best.error, minima, found)


def certified_dip(model: Callable[[float], Model], at: float) -> Dip:
    """Certificates of the test errors at `at` and a little to both sides, the least of them in the middle.

    A continuous function with f(a) > f(m) < f(b), a < m < b, has a local minimum inside. The models are those of the
    doubles at, at (1 +- 1e-3).
    """
    bracket = (at * (1.0 - _HALF_WIDTH), at * (1.0 + _HALF_WIDTH))
    if not 0.0 < bracket[0] < bracket[1] < math.inf:
        return Dip(False, bracket, "estimated: the least error was found at an end of the scan")
    left, middle, right = (certify(model(x)) for x in (bracket[0], at, bracket[1]))
    balls = [one.balls for one in (left, middle, right)]
    errors = [ball.test_error for ball in balls if ball is not None]
    if len(errors) < 3:
        refused = next(one.status for one in (left, middle, right) if not one.certified)
        return Dip(False, bracket, f"estimated: {refused}")
    if not _is_dip(errors):
        return Dip(False, bracket, "estimated: the error at the ends of the bracket is not certainly larger")
    return Dip(True, bracket, "certified")


def _is_dip(errors: Sequence[object]) -> bool:
    left, middle, right = errors
    return bool(left - middle > _LEAST_DEPTH and right - middle > _LEAST_DEPTH)  # type: ignore[operator]
