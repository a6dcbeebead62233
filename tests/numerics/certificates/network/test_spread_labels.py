"""Labels with noise: the grid against plain double sums, coarse grids that own up to their errors, and small noise."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from flint import arb

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.balls.arithmetic import BallError, precision
from giantsteps.numerics.certificates.network.labels import LabelBalls
from giantsteps.numerics.certificates.network.spread_labels import SpreadLabels, sizes_of, spread_labels

BITS = 44
TARGETS = {"sin(z)": np.sin, "sign(z)": np.sign, "Max(z, 0)": lambda u: np.maximum(u, 0.0)}
# The first has the lowest zeros of D: a grid made for it is fine enough for the others.
POINTS = [(-1.1, 0.35), (0.3, 0.4), (0.0, 0.2)]


def plain(target: str, noise: float, b1: float, b2: float, i: int, j: int, k: int) -> float:
    """E[u^i Y^j/D^k] by Gauss-Legendre panels in u, each half line for itself, and Gauss-Hermite in the noise."""
    nodes, weights = np.polynomial.legendre.leggauss(24)
    ends = np.linspace(0.0, 12.0, 25)
    half = (ends[1:] - ends[:-1])[:, None] / 2
    right = (ends[:-1, None] + half * (1 + nodes)).ravel()
    u = np.concatenate([-right, right])
    w = np.tile((half * weights).ravel(), 2) * np.exp(-u * u / 2) / np.sqrt(2 * np.pi)
    x, v = np.polynomial.hermite_e.hermegauss(120)
    y = TARGETS[target](u)[:, None] - 0.3 + np.sqrt(noise) * x
    return float(w @ (u[:, None] ** i * y**j / (1 + b1 * y + b2 * y * y) ** k) @ v / np.sqrt(2 * np.pi))


@pytest.mark.parametrize("target", list(TARGETS))
def test_averages_over_noisy_labels_hold_those_of_a_double_sum(target: str) -> None:
    # One grid, made for the first point, serves all.
    with precision(BITS + 40):
        labels = LabelBalls(activation(target), arb("0.3"), BITS, Fraction(1, 4))
        moments = labels.moments(6)
        over = [labels.over(arb(b1), arb(b2), 6) for b1, b2 in POINTS]
    for (b1, b2), (once, twice) in zip(POINTS, over, strict=True):
        for i, j in ((0, 1), (0, 2), (0, 6), (1, 2), (1, 5), (2, 1), (2, 2)):
            for k, found in ((0, moments), (1, once), (2, twice)):
                value = plain(target, 0.25, b1, b2, i, j, k)
                # Nodes in the noise: poles at a height of more than two of its widths leave less than 1e-9.
                assert abs(float(found[i][j].mid()) - value) < 1e-9 * (1 + abs(value)), (i, j, k)
                assert found[i][j].rad() < 1e-7


@cache
def grid(bits: int) -> SpreadLabels:
    return spread_labels(activation("sin(z)"), arb("0.3"), Fraction(1, 4), arb(-1.1), arb(0.35), bits)


@pytest.mark.parametrize("bits", [-14, -8, 0, 8])
def test_coarse_grids_own_up_to_their_errors(bits: int) -> None:
    # So coarse that aliasing and what lies beyond the grid show: the enclosures still hold the averages.
    with precision(120):
        fine, coarse = grid(BITS).over(arb(-1.1), arb(0.35)), grid(bits).over(arb(-1.1), arb(0.35))
        assert all(
            b.contains(a.mid()) for row, wide in zip(fine, coarse, strict=True) for a, b in zip(row, wide, strict=True)
        )


@pytest.mark.parametrize("left_out", ["low half", "high half", "every other"])
def test_a_grid_with_nodes_left_out_misses(left_out: str) -> None:
    # The check above can fail: weights that are not all there are not what was enclosed.
    with precision(120):
        whole = grid(20)
        exact = grid(BITS).over(arb(-1.1), arb(0.35))
        half = len(whole.nodes) // 2
        kept = {"low half": slice(half, None), "high half": slice(half), "every other": slice(0, None, 2)}[left_out]
        torn = replace(whole, nodes=whole.nodes[kept], weights=tuple(row[kept] for row in whole.weights))
        found = torn.over(arb(-1.1), arb(0.35))
        assert not all(
            b.contains(a.mid()) for row, wide in zip(exact, found, strict=True) for a, b in zip(row, wide, strict=True)
        )


def test_noise_that_is_small_beside_the_labels_is_refused() -> None:
    with precision(120), pytest.raises(BallError, match="noise is small"):
        spread_labels(activation("sin(z)"), arb(0), Fraction(1, 10**8), arb(0), arb(1), BITS)


def test_a_grid_owns_up_to_its_errors_where_zeros_come_closer_than_planned() -> None:
    # So coarse, and planned for zeros so far off the line, that its errors show where they are near.
    with precision(60):
        planned = spread_labels(activation("sin(z)"), arb("0.3"), Fraction(1, 4), arb(0), arb("0.2"), -4)
        found = planned.over(arb(0), arb(3))
    for i in range(3):
        for which, ball in enumerate(found[i]):
            value = plain("sin(z)", 0.25, 0.0, 3.0, i, which % 2, 1 + which // 2)
            assert abs(float(ball.mid()) - value) < float(ball.rad()), (i, which)


def beside(height: float, step: float) -> float:
    """What the trapezoidal rule of a Gaussian of unit width leaves, of a function bounded by 1 at this height."""
    return 2.0 / (math.exp(2.0 * math.pi * height / step) - 1.0) * math.exp(0.5 * height**2)


@pytest.mark.parametrize("tall", [0.4, 5.0])
@pytest.mark.parametrize(("b1", "b2"), POINTS)
def test_what_a_rule_leaves_is_bounded_at_the_height_that_it_goes_off_the_line(
    b1: float, b2: float, tall: float
) -> None:
    # A rule without weights is its errors alone: those of the rule, with nothing missing.
    step, scale, zero = 0.7, 0.5, np.roots([b2, b1, 1.0])[0]
    nothing = ((arb(0),),) * 3
    rule = SpreadLabels(arb(tall), arb(step), arb(scale), (arb(0),), nothing, (arb(0),) * 3)
    height = min(tall, 0.75 * abs(zero.imag))
    y = np.linspace(-20.0, 20.0, 8001) + 1j * height
    denominator = np.abs(1.0 + b1 * y + b2 * y * y)
    with precision(90):
        found = rule.over(arb(b1), arb(b2), 3)
    for row in found:
        for k in range(3):
            for power in (0, 1):
                bound = float(row[2 * k + power].rad()) / beside(height / scale, step / scale)
                most = float(np.max(np.abs(y) ** power / denominator ** (k + 1)))
                assert most <= bound
                if tall > 1.0:
                    # D is b2 |Y - z| |Y - z*|, and at a quarter of the height from one the other is seven quarters
                    # away: seven for each 1/D, and what |Y| has more where both its terms count.
                    assert bound <= 7.5 ** (k + 1) * 1.6**power * most


def test_what_is_missing_counts_with_the_size_on_the_line() -> None:
    # Of steps so fine that nothing else is left.
    missing = (arb("0.01"), arb("0.02"), arb("0.05"))
    with precision(90):
        rule = SpreadLabels(arb(1), arb("0.01"), arb("0.5"), (arb(0),), ((arb(0),),) * 3, missing)
        for row, share in zip(rule.over(arb("0.3"), arb("0.4"), 3), (0.01, 0.02, 0.05), strict=True):
            for ball, size in zip(row, sizes_of(arb("0.3"), arb("0.4"), 3), strict=True):
                assert float(ball.rad()) == pytest.approx(share * float(size), rel=1e-6)


@pytest.mark.parametrize("bits", [-14, -8, 8])
def test_what_is_missing_is_what_the_weights_leave_of_their_moments(bits: int) -> None:
    # h rho_0 and h rho_2 of all nodes add up to 1 and to E u^2 = 1, but for the rule's own error; rho_1 by Cauchy.
    with precision(120):
        found = grid(bits)
        left = beside(float(found.tall) / 0.5, float(found.step) / 0.5)
        whole, tilted, square = (float(x) for x in found.missing)
        for share, row in ((whole, found.weights[0]), (square, found.weights[2])):
            least = 1.0 - sum(float(w.mid()) for w in row) + left
            assert share == pytest.approx(least + sum(float(w.rad()) for w in row), rel=1e-6)
        assert tilted == pytest.approx(math.sqrt(whole * square), rel=1e-7)


def test_a_weight_owns_up_to_the_ends_of_its_integral() -> None:
    # Of a constant target all u count for the label in the middle, those beyond two standard deviations, too.
    with precision(90):
        found = spread_labels(activation("1"), arb(1), Fraction(1, 4), arb(0), arb("0.2"), -14)
        (middle,) = (k for k, y in enumerate(found.nodes) if y == 0)
        for i, moment in enumerate((1.0, 0.0, 1.0)):
            weight = found.weights[i][middle]
            exact = float(found.step) / 0.5 * moment / math.sqrt(2.0 * math.pi)
            assert weight.contains(exact)
            # E[u^2; |u| > 2] is 0.26, and bounded by 6 phi(2) = 0.32; the integral of 1 errs by a seventh of that.
            bound = float(found.step) / 0.5 * 6.0 * math.exp(-2.0) / (2.0 * math.pi)
            assert bound <= float(weight.rad())
            assert i or float(weight.rad()) <= 1.2 * bound


@pytest.mark.parametrize("bits", [8, 20])
def test_a_grid_is_about_as_precise_as_it_was_asked_to_be(bits: int) -> None:
    with precision(120):
        worst = max(float(ball.rad()) for row in grid(bits).over(arb(-1.1), arb(0.35)) for ball in row)
    # Its own 16 bits more than asked are those of averages that are far larger than one near the zeros of D.
    assert 2.0 ** -(bits + 16) < worst < 2.0**-bits
