"""Averages of a loss over panels that are split where the loss bends, and their slopes, as functions of coefficients.

On every panel the output is f = sum_j b_j phi_j(t), a combination of given functions, and the target a given g(t). The
loss bends where f or g - f crosses a level. Each crossing is found by bisection and the panel split there, so that
Gauss and Legendre's rule sees smooth pieces only and the average is a smooth function of b. A level that is crossed and
crossed back between two nodes shows no change of sign; it is looked for wherever the nodes come close to the level.
Otherwise a search for the least average would find outputs that hide their losses between the nodes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.bounds.noisy_loss import NoisyLoss
from giantsteps.numerics.gaussian.smooth_panels import gauss_legendre

Array = NDArray[np.float64]
Places = NDArray[np.intp]

ORDER = 10
# Bisections of the interval between two nodes: 1e-12 of it is left. The slope of the average is off by that share, the
# average by its square.
_BISECTIONS = 40
# How far inside the panel its ends are looked at, as a share of it: a target may jump at the end itself.
_INSIDE = 1e-12
# A level is looked for between nodes that are closer to it than so many times the difference to their neighbours: a
# parabola through three equally spaced nodes falls below the lowest one by a quarter of that. Golden sections leave
# 1e-7 of the interval, the square root of rounding.
_CLOSE, _SECTIONS = 4.0, 34
_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)


@dataclass(frozen=True)
class Panels:
    """Panels [left, right] (N,), and what is averaged on them, at places t (M, q) of the panels `which` (M,).

    features: phi (r, M, q). label: g, and weight: the probability density with which t counts, both (M, q).
    """

    left: Array
    right: Array
    features: Callable[[Places, Array], Array]
    label: Callable[[Places, Array], Array]
    weight: Callable[[Places, Array], Array]

    def nodes(self, which: Places, left: Array, right: Array) -> tuple[Array, Array]:
        """Gauss and Legendre's nodes on pieces of the panels `which`, with their weights, (M, q)."""
        x, w = gauss_legendre(ORDER)
        half = 0.5 * (right - left)[:, None]
        t = left[:, None] + half * (1.0 + x)
        return t, half * w * self.weight(which, t)


class _Turns(NamedTuple):
    """Minima and maxima of h inside panels, (M,): the panel, the place and an end on each side of it.

    outer, inner: h at the node that is nearest, and at the place itself.
    """

    panel: Places
    left: Array
    place: Array
    right: Array
    outer: Array
    inner: Array


class AveragedLoss:
    """E l(y, sum_j b_j phi_j) and its gradient in b (r,)."""

    def __init__(self, panels: Panels, loss: NoisyLoss) -> None:
        self.panels, self.loss = panels, loss
        self._all = np.arange(len(panels.left))
        t, self.weights = panels.nodes(self._all, panels.left, panels.right)
        inset = _INSIDE * (panels.right - panels.left)
        self._t = np.concatenate([(panels.left + inset)[:, None], t, (panels.right - inset)[:, None]], axis=1)
        self.features = panels.features(self._all, self._t)
        self.label = panels.label(self._all, self._t)
        self._inner = np.ascontiguousarray(self.features[:, :, 1:-1])

    def value_and_slope(self, b: Array) -> tuple[float, Array]:
        """The average and its gradient, (r,)."""
        total, slope = 0.0, np.zeros(len(b))
        for features, g, f, weights in self._parts(b, self.loss.levels, self.loss.of_residual):
            total += float(np.sum(weights * self.loss.value(g, f)))
            slope = slope + np.tensordot(features, weights * self.loss.slope(g, f), axes=2)
        return total, slope

    def rounding(self, b: Array) -> float:
        """sum_j |b_j| E |l' phi_j|: how far the average moves, relative to the errors of the functions phi_j."""
        total = 0.0
        for features, g, f, weights in self._parts(b, self.loss.levels, self.loss.of_residual):
            pulls = weights * np.abs(self.loss.slope(g, f))
            total += float(np.abs(b) @ np.tensordot(np.abs(features), pulls, axes=2))
        return total

    def _parts(self, b: Array, levels: tuple[float, ...], residual: bool) -> list[tuple[Array, Array, Array, Array]]:
        """Functions (r, M, q), g, f and weights (M, q): of panels that are not split, then of the others' pieces."""
        f = np.tensordot(b, self.features, axes=1)
        crossed, where, left, right = self._pieces(b, f, levels, residual)
        inner = slice(1, -1)
        parts = [(self._inner, self.label[:, inner], f[:, inner], np.where(crossed[:, None], 0.0, self.weights))]
        if len(where):
            t, weights = self.panels.nodes(where, left, right)
            features = self.panels.features(where, t)
            parts.append((features, self.panels.label(where, t), np.tensordot(b, features, axes=1), weights))
        return parts

    def wrong(self, b: Array) -> float:
        """P(g f <= 0): how often f has not the sign of the target."""
        return sum(float(np.sum(weights[g * f <= 0.0])) for _, g, f, weights in self._parts(b, (0.0,), False))

    def gram_root(self) -> Array:
        """sqrt(weight) phi at all nodes, (nodes, r): its singular values are those of the span in L2."""
        return np.asarray((self._inner * np.sqrt(self.weights)).reshape(len(self._inner), -1).T)

    def _pieces(
        self, b: Array, f: Array, levels: tuple[float, ...], residual: bool
    ) -> tuple[NDArray[np.bool_], Places, Array, Array]:
        """Which panels are crossed (N,), and the pieces that they are split into: panel, left and right end, (M,)."""
        h = self.label - f if residual else f
        turns = self._turns(b, h, levels, residual)
        found: list[tuple[Array, Places, Array, Array]] = []
        for level in levels:
            rows, columns = np.nonzero((h[:, 1:] > level) != (h[:, :-1] > level))
            found.append((np.full(len(rows), level), rows, self._t[rows, columns], self._t[rows, columns + 1]))
            back = (turns.outer > level) != (turns.inner > level)
            rows, left, middle, right = (part[back] for part in turns[:4])
            found += [(np.full(len(rows), level), rows, *ends) for ends in ((left, middle), (middle, right))]
        which = np.concatenate([rows for _, rows, _, _ in found]) if found else np.zeros(0, dtype=np.intp)
        crossed = np.zeros(len(h), dtype=bool)
        crossed[which] = True
        if not len(which):
            return crossed, which, np.zeros(0), np.zeros(0)
        values, low, high = (np.concatenate([entry[k] for entry in found]) for k in (0, 2, 3))
        roots = self._roots(b, which, low, high, values, residual)
        panels = np.flatnonzero(crossed)
        where = np.concatenate([which, panels, panels])
        places = np.concatenate([roots, self.panels.left[panels], self.panels.right[panels]])
        order = np.lexsort((places, where))
        where, places = where[order], places[order]
        same = where[1:] == where[:-1]
        return crossed, where[:-1][same], places[:-1][same], places[1:][same]

    def _turns(self, b: Array, h: Array, levels: tuple[float, ...], residual: bool) -> _Turns:
        """The minima and maxima of h between nodes that may lie beyond a level."""
        last = h.shape[1] - 1
        before, after = np.maximum(np.arange(last + 1) - 1, 0), np.minimum(np.arange(last + 1) + 1, last)
        parts = []
        for sign in (1.0, -1.0):  # minima, and maxima as minima of -h
            rise = sign * (np.maximum(sign * h[:, before], sign * h[:, after]) - sign * h)
            least = (sign * h <= sign * h[:, before]) & (sign * h <= sign * h[:, after])
            ends = h, h - _CLOSE * rise
            near = np.zeros_like(least)
            for level in levels:
                near |= (ends[0] > level) != (ends[1] > level)
            rows, columns = np.nonzero(least & near)
            parts.append((rows, columns, np.full(len(rows), sign)))
        rows, columns, signs = (np.concatenate(part) for part in zip(*parts, strict=True))
        left, right = self._t[rows, before[columns]], self._t[rows, after[columns]]
        middle, inner = _least(lambda t: signs * self._height(b, rows, t, residual), left, right)
        return _Turns(rows, left, middle, right, h[rows, columns], signs * inner)

    def _height(self, b: Array, which: Places, t: Array, residual: bool) -> Array:
        """h at one place t (M,) of each of the panels `which`."""
        f = np.tensordot(b, self.panels.features(which, t[:, None]), axes=1)[:, 0]
        return np.asarray(self.panels.label(which, t[:, None])[:, 0] - f) if residual else f

    def _roots(self, b: Array, which: Places, low: Array, high: Array, level: Array, residual: bool) -> Array:
        """Where h crosses the level between low and high, by bisection."""

        def above(t: Array) -> NDArray[np.bool_]:
            return np.asarray(self._height(b, which, t, residual) > level)

        start = above(low)
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            left = above(middle) == start
            low, high = np.where(left, middle, low), np.where(left, high, middle)
        return 0.5 * (low + high)


def _least(function: Callable[[Array], Array], low: Array, high: Array) -> tuple[Array, Array]:
    """Places (M,) of the least value between low and high, and these values, by golden sections."""
    first, second = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_first, at_second = function(first), function(second)
    for _ in range(_SECTIONS if len(low) else 0):
        lower = at_first < at_second
        low, high = np.where(lower, low, first), np.where(lower, second, high)
        new = np.where(lower, high - _GOLDEN * (high - low), low + _GOLDEN * (high - low))
        at_new = function(new)
        first, second = np.where(lower, new, second), np.where(lower, first, new)
        at_first, at_second = np.where(lower, at_new, at_second), np.where(lower, at_first, at_new)
    return np.where(at_first < at_second, first, second), np.minimum(at_first, at_second)
