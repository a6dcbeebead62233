"""Convex losses l(y, h) and their proximal operators: argmin_h l(y, h) + (h - omega)^2/(2V).

Two kinds. A `ClippedLoss` depends on the residual y - h and its force is a clipped line, so that Gaussian averages of
it are closed forms: square, Huber, absolute. A `ProximalLoss` is any convex loss given by its proximal operator.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Where the clipped line of the square loss ends: so far out that nothing is clipped, and its square is finite.
NEVER = 1e100


class LossError(ValueError):
    """A loss that is not accepted; the message is one clear sentence."""


@dataclass(frozen=True)
class ClippedLoss:
    """l = r^2/2 for |r| <= delta, delta |r| - delta^2/2 beyond (r = y - h), or |r| when `absolute`.

    The force f = (prox - omega)/V is r/width clipped at +-delta, r = y - omega, with width = 1 + V, or V for |r|.
    """

    name: str
    delta: float
    absolute: bool = False

    def value(self, y: Array, h: Array) -> Array:
        """l(y, h)."""
        r: Array = np.abs(np.asarray(y - h, dtype=float))
        if self.absolute:
            return r
        inside = np.minimum(r, self.delta)
        return np.asarray(0.5 * inside**2 + self.delta * (r - inside))

    def width(self, V: Array) -> Array:
        """The slope of the clipped line is 1/width."""
        return V if self.absolute else 1.0 + V

    def prox(self, y: Array, omega: Array, V: Array) -> Array:
        """The proximal point."""
        return np.asarray(omega + V * np.clip((y - omega) / self.width(V), -self.delta, self.delta))


@dataclass(frozen=True)
class ProximalLoss:
    """Any convex loss, given by value(y, h), prox(y, omega, V) and slope(y, omega, V) = -df/domega.

    Here f = (prox - omega)/V is the force.
    margin: labels are signs and l depends on y h. kinks(V): the values of y omega at which the force has kinks.
    Without `slope` the derivative is a central difference, good to about 1e-9.
    """

    name: str
    value: Callable[[Array, Array], Array]
    prox: Callable[[Array, Array, Array], Array]
    slope: Callable[[Array, Array, Array], Array] | None = None
    margin: bool = False
    kinks: Callable[[Array], tuple[Array, ...]] | None = None

    def force_slope(self, y: Array, omega: Array, V: Array) -> Array:
        """-df/domega."""
        if self.slope is not None:
            return self.slope(y, omega, V)
        step = 1e-5 * (1.0 + np.abs(omega))
        rise = self.prox(y, omega + step, V) - self.prox(y, omega - step, V)
        return np.asarray((1.0 - rise / (2.0 * step)) / V)


Loss = ClippedLoss | ProximalLoss

SQUARE = ClippedLoss("square", NEVER)
ABSOLUTE = ClippedLoss("absolute", 1.0, absolute=True)


def huber(delta: float) -> ClippedLoss:
    """r^2/2 up to |r| = delta, linear beyond."""
    if not (math.isfinite(delta) and 0.0 < delta < NEVER):
        raise LossError(f"huber:{delta} is not accepted: delta has to be a number > 0, for example huber:1")
    return ClippedLoss(f"huber:{delta:g}", delta)


def _expit(x: Array) -> Array:
    decayed = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0.0, 1.0, decayed) / (1.0 + decayed))


def _logistic(y: Array, h: Array) -> Array:
    return np.asarray(np.logaddexp(0.0, -y * h))


def _logistic_margin(margin: Array, V: Array) -> Array:
    """The root h of h = margin + V/(1 + e^h), in [margin, margin + V]: Newton's method, kept in its bracket."""
    low, high = margin + 0.0 * V, margin + V
    h = margin + 0.5 * V / (1.0 + 0.25 * V)
    h = np.clip(h, low, high)
    for _ in range(60):
        s = _expit(-h)
        gap = h - margin - V * s
        low, high = np.where(gap <= 0.0, h, low), np.where(gap >= 0.0, h, high)
        moved = h - gap / (1.0 + V * s * (1.0 - s))
        outside = (moved < low) | (moved > high)
        moved = np.where(outside, 0.5 * (low + high), moved)
        done = bool(np.all(np.abs(moved - h) <= 4e-16 * (1.0 + np.abs(moved) + V)))
        h = moved
        if done:
            break
    return h


def _logistic_prox(y: Array, omega: Array, V: Array) -> Array:
    return y * _logistic_margin(y * omega, V)


def _logistic_slope(y: Array, omega: Array, V: Array) -> Array:
    s = _expit(-_logistic_margin(y * omega, V))
    return np.asarray(s * (1.0 - s) / (1.0 + V * s * (1.0 - s)))


LOGISTIC = ProximalLoss("logistic", _logistic, _logistic_prox, _logistic_slope, margin=True)


def _hinge_prox(y: Array, omega: Array, V: Array) -> Array:
    margin = y * omega
    return np.asarray(y * np.where(margin >= 1.0, margin, np.minimum(margin + V, 1.0)))


def _hinge_slope(y: Array, omega: Array, V: Array) -> Array:
    margin = y * omega
    return np.asarray(np.where((margin < 1.0) & (margin > 1.0 - V), 1.0, 0.0) / V)


HINGE = ProximalLoss(
    "hinge",
    lambda y, h: np.asarray(np.maximum(0.0, 1.0 - y * h)),
    _hinge_prox,
    _hinge_slope,
    margin=True,
    kinks=lambda V: (np.ones_like(V), 1.0 - V),
)

NAMED: dict[str, Loss] = {"square": SQUARE, "logistic": LOGISTIC, "hinge": HINGE, "absolute": ABSOLUTE}


def loss_named(text: str) -> Loss:
    """square, logistic, hinge, huber:DELTA or absolute. Raises LossError."""
    name, _, given = text.partition(":")
    if name in NAMED and not given and ":" not in text:
        return NAMED[name]
    if name == "huber":
        try:
            delta = float(given)
        except ValueError:
            delta = math.nan
        return huber(delta)
    raise LossError(
        f"loss {text[:40]!a} is not known: accepted are square, logistic, hinge, huber:DELTA and absolute, for example "
        "huber:1"
    )
