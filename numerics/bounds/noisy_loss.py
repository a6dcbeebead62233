"""A loss averaged over the label noise of one sample, with its slope and the places where it bends.

Given the noiseless target g and an output f, the label is y = g + sqrt(noise) N(0, 1), or its sign for margin losses
(g = +-1). Both averages are closed forms, convex in f like the loss itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.gaussian.nodes import density
from giantsteps.numerics.models.losses import ABSOLUTE, HINGE, LOGISTIC, SQUARE, ClippedLoss, Loss, ProximalLoss
from giantsteps.numerics.models.model import ModelError
from giantsteps.numerics.saddle_point.any_loss.sample_averages import normal_cdf

Array = NDArray[np.float64]

# Where a bend smoothed to a width w is split: far outside, at its shoulders and in the middle.
_SMOOTH_BEND = (-7.0, -3.0, -1.0, 0.0, 1.0, 3.0, 7.0)
# The logistic loss bends over a few units of the output, and is straight to rounding from 40 on.
_LOGISTIC_BEND = (-40.0, -20.0, -10.0, -3.0, 0.0, 3.0, 10.0, 20.0, 40.0)


@dataclass(frozen=True)
class NoisyLoss:
    """E l(y, f) over the noise of the label. Raises ModelError for noise with an unsupported loss.

    The bends are at fixed values, `levels`, of the residual g - f (of_residual) or of the output f.
    """

    loss: Loss
    noise: float

    def __post_init__(self) -> None:
        if self.noise > 0.0 and isinstance(self.loss, ProximalLoss) and not self.loss.margin:
            raise ModelError(
                f"label noise with the loss {self.loss.name!r} is not supported: omit the noise, or use the square, "
                "Huber or absolute loss"
            )

    @property
    def of_residual(self) -> bool:
        """Whether the bends are at values of the residual."""
        return not (isinstance(self.loss, ProximalLoss) and self.loss.margin)

    @property
    def levels(self) -> tuple[float, ...]:
        """The values at which the average bends; none where it is smooth on the scale of its arguments."""
        if self.loss == SQUARE:
            return ()
        if isinstance(self.loss, ClippedLoss):
            centres = (0.0,) if self.loss.absolute else (-self.loss.delta, self.loss.delta)
            if self.noise == 0.0:
                return centres
            return tuple(sorted({c + math.sqrt(self.noise) * t for c in centres for t in _SMOOTH_BEND}))
        if self.loss == LOGISTIC:
            return _LOGISTIC_BEND
        kinks = self.loss.kinks(np.zeros(1)) if self.loss.kinks is not None else ()
        places = {float(place[0]) for place in kinks}
        return tuple(sorted(places | {-place for place in places})) if self.loss.margin else ()

    @property
    def flip(self) -> float:
        """The probability that noise turns a label of +-1 round."""
        return 0.5 * math.erfc(1.0 / math.sqrt(2.0 * self.noise)) if self.noise > 0.0 else 0.0

    def value(self, g: Array, f: Array) -> Array:
        """E l(y, f)."""
        if isinstance(self.loss, ClippedLoss):
            return _clipped_value(self.loss, g - f, math.sqrt(self.noise))
        value = self.loss.value(g, f)
        if self.flip == 0.0:
            return value
        return np.asarray((1.0 - self.flip) * value + self.flip * self.loss.value(-g, f))

    def slope(self, g: Array, f: Array) -> Array:
        """Its derivative in f."""
        if isinstance(self.loss, ClippedLoss):
            return -_clipped_pull(self.loss, g - f, math.sqrt(self.noise))
        slope = _slope(self.loss, g, f)
        if self.flip == 0.0:
            return slope
        return np.asarray((1.0 - self.flip) * slope + self.flip * _slope(self.loss, -g, f))


def _slope(loss: ProximalLoss, y: Array, f: Array) -> Array:
    """dl/df; for a loss that is only given by its value, a central difference."""
    if loss == LOGISTIC:
        decayed = np.exp(-np.abs(f))
        small = decayed / (1.0 + decayed)
        return np.asarray(-y * np.where(y * f >= 0.0, small, 1.0 - small))
    if loss == HINGE:
        return np.asarray(np.where(y * f < 1.0, -y, 0.0))
    step = 1e-6 * (1.0 + np.abs(f))
    return np.asarray((loss.value(y, f + step) - loss.value(y, f - step)) / (2.0 * step))


def _clipped_value(loss: ClippedLoss, r: Array, d: float) -> Array:
    """E l(r + d x), x ~ N(0, 1): r^2/2 less half the squares of what lies beyond delta on both sides, or |r|."""
    if loss == SQUARE:
        return np.asarray(0.5 * (r**2 + d**2))
    if d == 0.0:
        return loss.value(r, np.zeros_like(r))
    if loss == ABSOLUTE:
        return np.asarray(r * (1.0 - 2.0 * normal_cdf(-r / d)) + 2.0 * d * _bell(r / d))
    beyond = [(u**2 + d**2) * normal_cdf(u / d) + u * d * _bell(u / d) for u in (r - loss.delta, -r - loss.delta)]
    return np.asarray(0.5 * (r**2 + d**2 - beyond[0] - beyond[1]))


def _clipped_pull(loss: ClippedLoss, r: Array, d: float) -> Array:
    """Its derivative in r."""
    if loss == SQUARE:
        return r
    if loss == ABSOLUTE:
        return np.asarray(np.sign(r) if d == 0.0 else 1.0 - 2.0 * normal_cdf(-r / d))
    if d == 0.0:
        return np.asarray(np.clip(r, -loss.delta, loss.delta))
    above, below = (u * normal_cdf(u / d) + d * _bell(u / d) for u in (r - loss.delta, -r - loss.delta))
    return np.asarray(r - above + below)


def _bell(x: Array) -> Array:
    return density(np.clip(x, -40.0, 40.0))
