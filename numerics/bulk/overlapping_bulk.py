"""The bulk after a gradient step from overlapping rows: not isotropic, and what that does to the readout.

With `numerics.bulk.overlapping_rows`' F, G, K, H of t = e.x, rows w_k = sqrt(rho) e + sqrt(1-rho) u_k, e~ = eta~/beta
and y the label, the rest of a row after the step is, given the batch, asymptotically Gaussian with covariance B/d,

    B = (1-rho) L P L + omega A,   L = 1 + e~ M,   P = 1 - e e^T,   omega = e~^2/alpha0,
    M = (1/n0) sum (y-F) K x x^T,   A = (1/n0) sum (y-F)^2 (H - (1-rho) K^2) x x^T:

the curvature of the activation turns every u_k by the same random matrix L; only what sigma' has beyond a linear
function of u_k.x adds noise. Without overlap and for sigma odd K = 0, and B is that of `numerics.bulk.network`.

(1 + g B)^-1 is the first block of the inverse of a matrix that is linear in the samples, with k = g (1-rho),

    [[1 + g omega A, sqrt(k) L], [sqrt(k) L, -1 on the complement of e]] = Z + (1/n0) sum W x x^T,
    Z = [[1, sqrt k], [sqrt k, -1]],   W = [[g omega (y-F)^2 (H - (1-rho) K^2), sqrt(k) e~ (y-F) K], [same, 0]].

Leaving one sample out, W turns into W' = W (1 + G W/alpha0)^-1, and the blocks (1/d) tr of the inverse are

    G = (Z + E[W'])^-1,   (1/d) tr (1 + g B)^-1 = G_11,

those on theta and e N = (Z + E[W' s s^T])^-1, s = (u, t), u = theta.x, without the second component of e; and with
w = (1/n0) sum (y-F) G x,  j = (1 + W G/alpha0)^-1 (1, 0),

    theta.w = N_theta. E[(y-F) G s j],   w.w = E[..] N E[..] + E[((y-F) G)^2 ((G/alpha0) j)_1].

Then tau = 1/(D + (C/g)(1 - G_11)), T = (1 - D tau)/C with g = C beta tau, and K as in `numerics.bulk.network`, without
the norms of the rows, whose fluctuations are left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.bulk.equivalent import EquivalentPoint, OneGroup, isotropic

Array = NDArray[np.float64]

_STEP = 1e-100
_MOST_STEPS = 60


@dataclass(frozen=True)
class Samples:
    """A rule over samples of the step, all (n,): weights; u = theta.x, t = e.x; pull = (y-F) G, turn = e~ (y-F) K and
    noise = omega (y-F)^2 (H - (1-rho) K^2)."""

    weights: Array
    u: Array
    t: Array
    pull: Array
    turn: Array
    noise: Array


@dataclass(frozen=True)
class TurnedBulk:
    """The law of the bulk rows: overlap rho, rate e~, alpha0, bulk variance c; the mean row and theta_perp by their
    coordinates on (theta, e, w), w = (1/n0) sum (y-F) G x."""

    overlap: float
    batch_ratio: float
    bulk: float
    samples: Samples
    direction: Array
    perpendicular: Array


class TurnedEquivalent(OneGroup):
    """The deterministic equivalent of such rows at a ridge and beta; one group."""

    def __init__(self, ridge: float, beta: float, law: TurnedBulk) -> None:
        super().__init__(ridge, beta, law.bulk)
        self.law = law
        self._vectors = np.array([law.direction, law.perpendicular])
        self._start: Array | None = None

    def at(self, conjugates: Array) -> EquivalentPoint:
        """(T, tau), K (2 x 2) on (v, theta_perp), and the derivatives of both at the pair (C, D)."""
        C, shift = float(conjugates[0]), self.ridge + float(conjugates[1])
        x = self._solve(C, shift)
        values, overlap = self._explicit(C, shift, x)
        slope = self._slope(C, shift, x)
        jacobian, slopes = np.empty((2, 2)), np.empty((2, 2, 2))
        for column, (along_C, along_D) in enumerate(((1.0, 0.0), (0.0, 1.0))):
            moved_C, moved_D = C + 1j * _STEP * along_C, shift + 1j * _STEP * along_D
            force = self._equations(moved_C, moved_D, x).imag / _STEP
            moved = x - 1j * _STEP * np.linalg.solve(slope, force)
            pair, matrix = self._explicit(moved_C, moved_D, moved)
            jacobian[:, column] = pair.imag / _STEP
            slopes[column] = matrix.imag / _STEP
        return EquivalentPoint(values.real, jacobian, lambda: (overlap.real, slopes))

    def blocks(self, conjugates: Array) -> Array:
        """(g, G_11, G_12, G_22) at the pair (C, D); not a number where there is no solution."""
        return self._solve(float(conjugates[0]), self.ridge + float(conjugates[1]))

    def _solve(self, C: float, shift: float) -> Array:
        """(g, G_11, G_12, G_22) by Newton's method from the isotropic bulk, or from the last solution."""
        best, size = np.full(4, math.nan), math.inf
        for start in ([] if self._start is None else [self._start]) + [self._isotropic(C, shift)]:
            best, size = self._newton(C, shift, start)
            if size < 1e-10:
                self._start = best
                break
        return best if size < 1e-10 else np.full(4, math.nan)

    def _newton(self, C: float, shift: float, x: Array) -> tuple[Array, float]:
        before = math.inf
        for _ in range(_MOST_STEPS):
            value = self._equations(C, shift, x)
            move = np.linalg.solve(self._slope(C, shift, x), value)
            size = float(np.max(np.abs(move) / (1e-3 + np.abs(x))))
            # g > 0 and 0 < G_11 < 1: the branch that the isotropic bulk is on.
            share = 1.0
            while not (x[0] > share * move[0] and 0.0 < x[1] - share * move[1] < 1.0):
                share *= 0.5
                if share < 1e-8:
                    return x, math.inf
            x = x - share * move
            if size < 3e-16 or (size < 1e-12 and size >= before):
                break
            before = size
        return x, size

    def _isotropic(self, C: float, shift: float) -> Array:
        point = isotropic(0.0, self.beta, (self.law.bulk,), (1.0,), 1).at(np.array([C, shift]))
        g = C * self.beta * float(point.values[1])
        root = math.sqrt(g * (1.0 - self.law.overlap))
        first = 1.0 / (1.0 + g * self.law.bulk)
        return np.array([g, first, root * first, -first])

    def _slope(self, C: float, shift: float, x: Array) -> Array:
        columns = [self._equations(C, shift, x + 1j * _STEP * one).imag / _STEP for one in np.eye(4)]
        return np.array(columns).T

    def _plain(self, g: Any) -> NDArray[Any]:
        """Z."""
        root = np.sqrt(g * (1.0 - self.law.overlap))
        return np.array([[1.0, root], [root, -1.0]])

    def _weights(self, x: NDArray[Any]) -> tuple[tuple[NDArray[Any], ...], tuple[NDArray[Any], ...]]:
        """W' = W (1 + G W/alpha0)^-1, row by row, and j, (n,) each: for W = [[p, q], [q, 0]]."""
        g, alpha0, samples = x[0], self.law.batch_ratio, self.law.samples
        a, b, c = x[1:] / alpha0
        p, q = g * samples.noise, np.sqrt(g * (1.0 - self.law.overlap)) * samples.turn
        # det(1 + G W) and W adj: elementary for two rows.
        determinant = 1.0 + a * p + 2.0 * b * q + (b * b - a * c) * q * q
        mixed = (q + b * q * q) / determinant
        turned = (p - c * q * q) / determinant, mixed, mixed, -a * q * q / determinant
        return turned, ((1.0 + b * q) / determinant, -(a * q) / determinant)

    def _equations(self, C: Any, shift: Any, x: NDArray[Any]) -> NDArray[Any]:
        """G (Z + E[W']) - 1 in its first three entries, and D g + C (1 - G_11) - beta C over beta C."""
        g, G = x[0], np.array([[x[1], x[2]], [x[2], x[3]]])
        product = G @ (self._plain(g) + _averaged((self.law.samples.weights,), self._weights(x)[0]).reshape(2, 2))
        filled = (shift * g / C + 1.0 - x[1]) / self.beta - 1.0
        return np.array([filled, product[0, 0] - 1.0, product[0, 1], product[1, 1] - 1.0])

    def _explicit(self, C: Any, shift: Any, x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """(T, tau) and K once x is known; complex arguments serve the derivatives."""
        g, beta = x[0], self.beta
        tau = g / (C * beta)
        # (1 - H)/g on v and theta_perp, and with v taken out of the readout's inputs.
        moment = self._vectors @ (self._gram() - self.forms(x)) @ self._vectors.T / g
        seen = moment + g * np.outer(moment[0], moment[0]) / (1.0 - g * moment[0, 0])
        return np.array([(1.0 - shift * tau) / C, tau]), beta * tau * seen

    def _gram(self) -> Array:
        """Scalar products of theta, e and w."""
        samples = self.law.samples
        own = samples.weights * samples.pull
        along, common = float(own @ samples.u), float(own @ samples.t)
        length = along**2 + common**2 + float(own @ samples.pull) / self.law.batch_ratio
        return np.array([[1.0, 0.0, along], [0.0, 1.0, common], [along, common, length]])

    def forms(self, x: NDArray[Any]) -> NDArray[Any]:
        """(1 + g B)^-1 on theta, e and w."""
        samples, (turned, j) = self.law.samples, self._weights(x)
        u, t, pulled = samples.u, samples.t, samples.weights * samples.pull
        noise = _averaged([samples.weights * s for s in (u * u, u * t, u * t, t * t)], turned)
        # Rows (theta, 1), (theta, 2), (e, 1); the second component of e is not there.
        whole = np.kron(np.eye(2), self._plain(x[0])) + noise.reshape(2, 2, 2, 2).swapaxes(1, 2).reshape(4, 4)
        N = np.linalg.inv(whole[:3, :3])
        force = _averaged((pulled * u, pulled * t), j).ravel()[:3]
        along = N @ force
        own = x[1:3] @ _averaged((pulled * samples.pull,), j)[0] / self.law.batch_ratio
        return np.block([[N[::2, ::2], along[::2, None]], [along[None, ::2], force @ along + own]])


def _averaged(weights: Sequence[Array], values: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Each of the values by each of the weights, (weights, values)."""
    return np.array([[weight @ value for value in values] for weight in weights])
