"""The spike and the learning rate of least upper and lower bound, and of least test error: by a scan, then certified.

Two kinds of certificate. Both bounds are enclosed with their slopes along the whole scan: a bracket with the least
value (`certificates.minima.optimum`). The test error at fixed ridge is a saddle point without slopes here: three of
its certificates, at the ends of a bracket and inside, with the least in the middle, show a minimum inside and no more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from giantsteps.derivations.activations.activation import Activation
from giantsteps.numerics.balls.arithmetic import BallError
from giantsteps.numerics.bounds.results import Bounds, Minimum
from giantsteps.numerics.bounds.ridge import bounds, local_minima
from giantsteps.numerics.certificates.certify import certify
from giantsteps.numerics.certificates.minima.bound_track import LOWER, UPPER, Track
from giantsteps.numerics.certificates.minima.optimum import Optimum, certify_minimum
from giantsteps.numerics.certificates.minima.spike_path import Path, along_rate, along_spike
from giantsteps.numerics.models.model import UNIFORM, Model, ReadoutGroup
from giantsteps.numerics.saddle_point.ridge import solve

# The certificates start at this share of the first point of the scan.
_START = 0.5
# The ends of the bracket of a test error are this share of the rate away: the dip is then about 1e-6 deep, far above
# the rounding of r, c and gamma in the three models (1e-15), which the certificates take as given.
_HALF_WIDTH = 1e-3
_LEAST_DEPTH = 1e-11
# A minimum found by golden sections is narrower than this share of the smallest parameter scanned.
_WIDTH = 1e-7


@dataclass(frozen=True)
class BestBound:
    """The least value of one bound on a scan of a parameter, every dip refined, and what of it is certain.

    at_edge: it was found at the last point of the scan. tried: the interval on which a certificate was tried.
    """

    at: float
    bound: float
    minima: tuple[Minimum, ...]
    certificate: Optimum
    at_edge: bool
    tried: tuple[float, float]


@dataclass(frozen=True)
class BestBounds:
    """Both bounds, each at its own best place."""

    upper: BestBound
    lower: BestBound


@dataclass(frozen=True)
class Dip:
    """Whether the test error has a local minimum inside `bracket`: certified, or by the error estimates of `solve`.

    Where it is not certified `status` says why; the bracket is nan where not even the estimates show a minimum.
    """

    certified: bool
    bracket: tuple[float, float]
    status: str

    @property
    def bracketed(self) -> bool:
        """Whether there is a bracket of either kind."""
        return not math.isnan(self.bracket[0])


NO_BRACKET = (math.nan, math.nan)


def best_bounds_rate(
    activation: Activation,
    target: Activation,
    *,
    alpha0: float,
    beta: float,
    noise: float = 0.0,
    groups: tuple[ReadoutGroup, ...] = UNIFORM,
    bulk_model: str = "network",
    gaussian_rows: bool = False,
    largest: float = 30.0,
    points: int = 61,
) -> BestBounds:
    """The learning rates eta in (0, largest] of least upper and least lower bound after the step of Result 3.1.

    Raises ModelError where the gradient-step map does not exist.
    """

    def at(eta: float) -> Bounds:
        model = Model.from_gradient_step(
            activation, target, alpha=1.0, beta=beta, ridge=1.0, alpha0=alpha0, eta=eta, noise=noise, readout=groups,
            bulk_model=bulk_model, gaussian_rows=gaussian_rows,
        )  # fmt: skip
        return bounds(model)

    def path() -> Path:
        unequal = bulk_model == "network" or gaussian_rows
        return along_rate(activation, target, alpha0=alpha0, beta=beta, noise=noise, groups=groups, unequal=unequal)

    return _best(at, path, largest, points)


def best_bounds_spike(model: Model, *, largest: float = 10.0, points: int = 61) -> BestBounds:
    """The spikes r in (0, largest] of least upper and least lower bound at fixed c and gamma, equations (28)-(31)."""
    return _best(lambda spike: bounds(model.changed(spike=spike)), lambda: along_spike(model), largest, points)


def _best(at: Callable[[float], Bounds], path: Callable[[], Path], largest: float, points: int) -> BestBounds:
    grid = [float(x) for x in np.linspace(0.0, largest, points)[1:]]
    start = _START * grid[0]
    known: dict[float, Bounds] = {}

    def bound(which: str, x: float) -> float:
        if x not in known:
            known[x] = at(x)
        return known[x].upper if which == UPPER else known[x].lower

    try:
        track: Track | str = Track(path(), Fraction(start), Fraction(largest))
    except BallError as reason:
        track = f"estimated: {reason}"

    def best(which: str) -> BestBound:
        # A bound of zero (perfect learning) is a dip as good as any: no depth is asked for.
        minima = local_minima(lambda x: bound(which, x), grid, noise=0.0, width=_WIDTH)
        ends = (Minimum(start, bound(which, start)), Minimum(largest, bound(which, largest)))
        least = min((*minima, *ends), key=lambda m: m.error)
        found = Optimum(track) if isinstance(track, str) else certify_minimum(track, which, least.at)
        return BestBound(least.at, least.error, minima, found, least.at == largest, (start, largest))

    return BestBounds(best(UPPER), best(LOWER))


def certified_dip(model: Callable[[float], Model], at: float) -> Dip:
    """Certificates of the test errors at `at` and a little to both sides, the least of them in the middle.

    A continuous function with f(a) > f(m) < f(b), a < m < b, has a local minimum inside. The models are those of the
    doubles at, at (1 +- 1e-3). Where there is no certificate the same is asked of the solutions and their error
    estimates.
    """
    bracket = (at * (1.0 - _HALF_WIDTH), at * (1.0 + _HALF_WIDTH))
    if not 0.0 < bracket[0] < bracket[1] < math.inf:
        return Dip(False, NO_BRACKET, "estimated: the least error was found at an end of the scan")
    places = (bracket[0], at, bracket[1])
    balls, refused = [], ""
    for x in places:
        one = certify(model(x))
        if one.balls is None:
            refused = one.status.removeprefix("not certified: ")
            break
        balls.append(one.balls.test_error)
    if refused:
        return _estimated_dip([model(x) for x in places], bracket, refused)
    if not _is_dip(balls):
        return Dip(False, NO_BRACKET, "estimated: the error at the ends of the bracket is not certainly larger")
    return Dip(True, bracket, "certified")


def _estimated_dip(models: Sequence[Model], bracket: tuple[float, float], refused: str) -> Dip:
    """The same from solutions in double precision: the dip has to be deeper than their error estimates together."""
    found = [solve(model) for model in models]
    errors, slack = [one.test_error for one in found], max(one.error_estimate for one in found)
    deep = min(errors[0], errors[2]) - errors[1] > 2.0 * slack and all(one.converged for one in found)
    return Dip(False, bracket if deep else NO_BRACKET, f"estimated: {refused}")


def _is_dip(errors: Sequence[object]) -> bool:
    left, middle, right = errors
    return bool(left - middle > _LEAST_DEPTH and right - middle > _LEAST_DEPTH)  # type: ignore[operator]
