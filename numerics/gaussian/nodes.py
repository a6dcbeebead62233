"""Nodes and weights on the line, with the Gaussian density in the weights or without it ("bare")."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.gaussian.smooth_panels import gauss_legendre

Array = NDArray[np.float64]

PANEL_ORDER = 16


def density(z: Array) -> Array:
    """The standard normal density exp(-z^2/2)/sqrt(2 pi)."""
    found = np.asarray(-0.5 * z)
    found *= z
    np.exp(found, out=found)
    found /= math.sqrt(2.0 * math.pi)
    return found


@lru_cache(maxsize=16)
def even_steps(h: float, count: int, bare: bool = False) -> tuple[Array, Array]:
    """The trapezoidal rule of 2 count + 1 nodes; the rules along the spike that are compared ask for one across it.

    bare: the weights are without the density.
    """
    z: Array = h * np.arange(-count, count + 1, dtype=np.float64)
    weights = np.full_like(z, h) if bare else h * density(z)
    for known in (z, weights):
        known.flags.writeable = False
    return z, weights


@lru_cache(maxsize=16)
def even_panels(length: float, count: int) -> Array:
    """The edges of so many panels; as `even_steps`."""
    edges = np.linspace(-length, length, count + 1)
    edges.flags.writeable = False
    return edges


def composite(edges: Array, bare: bool = False) -> tuple[Array, Array]:
    """The composite Gauss-Legendre rule with Gaussian density between edges of shape (..., panels + 1), or bare."""
    nodes, weights = gauss_legendre(PANEL_ORDER)
    half = 0.5 * (edges[..., 1:, None] - edges[..., :-1, None])
    shape = (*edges.shape[:-1], -1)
    places = half * (1.0 + nodes)
    places += edges[..., :-1, None]
    z: Array = np.reshape(places, shape).astype(np.float64, copy=False)
    measure = np.reshape(half * weights, shape)
    if bare:
        return z, measure
    weighted = density(z)
    weighted *= measure
    return z, weighted
