"""The bands of a known law: those between the points of a scan, those too small to count, and those without an end."""

from __future__ import annotations

import math
from typing import Any

import pytest

from giantsteps.numerics.spectrum import support
from giantsteps.numerics.spectrum.support import Band, bands

Law = tuple[tuple[float, float, float], ...]


class Known:
    """An axis whose support is intervals with shares of all eigenvalues, each spread evenly over log x."""

    def __init__(self, law: Law, atom: float = 0.0) -> None:
        self.law, self.atom = law, atom

    def inside(self, x: float) -> bool:
        return any(low <= x <= high for low, high, _ in self.law)

    def below(self, x: float) -> float:
        found = self.atom
        for low, high, share in self.law:
            found += share * min(max(math.log(x / low) / math.log(high / low), 0.0), 1.0)
        return found


def found(
    patch: pytest.MonkeyPatch, law: Law, grid: list[float], *, atom: float = 0.0, to_zero: bool = False,
    unbounded: bool = False, solved: bool = True,
) -> tuple[Band, ...]:  # fmt: skip
    """The bands on a grid, where every edge between two points is the law's own, `solved` for or not."""
    axis: Any = Known(law, atom)

    def edge_between(axis: Known, low: float, up: float) -> tuple[float, bool]:
        edges = [edge for start, end, _ in axis.law for edge in (start, end) if low <= edge <= up]
        return (edges[0] if edges else low), solved

    patch.setattr(support, "edge_between", edge_between)
    return bands(axis, grid, to_zero=to_zero, unbounded=unbounded)


GRID = [10.0**k for k in range(-4, 5)]


def test_bands_between_the_points_of_a_scan_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    # One over many points, one between two of them, and one of a width of 1e-6.
    law = ((2e-3, 0.5, 0.5), (2.0, 3.0, 0.3), (200.0, 200.0002, 0.2 - 1e-8), (2000.0, 2001.0, 1e-8))
    given = found(monkeypatch, law, GRID)
    assert [band.edges for band in given] == [(low, high) for low, high, _ in law]
    shares = [0.0, 0.5, 0.8, 1.0 - 1e-8, 1.0]
    for band, below, above in zip(given, shares, shares[1:], strict=False):
        assert (band.below_low, band.below_high) == pytest.approx((below, above), abs=1e-12)
        assert not band.open_below
        assert not band.open_above


@pytest.mark.parametrize(("share", "counts"), [(1.5e-9, True), (0.5e-9, False)])
def test_bands_of_next_to_nothing_are_passed_over(share: float, counts: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    # Between two points, and around one of them.
    for small in ((2.0, 3.0, share), (9.0, 11.0, share)):
        given = found(monkeypatch, ((2e-3, 0.5, 1.0 - share), small), GRID, atom=0.0)
        assert [band.low for band in given] == [2e-3, *([small[0]] if counts else [])]


def test_a_support_goes_on_to_zero_where_it_is_known_to(monkeypatch: pytest.MonkeyPatch) -> None:
    law = ((1e-30, 0.5, 0.6), (2.0, 3.0, 0.4))
    # The lowest point lies inside: whatever else is known.
    (first, second) = found(monkeypatch, law, GRID)
    assert (first.low, first.open_below, first.edges) == (1e-4, True, (0.0, 0.5))
    assert not second.open_below
    # A lowest edge that is none: the tail has come under rounding. Where it was solved for it is one.
    law = ((2e-3, 0.5, 0.6), (2.0, 3.0, 0.4))
    for to_zero, solved, opened in ((True, False, True), (True, True, False), (False, False, False)):
        first, second = found(monkeypatch, law, GRID, to_zero=to_zero, solved=solved)
        assert (first.open_below, second.open_below) == (opened, False)


def test_a_support_without_end_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    law = ((2e-3, 0.5, 0.6), (2.0, 300.0, 0.4))
    # Whether an edge is solved for or not: the point above all but 1e-9 belongs to the tail.
    for unbounded, solved in ((True, False), (True, True), (False, False), (False, True)):
        first, second = found(monkeypatch, law, GRID, unbounded=unbounded, solved=solved)
        assert second.open_above is unbounded
        assert second.edges[0] == 2.0
        assert not first.open_below
    # A tail whose density is under rounding is no gap: above, all but 1e-9 are.
    thin = ((2e-3, 0.5, 0.6), (2.0, 300.0, 0.4 - 1e-10), (2e4, 3e4, 1e-10))
    (_, second) = found(monkeypatch, thin, GRID, unbounded=True)
    assert second.open_above
    assert second.edges == (2.0, math.inf)
    # Where the last point is inside the support goes on.
    (whole,) = found(monkeypatch, ((2.0, 1e9, 1.0),), GRID)
    assert (whole.open_above, whole.high, whole.edges) == (True, 1e4, (2.0, math.inf))


def test_what_looks_like_a_gap_inside_of_a_support_without_end_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    # Its edges are not solved for: the density is under rounding there. Only the last of the bands has no end.
    law = ((2e-3, 0.5, 0.6), (2.0, 20.0, 0.3), (200.0, 2000.0, 0.1))
    given = found(monkeypatch, law, GRID, unbounded=True, solved=False)
    assert [band.edges for band in given] == [(2e-3, 0.5), (2.0, 20.0), (200.0, math.inf)]


@pytest.mark.parametrize(("low", "opened"), [(2e-13, True), (2e-11, False)])
def test_an_edge_that_doubles_do_not_tell_from_zero_is_none(
    low: float, opened: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Beside the largest point of the scan, 1e4.
    (band,) = found(monkeypatch, ((low, 0.5, 1.0),), [1e-14, 1e-12, 1e-10, 1e-8, *GRID], solved=False)
    assert band.open_below is opened
