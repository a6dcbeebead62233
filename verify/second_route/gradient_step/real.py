"""First layers of real networks, their gradient step on one batch, and statistics of the rows after it, by sampling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from onestep.derivations.bulk import symbols as s
from onestep.verify.second_route.grids import Array, Curve
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
        p, d = self.rows.shape
        norms, along, scale = self.norms, self.rows[:, 0], d / (p - 1)
        spike = self.rows @ self.batch
        return (
            scale * float(along @ along),
            scale * float(along @ norms),
            scale * float(spike @ norms),
            scale * float(norms @ norms),
        )

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
