"""The saddle point the plain way: what the speed of `numerics` is measured against.

As the paper's method reads: all thirteen order parameters (m, zeta, psi, q1, q2, V1, V2 and six conjugates) are
iterated together with damping 1/2 until none moves by more than 1e-4; every update takes its expectations over kappa
from `scipy.integrate.quad` on [-10, 10] at its defaults, the coefficients in the integrand from a 19-node Gauss-Hermite
rule, and its traces from the eigenvalues of one sample of the bulk at d = 2000. Nothing here is made slower than that:
numbers shared by several equations of one update are computed once, and integrands are NumPy expressions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad

from giantsteps.derivations.expressions.tree import to_text
from giantsteps.numerics.models.model import Model

Array = NDArray[np.float64]

NODES = 19
DAMPING = 0.5
STOP = 1e-4
REACH = 10.0
DIMENSION = 2000
MOST_UPDATES = 2000

# NumPy's own functions, without the checks of `numerics.gaussian.evaluate`.
PLAIN: dict[str, Callable[[Array], Array]] = {
    "tanh(z)": np.tanh,
    "sin(z)": np.sin,
    "sign(z)": np.sign,
}

# sum of weights f(nodes) = E f(z), z ~ N(0, 1).
_POINTS, _UNNORMALISED = np.polynomial.hermite_e.hermegauss(NODES)
_WEIGHTS = _UNNORMALISED / math.sqrt(2.0 * math.pi)


@dataclass(frozen=True)
class Unknowns:
    """The thirteen order parameters; hats are the conjugates."""

    m: float = 0.0
    zeta: float = 0.0
    psi: float = 0.0
    q1: float = 1.0
    q2: float = 1.0
    V1: float = 1.0
    V2: float = 1.0
    zeta_hat: float = 0.0
    psi_hat: float = 0.0
    q1_hat: float = 1.0
    q2_hat: float = 1.0
    V1_hat: float = 1.0
    V2_hat: float = 1.0


@dataclass(frozen=True)
class Baseline:
    """What the plain iteration ends with."""

    test_error: float
    unknowns: Unknowns
    updates: int
    converged: bool


class _Functions(NamedTuple):
    """mu0, mu1, mu2^2 and y0, y1, y2 at one kappa, by the Gauss-Hermite rule."""

    mu0: float
    mu1: float
    mu2_squared: float
    y0: float
    y1: float
    y2: float


@lru_cache(maxsize=8)
def bulk_eigenvalues(beta: float, bulk: float, dimension: int = DIMENSION, seed: int = 0) -> Array:
    """The p = beta d eigenvalues of W W^T, W with independent rows uniform on the sphere of radius sqrt(bulk)."""
    width = round(beta * dimension)
    weights = np.random.default_rng(seed).standard_normal((width, dimension))
    weights *= math.sqrt(bulk) / np.linalg.norm(weights, axis=1)[:, None]
    values: Array = np.maximum(np.asarray(np.linalg.eigvalsh(weights @ weights.T), dtype=float), 0.0)
    return values


def solve(model: Model, eigenvalues: Array) -> Baseline:
    """The saddle point of a model of one group, given the eigenvalues of one sample of its bulk.

    Activation and target have to be among `PLAIN`. Raises KeyError for others.
    """
    functions = _functions(model)
    unknowns = Unknowns()
    for update in range(1, MOST_UPDATES + 1):  # noqa: B007  (the count is returned)
        mapped = _update(model, functions, eigenvalues, unknowns)
        damped = {name: DAMPING * new + (1.0 - DAMPING) * vars(unknowns)[name] for name, new in vars(mapped).items()}
        moved = max(abs(value - vars(unknowns)[name]) for name, value in damped.items())
        unknowns = replace(unknowns, **damped)
        if moved < STOP:
            break
    error = _average(lambda kappa: _squared_error(functions(kappa), kappa, unknowns)) - model.noise
    return Baseline(error, unknowns, update, moved < STOP)


def _functions(model: Model) -> Callable[[float], _Functions]:
    """The coefficients and the target's moments as functions of kappa."""
    sigma, target = PLAIN[to_text(model.activation.expression)], PLAIN[to_text(model.target.expression)]
    spike, root, gamma = model.spike, math.sqrt(model.bulk), model.alignment
    # What does not depend on kappa is prepared once.
    across, beyond = root * _POINTS, math.sqrt(model.remainder) * _POINTS
    weights = np.stack([_WEIGHTS, _WEIGHTS * _POINTS])

    def at(kappa: float) -> _Functions:
        features, labels = sigma(spike * kappa + across), target(gamma * kappa + beyond)
        mu0, slope = (weights @ features).tolist()
        y0, y1 = (weights @ labels).tolist()
        square, y2 = float(_WEIGHTS @ (features * features)), float(_WEIGHTS @ (labels * labels))
        return _Functions(mu0, slope / root, max(square - mu0 * mu0 - slope * slope, 0.0), y0, y1, y2 + model.noise)

    return at


def _average(integrand: Callable[[float], float]) -> float:
    """E over kappa ~ N(0, 1), truncated to [-10, 10]."""

    def weighted(kappa: float) -> float:
        return math.exp(-0.5 * kappa * kappa) / math.sqrt(2.0 * math.pi) * integrand(kappa)

    return float(quad(weighted, -REACH, REACH)[0])


def _prediction(f: _Functions, kappa: float, x: Unknowns) -> float:
    return f.mu0 * x.m + kappa * f.mu1 * x.zeta


def _squared_error(f: _Functions, kappa: float, x: Unknowns) -> float:
    """e2(kappa), label noise included."""
    prediction = _prediction(f, kappa, x)
    return (
        f.y2
        - 2.0 * f.y0 * prediction
        + prediction * prediction
        - 2.0 * f.y1 * f.mu1 * x.psi
        + f.mu1 * f.mu1 * x.q1
        + f.mu2_squared * x.q2
    )


def _update(model: Model, functions: Callable[[float], _Functions], eigenvalues: Array, x: Unknowns) -> Unknowns:
    """The right-hand sides of the thirteen equations of Result 3.3."""
    alpha, beta, bulk = model.alpha, model.beta, model.bulk

    def average(integrand: Callable[[_Functions, float, float], float]) -> float:
        """E of a function of the coefficients, kappa and 1 + V."""

        def at(kappa: float) -> float:
            f = functions(kappa)
            return integrand(f, kappa, 1.0 + f.mu1 * f.mu1 * x.V1 + f.mu2_squared * x.V2)

        return _average(at)

    ratio = alpha / beta
    resolvent = 1.0 / (model.ridge + x.V1_hat * eigenvalues + x.V2_hat)
    first = x.q1_hat + beta * x.psi_hat * x.psi_hat
    second = x.q2_hat + beta * bulk * x.zeta_hat * x.zeta_hat
    source = (first * eigenvalues + second) * resolvent * resolvent
    return Unknowns(
        m=average(lambda f, kappa, v: f.mu0 * (f.y0 - kappa * f.mu1 * x.zeta) / v)
        / average(lambda f, kappa, v: f.mu0 * f.mu0 / v),
        zeta=beta * bulk * x.V2 * x.zeta_hat,
        psi=beta * x.V1 * x.psi_hat,
        q1=float(np.mean(eigenvalues * source)),
        q2=float(np.mean(source)),
        V1=float(np.mean(eigenvalues * resolvent)),
        V2=float(np.mean(resolvent)),
        zeta_hat=ratio * average(lambda f, kappa, v: kappa * f.mu1 * (f.y0 - _prediction(f, kappa, x)) / v),
        psi_hat=ratio * average(lambda f, kappa, v: f.mu1 * f.y1 / v),
        q1_hat=ratio * average(lambda f, kappa, v: f.mu1 * f.mu1 * _squared_error(f, kappa, x) / (v * v)),
        q2_hat=ratio * average(lambda f, kappa, v: f.mu2_squared * _squared_error(f, kappa, x) / (v * v)),
        V1_hat=ratio * average(lambda f, kappa, v: f.mu1 * f.mu1 / v),
        V2_hat=ratio * average(lambda f, kappa, v: f.mu2_squared / v),
    )
