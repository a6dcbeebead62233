"""Averages over labels, z and noise given kappa, with as few nodes as the noise allows."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.gaussian.nodes import density, even_steps
from giantsteps.numerics.gaussian.quadrature import FINER
from giantsteps.numerics.gradient_steps.batches import Batch, Joint

Array = NDArray[np.float64]

# As for the labels of one step: the trapezoidal rule across a density that is blurred by the noise leaves an error of
# exp(-2 (pi/step)^2) at this step in standard deviations; it is followed so far.
_STEP, _REACH = 0.4, 9.0
_NO_WEIGHT = 1e-22


class Labels(NamedTuple):
    """The node of kappa and the residual Y, (N,), and the weights of 1, z and z^2, (3, N)."""

    place: NDArray[np.intp]
    residual: Array
    moments: Array


def labels(batch: Batch) -> Labels:
    """The joint nodes of a batch; with noise on one grid in y where that takes fewer than nodes of z times the noise's.

    Functions of kappa and Y ask of z for its first two moments alone, and these are blurred like the density of y.
    """
    exact = replace(batch, noise=0.0).joint
    if batch.noise == 0.0:
        return _plain(exact)
    width, step = math.sqrt(batch.noise), _STEP / FINER**batch.refine
    y = exact.residual + batch.mu0[exact.place]
    low, high = (math.floor(end / (step * width)) for end in (y.min() - _REACH * width, y.max() + _REACH * width))
    grid = step * width * np.arange(low, high + 2)
    starts = np.flatnonzero(np.diff(exact.place, prepend=-1))
    if len(grid) * len(starts) > len(y) * len(even_steps(step, math.ceil(_REACH / step))[0]):
        return _plain(batch.joint)
    kernel = step * density((grid - y[:, None]) / width)
    moments = _moments(exact)[:, :, None] * kernel
    blurred = np.add.reduceat(moments, starts, axis=1).reshape(3, -1)
    kept = np.flatnonzero(blurred[0] > _NO_WEIGHT)
    place = exact.place[starts][kept // len(grid)]
    return Labels(place, grid[kept % len(grid)] - batch.mu0[place], blurred[:, kept])


def _plain(joint: Joint) -> Labels:
    return Labels(joint.place, joint.residual, _moments(joint))


def _moments(joint: Joint) -> Array:
    return joint.weights * np.stack([np.ones_like(joint.z), joint.z, joint.z**2])
