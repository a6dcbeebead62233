"""Numbers for random features with a convex loss: losses with their proximal maps, and explicit feature matrices.

The conjugates are measured as derivatives of the averaged Moreau envelope: by differences of the Gaussian density in
its variance and covariance, the envelope held fixed on a grid. Overlaps are traces of dense matrices.

Least losses of the bounds for any convex loss are found by SciPy over the coefficients themselves, averages are sums on
a product grid; nothing is shared with `numerics.bounds.any_loss`. Losses, activations and targets are smooth, so that
the grid is accurate to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.bounds import symbols as s_bounds
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.numerics.models.losses import SQUARE, ProximalLoss
from giantsteps.numerics.models.losses import Loss as SolverLoss
from giantsteps.numerics.models.model import Model
from giantsteps.verify.checks.points import Point
from giantsteps.verify.compiled.losses import LOSSES, forces, proximal
from giantsteps.verify.protocol.claim import Domain, Range
from giantsteps.verify.second_route.grids import SMOOTH, Array, normal_line
from giantsteps.verify.second_route.models import GENERIC, functions_of

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

_GRID = normal_line(0.15)[0]


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
    interpretations=({"varrho_F": lambda u: 1.2 + np.tanh(u)},),
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


NAMES = tuple(LOSSES)


def value_of_loss(point: Point) -> Mapping[str, Callable[..., Any]]:
    """The loss of a point, and functions of no model."""
    return {**GENERIC, "loss": LOSSES[str(point["loss"])].value}


# Least loss without mu1 z, for a wrong neighbour of the lower bound.
least_loss_along = sp.Symbol(r"\inf_{b}\mathcal{L}(b_1\mu_0+b_2\kappa\mu_1)", real=True)

# Student, target, spike, bulk, alignment: drawn once, of different shapes and strengths.
_MODELS: Mapping[str, tuple[str, str, float, float, float]] = {
    "tanh learns sin": ("tanh(z)", "sin(z)", 1.0, 1.0, 0.8),
    "erf learns tanh": ("erf(z)", "tanh(z)", 1.7, 1.2, 0.6),
    "tanh learns he2": ("tanh(z) + he(2, z)/4", "tanh(z) + he(2, z)/3", 1.3, 0.8, 0.75),
}
# Few samples make the upper bound tight, many samples and a wide network the lower one: a false bound has to be seen.
REGIMES = {"generic": (1.5, 1.2, 0.1), "few samples": (0.01, 1.0, 0.1), "many samples": (3e3, 1e2, 1e-2)}
_RANGES = (Range("model", choices=tuple(_MODELS)), Range("loss", choices=("square", "pseudo-Huber")))
DOMAIN = Domain((*_RANGES, Range("regime", choices=tuple(REGIMES))))
# Where the limit of large ridge is looked at: with many samples it would take a ridge beyond what the solver takes.
HEAVY = Domain((*_RANGES, Range("regime", choices=("generic", "few samples"))))


def bounded_model(point: Point) -> Model:
    student, target, spike, bulk, alignment = _MODELS[str(point["model"])]
    alpha, beta, ridge = REGIMES[str(point["regime"])]
    return Model(
        activation(student), activation(target), alpha=alpha, beta=beta, ridge=ridge, spike=spike, bulk=bulk,
        alignment=alignment,
    )  # fmt: skip


@lru_cache(maxsize=8)
def for_solver(name: str) -> SolverLoss:
    """A loss as the solver for convex losses takes it."""
    if name == "square":
        return SQUARE
    loss, found = LOSSES[name], forces(LOSSES[name])
    return ProximalLoss(
        name, loss.value,
        lambda y, omega, V: np.asarray(omega + V * found["force"](y, omega, V)),
        lambda y, omega, V: np.asarray(-found["force_slope"](y, omega, V)),
    )  # fmt: skip


_LINE, _WEIGHT = normal_line(0.15)


@lru_cache(maxsize=64)
def least_losses(model: Model, name: str) -> Mapping[str, float]:
    """Least losses over three spans, by SciPy on a product grid of kappa and z."""
    from scipy.optimize import minimize  # slow to import, and most readers of the claims run none

    loss, functions = LOSSES[name], functions_of(model)
    kappa, z = (x.ravel() for x in np.meshgrid(_LINE, _LINE, indexing="ij"))
    weight = np.multiply.outer(_WEIGHT, _WEIGHT).ravel()
    zero, one = (np.repeat(functions[f"mu{k}"](_LINE), _LINE.size) for k in (0, 1))
    label = functions["g"](model.alignment * kappa + np.sqrt(1 - model.alignment**2) * z)
    columns = np.stack([zero, kappa * one, one * z])

    def least(chosen: Array) -> float:
        def objective(b: Array) -> tuple[float, Array]:
            f = b @ chosen
            return float(weight @ loss.value(label, f)), np.asarray(chosen @ (weight * loss.slope(label, f)))

        found = minimize(objective, np.zeros(len(chosen)), jac=True, method="BFGS", options={"gtol": 1e-9})
        return float(found.fun)

    return {
        s_bounds.least_loss.name: least(columns),
        s_bounds.least_loss_means.name: least(columns[:1]),
        least_loss_along.name: least(columns[:2]),
    }
