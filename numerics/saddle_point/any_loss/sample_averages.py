"""The labels of a sample: where a target takes two values only, and how likely each is given part of the input."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.expressions.tree import ExpressionError, to_text
from giantsteps.numerics.gaussian.callables import ByValues, activation
from giantsteps.numerics.gaussian.nodes import density
from giantsteps.numerics.gaussian.quadrature import integrand
from giantsteps.numerics.models.losses import ProximalLoss
from giantsteps.numerics.models.model import Model, ModelError

Array = NDArray[np.float64]

# The argument of a target, a standard Gaussian, is beyond this with probability 4e-33.
_FARTHEST = 12.0


def normal_cdf(x: Array) -> Array:
    """The standard normal distribution function."""
    from scipy.special import ndtr

    return np.asarray(ndtr(x))


@dataclass(frozen=True)
class SignLabel:
    """P(y = 1 | u) as a step function: `start` at u = -infinity, jumps at the places; noise flips with `flip`."""

    places: Array
    jumps: Array
    start: float

    @classmethod
    def of(cls, target: Activation, noise: float) -> SignLabel:
        """The sign of a target in {-1, 1} plus label noise."""
        teacher = integrand(target)
        places = np.array([place for place in teacher.breakpoints if abs(place) < _FARTHEST])
        ends = np.concatenate([[-_FARTHEST], places, [_FARTHEST]])
        values = teacher.values(0.5 * (ends[1:] + ends[:-1]))
        if noise > 0.0:
            values = 2.0 * normal_cdf(values / math.sqrt(noise)) - 1.0
        positive = 0.5 * (1.0 + values)
        return cls(places, np.diff(positive), float(positive[0]))

    def given(self, mean: Array, deviation: Array) -> tuple[Array, Array, Array]:
        """P(y = 1), E[x 1(y = 1)] and E[(x^2 - 1) 1(y = 1)] for u = mean + deviation x, x ~ N(0, 1)."""
        probability = np.full(np.broadcast(mean, deviation).shape, self.start)
        slope, curvature = np.zeros_like(probability), np.zeros_like(probability)
        for place, jump in zip(self.places, self.jumps, strict=True):
            gap = (mean - place) / np.maximum(deviation, 1e-150)
            probability = probability + jump * normal_cdf(gap)
            gap = np.clip(gap, -40.0, 40.0)
            likely = jump * density(gap)
            slope, curvature = slope + likely, curvature - gap * likely
        return probability, slope, curvature


def has_signs(target: Activation) -> bool:
    """Whether the target takes the values -1 and 1 only (but for the breakpoints themselves)."""
    teacher = integrand(target)
    # Off every breakpoint that a formula is likely to have.
    x = np.concatenate([np.linspace(-9.0, 9.0, 401) + 1e-3 * math.pi, np.array([-37.3, 37.3])])
    return bool(np.all(np.abs(np.abs(teacher.values(x)) - 1.0) < 1e-12))


def sign_of(target: Activation) -> Activation:
    """The target's sign as a target of its own, with its jumps as breakpoints. Raises ModelError where it has none."""
    if has_signs(target):
        return target
    if isinstance(target, ByValues):
        return activation(lambda x: np.sign(target(x)))
    try:
        return activation(f"sign({to_text(target.expression)})")
    except ExpressionError as error:
        raise ModelError(f"a margin loss takes the sign of the target as label, and {error}") from error


def labelled_model(model: Model) -> Model:
    """The model that its loss sees: a margin loss takes the sign of the target as label.

    Raises ModelError for label noise, or a network's own bulk, beside a margin loss and a target that is not +-1.
    """
    if not (isinstance(model.loss, ProximalLoss) and model.loss.margin):
        return model
    if model.noise > 0.0 and not has_signs(model.target):
        raise ModelError(
            "label noise with a margin loss requires a target in {-1, 1}: omit the noise, or use for example "
            'target="sign"'
        )
    if model.network_step is not None and not has_signs(model.target):
        raise ModelError(
            "a margin loss with the network's own bulk requires a target in {-1, 1}, because the gradient step sees "
            'the labels: use for example target="sign", or the isotropic bulk, bulk_model="isotropic"'
        )
    if has_signs(model.target):
        return model
    # The step, where there was one, was made with the target itself: its spike and bulk stay.
    return model.as_given().changed(target=sign_of(model.target))
