"""Brackets of a maximum of S (the bound falls as S rises), by functions whose curvature changes within them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from flint import arb

from giantsteps.numerics.balls.arithmetic import BallError, precision, rational_ball
from giantsteps.numerics.balls.chebyshev import Jet
from giantsteps.numerics.certificates.minima import optimum


def ball(a: Fraction, b: Fraction) -> Any:
    """[a, b] as a ball."""
    return rational_ball((a + b) / 2) + arb(0, rational_ball((b - a) / 2).upper())


@dataclass(frozen=True)
class Slopes:
    """S' with zeros at these places and a negative leading coefficient; S itself is not asked for."""

    zeros: tuple[Fraction, ...]
    low: Fraction = Fraction(1, 2)
    high: Fraction = Fraction(2)

    def over(self, a: Fraction, b: Fraction) -> Jet:
        """S, S' and S'' over [a, b]."""
        t = ball(a, b)
        factors = [t - rational_ball(zero) for zero in self.zeros]
        slope, curvature = arb(-1), arb(0)
        for factor in factors:
            slope, curvature = slope * factor, curvature * factor + slope
        return arb(0), slope, curvature


WIDE = optimum._CURVED[0]


@pytest.mark.parametrize("share", [(0.3, 0.6), (0.05, 0.9), (0.6, 0.7)])
@pytest.mark.parametrize("side", [1, -1])
def test_a_bracket_that_is_said_to_hold_one_minimum_holds_one(share: tuple[float, float], side: int) -> None:
    """A maximum at 1, and a minimum and another maximum beside it, within the widest bracket that is tried."""
    others = [1 + side * Fraction(x) * Fraction(WIDE) for x in share]
    near = Slopes((Fraction(1), *others))
    with precision(160):
        found = optimum._bracket_at(near, Fraction(1))  # type: ignore[arg-type]
    assert found.low <= 1 <= found.high
    assert found.falls <= found.low
    assert found.high <= found.rises
    inside = [zero for zero in near.zeros if found.falls <= zero <= found.rises]
    assert not found.single or inside == [Fraction(1)]


@pytest.mark.parametrize("place", [Fraction(101, 100), Fraction(96, 100), Fraction(104, 100)])
@pytest.mark.parametrize("far", [Fraction(-1, 3), Fraction(3, 4), Fraction(5, 4), Fraction(4)])
def test_a_narrowed_bracket_still_holds_the_zero_where_the_curvature_varies(place: Fraction, far: Fraction) -> None:
    # A second zero of S' outside: the curvature is another one at each end.
    near = Slopes((place, far))
    with precision(160):
        a, b = optimum._narrowed(near.over, Fraction(95, 100), Fraction(105, 100))
    assert a <= place <= b
    assert b - a < Fraction(1, 10)


@dataclass
class Blurred:
    """A track that knows S' near 1 alone, to within `blur` of a precision; `bits` are those that were asked for."""

    blur: dict[int, arb]
    near_it: Slopes
    low: Fraction = Fraction(1, 2)
    high: Fraction = Fraction(2)
    bits: list[int] = field(default_factory=list)

    def jet(self, which: str, a: Fraction, b: Fraction) -> Jet:
        """Nothing of the whole track."""
        raise BallError(f"{which}: nothing is known of [{a}, {b}]")

    def near(self, which: str, guess: Fraction, half: Fraction, bits: int) -> Blurred:
        """The segment around a guess, for any of the bounds."""
        assert which
        self.bits.append(bits)
        return replace(self, low=guess - half, high=guess + half)

    def over(self, a: Fraction, b: Fraction) -> Jet:
        """S, S' and S'' over [a, b]."""
        value, slope, curvature = self.near_it.over(a, b)
        return value, slope + self.blur[self.bits[-1]], curvature


def test_a_slope_without_a_certain_sign_is_asked_for_with_more_bits() -> None:
    coarse, fine = optimum._FINE_BITS
    known = {coarse: arb(0, 1), fine: arb(0, 1e-9)}
    for zero, asked in ((Fraction(1), [coarse, fine]), (Fraction(4), [coarse])):
        place = Blurred(known, Slopes((zero,)))
        with precision(160):
            if zero == 1:
                assert optimum._bracket(place, "upper", Fraction(1)).single  # type: ignore[arg-type]
            else:
                # A sign at both ends that does not change: more bits would not help.
                with pytest.raises(BallError, match="does not change its sign"):
                    optimum._bracket(place, "upper", Fraction(1))  # type: ignore[arg-type]
        assert place.bits == asked


@pytest.mark.parametrize("side", [1, -1])
def test_a_walk_stays_on_the_sharper_segment_up_to_its_end(side: int) -> None:
    # S = 3 - (t - 1)^2 on [1/2, 3/2], cut at its middle; the sharper segment is [7/8, 9/8].
    coarse, sharp = list[tuple[Fraction, Fraction]](), list[tuple[Fraction, Fraction]]()
    low, high, edge = Fraction(1, 2), Fraction(3, 2), Fraction(1, 8)

    def recorded(where: list[tuple[Fraction, Fraction]], a: Fraction, b: Fraction) -> Jet:
        where.append((a, b))
        t = ball(a, b) - 1
        return 3 - t * t, -2 * t, arb(-2)

    near = SimpleNamespace(low=1 - edge, high=1 + edge, over=lambda a, b: recorded(sharp, a, b))
    track = SimpleNamespace(cuts=(low, Fraction(1), high), jet=lambda _, a, b: recorded(coarse, a, b))
    start, end = 1 + side * Fraction(1, 2**10), high if side > 0 else low
    with precision(160):
        found = optimum._Bracket(Fraction(1), Fraction(1), 1 - abs(1 - start), 1 + abs(1 - start), True, arb(3), near)
        walk = optimum._Side(track, "upper", found, side)  # type: ignore[arg-type]
        walk.walk(start, end)
    assert walk.monotone == walk.least == end
    assert max(abs(place - 1) for piece in sharp for place in piece) == edge
    assert min(abs(place - 1) for piece in coarse for place in piece) == edge
