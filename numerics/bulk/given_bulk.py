"""A bulk given by a law nu(varrho, tau, pi) of finitely many atoms: equations (18)-(24) of Result 3.3 as printed.

varrho is an eigenvalue of W W^T, tau = sqrt(d) f.v and pi = sqrt(d) f.theta_perp the components of its right singular
vector f along the spike and along the target's other direction, |theta_perp| = 1. With S = ridge + D + C varrho

    T = int varrho/S,   tau = int 1/S,   I = int varrho tau^2/S,
    K_vv = beta I/(1 - beta C I),   K_perp,perp = beta int varrho pi^2/S.

The cross overlap of v and theta_perp, of order d^(-1/2) for one finite W, is dropped as in equation (111).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.bulk.equivalent import EquivalentPoint, OneGroup

Array = NDArray[np.float64]


@dataclass(frozen=True)
class AtomicEquivalent(OneGroup):
    """The equivalent of one group whose bulk has this law, at a ridge: `numerics.bulk.equivalent`."""

    eigenvalues: Array
    along: Array
    across: Array
    weights: Array

    def at(self, conjugates: Array) -> EquivalentPoint:
        C, shift = float(conjugates[0]), self.ridge + float(conjugates[1])
        rho, resolvent = self.eigenvalues, 1.0 / (shift + C * self.eigenvalues)
        w = self.weights * resolvent
        square = w * resolvent
        # Derivatives in (C, D): each resolvent gives -varrho/S^2 and -1/S^2.
        moments = [-float(square @ rho**k) for k in range(3)]
        spike, target = rho * self.along**2, rho * self.across**2
        s = self.beta * float(w @ spike)  # s.G0 s, with G0 the resolvent of W W^T
        gain = 1.0 - C * s
        slope = -self.beta * np.array([float(square @ (rho * spike)), float(square @ spike)])
        slopes = np.zeros((2, 2, 2))
        slopes[:, 0, 0] = (slope + np.array([s * s, 0.0])) / gain**2
        slopes[:, 1, 1] = -self.beta * np.array([float(square @ (rho * target)), float(square @ target)])
        overlap = np.diag([s / gain, self.beta * float(w @ target)])
        values, jacobian = [float(w @ rho), float(w.sum())], [[moments[2], moments[1]], [moments[1], moments[0]]]
        return EquivalentPoint(np.array(values), np.array(jacobian), lambda: (overlap, slopes))


@dataclass(frozen=True)
class SpectralMeasure:
    """Atoms of nu, each array of shape (atoms,): varrho >= 0, tau, pi, and weights that sum to one.

    `numerics.saddle_point.ridge.solve(model, bulk=measure.at_ridge)` solves (18)-(24) with it; the model's own `bulk`
    still enters mu0, mu1, mu2. Raises ValueError for weights or eigenvalues that are no law.
    """

    beta: float
    eigenvalues: Array
    along: Array
    across: Array
    weights: Array

    def __post_init__(self) -> None:
        if not np.isclose(self.weights.sum(), 1.0, rtol=1e-12) or np.any(self.weights < 0.0):
            raise ValueError("the weights of the atoms have to be non-negative and to sum to one")
        if np.any(self.eigenvalues < 0.0):
            raise ValueError("varrho is an eigenvalue of W W^T and cannot be negative")

    def at_ridge(self, ridge: float) -> AtomicEquivalent:
        """The deterministic equivalent at a ridge."""
        square = float(self.weights @ self.eigenvalues)
        return AtomicEquivalent(ridge, self.beta, square, self.eigenvalues, self.along, self.across, self.weights)


def of_matrix(W: Array, v: Array, theta_perp: Array) -> SpectralMeasure:
    """The law of one W (p, d): its p eigenvalues, and sqrt(d) times the projections of the unit vectors v, theta_perp.

    Beyond rank min(p, d) the eigenvalue is zero, and tau and pi, which it multiplies, are put to zero.
    """
    p, d = W.shape
    _, singular, right = np.linalg.svd(W, full_matrices=False)
    eigenvalues, along, across = np.zeros(p), np.zeros(p), np.zeros(p)
    eigenvalues[: len(singular)] = singular**2
    along[: len(singular)] = np.sqrt(d) * right @ v
    across[: len(singular)] = np.sqrt(d) * right @ theta_perp
    return SpectralMeasure(p / d, eigenvalues, along, across, np.full(p, 1.0 / p))
