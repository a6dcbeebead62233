"""Eigenvalues of Phi^T Phi/p outside the support of its spectrum: those of order p, and detached ones of order one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from numerics.model import Model
from numerics.profile import Profile
from numerics.spectrum_point import Complex, Equations

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Outlier:
    """An eigenvalue n slope + correction + O(1/p), n = alpha p/beta samples; it fluctuates by O(sqrt p) with them.

    slope is an eigenvalue of sqrt(pi_a pi_b) E[mu0_a mu0_b], for one group E[mu0^2]: equation (191).
    """

    slope: float
    correction: float

    def at(self, samples: int) -> float:
        """The eigenvalue for n samples."""
        return samples * self.slope + self.correction


def outliers_of(model: Model, table: Profile) -> tuple[Outlier, ...]:
    """The eigenvalues that grow with p, leading order and O(1) correction, largest first.

    The means mu0_a are a perturbation of rank k. With H_ab = sqrt(pi_a pi_b) E[mu0_a mu0_b] and H u = l u the
    eigenvalue is n l + u.[S + (H_w + alpha G)/l] u, where w = sum_a pi_a (c_a mu1_a^2 + mu2_a^2),
    S_a = (alpha/beta) E[c_a mu1_a^2 + mu2_a^2], H_w has w inside the expectation, and the readouts' overlap with the
    spike gives G_ab = sqrt(pi_a pi_b) sum_c pi_c c_c E[kappa mu0_a mu1_c] E[kappa mu0_b mu1_c]. For one group

        n E[mu0^2] + (alpha/beta) E[w] + E[mu0^2 w]/E[mu0^2] + alpha c E[kappa mu0 mu1]^2/E[mu0^2].
    """
    bulks, fractions = np.array(model.bulks), np.array(model.fractions)
    root = np.sqrt(fractions)
    each = bulks[:, None] * table.mu1**2 + table.mu2_squared
    w = fractions @ each
    means = root[:, None] * table.mu0
    gram = (means * table.weights) @ means.T
    heavy = (means * (table.weights * w)) @ means.T
    along = (means * (table.weights * table.kappa)) @ table.mu1.T
    pull = model.alpha * (along * (bulks * fractions)) @ along.T
    own = model.alpha / model.beta * (each @ table.weights)
    values, vectors = np.linalg.eigh(gram)
    whole = float(table.weights @ (w + np.sum(means**2, axis=0)))
    found = []
    for value, vector in zip(values[::-1], vectors.T[::-1], strict=True):
        # A mean at the rounding of the activation itself is none.
        if value > 1e-12 * whole:
            correction = float(vector**2 @ own + vector @ (heavy + pull) @ vector / value)
            found.append(Outlier(float(value), correction))
    return tuple(found)


def detached_eigenvalues(
    equations: Equations, table: Profile, edges: tuple[tuple[float, float], ...], on_axis: Callable[[float], Complex]
) -> tuple[float, ...]:
    """Isolated eigenvalues of O(1): where the system (187)-(188) of (m, zeta) is singular off the support."""
    gaps = [(high, low) for (_, high), (low, _) in pairwise(edges)]
    if edges and math.isfinite(edges[-1][1]):
        gaps.append((edges[-1][1], 1e3 * edges[-1][1]))
    found = []

    def value(x: float) -> float:
        return _secular(equations, table, on_axis(x).real)

    for low, high in gaps:
        grid = np.exp(np.linspace(math.log(low * (1.0 + 1e-6)), math.log(high * (1.0 - 1e-6)), 60))
        signs = [value(float(x)) for x in grid]
        for (a, b), (fa, fb) in zip(pairwise(grid), pairwise(signs), strict=True):
            if fa * fb < 0.0:
                found.append(_bisected(value, float(a), float(b), fa))
    return tuple(found)


def _bisected(function: Callable[[float], float], a: float, b: float, fa: float) -> float:
    for _ in range(45):
        middle = 0.5 * (a + b)
        value = function(middle)
        if value * fa > 0.0:
            a = middle
        else:
            b = middle
    return 0.5 * (a + b)


def _secular(equations: Equations, table: Profile, point: Array) -> float:
    """det of the quadratic form of (m, zeta) over m restricted to means that differ, scaled to be of order one."""
    tau = point[-equations.groups :]
    weights = table.weights / (1.0 + point @ table.multiplied_features)
    alpha = equations.ratio * equations.beta
    size = np.linalg.norm(table.mu0 * np.sqrt(table.weights), axis=1)
    values, vectors = np.linalg.eigh((table.mu0 * table.weights) @ table.mu0.T)
    kept = values > 1e-12 * max(float(np.sum(size**2)), 1e-3 * float(np.sum(table.features @ table.weights)))
    means = (vectors[:, kept].T @ table.mu0) / np.sqrt(values[kept])[:, None]
    along = table.kappa * table.mu1
    functions = np.concatenate([means, along])
    form = (functions * weights) @ functions.T
    unit = np.sqrt((along**2) @ table.weights + 1e-300)
    count = int(np.sum(kept))
    form[count:, count:] += np.diag(1.0 / (alpha * equations.bulks * tau))
    scales = np.concatenate([np.ones(count), unit])
    return float(np.linalg.det(form / np.outer(scales, scales)))
