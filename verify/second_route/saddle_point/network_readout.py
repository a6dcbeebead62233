"""The ridge readout of a network with a vocabulary and biases: the saddle point by plain iteration.

The functions along the spike come from their definitions on the verifier's grids, (T, tau) and K from
`network_groups_formulas`; V is found by iterating the maps as they stand, everything else is linear (`plain`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from giantsteps.derivations.bulk import symbols as s
from giantsteps.verify.second_route.grids import SMOOTH, Array
from giantsteps.verify.second_route.networks.letter_formulas import (
    MASS,
    NODES,
    AnyLaw,
    Bulk,
    Equivalent,
    Groups,
    network_groups,
)
from giantsteps.verify.second_route.networks.step import Step, law
from giantsteps.verify.second_route.saddle_point import plain

_STILL = 1e-12
# Differences of (T, tau) and K at one and two moves either way, each this share of the size of C and D: they leave its
# fourth power, 2e-11, and, for what is known to 1e-13, 1e-10 from rounding.
_MOVE = 2e-3


@dataclass(frozen=True)
class Vocabulary:
    """A network: one step, groups with letters u_a and biases b_a added to the features, a ridge readout.

    ``noise`` is the variance of what is added to the labels of the readout's samples.
    """

    step: Step
    fractions: tuple[float, ...]
    letters: tuple[float, ...]
    biases: tuple[float, ...]
    alpha: float
    ridge: float
    noise: float = 0.0


def spike_and_alignment(step: Step) -> tuple[float, float]:
    """r of the letter one and gamma."""
    rows = law(step)
    return rows[s.r.name], rows[s.gamma.name]


@lru_cache(maxsize=32)
def along(network: Vocabulary, raw: bytes = NODES.tobytes()) -> tuple[plain.Along, Array]:
    """The functions along the spike by their definitions, at kappa on NODES or on the nodes given as bytes; and k2."""
    step, kappa = network.step, np.frombuffer(raw)
    spike, gamma = spike_and_alignment(step)
    bulks = network_groups(step, network.fractions, network.letters).bulks
    student, target = (plain.by_sums(SMOOTH[x].value, 0.1) for x in (step.student, step.target))
    seen = np.outer(spike * np.array(network.letters), kappa) + np.array(network.biases)[:, None]
    mu, y = plain.features(student, seen, bulks), plain.labels(target, np.array([gamma]), kappa[None])
    y0, y1, y2 = y
    places = seen[..., None] + np.sqrt(bulks)[:, None, None] * NODES
    third = SMOOTH[step.student].value(places) @ (MASS * (NODES**2 - 1)) / (2 * bulks[:, None])
    return plain.Along(kappa[None], MASS, *mu, y0, y1, y2 + network.noise), third


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
    (f, third), k = along(network), len(network.fractions)
    groups = network_groups(network.step, network.fractions, network.letters)
    bulk = Bulk(isotropic_groups(groups) if isotropic else groups)
    ratio = network.alpha / network.step.beta

    def law(C: Array, D: Array, start: Array) -> tuple[Array, Array]:
        found = bulk.at(C, network.ridge + D)
        return found.T, found.tau

    start = groups.fractions / network.ridge
    rest = plain.settle(f, law, ratio, np.diag(groups.bulks * start), start, _STILL)
    C, D, at = rest.C, rest.D, bulk.at(rest.C, network.ridge + rest.D)
    weight = MASS * rest.shrink
    functions = np.concatenate([f.mu0, NODES * f.mu1, third])
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

    moves = []
    for dC, dD in plain.units(k):
        least = np.linalg.eigvalsh(C)[0] if np.any(dC) else np.min(network.ridge + D)
        move = _MOVE * float(least)
        found = [bulk.at(C + j * move * dC, network.ridge + D + j * move * dD) for j in (1, -1, 2, -2)]
        moves.append([_slope(*(getattr(x, name) for x in found)) / move for name in ("T", "tau", "overlap")])
    dT, dtau, dK = (np.array(x) for x in zip(*moves, strict=True))
    Q, q2, e2 = plain.sizes(f, rest, ratio, dT, dtau, fixed, ratio**2 * (forces @ dK @ forces))
    test, training = float(MASS @ e2) - network.noise, float(MASS @ (e2 * rest.shrink**2))
    return Solved(x[:k], x[k : 2 * k], psi, x[2 * k :], Q, q2, at, C, D, test, training)
