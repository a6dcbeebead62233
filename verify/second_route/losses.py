"""Least losses of the bounds for any convex loss, found by SciPy over the coefficients themselves.

Averages are sums on a product grid; nothing is shared with `numerics.bounds.any_loss`. Losses, activations and targets
are smooth, so that the grid is accurate to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.bounds import symbols as s_bounds
from giantsteps.numerics.models.losses import SQUARE, ProximalLoss
from giantsteps.numerics.models.losses import Loss as SolverLoss
from giantsteps.numerics.models.model import Model
from giantsteps.verify.checks.points import Point
from giantsteps.verify.compiled.losses import LOSSES, forces
from giantsteps.verify.protocol.claim import Domain, Range
from giantsteps.verify.second_route.grids import Array, normal_line
from giantsteps.verify.second_route.models import GENERIC, functions_of

NAMES = tuple(LOSSES)


def value_of_loss(point: Point) -> Mapping[str, Callable[..., Any]]:
    """The loss of a point, and functions of no model."""
    return {**GENERIC, "loss": LOSSES[str(point["loss"])].value}


# Least loss without mu1 z, for a mutant of the lower bound.
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
