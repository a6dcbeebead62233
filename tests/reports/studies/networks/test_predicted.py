"""The predictions that stood before the simulations are what the code gives today."""

from __future__ import annotations

import pytest

from giantsteps.reports.studies.networks.drawn import MEASURED, RUNS, Entry, entries
from giantsteps.reports.studies.networks.predicted import DIGITS, THEORIES, at_dimension, stored

# At every dimension the ratios are rounded differently; one says as much of the code as all.
DIMENSION = 400


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: f"{entry.activation} {entry.target}")
def test_the_stored_predictions_are_those_of_today(entry: Entry) -> None:
    for theory in THEORIES:
        there = stored()[entry.drawn.name][theory][DIMENSION]
        found = at_dimension(entry.drawn, DIMENSION, theory)
        assert found.converged is there.converged is True
        assert set(there.values) == set(MEASURED) - (set() if theory == "network" else {"chi"})
        for name, value in there.values.items():
            # Half a unit of the last digit that is stored, and as much for the quadrature.
            assert abs(found.values[name] - value) <= 10.0 ** (1 - DIGITS) * max(abs(value), there.scales[name])


def test_everything_that_is_drawn_is_predicted_by_both_theories_at_every_dimension() -> None:
    assert list(stored()) == [entry.drawn.name for entry in entries()]
    for theories in stored().values():
        assert tuple(theories) == THEORIES
        assert all(tuple(runs) == tuple(dimension for dimension, _ in RUNS) for runs in theories.values())
