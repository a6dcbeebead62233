"""Small ridge and none: the scale of the saddle point at ridge 0, the interpolation threshold, what is out of reach."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.saddle_point.profile import Profile

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Regime:
    """The scale on which the saddle point is solved: 1 + V becomes unit + V and ridge becomes `ridge`.

    At positive ridge that is (1, ridge). At ridge = 0 it is (1, 0) with more samples than features can fit, and with
    fewer (0, 1), for ridge V, of which V itself is 1/ridge times.
    """

    unit: float
    ridge: float


def regime_of(table: Profile, model: Model) -> Regime:
    """The scale for a model; raises ModelError for ridge = 0 at the interpolation threshold."""
    return Regime(1.0, model.ridge) if model.ridge > 0.0 else _ridgeless(table, model)


def _ridgeless(table: Profile, model: Model) -> Regime:
    """Which side of the interpolation threshold a model without ridge is on."""
    # Linear features have rank d, so that no more than d samples are fitted, whatever the width.
    linear = _is_linear(table)
    threshold = min(model.beta, 1.0) if linear else model.beta
    if abs(model.alpha - threshold) <= 1e-9 * threshold:
        raise ModelError(
            f"at ridge = 0 and alpha = {model.alpha:.6g}, the interpolation threshold, the test error diverges like "
            "ridge^(-1/2): give a positive ridge, for example ridge = 1e-6"
        )
    if linear and model.alpha > threshold and model.beta >= 1.0:
        raise ModelError(
            "ridge = 0 is not supported for linear features of more than d neurons and samples, where (1/p) tr S^-1 is "
            "infinite: give a small ridge, for example ridge = 1e-4"
        )
    variance = (table.mu1**2 + table.mu2_squared).sum(axis=0)
    if float(variance.max()) == 0.0:
        raise ModelError(
            f"ridge = 0 is not supported for the activation {model.activation}, whose features are all equal, so that "
            "the readout is not unique: give a positive ridge, for example ridge = 0.1"
        )
    if model.alpha > threshold:
        return Regime(1.0, 0.0)
    # V is all there is in place of 1 + V, and its square has to be a number.
    if float(variance.min()) <= 1e-150 * float(variance.max()):
        raise ModelError(_OUT_OF_REACH)
    return Regime(0.0, 1.0)


_OUT_OF_REACH = (
    "ridge = 0 cannot be computed here: the limit depends on values far along the spike, where the features saturate "
    "beyond double precision, and may be infinite; give a small ridge, for example ridge = 1e-4"
)


def _is_linear(table: Profile) -> bool:
    """Whether the activation is linear, so that mu2 = 0 up to rounding."""
    return float(np.max(table.mu2_squared @ table.weights)) < 1e-24 * float(np.max(table.features @ table.weights))


def extra_reach(ridge: float) -> float:
    """How much more than its Gaussian weight the tail along the spike may count: 1/(1+V) grows there at small ridge."""
    if ridge == 0.0:
        return 100.0
    # Two figures of reserve are in the rules themselves; steps of ten keep the rules shared between ridges.
    return 10.0 * math.ceil(max(0.0, -math.log(ridge) - 10.0) / 10.0)


def check_tails(table: Profile, values: Array) -> None:
    """At ridge = 0 the features' variance divides: refuse where it decays to rounding before the Gaussian weight does.

    The integrands of the saddle point are of order (mu0^2 + y^2)/V and at most that over V again.
    """
    variance = values @ table.multiplied_features
    resolved = table.mu2_squared.min(axis=0) > 1e-24 * (table.mu0**2).max(axis=0)
    if _is_linear(table):
        resolved = np.full(len(table.weights), True)
    share = table.weights * (table.y0**2 + table.y1**2 + table.spread) / variance
    share = share / float(np.sum(share))
    outermost = table.radius >= 0.99 * np.max(table.radius)
    if np.any(share[~resolved | outermost] > 1e-13):
        raise ModelError(_OUT_OF_REACH)
