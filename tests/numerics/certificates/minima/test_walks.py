"""How far a bound is known to fall and to be larger, by functions that are known; what a track keeps of its series."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from flint import arb, arb_poly

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.balls.arithmetic import BallError, precision, rational_ball
from giantsteps.numerics.balls.chebyshev import Jet
from giantsteps.numerics.certificates.minima import bound_track, certified_minima, optimum
from giantsteps.numerics.certificates.minima.bound_track import UPPER
from giantsteps.numerics.certificates.minima.optimum import Optimum


@dataclass
class Known:
    """S, a polynomial by its coefficients, on segments between cuts, as a track has it."""

    coefficients: tuple[float, ...]
    cuts: tuple[Fraction, ...]

    @property
    def low(self) -> Fraction:
        return self.cuts[0]

    @property
    def high(self) -> Fraction:
        return self.cuts[-1]

    def jet(self, which: str, a: Fraction, b: Fraction) -> Jet:
        t = rational_ball((a + b) / 2) + arb(0, rational_ball((b - a) / 2).upper())
        p = arb_poly(list(self.coefficients))
        return p(t), p.derivative()(t), p.derivative().derivative()(t)


def cuts(*places: float) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, places))


def walked(known: Known, at: float, side: int, radius: float = 0.0) -> tuple[float, float]:
    """How far D is monotone, and how far it is larger than at its minimum, whose S is 0 up to a radius."""
    near = 1 + side * Fraction(1, 1000)
    found = optimum._Bracket(Fraction(at), Fraction(at), min(near, Fraction(1)), max(near, Fraction(1)), True,
                             arb(0, radius))  # fmt: skip
    with precision(128):
        one = optimum._Side(known, UPPER, found, side)  # type: ignore[arg-type]
        one.walk(near, known.high if side > 0 else known.low)
    return float(one.monotone), float(one.least)


# (t - 1)^2 (t - 3.5): falls from 1 to 8/3, and is below its value at 1 up to 3.5.
RISING = Known((-3.5, 8.0, -5.5, 1.0), cuts(0.125, 0.5, 1.5, 3.0, 5.0))


def test_a_walk_ends_where_the_bound_is_as_low_again() -> None:
    monotone, least = walked(RISING, 1.0, 1)
    # To a thousandth, some of the smallest pieces.
    assert 8.0 / 3.0 * 0.997 < monotone <= 8.0 / 3.0
    assert 3.5 * 0.997 < least <= 3.5
    # Of a minimum that is known to a half it is certain to be larger down to S = -1/2.
    monotone, least = walked(RISING, 1.0, 1, radius=0.5)
    assert 8.0 / 3.0 * 0.997 < monotone <= 8.0 / 3.0
    assert RISING.coefficients[0] < -0.5
    assert (least - 1.0) ** 2 * (least - 3.5) <= -0.5
    assert least > 3.4
    # To the left it falls all the way.
    assert walked(RISING, 1.0, -1) == (0.125, 0.125)


def test_a_bound_that_falls_again_is_not_monotone_again() -> None:
    # S' = -(t - 1)(t - 2)(t - 2.8): falls, rises to less than it was, and falls.
    slope = arb_poly([-1.0]) * arb_poly([-1.0, 1.0]) * arb_poly([-2.0, 1.0]) * arb_poly([-2.8, 1.0])
    whole = slope.integral()
    shifted = whole - whole(arb(1))
    known = Known(tuple(float(c.mid()) for c in shifted.coeffs()), cuts(0.5, 2.5, 5.0))
    monotone, least = walked(known, 1.0, 1)
    assert 2.0 * 0.997 < monotone <= 2.0
    assert least == 5.0


def test_a_minimum_at_an_end_of_the_range() -> None:
    # S = (t - 2)^2 on [1, 5]: D falls from 2 on, and is least at 5; and the same the other way round.
    with precision(128):
        found = optimum._at_end(Known((4.0, -4.0, 1.0), cuts(1, 3, 5)), UPPER, rising=False)  # type: ignore[arg-type]
        assert (found.bracket, found.rises_to, found.at_end) == ((5.0, 5.0), 5.0, True)
        assert 2.0 <= found.falls_from < 2.0 * 1.003
        assert found.least_on == (1.0, 5.0)
        found = optimum._at_end(Known((16.0, -8.0, 1.0), cuts(1, 3, 5)), UPPER, rising=True)  # type: ignore[arg-type]
        assert (found.bracket, found.falls_from, found.at_end) == ((1.0, 1.0), 1.0, True)
        assert 4.0 * 0.997 < found.rises_to <= 4.0
        assert found.least_on[0] == 1.0
        assert found.least_on[1] > 4.5
        for rising in (True, False):
            with pytest.raises(BallError, match="no certain sign"):
                optimum._at_end(Known((1.0,), cuts(1, 3, 5)), UPPER, rising=rising)  # type: ignore[arg-type]


def steps(*values: float) -> Any:
    """A track with one value on each segment."""

    def jet(which: str, a: Fraction, b: Fraction) -> Jet:
        return arb(values[int(a)]), arb(0), arb(0)

    return SimpleNamespace(cuts=tuple(map(Fraction, range(len(values) + 1))), jet=jet)


def test_a_flat_bound_varies_by_no_more_than_is_said() -> None:
    with precision(128):
        for values in ((0.3, 0.3 + 0.9e-7), (0.3, 0.3 - 0.9e-7, 0.3 + 0.9e-7)):
            found = optimum._flat(steps(*values), UPPER)
            assert isinstance(found, Optimum)
            spread = max(values) - min(values)
            assert spread <= found.variation < 1.05 * spread
            assert not found.certified
        # Each segment flat, and all of them not.
        assert optimum._flat(steps(0.3, 0.3 + 1.5e-7, 0.3 + 3e-7), UPPER) is None


def test_ends_are_rounded_to_the_side_that_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    third = [Fraction(k, 7) for k in range(1, 9)]
    for x in (*third, Fraction(1, 2)):
        assert Fraction(optimum._down(x)) <= x <= Fraction(optimum._up(x))
        assert optimum._up(x) - optimum._down(x) < 3e-16
    assert optimum._down(Fraction(1, 2)) == optimum._up(Fraction(1, 2)) == 0.5

    class Side:
        def __init__(self, track: Any, which: str, found: Any, side: int) -> None:
            self.monotone, self.least = (third[1], third[0]) if side < 0 else (third[4], third[5])

        def walk(self, start: Fraction, end: Fraction) -> None:
            pass

    bracket = optimum._Bracket(third[2], third[3], third[1], third[4], True, arb(0))
    monkeypatch.setattr(optimum, "_Side", Side)
    monkeypatch.setattr(optimum, "_bracket", lambda *_: bracket)
    track: Any = SimpleNamespace(low=third[0], high=third[5])
    found = optimum._inside(track, UPPER, third[2])
    # A bracket holds the place, intervals on which something holds lie within those that were shown.
    assert Fraction(found.bracket[0]) <= third[2] < third[3] <= Fraction(found.bracket[1])
    assert third[1] <= Fraction(found.falls_from)
    assert Fraction(found.rises_to) <= third[4]
    assert third[0] <= Fraction(found.least_on[0]) < Fraction(found.least_on[1]) <= third[5]


def test_an_ellipse_is_as_wide_as_all_moments_are_bounded_on(monkeypatch: pytest.MonkeyPatch) -> None:
    block = SimpleNamespace(entries=("force", "gram"))
    moments: Any = SimpleNamespace(at=lambda t: (block, block))
    monkeypatch.setattr(bound_track, "needed_points", lambda log, rho, bits: 3)
    monkeypatch.setattr(bound_track, "interpolated", lambda low, high, values, rho, size: (rho, float(size), values))

    def segment(widest: Fraction) -> Any:
        def sizes(moments: Any, low: Any, high: Any, rho: Fraction) -> list[Any]:
            # The last entry of four is bounded on a narrower ellipse than the others.
            return [arb(k) * rational_ball(rho) if k < 4 or rho <= widest else arb.pos_inf() for k in (1, 2, 3, 4)]

        monkeypatch.setattr(bound_track, "_sizes", sizes)
        return bound_track._segment(moments, Fraction(1), Fraction(2), Fraction(3), 44)

    for widest, rho in ((Fraction(3), Fraction(3)), (Fraction(7, 4), Fraction(3, 2)), (Fraction(5, 4), Fraction(5, 4))):
        found = segment(widest)
        # Bounds are those of the ellipse that was taken.
        for entry, k in zip((*found.along, *found.across), (1, 2, 3, 4), strict=True):
            assert entry[:2] == (rho, k * float(rho))
    with pytest.raises(BallError, match="no ellipse"):
        segment(Fraction(17, 16))


@pytest.mark.parametrize(
    ("bulk_model", "rows", "unequal"),
    [("isotropic", False, False), ("network", False, True), ("isotropic", True, True), ("network", True, True)],
)
def test_norms_differ_on_a_network_and_for_normal_rows(
    bulk_model: str, rows: bool, unequal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certified_minima, "along_rate", lambda *_, unequal, **__: unequal)
    monkeypatch.setattr(certified_minima, "_best", lambda at, path, *_: path())
    tanh = activation("tanh")
    found: Any = certified_minima.best_bounds_rate(
        tanh, tanh, alpha0=2.0, beta=1.0, bulk_model=bulk_model, gaussian_rows=rows
    )
    assert found is unequal
