"""Boxes of tiles: what a box has to do to pass, how one that failed is widened, and what a side makes of both."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from giantsteps.numerics.certificates.ranges import plane as planes
from giantsteps.numerics.certificates.ranges import tiles as tiling
from giantsteps.numerics.certificates.ranges.intervals import Intervals
from giantsteps.numerics.certificates.ranges.plane import Corners, Side
from giantsteps.numerics.certificates.ranges.tiles import Plane

# An image in units of its box: where its middle lies, and how wide it is.
INSIDE, BELOW, ABOVE = (0.0, 0.5), (-1.4, 0.3), (1.4, 0.3)


def boxes_that_pass(
    monkeypatch: pytest.MonkeyPatch, slopes: tuple[list[float], list[float]], images: Any, shrinks: list[bool]
) -> list[bool]:
    """Which of some tiles pass, by the slopes of (T, tau) = (1, 1) in alpha and images in units of the boxes."""
    count = len(shrinks)

    class Scripted:
        def __init__(self, *_: Any) -> None:
            pass

        def moves(self, box: Any) -> Any:
            return [Intervals(np.array([row, np.zeros(count)])) for row in slopes]

        def image(self, box: Any, moving: bool = True) -> Any:
            shifts = [np.array([image[k] for image in images]) for k in (0, 1)]
            return tuple(
                Intervals(x.mid + shift[:, 0] * x.rad, shift[:, 1] * x.rad)
                for x, shift in zip(box, shifts, strict=True)
            ), np.array(shrinks)

    monkeypatch.setattr(tiling, "_Equations", Scripted)
    near = np.ones(count), np.ones(count)
    plane = Plane.between((0.9 * near[0], near[1]), (1.1 * near[0], near[1]))
    numbers: Any = SimpleNamespace()
    with np.errstate(all="ignore"):
        return list(tiling.solved(plane, numbers, numbers, near).passed)


def test_a_box_passes_on_every_condition(monkeypatch: pytest.MonkeyPatch) -> None:
    # T and tau both positive, both images inside, and the map contracting; every other box lacks one of the five.
    # A slope of 10 along tiles of radius 0.1 makes a box of radius 1.4 around 1.
    small, large = 0.5, 10.0
    slopes = [small] + [large, small] + [small] * 5, [small] + [small, large] + [small] * 5
    images = [(INSIDE, INSIDE)] * 3 + [
        (BELOW, INSIDE), (ABOVE, INSIDE), (INSIDE, BELOW), (INSIDE, ABOVE), (INSIDE, INSIDE)
    ]  # fmt: skip
    shrinks = [True] * 7 + [False]
    assert boxes_that_pass(monkeypatch, slopes, images, shrinks) == [True] + [False] * 7


def test_a_box_that_failed_holds_itself_and_its_image() -> None:
    # Images to the left, to the right and inside, in one unknown; the other stays. The last tile has passed.
    x = Intervals(np.full(4, 2.0), np.full(4, 0.1))
    image = Intervals(np.array([1.7, 2.4, 2.0, 1.0]), np.array([0.2, 0.1, 0.01, 0.1]))
    passed = np.array([False, False, False, True])
    for pair, images, moved in (((x, x), (image, x), 0), ((x, x), (x, image), 1)):
        found = tiling._wider(pair, images, passed)
        assert np.array_equal(found[0].mid, x.mid)
        assert np.array_equal(found[1].mid, x.mid)
        # The farther end of the image, and a fifth more.
        assert found[moved].rad[:2] == pytest.approx([1.2 * 0.5, 1.2 * 0.5], rel=1e-12)
        assert found[moved].rad[2:].tolist() == [0.1, 0.1]
        assert found[1 - moved].rad == pytest.approx([0.12, 0.12, 0.12, 0.1], rel=1e-12)


def contracts(spread: tuple[tuple[float, float], tuple[float, float]], widths: tuple[float, float]) -> bool:
    """What the image says of a box whose slopes are those of the identity, up to these radii."""
    one = np.ones(1)

    class Given(tiling._Equations):
        def _averages(self, box: Any) -> Any:
            none = Intervals(0.0 * one)
            return (none, none), (none, none, none)

        def _slopes(self, box: Any, alpha: Any, ridge: Any) -> Any:
            none = Intervals(0.0 * one)
            rows = tuple(tuple(Intervals(float(i == j) * one, spread[i][j] * one) for j in (0, 1)) for i in (0, 1))
            return rows, (none, none)

    numbers: Any = SimpleNamespace(bulk=Intervals(1.0), beta=1.0)
    moments: Any = None
    box = Intervals(one, widths[0] * one), Intervals(one, widths[1] * one)
    return bool(Given(Plane.between((one, one), (one, one)), numbers, moments).image(box)[1][0])


@pytest.mark.parametrize("off", [1e-3, 0.5])
def test_a_map_contracts_below_one_in_the_units_of_the_box(off: float) -> None:
    # The sum over a row of |1 - Y J|, each entry times the radius of its unknown over that of the row's.
    for spread, widths in (
        (((1.0, 0.0), (0.0, 0.0)), (0.2, 0.2)),
        (((0.0, 0.0), (0.0, 1.0)), (0.2, 0.2)),
        (((0.0, 2.0), (0.0, 0.0)), (0.2, 0.1)),
        (((0.0, 0.0), (0.25, 0.5)), (0.2, 0.1)),
    ):
        for factor, expected in ((1.0 - off, True), (1.0 + off, False)):
            scaled = [[factor * x for x in row] for row in spread]
            assert contracts((tuple(scaled[0]), tuple(scaled[1])), widths) is expected  # type: ignore[arg-type]


ONE = np.ones(1)


@pytest.fixture
def side(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A side whose tile passes, with an error of 1 +- 0.1 beside doubles of 1, and boxes of half its own radius."""
    made: Any = object.__new__(Side)
    made._box = (Intervals(ONE, 0.2 * ONE), Intervals(ONE, 0.2 * ONE))
    made._numbers = made._moments = made._mean_zero = None
    made.boxes, made.known, made.passed = [Intervals(ONE, 0.1 * ONE) for _ in (0, 1)], 1.0 * ONE, np.array([True])
    made.error = Intervals(ONE, 0.1 * ONE), Intervals(ONE, 0.1 * ONE)
    made.solved = lambda tiles: (
        None, SimpleNamespace(boxes=made.boxes, passed=made.passed), SimpleNamespace(test_error=made.known)
    )  # fmt: skip
    monkeypatch.setattr(planes, "errors_over", lambda *_: SimpleNamespace(middle=made.error[0], over=made.error[1]))
    return made


def certified(side: Any) -> bool:
    tiles: Any = Corners((ONE, ONE), (ONE, ONE))
    return bool(Side.errors(side, tiles)[1][0])


def test_a_tile_is_certified_on_every_condition(side: Any) -> None:
    assert certified(side)
    for which in (0, 1):
        # Beyond what the rule along the spike was made for, at either end.
        for mid in (0.85, 1.15):
            kept, side.boxes[which] = side.boxes[which], Intervals(mid * ONE, 0.1 * ONE)
            assert not certified(side)
            side.boxes[which] = kept
    side.passed = np.array([False])
    assert not certified(side)
    side.passed = np.array([True])
    for over in (Intervals(np.nan * ONE, ONE), Intervals(ONE, np.inf * ONE)):
        kept, side.error = side.error, (side.error[0], over)
        assert not certified(side)
        side.error = kept
    # The doubles lie in the enclosure of the middle, up to what their own rounding is.
    for known, agrees in ((0.9, True), (1.1, True), (0.8999, False), (1.1001, False)):
        side.known = known * ONE
        assert certified(side) is agrees
