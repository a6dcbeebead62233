"""The formulas for the bulk of a network with a vocabulary and a given spectrum of A, for any number of groups.

Nothing is shared with a derivation or with the solver. Of A = (1/n0) sum y^2 x x^T it takes (1/d) tr (1 + m A)^-1 and
the forms f.(1 + m A)^-1 f' of directions at numbers m. Where C = L L^T the pencil
(L^T Theta_1 L, 1 + L^T Theta_0 L), Theta = Theta_0 + x Theta_1, is diagonal in one basis, so that

    C (1 + Theta(x) C)^-1 = sum_j z_j z_j^T/(1 + m_j x):

k numbers m_j and k vectors z_j are all that is needed of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from giantsteps.verify.second_route.grids import Array, normal_line

# A trapezoidal rule: exact to rounding for functions analytic within 0.4 of the line, exp(-2 pi 0.4/0.1) = 1e-11.
NODES, MASS = normal_line(0.1)

# Fixed points are iterated until nothing moves by more than this.
_STILL = 1e-13
_MOST = 4000


@dataclass(frozen=True)
class AnyLaw:
    """A given by a spectrum and by directions: functions of a standard normal variable that labels eigenvectors."""

    spectrum: Callable[[Array], Array]
    basis: tuple[Callable[[Array], Array], ...]

    @property
    def first(self) -> float:
        """The mean of the spectrum."""
        return float(MASS @ self.spectrum(NODES))

    def trace(self, m: float) -> float:
        """The mean of 1/(1 + m a)."""
        return float(MASS @ (1 / (1 + m * self.spectrum(NODES))))

    def forms(self, m: float) -> Array:
        """The means of f f'/(1 + m a)."""
        rows = np.stack([f(NODES) for f in self.basis])
        return np.asarray((rows * (MASS / (1 + m * self.spectrum(NODES)))) @ rows.T)


@dataclass(frozen=True)
class Groups:
    """Rows in k groups: shares, letters u_a, weight omega of A, forms of the law and how v, theta_perp, h_a sit in it.

    directions (2, n) and correlations (k, n) are coordinates in the basis of the law; norm_variances are the v_a.
    """

    beta: float
    fractions: Array
    letters: Array
    weight: float
    law: AnyLaw
    directions: Array
    correlations: Array
    norm_variances: Array


@dataclass(frozen=True)
class Equivalent:
    """tau (k), T (k, k) and K (3k, 3k) with the spike in the bulk and without: v, theta_perp, delta, each by groups."""

    tau: Array
    T: Array
    with_spike: Array
    overlap: Array


@dataclass
class Bulk:
    """The equivalent as a function of (C, s), s = lambda + D; remembers tau as the next start."""

    groups: Groups
    _tau: NDArray[np.float64] | None = field(default=None, repr=False)

    def pencil(self, C: Array, tau: Array) -> tuple[Array, Array]:
        """The numbers m_j and the vectors z_j (columns)."""
        from scipy.linalg import eigh

        g = self.groups
        values, vectors = np.linalg.eigh(C)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        theta0 = g.beta * tau
        theta1 = theta0 * g.letters**2 * g.weight
        inner = np.eye(len(tau)) + root.T @ (theta0[:, None] * root)
        m, y = eigh(root.T @ (theta1[:, None] * root), inner)
        return np.maximum(m, 0.0), root @ y

    def rows_form(self, C: Array, tau: Array) -> Array:
        """int dnu (1 + u_a^2 omega x) [C (1 + Theta C)^-1]_aa."""
        g = self.groups
        m, z = self.pencil(C, tau)
        total = np.zeros(len(tau))
        for number, vector in zip(m, z.T, strict=True):
            p = g.law.trace(number)
            linear = (1 - p) / number if number > 1e-9 else g.law.first
            total += vector**2 * (p + g.letters**2 * g.weight * linear)
        return total

    def tau(self, C: Array, shift: Array) -> Array:
        """The fixed point, from above and by the mean of old and new."""
        g = self.groups
        tau = g.fractions / shift if self._tau is None else self._tau
        for _ in range(_MOST):
            moved = 0.5 * (tau + g.fractions / (shift + self.rows_form(C, tau)))
            size = float(np.max(np.abs(moved - tau) / moved))
            tau = moved
            if size < _STILL:
                break
        self._tau = tau
        return tau

    def at(self, C: Array, shift: Array) -> Equivalent:
        """Everything at (C, s); C has to be invertible."""
        g = self.groups
        tau = self.tau(C, shift)
        k = len(tau)
        m, z = self.pencil(C, tau)
        inverse = np.linalg.inv(C)
        T = inverse.copy()
        for number, vector in zip(m, z.T, strict=True):
            T -= g.law.trace(number) * np.outer(inverse @ vector, inverse @ vector)
        forms = [g.law.forms(number) for number in m]
        names = np.concatenate([np.repeat(g.directions, k, axis=0), g.correlations])
        filtered = [names @ form @ names.T for form in forms]
        plain = names @ g.law.forms(0.0) @ names.T
        left = [np.concatenate([inverse @ x, inverse @ x, g.beta * tau * x]) for x in z.T]
        K = -sum(np.outer(x, x) * form for x, form in zip(left, filtered, strict=True))
        signs = np.concatenate([np.ones(2 * k), -np.ones(k)])
        # Two directions: C^-1 - C^-1 M C^-1; a direction and a norm: C^-1 M; two norms: -M.
        K = np.where(np.outer(signs, signs) < 0, -K, K)
        K[: 2 * k, : 2 * k] += np.kron(np.ones((2, 2)), inverse) * plain[: 2 * k, : 2 * k]
        K[2 * k :, 2 * k :] += np.diag(g.beta * tau * g.norm_variances)
        return Equivalent(tau, np.asarray(T / g.beta, dtype=np.float64), K, without_spike(K, C))


def without_spike(K: Array, C: Array) -> Array:
    """K + K_.v C (1 - K_vv C)^-1 K_v.: the first k rows and columns are those of v."""
    k = len(C)
    return np.asarray(K + K[:, :k] @ C @ np.linalg.solve(np.eye(k) - K[:k, :k] @ C, K[:k]))
