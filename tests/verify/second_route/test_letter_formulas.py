"""The verifier's own formulas for a vocabulary: the equations as they stand, and dense matrices."""

from __future__ import annotations

import numpy as np
import pytest

from giantsteps.verify.second_route.networks.letter_formulas import MASS, NODES, Bulk, Groups
from giantsteps.verify.second_route.networks.letter_numbers import LAW, SPECTRAL

# A letter may be zero.
LETTERS = np.array([1.1, 0.0, -0.7])
FRACTIONS = np.array([0.3, 0.3, 0.4])
COUPLINGS = np.array([[1.0, 0.3, -0.5], [0.3, 0.8, 0.1], [-0.5, 0.1, 0.9]])
SHIFT = np.array([0.5, 0.7, 0.4])


def three_groups() -> Groups:
    """Three letters on a spectrum of no particular shape; two of the h_a coincide."""
    places = np.eye(4)
    return Groups(1.2, FRACTIONS, LETTERS, 0.9, LAW, places[:2], places[[2, 3, 2]], np.array([2.0, 1.5, 2.0]))


def test_three_groups_satisfy_the_equations_as_they_stand() -> None:
    groups = three_groups()
    at = Bulk(groups).at(COUPLINGS, SHIFT)
    forms = 1 + LETTERS[:, None] ** 2 * groups.weight * SPECTRAL["varrho"](NODES)
    theta = groups.beta * at.tau[:, None] * forms
    filtered = np.linalg.inv(np.eye(3) + np.einsum("ax,ab->xab", theta, COUPLINGS))  # (1 + Theta C)^-1 at every node
    mixed = COUPLINGS @ filtered
    tau = FRACTIONS / (SHIFT + np.einsum("x,ax,xaa->a", MASS, forms, mixed))
    T = np.einsum("x,xab,bx->ab", MASS, filtered, theta) / groups.beta
    # Fixed points are iterated to 1e-13.
    np.testing.assert_allclose(at.tau, tau, rtol=1e-11)
    np.testing.assert_allclose(at.T, T, rtol=1e-10, atol=1e-12)
    h = [SPECTRAL["h_1"](NODES), SPECTRAL["h_2"](NODES), SPECTRAL["h_1"](NODES)]
    norms = -np.einsum("x,ax,xab,bx->ab", MASS, h, mixed, h) * groups.beta**2 * np.outer(at.tau, at.tau)
    norms += np.diag(groups.beta * at.tau * groups.norm_variances)
    np.testing.assert_allclose(at.with_spike[6:, 6:], norms, rtol=1e-10, atol=1e-12)
    along_spike = np.einsum("x,x,xab,bx->ab", MASS, SPECTRAL["f_1"](NODES), filtered, h) * groups.beta * at.tau
    np.testing.assert_allclose(at.with_spike[:3, 6:], along_spike, rtol=1e-10, atol=1e-12)
    # (1/p) tr[S S^-1] = 1.
    assert SHIFT @ at.tau + np.sum(COUPLINGS * at.T) == pytest.approx(1.0, rel=1e-11)


def test_three_groups_against_a_dense_resolvent() -> None:
    groups, d = three_groups(), 600
    at = Bulk(groups).at(COUPLINGS, SHIFT)
    from scipy.special import ndtri

    rng = np.random.default_rng(11)
    group = np.repeat(np.arange(3), np.round(FRACTIONS * groups.beta * d).astype(int))
    spectrum = SPECTRAL["varrho"](ndtri((np.arange(d) + 0.5) / d))
    rows = rng.standard_normal((len(group), d))
    rows *= np.sqrt((1 + LETTERS[group, None] ** 2 * groups.weight * spectrum) / d)
    S = np.diag(SHIFT[group]) + COUPLINGS[np.ix_(group, group)] * (rows @ rows.T)
    inverse = np.linalg.inv(S)
    tau = [np.trace(inverse[np.ix_(group == a, group == a)]) / len(group) for a in range(3)]
    T = [[np.sum((rows @ rows.T * inverse)[np.ix_(group == a, group == b)]) for b in range(3)] for a in range(3)]
    # One draw: traces vary by some 1/d between draws and shift by as much, 1e-3 here; measured spread 4e-4.
    np.testing.assert_allclose(at.tau, tau, atol=3e-3)
    np.testing.assert_allclose(at.T, np.array(T) / len(group), atol=3e-3)
