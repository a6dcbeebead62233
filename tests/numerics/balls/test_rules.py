"""The two rules along the spike: their errors are enclosed, and a wrong claim of analyticity would be seen."""

from __future__ import annotations

import pytest
from flint import arb
from mpmath import mp

from giantsteps.numerics.balls.arithmetic import BallError, precision
from giantsteps.numerics.balls.averages import Averages
from giantsteps.numerics.balls.gaussian_bounds import Envelope
from giantsteps.numerics.balls.rules import Along, SpikeRule, on_nodes, panels, trapezoidal


def integrand(rule: SpikeRule, pole: float, bound: float) -> Along:
    """1/(pole^2 + x^2), bounded by `bound` on the rectangle of the rule."""
    return Along(tuple(1 / (arb(pole) ** 2 + x * x) for x in rule.nodes), Envelope(arb(bound)))


def exact(pole: float) -> arb:
    """E 1/(p^2 + x^2) = sqrt(pi/2) e^{p^2/2} erfc(p/sqrt 2)/p."""
    with mp.workdps(60):
        p = mp.mpf(pole)
        return arb(mp.nstr(mp.sqrt(mp.pi / 2) * mp.exp(p * p / 2) * mp.erfc(p / mp.sqrt(2)) / p, 55))


# On |Im| <= 1/2, |1/(1 + z^2)| <= 1/(1 - 1/4).
HEIGHT, BOUND = arb(1) / 2, 1.34


@pytest.mark.parametrize("bits", [6, 12, 24, 48, 96])
@pytest.mark.parametrize("kind", ["trapezoid", "panels", "panels with cuts"])
def test_the_error_is_enclosed_and_reaches_the_accuracy(bits: int, kind: str) -> None:
    with precision(bits + 48):
        if kind == "trapezoid":
            rule = trapezoidal(HEIGHT, bits, arb(BOUND), 10_000)
        else:
            rule = panels([arb("0.3")] if "cuts" in kind else [], HEIGHT, bits, arb(BOUND), 10_000)
        found = rule.expectation(integrand(rule, 1.0, BOUND))
        assert found.contains(exact(1.0))
        assert found.rad() < 8 * arb(2) ** -bits


@pytest.mark.parametrize("kind", ["trapezoid", "panels"])
def test_a_pole_inside_the_rectangle_shows(kind: str) -> None:
    # The bound is false here, there is a pole at i/5: a rule that enclosed the value all the same would be too easy.
    with precision(100):
        rule = (
            trapezoidal(HEIGHT, 40, arb(BOUND), 10_000)
            if kind == "trapezoid"
            else panels([], HEIGHT, 40, arb(BOUND), 10_000)
        )
        assert not rule.expectation(integrand(rule, 0.2, BOUND)).contains(exact(0.2))


def test_a_jump_at_a_cut() -> None:
    # E sign(x) x^3 = 2 sqrt(2/pi), sign on the branch of each panel.
    with precision(120):
        rule = panels([arb(0)], arb(1), 70, arb(100), 10_000)
        values = tuple(abs(x) ** 3 for x in rule.nodes)
        # |x + i y|^3 <= (1 + |x|)^3 for |y| <= 1.
        found = rule.expectation(Along(values, Envelope(arb(1), 3)))
        assert found.contains(2 * (2 / arb.pi()).sqrt())
        assert found.rad() < 1e-18


def test_sums_and_products_keep_both_values_and_bounds() -> None:
    with precision(80):
        rule = trapezoidal(arb(1), 40, arb(100), 10_000)
        x = Along(rule.nodes, Envelope(arb(1), 1))
        assert rule.expectation(x * x - x.scaled(arb(3)) + x).contains(1)
        assert (x * x - x).bound.degree == 2
        assert (x * x - x).bound.constant >= 2


@pytest.mark.parametrize("size", ["0", "1e-200", "1e-30", "1e-7"])
@pytest.mark.parametrize("kind", ["trapezoid", "panels"])
def test_a_function_smaller_than_the_accuracy_is_enclosed(kind: str, size: str) -> None:
    # 2^-24 = 6e-8 is asked for.
    with precision(72):
        bound = arb(size) * BOUND
        rule = trapezoidal(HEIGHT, 24, bound, 100) if kind == "trapezoid" else panels([], HEIGHT, 24, bound, 100)
        found = rule.expectation(integrand(rule, 1.0, BOUND).scaled(arb(size)))
        assert found.contains(exact(1.0) * arb(size))
        # Twice e^{1/8} times the size for the top and the bottom, and less than once for the sides and the tail.
        assert found.rad() <= 4 * bound


def test_too_many_nodes_are_refused() -> None:
    with precision(100), pytest.raises(BallError, match="nodes"):
        trapezoidal(arb("0.001"), 60, arb(1), 10_000)
    with precision(100), pytest.raises(BallError, match="nodes"):
        panels([], arb("0.001"), 60, arb(1), 10_000)


@pytest.mark.parametrize("kind", ["trapezoid", "panels"])
def test_the_error_comes_near_its_bound_for_a_pole_near_the_rectangle(kind: str) -> None:
    # The pole at 0.51 i just misses |Im| <= 1/2, |1/(p^2 + z^2)| <= 1/(p^2 - 1/4) = 99.1: it makes most of the error,
    # which a bound without the top of the rectangle, or with a larger ellipse, would miss.
    bound = 99.1
    with precision(80):
        if kind == "trapezoid":
            rule = trapezoidal(HEIGHT, 12, arb(bound), 10_000)
        else:
            rule = panels([], HEIGHT, 12, arb(bound), 10_000)
        error = abs(rule.expectation(integrand(rule, 0.51, bound)).mid() - exact(0.51))
        claimed = (rule.across + rule.sides) * bound
        assert error < claimed
        # Four figures for the lengths along which the pole is further away than the bound has it.
        assert error > claimed / 10_000


def test_an_expectation_adds_all_three_errors() -> None:
    # Of a function bounded by 3 (1+|x|)^2 on a rule without nodes: each error alone, and their sum.
    bound = Envelope(arb(3), 2)
    far, none, some = arb(10) ** 4, arb(0), arb(1) / 8

    def radius(cut: arb, across: arb, sides: arb) -> arb:
        return arb(SpikeRule((), (), cut, arb(1), across, sides).expectation(Along((), bound)).rad())

    with precision(80):
        # 3 E(1+|z|)^2 = 3 (2 + 2 sqrt(2/pi)), by Cauchy-Schwarz less than twice that; 3 (1 + 1)^2; and the tail.
        mean = 6 + 6 * (2 / arb.pi()).sqrt()
        assert some * mean < radius(far, some, none) < some * mean * 2
        assert abs(radius(far, none, some) / (some * 12) - 1) < 1e-6
        assert abs(radius(arb(3), none, none) / bound.tail(arb(3)) - 1) < 1e-6
        parts = radius(far, some, none) + radius(far, none, some) + radius(arb(3), none, none)
        assert abs(radius(arb(3), some, some) / parts - 1) < 1e-6


# Powers of w that have the parities of M_01, M_11, M_02, M_21, M_12, M_31, M_22 and M_41 for such a function.
POWERS = {"odd": (1, 2, 4, 3, 5, 6, 8, 7), "even": (2, 1, 4, 6, 3, 5, 8, 10)}


@pytest.mark.parametrize("count", [2, 3, 4, 5, 7])
@pytest.mark.parametrize("parity", ["odd", "even"])
def test_one_of_each_pair_of_nodes_is_enough(count: int, parity: str) -> None:
    asked = []

    def at(places: list[arb]) -> list[Averages]:
        asked.append(len(places))
        return [Averages(*(w**power for power in POWERS[parity])) for w in places]

    places = [arb(2 * n - count + 1) for n in range(count)]
    assert on_nodes(at, places, parity) == at(places)
    assert asked[0] == (count + 1) // 2
