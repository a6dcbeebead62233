"""Averages over labels in balls: against plain double sums, over boxes, by rules so coarse that their errors show."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from flint import arb

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.balls.arithmetic import BallError, precision
from giantsteps.numerics.bulk.network_constants import ALONG, POWERS, TILTED
from giantsteps.numerics.bulk.network_constants import labels as rule_for_labels
from giantsteps.numerics.certificates.network.labels import LabelBalls
from giantsteps.numerics.certificates.network.spread_labels import SpreadLabels, panels_of, sizes_of, spread_labels
from giantsteps.numerics.certificates.problems import problem_of
from tests.shared.certified_models import network, worked

BITS = 44
TARGETS = {"sin(z)": np.sin, "sign(z)": np.sign, "Max(z, 0)": lambda u: np.maximum(u, 0.0)}
# The first has the lowest zeros of D: a grid made for it is fine enough for the others.
POINTS = [(-1.1, 0.35), (0.3, 0.4), (0.0, 0.2)]
NOISES = [Fraction(0), Fraction(1, 4)]


def plain(target: str, noise: Fraction, b1: float, b2: float, i: int, j: int, k: int) -> float:
    """E[u^i Y^j/D^k], Y = g(u) - 0.3 + noise, by Gauss-Legendre panels in u and Gauss-Hermite in the noise."""
    nodes, weights = np.polynomial.legendre.leggauss(24)
    ends = np.linspace(0.0, 12.0, 25)
    half = (ends[1:] - ends[:-1])[:, None] / 2
    right = (ends[:-1, None] + half * (1 + nodes)).ravel()
    u = np.concatenate([-right, right])
    w = np.tile((half * weights).ravel(), 2) * np.exp(-u * u / 2) / np.sqrt(2 * np.pi)
    x, v = np.polynomial.hermite_e.hermegauss(120 if noise else 1)
    y = TARGETS[target](u)[:, None] - 0.3 + np.sqrt(float(noise)) * x
    return float(w @ (u[:, None] ** i * y**j / (1 + b1 * y + b2 * y * y) ** k) @ v / np.sqrt(2 * np.pi))


def labels_of(target: str, noise: Fraction, bits: int = BITS) -> LabelBalls:
    return LabelBalls(activation(target), arb("0.3"), bits, noise)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("target", TARGETS)
def test_averages_are_those_of_a_double_sum(target: str, noise: Fraction) -> None:
    with precision(BITS + 40):
        labels = labels_of(target, noise)
        moments = labels.moments(6)
        over = [labels.over(arb(b1), arb(b2), 6) for b1, b2 in POINTS]
    for (b1, b2), (once, twice) in zip(POINTS, over, strict=True):
        for i, j in ((0, 1), (0, 2), (0, 6), (1, 2), (1, 5), (2, 1), (2, 2)):
            for k, found in ((0, moments), (1, once), (2, twice)):
                value = plain(target, noise, b1, b2, i, j, k)
                # Nodes in the noise: poles at a height of more than two of its widths leave less than 1e-9.
                assert abs(float(found[i][j].mid()) - value) < 1e-9 * (1 + abs(value)), (i, j, k)
                assert found[i][j].rad() < 1e-7


@pytest.mark.parametrize("noise", NOISES)
def test_moments_of_labels_are_those_of_the_doubles(noise: Fraction) -> None:
    # To the eighth power, where noise has (2 n - 1)!! of its own: another rule, on a grid of labels.
    with precision(100):
        found = LabelBalls(activation("sin(z + 1/2)"), arb("0.3"), 60, noise).moments(8)
    moments = rule_for_labels(activation("sin(z + 1/2)"), float(noise), 0.3, 0.3).table.sum(axis=1)
    for i, rows in ((0, POWERS), (1, TILTED), (2, ALONG)):
        first = 2 if i == 1 else 1  # the rows begin with Y, u Y^2 and u^2 Y
        for j, value in enumerate(moments[rows].tolist(), first):
            assert float(found[i][j]) == pytest.approx(value, rel=1e-10, abs=1e-12), (i, j)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(("b1", "b2", "width"), [(0.3, 0.4, 0.05), (-1.1, 0.35, 2.0**-8)])
def test_averages_over_a_wide_box_hold_those_of_its_points(b1: float, b2: float, width: float, noise: Fraction) -> None:
    with precision(100):
        labels = labels_of("Max(z, 0)", noise)
        wide = labels.over(arb(b1, width), arb(b2, width), 8, 3)
        for one, other in ((-1, -1), (1, 1), (-0.8, 0.8), (1, -1)):
            exact = labels.over(arb(b1 + one * width), arb(b2 + other * width), 8, 3)
            for k, (rows, points) in enumerate(zip(wide, exact, strict=True)):
                assert [len(row) for row in rows] == [9 + 2 * k] * 3
                for row, point in zip(rows, points, strict=True):
                    assert all(ball.overlaps(x) for ball, x in zip(row, point, strict=True))
                    if width == 0.05:
                        # D moves by less than four tenths of itself, 1/D^3 by 3.6 times. Odd powers have the sizes of
                        # their neighbours.
                        sizes = [1 + max(map(abs, point[: j + 2])) for j in range(len(row))]
                        assert all(ball.rad() < 6 * size for ball, size in zip(row, sizes, strict=True))


def test_the_averages_fulfil_the_equation_of_the_denominator() -> None:
    # E[Y^j/D^2] = E[Y^j (1 + b1 Y + b2 Y^2)/D^3].
    with precision(120):
        b1, b2 = arb("0.1"), arb("0.3")
        _, twice, thrice = labels_of("sin(z)", Fraction(0), 60).over(b1, b2, 4, 3)
        for high, low in zip(thrice, twice, strict=True):
            for j in range(len(low)):
                assert low[j].overlaps(high[j] + b1 * high[j + 1] + b2 * high[j + 2])


def contained(coarse: Any, fine: Any) -> bool:
    rows = zip(coarse, fine, strict=True)
    return all(ball.contains(x.mid()) for wide, narrow in rows for ball, x in zip(wide, narrow, strict=True))


@pytest.mark.parametrize("bits", [16, 24])
@pytest.mark.parametrize("target", ["sign(z)", "sin(z)"])
def test_short_integrals_own_up_to_what_they_leave_out(target: str, bits: int) -> None:
    with precision(90):
        coarse, fine = (labels_of(target, Fraction(0), n).over(arb("0.3"), arb("0.4"), 2) for n in (bits, 60))
        assert all(contained(wide, narrow) for wide, narrow in zip(coarse, fine, strict=True))
        assert float(coarse[0][0][0].rad()) < 2.0**-bits


@cache
def grid(bits: int) -> SpreadLabels:
    return spread_labels(activation("sin(z)"), arb("0.3"), Fraction(1, 4), arb(-1.1), arb(0.35), bits)


@pytest.mark.parametrize("bits", [-14, -8, 0, 8, 20])
def test_coarse_grids_own_up_to_their_errors(bits: int) -> None:
    # So coarse that aliasing and what lies beyond the grid show: the enclosures still hold the averages.
    with precision(120):
        fine, coarse = (grid(n).over(arb(-1.1), arb(0.35)) for n in (BITS, bits))
        assert contained(coarse, fine)
        # Its own 16 bits more than asked are those of averages that are far larger than one near the zeros of D.
        worst = max(float(ball.rad()) for row in coarse for ball in row)
        assert bits < 8 or 2.0 ** -(bits + 16) < worst < 2.0**-bits


@pytest.mark.parametrize("left_out", ["low half", "high half", "every other"])
def test_a_grid_with_nodes_left_out_misses(left_out: str) -> None:
    # The check above can fail: weights that are not all there are not what was enclosed.
    with precision(120):
        whole = grid(20)
        half = len(whole.nodes) // 2
        kept = {"low half": slice(half, None), "high half": slice(half), "every other": slice(0, None, 2)}[left_out]
        torn = replace(whole, nodes=whole.nodes[kept], weights=tuple(row[kept] for row in whole.weights))
        assert not contained(torn.over(arb(-1.1), arb(0.35)), grid(BITS).over(arb(-1.1), arb(0.35)))


def test_a_grid_owns_up_to_its_errors_where_zeros_come_closer_than_planned() -> None:
    # So coarse, and planned for zeros so far off the line, that its errors show where they are near.
    with precision(60):
        planned = spread_labels(activation("sin(z)"), arb("0.3"), Fraction(1, 4), arb(0), arb("0.2"), -4)
        found = planned.over(arb(0), arb(3))
    for i in range(3):
        for which, ball in enumerate(found[i]):
            value = plain("sin(z)", Fraction(1, 4), 0.0, 3.0, i, which % 2, 1 + which // 2)
            assert abs(float(ball.mid()) - value) < float(ball.rad()), (i, which)


@pytest.mark.parametrize(("b1", "b2"), POINTS)
def test_sizes_on_the_line_are_nearly_reached(b1: float, b2: float) -> None:
    y = np.linspace(-30.0, 30.0, 60_001)
    share = 1.0 / (1.0 + b1 * y + b2 * y * y)
    sizes = [float(size) for size in sizes_of(arb(b1), arb(b2), 3)]
    for k in range(3):
        # The least D is that of the vertex, half a step of 1e-3 away at most: a millionth of it, up to three times.
        assert np.max(share ** (k + 1)) == pytest.approx(sizes[2 * k], rel=1e-5)
        most = np.max(np.abs(y) * share ** (k + 1))
        assert most <= sizes[2 * k + 1] * (1.0 + 1e-12)
        assert k or sizes[1] <= 1.2 * most


@pytest.mark.parametrize("name", ["isotropic", "labels", "noisy labels"])
def test_slopes_of_the_equations_of_a_law_are_differences(name: str) -> None:
    # As C, T, tau, b1 or b2 moves.
    with precision(120):
        model = worked() if name == "isotropic" else network("relu", "sign", noise=0.25 * (name == "noisy labels"))
        law, beta, h = problem_of(model, 70).law, arb("0.8"), arb(2) ** -20
        place = [arb("1.3"), arb("0.9"), arb("1.1"), *((arb("0.3"), arb("0.4")) if name != "isotropic" else ())]
        _, direct, by_C = law.equations(place[0], beta, place[1:])
        for which in range(len(place)):
            low, high = (
                law.equations(at[0], beta, at[1:])[0]
                for at in ([x + step * (k == which) for k, x in enumerate(place)] for step in (-h, h))
            )
            for row, before, after, by in zip(direct, low, high, by_C, strict=True):
                found = row[which - 1] if which else by
                assert abs(found - (after - before) / (2 * h)) < arb("1e-8")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (lambda: labels_of("sin(z)", Fraction(0)).over(arb(2), arb(1), 2), "positive on the line"),
        (lambda: labels_of("sin(z)", Fraction(0)).over(arb(0, 0.2), arb(0.25, 0.2), 2), "positive on the line"),
        (lambda: panels_of(activation("Max(z - 3, 0)"), 3), "breakpoint of the target lies beyond"),
        (lambda: labels_of("sin(z)", Fraction(1, 10**8)).over(arb(0), arb(1), 2), "noise is small"),
    ],
)
def test_what_is_not_enclosed_is_refused(asked: Any, words: str) -> None:
    with precision(120), pytest.raises(BallError, match=words):
        asked()
