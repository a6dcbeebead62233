"""Readouts for other losses at finite size: certificates, optimality, and another solver."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from giantsteps.numerics.experiments import readout
from giantsteps.numerics.experiments.convex_readout import GAP_GOAL, fit
from giantsteps.numerics.experiments.ensembles import Array
from giantsteps.numerics.models.losses import ABSOLUTE, HINGE, LOGISTIC, SQUARE, Loss, ProximalLoss, huber
from giantsteps.numerics.models.network import SimulationError

LOSSES = (LOGISTIC, HINGE, huber(0.5), ABSOLUTE)
SHAPES = ((60, 40), (40, 60), (50, 50))


def _problem(n: int, p: int, loss: Loss) -> tuple[Array, Array]:
    rng = np.random.default_rng([n, p])
    phi = np.tanh(rng.standard_normal((n, p)) + 0.5 * rng.standard_normal((n, 1)))
    y = phi @ rng.standard_normal(p) / np.sqrt(p) + 0.5 * rng.standard_normal(n)
    return phi, np.sign(y) if isinstance(loss, ProximalLoss) else y


def _energy(phi: Array, y: Array, loss: Loss, ridge: float, a: Array) -> float:
    return float(np.sum(loss.value(y, phi @ a / np.sqrt(phi.shape[1]))) + 0.5 * ridge * a @ a)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("ridge", [1e-3, 0.1, 3.0])
def test_nothing_nearby_is_lower(shape: tuple[int, int], loss: Loss, ridge: float) -> None:
    phi, y = _problem(*shape, loss)
    found = fit(phi, y, loss, ridge)
    assert found.energy == pytest.approx(_energy(phi, y, loss, ridge, found.a), rel=1e-12)
    assert -1e-12 * found.energy <= found.gap <= GAP_GOAL * found.energy
    rng = np.random.default_rng(7)
    for size in (1e-3, 1e-1):
        for _ in range(20):
            step = size * rng.standard_normal(shape[1])
            # Strong convexity: a step s from the minimum costs (ridge/2)|s|^2 at least, up to what the gap allows.
            gap = max(found.gap, 0.0)
            least = found.energy - gap + 0.5 * ridge * (np.linalg.norm(step) - np.sqrt(2 * gap / ridge)) ** 2
            assert _energy(phi, y, loss, ridge, found.a + step) >= least - 1e-12 * found.energy


@pytest.mark.parametrize("shape", SHAPES)
def test_the_square_loss_is_the_ridge_readout(shape: tuple[int, int]) -> None:
    phi, y = _problem(*shape, SQUARE)
    ridge = readout.fit(iter([(phi, y)]), *shape, (0.1,)).a[:, 0]
    # L-BFGS-B stops at a gradient of 1e-7, beside a curvature of at least one in the forces.
    assert fit(phi, y, SQUARE, 0.1).a == pytest.approx(ridge, abs=1e-5)


def test_another_solver_finds_the_same_hinge_readout() -> None:
    """The margin problem with slacks, by SciPy's SLSQP: 40 unknowns and 30 slacks under 60 constraints."""
    phi, y = _problem(30, 40, HINGE)
    p, n, ridge = 40, 30, 0.2
    rows = phi * y[:, None] / np.sqrt(p)
    found = minimize(
        lambda v: 0.5 * ridge * v[:p] @ v[:p] + v[p:].sum(),
        np.concatenate([np.zeros(p), np.ones(n)]),
        jac=lambda v: np.concatenate([ridge * v[:p], np.ones(n)]),
        constraints=[
            {
                "type": "ineq",
                "fun": lambda v: rows @ v[:p] + v[p:] - 1.0,
                "jac": lambda v: np.hstack([rows, np.eye(n)]),
            }
        ],
        bounds=[(None, None)] * p + [(0.0, None)] * n,
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 500},
    )
    ours = fit(phi, y, HINGE, ridge)
    assert ours.energy == pytest.approx(float(found.fun), rel=1e-8)
    assert ours.a == pytest.approx(found.x[:p], abs=1e-4)


def test_what_cannot_be_fitted_is_refused() -> None:
    phi, y = _problem(20, 10, HINGE)
    with pytest.raises(SimulationError, match="positive ridge"):
        fit(phi, y, HINGE, 0.0)
    unknown = ProximalLoss("mine", lambda y, h: (y - h) ** 2, lambda y, w, V: (w + 2 * V * y) / (1 + 2 * V))
    with pytest.raises(SimulationError, match="no solver"):
        fit(phi, y, unknown, 0.1)
