"""Which minimum of the training energy simulated experiments ended in."""

from __future__ import annotations

import pytest

from derivations.activation import activation
from numerics.model import Model
from reports.learned_basins import basins

# A drawn model of the calibration: two minima, the second a few per cent above the lowest.
TWO = Model(
    activation("tanh"), activation("relu"), alpha=2.14, beta=1.85, ridge=0.0779, spike=0.727, bulk=0.909,
    alignment=0.594, noise=0.0274,
)  # fmt: skip


def test_experiments_are_counted_by_the_nearest_minimum() -> None:
    found = basins(TWO, {100: [0.0]})
    assert found is not None
    assert len(found.minima) == 2
    lowest = min(found.minima, key=lambda minimum: minimum.energy)
    other = max(found.minima, key=lambda minimum: minimum.energy)
    assert found.gap == pytest.approx(other.energy / lowest.energy - 1.0, abs=1e-12)
    counted = basins(TWO, {400: [lowest.bias, other.bias + 0.1, other.bias - 0.1, lowest.bias + 0.1]})
    assert counted is not None
    assert counted.astray == {400: 0.5}
    assert "50% at d = 400" in counted.sentence
