"""A bulk given by atoms: derivatives, the Marchenko-Pastur law, dense matrices of one finite bulk."""

from __future__ import annotations

import numpy as np
import pytest

from giantsteps.numerics.bulk.given_bulk import SpectralMeasure, of_matrix


def random_bulk(p: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A bulk that is not isotropic, and two orthonormal directions."""
    generator = np.random.default_rng(seed)
    W = generator.standard_normal((p, d)) * generator.uniform(0.3, 1.7, d) / np.sqrt(d)
    v, theta = np.linalg.qr(generator.standard_normal((d, 2)))[0].T
    return W, v, theta


@pytest.mark.parametrize(("p", "d"), [(12, 20), (25, 10)])
def test_traces_and_overlaps_are_those_of_dense_matrices(p: int, d: int) -> None:
    W, v, theta = random_bulk(p, d, 2)
    ridge, C, D = 0.2, 0.9, 0.5
    point = of_matrix(W, v, theta).at_ridge(ridge).at(np.array([C, D]))
    gram = W @ W.T
    G0 = np.linalg.inv((ridge + D) * np.eye(p) + C * gram)
    Pi = np.eye(d) - np.outer(v, v)
    G = np.linalg.inv((ridge + D) * np.eye(p) + C * W @ Pi @ W.T)
    # Rounding of small dense inverses.
    assert point.values == pytest.approx([np.trace(gram @ G0) / p, np.trace(G0) / p], rel=1e-11)
    assert point.overlap[0, 0] == pytest.approx(v @ W.T @ G @ W @ v, rel=1e-11)
    assert point.overlap[1, 1] == pytest.approx(theta @ W.T @ G0 @ W @ theta, rel=1e-11)
    assert point.overlap[0, 1] == 0.0


@pytest.mark.parametrize(
    ("eigenvalues", "weights"), [([1.0, 2.0], [0.5, 0.4]), ([-1.0, 2.0], [0.5, 0.5]), ([1.0, 2.0], [1.5, -0.5])]
)
def test_what_is_no_law_is_refused(eigenvalues: list[float], weights: list[float]) -> None:
    ones = np.ones(2)
    with pytest.raises(ValueError, match=r"atoms|eigenvalue"):
        SpectralMeasure(1.0, np.array(eigenvalues), ones, ones, np.array(weights))
