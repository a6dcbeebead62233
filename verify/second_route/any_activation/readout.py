"""The ridge readout of a network with any activation: the saddle point by plain iteration, one group.

Functions along the spike are sums over panels that are split at zero; (T, tau) and K come from
`any_activation.rows`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from giantsteps.verify.second_route.any_activation.rows import CURVES, Block, Rows, equivalent, rows
from giantsteps.verify.second_route.grids import Array, normal_line, panels
from giantsteps.verify.second_route.networks.formulas import Step
from giantsteps.verify.second_route.saddle_point import plain

_STILL = 1e-13


@dataclass(frozen=True)
class Readout:
    """The saddle point: overlaps m, zeta, psi, chi, C and D, T and tau, q1 and q2, both errors."""

    m: float
    zeta: float
    psi: float
    chi: float
    C: float
    D: float
    T: float
    tau: float
    q1: float
    q2: float
    test_error: float
    training_error: float


def _smoothed(name: str, centres: Array, width: float) -> tuple[Array, Array, Array, Array]:
    """E f(a + s z), E[z f], E[f^2] and E[(z^2 - 1) f] at every centre a, by panels in the argument split at zero."""
    far = float(np.max(np.abs(centres))) + 9.0 * width
    count = math.ceil(far / width)
    x, dx = panels(np.linspace(-far, far, 2 * count + 1), 12)
    z = (x - centres[:, None]) / width
    weight = dx / width * np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    f = CURVES[name].value(x)
    return weight @ f, (weight * z) @ f, weight @ f**2, (weight * (z * z - 1.0)) @ f


@lru_cache(maxsize=32)
def along(law: Rows, step: float = 0.1, reach: float = 8.5) -> tuple[plain.Along, Array]:
    """The functions along the spike by their definitions, and k2."""
    kappa, w = normal_line(step, reach)
    mu0, slope, square, curved = _smoothed(law.step.student, law.spike * kappa, math.sqrt(law.c))
    outside = math.sqrt(1.0 - law.gamma**2)
    y0, y1, y2, _ = _smoothed(law.step.target, law.gamma * kappa, outside)
    mu1 = slope / math.sqrt(law.c)
    f = plain.Along(kappa[None], w, mu0[None], mu1[None], (square - mu0**2 - slope**2)[None], y0, y1, y2)
    return f, curved / (2.0 * law.c)


def solve(step: Step, alpha: float, ridge: float) -> Readout:
    """The saddle point; raises ArithmeticError where the iteration did not come to rest."""
    law, ratio = rows(step), alpha / step.beta
    f, third = along(law)
    start: list[Array | None] = [None]

    def map_of(C: Array, D: Array, tau: Array) -> tuple[Array, Array]:
        gain = float(C[0, 0]) * step.beta * float(tau[0])
        # At rest together with T and tau.
        block = Block(law, gain, start[0], sweeps=3)
        start[0] = block.G
        filled = (1.0 - block.G[0, 0].real) / gain
        new = 1.0 / (ridge + D + float(C[0, 0]) * filled)
        return np.array([[float(((1.0 - (ridge + D) * new) / C[0, 0])[0])]]), new

    rest = plain.settle(f, map_of, ratio, np.array([[law.c]]), np.ones(1), _STILL)
    C, D = float(rest.C[0, 0]), float(rest.D[0])
    at = equivalent(law, C, ridge + D, float(rest.tau[0]))
    weight = f.w * rest.shrink
    mu1, kappa = f.mu1[0], f.kappa[0]
    functions = np.stack([f.mu0[0], kappa * mu1, third])
    gram, pull = (functions * weight) @ functions.T, functions @ (weight * f.y0)
    psi_force = mu1 @ (weight * f.y1)
    K = ratio * at.K
    system, right = gram.copy(), pull.copy()
    system[1:] = np.eye(3)[1:] + K[:2, :2] @ gram[1:]
    right[1:] = K[:2, :2] @ pull[1:] + K[:2, 2] * psi_force
    x = np.linalg.solve(system, right)
    left = pull - gram @ x
    forces = np.array([left[1], left[2], psi_force])
    psi = float(K[2] @ forces)
    yhat = x @ functions
    fixed = f.y2 + step.noise - 2 * f.y0 * yhat + yhat**2 - 2 * f.y1 * psi * mu1
    signal = ratio**2 * np.einsum("i,dij,j->d", forces, at.dK, forces)
    q1, q2, e2 = plain.sizes(f, rest, ratio, at.dT[:, None, None], at.dtau[:, None], fixed, signal)
    return Readout(
        float(x[0]), float(x[1]), psi, float(x[2]), C, D, at.T, at.tau, float(q1[0, 0]), float(q2[0]),
        float(f.w @ e2) - step.noise, float(f.w @ (e2 * rest.shrink**2)),
    )  # fmt: skip
