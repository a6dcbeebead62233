"""First layers of real networks, their gradient step on one batch, and statistics of the rows after it, by sampling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from giantsteps.derivations.bulk import symbols as s
from giantsteps.numerics.experiments.ensembles import pull
from giantsteps.verify.second_route.grids import LINE, WEIGHT, Array, Curve

# V2, V1 and the overlaps of v, theta_perp and delta, as `Drawn.resolvent` gives them.
BULK_COLUMNS = (s.V2, s.V1, s.overlap_vv, s.overlap_vp, s.overlap_pp, s.overlap_vd, s.overlap_pd, s.overlap_dd)
_PAIRS = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))


def positive_inverse(matrix: Array) -> Array:
    """The inverse of a symmetric positive definite matrix, by Cholesky: half of the work of any inverse.

    Raises LinAlgError for a matrix that is not positive definite.
    """
    from scipy.linalg import lapack  # slow to import, and most readers of the claims run none

    factor, failed = lapack.dpotrf(matrix, lower=1)
    if failed:
        raise np.linalg.LinAlgError("not positive definite")
    found = lapack.dpotri(factor, lower=1, overwrite_c=1)[0]
    # The upper triangle is empty: potrf clears it.
    both = found + found.T
    np.fill_diagonal(both, found.diagonal())
    return np.asarray(both)


def positive_solution(matrix: Array, right: Array) -> Array:
    """matrix^-1 right for a symmetric positive definite matrix, which is overwritten, and a vector; by Cholesky.

    Raises LinAlgError for a matrix that is not positive definite.
    """
    from scipy.linalg import lapack

    _, found, failed = lapack.dposv(matrix.T, right, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("not positive definite")
    return np.asarray(found)


def after_step(
    rows: Array, student: Curve, x: Array, labels: Array, rate: float, letters: Array | float = 1.0
) -> Array:
    """Rows w + (e u/n0) sum_mu sigma'(w.x_mu) (y_mu - f(x_mu)) x_mu with f(x) = (1/p) sum_w u sigma(w.x), at a rate e.

    ``letters`` u are (p,) entries of the readout during the step, over 1/sqrt(p).
    """
    u = np.broadcast_to(letters, len(rows))
    return np.asarray(rows + rate / len(x) * pull(rows, x, labels, student.value, student.prime, u))


# Passes of :func:`even_rows`: what the first leaves of a shape is of the order of its weight's error, which the second
# finds on the rows as they are then. A direction that keeps less than this share of the mean is not stretched further.
_PASSES, _LEAST = 2, 0.1


def even_rows(rows: Array, start: Array, batch: Array, labels: Array, shapes: Array | None = None) -> Array:
    """Bulk rows (p, d) of mean zero without the covariance of their batch, all of the norm they have on average.

    ``start`` are these rows before the step, uniform on the sphere; ``labels`` are Y. What is taken out is what the
    rows' own second moments, less what those before the step are off 1/d, have of the shapes 1, B, T, T^2, A, for B, T,
    A = (1/n0) sum_mu Y_mu^k x_mu x_mu^T, k = 0, 1, 2, by least squares: no weight of a shape is given. It is taken out
    again of what is left, so that a wrong weight would be made good on the next pass. Who has several rows of one batch
    hands on its `batch_shapes`.
    """
    shapes, (p, d) = batch_shapes(batch, labels) if shapes is None else shapes, rows.shape
    initial = start - start.mean(axis=0)
    bulk = float(np.sum(rows**2)) / (p - 1)
    moments = (rows.T @ rows - initial.T @ initial) / (p - 1) + np.eye(d) / d
    left = np.eye(d)
    for done in range(_PASSES):
        seen = left @ moments @ left.T if done else moments
        left = _inverse_root(np.tensordot(_weights(seen, shapes), shapes, axes=1)) @ left
    even = rows @ left.T
    even *= math.sqrt(bulk) / np.linalg.norm(even, axis=1)[:, None]
    return np.asarray(even - even.mean(axis=0))


def batch_shapes(batch: Array, labels: Array) -> Array:
    """1, B, T, T^2 and A, (5, d, d)."""
    n0, d = batch.shape
    weighted = batch * labels[:, None]
    # A matrix by its own transpose costs half of a product.
    plain, turn, square = (left.T @ right / n0 for left, right in ((batch,) * 2, (weighted, batch), (weighted,) * 2))
    return np.stack([np.eye(d), plain, turn, turn @ turn, square])


def _weights(moments: Array, shapes: Array) -> Array:
    """Those with which shapes are nearest to a matrix, in the sum of squared entries."""
    flat = shapes.reshape(len(shapes), -1)
    return np.asarray(np.linalg.lstsq(flat @ flat.T, flat @ np.ravel(moments))[0])


# Where a matrix over its mean eigenvalue is this near to one, in the root of the sum of squares, four orders of the
# series leave 63/256 times its fifth power, 3e-4 at most: less than what the weights of shapes are known to.
_NEAR = 0.25


def _inverse_root(matrix: Array) -> Array:
    """The root of the inverse of a symmetric matrix, its eigenvalues no less than ``_LEAST`` of their mean.

    By the series of (1 - e)^(-1/2) where it is near to a multiple of one, for two products in place of an
    eigendecomposition, which costs ten.
    """
    mean = float(np.trace(matrix)) / len(matrix)
    off = np.eye(len(matrix)) - matrix / mean
    if np.vdot(off, off) < _NEAR**2:
        square = off @ off
        series = square @ (5 / 16 * off + 35 / 128 * square) + 3 / 8 * square + 0.5 * off
        return np.asarray((series + np.eye(len(matrix))) / math.sqrt(mean))
    spectrum, axes = np.linalg.eigh(matrix)
    return np.asarray((axes / np.sqrt(np.maximum(spectrum, _LEAST * mean))) @ axes.T)


def batch_controls(
    x: Array, labels: Array, target: Curve, powers: tuple[int, ...] = (1, 3), means: tuple[int, ...] = (2, 4),
    centre: float = 0.0,
) -> Array:  # fmt: skip
    """|w_1|^2, w_1.w_k and theta.w_k of a batch, w_k = (1/n0) sum Y^k x, k of ``powers``, and the means of Y^k.

    Each minus its mean over batches, which is exact at any n0 and d; ``labels`` are Y = g(theta.x) - ``centre``, theta
    is axis 0.
    """
    (n0, d), vectors = x.shape, {k: labels**k @ x / len(x) for k in powers}
    first = {k: _moment(target, centre, k, 1) for k in powers}
    products = [
        vectors[1] @ vectors[k]
        - (1 - 1 / n0) * first[1] * first[k]
        - ((d - 1) * _moment(target, centre, 1 + k, 0) + _moment(target, centre, 1 + k, 2)) / n0
        for k in powers
    ]
    along = [vectors[k][0] - first[k] for k in powers]
    return np.array([*products, *along, *(np.mean(labels**k) - _moment(target, centre, k, 0) for k in means)])


@lru_cache(maxsize=256)
def _moment(target: Curve, centre: float, power_of_y: int, power_of_z: int) -> float:
    """E[(g(z) - centre)^j z^k]."""
    return float(WEIGHT @ ((target.value(LINE) - centre) ** power_of_y * LINE**power_of_z))


def _products(rows: Array, batch: Array) -> Array:
    """Covariances over rows (.., p, d) of b.theta, b.v~ and |b|^2, six of them, times d; ``batch`` is v~."""
    columns = np.stack([rows[..., 0], rows @ batch, np.einsum("...ij,...ij->...i", rows, rows)], axis=-1)
    columns -= columns.mean(axis=-2, keepdims=True)
    found = np.swapaxes(columns, -1, -2) @ columns * (rows.shape[-1] / (rows.shape[-2] - 1))
    return np.asarray(found[(..., *np.triu_indices(3))])


def fresh_controls(rows: Array, fresh: Array, student: Curve, x: Array, labels: Array, rate: float) -> Array:
    """Covariances of b.theta, b.v~ and |b|^2 over the rows w (p, d) of a network, less those over ``fresh`` (k, p, d).

    b = w + (e/n0) sum_mu sigma'(w.x_mu) Y_mu x_mu for both, without the network's output: given the batch, rows and
    fresh ones have one law, and the six differences have mean zero, exactly. They tell what of a network's noise is
    its rows' and not its batch's.
    """
    weighted = x * labels[:, None]

    def stepped(w: Array) -> Array:
        return np.asarray(w + rate / len(x) * student.prime(w @ x.T) @ weighted)

    v = labels @ x / len(x)
    return np.asarray(_products(stepped(rows), v) - _products(stepped(fresh), v).mean(axis=0))


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

    def resolvent(self, conjugate: float, shift: float) -> tuple[float, ...]:
        """`BULK_COLUMNS` of (C W Pi W^T + D)^-1 at given conjugates."""
        W, p = self.rows, len(self.rows)
        v = self.mean / np.linalg.norm(self.mean)
        perp = -v[0] * v
        perp[0] += 1.0
        perp /= np.linalg.norm(perp)
        columns = np.stack([W @ v, W @ perp, self.norms], axis=1)
        planar = W - np.outer(columns[:, 0], v)
        gram = planar @ planar.T
        inverse = positive_inverse(conjugate * gram + shift * np.eye(p))
        K = columns.T @ inverse @ columns
        return np.trace(inverse) / p, np.sum(gram * inverse) / p, *(K[i, j] for i, j in _PAIRS)
