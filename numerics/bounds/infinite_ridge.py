"""The test error near infinite ridge: limit - slope/ridge + bend/ridge^2 + ..., and where it is least there.

V and the overlaps with the bulk are O(1/ridge), q1 and q2 are O(1/ridge^2): at first order a small readout of the
bulk follows the forces f = (E[along (y0 - m mu0)], E[mu1 y1]) of what the means leave of the target, along the
overlap matrix K/ridge of a bulk that is not seen (C = D = 0),

    slope = 2 (alpha/beta) f.K f >= 0.

So the limit is approached from below, and no finite ridge beats it only where every force vanishes: by symmetry, as
for an odd student and an even target, or where the means leave nothing. However small the slope, the error falls from
the limit to slope^2/(4 bend) below it, at ridge = 2 bend/slope.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.bulk.of_model import equivalent_of
from giantsteps.numerics.gaussian.least_squares import least_norm
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.profile import Profile

Array = NDArray[np.float64]

# A force is a sum of some hundred terms of either sign: under this share of their size it is rounding.
_VANISHING = 1e-13


def left_over(table: Profile, functions: Array, target: Array) -> Array:
    """sqrt(weight) (target - sum coefficient function) (n,), with the coefficients of least square."""
    root = np.sqrt(table.weights)
    matrix = (functions * root).T
    size = math.sqrt(float(np.sum(table.weights * (table.mu0**2 + table.mu1**2 + table.mu2_squared))))
    right: Array = root * target
    return np.asarray(right - matrix @ least_norm(matrix, right, size))


def forces(table: Profile) -> tuple[Array, Array]:
    """f as above, one entry per function of the readout's bulk, and the sizes that their rounding is relative to."""
    root = np.sqrt(table.weights)
    left = left_over(table, table.mu0, table.y0)
    pulled = np.concatenate([table.along @ (root * left), (table.mu1 * table.weights) @ table.y1])
    target = math.sqrt(float(table.weights @ (table.y0**2 + table.y1**2 + table.spread)))
    functions = np.concatenate([table.along, table.mu1])
    return pulled, target * np.sqrt(functions**2 @ table.weights)


def slope_at_infinity(model: Model, table: Profile, coarser: Profile) -> float:
    """How fast the test error falls from its limit with 1/ridge; exactly zero where the forces are rounding.

    A force that a coarser rule gives differently by as much as its size counts as zero, too.
    """
    found, sizes = forces(table)
    before, _ = forces(coarser)
    certain = np.abs(found) > np.maximum(_VANISHING * sizes, np.abs(found - before))
    pulled = np.where(certain, found, 0.0)
    unseen = equivalent_of(model, 1.0).at(np.zeros(len(table.features))).overlap
    return 2.0 * model.alpha / model.beta * float(pulled @ unseen @ pulled)
