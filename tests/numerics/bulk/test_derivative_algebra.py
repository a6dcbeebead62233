"""Divided differences and matrix variations: against explicit differences, and against differentiated matrices."""

from __future__ import annotations

import numpy as np

from onestep.numerics.bulk.derivative_algebra import (
    Divided,
    Varied,
    constant,
    fixed,
    matrix_functions,
    stacked,
    variable,
)

PLACES = np.array([0.3, 1.7, 4.1])


def rational(x: Divided) -> Divided:
    """(1 + x/2)/(2 + x^2)."""
    return (x * 0.5 + 1.0) * (x * x + 2.0).inverse()


def test_differences_of_a_rational_function() -> None:
    found = rational(variable(PLACES))
    values = (1.0 + PLACES / 2.0) / (2.0 + PLACES**2)
    np.testing.assert_allclose(found.values, values, rtol=1e-15)
    gaps = PLACES[:, None] - PLACES
    np.fill_diagonal(gaps, 1.0)
    slope = 0.5 / (2.0 + PLACES**2) - (1.0 + PLACES / 2.0) * 2.0 * PLACES / (2.0 + PLACES**2) ** 2
    expected = (values[:, None] - values) / gaps + np.diag(slope)
    # Gaps of order one: the explicit differences lose no more than two digits.
    np.testing.assert_allclose(found.slopes, expected, rtol=1e-13, atol=1e-15)


def test_close_places_lose_nothing() -> None:
    # Places that differ by 1e-9: explicit differences would keep seven digits. f' is the same to 1e-9 at both.
    found = rational(variable(np.array([1.0, 1.0 + 1e-9])))
    assert abs(found.slopes[0, 1] - 0.5 * (found.slopes[0, 0] + found.slopes[1, 1])) < 1e-15


def test_another_variable() -> None:
    # f(x) = x^2 as a function of g(x) = x^3: differences in g.
    x = variable(PLACES)
    found = (x * x).against(x * x * x)
    first, second = PLACES[0], PLACES[2]
    assert abs(found.slopes[0, 2] - (first**2 - second**2) / (first**3 - second**3)) < 1e-15


def test_functions_on_axes() -> None:
    x = variable(PLACES)
    whole = stacked([[x, x * x], [-x, constant(np.asarray(2.0), 3)]])
    np.testing.assert_array_equal(whole[0, 1].values, PLACES**2)
    np.testing.assert_array_equal(whole[1].slopes[0], -np.ones((3, 3)))
    turned = whole.transformed(np.array([[1.0, 2.0], [0.0, 1.0]]))
    np.testing.assert_allclose(turned[0, 0].values, PLACES + 2 * PLACES**2 - 2 * PLACES + 8.0, rtol=1e-15)


def test_derivative_of_a_matrix_function() -> None:
    # sqrt-free check: for f(G) = (1 + G)^-1 the derivative is -(1 + G)^-1 dG (1 + G)^-1; two eigenvalues coincide.
    rng = np.random.default_rng(4)
    basis = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    places, vectors = np.array([0.5, 0.5, 2.0]), np.asarray(basis)
    moved = rng.normal(size=(4, 3, 3))
    moved += np.swapaxes(moved, 1, 2)
    inverse = np.linalg.inv(np.eye(3) + (vectors * places) @ vectors.T)
    (found,) = matrix_functions(stacked([[(variable(places) + 1.0).inverse()]])[0], vectors, moved)
    np.testing.assert_allclose(found.value, inverse, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(found.moves, -inverse @ moved @ inverse, rtol=1e-12, atol=1e-14)


def test_products_of_varied_matrices() -> None:
    rng = np.random.default_rng(5)
    A, dA, B, dB = rng.normal(size=(4, 2, 2))
    found = Varied(A, dA[None]) @ Varied(B, dB[None]).T - fixed(A, 1)
    np.testing.assert_allclose(found.value, A @ B.T - A, rtol=1e-14)
    np.testing.assert_allclose(found.moves[0], dA @ B.T + A @ dB.T, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose((B @ Varied(A, dA[None]) @ B).moves[0], B @ dA @ B, rtol=1e-13)
