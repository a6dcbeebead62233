"""Tiles of (alpha, ridge): points of other codes lie in them, and slips of the method are noticed."""

from __future__ import annotations

import dataclasses
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flint import arb

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.certificates.certify import certify
from giantsteps.numerics.certificates.ranges import moments
from giantsteps.numerics.certificates.ranges import plane as planes
from giantsteps.numerics.certificates.ranges import tiles as tiling
from giantsteps.numerics.certificates.ranges.intervals import Intervals
from giantsteps.numerics.certificates.ranges.moments import FIXED, ORDERS, _joined, _upper, raised
from giantsteps.numerics.certificates.ranges.plane import Corners, Grid, Side, signs
from giantsteps.numerics.models.model import Model, ModelError, ReadoutGroup
from giantsteps.numerics.saddle_point.one_group.batch import solve_batch
from tests.shared.certified_models import worked

# Cells of 1 per cent of alpha and 4 of the ridge, and of a hundredth of that.
GRID, FINE = (Grid.of((0.5, 5.0), (0.01, 1.0), 200 * n, 125 * n) for n in (1, 100))
# Of the solver in double precision, relative.
ROUNDING = 1e-10


def model(**changes: Any) -> Model:
    return dataclasses.replace(worked(), noise=0.1, **changes)


MODELS = {
    "tanh": model(),
    "a spike of zero": model(spike=0.0, alignment=0.6),
    "relu": model(activation=activation("relu"), target=activation("sign")),
    "a group": model(readout=(ReadoutGroup(0.5, bias=0.3),), beta=0.7),
}


@cache
def block() -> Corners:
    return GRID.cells(slice(50, 53), slice(90, 94))


@cache
def fine() -> Corners:
    return FINE.cells(slice(5000, 5003), slice(9000, 9004))


def outside(of: Model, side: Side, tiles: Corners, points: int = 4) -> int:
    """How many numbers of points within the tiles, in double precision, are not in what is certified of them."""
    with np.errstate(all="ignore"):
        found, certified = side.errors(tiles)
        pair = side.solved(tiles)[1].pair
    rng, wrong = np.random.default_rng(1), 0
    # The corners, where the error is largest and smallest, and points between.
    for k in range(4 + points):
        shares = np.divmod(k, 2) if k < 4 else rng.random(2)
        alpha, ridge = (
            (1.0 - t) * low + t * high for t, (low, high) in zip(shares, (tiles.alpha, tiles.ridge), strict=True)
        )
        known = solve_batch(of, alpha=alpha, ridge=ridge)
        for number, value in ((found, known.test_error), (pair[0], known.V1), (pair[1], known.V2)):
            slack = ROUNDING * (1.0 + np.abs(value))
            held = (number.over.lower <= value + slack) & (value - slack <= number.over.upper)
            wrong += int(np.sum(certified & ~held))
    return wrong


@pytest.mark.parametrize("of", MODELS.values(), ids=MODELS)
def test_the_tiles_hold_their_points(of: Model) -> None:
    side = Side(of, block())
    assert outside(of, side, block()) == 0
    side = Side(of, fine())
    with np.errstate(all="ignore"):
        found, certified = side.errors(fine())
    assert certified.all()
    assert outside(of, side, fine()) == 0
    # To first order the interval is the range, from one of the corners to the one across.
    corners = [solve_batch(of, alpha=a, ridge=r).test_error for a in fine().alpha for r in fine().ridge]
    assert np.all(found.over.rad < 1.3 * np.ptp(corners, axis=0) / 2.0)


def test_a_thin_tile_is_a_certificate() -> None:
    # Over a tile of 1e-9 the enclosure and that of `certify` at its middle, of other code, are one number.
    at = model()
    low, high = (1.5, 0.1), (1.5 * (1.0 + 1e-9), 0.1 * (1.0 + 1e-9))
    thin = Corners(*((np.array([a]), np.array([b])) for a, b in zip(low, high, strict=True)))
    found, certified = Side(at, thin).errors(thin)
    assert certified.all()
    ball = certify(at).balls
    assert ball is not None
    assert found.over.lower[0] <= float(ball.test_error) <= found.over.upper[0]
    assert float(found.over.rad[0]) < 1e-8


@pytest.mark.parametrize("slip", ["no drift", "no slopes", "half of the tile"])
def test_a_slip_in_the_method_is_noticed(slip: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if slip == "no drift":
        plain = tiling._Equations.image
        monkeypatch.setattr(tiling._Equations, "image", lambda self, box, moving=True: plain(self, box, False))
    elif slip == "no slopes":
        moves = tiling._Equations.moves
        monkeypatch.setattr(tiling._Equations, "moves", lambda self, box: tuple(0.0 * row for row in moves(self, box)))
    else:
        between = tiling.Plane.between

        def halved(low: Any, high: Any) -> Any:
            return between(low, tuple(0.5 * (a + b) for a, b in zip(low, high, strict=True)))

        monkeypatch.setattr(tiling.Plane, "between", halved)
    of, side = model(), Side(model(), fine())
    with np.errstate(all="ignore"):
        _, certified = side.errors(fine())
    assert outside(of, side, fine()) or not certified.all()


def test_an_enclosure_without_the_doubles_is_no_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = planes.errors_over

    def wrong(*given: Any) -> Any:
        return plain(*given) + 1e-4

    monkeypatch.setattr(planes, "errors_over", wrong)
    with np.errstate(all="ignore"):
        assert not Side(model(), block()).errors(block())[1].any()


def test_tiles_outside_of_the_block_are_not_certified() -> None:
    far = GRID.cells(slice(0, 1), slice(0, 2))
    with np.errstate(all="ignore"):
        assert not Side(model(), block()).errors(far)[1].any()


def test_signs_are_those_of_the_difference() -> None:
    # One model has more noise, the other less spike: the line between them crosses this block.
    pair = model(), model(spike=0.3, alignment=0.9)
    cells = FINE.cells(slice(6000, 6002), slice(9000, 9004))
    found = signs(pair, cells)
    alpha, ridge = (np.sqrt(a * b) for a, b in (cells.alpha, cells.ridge))
    first, second = (solve_batch(one, alpha=alpha, ridge=ridge).test_error for one in pair)
    assert np.mean(found != 0) > 0.7
    assert np.all((found == 0) | (found == np.sign(first - second)))
    # Exchanged, all of them turn.
    assert np.array_equal(signs(pair[::-1], cells), -found)


@pytest.mark.parametrize("wide", [2, 20])
def test_rows_of_signs_stand_where_their_cells_do(wide: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pair, grid = (model(), model(spike=0.3)), Grid.of((0.5, 5.0), (0.01, 1.0), 5, 4)
    numbers = np.arange(20).reshape(4, 5)

    def numbered(models: tuple[Model, Model], cells: Corners) -> Any:
        """The numbers of cells by their lower corners."""
        assert models is pair
        return np.searchsorted(grid.ridges, cells.ridge[0]) * 5 + np.searchsorted(grid.alphas, cells.alpha[0])

    monkeypatch.setattr(planes, "signs", numbered)
    for some in (slice(0, 4), slice(1, 3), slice(3, 4)):
        assert np.array_equal(planes.rows_of_signs(pair, grid, some, wide), numbers[some])


def test_a_model_against_itself_is_uncertain_everywhere() -> None:
    assert not signs((model(), model()), GRID.cells(slice(50, 51), slice(90, 91))).any()


def test_both_signs_in_a_cell_leave_it_uncertain() -> None:
    # A cell as large as the plane: its parts are certified, some of either sign.
    class Half:
        def __init__(self, sign: float) -> None:
            self.sign = sign

        def errors(self, tiles: Corners) -> Any:
            value = self.sign * (np.log(tiles.alpha[0] * tiles.alpha[1]) / 2.0)
            rad = np.log(tiles.alpha[1] / tiles.alpha[0])
            number = tiling.Plane.between(*zip(tiles.alpha, tiles.ridge, strict=True)).tiles.around(
                Intervals(value), Intervals(np.zeros((2, len(value)))), Intervals(value, rad)
            )
            return number, np.ones(len(value), dtype=bool)

    cells = Corners((np.array([0.1, 2.0]), np.array([10.0, 2.1])), (np.array([0.1, 0.1]), np.array([0.2, 0.2])))
    found = planes._decided([Half(0.5), Half(-0.5)], cells)  # type: ignore[list-item]
    assert found.tolist() == [0, 1]


def test_quarters_cover_their_tiles() -> None:
    parts = block().quarters()
    count = len(block().alpha[0])
    for k in range(count):
        own = [(parts.alpha[0][j], parts.alpha[1][j], parts.ridge[0][j], parts.ridge[1][j])
               for j in range(k, 4 * count, count)]  # fmt: skip
        assert {one[0] for one in own} | {one[1] for one in own} >= {block().alpha[0][k], block().alpha[1][k]}
        # Neighbours share their ends to the last digit: nothing lies between.
        assert own[0][1] == own[1][0] == own[2][1] == own[3][0]
        assert own[0][3] == own[2][2] == own[1][3] == own[3][2]


def test_the_names_of_products() -> None:
    assert [raised("p", name) for name in ("q", "aa", "p", "pq", "pone", "qone", "qbb")] == [
        "pq", "paa", "pp", "ppq", "ppone", "pqone", "pqbb"
    ]  # fmt: skip
    for k in (1, 2):
        assert {raised(f, name) for f in "pq" for name in ORDERS[k]} <= set(ORDERS[k + 1])
    assert len(FIXED) == 8


@pytest.mark.parametrize(
    ("of", "words"),
    [
        ({"loss": "logistic", "target": activation("sign")}, "square loss"),
        ({"gaussian_rows": True}, "equal norm"),
    ],
)
def test_what_has_no_tiles_says_why(of: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        signs((model(), model(**of)), block())


def test_ends_of_balls_are_rounded_away_from_them() -> None:
    for ball in (arb(1, 0.25), arb(-3, 0.5), arb(1) / 3):
        assert float(ball.upper()) < _upper(ball) <= float(ball.upper()) + 1e-15


def test_the_bulk_of_a_side_lies_inside_its_interval() -> None:
    cell = GRID.cells(slice(50, 51), slice(90, 91))
    bulk = Side(model(bulk=0.1, spike=0.0), cell)._numbers.bulk
    # The ends of a ball are balls themselves: one double beyond each of them.
    assert float(bulk.lower) < 0.1 < float(bulk.upper)
    assert 0.1 * 2.0**-53 < float(bulk.rad) < 1e-15


def test_quarters_decide_for_the_cell_that_they_are_cut_from(monkeypatch: pytest.MonkeyPatch) -> None:
    # Cells of alpha 1, 2, 3 and 4: the second is decided whole, the others in quarters, the third not even then.
    asked: list[int] = []

    def found(sides: Any, tiles: Corners) -> Any:
        asked.append(len(tiles.alpha[0]))
        owner = np.floor(tiles.alpha[0] + 1e-9)
        sign = np.array([{1.0: 1.0, 2.0: -1.0, 3.0: 0.0, 4.0: -1.0}[x] for x in owner.tolist()])
        decided = (owner == 2.0) | (len(asked) > 1)
        return Intervals(np.where(decided, sign, 0.0), 0.5), np.ones(len(owner), dtype=bool)

    monkeypatch.setattr(planes, "differences", found)
    low = np.array([1.0, 2.0, 3.0, 4.0])
    cells = Corners((low, low + 0.5), (0.1 * np.ones(4), 0.2 * np.ones(4)))
    assert planes._decided([], cells).tolist() == [1, -1, 0, -1]
    assert asked == [4, 12, 16, 64]


def test_the_halves_of_an_even_line_are_those_of_one_place() -> None:
    # Nodes from -3 to 3: what stands at -1 goes to what stands at 1.
    row = [arb(x) for x in (70, 60, 50, 1, 5, 6, 7)]
    assert [float(x) for x in _joined(row, 3)] == [1.0, 55.0, 66.0, 77.0]
    assert [float(x) for x in _joined(row, 0)] == [70.0, 60.0, 50.0, 1.0, 5.0, 6.0, 7.0]


def test_errors_of_a_rule_are_those_of_the_power_of_the_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    # |w| is at most 3 off the line: a function f w^k has 3^k times the bound of f.
    seen: list[tuple[int, float]] = []

    class Bound:
        def __init__(self, scale: float = 1.0) -> None:
            self.scale = scale

        def scaled(self, factor: float) -> Bound:
            return Bound(self.scale * factor)

    def error(place: Any, bound: Bound) -> Any:
        seen.append((len(seen), bound.scale))
        return arb(bound.scale)

    one = SimpleNamespace(values=(arb(1), arb(1), arb(1)), bound=Bound())
    monkeypatch.setattr(
        moments, "_named", lambda table: dict.fromkeys((name for names in ORDERS for name in names), one)
    )
    monkeypatch.setattr(moments, "_error", error)
    place: Any = SimpleNamespace(
        functions=lambda problem: None,
        rule=SimpleNamespace(nodes=(0, 1, 2), weights=(arb(1),) * 3, step=None),
        inverse=3.0,
    )
    found = moments.Moments.of(SimpleNamespace(symmetric=False), place)  # type: ignore[arg-type]
    for power, errors in enumerate(found.errors):
        assert errors == pytest.approx(3.0**power, rel=1e-12)
        # And what is told of an average of that order has them.
        row = found.of_order(power, Intervals(np.ones((1, 3))))
        assert all(float(ball.rad[0]) == pytest.approx(3.0**power, rel=1e-9) for ball in row.values())
