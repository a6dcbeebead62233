"""Exact averages over small batches for the claims on networks with any activation."""

from __future__ import annotations

import numpy as np

from giantsteps.derivations.bulk import symbols as s
from giantsteps.verify.checks.evaluate import Functions
from giantsteps.verify.checks.points import Point
from giantsteps.verify.second_route.any_activation.curves import CURVES
from giantsteps.verify.second_route.grids import grid
from giantsteps.verify.second_route.networks.step import Step, law, step_at


def functions_of(step: Step) -> Functions:
    """Implementations of sigma and g."""
    return {"sigma": CURVES[step.student].value, "g": CURVES[step.target].value}


SMALL = {"two samples in two dimensions": (2, 2), "one in three": (1, 3), "one in four": (1, 4)}


def small_batch(point: Point) -> dict[str, float]:
    """|w_Y|^2 and |b|^2 for a row across the target, averaged over all inputs of a small batch by a product rule."""
    n0, d = SMALL[str(point["batch"])]
    step = step_at(point)
    averages = law(step)
    places, weights = grid(n0 * d)
    x = places.reshape(-1, n0, d)
    y = CURVES[step.target].value(x[:, :, 0]) - averages[s.mean_output.name]
    slope = CURVES[step.student].prime(x[:, :, 1]) - averages[s.h1.name]
    batch = np.einsum("am,ami->ai", y, x) / n0
    row = np.eye(d)[1] + step.rate / n0 * np.einsum("am,ami->ai", y * slope, x)
    return {
        **averages,
        s.n0.name: n0,
        s.d.name: d,
        s.batch_norm.name: float(weights @ np.sum(batch**2, axis=1)),
        s.row_norm.name: float(weights @ np.sum(row**2, axis=1)),
    }
