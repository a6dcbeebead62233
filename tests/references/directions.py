"""A plain solver for a spike of several directions: sums on a grid, damped iteration, finite differences.

It shares nothing with the package: functions of kappa from sums over z, Gamma by iterating its equation, derivatives of
Gamma by central differences, m and zeta from one linear system.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
STEP = 1e-5


def line(step: float, reach: float = 8.0) -> tuple[Array, Array]:
    """Nodes and weights of the trapezoidal rule for a standard normal variable."""
    z = np.arange(-reach, reach + step / 2, step)
    return z, step * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)


def reference_test_error(
    student: Callable[[Array], Array],
    target: Callable[[Array], Array],
    spikes: Array,
    gamma: Array,
    *,
    alpha: float,
    beta: float,
    ridge: float,
    bulks: Array,
    fractions: Array,
    step: float = 0.25,
) -> float:
    """The test error without label noise; spikes (k, s), gamma (s,)."""
    axis, weight = line(step, 8.0 if len(gamma) < 3 else 6.0)
    grids = np.meshgrid(*([axis] * len(gamma)), indexing="ij")
    kappa = np.stack([grid.ravel() for grid in grids])
    w = np.prod([grid.ravel() for grid in np.meshgrid(*([weight] * len(gamma)), indexing="ij")], axis=0)
    z, wz = line(0.25)

    def moments(f: Callable[[Array], Array], shift: Array, scale: float) -> tuple[Array, Array, Array]:
        values = f(shift[:, None] + scale * z)
        return values @ wz, (values * z) @ wz, values**2 @ wz

    parts = [moments(student, u @ kappa, np.sqrt(c)) for u, c in zip(spikes, bulks, strict=True)]
    mu0 = np.array([part[0] for part in parts])
    mu1 = np.array([part[1] / np.sqrt(c) for part, c in zip(parts, bulks, strict=True)])
    mu2 = np.array([p[2] - p[0] ** 2 - p[1] ** 2 for p in parts])
    y0, y1, y2 = moments(target, gamma @ kappa, float(np.sqrt(1 - gamma @ gamma)))
    k, ratio = len(bulks), alpha / beta

    def equivalent(C: Array, D: Array) -> tuple[Array, Array]:
        tau = fractions / (ridge + D)
        for _ in range(2000):
            theta = np.diag(bulks * beta * tau)
            new = fractions / (ridge + D + bulks * np.diag(C @ np.linalg.inv(np.eye(k) + theta @ C)))
            if np.max(np.abs(new - tau) / new) < 1e-15:
                break
            tau = 0.5 * (tau + new)
        theta = np.diag(bulks * beta * tau)
        return theta @ np.linalg.inv(np.eye(k) + C @ theta) / beta, tau

    T, tau = np.diag(bulks * fractions), fractions.copy()
    for _ in range(3000):
        shrink = w / (1 + np.einsum("an,bn,ab->n", mu1, mu1, T) + tau @ mu2)
        C, D = ratio * (mu1 * shrink) @ mu1.T, ratio * mu2 @ shrink
        T_new, tau_new = equivalent(C, D)
        moved = max(np.max(np.abs(T_new - T)), np.max(np.abs(tau_new - tau)))
        T, tau = T_new, tau_new
        if moved < 1e-14:
            break
    functions = np.concatenate([mu0, *(x * mu1 for x in kappa)])  # zeta_aj in the order (j, a)
    gram = (functions * shrink) @ functions.T
    held = np.concatenate([np.zeros(k), *(1 / (alpha * bulks * tau) for _ in gamma)])
    solution = np.linalg.solve(gram + np.diag(held), (functions * shrink) @ y0)
    yhat = solution @ functions
    zt = np.array([mu1 @ (shrink * x * (y0 - yhat)) for x in kappa])
    pt = mu1 @ (shrink * y1)
    psi = alpha * T @ pt

    def signal(C: Array, D: Array) -> float:
        T, tau = equivalent(C, D)
        return float(ratio**2 * beta * (np.sum(zt**2 @ (bulks * tau)) + pt @ T @ pt))

    def along(C_to: Array, D_to: Array) -> tuple[Array, Array]:
        up, down = (equivalent(C + sign * STEP * C_to, D + sign * STEP * D_to) for sign in (1, -1))
        return (up[0] - down[0]) / (2 * STEP), (up[1] - down[1]) / (2 * STEP)

    def slope(C_to: Array, D_to: Array) -> float:
        return (signal(C + STEP * C_to, D + STEP * D_to) - signal(C - STEP * C_to, D - STEP * D_to)) / (2 * STEP)

    unit, none, flat = np.eye(k), np.zeros((k, k)), np.zeros(k)
    s_tau = np.array([slope(none, unit[a]) for a in range(k)])
    s_T = np.array(
        [
            [slope((np.outer(unit[a], unit[b]) + np.outer(unit[b], unit[a])) / 2, flat) for b in range(k)]
            for a in range(k)
        ]
    )
    Q, q2 = np.zeros((k, k)), np.zeros(k)
    fixed = y2 - 2 * y0 * yhat + yhat**2 - 2 * y1 * (psi @ mu1)
    for _ in range(500):
        e2 = fixed + np.einsum("an,bn,ab->n", mu1, mu1, Q) + q2 @ mu2
        again = shrink**2 / w
        dT, dtau = along(ratio * (mu1 * (again * e2)) @ mu1.T, ratio * mu2 @ (again * e2))
        moved = np.max(np.abs(-dtau - s_tau - q2))
        Q, q2 = -dT - s_T, -dtau - s_tau
        if moved < 1e-12:
            break
    return float(w @ (fixed + np.einsum("an,bn,ab->n", mu1, mu1, Q) + q2 @ mu2))
