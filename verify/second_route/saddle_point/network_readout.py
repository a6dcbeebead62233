"""The ridge readout of a network with a vocabulary and biases: the saddle point by plain iteration.

The functions along the spike come from their definitions on the verifier's grids, (T, tau) and K from
`network_groups_formulas`; V is found by iterating the maps as they stand, everything else is linear.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from onestep.verify.second_route.grids import SMOOTH, Array
from onestep.verify.second_route.networks.formulas import Step, own_law
from onestep.verify.second_route.networks.letter_formulas import (
    MASS,
    NODES,
    AnyLaw,
    Bulk,
    Equivalent,
    Groups,
    network_groups,
)

_MOST = 2000
_STILL = 1e-12
# Differences of (T, tau) and K at one and two moves either way, each this share of the size of C and D: they leave its
# fourth power, 2e-11, and, for what is known to 1e-13, 1e-10 from rounding.
_MOVE = 2e-3


@dataclass(frozen=True)
class Vocabulary:
    """A network: one step, groups with letters u_a and biases b_a added to the features, a ridge readout."""

    step: Step
    fractions: tuple[float, ...]
    letters: tuple[float, ...]
    biases: tuple[float, ...]
    alpha: float
    ridge: float


@dataclass(frozen=True)
class Along:
    """mu0, mu1, mu2^2, k2 (k, N) and y0, y1, y2 (N) on NODES along the spike."""

    mu0: Array
    mu1: Array
    mu2_square: Array
    third: Array
    y0: Array
    y1: Array
    y2: Array


def spike_and_alignment(step: Step) -> tuple[float, float]:
    """r of the letter one and gamma, from E[z sigma] and |v~|."""
    base = own_law(step, step.alpha0)
    h1 = float(MASS @ (NODES * SMOOTH[step.student].value(NODES)))
    first = float(MASS @ (NODES * SMOOTH[step.target].value(NODES)))
    return step.rate * h1 * base.size, first / base.size


@lru_cache(maxsize=32)
def along(network: Vocabulary, raw: bytes = NODES.tobytes()) -> Along:
    """The functions along the spike by their definitions, at kappa on NODES or on the nodes given as bytes."""
    step, kappa = network.step, np.frombuffer(raw)
    spike, gamma = spike_and_alignment(step)
    bulks = network_groups(step, network.fractions, network.letters).bulks
    student, target = SMOOTH[step.student], SMOOTH[step.target]
    found = []
    for u, b, c in zip(network.letters, network.biases, bulks, strict=True):
        feature = student.value(spike * u * kappa[:, None] + b + math.sqrt(c) * NODES)
        mu0, mu1 = feature @ MASS, feature @ (MASS * NODES) / math.sqrt(c)
        found.append((mu0, mu1, feature**2 @ MASS - mu0**2 - c * mu1**2, feature @ (MASS * (NODES**2 - 1)) / (2 * c)))
    mu0, mu1, mu2_square, third = (np.stack(x) for x in zip(*found, strict=True))
    label = target.value(gamma * kappa[:, None] + math.sqrt(1 - gamma**2) * NODES)
    return Along(mu0, mu1, mu2_square, third, label @ MASS, label @ (MASS * NODES), label**2 @ MASS)


@dataclass(frozen=True)
class Solved:
    """The saddle point: overlaps by group, C and D, and both errors."""

    m: Array
    zeta: Array
    psi: Array
    chi: Array
    Q: Array
    q2: Array
    at: Equivalent
    C: Array
    D: Array
    test_error: float
    training_error: float


def isotropic_groups(groups: Groups) -> Groups:
    """The same letters with the rows of Appendix D: A is its mean, rows of a group have one norm."""
    mean, k = groups.law.first, len(groups.letters)
    law = AnyLaw(lambda nu: np.full_like(nu, mean), (np.ones_like, lambda nu: nu))
    return replace(groups, law=law, directions=np.eye(2), correlations=np.zeros((k, 2)), norm_variances=np.zeros(k))


def _slope(up: Array, down: Array, further_up: Array, further_down: Array) -> Array:
    """The slope per move, from values one and two moves away."""
    return (8 * (up - down) - (further_up - further_down)) / 12


@lru_cache(maxsize=32)
def solve(network: Vocabulary, isotropic: bool = False) -> Solved:
    """The saddle point; raises ArithmeticError where the iteration did not come to rest."""
    f, k = along(network), len(network.fractions)
    groups = network_groups(network.step, network.fractions, network.letters)
    bulk = Bulk(isotropic_groups(groups) if isotropic else groups)
    ratio = network.alpha / network.step.beta

    def conjugates(weight: Array) -> tuple[Array, Array]:
        return ratio * (f.mu1 * weight) @ f.mu1.T, ratio * f.mu2_square @ weight

    V = np.ones_like(NODES)
    for _ in range(_MOST):
        C, D = conjugates(MASS / (1 + V))
        at = bulk.at(C, network.ridge + D)
        moved = np.einsum("ak,ab,bk->k", f.mu1, at.T, f.mu1) + at.tau @ f.mu2_square
        size = float(np.max(np.abs(moved - V) / (1 + V)))
        V = 0.5 * (V + moved)
        if size < _STILL:
            break
    else:
        raise ArithmeticError(f"V still moves by {size:.1e}")
    weight = MASS / (1 + V)
    functions = np.concatenate([f.mu0, NODES * f.mu1, f.third])
    gram, pull = (functions * weight) @ functions.T, functions @ (weight * f.y0)
    psi_force = f.mu1 @ (weight * f.y1)
    kept = [*range(k), *range(2 * k, 3 * k)]
    K = at.overlap
    system, right = gram.copy(), pull.copy()
    # (zeta, chi) - ratio K (pull - gram x) = ratio K_.psi psi_force.
    system[k:] = np.eye(3 * k)[k:] + ratio * K[np.ix_(kept, kept)] @ gram[k:]
    right[k:] = ratio * (K[np.ix_(kept, kept)] @ pull[k:] + K[kept, k : 2 * k] @ psi_force)
    x = np.linalg.solve(system, right)
    left = pull - gram @ x
    forces = np.concatenate([left[k : 2 * k], psi_force, left[2 * k :]])
    psi = ratio * K[k : 2 * k] @ forces
    yhat = x @ functions
    fixed = f.y2 - 2 * f.y0 * yhat + yhat**2 - 2 * f.y1 * (psi @ f.mu1)

    places = [(a, b) for a in range(k) for b in range(a, k)]
    columns = []
    for index in range(len(places) + k):
        dC, dD = np.zeros((k, k)), np.zeros(k)
        if index < len(places):
            a, b = places[index]
            dC[a, b] += 0.5
            dC[b, a] += 0.5
            move = _MOVE * float(np.linalg.eigvalsh(C)[0])
        else:
            dD[index - len(places)] = 1.0
            move = _MOVE * float(np.min(network.ridge + D))
        found = [bulk.at(C + j * move * dC, network.ridge + D + j * move * dD) for j in (1, -1, 2, -2)]
        columns.append([_slope(*(getattr(x, name) for x in found)) / move for name in ("T", "tau", "overlap")])
    signal = np.array([ratio**2 * forces @ dK @ forces for _, _, dK in columns])

    def moments(q: Array) -> Array:
        """q from q, through e2 and the conjugates of (T, tau)."""
        Q, q2 = unpacked(q)
        e2 = fixed + np.einsum("ak,ab,bk->k", f.mu1, Q, f.mu1) + q2 @ f.mu2_square
        X, Y = conjugates(MASS * e2 / (1 + V) ** 2)
        # d(X.T + Y.tau) along each direction: the derivative of (T, tau) is symmetric.
        return np.asarray([-np.sum(X * dT) - Y @ dtau for dT, dtau, _ in columns] - signal, dtype=np.float64)

    def unpacked(q: Array) -> tuple[Array, Array]:
        Q = np.empty((k, k))
        for (a, b), value in zip(places, q, strict=False):
            Q[a, b] = Q[b, a] = value
        return Q, q[len(places) :]

    count = len(places) + k
    at_zero = moments(np.zeros(count))
    slope = np.stack([moments(column) - at_zero for column in np.eye(count)], axis=1)
    Q, q2 = unpacked(np.asarray(np.linalg.solve(np.eye(count) - slope, at_zero), dtype=np.float64))
    e2 = fixed + np.einsum("ak,ab,bk->k", f.mu1, Q, f.mu1) + q2 @ f.mu2_square
    return Solved(
        x[:k], x[k : 2 * k], psi, x[2 * k :], Q, q2, at, C, D, float(MASS @ e2), float(MASS @ (e2 / (1 + V) ** 2))
    )
