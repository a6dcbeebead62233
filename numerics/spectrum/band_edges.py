"""The bands of the spectrum and their edges: a scan of the axis for bands, each edge then solved for.

An edge is a point where z, as a function of g along the real branch outside the support, turns back: it is solved for
as such, to rounding, and not read off the density. No band is missed: the share of eigenvalues below a point, known
from the solution there, is the same at both ends of every stretch that is passed over as empty.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.spectrum.axis import Axis, SpectrumError
from giantsteps.numerics.spectrum.point import Equations, Solution

Complex = NDArray[np.complex128]

# Bands of less than this share of all eigenvalues are passed over.
LEAST_SHARE = 1e-9
_MOST_HALVINGS = 60
# Beside the largest point of the scan doubles do not tell such an edge from 0.
_NO_EDGE = 1e-16


@dataclass(frozen=True)
class Band:
    """One interval of the support, with the shares of eigenvalues below its ends.

    low, high: the ends of the integral. open_below, open_above: the support goes on there, to 0 or to infinity, with
    less than LEAST_SHARE of the eigenvalues above `high`.
    """

    low: float
    high: float
    below_low: float
    below_high: float
    open_below: bool = False
    open_above: bool = False

    @property
    def edges(self) -> tuple[float, float]:
        """The interval: 0 or infinity where it is open."""
        return 0.0 if self.open_below else self.low, math.inf if self.open_above else self.high


def bands(axis: Axis, grid: list[float], *, to_zero: bool, unbounded: bool) -> tuple[Band, ...]:
    """The bands between the ends of an increasing grid; known: lowest band from 0, uppermost without end."""
    points = {x: axis.inside(x) for x in reversed(grid)}
    if unbounded:
        # Where less than LEAST_SHARE is above, the density of the tail is under rounding, and Im g of either sign: that
        # it is no edge is known.
        tail = min((x for x in points if axis.below(x) > 1.0 - LEAST_SHARE), default=math.inf)
        points = {x: inside or x == tail for x, inside in points.items() if x <= tail}
    _look_between(axis, points)
    places = sorted(points)
    found: list[Band] = []
    start: tuple[float, float, bool] | None = None
    if points[places[0]]:
        start = places[0], axis.below(places[0]), True
    for low, up in pairwise(places):
        if points[low] == points[up]:
            continue
        edge, solved = edge_between(axis, low, up)
        if points[up]:
            touches_zero = to_zero or edge < _NO_EDGE * places[-1]
            start = edge, axis.below(low), touches_zero and not solved and not found
        else:
            assert start is not None
            found.append(Band(start[0], edge, start[1], axis.below(up), start[2], unbounded and not solved))
            start = None
    if start is not None:
        top = next(x for x in places if (x >= start[0] and axis.below(x) > 1.0 - LEAST_SHARE) or x == places[-1])
        found.append(Band(start[0], top, start[1], axis.below(top), open_below=start[2], open_above=True))
    seen = [band for band in found if band.below_high - band.below_low > LEAST_SHARE]
    # A density under rounding inside of the support is a gap to the scan, without edges: the last band alone is open.
    return (*(replace(band, open_above=False) for band in seen[:-1]), *seen[-1:])


def _look_between(axis: Axis, points: dict[float, bool]) -> None:
    """Add a point of every band that lies between two neighbours outside the support."""
    pending = list(pairwise(sorted(points)))
    for _ in range(50 * len(points)):
        if not pending:
            return
        low, up = pending.pop()
        if points[low] or points[up] or axis.below(up) - axis.below(low) <= LEAST_SHARE or up < low * (1.0 + 1e-12):
            continue
        middle = math.sqrt(low * up)
        points[middle] = axis.inside(middle)
        pending += [(low, middle), (middle, up)]


def edge_between(axis: Axis, low: float, up: float) -> tuple[float, bool]:
    """The edge between two points, one of them inside, and whether it was solved for: a tail that comes under rounding
    has none."""
    low_inside = axis.inside(low)
    inner, outer = (low, up) if low_inside else (up, low)
    for _ in range(_MOST_HALVINGS):
        found = _turning_point(axis.equations, axis.at(outer), inner)
        if found is not None:
            return float(found), True
        # No turning point in sight: come closer.
        if abs(inner - outer) < 1e-10 * abs(outer):
            break
        middle = math.sqrt(inner * outer)
        try:
            inside = axis.inside(middle)
        except SpectrumError:  # under rounding no edge is to be seen; the integral over the band tells what is lost
            break
        if inside:
            inner = middle
        else:
            outer = middle
    return inner, False


def _turning_point(equations: Equations, point: Solution, inner: float) -> float | None:
    """Where dz/dg = 0 along the real branch through a point, between it and inner; None where it is not met.

    The branch is followed in s = sum_a tau_a, in which it is smooth through the edge.
    """
    k, z = equations.groups, point.z.real
    x: Complex = point.values.real.astype(complex)
    s = float(np.sum(x[-k:]).real)
    found = _on_branch(equations, x, z, s)
    if found is None:
        return None
    x, z, slope = found
    # Towards the edge z moves to inner, and dz/ds > 0 outside the support.
    direction = math.copysign(1.0, inner - z)
    step = 0.25 * abs(inner - z) / abs(slope) if slope else 0.05 * abs(s)
    step = min(step, 0.1 * abs(s))
    before = (s, slope)
    for _ in range(60):
        found = _on_branch(equations, x, z, s + direction * step)
        if found is None or not min(z, inner) - 1e-9 * abs(z) <= found[1] <= max(z, inner) * (1.0 + 1e-9):
            step *= 0.5
            if step < 1e-13 * abs(s):
                return None
            continue
        x, z, slope = found
        s += direction * step
        if slope <= 0.0:
            return _slope_root(equations, x, z, before, (s, slope))
        before = (s, slope)
        step *= 1.5
    return None


def _slope_root(
    equations: Equations, x: Complex, z: float, outside: tuple[float, float], beyond: tuple[float, float]
) -> float | None:
    """z where the slope vanishes, by the Illinois form of false position."""
    (a, fa), (b, fb) = outside, beyond
    for _ in range(100):
        s = b - fb * (b - a) / (fb - fa)
        found = _on_branch(equations, x, z, s)
        if found is None:
            return None
        x, z, slope = found
        if slope * fb <= 0.0:
            a, fa = b, fb
        else:
            fa *= 0.5
        b, fb = s, slope
        # z is flat here: half of the digits of s are all of those of z.
        if abs(b - a) < 1e-10 * abs(b) or slope == 0.0:
            break
    return z


def _on_branch(equations: Equations, x: Complex, z: float, s: float) -> tuple[Complex, float, float] | None:
    """(x, z, dz/ds) on the real branch where sum_a tau_a = s, by Newton's method on the bordered system."""
    k, size = equations.groups, len(x)
    table = equations.table(x)
    if not _regular(equations, x):
        return None
    previous = math.inf
    for _ in range(30):
        value, jacobian = equations.evaluate(table, x, complex(z))
        system = np.zeros((size + 1, size + 1))
        system[:size, :size] = jacobian.real
        system[:size, size] = equations.along_z(x, complex(z)).real
        system[size, size - k : size] = 1.0
        right = np.append(value.real, np.sum(x[-k:]).real - s)
        unit = np.zeros(size + 1)
        unit[-1] = 1.0
        try:
            moves = np.linalg.solve(system, np.stack([right, unit], axis=1))
        except np.linalg.LinAlgError:
            return None
        x, z = x - moves[:size, 0], z - moves[size, 0]
        change = float(max(np.max(np.abs(moves[:size, 0])) / np.max(np.abs(x)), abs(moves[size, 0]) / abs(z)))
        if not math.isfinite(change) or not _regular(equations, x):
            return None
        if change < 1e-14 or (change < 1e-11 and change >= previous):
            return x, z, float(moves[size, 1])
        previous = change
    return None


def _regular(equations: Equations, x: Complex) -> bool:
    """Whether 1 + V has no zero along the spike: below a support without its zeros it may be negative throughout."""
    one = equations.one(equations.coarse, x).real
    return bool(np.min(one) > 0.0 or np.max(one) < 0.0)
