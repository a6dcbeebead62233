"""A bulk given by atoms: derivatives, the Marchenko-Pastur law, dense matrices of one finite bulk."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bulk.atoms import SpectralMeasure, marchenko_pastur_atoms, of_matrix
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.ridge import solve

MODEL = Model(
    activation("tanh(z)"), activation("sin(z)"), alpha=1.5, beta=0.7, ridge=0.1, spike=1.0, bulk=1.3, alignment=0.8
)


def random_bulk(p: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A bulk that is not isotropic, and two orthonormal directions."""
    generator = np.random.default_rng(seed)
    W = generator.standard_normal((p, d)) * generator.uniform(0.3, 1.7, d) / np.sqrt(d)
    v, theta = np.linalg.qr(generator.standard_normal((d, 2)))[0].T
    return W, v, theta


@pytest.mark.parametrize("beta", [0.3, 1.0, 2.5])
def test_atoms_of_the_marchenko_pastur_law_give_the_isotropic_solution(beta: float) -> None:
    # The midpoint rule converges geometrically; both solvers stop at a residual of 1e-12.
    model = replace(MODEL, beta=beta)
    at_atoms = solve(model, bulk=marchenko_pastur_atoms(beta, model.bulk).at_ridge)
    isotropic = solve(model)
    assert at_atoms.converged
    assert at_atoms.test_error == pytest.approx(isotropic.test_error, rel=1e-9)
    assert at_atoms.order_parameters.psi[0] == pytest.approx(isotropic.order_parameters.psi[0], rel=1e-9)


def test_jacobians_are_the_derivatives() -> None:
    W, v, theta = random_bulk(9, 6, 1)
    equivalent = of_matrix(W, v, theta).at_ridge(0.2)
    at = np.array([0.7, 0.4])
    point, h = equivalent.at(at), 1e-5
    for k in range(2):
        step = h * np.eye(2)[k]
        up, down = equivalent.at(at + step), equivalent.at(at - step)
        # Central differences: an error of order h^2 = 1e-10 times third derivatives of order ten to a hundred.
        assert (up.values - down.values) / (2 * h) == pytest.approx(point.jacobian[:, k], rel=1e-6)
        slope = (up.overlap - down.overlap) / (2 * h)
        assert slope.ravel() == pytest.approx(point.overlap_jacobian()[k].ravel(), rel=1e-6, abs=1e-9)


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
