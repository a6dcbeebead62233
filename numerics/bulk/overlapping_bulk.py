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
    direction: tuple[float, float, float]
    perpendicular: tuple[float, float, float]


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

    def _weights(self, x: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        """W' = W (1 + G W/alpha0)^-1 as (W'_11, W'_12, W'_22), and j, (n,) each: for W = [[p, q], [q, 0]]."""
        g, alpha0, samples = x[0], self.law.batch_ratio, self.law.samples
        a, b, c = x[1:] / alpha0
        p, q = g * samples.noise, np.sqrt(g * (1.0 - self.law.overlap)) * samples.turn
        # det(1 + G W) and W adj: elementary for two rows.
        determinant = 1.0 + a * p + 2.0 * b * q + (b * b - a * c) * q * q
        first = (p - c * q * q) / determinant
        second = (q + b * q * q) / determinant
        third = -a * q * q / determinant
        return first, second, third, (1.0 + b * q) / determinant, -(a * q) / determinant

    def _equations(self, C: Any, shift: Any, x: NDArray[Any]) -> NDArray[Any]:
        """G (Z + E[W']) - 1 in its first three entries, and D g + C (1 - G_11) - beta C over beta C."""
        g, G = x[0], np.array([[x[1], x[2]], [x[2], x[3]]])
        first, second, third, *_ = self._weights(x)
        weights = self.law.samples.weights
        root = np.sqrt(g * (1.0 - self.law.overlap))
        self_energy = np.array([[weights @ first, weights @ second], [weights @ second, weights @ third]])
        product = G @ (np.array([[1.0, root], [root, -1.0]]) + self_energy)
        filled = (shift * g / C + 1.0 - x[1]) / self.beta - 1.0
        return np.array([filled, product[0, 0] - 1.0, product[0, 1], product[1, 1] - 1.0])

    def _explicit(self, C: Any, shift: Any, x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """(T, tau) and K once x is known; complex arguments serve the derivatives."""
        g, beta = x[0], self.beta
        tau = g / (C * beta)
        forms = self.forms(x)
        v, perp = self._vectors
        identity = self._gram()
        along, mixed, across = v @ forms @ v, v @ forms @ perp, perp @ forms @ perp
        # (1 - H)/g on v and theta_perp, and with v taken out of the readout's inputs.
        rest = (v @ identity @ v - along, v @ identity @ perp - mixed, perp @ identity @ perp - across)
        moment = np.array([[rest[0], rest[1]], [rest[1], rest[2]]]) / g
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
        samples, alpha0 = self.law.samples, self.law.batch_ratio
        first, second, third, j_first, j_second = self._weights(x)
        g = x[0]
        root = np.sqrt(g * (1.0 - self.law.overlap))
        w, s = samples.weights, (samples.u, samples.t)
        # Rows (theta, 1), (theta, 2), (e, 1); the second component of e is not there.
        inverse = np.empty((3, 3), dtype=np.asarray(x).dtype)
        blocks = {(i, k): [w @ (part * s[i] * s[k]) for part in (first, second, third)] for i in (0, 1) for k in (0, 1)}
        inverse[0, 0] = 1.0 + blocks[0, 0][0]
        inverse[0, 1] = inverse[1, 0] = root + blocks[0, 0][1]
        inverse[1, 1] = -1.0 + blocks[0, 0][2]
        inverse[0, 2] = inverse[2, 0] = blocks[0, 1][0]
        inverse[1, 2] = inverse[2, 1] = blocks[0, 1][1]
        inverse[2, 2] = 1.0 + blocks[1, 1][0]
        N = np.linalg.inv(inverse)
        pulled = w * samples.pull
        force = np.array([pulled @ (j_first * s[0]), pulled @ (j_second * s[0]), pulled @ (j_first * s[1])])
        along = N @ force
        own = (pulled * samples.pull) @ (x[1] * j_first + x[2] * j_second) / alpha0
        forms = np.empty_like(inverse)
        forms[0, 0], forms[1, 1] = N[0, 0], N[2, 2]
        forms[0, 1] = forms[1, 0] = N[0, 2]
        forms[0, 2] = forms[2, 0] = along[0]
        forms[1, 2] = forms[2, 1] = along[2]
        forms[2, 2] = force @ along + own
        return forms
