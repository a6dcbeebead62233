"""Least squares with columns that vanish or coincide."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# A direction under this share of the largest is the rounding of a zero.
RANK_TOLERANCE = 1e-12


def least_norm(matrix: Array, right: Array, size: float) -> Array:
    """The least-squares solution of least norm of matrix x = right; shapes (n, k), (n,) -> (k,).

    Singular values at the rounding of `size`, the norm that a column would have if it did not vanish, count as zero;
    so do those at the rounding of the largest.
    """
    left, singular, directions = np.linalg.svd(matrix, full_matrices=False)
    kept = singular > RANK_TOLERANCE * max(0.01 * size, float(singular[0]))
    return np.asarray(directions[kept].T @ ((left[:, kept].T @ right) / singular[kept]))
