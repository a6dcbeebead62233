"""Numbers for random features with a convex loss: losses with their proximal maps, and explicit feature matrices.

The conjugates are measured as derivatives of the averaged Moreau envelope: by differences of the Gaussian density in
its variance and covariance, the envelope held fixed on a grid. Overlaps are traces of dense matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from derivations.language import symbols as s
from verify.checks.kinds import Point
from verify.claims.brute_force import SMOOTH, Array
from verify.protocol.claim import Domain, Range


@dataclass(frozen=True)
class Loss:
    """A smooth convex loss l(y, x): its value, its first and its second derivative in x."""

    value: Callable[[Array, Array], Array]
    slope: Callable[[Array, Array], Array]
    curvature: Callable[[Array, Array], Array]


def _sigmoid(u: Array) -> Array:
    return np.asarray(0.5 * (1 + np.tanh(u / 2)))


LOSSES: Mapping[str, Loss] = {
    "square": Loss(lambda y, x: (y - x) ** 2 / 2, lambda y, x: x - y, lambda y, x: np.ones_like(x + y)),
    "logistic": Loss(
        lambda y, x: np.logaddexp(0.0, -y * x),
        lambda y, x: -y * _sigmoid(-y * x),
        lambda y, x: y**2 * _sigmoid(y * x) * _sigmoid(-y * x),
    ),
    "pseudo-Huber": Loss(
        lambda y, x: np.sqrt(1 + (y - x) ** 2) - 1,
        lambda y, x: (x - y) / np.sqrt(1 + (y - x) ** 2),
        lambda y, x: (1 + (y - x) ** 2) ** -1.5,
    ),
}


def proximal(loss: Loss, y: Array, omega: Array, V: float | Array) -> Array:
    """argmin over x of (x - omega)^2/(2V) + l(y, x): Newton's method inside a bracket, to rounding."""
    y, omega = np.broadcast_arrays(np.asarray(y, float), np.asarray(omega, float))
    # The root of x - omega + V l' lies between omega and the point where its linear bound is.
    slope = V * loss.slope(y, omega)
    low, high = np.minimum(omega, omega - slope), np.maximum(omega, omega - slope)
    x = (low + high) / 2
    for _ in range(60):
        value = x - omega + V * loss.slope(y, x)
        low, high = np.where(value > 0, low, x), np.where(value > 0, x, high)
        step = x - value / (1 + V * loss.curvature(y, x))
        inside = (step >= low) & (step <= high)
        new = np.where(inside, step, (low + high) / 2)
        if np.max(np.abs(new - x)) < 1e-14:
            return np.asarray(new)
        x = new
    return np.asarray(x)


CONJUGATE_DOMAIN = Domain(
    ranges=(
        Range("loss", choices=tuple(LOSSES)),
        Range("target", choices=("tanh", "sin", "shifted sin")),
        Range(s.alpha_p, 0.5, 3.0),
        Range(s.gamma_p, 0.4, 2.0),
        Range(s.mu1_constant, 0.4, 0.9),
        Range(s.mu2_constant, 0.2, 0.6),
        Range(s.V, 0.3, 2.0),
        Range(s.output_square, 0.4, 1.2),
        Range("correlation", 0.2, 0.7),
    ),
    interpretations=(
        {
            "g": np.tanh,
            "eta": lambda y, omega: (omega + 0.7 * y) / 1.7 + 0.05 * np.tanh(omega),
            "eta_prime": lambda y, omega: 1 / (1.7 + 0.2 * np.cos(y) ** 2) + 0.0 * omega,
        },
    ),
)

_GRID: Array = np.arange(-9.0, 9.0 + 0.075, 0.15)


def functions_at(point: Point) -> Mapping[str, Callable[..., Any]]:
    """The target, and the proximal map of the loss with its derivative 1/(1 + V l'')."""
    loss, V = LOSSES[str(point["loss"])], float(point[s.V.name])

    def slope(y: Array, omega: Array) -> Array:
        return np.asarray(1 / (1 + V * loss.curvature(y, proximal(loss, y, omega, V))))

    return {
        "g": SMOOTH[str(point["target"])].value,
        "eta": lambda y, omega: proximal(loss, y, omega, V),
        "eta_prime": slope,
    }


@lru_cache(maxsize=512)
def _envelope(loss_name: str, target: str, V: float) -> Array:
    loss = LOSSES[loss_name]
    y = SMOOTH[target].value(_GRID)[:, None]
    x = proximal(loss, y, _GRID[None, :], V)
    return np.asarray((x - _GRID) ** 2 / (2 * V) + loss.value(y, x))


def _averaged(loss: str, target: str, V: float, Q: float, M: float) -> float:
    """E Moreau_V(g(nu), f), (nu, f) Gaussian with variances 1 and Q and covariance M."""
    determinant = Q - M**2
    nu, f = _GRID[:, None], _GRID[None, :]
    density = np.exp(-(Q * nu**2 - 2 * M * nu * f + f**2) / (2 * determinant)) / (2 * np.pi * np.sqrt(determinant))
    return float(np.sum(density * _envelope(loss, target, V)) * 0.15**2)


def _difference(function: Callable[[float], float], at: float) -> float:
    """A central difference of fourth order, step 1e-3: error of order 1e-12."""
    h = 1e-3
    outer, inner = function(at + 2 * h) - function(at - 2 * h), function(at + h) - function(at - h)
    return (8 * inner - outer) / (12 * h)


def conjugates(point: Point) -> dict[str, float]:
    """The five conjugates as derivatives of alpha E[Moreau] in q_s, V_s, m_s, q_w, V_w, by differences."""
    loss, target = str(point["loss"]), str(point["target"])
    names = (s.V, s.output_square, s.alpha_p, s.gamma_p, s.mu1_constant, s.mu2_constant)
    V, Q, alpha, gamma, k1, k2 = (float(point[x.name]) for x in names)
    M = float(point["correlation"]) * np.sqrt(Q)
    in_Q = _difference(lambda q: _averaged(loss, target, V, q, M), Q)
    in_M = _difference(lambda m: _averaged(loss, target, V, Q, m), M)
    in_V = _difference(lambda v: _averaged(loss, target, v, Q, M), V)
    return {
        s.output_overlap.name: M,
        s.label_variance.name: 1 - M**2 / Q,
        s.V_s_hat.name: 2 * alpha / gamma * k1**2 * in_Q,
        s.V_w_hat.name: 2 * alpha * k2**2 * in_Q,
        s.q_s_hat.name: -2 * alpha / gamma * k1**2 * in_V,
        s.q_w_hat.name: -2 * alpha * k2**2 * in_V,
        s.m_s_hat.name: -alpha / gamma * k1 * in_M,
    }


# ---- overlaps on explicit matrices ----

MATRIX_DOMAIN = Domain(
    ranges=(
        Range("seed"),
        Range("sizes", choices=("9 neurons, 6 inputs", "5 neurons, 8 inputs", "6 neurons, 2 inputs")),
        Range(s.ridge, 0.1, 2.0),
        Range(s.V_s_hat, 0.3, 2.0),
        Range(s.V_w_hat, 0.1, 1.5),
        Range(s.q_s_hat, 0.2, 2.0),
        Range(s.q_w_hat, 0.2, 2.0),
        Range(s.m_s_hat, -1.5, 1.5),
    ),
    interpretations=({"varrho": lambda u: 1.2 + np.tanh(u)},),
)


def overlaps(point: Point) -> dict[str, float]:
    """V_s, q_s, m_s, V_w, q_w of a random matrix F: traces of dense resolvents; g_mu and g_mu' from eigenvalues."""
    generator = np.random.default_rng(int(1e6 * float(point["seed"])))
    p, d = (int(word) for word in str(point["sizes"]).split() if word.isdigit())
    F = generator.standard_normal((p, d))
    names = (s.ridge, s.V_s_hat, s.V_w_hat, s.q_s_hat, s.q_w_hat, s.m_s_hat)
    ridge, V_s, V_w, q_s, q_w, m_s = (float(point[x.name]) for x in names)
    omega, one = F @ F.T / p, np.eye(p)
    inverse = np.linalg.inv((ridge + V_w) * one + V_s * omega)
    readout = inverse @ ((q_s + m_s**2) * omega + q_w * one) @ inverse  # covariance of a = S^-1 J
    z = (ridge + V_w) / V_s
    narrow, wide = np.linalg.eigvalsh(F.T @ F / p), np.linalg.eigvalsh(omega)
    return {
        s.gamma_p.name: d / p,
        s.V_s.name: float(np.trace(omega @ inverse)) / d,
        s.V_w.name: float(np.trace(inverse)) / p,
        s.q_s.name: float(np.trace(omega @ readout)) / d,
        s.q_w.name: float(np.trace(readout)) / p,
        s.m_s.name: m_s * float(np.trace(omega @ inverse)) / d,
        s.spectral_stieltjes.name: float(np.mean(1 / (narrow + z))),
        s.spectral_slope.name: float(np.mean(1 / (narrow + z) ** 2)),
        s.wide_stieltjes.name: float(np.mean(1 / (wide + z))),
    }
