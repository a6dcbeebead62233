"""1 + V off the line: Taylor polynomials of real numbers against averages at complex arguments, and the bound below."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest
from flint import acb, arb

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.balls.arithmetic import BallError, precision, rational_ball
from giantsteps.numerics.balls.averages import smoothing
from giantsteps.numerics.balls.growth_bounds import Line
from giantsteps.numerics.certificates.strip import Student, inverse_bound, student

Ball = Any

END = Fraction(3)
LINES = (Line(Fraction(1), Fraction(0), Fraction(1)), Line(Fraction(-3, 2), Fraction(1, 4), Fraction(1, 2)))
OVERLAP, TAU = 3, 20


def made(name: str, line: Line, height: Fraction) -> Student:
    found = student(activation(name), line, arb(OVERLAP), arb(TAU), height, END, symmetric=False)
    assert found is not None
    return found


def directly(name: str, line: Line, kappa: Ball) -> Ball:
    """1 + V at a complex kappa by the averages there."""
    mean, first, square = smoothing(activation(name), line, Fraction(3, 4), Fraction(6), 40).at(line.argument(kappa))[
        :3
    ]
    scale = line.scale()
    return 1 + OVERLAP * (first / scale) * (first / scale) + TAU * (square - mean * mean - first * first)


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("name", ["tanh", "relu", "sign"])
def test_the_polynomials_hold_the_averages_off_the_line(name: str, line: Line) -> None:
    with precision(64):
        around = made(name, line, Fraction(1, 2))
        assert around.remainder < 1.0 / 64
        for cell in around.cells[::5]:
            for x, y in itertools.product((-1, 0, 1), (Fraction(0), Fraction(1, 4), Fraction(1, 2))):
                centre = acb(rational_ball(x * around.half), rational_ball(y))
                truth = directly(name, line, rational_ball(cell.place) + centre)
                point, box = around.around(cell, centre, acb(0))
                assert point.overlaps(truth)
                assert box.overlaps(truth)
                # A box from there to the middle of the cell holds it, too.
                half = centre / 2
                offset = acb(arb(0, abs(half.real).upper()), arb(0, abs(half.imag).upper()))
                assert around.around(cell, half, offset)[1].overlaps(truth)


@pytest.mark.parametrize("name", ["tanh", "relu", "sign"])
def test_the_bound_of_one_plus_v_holds(name: str) -> None:
    with precision(64):
        height = Fraction(1, 5)
        around = made(name, LINES[1], Fraction(1, 2))
        bound = inverse_bound(around, height, END, symmetric=False)
        assert bound is not None
        for x, y in itertools.product((-3.0, -1.0, 0.0, 0.25, 2.0, 3.0), (0.0, 0.1, 0.2)):
            assert (1 / directly(name, LINES[1], acb(x, y))).abs_lower() <= bound


def test_a_zero_of_one_plus_v_is_not_overlooked() -> None:
    # V of a sign is real on the imaginary axis, too: where it falls below -1 there, a zero of 1 + V lies on the way.
    with precision(64):
        line, height = Line(Fraction(1), Fraction(0), Fraction(1, 2)), Fraction(3, 2)
        inner = smoothing(activation("sign"), line, height, Fraction(6), 30)
        values = []
        for k in range(13):
            mean, first, square = inner.at(acb(0, k / 8))[:3]
            values.append(1 + 2 * first * first + 50 * (square - mean * mean - first * first))
        assert values[0].real > 0
        assert any(value.real < 0 and value.imag.contains(0) for value in values)
        around = student(activation("sign"), line, arb(1), arb(50), height, END, symmetric=True)
        assert around is not None
        assert around.distance() > 0.0
        assert inverse_bound(around, height, END, symmetric=True) is None


def test_what_has_no_polynomials_says_why_or_asks_for_less_height() -> None:
    with precision(64):
        with pytest.raises(BallError, match="power"):
            student(activation("exp(z/4)"), LINES[0], arb(1), arb(1), Fraction(1), END, symmetric=False)
        steep = Line(Fraction(20), Fraction(0), Fraction(1))
        assert student(activation("tanh"), steep, arb(1), arb(1), Fraction(1), END, symmetric=True) is None
