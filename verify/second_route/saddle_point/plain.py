"""A plain solver of the ridge saddle point, for any letters and directions: iteration and sums, nothing of `numerics`.

Averages over z are closed forms or trapezoidal sums, averages over kappa sums on a given grid. The block equivalent is
iterated; its derivatives are complex steps of the same iteration; m and zeta come from one linear system. The parts
(`settle`, `slopes`, `sizes`) serve every law of the bulk.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from giantsteps.verify.second_route.grids import Array, erf, normal_line, owens_t

_TINY = 1e-30  # a complex step: the derivative is exact to rounding
_STILL, _MOST = 1e-14, 20000


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


SIGN = Moments(lambda a, s: erf(a / (math.sqrt(2) * s)), lambda a, s: 2 * _density(a / s), lambda a, s: np.ones_like(a))
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


# T and tau at conjugates C (k, k) and D (k,), the ridge added to D by the law itself, from a start of tau; analytic.
Law = Callable[[Array, Array, Array], tuple[Array, Array]]


@dataclass(frozen=True)
class Along:
    """Points kappa (s, N), weights w; mu0, mu1, mu2^2 (k, N) and y0, y1, y2 (N) there."""

    kappa: Array
    w: Array
    mu0: Array
    mu1: Array
    mu2: Array
    y0: Array
    y1: Array
    y2: Array

    def variance(self, T: Array, tau: Array) -> Array:
        """sum mu1 T mu1 + sum tau mu2^2 at every point."""
        return np.asarray(np.einsum("an,bn,ab->n", self.mu1, self.mu1, T) + tau @ self.mu2)

    def conjugates(self, weight: Array) -> tuple[Array, Array]:
        """Sums of mu1 mu1 and of mu2^2 with these weights."""
        return (self.mu1 * weight) @ self.mu1.T, self.mu2 @ weight


def features(student: Moments, seen: Array, bulks: Array) -> tuple[Array, Array, Array]:
    """mu0, mu1 and mu2^2 of features whose rows see the places (k, N) and normal variables of variance bulks (k,)."""
    pairs = [(a, math.sqrt(c)) for a, c in zip(seen, bulks, strict=True)]
    mu0, slope, square = (np.array([f(*x) for x in pairs]) for f in (student.mean, student.slope, student.square))
    return mu0, slope / np.sqrt(bulks)[:, None], square - mu0**2 - slope**2


def labels(target: Moments, gamma: Array, kappa: Array) -> tuple[Array, Array, Array]:
    """y0, y1, y2 of a target without noise."""
    outside = math.sqrt(1 - gamma @ gamma)
    return (
        target.mean(gamma @ kappa, outside),
        target.slope(gamma @ kappa, outside),
        target.square(gamma @ kappa, outside),
    )


def isotropic(
    C: Array, D: Array, start: Array, *, ridge: float, beta: float, bulks: Array, fractions: Array
) -> tuple[Array, Array]:
    """The law of isotropic rows: tau_a = pi_a/(lambda + D_a + c_a M_aa), M = C (1 + Theta C)^-1, iterated."""
    one, tau = np.eye(len(bulks)), start.astype(complex)
    for _ in range(_MOST):
        mixed = C @ np.linalg.inv(one + np.diag(bulks * beta * tau) @ C)
        new = fractions / (ridge + D + bulks * np.diag(mixed))
        still = np.max(np.abs((new - tau).real) / np.abs(new)) < _STILL
        # The imaginary part of a complex step has to settle on its own scale.
        if still and np.max(np.abs((new - tau).imag)) <= 1e-13 * np.max(np.abs(new.imag)):
            break
        tau = 0.5 * (tau + new)
    theta = np.diag(bulks * beta * new)
    found = np.asarray(theta @ np.linalg.inv(one + C @ theta) / beta), np.asarray(new)
    return found if np.iscomplexobj(C) else (found[0].real, found[1].real)


@dataclass(frozen=True)
class Settled:
    """T, tau and their conjugates C and D at rest, 1/(1 + V) along the spike."""

    T: Array
    tau: Array
    C: Array
    D: Array
    shrink: Array


def settle(f: Along, law: Law, ratio: float, T: Array, tau: Array, still: float = 1e-14) -> Settled:
    """The damped iteration of V; raises ArithmeticError if it does not end."""
    for _ in range(_MOST):
        shrink = 1 / (1 + f.variance(T, tau))
        C, D = f.conjugates(ratio * f.w * shrink)
        T_new, tau_new = law(C, D, tau)
        moved = max(np.max(np.abs(T_new - T) / (1 + np.abs(T))), np.max(np.abs(tau_new - tau) / (1 + tau)))
        T, tau = 0.5 * (T + T_new), 0.5 * (tau + tau_new)
        if moved < still:
            return Settled(T, tau, C, D, shrink)
    raise ArithmeticError(f"the damped iteration still moves by {moved:.1e}")


def units(k: int) -> list[tuple[Array, Array]]:
    """The directions of symmetric matrices (k, k) and of vectors (k,), each half of a pair off the diagonal."""
    found = []
    for one in np.eye(k * (k + 1) // 2 + k):
        upper, vector = unpacked(one, k)
        found.append(((upper + np.diag(np.diag(upper))) / 2, vector))
    return found


def unpacked(x: Array, k: int) -> tuple[Array, Array]:
    """The symmetric matrix and the vector whose entries stand in a row."""
    upper = np.zeros((k, k))
    upper[np.triu_indices(k)] = x[:-k]
    return upper + np.triu(upper, 1).T, x[-k:]


def slopes(law: Law, C: Array, D: Array, tau: Array) -> tuple[Array, Array]:
    """Derivatives of T and tau along each of the units, by complex steps."""
    steps = [law(C + 1j * _TINY * c, D + 1j * _TINY * d, tau) for c, d in units(len(D))]
    dT, dtau = (np.array([part[i].imag / _TINY for part in steps]) for i in (0, 1))
    return dT, dtau


def sizes(
    f: Along, at: Settled, ratio: float, dT: Array, dtau: Array, fixed: Array, signal: Array
) -> tuple[Array, Array, Array]:
    """q1, q2 and e2 = fixed + sum mu1 q1 mu1 + sum q2 mu2^2, where what conjugates do to T and tau, sources do to q."""
    k = len(f.mu1)

    def moved(x: Array) -> Array:
        X, Y = f.conjugates(ratio * f.w * at.shrink**2 * (fixed + f.variance(*unpacked(x, k))))
        return np.asarray(-np.einsum("jab,ab->j", dT, X) - dtau @ Y - signal)

    one = np.eye(len(signal))
    at_zero = moved(0 * signal)
    loop = np.stack([moved(x) - at_zero for x in one], axis=1)
    q1, q2 = unpacked(np.asarray(np.linalg.solve(one - loop, at_zero), dtype=np.float64), k)
    return q1, q2, fixed + f.variance(q1, q2)


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
    k, ratio = len(bulks), alpha / beta
    f = Along(kappa, w, *features(student, spikes @ kappa, bulks), *labels(target, gamma, kappa))
    law = partial(isotropic, ridge=ridge, beta=beta, bulks=bulks, fractions=fractions)
    at = settle(f, law, ratio, np.diag(bulks * fractions), fractions)
    weight = w * at.shrink

    functions = np.concatenate([f.mu0, *(x * f.mu1 for x in kappa)])  # zeta_aj in the order (j, a)
    held = np.concatenate([np.zeros(k), *(1 / (alpha * bulks * at.tau) for _ in gamma)])
    gram = (functions * weight) @ functions.T + np.diag(held)
    solution = np.linalg.solve(gram, functions @ (weight * f.y0))
    prediction = solution @ functions
    pull = np.array([f.mu1 @ (weight * x * (f.y0 - prediction)) for x in kappa])  # (s, k)
    push = f.mu1 @ (weight * f.y1)
    psi = alpha * at.T @ push
    fixed = f.y2 + noise - 2 * f.y0 * prediction + prediction**2 - 2 * f.y1 * (psi @ f.mu1)
    dT, dtau = slopes(law, at.C, at.D, at.tau)
    signal = ratio**2 * beta * (dtau @ (bulks * np.sum(pull**2, axis=0)) + push @ dT @ push)
    q1, q2, residual = sizes(f, at, ratio, dT, dtau, fixed, signal)
    return Plain(
        solution[:k], solution[k:].reshape(len(gamma), k).T, psi, q1, q2, at.T, at.tau,
        float(w @ residual) - noise, float(w @ (at.shrink**2 * residual)),
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
