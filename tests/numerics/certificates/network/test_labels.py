"""Bounds behind the averages over labels: each holds what it bounds, and is as large as its formula and no larger."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flint import arb

from giantsteps.derivations.activations.activation import Activation, activation
from giantsteps.numerics.balls.arithmetic import BallError, precision
from giantsteps.numerics.bulk.network_constants import ALONG, POWERS, TILTED
from giantsteps.numerics.bulk.network_constants import labels as rule_for_labels
from giantsteps.numerics.certificates.network import labels as labels_module
from giantsteps.numerics.certificates.network import saddle_point
from giantsteps.numerics.certificates.network.labels import LabelBalls, _base
from giantsteps.numerics.certificates.network.spread_labels import _height, panels_of, sizes_of
from giantsteps.numerics.certificates.slope import Moving

POINTS = [(0.0, 0.2), (0.3, 0.4), (-1.1, 0.35)]


@pytest.mark.parametrize(("b1", "b2"), POINTS)
def test_sizes_on_the_line_are_nearly_reached(b1: float, b2: float) -> None:
    y = np.linspace(-30.0, 30.0, 60_001)
    share = 1.0 / (1.0 + b1 * y + b2 * y * y)
    sizes = [float(size) for size in sizes_of(arb(b1), arb(b2), 3)]
    assert float(_height(arb(b1), arb(b2))) == pytest.approx(abs(np.roots([b2, b1, 1.0])[0].imag), rel=1e-12)
    # |Y|/D by the places where its slope vanishes, b2 Y^2 = 1: the bound adds those of |Y - vertex| and |vertex|.
    beside = max(abs(y0) / (1.0 + b1 * y0 + b2 * y0 * y0) for y0 in (-1.0 / math.sqrt(b2), 1.0 / math.sqrt(b2)))
    assert beside <= sizes[1] * (1.0 + 1e-12)
    assert sizes[1] <= 1.2 * beside
    # The bound itself is the sum of both, each reached: on a grid of 1e-3, to a millionth of themselves or so.
    vertex = -b1 / (2.0 * b2)
    both = np.max(np.abs(y - vertex) * share) + abs(vertex) * np.max(share)
    assert sizes[1] == pytest.approx(both, rel=1e-5)
    for k in range(3):
        # The least D is that of the vertex, half a step of 1e-3 away at most: a millionth of it, up to three times.
        assert np.max(share ** (k + 1)) == pytest.approx(sizes[2 * k], rel=1e-5)
        assert np.max(np.abs(y) * share ** (k + 1)) <= sizes[2 * k + 1] * (1.0 + 1e-12)
        assert sizes[2 * k + 1] == pytest.approx(sizes[1] * sizes[0] ** k, rel=1e-12)


def test_a_wide_box_holds_its_corners_and_is_as_wide_as_the_share() -> None:
    # Of the labels +-1 - c one lies where D is least, so that D moves there by nearly as much as anywhere.
    b1, b2 = arb("-1.1"), arb("0.35")
    with precision(120):
        labels, width = LabelBalls(activation("sign"), 1 + b1 / (2 * b2), 60), arb(2) ** -8
        s0, s1 = (float(size) for size in sizes_of(b1, b2)[:2])
        share = float(width) * (s1 + (1.0 + s0 + 1.1 * s1) / 0.35)
        wide, middle = labels.over(arb(b1, width), arb(b2, width), 4, 3), labels.over(b1, b2, 4, 3)
        corners = [labels.over(b1 + one * width, b2 + other * width, 4, 3) for one in (-1, 1) for other in (-1, 1)]
        for k in range(3):
            moved = (1.0 - share) ** -(k + 1) - 1.0
            for i, j in ((0, 0), (0, 1), (0, 2), (0, 4), (1, 0), (1, 3), (2, 1), (2, 2)):
                ball, entry = wide[k][i][j], middle[k]
                assert all(ball.contains(one[k][i][j].mid()) for one in corners), (k, i, j)
                low, high = (j, j) if j % 2 == 0 else (j - 1, j + 1)
                size = math.sqrt(abs(entry[0 if i < 2 else 2][low] * entry[0 if i < 1 else 2][high]))
                # A radius has thirty bits.
                assert float(ball.rad()) == pytest.approx(moved * size, rel=1e-7), (k, i, j)


def test_averages_with_one_u_are_widened_by_both_sides_of_cauchys_inequality() -> None:
    # The square of a sign knows nothing of u, and E[u^2 Y^j/D] is not E[Y^j/D] elsewhere: labels are larger where u is.
    with precision(120):
        labels, width = LabelBalls(activation("tanh"), arb(0), 60), arb(2) ** -8
        share = float(width) * sum(float(size) for size in (sizes_of(arb(0), arb("0.5"))[1], arb(4)))
        (wide, _), (middle, _) = (labels.over(arb(0, r), arb("0.5", r), 4) for r in (width, arb(0)))
        for j, (low, high) in ((0, (0, 0)), (1, (0, 2)), (2, (2, 2)), (3, (2, 4))):
            size = math.sqrt(middle[0][low] * middle[2][high])
            assert size != pytest.approx(math.sqrt(middle[0][low] * middle[0][high]), rel=0.03) or j == 0
            assert float(wide[1][j].rad()) == pytest.approx((1.0 / (1.0 - share) - 1.0) * size, rel=1e-7)


@pytest.mark.parametrize(("width", "words"), [("0.111", ""), ("0.112", "positive on the line")])
def test_a_box_is_refused_where_its_share_is_all_of_the_denominator(width: str, words: str) -> None:
    # At b1 = 0, b2 = 1/4 the sizes are 1, 1 and 8, and the share is nine widths.
    with precision(100):
        labels = LabelBalls(activation("sin(z)"), arb(0), 40)
        box = arb(0, arb(width)), arb("0.25", arb(width))
        if words:
            with pytest.raises(BallError, match=words):
                labels.over(*box, 2)
        else:
            assert labels.over(*box, 2)[0][0][0].is_finite()


@pytest.mark.parametrize("bits", [-5, 4, 12])
@pytest.mark.parametrize("target", ["sign", "sin(z)"])
def test_short_integrals_own_up_to_what_they_leave_out(target: str, bits: int) -> None:
    with precision(90):
        given = activation(target), arb("0.3"), arb("0.3"), arb("0.4")
        coarse, fine = _base(*given, bits, 3), _base(*given, 60, 3)
        sizes = [float(size) for size in sizes_of(*given[2:], 3)]
    length = math.ceil(math.sqrt(2.0 * math.log(2.0) * (bits + 8)))
    tail = 2.0 * (length + 1) * math.exp(-0.5 * length**2) / math.sqrt(2.0 * math.pi)
    for row, points in zip(coarse, fine, strict=True):
        for which, (ball, x) in enumerate(zip(row, points, strict=True)):
            assert ball.contains(x.mid())
            # What the integrals themselves leave is 2^-(bits + 8) at most for each panel.
            assert tail * sizes[which] <= float(ball.rad()) <= 1.01 * tail * sizes[which] + 2.0 ** -(bits + 6)


def test_a_breakpoint_beyond_what_is_integrated_over_is_refused() -> None:
    with precision(80):
        assert len(panels_of(activation("Max(z - 3, 0)"), 4)) == 2
        for length in (2, 3):
            with pytest.raises(BallError, match="breakpoint of the target lies beyond"):
                panels_of(activation("Max(z - 3, 0)"), length)


def test_boxes_of_one_middle_do_not_share_what_differs() -> None:
    # What is known of (b1, b2) is kept: another b1, another b2 or another number of orders is another entry.
    with precision(100):
        kept = LabelBalls(activation("sign"), arb("0.2"), 40)
        for b1, b2, orders in ((0.1, 0.3, 2), (0.2, 0.3, 2), (0.2, 0.4, 2), (0.2, 0.4, 3), (0.1, 0.3, 2)):
            fresh = LabelBalls(activation("sign"), arb("0.2"), 40).over(arb(b1), arb(b2), 2, orders)
            found = kept.over(arb(b1), arb(b2), 2, orders)
            assert len(found) == orders
            assert all(
                str(a) == str(b)
                for one, other in zip(found, fresh, strict=True)
                for row, there in zip(one, other, strict=True)
                for a, b in zip(row, there, strict=True)
            )


@pytest.mark.parametrize("noise", [Fraction(0), Fraction(1, 4)])
def test_a_breakpoint_may_lie_anywhere_in_its_ball(noise: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    # Integrals end on the middles of the balls: of the sliver between, where the other branch holds, they know nothing.
    with precision(80):
        given = activation("sign"), arb("0.3"), 20, noise
        exact = LabelBalls(*given).over(arb("0.3"), arb("0.4"), 2)
        for middle in ("0.004", "-0.004"):

            def moved(target: Activation, length: int, middle: str = middle) -> list[tuple[Any, Any, Any]]:
                (first, low, _), (second, _, high) = panels_of(target, length)
                return [(first, low, arb(middle, "0.005")), (second, arb(middle, "0.005"), high)]

            for where in ("labels", "spread_labels"):
                monkeypatch.setattr(f"giantsteps.numerics.certificates.network.{where}.panels_of", moved)
            found = LabelBalls(*given).over(arb("0.3"), arb("0.4"), 2)
            # A jump by two of the labels moves averages by more than their other errors.
            assert float(found[0][0][1].mid()) != pytest.approx(float(exact[0][0][1].mid()), abs=1e-4)
            pairs = [(b, x) for of, at in zip(found, exact, strict=True) for r, s in zip(of, at, strict=True)
                     for b, x in zip(r, s, strict=True)]  # fmt: skip
            assert all(ball.overlaps(x) for ball, x in pairs)


@pytest.mark.parametrize("noise", [Fraction(0), Fraction(1, 4)])
def test_moments_of_labels_are_those_of_the_doubles(noise: Fraction) -> None:
    # To the eighth power, where noise has (2 n - 1)!! of its own: another rule, on a grid of labels.
    with precision(100):
        found = LabelBalls(activation("sin(z + 1/2)"), arb("0.3"), 60, noise).moments(8)
    doubles = rule_for_labels(activation("sin(z + 1/2)"), float(noise), 0.3, 0.3)
    moments = doubles.table.sum(axis=1)
    for i, rows in ((0, POWERS), (1, TILTED), (2, ALONG)):
        first = 2 if i == 1 else 1  # the rows begin with Y, u Y^2 and u^2 Y
        for j, value in enumerate(moments[rows].tolist(), first):
            assert float(found[i][j]) == pytest.approx(value, rel=1e-10, abs=1e-12), (i, j)
    assert [float(x) for x in found[1][1:4]] == pytest.approx(doubles.first.tolist(), rel=1e-10)


def test_slopes_of_averages_are_differences() -> None:
    # Each average with each power of u and of Y, as both b1 and b2 move.
    rates = (-0.7, 0.4)
    with precision(120):
        given: Any = SimpleNamespace(labels=LabelBalls(activation("sign"), arb("0.3"), 60))
        b1, b2, h = arb("0.3"), arb("0.4"), arb(2) ** -20
        moved = saddle_point._label_averages(given, Moving(b1, arb(rates[0])), Moving(b2, arb(rates[1])), 4)
        low, high = (given.labels.over(b1 + step * rates[0], b2 + step * rates[1], 4) for step in (-h, h))
        for k, table in enumerate(moved):
            for i, row in enumerate(table):
                for j, number in enumerate(row):
                    # The third derivative of a central difference leaves h^2, a millionth of a millionth, times ten.
                    assert abs(number.slope - (high[k][i][j] - low[k][i][j]) / (2 * h)) < arb("1e-9"), (k, i, j)


@pytest.mark.parametrize("which", range(3))
def test_slopes_of_the_blocks_in_the_gain_and_both_places_are_differences(which: int) -> None:
    # filled, b1 and b2, as g, b1 or b2 moves.
    with precision(120):
        given: Any = SimpleNamespace(
            labels=LabelBalls(activation("sign"), arb("0.3"), 60),
            law=SimpleNamespace(batch_ratio=arb(2), omega=arb("0.7"), turn=arb("0.9"), root=arb(1)),
        )
        place, h = [arb("1.3"), arb("0.3"), arb("0.4")], arb(2) ** -20
        found = saddle_point._linearised(given, *place).slopes
        ends = []
        for step in (-h, h):
            at = saddle_point._linearised(given, *(x + step * (k == which) for k, x in enumerate(place))).blocks
            ends.append((at.filled, at.b1, at.b2))
        for row, low, high in zip(found, *ends, strict=True):
            assert abs(row[which] - (high - low) / (2 * h)) < arb("1e-9")
            assert row[which] != 0


def test_a_breakpoint_that_is_a_ball_costs_both_sides_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    # Each panel leaves out as much of the line as the ball of its end is wide: the bound of the integrand is L^2 there.
    length, radius = 5, 1e-3
    with precision(90):
        given = activation("sign(z - 3/10)"), arb("0.2"), arb("0.3"), arb("0.4"), 4, 2
        (code, *_), *_ = panels_of(given[0], length)
        below, above = (arb(x, radius) for x in (0.3, 0.3))
        monkeypatch.setattr(
            labels_module, "panels_of", lambda *_: [(code, arb(-length), below), (code, above, arb(length))]
        )
        wide = _base(*given)
        sizes = [float(size) for size in sizes_of(*given[2:4], 2)]
    tail = 2.0 * (length + 1) * math.exp(-0.5 * length**2) / math.sqrt(2.0 * math.pi)
    for row in wide:
        for ball, size in zip(row, sizes, strict=True):
            # And what the integrals themselves leave, 2^-12 at most for each panel.
            sliver = 2.0 * radius * length**2 * size
            assert sliver + tail * size <= float(ball.rad()) <= 1.01 * (sliver + tail * size) + 2.0**-10
