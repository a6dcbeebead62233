"""The ridge readout at finite size: argmin_a sum_mu (y_mu - a.phi_mu/sqrt(p))^2 + lambda |a|^2 on given features.

Normal equations on the smaller side (p unknowns, or n by the identity A^T (A A^T + lambda)^-1 = (A^T A + lambda)^-1
A^T with A = Phi/sqrt(p)), Cholesky for a few ridges, one reduction to tridiagonal form for many (another library than
NumPy: one solution for each ridge). Features arrive in blocks of samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from giantsteps.numerics.experiments.arrays import NUMPY, Array, Arrays
from giantsteps.numerics.models.network import SimulationError

# Above this many ridges one tridiagonal form (about 7 Cholesky factorisations at p = 800 and 1600) is cheaper.
MANY_RIDGES = 8


@dataclass(frozen=True, eq=False)
class Readout:
    """One column per ridge: readouts `a` (p, L), and the mean squared training residual (L,), label noise included."""

    a: Array
    training_error: Array


def fit(
    blocks: Iterator[tuple[Any, Array]], n: int, p: int, ridges: Sequence[float], arrays: Arrays = NUMPY
) -> Readout:
    """The ridge readouts for all `ridges` from blocks (features (rows, p), labels (rows,)) with n rows in all.

    Features are arrays of the library `arrays`. Memory: p^2 numbers where p < n, n p + n^2 otherwise. lambda = 0 is the
    least-norm interpolation where n <= p. Raises SimulationError where the matrix is numerically singular (lambda = 0
    at n = p, or constant features), or not finite.
    """
    return (_primal if p < n else _dual)(blocks, n, p, ridges, arrays)


def _primal(blocks: Iterator[tuple[Any, Array]], n: int, p: int, ridges: Sequence[float], arrays: Arrays) -> Readout:
    from scipy.linalg.blas import dsyrk

    gram = arrays.put(np.zeros((p, p), order="F"))
    moment = np.zeros(p)
    square = 0.0
    for features, labels in blocks:
        if arrays.numpy:
            # features.T is already in Fortran order: no copy, and the lower triangle of the Gram matrix grows in place.
            gram = dsyrk(1.0 / p, features.T, beta=1.0, c=gram, lower=1, overwrite_c=1)
        else:
            gram += features.T @ features / p
        moment += arrays.get(arrays.put(labels) @ features)
        square += float(labels @ labels)
    moment /= np.sqrt(p)
    a = _solve(gram, moment, ridges, arrays)
    # |y - A a|^2 = |y|^2 - a.A^T y - lambda |a|^2 by the normal equations: no second pass over the data.
    residual = square - moment @ a - np.array(ridges) * np.einsum("il,il->l", a, a)
    return Readout(a, residual / n)


def _dual(blocks: Iterator[tuple[Any, Array]], n: int, p: int, ridges: Sequence[float], arrays: Arrays) -> Readout:
    from scipy.linalg.blas import dsyrk

    phi, y, start = arrays.put(np.empty((n, p))), np.empty(n), 0
    for features, labels in blocks:
        phi[start : start + len(labels), :] = features
        y[start : start + len(labels)] = labels
        start += len(labels)
    gram = dsyrk(1.0 / p, phi.T, trans=1, lower=1) if arrays.numpy else phi @ phi.T / p
    multipliers = _solve(gram, y, ridges, arrays)
    # y - A a = lambda multipliers, exactly.
    return Readout(
        arrays.get(phi.T @ arrays.put(multipliers)) / np.sqrt(p),
        np.array(ridges) ** 2 * np.einsum("il,il->l", multipliers, multipliers) / n,
    )


def _solve(gram: Any, rhs: Array, ridges: Sequence[float], arrays: Arrays) -> Array:
    """(gram + lambda)^-1 rhs for every lambda, columns; NumPy reads the lower triangle of `gram` and overwrites it."""
    from scipy.linalg import cho_factor, cho_solve

    original = np.array(arrays.get(arrays.library.linalg.diagonal(gram)))
    if not np.isfinite(original).all():  # no sample would count beside it, and the readout would be zero
        raise SimulationError("the squares of the features overflow: use a smaller multiple of the activation")
    if arrays.numpy and len(ridges) > MANY_RIDGES:
        return _solve_tridiagonal(gram, rhs, ridges)
    solutions = np.empty((len(rhs), len(ridges)), order="F")
    for column, ridge in enumerate(ridges):
        try:
            if arrays.numpy:
                np.einsum("ii->i", gram)[:] = original + ridge
                last = column == len(ridges) - 1
                factor = cho_factor(gram, lower=True, overwrite_a=last, check_finite=False)
                solutions[:, column] = cho_solve(factor, rhs, check_finite=False)
            else:
                solutions[:, column] = arrays.solve(gram, rhs, ridge)
        except arrays.refusals as error:
            raise _singular(ridge) from error
    return solutions


def _solve_tridiagonal(gram: Array, rhs: Array, ridges: Sequence[float]) -> Array:
    """The same by gram = Q T Q^T with T tridiagonal: T + lambda takes p operations for every lambda, Q 2 p^2."""
    from scipy.linalg import lapack

    count = len(rhs)
    form = np.asfortranarray(gram)
    form, diagonal, beside, tau, _ = lapack.dsytrd(form, lower=1, lwork=64 * count, overwrite_a=1)
    # Q leaves the first axis alone; on the others it is a product of reflections, stored below the diagonal.
    reflections = np.asfortranarray(form[1:, :-1])
    del form
    turned = np.array(rhs[:, None], order="F")
    turned[1:] = _reflected(reflections, tau, turned[1:], "T")
    solutions = np.empty((count, len(ridges)), order="F")
    scale = float(np.max(np.abs(diagonal))) * count * np.finfo(float).eps
    for column, ridge in enumerate(ridges):
        pivots, factor, failed = lapack.dpttrf(diagonal + ridge, beside)
        if failed or pivots.min() <= scale:
            raise _singular(ridge)
        solutions[:, column] = lapack.dpttrs(pivots, factor, turned)[0][:, 0]
    solutions[1:] = _reflected(reflections, tau, solutions[1:], "N")
    return solutions


def _reflected(reflections: Array, tau: Array, columns: Array, transposed: str) -> Array:
    """Q or Q^T times columns."""
    from scipy.linalg import lapack

    if len(columns) == 0:
        return columns
    found, _, _ = lapack.dormqr("L", transposed, reflections, tau, columns, lwork=64 * max(columns.shape))
    return np.asarray(found)


def _singular(ridge: float) -> SimulationError:
    return SimulationError(
        f"the features are linearly dependent and ridge {ridge:g} is too small: use a larger one, for example 0.001"
    )
