"""Averages over labels, z and noise given kappa, with as few nodes as the noise allows."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.gaussian.nodes import density
from giantsteps.numerics.gaussian.quadrature import FINER
from giantsteps.numerics.gradient_steps.batches import Batch, Joint

Array = NDArray[np.float64]

# As for the labels of one step: the trapezoidal rule across a density that is blurred by the noise leaves an error of
# exp(-2 (pi/step)^2) at this step in standard deviations; it is followed so far.
_STEP, _REACH = 0.4, 9.0
_NO_WEIGHT = 1e-22
# Gauss's nodes for noise narrower than the functions of Y vary, and more of them for every refinement.
_FEW, _MORE, _NARROW = 6, 4, 0.05


class Labels(NamedTuple):
    """The node of kappa and the residual Y, (N,), and the weights of 1, z and z^2, (3, N)."""

    place: NDArray[np.intp]
    residual: Array
    moments: Array


def labels(batch: Batch) -> Labels:
    """The joint nodes of a batch: with noise on one grid in y, or for little noise with Gauss's nodes for it.

    Functions of kappa and Y ask of z for its first two moments alone, and these are blurred like the density of y.
    """
    exact = batch.joint
    if batch.noise == 0.0:
        return Labels(exact.place, exact.residual, _moments(exact))
    width, step = math.sqrt(batch.noise), _STEP / FINER**batch.refine
    y = exact.residual + batch.mu0[exact.place]
    low, high = (math.floor(end / (step * width)) for end in (y.min() - _REACH * width, y.max() + _REACH * width))
    grid = step * width * np.arange(low, high + 2)
    starts = np.flatnonzero(np.diff(exact.place, prepend=-1))
    e, shares = np.polynomial.hermite_e.hermegauss(_FEW + _MORE * batch.refine)
    if width < _NARROW and len(grid) * len(starts) > len(y) * len(e):
        moments = _moments(exact)[:, :, None] * (shares / shares.sum())
        blurred = exact.residual[:, None] + width * e
        return Labels(np.repeat(exact.place, len(e)), blurred.ravel(), moments.reshape(3, -1))
    pieces = zip(np.split(y, starts[1:]), np.split(_moments(exact), starts[1:], axis=1), strict=True)
    blurred = np.hstack([step * (moments @ density((grid - at[:, None]) / width)) for at, moments in pieces])
    kept = np.flatnonzero(blurred[0] > _NO_WEIGHT)
    place = exact.place[starts][kept // len(grid)]
    return Labels(place, grid[kept % len(grid)] - batch.mu0[place], blurred[:, kept])


def _moments(joint: Joint) -> Array:
    return joint.weights * np.stack([np.ones_like(joint.z), joint.z, joint.z**2])
