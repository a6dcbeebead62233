"""Two letters with any activation: the limits of their traces beside rows of real networks."""

from __future__ import annotations

import numpy as np
import pytest

from giantsteps.verify.second_route.any_activation import letters


@pytest.mark.parametrize("name", letters.MODELS)
def test_rows_of_real_networks(name: str) -> None:
    # The theory misses 1/d terms, at d = 200 as large as 2 % here; letters that do not mix would be 10 % off in T_12.
    pair, d = letters.MODELS[name], 200
    found = letters.iterated(pair)
    measured = np.mean([letters.resolvent(pair, d, seed) for seed in range(6)], axis=0)
    expected = (found.T[0, 0], found.T[0, 1], found.T[1, 1], *found.tau)
    np.testing.assert_allclose(measured, expected, rtol=0.06)


def test_the_matrix_of_the_rows_is_not_diagonal() -> None:
    # Where it is, letters act on their own: at C_12 = 0, and nowhere else.
    pair = letters.MODELS["softplus student, letters of either sign"]
    assert abs(letters.iterated(pair).seen[0, 1]) > 0.03
