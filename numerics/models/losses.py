"""Convex losses l(y, h) and their proximal operators: argmin_h l(y, h) + (h - omega)^2/(2V).

Two kinds. A `ClippedLoss` depends on the residual y - h and its force is a clipped line, so that Gaussian averages of
it are closed forms: square, Huber, absolute. A `ProximalLoss` is any convex loss given by its proximal operator.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.models.parameters import ModelError

Array = NDArray[np.float64]

# Where the clipped line of the square loss ends: so far out that nothing is clipped, and its square is finite.
NEVER = 1e100


class LossError(ModelError):
    """An unsupported loss; the message says which ones are supported."""


@dataclass(frozen=True)
class ClippedLine:
    """A force r/(quadratic + V) clipped at low <= 0 and high >= 0: that of a loss quadratic r^2/2, then straight.

    r = y - omega, or 1 - y omega for a margin loss, whose force is y times this.
    """

    low: float
    high: float
    quadratic: float


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

    @property
    def line(self) -> ClippedLine:
        """The force as a function of r."""
        return ClippedLine(-self.delta, self.delta, 0.0 if self.absolute else 1.0)

    def prox(self, y: Array, omega: Array, V: Array) -> Array:
        """The proximal point."""
        return np.asarray(omega + V * np.clip((y - omega) / (self.line.quadratic + V), -self.delta, self.delta))


@dataclass(frozen=True)
class ProximalLoss:
    """Any convex loss, given by value(y, h), prox(y, omega, V) and slope(y, omega, V) = -df/domega.

    Here f = (prox - omega)/V is the force.
    margin: labels are signs and l depends on y h. kinks(V): the values of y omega at which the force has kinks.
    Without `slope` the derivative is a central difference, good to about 1e-9.

    Averages are closed forms where a margin loss has a `line`; they are taken on panels that resolve the force where
    `derivatives`(y, h), the first four of l in h, and `bends`(V) are given: the values of y omega beside which the
    force, as an analytic function, has its singularities, and how far off the real line these lie.
    """

    name: str
    value: Callable[[Array, Array], Array]
    prox: Callable[[Array, Array, Array], Array]
    slope: Callable[[Array, Array, Array], Array] | None = None
    margin: bool = False
    kinks: Callable[[Array], tuple[Array, ...]] | None = None
    line: ClippedLine | None = None
    derivatives: Callable[[Array, Array], tuple[Array, Array, Array, Array]] | None = None
    bends: Callable[[Array], tuple[tuple[Array, ...], float]] | None = None

    def __reduce__(self) -> Any:
        # Its functions have no names of their own: a loss known by name travels to other processes as that.
        return (loss_named, (self.name,)) if NAMED.get(self.name) is self else super().__reduce__()

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
    """The root h of h = margin + V/(1 + e^h), by Halley's method.

    (margin, h) -> (-V - margin, -h) maps the equation to itself, so that h >= 0 is enough. There the root lies between
    max(margin, 0) and margin + V, and h - margin - V/(1 + e^h) is increasing and concave.
    """
    turned = margin < -0.5 * V
    a = np.where(turned, -V - margin, margin)
    low, high = np.maximum(a, 0.0), a + V
    # At margin a >= 0 the gap x = h - a solves x (1 + e^(a + x)) = V, about Lambert's W; below, h falls to 0.
    size = np.log1p(V * np.exp(-low) / (1.0 + np.exp(-low)))
    x = size * (1.0 - np.log1p(size) / (2.0 + size))
    h = np.where(a >= 0.0, a + x, x * (1.0 + 2.0 * np.minimum(a, 0.0) / np.maximum(V, 1e-300)))
    h = np.clip(h, low, high)
    for _ in range(60):
        e = np.exp(-h)
        s = e / (1.0 + e)
        gap = h - a - V * s
        curved = V * s / (1.0 + e)
        rise = 1.0 + curved
        step = gap * rise / (rise * rise + 0.5 * gap * curved * (1.0 - e) / (1.0 + e))
        moved = np.clip(h - step, low, high)
        done = bool(np.all(np.abs(moved - h) <= 1e-5 * (1.0 + h)))
        h = moved
        if done:  # the next step, of third order, would be under rounding
            break
    return np.where(turned, -h, h)


def _logistic_prox(y: Array, omega: Array, V: Array) -> Array:
    return y * _logistic_margin(y * omega, V)


def _logistic_derivatives(y: Array, h: Array) -> tuple[Array, Array, Array, Array]:
    s = _expit(-y * h)
    second = s * (1.0 - s)
    return -y * s, second, -y * second * (1.0 - 2.0 * s), second * (1.0 - 6.0 * second)


def _logistic_bends(V: Array) -> tuple[tuple[Array, ...], float]:
    """1 + V l'' = 0 at h = +-L + i pi with L = 2 asinh(sqrt(V)/2), where y omega has the imaginary part pi too."""
    L = 2.0 * np.arcsinh(0.5 * np.sqrt(V))
    place = L + V / np.maximum(np.expm1(L), 1e-300)
    return (place, -V - place), math.pi


LOGISTIC = ProximalLoss(
    "logistic",
    _logistic,
    _logistic_prox,
    margin=True,
    derivatives=_logistic_derivatives,
    bends=_logistic_bends,
)


def _hinge_prox(y: Array, omega: Array, V: Array) -> Array:
    margin = y * omega
    return np.asarray(y * np.where(margin >= 1.0, margin, np.minimum(margin + V, 1.0)))


HINGE = ProximalLoss(
    "hinge",
    lambda y, h: np.asarray(np.maximum(0.0, 1.0 - y * h)),
    _hinge_prox,
    margin=True,
    kinks=lambda V: (np.ones_like(V), 1.0 - V),
    line=ClippedLine(0.0, 1.0, 0.0),
)

NAMED: dict[str, Loss] = {"square": SQUARE, "logistic": LOGISTIC, "hinge": HINGE, "absolute": ABSOLUTE}


def loss_named(text: str | Loss) -> Loss:
    """square, logistic, hinge, huber:DELTA or absolute; a loss is returned as it is. Raises LossError."""
    if isinstance(text, ClippedLoss | ProximalLoss):
        return text
    if not isinstance(text, str):
        raise LossError(
            f"a value of type {type(text).__name__} is no loss: accepted are square, logistic, hinge, huber:DELTA and "
            'absolute, for example "huber:1"'
        )
    name, _, given = text.partition(":")
    if name in NAMED and not given and ":" not in text:
        return NAMED[name]
    if name == "huber":
        try:
            delta = float(given)
        except ValueError:
            raise LossError(
                f"loss {text[:40]!a} has no number DELTA, where the loss turns from square to linear: huber:DELTA is "
                "accepted, for example huber:1"
            ) from None
        return huber(delta)
    raise LossError(
        f"loss {text[:40]!a} is not known: accepted are square, logistic, hinge, huber:DELTA and absolute, for example "
        "huber:1"
    )
