"""Panels on which a function is a polynomial to rounding, found by bisection."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MOST_SPLITS = 2_000
_SHORTEST_PANEL = 1e-11


class SmoothPanels(NamedTuple):
    """Ends of panels found by bisection, and whether it never ended: f is not smooth up to a breakpoint."""

    splits: tuple[float, ...]
    rough: bool


@lru_cache(maxsize=16)
def gauss_legendre(order: int) -> tuple[Array, Array]:
    """Nodes and weights of the Gauss-Legendre rule on [-1, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    return np.asarray(nodes, dtype=float), np.asarray(weights, dtype=float)


def distinct(edges: list[Array]) -> Array:
    """The distinct numbers in increasing order (numpy.unique would import its masked arrays for it)."""
    ordered: Array = np.sort(np.concatenate(edges))
    different: Array = ordered[np.append(True, np.diff(ordered) > 0.0)]
    return different


def smooth_panels(values: Callable[[Array], Array], edges: Array, known: tuple[float, ...], order: int) -> SmoothPanels:
    """Bisect the panels between `edges` on which the Legendre coefficients of f do not decay to rounding.

    `known` are steep places, whose values count for the typical size of f; `order` is that of their Gauss-Legendre
    rule. At a breakpoint where f has a root the panels shrink geometrically towards it.
    """
    nodes, weights = gauss_legendre(order)
    vandermonde = np.polynomial.legendre.legvander(nodes, order - 1)
    transform = (vandermonde * weights[:, None]).T * (np.arange(order) + 0.5)[:, None]
    # A steep place at the very end of a panel hides between the end and the outermost node.
    near_ends = np.concatenate([0.125 ** np.arange(1.0, 12.0) - 1.0, 1.0 - 0.125 ** np.arange(1.0, 12.0)])
    at_ends = np.polynomial.legendre.legvander(near_ends, order - 1)
    # The typical size of f, or its size at the steep places of a function that vanishes away from them.
    centre, steep = 0.5 * np.arange(-8.0, 8.0) + 0.1, np.array([x for x in known if abs(x) < 4.0])
    if not (np.any(values(centre)) or np.any(values(steep))):
        steep = np.asarray(known)  # a function that lives further out only
    sizes = [values(places) for places in (centre, steep)]
    # Under a hundredth of the typical size, accuracy relative to the panel is not asked for.
    floor = 0.01 * max(float(np.sqrt(np.mean(size**2))) for size in sizes if len(size))
    pending = np.stack([edges[:-1], edges[1:]], axis=1)
    splits: list[float] = []
    rough = False
    while len(pending) and len(splits) < MOST_SPLITS:
        half = 0.5 * (pending[:, 1] - pending[:, 0])
        series = values(pending[:, :1] + half[:, None] * (1.0 + nodes)) @ transform.T
        # So close to an end that rounding puts it there a derivative may be infinite: such places are left out.
        places = pending[:, :1] + half[:, None] * (1.0 + near_ends)
        inside = (places > pending[:, :1]) & (places < pending[:, 1:])
        at_places = values(np.where(inside, places, pending[:, :1] + half[:, None]))
        misfit = np.where(inside, at_places - series @ at_ends.T, 0.0)
        largest = np.maximum(np.abs(series).max(axis=1), floor)
        tail = np.maximum(np.abs(series[:, -2:]).max(axis=1), 0.1 * np.abs(misfit).max(axis=1))
        failed = pending[tail > 1e-12 * largest]
        long = failed[:, 1] - failed[:, 0] > _SHORTEST_PANEL * np.maximum(1.0, np.abs(failed).max(axis=1))
        rough = rough or not bool(np.all(long))
        failed = failed[long]
        middle = 0.5 * (failed[:, 0] + failed[:, 1])
        splits.extend(failed.ravel())
        splits.extend(middle)
        pending = np.concatenate([np.stack([failed[:, 0], middle], axis=1), np.stack([middle, failed[:, 1]], axis=1)])
    # What is still pending when the splits are used up was never resolved.
    return SmoothPanels(tuple(splits), rough or len(pending) > 0)
