"""Least squares with columns that vanish or coincide."""

from __future__ import annotations

import numpy as np
import pytest

from giantsteps.numerics.gaussian.least_squares import least_norm


def test_full_rank_is_ordinary_least_squares() -> None:
    rng = np.random.default_rng(1)
    matrix, right = rng.normal(size=(20, 3)), rng.normal(size=20)
    expected = np.linalg.solve(matrix.T @ matrix, matrix.T @ right)
    assert least_norm(matrix, right, 1.0) == pytest.approx(expected, rel=1e-12)


def test_coinciding_columns_share_the_coefficient() -> None:
    column = np.random.default_rng(2).normal(size=20)
    matrix = np.stack([column, -column, column], axis=1)
    assert least_norm(matrix, 3.0 * column, 1.0) == pytest.approx([1.0, -1.0, 1.0], rel=1e-12)


def test_columns_at_rounding_get_nothing() -> None:
    noise = 1e-17 * np.random.default_rng(3).normal(size=(20, 2))
    assert np.array_equal(least_norm(noise, np.ones(20), 1.0), np.zeros(2))


def test_small_but_real_columns_are_kept() -> None:
    column = np.random.default_rng(4).normal(size=20)
    assert least_norm(1e-8 * column[:, None], column, 1.0) == pytest.approx([1e8], rel=1e-12)


def test_zero_matrix_gives_zero() -> None:
    assert np.array_equal(least_norm(np.zeros((5, 2)), np.ones(5), 0.0), np.zeros(2))
