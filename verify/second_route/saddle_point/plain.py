"""A plain solver of the ridge saddle point, for any letters and directions: iteration and sums, nothing of `numerics`.

Averages over z are closed forms or trapezoidal sums, averages over kappa sums on a given grid. The block equivalent is
iterated; its derivatives are complex steps of the same iteration; m and zeta come from one linear system.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import erf, owens_t

from onestep.verify.second_route.grids import Array, normal_line

_TINY = 1e-30  # a complex step: the derivative is exact to rounding
_STILL, _MOST = 1e-15, 20000


@dataclass(frozen=True)
class Moments:
    """E f(a + s z), E[z f(a + s z)] and E f(a + s z)^2 as functions of (a, s)."""

    mean: Callable[[Array, float], Array]
    slope: Callable[[Array, float], Array]
    square: Callable[[Array, float], Array]


def by_sums(f: Callable[[Array], Array], step: float = 0.125) -> Moments:
    """For f analytic in a strip: sums over z."""
    z, weight = normal_line(step)

    def summed(weights: Array, power: int, a: Array, s: float) -> Array:
        return np.asarray(f(a[:, None] + s * z) ** power @ weights)

    return Moments(partial(summed, weight, 1), partial(summed, weight * z, 1), partial(summed, weight, 2))


def _density(x: Array) -> Array:
    return np.asarray(np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi))


def _positive(a: Array, s: float) -> Array:
    """P(a + s z > 0)."""
    return np.asarray(0.5 * (1 + erf(a / (s * math.sqrt(2)))))


SIGN = Moments(
    lambda a, s: erf(a / (math.sqrt(2) * s)),
    lambda a, s: 2 * _density(a / s),
    lambda a, s: np.ones_like(a),
)
# E erf(a + s z)^2 = 1 - 8 T(a', 1/sqrt(1 + 4 s^2)) with a' = a sqrt(2)/sqrt(1 + 2 s^2) (Owen's T function).
ERF = Moments(
    lambda a, s: erf(a / math.sqrt(1 + 2 * s * s)),
    lambda a, s: 2 * s / math.sqrt(math.pi * (1 + 2 * s * s)) * np.exp(-a * a / (1 + 2 * s * s)),
    lambda a, s: 1 - 8 * owens_t(a * math.sqrt(2 / (1 + 2 * s * s)), 1 / math.sqrt(1 + 4 * s * s)),
)
SIN = Moments(
    lambda a, s: np.sin(a) * math.exp(-0.5 * s * s),
    lambda a, s: s * np.cos(a) * math.exp(-0.5 * s * s),
    lambda a, s: 0.5 * (1 - np.cos(2 * a) * math.exp(-2 * s * s)),
)
RELU = Moments(
    lambda a, s: a * _positive(a, s) + s * _density(a / s),
    lambda a, s: s * _positive(a, s),
    lambda a, s: (a * a + s * s) * _positive(a, s) + a * s * _density(a / s),
)
TANH = by_sums(np.tanh)


@dataclass(frozen=True)
class Plain:
    """Order parameters: m, psi, q2, V2 of shape (k,), zeta (k, s), q1 and V1 (k, k); errors without label noise."""

    m: Array
    zeta: Array
    psi: Array
    q1: Array
    q2: Array
    V1: Array
    V2: Array
    test_error: float
    training_error: float


def grid(directions: int, step: float, reach: float) -> tuple[Array, Array]:
    """Points (s, N) and weights (N,) of a product rule for kappa."""
    axis, weight = normal_line(step, reach)
    points = np.stack([x.ravel() for x in np.meshgrid(*([axis] * directions), indexing="ij")])
    weights = np.meshgrid(*([weight] * directions), indexing="ij")
    return points, np.prod([x.ravel() for x in weights], axis=0)


def _equivalent(C: Array, D: Array, ridge: float, beta: float, bulks: Array, fractions: Array) -> tuple[Array, Array]:
    """V1 and V2 of isotropic rows at conjugates C (k, k) and D (k,): tau_a = pi_a/(lambda + D_a + c_a M_aa)."""
    one, tau = np.eye(len(bulks)), (fractions / (ridge + D)).astype(complex)
    for _ in range(_MOST):
        mixed = C @ np.linalg.inv(one + np.diag(bulks * beta * tau) @ C)
        new = fractions / (ridge + D + bulks * np.diag(mixed))
        still = np.max(np.abs((new - tau).real) / np.abs(new)) < _STILL
        if still and np.max(np.abs((new - tau).imag)) <= 1e-13 * np.max(np.abs(new.imag)):
            break
        tau = 0.5 * (tau + new)
    theta = np.diag(bulks * beta * new)
    return np.asarray(theta @ np.linalg.inv(one + C @ theta) / beta), np.asarray(new)


def solve(
    student: Moments,
    target: Moments,
    spikes: Array,
    gamma: Array,
    *,
    alpha: float,
    beta: float,
    ridge: float,
    bulks: Array,
    fractions: Array,
    noise: float = 0.0,
    step: float = 0.25,
    reach: float = 8.0,
) -> Plain:
    """The saddle point for spikes (k, s) and alignments (s,). Raises ArithmeticError if the iteration does not end."""
    kappa, w = grid(len(gamma), step, reach)
    k, ratio, spread = len(bulks), alpha / beta, np.sqrt(bulks)
    law = partial(_equivalent, ridge=ridge, beta=beta, bulks=bulks, fractions=fractions)
    seen = [u @ kappa for u in spikes]
    mu0 = np.array([student.mean(a, c) for a, c in zip(seen, spread, strict=True)])
    slope = np.array([student.slope(a, c) for a, c in zip(seen, spread, strict=True)])
    mu1 = slope / spread[:, None]
    mu2 = np.array([student.square(a, c) for a, c in zip(seen, spread, strict=True)]) - mu0**2 - slope**2
    outside = float(np.sqrt(1 - gamma @ gamma))
    y0, y1, y2 = (f(gamma @ kappa, outside) for f in (target.mean, target.slope, target.square))

    T, tau = np.diag(bulks * fractions).astype(float), fractions.astype(float)
    for _ in range(_MOST):
        shrink = 1 / (1 + np.einsum("an,bn,ab->n", mu1, mu1, T) + tau @ mu2)
        C, D = ratio * (mu1 * w * shrink) @ mu1.T, ratio * mu2 @ (w * shrink)
        T_new, tau_new = (x.real for x in law(C, D))
        moved = max(np.max(np.abs(T_new - T) / (1 + np.abs(T))), np.max(np.abs(tau_new - tau) / (1 + tau)))
        T, tau = 0.5 * (T + T_new), 0.5 * (tau + tau_new)
        if moved < 1e-14:
            break
    else:
        raise ArithmeticError("the damped iteration did not converge")

    functions = np.concatenate([mu0, *(x * mu1 for x in kappa)])  # zeta_aj in the order (j, a)
    held = np.concatenate([np.zeros(k), *(1 / (alpha * bulks * tau) for _ in gamma)])
    gram = (functions * w * shrink) @ functions.T + np.diag(held)
    solution = np.linalg.solve(gram, functions @ (w * shrink * y0))
    prediction = solution @ functions
    pull = np.array([mu1 @ (w * shrink * x * (y0 - prediction)) for x in kappa])  # (s, k)
    push = mu1 @ (w * shrink * y1)
    psi = alpha * T @ push
    fixed = y2 + noise - 2 * y0 * prediction + prediction**2 - 2 * y1 * (psi @ mu1)

    # Derivatives of T and tau along each conjugate, by complex steps.
    pairs = [(a, b) for a in range(k) for b in range(k)]
    units = [(_unit(k, a, b), np.zeros(k)) for a, b in pairs] + [(np.zeros((k, k)), row) for row in np.eye(k)]
    steps = [law(C + 1j * _TINY * c, D + 1j * _TINY * d) for c, d in units]
    dT, dtau = (np.array([part[i].imag / _TINY for part in steps]) for i in (0, 1))
    signal = ratio**2 * beta * (dtau @ (bulks * np.sum(pull**2, axis=0)) + np.einsum("jab,a,b->j", dT, push, push))
    sizes, residual = np.zeros(k * k + k), fixed
    for _ in range(_MOST):
        residual = fixed + np.einsum("an,bn,ab->n", mu1, mu1, sizes[: k * k].reshape(k, k)) + sizes[k * k :] @ mu2
        again = ratio * w * shrink**2 * residual
        along = np.append(((mu1 * again) @ mu1.T).ravel(), mu2 @ again)
        # The equivalent is a gradient: what conjugates do to T and tau is what sources do to q1 and q2.
        new = -np.append(np.einsum("j,jab->ab", along, dT).ravel(), along @ dtau) - signal
        moved = np.max(np.abs(new - sizes) / (1 + np.abs(new)))
        sizes = new
        if moved < 1e-14:
            break
    else:
        raise ArithmeticError("the iteration of the sizes did not converge")
    return Plain(
        solution[:k], solution[k:].reshape(len(gamma), k).T, psi, sizes[: k * k].reshape(k, k), sizes[k * k :], T, tau,
        float(w @ residual) - noise, float(w @ (shrink**2 * residual)),
    )  # fmt: skip


def solve_one(
    student: Moments, target: Moments, *, spike: float, bulk: float, alignment: float, **values: float
) -> dict[str, float]:
    """The same for one letter and one direction, by name; kappa on a line fine enough for targets that jump."""
    one = np.ones(1)
    found = solve(
        student, target, spike * one[None], alignment * one, bulks=bulk * one, fractions=one, step=1 / 320, reach=9.5,
        **values,
    )  # fmt: skip
    return {name: float(np.ravel(value)[0]) for name, value in vars(found).items()}


def _unit(k: int, a: int, b: int) -> Array:
    """The symmetric part of a matrix with a one at (a, b)."""
    one = np.zeros((k, k))
    one[a, b] += 0.5
    one[b, a] += 0.5
    return one
