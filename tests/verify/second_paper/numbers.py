"""Numbers that know nothing of the fixed point: integrals over the law of Marchenko and Pastur of X^T X/T.

Eigenvalues x = 1 + c + 2 sqrt(c) cos(u), c = D/T, of density (2/pi) sin(u)^2/x in u, and for c > 1 zero with mass
1 - 1/c. Functions are written as x f(x), which leaves neither the pole of the density nor the mass at zero. The sums
over u with N nodes then err by exp(-2 N h), h the distance of the nearest pole in u: at least sqrt(l)/2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from giantsteps.verify.checks.points import Point
from tests.verify.second_paper import symbols as s

NODES = 4000
MANY_NODES = 400_000


def mean(ratio: float, function: Callable[[NDArray[np.float64]], NDArray[np.float64]], nodes: int = NODES) -> float:
    """D^-1 tr x f(x) over the eigenvalues x of X^T X/T."""
    c = 1 / ratio
    angles = np.pi * np.arange(1, nodes) / nodes
    x = 1 + c + 2 * np.sqrt(c) * np.cos(angles)
    return float(2 / nodes * np.sin(angles) ** 2 @ function(x))


def at(point: Point, **changes: float) -> dict[str, float]:
    """Bias, variance, training error and effective ridge at a point."""
    given = {k: v for k, v in point.items() if isinstance(v, float)} | changes
    a, l, S, N = (given[x.name] for x in (s.ratio, s.ridge, s.signal, s.noise))  # noqa: E741
    mixed = mean(a, lambda x: 1 / (x + l) ** 2)  # tr x/(x + l)^2
    square = 1 - mean(a, lambda x: (x + 2 * l) / (x + l) ** 2)  # tr l^2/(x + l)^2
    shrunk = 1 - mean(a, lambda x: 1 / (x + l))  # tr l/(x + l)
    return {
        s.effective.name: shrunk / (1 - shrunk),
        s.bias.name: S * square,
        s.variance.name: N / a * mixed,
        s.training.name: l**2 * S * mixed + N * (square / a + 1 - 1 / a),
    }


def error(point: Point, ridge: float) -> float:
    """Test error at another ridge, the noise of a new sample left out."""
    found = at(point, **{s.ridge.name: ridge})
    return found[s.bias.name] + found[s.variance.name]


def small_ridge(point: Point) -> Mapping[str, float]:
    """The test error at l = 1e-6: it differs from its limit by O(l)."""
    changes = {s.ratio.name: 1 / (1 + float(point[s.excess.name])), s.ridge.name: 1e-6}
    found = at(point, **changes)
    return {s.ridgeless.name: found[s.bias.name] + found[s.variance.name] + float(point[s.noise.name])}


def height(point: Point) -> Mapping[str, float]:
    """sqrt(l) V at a = 1 and l = 1e-8: it differs from its limit by O(sqrt(l))."""
    ridge = 1e-8
    mixed = mean(1.0, lambda x: 1 / (x + ridge) ** 2, MANY_NODES)
    return {s.peak.name: float(np.sqrt(ridge)) * float(point[s.noise.name]) * mixed}


def minimum(point: Point) -> Mapping[str, float]:
    """Where the test error is least, searched in the logarithm of the ridge."""
    found = minimize_scalar(
        lambda log: error(point, float(np.exp(log))), bounds=(-6, 6), method="bounded", options={"xatol": 1e-9}
    )
    return {s.best_ridge.name: float(np.exp(found.x))}
