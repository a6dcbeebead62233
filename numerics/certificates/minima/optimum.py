"""The least value of a bound along a path, certified: a bracket of the minimum, and where no value is smaller.

The squared distance D = E[g^2] - S of g to a span (`certificates.minima.bound_track`) falls where S' > 0 and rises
where S' < 0.

    bracket            D falls before it and rises after it, so that it holds a minimum; `single`: D'' > 0 there, one.
    falls_from         D falls from there to the bracket;
    rises_to           D rises from the bracket to there.
    least_on           no value of D outside the bracket and inside this interval is as small as the least one.

Where D falls up to the end of the range, or rises from its start, that end is the bracket. Where D hardly depends on t
that is said, and how much it varies.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from flint import arb

from giantsteps.numerics.balls.arithmetic import BallError, precision
from giantsteps.numerics.balls.chebyshev import Jet
from giantsteps.numerics.balls.gaussian_bounds import rational_upper
from giantsteps.numerics.certificates.minima.bound_series import Series
from giantsteps.numerics.certificates.minima.bound_track import ALGEBRA_BITS, LOWER, UPPER, Track

Ball = Any

# Relative half width of the sharper segment around the estimate, and the half widths of the brackets tried inside.
_NEAR = Fraction(1, 2**7)
# How far from the estimate the minimum may be, relative.
_FURTHEST = Fraction(1, 8)
# Newton's steps end here, relative.
_CLOSE = 1e-12
_BRACKETS = tuple(Fraction(1, 2**k) for k in range(44, 7, -2))
# Bits of the moments there: more where features come close to dependent.
_FINE_BITS = (72, 120)
_CURVED = tuple(Fraction(1, 2**k) for k in (8, 10, 13, 16, 20))
# Relative widths of the pieces on which the sign of S' is decided: where a piece of the second width is not, a value
# that is certainly larger will do; at the smallest one the search ends.
_FIRST, _LARGEST = Fraction(1, 2**40), Fraction(1, 3)
_DECIDED, _SMALLEST = Fraction(1, 2**11), Fraction(1, 2**12)
_MOST_PIECES = 1500
# A bound that varies by less has no minimum worth a name.
_FLAT = 1e-7


@dataclass(frozen=True)
class Optimum:
    """What is certain about the least value of a bound; where nothing is, `status` says why.

    bracket holds the place of the least value on least_on. at_end: it is an end of the range. variation: an upper bound
    of how much the bound varies over the range where it is flat, else nan.
    """

    status: str
    bracket: tuple[float, float] = (math.nan, math.nan)
    falls_from: float = math.nan
    rises_to: float = math.nan
    least_on: tuple[float, float] = (math.nan, math.nan)
    single: bool = False
    at_end: bool = False
    variation: float = math.nan

    @property
    def certified(self) -> bool:
        """Whether there is a bracket."""
        return not math.isnan(self.bracket[0])


def certify_minimum(track: Track, which: str, guess: float) -> Optimum:
    """The least value of a bound, `which` is "upper" or "lower", near a guess in the range of the track.

    A guess at an end of the range stands for a minimum there. Never raises for what could not be certified.
    """
    if which not in (UPPER, LOWER):
        raise ValueError(f"which bound: upper or lower, not {which!r}")
    at = Fraction(guess)
    try:
        with precision(ALGEBRA_BITS):
            flat = _flat(track, which)
            if flat is not None:
                return flat
            if at <= track.low or at >= track.high:
                return _at_end(track, which, rising=at <= track.low)
            return _inside(track, which, at)
    except BallError as reason:
        return Optimum(f"estimated: {reason}")


def _inside(track: Track, which: str, guess: Fraction) -> Optimum:
    found = _bracket(track, which, guess)
    left, right = _Side(track, which, found, -1), _Side(track, which, found, 1)
    left.walk(found.falls, track.low)
    right.walk(found.rises, track.high)
    return Optimum(
        "certified",
        (_down(found.low), _up(found.high)),
        _up(left.monotone),
        _down(right.monotone),
        (_up(left.least), _down(right.least)),
        found.single,
    )


def _at_end(track: Track, which: str, *, rising: bool) -> Optimum:
    """D falls up to the end of the range, or rises from its start."""
    end = track.low if rising else track.high
    side = _Side(track, which, _Bracket(end, end, end, end, False, track.jet(which, end, end)[0]), 1 if rising else -1)
    side.walk(end, track.high if rising else track.low)
    if side.monotone == end:
        raise BallError("the least bound was found at an end of the interval, and its slope there has no certain sign")
    places = (end, side.monotone, side.least)
    at, monotone, least = (_up(x) if x < end else _down(x) for x in places)
    if rising:
        return Optimum("certified", (at, at), at, monotone, (at, least), at_end=True)
    return Optimum("certified", (at, at), monotone, at, (least, at), at_end=True)


def _flat(track: Track, which: str) -> Optimum | None:
    """Whether the bound varies by next to nothing over the whole range."""
    hull: Ball = None
    for low, high in pairwise(track.cuts):
        try:
            value = track.jet(which, low, high)[0]
        except BallError:
            return None
        hull = value if hull is None else hull.union(value)
        if not float(hull.rad()) < _FLAT:
            return None
    spread = 2.02 * float(hull.rad())
    varies = f"varies by less than {spread:.1e}" if spread > 0.0 else "is the same"
    return Optimum(f"flat: the bound {varies} on the whole interval", variation=spread)


@dataclass(frozen=True)
class _Bracket:
    """D has a minimum in [low, high], falls on [falls, low] and rises on [high, rises]; S = value somewhere inside."""

    low: Fraction
    high: Fraction
    falls: Fraction
    rises: Fraction
    single: bool
    value: Ball
    near: Series | None = None


def _bracket(track: Track, which: str, guess: Fraction) -> _Bracket:
    found: BallError = BallError("no precision was tried")
    try:
        low, high = max(track.low, guess * (1 - _FURTHEST)), min(track.high, guess * (1 + _FURTHEST))
        guess = _refined(lambda t: track.jet(which, t, t), guess, low, high)
    except BallError:  # the sharper series may still do
        pass
    for bits in _FINE_BITS:
        try:
            near = track.near(which, guess, _dyadic(guess * _NEAR), bits)
        except BallError as reason:
            found = reason
            continue
        try:
            return _bracket_at(near, guess)
        except BallError as reason:
            found = reason
        if not any(near.over(end, end)[1].contains(0) for end in (near.low, near.high)):
            # signs that more bits would not change
            break
    raise found


def _bracket_at(near: Series, guess: Fraction) -> _Bracket:
    jet, at = near.over, _refined(lambda t: near.over(t, t), guess, near.low, near.high)
    value = jet(at, at)[0]
    for width in _CURVED:
        a, b = max(near.low, at - _dyadic(at * width)), min(near.high, at + _dyadic(at * width))
        if jet(a, b)[2] < 0 and jet(a, a)[1] > 0 and jet(b, b)[1] < 0:
            # D'' > 0 on [a, b]: one zero of the slope, wherever Newton's steps narrow it down to.
            return _Bracket(*_narrowed(jet, a, b), a, b, True, value, near)
    for width in _BRACKETS:
        a, b = at - at * width, at + at * width
        if near.low <= a and b <= near.high and jet(a, a)[1] > 0 and jet(b, b)[1] < 0:
            return _Bracket(a, b, a, b, False, value, near)
    raise BallError("the slope of the bound does not change its sign once near the estimate, as far as can be shown")


def _refined(jet: Callable[[Fraction], Jet], guess: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """Newton's steps, of midpoints: only to look at the right place."""
    at = guess
    # Where the curvature vanishes too the steps fall by a third only.
    for _ in range(60):
        _, slope, curvature = jet(at)
        bend = float(curvature.mid())
        step = float(slope.mid()) / bend if bend else math.inf
        # towards a maximum, or out of the interval
        if not bend < 0.0 or not math.isfinite(step) or not low < at - Fraction(step) < high:
            break
        at = _dyadic(at - Fraction(step), 64)
        if abs(step) < _CLOSE * at:
            break
    return at


def _narrowed(jet: Any, a: Fraction, b: Fraction) -> tuple[Fraction, Fraction]:
    """Interval Newton steps: the zero of S' in [a, b] lies in m - S'(m)/S''([a, b])."""
    for _ in range(8):
        middle = (a + b) / 2
        curvature = jet(a, b)[2]
        image = jet(middle, middle)[1] / curvature
        left, right = max(a, middle - rational_upper(image)), min(b, middle + rational_upper(-image))
        if right - left > (b - a) / 2:
            break
        a, b = left, right
    return a, b


class _Side:
    """How far to one side of a minimum D is monotone, and how far it has only larger values than the one inside."""

    def __init__(self, track: Track, which: str, found: _Bracket, side: int) -> None:
        self._track, self._which, self._found, self._side = track, which, found, side
        self._value = found.value.lower()
        self.monotone = self.least = found.low

    def walk(self, start: Fraction, end: Fraction) -> None:
        """From `start` towards `end`, piece by piece; sets `monotone` and `least`."""
        found, side = self._found, self._side
        cuts = [cut for cut in self._track.cuts if (cut - start) * side > 0 and (end - cut) * side > 0]
        stops = [*sorted(cuts, reverse=side < 0), end]
        near = None if found.near is None else (found.near.high if side > 0 else found.near.low)
        if near is not None and (near - start) * side > 0:
            stops = [near, *(stop for stop in stops if (stop - near) * side > 0)]
        self.monotone = self.least = reached = start
        width = max((found.rises - found.falls) / 8, start * _FIRST)
        least, chained = min(width / 64, start * _SMALLEST), True
        for _ in range(_MOST_PIECES):
            if reached == end:
                return
            stop = next(stop for stop in stops if (stop - reached) * side > 0)
            following = reached + side * min(width, abs(stop - reached))
            value, slope, _ = self._jet(*sorted((reached, following)))
            monotone = chained and bool(slope < 0 if side > 0 else slope > 0)
            size = abs(following - reached)
            larger = bool(value < self._value) and not (chained and size > reached * _DECIDED)
            if not monotone and not larger:
                if size <= least:
                    if not chained:
                        return
                    chained, least = False, max(least, reached * _SMALLEST)
                width = size / 2
                continue
            chained = monotone
            reached = self.least = following
            if monotone:
                self.monotone = following
            width = min(2 * width, reached * _LARGEST)

    def _jet(self, a: Fraction, b: Fraction) -> Jet:
        near = self._found.near
        try:
            if near is not None and near.low <= a and b <= near.high:
                return near.over(a, b)
            return self._track.jet(self._which, a, b)
        except BallError:
            return arb.nan(), arb.nan(), arb.nan()


def _down(x: Fraction) -> float:
    """The largest double that is at most x."""
    return float(x) if Fraction(float(x)) <= x else math.nextafter(float(x), -math.inf)


def _up(x: Fraction) -> float:
    return -_down(-x)


def _dyadic(x: Fraction, bits: int = 40) -> Fraction:
    return Fraction(round(x * 2**bits), 2**bits)
