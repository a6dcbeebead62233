"""First layers of real networks, their gradient step on one batch, and statistics of the rows after it, by sampling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from onestep.derivations.bulk import symbols as s
from onestep.verify.second_route.grids import LINE, WEIGHT, Array, Curve
from onestep.verify.second_route.values import by_glyph

# V2, V1 and the overlaps of v, theta_perp and delta, as `Drawn.resolvent` gives them.
BULK_COLUMNS = (s.V2, s.V1, s.overlap_vv, s.overlap_vp, s.overlap_pp, s.overlap_vd, s.overlap_pd, s.overlap_dd)
_PAIRS = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))


def unit_rows(p: int, d: int, rng: np.random.Generator) -> Array:
    """Rows (p, d) of length one, uniform on the sphere."""
    rows = rng.standard_normal((p, d))
    return np.asarray(rows / np.linalg.norm(rows, axis=1)[:, None])


def after_step(
    rows: Array, student: Curve, x: Array, labels: Array, rate: float, letters: Array | float = 1.0
) -> Array:
    """Rows w + (e u/n0) sum_mu sigma'(w.x_mu) (y_mu - f(x_mu)) x_mu with f(x) = (1/p) sum_w u sigma(w.x), at a rate e.

    ``letters`` u are (p,) entries of the readout during the step, over 1/sqrt(p).
    """
    received, u = x @ rows.T, np.reshape(letters, (-1, 1))
    residual = labels - (student.value(received) * u.T).mean(axis=1)
    return np.asarray(rows + rate / len(x) * u * (student.prime(received) * residual[:, None]).T @ x)


def batch_controls(x: Array, labels: Array, target: Curve) -> Array:
    """|v~|^2, v~.w3, theta.v~, theta.w3 and the means of y^2, y^4 of a batch, w3 = (1/n0) sum y^3 x, y = g(theta.x).

    Each minus its mean over batches, which is exact at any n0 and d; theta is axis 0.
    """
    n0, d = x.shape
    y, weight = target.value(LINE), WEIGHT
    first, third, square, fourth = (float(weight @ f) for f in (LINE * y, LINE * y**3, y**2, y**4))
    tilted = [float(weight @ (LINE**2 * f)) for f in (y**2, y**4)]
    v, w = labels @ x / n0, labels**3 @ x / n0
    means = (
        (1 - 1 / n0) * first**2 + ((d - 1) * square + tilted[0]) / n0,
        (1 - 1 / n0) * first * third + ((d - 1) * fourth + tilted[1]) / n0,
        first, third, square, fourth,
    )  # fmt: skip
    return np.asarray(np.array([v @ v, v @ w, v[0], w[0], np.mean(labels**2), np.mean(labels**4)]) - means)


def steadied(samples: Array, controls: Array) -> Array:
    """Samples (K,) less what is linear in their controls (K, m) of mean zero: of the same mean, with less noise.

    Each half's coefficients are fitted on the other half, so that no sample has a part in its own: unbiased.
    """
    found = np.array(samples)
    for half in (0, 1):
        own, other = slice(half, None, 2), slice(1 - half, None, 2)
        design = np.column_stack([np.ones(len(samples[other])), controls[other]])
        found[own] -= controls[own] @ np.linalg.lstsq(design, samples[other])[0][1:]
    return found


def row_covariances(powers: Sequence[Array], batch: Array) -> tuple[Array, Array, Array, Array]:
    """d times Var b.theta, Cov(b.theta, |b|^2), Cov(b.v~, |b|^2), Var |b|^2 over rows b = sum_k e^k powers[k].

    ``powers`` are (p, d), each centred over rows, theta is axis 0 and ``batch`` is v~. What comes back are polynomials
    in e, their coefficients from the constant on: one drawing tells what is linear in a rate and what is cubic.
    """
    count, (p, d) = len(powers), powers[0].shape
    along = np.stack([rows[:, 0] for rows in powers])
    spike = np.stack([rows @ batch for rows in powers])
    norms = np.zeros((2 * count - 1, p))
    for i, first in enumerate(powers):
        for j, second in enumerate(powers):
            norms[i + j] += np.einsum("ij,ij->i", first, second)
    norms -= norms.mean(axis=1)[:, None]

    def covariance(first: Array, second: Array) -> Array:
        found = np.zeros(len(first) + len(second) - 1)
        for i, x in enumerate(first):
            found[i : i + len(second)] += second @ x
        return np.asarray(d / (p - 1) * found)

    return covariance(along, along), covariance(along, norms), covariance(spike, norms), covariance(norms, norms)


@dataclass(frozen=True)
class Drawn:
    """Bulk rows (p, d) of one network, minus their mean, the mean itself, and v~ of its batch; theta is axis 0."""

    rows: Array
    mean: Array
    batch: Array

    @property
    def norms(self) -> Array:
        """|b|^2 minus its mean over rows."""
        squares = np.einsum("ij,ij->i", self.rows, self.rows)
        return np.asarray(squares - squares.mean())

    def covariances(self) -> tuple[float, float, float, float]:
        """d times Var b.theta, Cov(b.theta, |b|^2), Cov(b.v~, |b|^2), Var |b|^2 over the rows."""
        first, second, third, fourth = (float(x[0]) for x in row_covariances((self.rows,), self.batch))
        return first, second, third, fourth

    def resolvent(self, conjugate: float, shift: float) -> dict[str, float]:
        """V2, V1 and K of (C W Pi W^T + D)^-1 at given conjugates; keys are glyphs."""
        W, p = self.rows, len(self.rows)
        v = self.mean / np.linalg.norm(self.mean)
        perp = -v[0] * v
        perp[0] += 1.0
        perp /= np.linalg.norm(perp)
        columns = np.stack([W @ v, W @ perp, self.norms], axis=1)
        planar = W - np.outer(columns[:, 0], v)
        gram = planar @ planar.T
        found = np.linalg.solve(conjugate * gram + shift * np.eye(p), np.concatenate([np.eye(p), columns], axis=1))
        inverse, K = found[:, :p], columns.T @ found[:, p:]
        entries = (np.trace(inverse) / p, np.sum(gram * inverse) / p, *(K[i, j] for i, j in _PAIRS))
        return by_glyph(dict(zip(BULK_COLUMNS, entries, strict=True)))
