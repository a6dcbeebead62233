"""Numbers for the bounds of any convex loss: the solver at some ridges, and least losses by direct minimisation.

Least losses are found by SciPy over the coefficients themselves, averages are sums on a product grid; nothing is shared
with `numerics.bounds.any_loss`. Losses, activations and targets are smooth, so that the grid is accurate to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from derivations.activations.activation import activation
from derivations.language import symbols as s
from numerics.bounds.any_loss import least_loss
from numerics.models.model import Model
from numerics.saddle_point.any_loss.convex import ConvexSolution, solve
from numerics.saddle_point.any_loss.losses import SQUARE, Loss, ProximalLoss
from verify.checks.kinds import Point
from verify.claims.brute_force import Array
from verify.claims.convex_numbers import LOSSES, proximal
from verify.claims.models import functions_of, model_at
from verify.protocol.claim import Domain as ClaimDomain
from verify.protocol.claim import Range

# Least loss without mu1 z, for a wrong neighbour of the lower bound.
least_loss_along = sp.Symbol(r"\inf_{b}\mathcal{L}(b_1\mu_0+b_2\kappa\mu_1)", real=True)

# Student, target, spike, bulk, alignment: drawn once, of different shapes and strengths.
_MODELS: Mapping[str, tuple[str, str, float, float, float]] = {
    "tanh learns sin": ("tanh(z)", "sin(z)", 1.0, 1.0, 0.8),
    "erf learns tanh": ("erf(z)", "tanh(z)", 1.7, 1.2, 0.6),
    "tanh learns he2": ("tanh(z) + he(2, z)/4", "tanh(z) + he(2, z)/3", 1.3, 0.8, 0.75),
}
# Few samples make the upper bound tight, many samples and a wide network the lower one: a false bound has to be seen.
_REGIMES = {"generic": (1.5, 1.2, 0.1), "few samples": (0.01, 1.0, 0.1), "many samples": (3e3, 1e2, 1e-2)}
_RANGES = (Range("model", choices=tuple(_MODELS)), Range("loss", choices=("square", "pseudo-Huber")))
DOMAIN = ClaimDomain((*_RANGES, Range("regime", choices=tuple(_REGIMES))))
# Where the limit of large ridge is looked at: with many samples it would take a ridge beyond what the solver takes.
HEAVY = ClaimDomain((*_RANGES, Range("regime", choices=("generic", "few samples"))))
_LARGE = 1e4


def _model(point: Point) -> Model:
    student, target, spike, bulk, alignment = _MODELS[str(point["model"])]
    alpha, beta, ridge = _REGIMES[str(point["regime"])]
    return Model(
        activation(student), activation(target), alpha=alpha, beta=beta, ridge=ridge, spike=spike, bulk=bulk,
        alignment=alignment,
    )  # fmt: skip


@lru_cache(maxsize=8)
def _proximal(name: str) -> Loss:
    if name == "square":
        return SQUARE
    loss = LOSSES[name]

    def slope(y: Array, omega: Array, V: Array) -> Array:
        curvature = loss.curvature(y, proximal(loss, y, omega, V))
        return np.asarray(curvature / (1 + V * curvature))

    return ProximalLoss(name, loss.value, lambda y, omega, V: proximal(loss, y, omega, V), slope)


@lru_cache(maxsize=256)
def _solved(model: Model, loss: str) -> ConvexSolution | None:
    solution = solve(model, _proximal(loss))
    return solution if solution.converged else None


_STEP = 0.15
_LINE: Array = np.asarray(np.arange(-9.0, 9.0 + _STEP / 2, _STEP))
_WEIGHT: Array = np.asarray(_STEP * np.exp(-(_LINE**2) / 2) / np.sqrt(2 * np.pi))


@lru_cache(maxsize=64)
def _least(model: Model, name: str) -> Mapping[str, float]:
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
        s.least_loss.name: least(columns),
        s.least_loss_means.name: least(columns[:1]),
        least_loss_along.name: least(columns[:2]),
    }


def one_ridge(point: Point) -> Mapping[str, float] | None:
    """The test loss at the regime's ridge, and the least losses."""
    model, loss = _model(point), str(point["loss"])
    solution = _solved(model, loss)
    return None if solution is None else {**_least(model, loss), s.test_loss.name: solution.test_loss}


def large_ridge(point: Point) -> Mapping[str, float] | None:
    """The test loss at ridge 1e4, and the least losses."""
    model, loss = _model(point), str(point["loss"])
    solution = _solved(replace(model, ridge=_LARGE), loss)
    return None if solution is None else {**_least(model, loss), s.loss_infinity.name: solution.test_loss}


def best_of_ridges(point: Point) -> Mapping[str, float] | None:
    """The least test loss over two ridges and one that stands for infinity."""
    model, loss = _model(point), str(point["loss"])
    solutions = [_solved(replace(model, ridge=ridge), loss) for ridge in (0.02, 0.3, _LARGE)]
    losses = [solution.test_loss for solution in solutions if solution is not None]
    return {**_least(model, loss), s.best_loss.name: min(losses)} if losses else None


def square(point: Point) -> Mapping[str, float]:
    """The least square loss on split panels."""
    model = model_at(point)
    return {s.least_loss.name: least_loss(model, SQUARE, across=True).value, s.noise.name: model.noise}


def plain_functions(point: Point) -> Mapping[str, Callable[..., Any]]:
    """Moments of the model, for the distance from the span."""
    return functions_of(model_at(point))
