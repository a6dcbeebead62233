"""A plain solver of the ridge saddle point for one group, sharing nothing with `numerics` (for tests only).

The thirteen order parameters are iterated together with damping, from the system as the paper lays it out. Activation
and target come with closed forms of mu0, mu1, E[sigma^2], y0, y1 and E[y^2], or by Gauss-Hermite where both are
entire; expectations over kappa use Gauss-Hermite, or composite Simpson where the target jumps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import erf, owens_t

Function = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Functions:
    """mean, slope = E[z f(a + s z)] and square as functions of (a, s)."""

    mean: Callable[[np.ndarray, float], np.ndarray]
    slope: Callable[[np.ndarray, float], np.ndarray]
    square: Callable[[np.ndarray, float], np.ndarray]


def normal(x: np.ndarray) -> np.ndarray:
    return np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


def by_hermite(f: Function, nodes: int = 200) -> Functions:
    z, w = np.polynomial.hermite_e.hermegauss(nodes)
    w = w / math.sqrt(2 * math.pi)

    def at(a: np.ndarray, s: float) -> np.ndarray:
        return f(a[:, None] + s * z)

    return Functions(
        lambda a, s: at(a, s) @ w,
        lambda a, s: at(a, s) @ (w * z),
        lambda a, s: at(a, s) ** 2 @ w,
    )


SIGN = Functions(
    lambda a, s: erf(a / (math.sqrt(2) * s)),
    lambda a, s: 2 * normal(a / s),
    lambda a, s: np.ones_like(a),
)

# E erf(a + s z)^2 = 1 - 8 T(a', 1/sqrt(1 + 4 s^2)) with a' = a sqrt(2)/sqrt(1 + 2 s^2) (Owen's T function).
ERF = Functions(
    lambda a, s: erf(a / math.sqrt(1 + 2 * s * s)),
    lambda a, s: 2 * s / math.sqrt(math.pi * (1 + 2 * s * s)) * np.exp(-a * a / (1 + 2 * s * s)),
    lambda a, s: 1 - 8 * owens_t(a * math.sqrt(2 / (1 + 2 * s * s)), 1 / math.sqrt(1 + 4 * s * s)),
)

SIN = Functions(
    lambda a, s: np.sin(a) * math.exp(-0.5 * s * s),
    lambda a, s: s * np.cos(a) * math.exp(-0.5 * s * s),
    lambda a, s: 0.5 * (1 - np.cos(2 * a) * math.exp(-2 * s * s)),
)

# E max(x, 0), E z max(x, 0) and E max(x, 0)^2 of x ~ N(a, s^2), P = P(x > 0).
RELU = Functions(
    lambda a, s: a * 0.5 * (1 + erf(a / (s * math.sqrt(2)))) + s * normal(a / s),
    lambda a, s: s * 0.5 * (1 + erf(a / (s * math.sqrt(2)))),
    lambda a, s: (a * a + s * s) * 0.5 * (1 + erf(a / (s * math.sqrt(2)))) + a * s * normal(a / s),
)

TANH = by_hermite(np.tanh, 300)


def solve(
    student: Functions,
    target: Functions,
    *,
    alpha: float,
    beta: float,
    ridge: float,
    spike: float,
    bulk: float,
    alignment: float,
    noise: float = 0.0,
    damping: float = 0.5,
    tolerance: float = 1e-13,
) -> dict[str, float]:
    """Damped iteration on V1, V2, their conjugates, m, zeta, psi, their conjugates, q1, q2 and their conjugates."""
    kappa = np.linspace(-9.5, 9.5, 6001)
    weight = np.full(len(kappa), 2.0)
    weight[1::2] = 4.0
    weight[[0, -1]] = 1.0
    weight *= (kappa[1] - kappa[0]) / 3 * normal(kappa)
    rho = 1 - alignment**2
    s, root = math.sqrt(bulk), math.sqrt(rho)
    mu0, mu1 = student.mean(spike * kappa, s), student.slope(spike * kappa, s) / s
    mu2 = student.square(spike * kappa, s) - mu0**2 - bulk * mu1**2
    y0, y1 = target.mean(alignment * kappa, root), target.slope(alignment * kappa, root)
    y2 = target.square(alignment * kappa, root) + noise
    ratio = alpha / beta
    V1, V2, m, zeta, psi, q1, q2 = 1.0, 1.0, 0.1, 0.1, 0.1, 0.1, 0.1
    for _ in range(20000):
        p = weight / (1 + mu1**2 * V1 + mu2 * V2)
        V1h, V2h = ratio * (p @ mu1**2), ratio * (p @ mu2)
        b = y0 - mu0 * m - kappa * mu1 * zeta
        zeta_hat = ratio * (p @ (kappa * mu1 * b))
        psi_hat = ratio * (p @ (mu1 * y1))
        risk = y2 - y0**2 + b**2 - 2 * y1 * mu1 * psi + mu1**2 * q1 + mu2 * q2
        pp = p / (1 + mu1**2 * V1 + mu2 * V2)
        q1h, q2h = ratio * (pp @ (mu1**2 * risk)), ratio * (pp @ (mu2 * risk))
        # Marchenko-Pastur moments of the law of eigenvalues t of W W^T, through the resolvent and its derivatives.
        new = np.empty(7)
        denominator = 1 + beta * bulk * V1h * V2
        new[0] = bulk * V2 / denominator
        new[1] = 1 / (ridge + V2h + bulk * V1h / denominator)
        new[2] = p @ (mu0 * (y0 - kappa * mu1 * zeta)) / (p @ mu0**2)
        new[3] = beta * bulk * V2 * zeta_hat
        new[4] = beta * V1 * psi_hat
        k1, k2 = q1h + beta * psi_hat**2, q2h + beta * bulk * zeta_hat**2
        new[5], new[6] = _resolvent_squares(k1, k2, V1h, ridge + V2h, beta, bulk)
        old = np.array([V1, V2, m, zeta, psi, q1, q2])
        V1, V2, m, zeta, psi, q1, q2 = (1 - damping) * new + damping * old
        if np.max(np.abs(new - old) / (1 + np.abs(new))) < tolerance:
            break
    else:
        raise ArithmeticError("the damped iteration did not converge")
    return {
        "m": m, "zeta": zeta, "psi": psi, "q1": q1, "q2": q2, "V1": V1, "V2": V2,
        "test_error": float(weight @ risk) - noise,
        "training_error": float(pp @ risk),
    }  # fmt: skip


def _resolvent_squares(k1: float, k2: float, a: float, b: float, beta: float, bulk: float) -> tuple[float, float]:
    """(1/p) tr[W G K G W^T...]: q1 = int t (k1 t + k2)/(a t + b)^2, q2 = int (k1 t + k2)/(a t + b)^2 over the law.

    With the Stieltjes transform g(x) = int 1/(t + x) at x = b/a: int 1/(t+x)^2 = -g', int t/(t+x)^2 = g + x g',
    int t^2/(t+x)^2 = 1 - 2 x g - x^2 g'.
    """
    x = b / a
    # c beta x g^2 + (x + c - beta c) g - 1 = 0 for the p x p matrix W W^T with rows of squared norm c.
    linear = x + bulk - beta * bulk
    root = math.sqrt(linear**2 + 4 * bulk * beta * x)
    g = (root - linear) / (2 * bulk * beta * x)
    slope = -(bulk * beta * g * g + g) / root
    one, first, second = -slope, g + x * slope, 1 - 2 * x * g - x * x * slope
    return (k1 * second + k2 * first) / a**2, (k1 * first + k2 * one) / a**2
