"""Averages over 1 + x.f with poles close to the line: panels bisected where the denominator is small.

Near the support of a spectrum 1/(1 + V) has poles close to the line of integration, which move with z. Panels carry
sixteen Gauss-Legendre nodes; one that is wide beside its distance to a pole is bisected. Functions are resolved on the
first panels as Legendre series and read off them on the others; every panel is made once and kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.gaussian.nodes import PANEL_ORDER
from giantsteps.numerics.gaussian.smooth_panels import gauss_legendre

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
Indices = NDArray[np.intp]

# A pole as far from a panel as the panel is wide leaves 1e-16 to sixteen nodes, at 0.6 of it 1e-12.
_POLE_DISTANCE = 0.8
_MOST_BISECTIONS = 60
_MOST_PANELS = 1500
_FIRST_CAPACITY = 256


@dataclass(frozen=True)
class Table:
    """Weights (n,) and features (E, n) on one set of panels."""

    weights: Array
    features: Array


def legendre_series(values: Array) -> Array:
    """Coefficients along the last axis of functions given at the sixteen nodes of a panel."""
    nodes, rule = gauss_legendre(PANEL_ORDER)
    vandermonde = np.polynomial.legendre.legvander(nodes, PANEL_ORDER - 1)
    series: Array = values @ ((vandermonde * rule[:, None]) * (np.arange(PANEL_ORDER) + 0.5))
    return series


class Panels:
    """A line in panels with ends `edges` (P + 1,), and functions on it as series (E + 1, P, 16).

    The last function is the weight of the integral, which is not part of the features.
    """

    def __init__(self, edges: Array, series: Array) -> None:
        first = len(edges) - 1
        self._series = series
        self._nodes, self._rule = gauss_legendre(PANEL_ORDER)
        self._first = np.arange(first)
        self._count = 0
        self._left, self._width = np.zeros(_FIRST_CAPACITY), np.zeros(_FIRST_CAPACITY)
        self._parent, self._child = np.zeros(_FIRST_CAPACITY, dtype=np.intp), np.zeros(_FIRST_CAPACITY, dtype=np.intp)
        self._values = np.zeros((len(series), _FIRST_CAPACITY, PANEL_ORDER))
        self._roots_left, self._roots_width = edges[:-1], np.diff(edges)
        self._add(edges[:-1], np.diff(edges), self._first)

    def __len__(self) -> int:
        return self._count

    def _add(self, left: Array, width: Array, parent: Indices) -> Indices:
        """New panels inside the given first panels; their indices."""
        new = np.arange(self._count, self._count + len(left))
        self._count += len(left)
        while self._count > len(self._left):
            self._left, self._width = np.concatenate([self._left] * 2), np.concatenate([self._width] * 2)
            self._parent, self._child = np.concatenate([self._parent] * 2), np.concatenate([self._child] * 2)
            self._values = np.concatenate([self._values] * 2, axis=1)
        self._left[new], self._width[new], self._parent[new], self._child[new] = left, width, parent, -1
        nodes = left[:, None] + 0.5 * width[:, None] * (1.0 + self._nodes)
        local = 2.0 * (nodes - self._roots_left[parent, None]) / self._roots_width[parent, None] - 1.0
        powers = np.polynomial.legendre.legvander(np.clip(local, -1.0, 1.0), PANEL_ORDER - 1)
        values = np.einsum("pnl,epl->epn", powers, self._series[:, parent])
        values[-1] *= 0.5 * width[:, None] * self._rule
        self._values[:, new] = values
        return new

    def _halves(self, panels: Indices) -> Indices:
        """The two halves of each panel."""
        missing = panels[self._child[panels] < 0]
        if len(missing):
            half = 0.5 * self._width[missing]
            left = self._left[missing]
            starts = np.stack([left, left + half], axis=1).ravel()
            new = self._add(starts, np.repeat(half, 2), np.repeat(self._parent[missing], 2))
            self._child[missing] = new[::2]
        first = self._child[panels]
        return np.concatenate([first, first + 1])

    def _one(self, panels: Indices, x: Complex) -> Complex:
        features = self._values[:-1, panels].reshape(len(x), -1)
        one = 1.0 + (x.real @ features + 1j * (x.imag @ features))
        return np.asarray(one.reshape(len(panels), PANEL_ORDER), dtype=complex)

    def chosen(self, x: Complex) -> Indices:
        """The panels on which 1/(1 + x.f) is resolved, increasing."""
        panels, done, count = self._first, [], 0
        for _ in range(_MOST_BISECTIONS):
            one = self._one(panels, x)
            change = np.abs(one[:, -1] - one[:, 0]) + np.abs(np.diff(one, 2, axis=1)).max(axis=1)
            close = np.abs(one).min(axis=1) < _POLE_DISTANCE * change
            done.append(panels[~close])
            count += len(done[-1])
            panels = panels[close]
            if not len(panels) or count + len(panels) > _MOST_PANELS:
                break
            panels = self._halves(panels)
        done.append(panels)
        return np.sort(np.concatenate(done))

    def table(self, panels: Indices | None = None) -> Table:
        """Weights and features on a set of panels, by default the first ones."""
        values = self._values[:, self._first if panels is None else panels].reshape(len(self._series), -1)
        return Table(values[-1], values[:-1])
