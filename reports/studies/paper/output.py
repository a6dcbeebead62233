"""The mean output of the trained network along its target or its spike, by the theory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.solve import solve
from giantsteps.reports.figures.results import learned_along
from giantsteps.reports.studies.paper.functions import NODES, WEIGHTS

Array = NDArray[np.float64]


def along_spike(model: Model, kappa: Array) -> Array:
    """E[output | v.x = kappa]."""
    return learned_along(solve(model), kappa)


def along_target(model: Model, x: Array) -> Array:
    """E[output | theta.x = x]: the mean over kappa = gamma x + sqrt(1 - gamma^2) w, w ~ N(0, 1).

    Across the spike theta_perp.x = u = sqrt(1 - gamma^2) x - gamma w, which adds psi mu1(kappa) u.
    """
    gamma = model.alignment
    across = float(np.sqrt(1.0 - gamma**2))
    kappa, u = gamma * x[:, None] + across * NODES, across * x[:, None] - gamma * NODES
    output: Array = learned_along(solve(model), kappa, u) @ WEIGHTS
    return output
