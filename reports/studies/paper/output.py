"""The mean output of the trained network along its target or its spike, by the theory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.gaussian.coefficients import conditional_coefficients, conditional_moments_of
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.solve import solve
from giantsteps.reports.studies.paper.functions import NODES, WEIGHTS

Array = NDArray[np.float64]


def along_spike(model: Model, kappa: Array) -> Array:
    """E[output | v.x = kappa] = m mu0 + zeta kappa mu1 + chi dmu0/dc."""
    return _mean_output(model, np.asarray(kappa, dtype=float), np.zeros_like(kappa))


def along_target(model: Model, x: Array) -> Array:
    """E[output | theta.x = x]: the mean over kappa = gamma x + sqrt(1 - gamma^2) w, w ~ N(0, 1).

    Across the spike theta_perp.x = u = sqrt(1 - gamma^2) x - gamma w, which adds psi mu1(kappa) u.
    """
    gamma = model.alignment
    across = float(np.sqrt(1.0 - gamma**2))
    kappa, u = gamma * x[:, None] + across * NODES, across * x[:, None] - gamma * NODES
    output: Array = _mean_output(model, kappa, u) @ WEIGHTS
    return output


def _mean_output(model: Model, kappa: Array, u: Array) -> Array:
    """m mu0(kappa) + (zeta kappa + psi u) mu1(kappa), and chi dmu0/dc(kappa) where rows differ in norm."""
    order, at = solve(model).order_parameters, (model.activation, model.spike, model.bulk, 0.0, kappa.ravel())
    mu0, mu1, _ = conditional_coefficients(*at)
    m, zeta, psi = (float(np.ravel(value)[0]) for value in (order.m, order.zeta, order.psi))
    output = m * mu0 + (zeta * kappa.ravel() + psi * u.ravel()) * mu1
    if order.chi.size:  # dmu0/dc = E[sigma'']/2, and `curvature` is c E[sigma'']
        output += float(np.sum(order.chi)) * conditional_moments_of(*at).curvature / (2.0 * model.bulk)
    return np.asarray(output.reshape(kappa.shape))
