"""What a sample contributes at a given place along the spike: averages of the force of a convex loss.

Given kappa, the output at V = 0 is omega = yhat + P z + sqrt(q - P^2) xi, with P = sum_a mu1_a psi_a and q the variance
of the output, and the label y = g(gamma kappa + sqrt(1 - gamma^2) z) + sqrt(noise) N(0, 1). With f = (prox - omega)/V
the saddle point needs E f, E[-df/domega], E f^2, E[z f], and the errors E l(y, prox), E l(y, omega).

Clipped forces: omega is Gaussian given z, closed forms, a rule in z. Margin losses: z is averaged out given omega, also
in closed form, and a rule in omega remains. Any other loss: rules in z and xi.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from derivations.activation import Activation, activation
from derivations.expression import ExpressionError, to_text
from numerics.losses import ClippedLoss, Loss, ProximalLoss
from numerics.model import Model, ModelError
from numerics.quadrature import across_rule, density, gauss_legendre, integrand

Array = NDArray[np.float64]

# The argument of a target, a standard Gaussian, is beyond this with probability 4e-33.
_FARTHEST = 12.0


@dataclass(frozen=True)
class Averages:
    """Given kappa, each (n,): E f, E[-df/domega], E f^2, E[z f], E l(y, prox), E l(y, omega)."""

    force: Array
    slope: Array
    square: Array
    label: Array
    training: Array
    test: Array


class Sampler(Protocol):
    """Averages for a loss and a model on the nodes of one rule along the spike."""

    def __call__(self, yhat: Array, across: Array, variance: Array, V: Array) -> Averages:
        """Averages given yhat, P, q and V on the nodes, each (n,)."""


def normal_cdf(x: Array) -> Array:
    """The standard normal distribution function."""
    from scipy.special import ndtr

    return np.asarray(ndtr(x))


def sampler(loss: Loss, model: Model, place: Array, refine: int) -> Sampler:
    """The averages that suit the loss, where `place` is gamma.kappa at the nodes.

    Raises ModelError for label noise that is not built.
    """
    if isinstance(loss, ClippedLoss):
        return _Clipped(loss, model, place, refine)
    if loss.margin:
        return _Margin(loss, model, place, refine)
    return _General(loss, model, place, refine)


def labels(model: Model, place: Array, refine: int) -> tuple[Array, Array, Array]:
    """z, weights and g given place = gamma.kappa, (n, N) or broadcastable."""
    scale = math.sqrt(model.remainder)
    teacher = integrand(model.target)
    if scale == 0.0:
        return np.zeros((1, 1)), np.ones((1, 1)), teacher.values(place)[:, None]
    z, weights = across_rule(teacher, place, scale, refine)
    return z, weights, teacher.values(place[:, None] + scale * z)


class _Clipped:
    def __init__(self, loss: ClippedLoss, model: Model, place: Array, refine: int) -> None:
        self.loss, self.noise = loss, model.noise
        self.z, self.weights, self.g = labels(model, place, refine)

    def __call__(self, yhat: Array, across: Array, variance: Array, V: Array) -> Averages:
        spread = variance - across**2 + self.noise
        if self.z.shape == (1, 1):  # gamma = 1: the label does not know z
            spread = variance + self.noise
        deviation = np.sqrt(np.maximum(spread, 1e-300))[:, None]
        mean = self.g - yhat[:, None] - across[:, None] * self.z
        width = self.loss.width(V)[:, None]
        force, slope, square, beyond = _clipped_moments(mean, deviation, width, self.loss.delta)
        if self.loss.absolute:
            # l(y, prox) = |r| - V where the force is clipped, 0 elsewhere; beyond = E(|r| - delta width)_+.
            gap = mean / deviation
            size = mean * (1.0 - 2.0 * normal_cdf(-gap)) + 2.0 * deviation * density(np.clip(gap, -40.0, 40.0))
            training, test = beyond, size
        else:
            # With f clipped at delta, l = f^2/2 + delta (|r| - delta width)_+.
            _, _, plain, outside = _clipped_moments(mean, deviation, np.ones_like(width), self.loss.delta)
            training, test = 0.5 * square + self.loss.delta * beyond, 0.5 * plain + self.loss.delta * outside
        parts = (force, slope, square, self.z * force, training, test)
        return Averages(*(np.sum(self.weights * part, axis=1) for part in parts))


def _clipped_moments(mean: Array, deviation: Array, width: Array, delta: float) -> tuple[Array, Array, Array, Array]:
    """E f, E f', E f^2 and E(|r| - delta width)_+ for f = clip(r/width, +-delta), r ~ N(mean, deviation^2)."""
    low, high = (-delta * width - mean) / deviation, (delta * width - mean) / deviation
    below, above = normal_cdf(low), normal_cdf(-high)
    # Where a saturating activation leaves V near zero the line is so short that differences of the distribution
    # function would lose it: its share is integrated instead.
    short = delta * width < _SHORT * deviation
    slope, first, second = _long_line(mean, deviation, np.where(short, 1.0, width), delta)
    if np.any(short):
        line = _short_line(mean, deviation, delta * np.minimum(width, _SHORT * deviation / delta), delta)
        slope, first, second = (np.where(short, x, y) for x, y in zip(line, (slope, first, second), strict=True))
    force = first + delta * (above - below)
    square = second + delta**2 * (above + below)
    if delta >= 1e50:
        return force, slope, square, np.zeros_like(force)
    at_low, at_high = density(np.clip(low, -40.0, 40.0)), density(np.clip(high, -40.0, 40.0))
    return force, slope, square, deviation * (at_low + at_high) - deviation * (high * above - low * below)


# Half the line in standard deviations of r, below which it is integrated by a rule of this many points.
_SHORT, _SHORT_POINTS = 0.25, 8


def _long_line(mean: Array, deviation: Array, width: Array, delta: float) -> tuple[Array, Array, Array]:
    """E[f'], E[f; line], E[f^2; line], the share of r inside (-delta width, delta width), in closed form."""
    low, high = (-delta * width - mean) / deviation, (delta * width - mean) / deviation
    inside = 1.0 - normal_cdf(low) - normal_cdf(-high) if delta < 1e50 else np.ones_like(mean + width)
    at_low, at_high = density(np.clip(low, -40.0, 40.0)), density(np.clip(high, -40.0, 40.0))
    first = mean * inside + deviation * (at_low - at_high)
    second = (mean**2 + deviation**2) * inside + 2.0 * mean * deviation * (at_low - at_high)
    second = second + deviation**2 * (np.clip(low, -40.0, 40.0) * at_low - np.clip(high, -40.0, 40.0) * at_high)
    return inside / width, first / width, second / width**2


def _short_line(mean: Array, deviation: Array, half: Array, delta: float) -> tuple[Array, Array, Array]:
    """The same by Gauss and Legendre's rule over r in (-half, half), half = delta width; no division by the width."""
    nodes, weights = gauss_legendre(_SHORT_POINTS)
    slope, first, second = (np.zeros(np.broadcast(mean, half).shape) for _ in range(3))
    for node, weight in zip(nodes, weights, strict=True):
        likely = weight * density(np.clip((node * half - mean) / deviation, -40.0, 40.0)) / deviation
        slope += delta * likely
        first += delta * half * node * likely
        second += delta**2 * half * node**2 * likely
    return slope, first, second


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

    def given(self, mean: Array, deviation: Array) -> tuple[Array, Array]:
        """P(y = 1) and E[x 1(y = 1)] for u = mean + deviation x, x ~ N(0, 1)."""
        probability = np.full(np.broadcast(mean, deviation).shape, self.start)
        slope = np.zeros_like(probability)
        for place, jump in zip(self.places, self.jumps, strict=True):
            gap = (mean - place) / np.maximum(deviation, 1e-150)
            probability = probability + jump * normal_cdf(gap)
            slope = slope + jump * density(np.clip(gap, -40.0, 40.0))
        return probability, slope


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
    try:
        return activation(f"sign({to_text(target.expression)})")
    except ExpressionError as error:
        raise ModelError(f"a margin loss takes the sign of the target as label, and {error}") from error


def sign_model(model: Model) -> Model:
    """The model with its labels' sign as target. Raises ModelError for label noise beside a target that is not +-1."""
    if model.noise > 0.0 and not has_signs(model.target):
        raise ModelError(
            "label noise beside a margin loss is built for targets in {-1, 1}: leave --noise out, or take for example "
            "--target sign"
        )
    if model.step is not None and not has_signs(model.target):
        raise ModelError(
            "a margin loss beside the network's own bulk is built for targets in {-1, 1}, since the gradient step sees "
            "the labels too: take for example --target sign, or the isotropic bulk"
        )
    return replace(model, target=sign_of(model.target))


class _Margin:
    def __init__(self, loss: ProximalLoss, model: Model, place: Array, refine: int) -> None:
        self.loss, self.place = loss, place
        self.scale = math.sqrt(model.remainder)
        self.label = SignLabel.of(model.target, model.noise)
        self.panels = 18 * 2**refine

    def __call__(self, yhat: Array, across: Array, variance: Array, V: Array) -> Averages:
        deviation = np.sqrt(variance)
        overlap = np.clip(across / deviation, -1.0, 1.0)
        t, weights = self._rule(yhat, deviation, overlap, V)
        rest = np.sqrt((1.0 - overlap) * (1.0 + overlap))[:, None]
        mean = self.place[:, None] + self.scale * overlap[:, None] * t
        positive, tilt = self.label.given(mean, self.scale * rest)
        # E[z 1(y = 1) | omega]; z = overlap t + rest x.
        z_positive = overlap[:, None] * t * positive + rest * tilt
        z_negative = overlap[:, None] * t - z_positive
        omega = yhat[:, None] + deviation[:, None] * t
        wide = np.broadcast_to(V[:, None], omega.shape)
        totals = [np.zeros(len(yhat)) for _ in range(6)]
        for sign, probability, z in ((1.0, positive, z_positive), (-1.0, 1.0 - positive, z_negative)):
            y = np.full_like(omega, sign)
            h = self.loss.prox(y, omega, wide)
            force = (h - omega) / wide
            slope = self.loss.force_slope(y, omega, wide)
            losses = self.loss.value(y, h), self.loss.value(y, omega)
            parts = (probability * force, probability * slope, probability * force**2, z * force)
            for total, part in zip(totals, (*parts, *(probability * value for value in losses)), strict=True):
                total += np.sum(weights * part, axis=1)
        return Averages(*totals)

    def _rule(self, yhat: Array, deviation: Array, overlap: Array, V: Array) -> tuple[Array, Array]:
        """Panels in t that end at the kinks of the force and follow the steps of the label."""
        edges = [np.broadcast_to(np.linspace(-9.0, 9.0, self.panels + 1), (len(yhat), self.panels + 1))]
        for margin in self.loss.kinks(V) if self.loss.kinks is not None else ():
            for sign in (1.0, -1.0):
                edges.append(((sign * margin - yhat) / deviation)[:, None])
        slope = self.scale * overlap
        steep = np.where(np.abs(slope) > 1e-12, slope, 1e-12)
        width = np.minimum(self.scale * np.sqrt(1.0 - np.minimum(overlap**2, 1.0)) / np.abs(steep), 1.0)
        for step in self.label.places:
            centre = (step - self.place) / steep
            edges.append(centre[:, None] + width[:, None] * np.linspace(-8.0, 8.0, 9))
        sorted_edges = np.sort(np.clip(np.concatenate(edges, axis=1), -9.0, 9.0), axis=1)
        nodes, rule = gauss_legendre(10)
        half = 0.5 * np.diff(sorted_edges, axis=1)[:, :, None]
        t = (sorted_edges[:, :-1, None] + half * (1.0 + nodes)).reshape(len(yhat), -1)
        return t, (half * rule).reshape(len(yhat), -1) * density(t)


class _General:
    def __init__(self, loss: ProximalLoss, model: Model, place: Array, refine: int) -> None:
        if model.noise > 0.0:
            raise ModelError(
                f"label noise beside the loss {loss.name!r} is not built: leave the noise out, or take the square, "
                "Huber or absolute loss"
            )
        self.loss = loss
        self.z, self.weights, self.g = labels(model, place, refine)
        step = 0.5 / 2.0**refine
        self.xi: Array = step * np.arange(-math.ceil(8.5 / step), math.ceil(8.5 / step) + 1, dtype=np.float64)
        self.xi_weights = step * density(self.xi)

    def __call__(self, yhat: Array, across: Array, variance: Array, V: Array) -> Averages:
        spread = variance if self.z.shape == (1, 1) else variance - across**2
        deviation = np.sqrt(np.maximum(spread, 0.0))[:, None]
        centre = yhat[:, None] + across[:, None] * self.z
        wide = np.broadcast_to(V[:, None], self.g.shape)
        totals = [np.zeros(len(yhat)) for _ in range(6)]
        for xi, weight in zip(self.xi, self.xi_weights, strict=True):
            omega = centre + deviation * xi
            h = self.loss.prox(self.g, omega, wide)
            force = (h - omega) / wide
            slope = self.loss.force_slope(self.g, omega, wide)
            losses = self.loss.value(self.g, h), self.loss.value(self.g, omega)
            for total, part in zip(totals, (force, slope, force**2, self.z * force, *losses), strict=True):
                total += weight * np.sum(self.weights * part, axis=1)
        return Averages(*totals)
