"""Averages at equally spaced places, all at once, are those of the rule place by place, errors included."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.balls.arithmetic import precision, rational_ball
from giantsteps.numerics.balls.averages import smoothing
from giantsteps.numerics.balls.growth_bounds import Line
from giantsteps.numerics.balls.lattice import averages

LINES = (
    Line(Fraction(1), Fraction(0), Fraction(1)),
    Line(Fraction(-7, 5), Fraction(1, 3), Fraction(3, 2)),
    Line(Fraction(1, 8), Fraction(0), Fraction(2)),
)


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("name", ["tanh", "sin", "softplus(z)", "z/(1 + z**2)"])
@pytest.mark.parametrize("bits", [4, 60])
def test_all_at_once_is_one_by_one(name: str, line: Line, bits: int) -> None:
    # Four bits: the errors show, and have to be owned up to; sixty: they are as small as was asked for.
    with precision(100):
        step = arb(3) / 16
        found = averages(activation(name), line, step, -3, 9, bits)
        single = smoothing(activation(name), line, Fraction(0), Fraction(4), 80)
        assert found is not None
        assert len(found) == 13
        for k, all_ in zip(range(-3, 10), found, strict=True):
            one = single.at(line.argument(k * step))
            for ball, sharp in zip(all_, one, strict=True):
                assert ball.overlaps(sharp)
                assert ball.rad() < arb(2) ** -bits


def test_a_slope_known_as_a_ball_gives_balls_that_hold_all_slopes() -> None:
    with precision(100):
        step = arb(1) / 4
        wide = Line(Fraction(2), Fraction(0), Fraction(1), arb(1, 1e-3), arb(1, 1e-3))
        found = averages(activation("tanh"), wide, step, 0, 4, 40)
        assert found is not None
        for slope in (Fraction(1) - Fraction(1, 1001), Fraction(1) + Fraction(1, 1001)):
            line = Line(slope, Fraction(0), slope * slope)
            single = smoothing(activation("tanh"), line, Fraction(0), Fraction(4), 60)
            for k, ball in enumerate(found):
                one = single.at(line.argument(k * step))
                assert all(a.contains(b) for a, b in zip(ball, one, strict=True))


def test_places_that_coincide_have_the_averages_of_one_and_close_ones_are_left_to_the_rule() -> None:
    with precision(100):
        line = Line(Fraction(0), Fraction(1, 3), Fraction(2))
        single = smoothing(activation("tanh"), line, Fraction(0), Fraction(1), 60).at(rational_ball(line.bias))
        found = averages(activation("tanh"), line, arb(1), 0, 9, 40)
        assert found is not None
        assert len(found) == 10
        for balls in found:
            assert all(a.contains(b) for a, b in zip(balls, single, strict=True))
        close = Line(Fraction(1, 10**6), Fraction(0), Fraction(1))
        assert averages(activation("tanh"), close, arb(1), 0, 9, 40) is None


def test_a_few_of_the_averages_are_the_same_balls() -> None:
    with precision(100):
        few, every = (averages(activation("tanh"), LINES[1], arb(3) / 16, -3, 9, 60, count) for count in (3, 8))
        assert few is not None
        assert every is not None
        for some, all_ in zip(few, every, strict=True):
            assert all(x.overlaps(y) for x, y in zip(some[:3], all_[:3], strict=True))
            assert some[3:] == (None,) * 5
