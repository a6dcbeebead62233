"""The ridge readout at finite size against its definition."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest

from giantsteps.numerics.experiments import readout
from giantsteps.numerics.experiments.readout import fit
from giantsteps.numerics.models.network import SimulationError


def blocks(phi: np.ndarray, y: np.ndarray, rows: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for start in range(0, len(y), rows):
        yield phi[start : start + rows].copy(), y[start : start + rows]


@pytest.mark.parametrize(("n", "p"), [(30, 12), (12, 30), (20, 20)])
@pytest.mark.parametrize("count", [2, readout.MANY_RIDGES + 1])
def test_readout_solves_the_normal_equations(n: int, p: int, count: int) -> None:
    rng = np.random.default_rng(n)
    phi, y = rng.standard_normal((n, p)), rng.standard_normal(n)
    ridges = np.geomspace(0.01, 10.0, count)
    found = fit(blocks(phi, y, 7), n, p, ridges)
    scaled = phi / math.sqrt(p)
    for column, ridge in enumerate(ridges):
        # The definition, by a dense solve; condition number below 1e4.
        a = np.linalg.solve(scaled.T @ scaled + ridge * np.eye(p), scaled.T @ y)
        assert found.a[:, column] == pytest.approx(a, rel=1e-9, abs=1e-11)
        assert found.training_error[column] == pytest.approx(np.mean((y - scaled @ a) ** 2), rel=1e-9)


def test_readout_without_ridge_interpolates_with_least_norm() -> None:
    rng = np.random.default_rng(0)
    phi, y = rng.standard_normal((10, 25)), rng.standard_normal(10)
    found = fit(blocks(phi, y, 10), 10, 25, (0.0,))
    assert found.a[:, 0] == pytest.approx(np.linalg.pinv(phi / 5.0) @ y, rel=1e-10)  # condition number below 100
    assert found.training_error[0] == 0.0


@pytest.mark.parametrize("count", [1, readout.MANY_RIDGES + 1])
def test_singular_features_are_refused(count: int) -> None:
    with pytest.raises(SimulationError, match="linearly dependent"):
        fit(blocks(np.zeros((10, 4)), np.ones(10), 10), 10, 4, (0.0,) * count)
