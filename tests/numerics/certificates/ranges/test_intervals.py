"""Intervals in double precision hold what exact arithmetic gives; numbers that vary hold their values and slopes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from giantsteps.numerics.certificates.ranges.intervals import Intervals
from giantsteps.numerics.certificates.ranges.varying import Tiles, Varying, solve_two

OPERATIONS = {"sum": operator.add, "difference": operator.sub, "product": operator.mul, "quotient": operator.truediv}
SIZES = (1e-200, 1e-8, 1.0, 1e7)


def drawn(seed: int, count: int = 60) -> Intervals:
    """Of all sizes, exact numbers and wide ones, none around zero."""
    rng = np.random.default_rng(seed)
    mid = rng.standard_normal(count) * rng.choice(SIZES, count)
    return Intervals(mid, np.abs(mid) * rng.choice([0.0, 1e-16, 1e-3, 0.9], count))


def ends(one: Intervals, k: int) -> tuple[Fraction, Fraction]:
    mid, rad = Fraction(float(one.mid[k])), Fraction(float(one.rad[k]))
    return mid - rad, mid + rad


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_holds_the_exact_results_of_the_ends(name: str) -> None:
    # On intervals without zero each of the four is monotone in both arguments: its range is that of the corners.
    a, b, work = drawn(1), drawn(2), OPERATIONS[name]
    found = work(a, b)
    for k in range(len(a.mid)):
        corners = [work(x, y) for x in ends(a, k) for y in ends(b, k)]
        low, high = ends(found, k)
        assert low <= min(corners)
        assert high >= max(corners)


def test_radii_are_hardly_larger_than_they_have_to_be() -> None:
    a, b = drawn(1), drawn(2)
    thin = (a.rad == 0.0) & (b.rad == 0.0) & (np.minimum(np.abs(a.mid), np.abs(b.mid)) > 1e-100)
    assert thin.sum() >= 3
    for work in OPERATIONS.values():
        found = work(a, b)
        # A few roundings of what is given, and of the result.
        sizes = [np.abs(x) for x in (found.mid, *((a.mid, b.mid) if work in (operator.add, operator.sub) else ()))]
        assert np.all(found.rad[thin] <= 2.0**-46 * np.max(sizes, axis=0)[thin] + 1e-280)


@pytest.mark.parametrize(("mid", "rad"), [(0.0, 0.0), (1.0, 1.0), (-1.0, 2.0), (np.nan, 0.0)])
def test_an_inverse_over_zero_says_nothing(mid: float, rad: float) -> None:
    with np.errstate(all="ignore"):
        found = Intervals([mid], [rad]).inverse()
    assert not np.any(found.upper < np.inf) or np.isnan(found.mid).all()
    assert not found.inside(Intervals([0.0], [1e300])).any()


def test_inside_is_strict() -> None:
    one = Intervals([1.0], [0.5])
    assert not one.inside(one).any()
    assert one.inside(Intervals([1.0], [0.5 * (1.0 + 1e-14)])).all()


def test_nothing_in_common_is_not_a_number() -> None:
    assert np.isnan(Intervals([1.0], [0.1]).within(Intervals([2.0], [0.1])).mid).all()


def test_a_product_of_matrices_holds_the_exact_sums() -> None:
    rng = np.random.default_rng(3)
    x = Intervals(rng.random((4, 30)), 1e-6 * rng.random((4, 30)))
    table = Intervals(rng.standard_normal((30, 3)) * rng.choice(SIZES, (30, 3)), 1e-9 * rng.random((30, 3)))
    found = x.at(table)
    for i, j in np.ndindex(4, 3):
        terms = [[u * v for u in ends(x[i], k) for v in ends(table[:, j], k)] for k in range(30)]
        low, high = ends(found[i], j)
        assert low <= sum(map(min, terms))
        assert high >= sum(map(max, terms))


def along(work: Callable[..., object], points: int = 7) -> tuple[Varying, np.ndarray]:
    """What `work` makes of two parameters on one tile, and its values on a grid of points of the tile."""
    rads = np.array([[0.05], [0.2]])
    tiles = Tiles(Intervals(np.zeros((2, 1)), rads))
    middles = np.array([1.3]), np.array([0.7])
    pair = [tiles.parameter(k, middles[k], Intervals(middles[k], rads[k])) for k in (0, 1)]
    places = [middle[0] + rad[0] * np.linspace(-1.0, 1.0, points) for middle, rad in zip(middles, rads, strict=True)]
    values = work(*np.meshgrid(*places, indexing="ij"))
    found = work(*pair)
    assert isinstance(found, Varying)
    return found, np.asarray(values)


WORKS: dict[str, Callable[..., object]] = {
    "sum": lambda x, y: x * 2.0 + y - 1.0,
    "product": lambda x, y: x * y * x,
    "quotient": lambda x, y: (x - y) / (x + y),
    "cancelling": lambda x, y: (x * y + x) / x - y,
    "reversed": lambda x, y: 3.0 - x * y,
}


@pytest.mark.parametrize("name", WORKS)
def test_what_varies_holds_its_values_and_slopes(name: str) -> None:
    found, values = along(WORKS[name])
    assert found.over.lower <= values.min() + 1e-12
    assert found.over.upper >= values.max() - 1e-12
    assert abs(float(found.middle.mid[0]) - values[3, 3]) < 1e-12
    steps = (0.05 / 3.0, 0.2 / 3.0)
    for axis, step in enumerate(steps):
        # By the mean value theorem differences over a step are slopes somewhere.
        moves = np.diff(values, axis=axis) / step
        assert float(found.slope.lower[axis, 0]) <= moves.min() + 1e-9
        assert float(found.slope.upper[axis, 0]) >= moves.max() - 1e-9


def test_two_equations() -> None:
    def second(x: Varying, y: Varying) -> Varying:
        if isinstance(x, Varying):
            return solve_two(((x + 2.0, y), (y, x + 3.0)), (x, y))[1]
        return ((x + 2.0) * y - y * x) / ((x + 2.0) * (x + 3.0) - y * y)

    found, values = along(second)
    assert found.over.lower <= values.min()
    assert found.over.upper >= values.max()
    assert float(found.over.rad[0]) < 2.0 * (values.max() - values.min())


def test_a_product_with_a_table_has_the_product_of_both_radii() -> None:
    # 1 -+ 1 times 2 -+ 3, twice: up to 2 * 5 each, and by the middles and one radius alone no more than 16.
    found = Intervals(np.ones((1, 2)), np.ones((1, 2))).at(Intervals([[2.0], [2.0]], [[3.0], [3.0]]))
    assert float(found.upper[0, 0]) >= 20.0
    assert float(found.upper[0, 0]) == pytest.approx(20.0, rel=1e-12)
