"""Gamma against large random matrices, finite differences and its own limits."""

from __future__ import annotations

import numpy as np
import pytest

from giantsteps.numerics.bulk.equivalent import (
    IsotropicGroups,
    marchenko_pastur,
    pack,
    unpack,
)

TWO = IsotropicGroups(ridge=0.2, beta=0.8, bulks=np.array([1.0, 1.7]), fractions=np.array([0.3, 0.7]))
TWO_POINT = pack(np.array([[0.6, -0.25], [-0.25, 0.5]]), np.array([0.1, 0.3]))


@pytest.mark.parametrize("beta", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("conjugate", [0.0, 1e-9, 0.7, 1e4])
@pytest.mark.parametrize("shift", [1e-8, 0.3, 50.0])
def test_marchenko_pastur_solves_the_two_equations_of_the_law(beta: float, conjugate: float, shift: float) -> None:
    bulk = 1.3
    overlap, tau = marchenko_pastur(conjugate, shift, beta, bulk)
    inner = 1.0 + beta * bulk * conjugate * tau
    # The equations in the form in which they are stated; 1e-12 leaves room for the cancellation in 1/tau only.
    assert tau * (shift + bulk * conjugate / inner) == pytest.approx(1.0, rel=1e-12)
    assert overlap == pytest.approx(bulk * tau / inner, rel=1e-14)


def _sampled(seed: int, dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """(T, tau) of one large matrix with unit rows scaled to the bulk, by plain linear algebra."""
    rng = np.random.default_rng(seed)
    width = round(TWO.beta * dimension)
    member = np.repeat([0, 1], [round(0.3 * width), width - round(0.3 * width)])
    rows = rng.normal(size=(width, dimension))
    rows *= np.sqrt(TWO.bulks[member])[:, None] / np.linalg.norm(rows, axis=1)[:, None]
    matrix, diagonal = unpack(TWO_POINT)
    gram = rows @ rows.T
    system = np.diag(TWO.ridge + diagonal[member]) + matrix[np.ix_(member, member)] * gram
    inverse = np.linalg.inv(system)
    masks = [member == 0, member == 1]
    tau = np.array([np.trace(inverse[np.ix_(m, m)]) for m in masks]) / width
    product = gram * inverse.T
    overlap = np.array([[product[np.ix_(a, b)].sum() for b in masks] for a in masks]) / width
    return overlap, tau


def test_groups_agree_with_a_large_random_matrix() -> None:
    # Traces of resolvents fluctuate by O(1/d) and deviate by O(1/d): 10/d covers both with ease, and a wrong factor
    # beta, c_a or pi_a moves the values by 20 % or more.
    dimension = 1200
    overlap, tau = _sampled(3, dimension)
    expected, expected_tau = unpack(TWO.at(TWO_POINT).values)
    assert np.max(np.abs(tau / expected_tau - 1.0)) < 10.0 / dimension
    assert np.max(np.abs(overlap - expected)) < 10.0 / dimension * np.max(np.abs(expected))


def test_values_decrease_when_conjugates_grow() -> None:
    # S^-1 decreases in the Loewner order, so tau_a and T (as a matrix) do.
    matrix, diagonal = unpack(TWO_POINT)
    before, tau_before = unpack(TWO.at(TWO_POINT).values)
    bump = np.array([1.0, 0.5])
    after, tau_after = unpack(TWO.at(pack(matrix + 0.1 * np.outer(bump, bump), diagonal + [0.0, 0.2])).values)
    assert np.all(tau_after < tau_before)
    assert np.all(np.linalg.eigvalsh(before - after) > 0.0)


def test_linear_features_without_a_ridge() -> None:
    # Nothing shifts tau then (ridge + D = 0), and C = u u' has rank one: t = sum c_a tau_a u_a^2 obeys t = 1 + beta t.
    beta, bulks, shares, along = 0.4, np.array([0.5, 2.0]), np.array([0.3, 0.7]), np.array([2.0, -0.1])
    conjugates = pack(np.outer(along, along), np.zeros(2))
    found = IsotropicGroups(0.0, beta, bulks, shares).at(conjugates)
    np.testing.assert_allclose(found.values[-2:], shares / ((1.0 - beta) * bulks * along**2), rtol=1e-12)
