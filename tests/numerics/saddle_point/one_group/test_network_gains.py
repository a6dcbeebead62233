"""Functions of a gain on their panels: what is interpolated, what is left of it, and where there are no numbers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bulk.network_law import network_law
from giantsteps.numerics.gaussian.quadrature import ROUNDING
from giantsteps.numerics.saddle_point.one_group import network_gains
from giantsteps.numerics.saddle_point.one_group.network_gains import Gains

# f and the entries of M: v v, v delta, v theta_perp, delta delta, delta theta_perp, theta_perp theta_perp.
SIZES = np.array([2.0, 1.0, 3e-3, -0.2, 1e-4, 4e-3, 0.25])


def gains(monkeypatch: pytest.MonkeyPatch, tails: dict[int, float], which: int = 35) -> Gains:
    """Constants with one of the last Chebyshev coefficients of these sizes; slopes in log g that are half of them."""
    rows = np.array([tails.get(row, 0.0) for row in range(7)])

    def functions(law: Any, g: NDArray[np.float64]) -> NDArray[np.float64]:
        place = np.log(g * law.bulk) / 4.0
        last = np.cos(which * np.arccos(2.0 * (place - np.floor(place)) - 1.0))
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


@pytest.mark.parametrize(("which", "counts"), [(31, False), (32, True), (33, True), (34, True)])
def test_the_last_four_coefficients_are_the_tail(which: int, counts: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    # Of an even function every other one vanishes.
    g = np.array([0.3, 7.0])
    assert np.isnan(gains(monkeypatch, {0: 2e-8}, which).filled(g)[0]).all() == counts
    lost = gains(monkeypatch, {0: 2e-10}, which).lost(g)
    assert lost == pytest.approx(1e-10 / ROUNDING if counts else 0.0, rel=1e-2, abs=0.1)


def test_far_below_all_reach_a_function_is_its_limit() -> None:
    # f(0) = c, and no function knows a gain below e^-60/c from none.
    law = network_law(activation("relu"), activation("sin"), 2.0, 3.0, 1.0, 0.2)
    tiny, least = (Gains(law) for _ in range(2))
    g, there = np.array([0.0, 1e-300, 1e-40]), np.exp(-60.0) / law.bulk * np.ones(3)
    assert tiny.filled(g)[0] == pytest.approx(law.bulk, rel=1e-12)
    found, limits = ((*functions.filled(at), *functions.overlaps(at)) for functions, at in ((tiny, g), (least, there)))
    for one, limit in zip(found, limits, strict=True):
        assert np.array_equal(one, limit)
    assert list(tiny._panels) == list(least._panels) == [-15]


def test_slopes_of_the_places_are_those_where_they_were_found() -> None:
    law = network_law(activation("relu"), activation("sin"), 2.0, 3.0, 1.0, 0.2)
    g = np.geomspace(1e-3, 1e3, 20) / law.bulk
    places, slopes = network_gains._places(law, g)
    # From a start that is off by less than the last step may be: not the slopes of the start.
    found, again, _ = network_gains._newton(law, g, places * (1.0 + 5e-10))
    assert found == pytest.approx(places, rel=1e-13)
    assert again == pytest.approx(slopes, rel=1e-12)


@pytest.mark.parametrize("which", [0, 1])
def test_a_step_for_the_places_is_newtons_and_as_large_as_the_larger_share(
    which: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    law = network_law(activation("relu"), activation("sin"), 2.0, 3.0, 1.0, 0.2)
    g = np.geomspace(1e-2, 1e2, 9) / law.bulk
    places, _ = network_gains._places(law, g)
    # Beside the root of b2, and beside b2.
    sizes = np.stack([np.sqrt(places[1]), places[1]])
    off = np.zeros_like(places)
    off[which] = 1e-4 * sizes[which]
    monkeypatch.setattr(network_gains, "_MOST_STEPS", 1)
    found, _, size = network_gains._newton(law, g, places + off)
    assert size == pytest.approx(1e-4 * np.ones(9), rel=1e-2)
    # What is left is of second order: the square of 1e-4 times a curvature of order one.
    assert np.max(np.abs(found - places) / sizes) < 1e-7


def test_places_that_were_not_found_at_once_are_looked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    law, g, asked = network_law(activation("relu"), activation("sin"), 2.0, 3.0, 1.0, 0.2), np.geomspace(0.1, 10, 4), []
    plain = network_gains._newton

    def newton(law: Any, g: NDArray[np.float64], start: NDArray[np.float64]) -> Any:
        asked.append(g.tolist())
        b, moves, size = plain(law, g, start)
        # At first the second and the last lead nowhere, and then the last.
        size[{0: [1, 3], 1: [1], 2: []}[len(asked) - 1]] = np.inf
        return b, moves, size

    expected = network_gains._places(law, g)
    monkeypatch.setattr(network_gains, "_newton", newton)
    found = network_gains._places(law, g)
    assert asked == [g.tolist(), [g[1], g[3]], [g[3]]]
    for one, other in zip(found, expected, strict=True):
        assert one == pytest.approx(other, rel=1e-9)
