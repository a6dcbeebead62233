"""1 + V off the line: Taylor polynomials of real numbers against averages at complex arguments, and the bound below."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, cast

import pytest
from flint import acb, arb

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.balls.arithmetic import BallError, precision, rational_ball
from giantsteps.numerics.balls.averages import smoothing
from giantsteps.numerics.balls.growth_bounds import Line
from giantsteps.numerics.certificates import strip
from giantsteps.numerics.certificates.strip import Student, Sums, _remainder, _rows, inverse_bound, student

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
@pytest.mark.parametrize("remainder", [1.0 / 64, 50.0])
def test_the_polynomials_hold_the_averages_off_the_line(
    name: str, line: Line, remainder: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With few terms the remainder shows: it is then what the enclosure rests on.
    monkeypatch.setattr(strip, "_REMAINDER", remainder)
    with precision(64):
        around = made(name, line, Fraction(1, 2))
        assert around.remainder < remainder
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


def test_the_remainder_counts_the_overlap_in_units_of_the_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    # At a bulk of 1/25 the square of the slope enters V twenty-five times, and so does what its series leaves.
    monkeypatch.setattr(strip, "_REMAINDER", 50.0)
    line, sign = Line(Fraction(1, 4), Fraction(1, 4), Fraction(1, 25)), activation("sign")
    with precision(64):
        around = student(sign, line, arb(OVERLAP), arb(0), Fraction(1, 2), END, symmetric=False)
        assert around is not None
        for cell in around.cells[::3]:
            centre = acb(rational_ball(around.half), arb(0.5))
            kappa = rational_ball(cell.place) + centre
            slope = smoothing(sign, line, Fraction(3, 4), Fraction(6), 40).at(line.argument(kappa))[1] / line.scale()
            assert around.around(cell, centre, acb(0))[0].overlaps(1 + OVERLAP * slope * slope)


def test_without_the_remainder_few_terms_would_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strip, "_REMAINDER", 50.0)
    with precision(64):
        around = made("sign", LINES[1], Fraction(1, 2))
        cell = min(around.cells, key=lambda cell: abs(cell.place))
        centre = acb(rational_ball(around.half), arb(0.5))
        bare = cell.value(centre * around.scale)
        assert not bare.overlaps(directly("sign", LINES[1], rational_ball(cell.place) + centre))


@pytest.mark.parametrize("name", ["tanh", "relu", "sign"])
def test_the_bound_of_one_plus_v_holds(name: str) -> None:
    with precision(64):
        height = Fraction(1, 5)
        around = made(name, LINES[1], Fraction(1, 2))
        bound = inverse_bound(around, height, END, symmetric=False)
        assert bound is not None
        for x, y in itertools.product((-3.0, -1.0, 0.0, 0.25, 2.0, 3.0), (0.0, 0.1, 0.2)):
            assert (1 / directly(name, LINES[1], acb(x, y))).abs_lower() <= bound


def test_errors_of_sums_are_in_the_radii_of_the_polynomials() -> None:
    # Sums known to 2^-20, 2^-21, .. where He_n takes the largest so far by the sum of its |coefficients|: 1, 1, 2, 4.
    terms = 3
    errors = {(j, power): arb(2) ** (j - 20 - 10 * power) for j in range(terms + 1) for power in (1, 2)}
    table = SimpleNamespace(plain=[[arb(n) for n in range(4)]], squared=[[arb(7)] * terms], errors=errors)
    with precision(64):
        (found,) = _rows(activation("tanh"), cast(Sums, table), terms)
    sizes = [count * 2.0 ** (n - 30) for n, count in enumerate((1, 1, 2, 4))]
    wanted = ((0, 1, 2), sizes[:3]), ((1, 2, 3), sizes[1:]), ((7, 7, 7), [size * 2.0**-10 for size in sizes[:3]])
    for polynomial, (middles, radii) in zip(found, wanted, strict=True):
        for n, (middle, radius) in enumerate(zip(middles, radii, strict=True)):
            assert float(polynomial[n].mid()) == pytest.approx(middle / math.factorial(n), rel=1e-15)
            # A radius is kept to 30 bits.
            assert float(polynomial[n].rad()) == pytest.approx(radius / math.factorial(n), rel=1e-8)


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


@pytest.mark.parametrize("radius", [0.3, 1.0])
@pytest.mark.parametrize("terms", [6, 12])
@pytest.mark.parametrize(("overlap", "tau"), [(0.0, 1.0), (1.0, 0.0), (0.7, 2.0)])
def test_the_remainder_is_what_all_further_terms_may_add_up_to(
    radius: float, terms: int, overlap: float, tau: float
) -> None:
    mean, square = 1.7, 4.0
    weights = [radius**n * math.sqrt((n + 1) / math.factorial(n)) for n in range(100)]
    tail, whole = sum(weights[terms:]), sum(weights)
    # A product of two averages, each off by R, is off by R (2 F + R); E f^2 is one average.
    product = mean * tail * (2.0 * mean * whole + mean * tail)
    least = (overlap + 2.0 * tau) * product + tau * square * tail
    with precision(80):
        found = _remainder(arb(radius), terms, (arb(mean), arb(square)), arb(overlap), arb(tau))
    assert found is not None
    # A geometric series with the ratio of the first two terms is more, here by less than a quarter.
    assert least <= float(found) <= 1.25 * least


@pytest.mark.parametrize(("terms", "radius", "falls"), [(6, 1.85, True), (6, 1.86, False), (14, 2.8, True)])
def test_a_series_that_does_not_fall_has_no_remainder(terms: int, radius: float, falls: bool) -> None:
    # Its next ratio is radius sqrt(N + 2)/(N + 1), at most 3/4: radius 1.856 of six terms.
    with precision(80):
        found = _remainder(arb(radius), terms, (arb(1), arb(1)), arb(1), arb(1))
    assert (found is not None) == falls
