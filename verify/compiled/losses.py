"""Smooth convex losses by their proximal maps, and the saddle point that stationarity gives for any of them.

The force (h - omega)/V at the proximal point h, and its slope in omega, are functions of complex fields too: Newton's
method finds h at the real ones, and one more of its steps carries a complex step along.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.free_energy import convex_loss as derived
from giantsteps.derivations.free_energy.along_spike import mu0
from giantsteps.derivations.free_energy.symbols import m_response
from giantsteps.derivations.kernel.search import steps
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.random_features.no_spike import isotropic
from giantsteps.verify.compiled.along import evaluated
from giantsteps.verify.compiled.doubles import normal_rule
from giantsteps.verify.compiled.pairs import concluded
from giantsteps.verify.compiled.saddle_points import Model, functions_of
from giantsteps.verify.compiled.system import values_of
from giantsteps.verify.compiled.tape import Tape, written
from giantsteps.verify.compiled.theorems import isotropic_bulk

Array = NDArray[np.float64]


# Steps of the rules for kappa, z and xi, and their reach.
_STEP, _REACH = 0.35, 7.0


@dataclass(frozen=True)
class Loss:
    """A smooth convex loss l(y, x): its value, and its first and its second derivative in x, which share most of their
    work; and, of (y, omega, V), where a search for the proximal map may begin.
    """

    value: Callable[[Array, Array], Array]
    slopes: Callable[[Array, Array], tuple[Array, Array]]
    start: Callable[[Array, Array, float | Array], Array] | None = None

    def slope(self, y: Array, x: Array) -> Array:
        """The first derivative."""
        return self.slopes(y, x)[0]

    def curvature(self, y: Array, x: Array) -> Array:
        """The second derivative."""
        return self.slopes(y, x)[1]


def _logistic(y: Array, x: Array) -> tuple[Array, Array]:
    """-y s(-y x) and y^2 s(y x) s(-y x), s(u) = (1 + tanh(u/2))/2."""
    tanh = np.tanh(0.5 * y * x)
    against = 0.5 * y * (1.0 - tanh)
    return -against, against * (0.5 * y * (1.0 + tanh))


def _pseudo_huber(y: Array, x: Array) -> tuple[Array, Array]:
    """u/sqrt(1 + u^2) and (1 + u^2)^(-3/2), u = x - y."""
    u = x - y
    square = 1.0 + u * u
    inverse = 1.0 / np.sqrt(square)
    return u * inverse, inverse / square


def _before_root(y: Array, omega: Array, V: float | Array) -> Array:
    """A point between y and the proximal map of pseudo-Huber: its slope u/sqrt(1 + u^2) is below u and below 1.

    Where u + V u/sqrt(1 + u^2) = w it bends down for u > 0, so that Newton's steps lead upwards to the root.
    """
    w = omega - y
    return np.asarray(y + np.copysign(np.maximum(np.abs(w) / (1 + V), np.abs(w) - V), w))


LOSSES: Mapping[str, Loss] = {
    "square": Loss(lambda y, x: (y - x) ** 2 / 2, lambda y, x: (x - y, np.ones_like(x + y))),
    "logistic": Loss(lambda y, x: np.logaddexp(0.0, -y * x), _logistic),
    "pseudo-Huber": Loss(lambda y, x: np.sqrt(1 + (y - x) ** 2) - 1, _pseudo_huber, _before_root),
}


# A step of Newton's method leaves an error of three quarters of its square at most, for |y| up to a unit and a half:
# |l'''| <= 3/2 l'' for these losses. So a step below this one leaves less than rounding.
_SETTLED = 1e-8
# Steps that are not held to a bracket, which is narrowed only where these do not settle: most settle in three.
_FREE = 8


def proximal(loss: Loss, y: Array, omega: Array, V: float | Array) -> Array:
    """argmin over x of (x - omega)^2/(2V) + l(y, x): Newton's method inside a bracket, to rounding."""
    y, omega = np.broadcast_arrays(np.asarray(y, float), np.asarray(omega, float))
    # The root of x - omega + V l' lies between omega and the point where its linear bound is.
    slope = V * loss.slope(y, omega)
    low, high = np.minimum(omega, omega - slope), np.maximum(omega, omega - slope)
    x = (low + high) / 2 if loss.start is None else np.clip(loss.start(y, omega, V), low, high)
    for k in range(60):
        first, second = loss.slopes(y, x)
        value = x - omega + V * first
        new = x - value / (1 + V * second)
        if k < _FREE:
            # Where a step would leave the bracket it ends at its edge: the next one leads back inside.
            new = np.clip(new, low, high)
        else:
            low, high = np.where(value > 0, low, x), np.where(value > 0, x, high)
            # Every other step halves the bracket: those from one edge of it to the other would go on for ever.
            inside = (k % 2 == 0) & (new > low) & (new < high) | (np.abs(new - x) < _SETTLED)
            new = np.where(inside, new, (low + high) / 2)
        if np.max(np.abs(new - x)) < _SETTLED:
            return np.asarray(new)
        x = new
    return np.asarray(x)


def forces(loss: Loss) -> Mapping[str, Callable[..., Any]]:
    """The force and its slope in omega as functions of (y, omega, V)."""
    last: tuple[Any, ...] = ()

    def point(y: Array, omega: Any, V: Any) -> tuple[Any, Any]:
        """The proximal point and the curvature of the loss there; the equations ask for the same ones in turn."""
        nonlocal last
        if not last or not all(map(np.array_equal, last, (y, omega, V))):
            real, at = np.broadcast_arrays(np.real(omega), np.real(V))
            # The columns of a complex step differ in their imaginary parts.
            if real.ndim and all(np.array_equal(np.broadcast_to(part[:1], part.shape), part) for part in (real, at)):
                real, at = real[:1], at[:1]
            x = proximal(loss, y, real, at)
            first, second = loss.slopes(y, x)
            x = x - (x - omega + V * first) / (1.0 + V * second)
            last = y, omega, V, x, loss.curvature(y, x)
        return last[3], last[4]

    def slope(y: Array, omega: Any, V: Any) -> Any:
        _, curvature = point(y, omega, V)
        return -curvature / (1.0 + V * curvature)

    return {"force": lambda y, omega, V: (point(y, omega, V)[0] - omega) / V, "force_slope": slope}


def labels(target: Activation, signs: bool, x: Array) -> Array:
    """The target's values, or their signs."""
    found = evaluated(target.expression, np.asarray(x, dtype=float))
    return np.sign(found) if signs else found


@lru_cache(maxsize=1)
def any_loss() -> tuple[Tape, ...]:
    """Equations (119)-(120) for isotropic rows; m where its response vanishes, which Newton's step leads to."""
    pull = sp.Symbol("pull", real=True)
    hats = (s.q1, s.q2, s.V1, s.V2, s.zeta, s.psi)
    overlaps = (s.zeta_hat, s.psi_hat, s.V1_hat, s.V2_hat)
    response = steps.value(derived.equation(s.m).theorem_of(m_response))
    rise = -s.alpha / s.beta * derived.over_samples(mu0**2 * derived.force_slope_of(*derived.AT))
    theorems = (*map(derived.at_saddle, hats), *isotropic_bulk(), *(isotropic(x, derived.at_saddle) for x in overlaps))
    return written((*map(concluded, theorems), (pull, response / rise), (s.m, s.m - pull)))


def solved(model: Model, loss: Loss) -> Mapping[str, float]:
    """The saddle point of a loss for a model of one letter with smooth functions and no noise on its labels."""
    root = math.sqrt((1.0 - model.alignment) * (1.0 + model.alignment))
    given = {s.alpha: model.alpha, s.beta: model.beta, s.ridge: model.ridge, s.c: model.bulks[0],
             s.gamma: model.alignment, s.rho: root**2}  # fmt: skip
    rules = {x.name: normal_rule(_STEP, _REACH) for x in (s.kappa, s.z, s.xi)}
    functions: dict[str, Callable[..., Any]] = {**functions_of(model), **forces(loss)}
    functions["g"] = partial(labels, model.target, False)
    named = {symbol.name: number for symbol, number in given.items()}
    return values_of(any_loss(), rules, named, functions)
