"""Rules for one Gaussian variable at every place along the spike, on panels that are as fine as the integrand asks for.

The panels of a row (a place along the spike) are bisected until none is `too wide`; nodes of no weight are left out, so
that rows have different numbers of nodes. All arrays are flat, row after row.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import Activation
from giantsteps.numerics.gaussian.nodes import density
from giantsteps.numerics.gaussian.quadrature import WIDEST_PANEL, integrand, reach, with_splits
from giantsteps.numerics.gaussian.smooth_panels import gauss_legendre

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# Nodes of a panel: a Gaussian over WIDEST_PANEL is off by 5e-13 with the first number of them, by rounding with more.
_ORDERS = (12, 14, 20, 30, 44, 64)
# A Gaussian's distribution function over so many standard deviations is a polynomial to 1e-10 with the first.
WIDEST_STEP = 5.0
# Farther out than this the distribution function is a constant to 1e-17.
FAR = 8.5
# Nodes whose joint weight, along the spike and across it, is less than this are left out.
_NOTHING = 1e-21
_MOST_BISECTIONS = 26
# Bisection stops before a rule has more panels than this.
_MOST_PANELS = 200_000
# Where a panel is looked at, as shares of its length: inside, since the target may jump at its ends.
_LOOKS = np.array([1e-9, 0.25, 0.5, 0.75, 1.0 - 1e-9])

TooWide = Callable[[Rows, Array, Array], NDArray[np.bool_]]
Panels = tuple[Rows, Array, Array]


@dataclass(frozen=True)
class Nodes:
    """Places (N,) of E over one standard normal variable, row by row, with weights that contain its density."""

    row: Rows
    place: Array
    weight: Array
    starts: Rows

    def sums(self, values: Array) -> Array:
        """Sums over the nodes of each row: (..., N) -> (..., n)."""
        return np.asarray(np.add.reduceat(values, self.starts, axis=-1))


def nodes_on(row: Rows, left: Array, right: Array, too_wide: TooWide, along: Array, refine: int) -> Nodes:
    """Gauss and Legendre's nodes on the panels [left, right] of the rows, bisected; `refine` asks for more nodes.

    along: the weights of the rows, (n,). Each row has to have a panel.
    """
    return _gauss(*_bisected((row, left, right), too_wide), along, refine)


def _bisected(panels: Panels, too_wide: TooWide) -> Panels:
    """The panels, themselves where none is too wide."""
    row, left, right = panels
    wide = too_wide(row, left, right)
    if not np.any(wide):
        return panels
    done: list[Panels] = []
    for _ in range(_MOST_BISECTIONS):
        done.append((row[~wide], left[~wide], right[~wide]))
        row, left, right = halves(row[wide], left[wide], right[wide])
        if not len(row) or len(row) + sum(len(part[0]) for part in done) > _MOST_PANELS:
            break
        wide = too_wide(row, left, right)
    done.append((row, left, right))
    row, left, right = (np.concatenate(parts) for parts in zip(*done, strict=True))
    return row, left, right


def _gauss(row: Rows, left: Array, right: Array, along: Array, refine: int) -> Nodes:
    order = np.argsort(row, kind="stable")
    row, half, middle = row[order], 0.5 * (right - left)[order], 0.5 * (right + left)[order]
    x, w = gauss_legendre(_ORDERS[min(refine, len(_ORDERS) - 1)])
    place = middle[:, None] + half[:, None] * x
    weight = half[:, None] * w * density(place)
    # The node of most weight stays in every row.
    joint, largest = along[row][:, None] * weight, np.zeros(len(along))
    np.maximum.at(largest, row, joint.max(axis=1))
    kept = joint >= np.minimum(_NOTHING, largest)[row][:, None]
    rows = row[np.nonzero(kept)[0]]
    return Nodes(rows, place[kept], weight[kept], np.searchsorted(rows, np.arange(len(along))))


def halves(row: Rows, left: Array, right: Array) -> Panels:
    """Both halves of every panel."""
    middle = 0.5 * (left + right)
    return np.concatenate([row, row]), np.concatenate([left, middle]), np.concatenate([middle, right])


def looks(row: Rows, left: Array, right: Array) -> tuple[Rows, Array]:
    """Five places of every panel, (M, 5), with its row as a column."""
    return row[:, None], left[:, None] + (right - left)[:, None] * _LOOKS


@lru_cache(maxsize=64)
def _ends(target: Activation) -> tuple[float, ...]:
    """Where panels for a target end: between neighbours it is a polynomial of the panel's order to rounding."""
    function = integrand(target)
    splits = function.splits if function.splits is not None else with_splits(function).splits
    return tuple(splits or ())


class LabelRule:
    """Rules in z for labels g(place + scale z), scale > 0, on panels where g and the density are polynomials.

    One serves all outputs for which no panel is too wide, whatever alpha, beta, ridge and loss.
    """

    def __init__(self, target: Activation, place: Array, scale: float, along: Array) -> None:
        self.teacher, self.place, self.scale, self.along = integrand(target), place, scale, along
        self._whole: dict[int, Nodes] = {}
        length = max(FAR, reach(self.teacher, scale))
        ends = (np.array(_ends(target)) - place[:, None]) / scale
        line = np.broadcast_to([-length, length], (len(place), 2))
        edges = np.sort(np.clip(np.concatenate([line, ends], axis=1), -length, length), axis=1)
        row, column = np.nonzero(np.diff(edges, axis=1) > 1e-13)
        self.panels = parts(row, edges[row, column], edges[row, column + 1], WIDEST_PANEL / max(scale, 1.0))

    def labels(self, row: Rows, z: Array) -> Array:
        """g at z."""
        return self.teacher.values(self.place[row] + self.scale * z)

    def nodes(self, refine: int, too_wide: TooWide | None = None) -> Nodes:
        """The rule, its panels bisected where they are too wide."""
        panels = self.panels if too_wide is None else _bisected(self.panels, too_wide)
        if panels is not self.panels:
            return _gauss(*panels, self.along, refine)
        if refine not in self._whole:
            self._whole[refine] = _gauss(*panels, self.along, refine)
        return self._whole[refine]


def label_rule(target: Activation, place: Array, scale: float, along: Array) -> LabelRule:
    """The rule for a target at the places and weights (n,) of a rule along the spike, made once."""
    return _label_rule(target, place.tobytes(), scale, along.tobytes())


@lru_cache(maxsize=64)
def _label_rule(target: Activation, place: bytes, scale: float, along: bytes) -> LabelRule:
    return LabelRule(target, np.frombuffer(place), scale, np.frombuffer(along))


def parts(row: Rows, left: Array, right: Array, widest: float) -> Panels:
    """Every panel in equal parts, none wider than `widest`."""
    count = np.ceil((right - left) / widest).astype(np.intp)
    number = np.arange(int(np.sum(count))) - np.repeat(np.cumsum(count) - count, count)
    width = np.repeat((right - left) / count, count)
    start = np.repeat(left, count) + number * width
    return np.repeat(row, count), start, start + width


def crosses(values: Array, levels: tuple[float | Array, ...]) -> NDArray[np.bool_]:
    """Which panels see a step: `values` (M, 5) in units of its width move by more than WIDEST_STEP near a level."""
    low, high = np.min(values, axis=1), np.max(values, axis=1)
    # The highest and the lowest may lie between two looks.
    slack = 0.25 * (high - low) + FAR
    near: NDArray[np.bool_] = np.zeros(len(values), dtype=bool)
    for level in levels:
        near |= (low - slack < level) & (high + slack > level)
    return np.asarray(near & (high - low > WIDEST_STEP))


def bends_near(omega: Array, bends: tuple[Array, ...], height: float) -> NDArray[np.bool_]:
    """Which panels are too wide beside singularities at bend +- i height; omega (M, 5) is monotone, bends (M,)."""
    low, high = np.min(omega, axis=1), np.max(omega, axis=1)
    wide = np.zeros(len(omega), dtype=bool)
    for bend in bends:
        distance = np.maximum(np.maximum(low - bend, bend - high), 0.0)
        wide |= 0.5 * (high - low) > 0.8 * np.hypot(distance, height)
    return np.asarray(wide & (high - low > 0.0) & np.isfinite(high - low) & (math.inf > height))
