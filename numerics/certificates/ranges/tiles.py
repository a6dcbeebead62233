"""The ridge saddle point over many tiles of (alpha, ridge) at once, in intervals of double precision.

With spike, bulk and alignment given, the functions along the spike are the same for all of a plane of alpha and ridge.
For every tile Krawczyk's test with two parameters (`certificates.newton`) shows that a box holds one (T, tau) for each
of its points, the only one by `certify.ONLY`; slopes by the implicit function theorem and the mean value theorem at
every operation (`varying`) then give the test error over the tile.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.certificates.ranges.intervals import Array, Intervals
from giantsteps.numerics.certificates.ranges.moments import FEATURES, Moments
from giantsteps.numerics.certificates.ranges.varying import Tiles, Varying, solve_two

Flags = NDArray[np.bool_]

_BOXES = 3
_REFINEMENTS = 3
# Of the box beyond what the slopes in the middle say, and a share of (T, tau) that is far above rounding.
_ROOM, _LEAST = 1.4, 1e-7

Pair = tuple[Intervals, Intervals]
Matrix = tuple[Pair, Pair]


@dataclass(frozen=True)
class Constants:
    """What the points of a plane share: the bulk c as an interval, and the doubles beta and noise."""

    bulk: Intervals
    beta: float
    noise: float


@dataclass(frozen=True)
class Plane:
    """P tiles: the middles of alpha and ridge, and both over the tile, (P,)."""

    alpha: Array
    ridge: Array
    alphas: Intervals
    ridges: Intervals

    @classmethod
    def between(cls, low: tuple[Array, Array], high: tuple[Array, Array]) -> Plane:
        """From the lower left to the upper right corners."""
        alphas, ridges = (Intervals.between(a, b) for a, b in zip(low, high, strict=True))
        return cls(np.asarray(alphas.mid), np.asarray(ridges.mid), alphas, ridges)

    @property
    def tiles(self) -> Tiles:
        """The offsets from the middles: both lie between -rad and rad of the interval."""
        rads = np.stack([self.alphas.rad, self.ridges.rad])
        return Tiles(Intervals(np.zeros_like(rads), rads))


@dataclass(frozen=True)
class Solved:
    """(T, tau) on every tile: the boxes that passed, and where they did; numbers where they did not mean nothing."""

    boxes: Pair
    passed: Flags
    pair: tuple[Varying, Varying]
    middle: Pair


def solved(plane: Plane, numbers: Constants, moments: Moments, near: tuple[Array, Array]) -> Solved:
    """Boxes of (T, tau) around `near`, solutions in double precision at the middles."""
    at = _Equations(plane, numbers, moments)
    start = Intervals(near[0]), Intervals(near[1])
    slopes = at.moves(start)
    rads = plane.tiles.offsets.rad
    box = [
        Intervals(x, _ROOM * np.sum(np.abs(row.mid) * rads, axis=0) + _LEAST * x)
        for x, row in zip(near, slopes, strict=True)
    ]
    passed = np.zeros(len(near[0]), dtype=bool)
    kept: Pair = (box[0], box[1])
    for _ in range(_BOXES):
        image, shrinks = at.image(kept)
        inside = image[0].inside(kept[0]) & image[1].inside(kept[1]) & shrinks
        positive = (kept[0].lower > 0.0) & (kept[1].lower > 0.0)
        passed = inside & positive
        if passed.all():
            break
        kept = _wider(kept, image, passed)
    over = kept
    for _ in range(_REFINEMENTS):
        over = _both(at.image(over)[0], over)
    middle = over
    for _ in range(_REFINEMENTS):
        middle = _both(at.image(middle, moving=False)[0], middle)
    T, tau = at.moves(over)
    tiles = plane.tiles
    pair = tiles.around(middle[0], T, over[0]), tiles.around(middle[1], tau, over[1])
    return Solved(kept, passed, pair, middle)


def _both(a: Pair, b: Pair) -> Pair:
    return a[0].within(b[0]), a[1].within(b[1])


def _wider(box: Pair, image: Pair, passed: Flags) -> Pair:
    """Where the test failed, a box around box and image; the middle stays."""
    found = []
    for x, y in zip(box, image, strict=True):
        reach = 1.2 * np.maximum(np.abs(y.lower - x.mid), np.abs(y.upper - x.mid))
        found.append(Intervals(x.mid, np.where(passed, x.rad, np.maximum(x.rad, reach))))
    return found[0], found[1]


class _Equations:
    """h1 = (ridge + D) tau + C T - 1 and h2 = T + c beta C T tau - c tau of `certificates.saddle_point`."""

    def __init__(self, plane: Plane, numbers: Constants, moments: Moments) -> None:
        self._plane, self._numbers, self._moments = plane, numbers, moments

    def _averages(self, box: Pair) -> tuple[Pair, tuple[Intervals, Intervals, Intervals]]:
        """E[f w]/beta of both features, and the three E[f f' w^2]/beta."""
        w = self._moments.weights(*box)
        first, second = self._moments.of_order(1, w, 2), self._moments.of_order(2, w * w, 3)
        share = 1.0 / Intervals(self._numbers.beta)
        p, q = (first[name] * share for name in FEATURES)
        pp, pq, qq = (second[name] * share for name in ("pp", "pq", "qq"))
        return (p, q), (pp, pq, qq)

    def _slopes(self, box: Pair, alpha: Intervals, ridge: Intervals) -> tuple[Matrix, Pair]:
        """d(h1, h2)/d(T, tau) as rows, and d(h1, h2)/d alpha; those along the ridge are (tau, 0)."""
        (T, tau), ((p, q), (pp, pq, qq)) = box, self._averages(box)
        c, beta = self._numbers.bulk, self._numbers.beta
        C, D = alpha * p, alpha * q
        C_T, C_tau, D_tau = -(alpha * pp), -(alpha * pq), -(alpha * qq)
        coupled = c * beta
        rows = (
            (C_tau * tau + C_T * T + C, ridge + D + D_tau * tau + C_tau * T),
            (1.0 + coupled * tau * (C + T * C_T), coupled * T * (C + tau * C_tau) - c),
        )
        return rows, (q * tau + p * T, coupled * p * T * tau)

    def image(self, box: Pair, moving: bool = True) -> tuple[Pair, Flags]:
        """K(box), for all of the tile or its middle alone, and whether 1 - Y J contracts."""
        plane = self._plane
        alpha, ridge = (plane.alphas, plane.ridges) if moving else (Intervals(plane.alpha), Intervals(plane.ridge))
        rows, _ = self._slopes(box, alpha, ridge)
        inverse = _inverse(rows)
        near = box[0].mid, box[1].mid
        T, tau = Intervals(near[0]), Intervals(near[1])
        (p, q), _ = self._averages((T, tau))
        c, coupled = self._numbers.bulk, self._numbers.bulk * self._numbers.beta
        C, D = (plane.alpha * x for x in (p, q))
        values = ((plane.ridge + D) * tau + C * T - 1.0, T + coupled * C * T * tau - c * tau)
        steps = [_row(y, values) for y in inverse]
        if moving:
            # h is linear in both parameters: in the middle of the box the drifts are numbers.
            offsets = plane.tiles.offsets
            drifts = (q * tau + p * T, coupled * p * T * tau)
            steps = [
                step + _row(y, drifts) * offsets[0] + y[0] * tau * offsets[1]
                for step, y in zip(steps, inverse, strict=True)
            ]
        defect = _defect(inverse, rows)
        away = [x - y for x, y in zip(box, near, strict=True)]
        image = [y - step + _row(d, away) for y, step, d in zip(near, steps, defect, strict=True)]
        rads = [x.rad for x in box]
        norms = [
            sum((np.maximum(np.abs(one.lower), np.abs(one.upper)) * r for one, r in zip(d, rads, strict=True)), 0.0)
            for d in defect
        ]
        # Sums of two products: rounded up by more than they can be off.
        shrinks = np.logical_and.reduce([norm * (1.0 + 1e-12) < r for norm, r in zip(norms, rads, strict=True)])
        return (image[0], image[1]), shrinks

    def moves(self, box: Pair) -> Pair:
        """d(T, tau)/d(alpha, ridge), (2, P) each, for all points of the tile and the box."""
        rows, by_alpha = self._slopes(box, self._plane.alphas, self._plane.ridges)
        inverse = _inverse(rows)
        turned = _product(inverse, rows)
        zero = Intervals(np.zeros_like(self._plane.alpha))
        found = [solve_two(turned, [-_row(y, right) for y in inverse]) for right in (by_alpha, (box[1], zero))]
        return _stacked(found[0][0], found[1][0]), _stacked(found[0][1], found[1][1])


def _stacked(first: Intervals, second: Intervals) -> Intervals:
    return Intervals(np.stack([first.mid, second.mid]), np.stack([first.rad, second.rad]))


def _inverse(rows: Matrix) -> Matrix:
    """Of the midpoints, its own error dropped: any invertible matrix proves as much."""
    (a, b), (d, e) = ((row[0].mid, row[1].mid) for row in rows)
    share = 1.0 / (a * e - b * d)
    return ((Intervals(e * share), Intervals(-b * share)), (Intervals(-d * share), Intervals(a * share)))


def _row(row: Any, column: Any) -> Intervals:
    found: Intervals = row[0] * column[0] + row[1] * column[1]
    return found


def _product(left: Matrix, right: Matrix) -> Matrix:
    first, second = ((right[0][j], right[1][j]) for j in (0, 1))
    return ((_row(left[0], first), _row(left[0], second)), (_row(left[1], first), _row(left[1], second)))


def _defect(left: Matrix, right: Matrix) -> Matrix:
    """1 - left right."""
    (a, b), (d, e) = _product(left, right)
    return (1.0 - a, -b), (-d, 1.0 - e)


def errors_over(plane: Plane, numbers: Constants, moments: Moments, at: Solved, mean_zero: bool) -> Varying:
    """The test error on every tile: `certificates.saddle_point.enclosed` in numbers that vary.

    mean_zero: whether mu0 = 0, so that m is.
    """
    tiles, (T, tau) = plane.tiles, at.pair
    c, beta = numbers.bulk, numbers.beta
    averages = moments.varying(tiles, at.middle, at.pair)
    first, second = averages.first, averages.second
    alpha, ridge = tiles.parameter(0, plane.alpha, plane.alphas), tiles.parameter(1, plane.ridge, plane.ridges)
    ratio = alpha * (1.0 / Intervals(beta))
    C, D = (ratio * first[name] for name in FEATURES)
    pull = alpha * c * tau
    zz, zy = pull * first["bb"] + 1.0, pull * first["by"]
    if mean_zero:
        m, zeta = zy * 0.0, zy / zz
    else:
        m, zeta = solve_two(((first["aa"], first["ab"]), (pull * first["ab"], zz)), (first["ay"], zy))
    zt, pt = zeta / pull, first["s"]
    psi = alpha * T * pt
    coupled = c * beta
    by_pair = ((C, ridge + D), (C * tau * coupled + 1.0, C * T * coupled - c))
    across = T * tau * coupled
    columns = [solve_two(by_pair, right) for right in ((-T, -across), (-tau, tau * 0.0))]
    gamma = [[column[i] for column in columns] for i in (0, 1)]
    hats = [ratio * _fixed(lambda name, f=f: second[f + name], m, zeta, psi, numbers.noise) for f in FEATURES]
    pp, pq, qq = (ratio * second[name] for name in ("pp", "pq", "qq"))
    scale = alpha * alpha * (1.0 / Intervals(beta))
    signal = [scale * (zt * zt * c * gamma[1][j] + pt * pt * gamma[0][j]) for j in (0, 1)]
    right = [-(g[0] * hats[0] + g[1] * hats[1]) - s for g, s in zip(gamma, signal, strict=True)]
    matrix = [[g[0] * pp + g[1] * pq, g[0] * pq + g[1] * qq] for g in gamma]
    matrix = [[matrix[0][0] + 1.0, matrix[0][1]], [matrix[1][0], matrix[1][1] + 1.0]]
    q1, q2 = solve_two(matrix, right)
    fixed = _fixed(lambda name: averages.plain[name], m, zeta, psi, 0.0)
    found: Varying = fixed + q1 * averages.plain["p"] + q2 * averages.plain["q"]
    return found


def _fixed(average: Any, m: Varying, zeta: Varying, psi: Varying, noise: float) -> Any:
    """The mean of the part of e2 without q1 and q2, beside the function that `average` has in front."""
    whole = m * (m * average("aa") + (zeta * average("ab") - average("ay")) * 2.0)
    whole = whole + zeta * (zeta * average("bb") - average("by") * 2.0) - psi * average("s") * 2.0
    return whole + average("yy") + average("one") * noise
