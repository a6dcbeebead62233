"""Functions of a gain on their panels: what is interpolated, what is left of it, and where there are no numbers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from onestep.derivations.activations.activation import activation
from onestep.numerics.bulk.network_law import network_law
from onestep.numerics.gaussian.quadrature import ROUNDING
from onestep.numerics.saddle_point.one_group import network_gains
from onestep.numerics.saddle_point.one_group.network_gains import Gains

# f and the entries of M: v v, v delta, v theta_perp, delta delta, delta theta_perp, theta_perp theta_perp.
SIZES = np.array([2.0, 1.0, 3e-3, -0.2, 1e-4, 4e-3, 0.25])


def gains(monkeypatch: pytest.MonkeyPatch, tails: dict[int, float]) -> Gains:
    """Constants with a last Chebyshev coefficient of these sizes; slopes in log g that are half of them."""
    rows = np.array([tails.get(row, 0.0) for row in range(7)])

    def functions(law: Any, g: NDArray[np.float64]) -> NDArray[np.float64]:
        place = np.log(g * law.bulk) / 4.0
        last = np.cos(35.0 * np.arccos(2.0 * (place - np.floor(place)) - 1.0))
        return np.stack([SIZES[:, None] + rows[:, None] * last, np.broadcast_to(0.5 * SIZES[:, None], (7, len(g)))])

    monkeypatch.setattr(network_gains, "_functions", functions)
    law: Any = SimpleNamespace(bulk=1.7)
    return Gains(law)


def test_values_and_slopes_are_those_of_the_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    found, g = gains(monkeypatch, {}), np.array([1e-3, 0.6, 40.0, 0.61])
    value, slope = found.filled(g)
    assert value == pytest.approx(2.0, rel=1e-12)
    assert slope == pytest.approx(1.0 / g, rel=1e-12)
    matrix, turned = found.overlaps(g)
    expected = np.array([[1.0, 3e-3, -0.2], [3e-3, 1e-4, 4e-3], [-0.2, 4e-3, 0.25]])
    for k, one in enumerate(g):
        assert matrix[:, :, k] == pytest.approx(expected, rel=1e-10)
        assert turned[:, :, k] == pytest.approx(0.5 * expected / one, rel=1e-10)
    assert found.lost(g) == pytest.approx(0.0, abs=0.1)


@pytest.mark.parametrize("tail", [2e-12, 1e-10])
def test_what_is_lost_is_the_tail_of_f_in_roundings(tail: float, monkeypatch: pytest.MonkeyPatch) -> None:
    # Relative to f, whose size is two, for every g that has numbers; one out of all reach loses nothing.
    found = gains(monkeypatch, {0: 2.0 * tail})
    assert found.lost(np.array([0.3, 7.0, 1e60, np.nan])) == pytest.approx(
        [tail / ROUNDING, tail / ROUNDING, 0.0, 0.0], rel=1e-2
    )


# A tail counts beside the root of the sizes of both entries on the diagonal: 1, 1e-2, 1/2, 1e-4, 5e-3 and 1/4.
@pytest.mark.parametrize(("row", "size"), [(0, 2.0), (1, 1.0), (2, 1e-2), (3, 0.5), (4, 1e-4), (5, 5e-3), (6, 0.25)])
def test_a_panel_with_a_larger_tail_has_no_numbers(row: int, size: float, monkeypatch: pytest.MonkeyPatch) -> None:
    g = np.array([0.3, 7.0])
    resolved = gains(monkeypatch, {row: 0.9e-9 * size})
    assert np.isfinite(resolved.filled(g)[0]).all()
    assert np.isfinite(resolved.overlaps(g)[0]).all()
    unresolved = gains(monkeypatch, {row: 1.1e-9 * size})
    assert np.isnan(unresolved.filled(g)[0]).all()
    assert np.isnan(unresolved.overlaps(g)[1]).all()
    assert unresolved.lost(g).tolist() == [0.0, 0.0]


def test_slopes_of_the_places_are_those_where_they_were_found() -> None:
    law = network_law(activation("relu"), activation("sin"), 2.0, 3.0, 1.0, 0.2)
    g = np.geomspace(1e-3, 1e3, 20) / law.bulk
    places, slopes = network_gains._places(law, g)
    # From a start that is off by less than the last step may be: not the slopes of the start.
    found, again, _ = network_gains._newton(law, g, places * (1.0 + 5e-10))
    assert found == pytest.approx(places, rel=1e-13)
    assert again == pytest.approx(slopes, rel=1e-12)
