"""Functions with a kink at zero, or of no parity, and averages of them over panels that are split at zero."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from giantsteps.verify.second_route.grids import SMOOTH, Array, Curve, erf, expit, normal_panels

_SQRT2 = math.sqrt(2.0)


def _normal(z: Array) -> Any:
    return np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)


# Smooth on either side of zero.
CURVES: dict[str, Curve] = {
    **SMOOTH,
    "relu": Curve(lambda z: np.maximum(z, 0.0), lambda z: 1.0 * (z > 0.0)),
    "gelu": Curve(
        lambda z: 0.5 * z * (1.0 + erf(z / _SQRT2)), lambda z: 0.5 * (1.0 + erf(z / _SQRT2)) + z * _normal(z)
    ),
    # The logarithm of a sum by NumPy's logaddexp takes three times as long.
    "softplus": Curve(lambda z: np.maximum(z, 0.0) + np.log1p(np.exp(-np.abs(z))), expit),
    "shifted tanh": Curve(lambda z: np.tanh(z + 0.7), lambda z: 1.0 / np.cosh(z + 0.7) ** 2),
    "leaning tanh": Curve(lambda z: np.tanh(z) + 0.2 * (z * z - 1.0), lambda z: 1.0 / np.cosh(z) ** 2 + 0.4 * z),
}

_EDGE, _PANELS, _ORDER = 11.0, 22, 16
Z, W = normal_panels(np.linspace(-_EDGE, _EDGE, _PANELS + 1), _ORDER)


def mean(values: Any) -> float:
    """E over z on the panels."""
    return float(W @ values)
