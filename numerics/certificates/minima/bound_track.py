"""Both bounds along a path, enclosed with two derivatives on intervals: moments interpolated on segments of the path.

A segment [a, b] carries the entries of both blocks of `certificates.minima.span_moments` as polynomials with errors
(`numerics.balls.chebyshev`): they are analytic in t wherever Re c > 0, and bounded there. No moment is differentiated.
"""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from giantsteps.numerics.balls.arithmetic import BallError, log_of, precision
from giantsteps.numerics.balls.chebyshev import Interpolated, Jet, ellipse, interpolated, largest, needed_points, points
from giantsteps.numerics.certificates.minima.bound_series import Dependent, Series, series
from giantsteps.numerics.certificates.minima.span_moments import SHARES, Moments, spans
from giantsteps.numerics.certificates.minima.spike_path import Constants, Path

Ball = Any

UPPER, LOWER = "upper", "lower"

# Bits of the moments on a segment: more where features come close to dependent, so that S' would be known to less than
# the error beside them, in units of the half segment. Slopes are compared with zero, not printed.
_BITS, _SLOPE_ERROR = (44, 72), 1e-5
_GUARD_BITS = 44
# Of the polynomials: their coefficients in x are large and cancel.
ALGEBRA_BITS = 192
# Share of the domain in which the moments are bounded that an ellipse fills.
_SHARE = 0.7
_RHO, _FINE_RHO = Fraction(3), Fraction(32)
# Segments end at this many times their start, at most.
_WIDEST = Fraction(3)
_ARCS = 32
_MOST_POINTS = 400


@dataclass(frozen=True)
class Segment:
    """The entries of both blocks on one interval, in the order of `Block.entries`."""

    along: tuple[Interpolated, ...]
    across: tuple[Interpolated, ...]


class Track:
    """S, S' and S'' of one bound or the other over intervals inside [low, high], 0 < low < high.

    The squared distance is E[g^2] - S. Segments are computed when they are first needed. Raises BallError, here and in
    its methods, for what cannot be enclosed.
    """

    def __init__(self, path: Path, low: Fraction, high: Fraction) -> None:
        self.path, self.low, self.high = path, low, high
        self.spans = spans(path)
        self._moments: dict[int, Moments] = {}
        with precision(_BITS[0] + _GUARD_BITS):
            self.cuts = self._cut(path.constants())
        self._segments: dict[tuple[int, int], Segment] = {}
        self._series: dict[tuple[str, int], Series | Dependent] = {}

    def jet(self, which: str, a: Fraction, b: Fraction) -> Jet:
        """S, S', S'' over [a, b], which has to lie within one segment (`cuts` has their ends)."""
        middle = (a + b) / 2
        place = next(i for i in range(len(self.cuts) - 1) if middle <= self.cuts[i + 1])
        known = self._series.get((which, place))
        if known is None:
            known = self._series[which, place] = self._sharp(which, place)
        if isinstance(known, Dependent):
            raise known
        with precision(ALGEBRA_BITS):
            return known.over(a, b)

    def near(self, which: str, t: Fraction, half: Fraction, bits: int) -> Series:
        """S and its derivatives on a short interval around t, as sharp as moments of so many bits make them."""
        with precision(bits + _GUARD_BITS):
            moments = Moments(self.path, bits)
            segment = _segment(moments, max(self.low, t - half), min(self.high, t + half), _FINE_RHO, bits)
        with precision(ALGEBRA_BITS):
            return self._computed(which, segment)

    def _sharp(self, which: str, place: int) -> Series | Dependent:
        """The series on one segment with as few bits as give a sharp slope."""
        found: Series | Dependent = Dependent()
        for bits in _BITS:
            segment = self._segment(place, bits)
            with precision(ALGEBRA_BITS):
                try:
                    found = self._computed(which, segment)
                except Dependent as reason:
                    found = reason
                    continue
                if found.errors[1] < _SLOPE_ERROR:
                    break
        return found

    def _segment(self, place: int, bits: int) -> Segment:
        known = self._segments.get((place, bits))
        if known is None:
            low, high = self.cuts[place : place + 2]
            with precision(bits + _GUARD_BITS):
                moments = self._moments.get(bits) or Moments(self.path, bits)
                self._moments[bits] = moments
                known = self._segments[place, bits] = _segment(moments, low, high, _RHO, bits)
        return known

    def _computed(self, which: str, segment: Segment) -> Series:
        n, upper, m = len(self.spans.along), self.spans.upper, len(self.spans.across)
        if which == UPPER:
            entries = [segment.along[i] for i in _upper_entries(n, upper)]
            return series(entries[:upper], entries[upper:])
        found = series(segment.along[:n], segment.along[n:])
        return found + series(segment.across[:m], segment.across[m:]) if m else found

    def _cut(self, constants: Constants) -> tuple[Fraction, ...]:
        """Ends of segments on whose ellipses 2 (Im r)^2 < Re c holds with some room."""
        cuts = [self.low]
        while cuts[-1] < self.high:
            # Towards t = 0 the features become dependent like powers of t.
            widest = min(2 * self._half_width(constants, cuts[-1]), (_WIDEST - 1) * cuts[-1])
            cuts.append(min(self.high, cuts[-1] + widest))
            if len(cuts) > 1000:
                raise BallError("the interval would need more than a thousand segments")
        # The last one is not left shorter than its neighbour.
        if len(cuts) > 2:
            cuts[-2] = _dyadic((cuts[-3] + cuts[-1]) / 2) if cuts[-1] - cuts[-2] < cuts[-2] - cuts[-3] else cuts[-2]
        return tuple(cuts)

    def _half_width(self, constants: Constants, t: Fraction) -> Fraction:
        """The widest ellipse from t on, in doubles: only a proposal, which `_segment` bounds."""
        low, high = 0.0, float(self.high - t)
        if self._fits(constants, float(t), high):
            return self.high - t
        for _ in range(12):
            half = (low + high) / 2
            low, high = (half, high) if self._fits(constants, float(t), half) else (low, half)
        return max(_dyadic(Fraction(low)), Fraction(1, 2**30))

    def _fits(self, constants: Constants, start: float, half: float) -> bool:
        rho = float(_RHO)
        slope, growth, gamma = (abs(float(x)) for x in (constants.slope, constants.growth, constants.gamma))
        for k in range(_ARCS + 1):
            angle = math.pi * k / _ARCS
            t = start + half + half * (rho * cmath.exp(1j * angle) + cmath.exp(-1j * angle) / rho) / 2
            for group in self.path.groups:
                weight = float(group.weight)
                r, c = weight * slope * t, float(group.base) + (0.0 if group.fixed else weight**2 * growth * t * t)
                total = c + r * r * (1.0 - gamma * gamma)
                if (r * gamma).imag ** 2 > _SHARE * total.real:
                    return False
                turns = [float(x) * cmath.phase(t) for x in (SHARES if t.real > 0.0 else SHARES[:1])]
                if c.real <= 0.0 or not any(
                    (r * cmath.exp(-1j * turn)).imag ** 2 / c.real + math.sin(turn) ** 2 <= _SHARE / 2 for turn in turns
                ):
                    return False
        return True


def _segment(moments: Moments, low: Fraction, high: Fraction, rho: Fraction, bits: int) -> Segment:
    sizes = _sizes(moments, low, high, rho)
    while not all(size.is_finite() for size in sizes):
        rho = (rho + 1) / 2
        if rho < Fraction(9, 8):
            raise BallError("no ellipse around a segment of the path was found on which the moments are bounded")
        sizes = _sizes(moments, low, high, rho)
    count = needed_points(max(map(log_of, sizes)), float(rho), bits)
    if count > _MOST_POINTS:
        raise BallError(f"a segment of the path would need {count} points")
    blocks = [moments.at(t) for t in points(low, high, count)]
    with precision(ALGEBRA_BITS):
        found = []
        for place in range(2):
            rows = [block[place].entries for block in blocks]
            start = 0 if place == 0 else len(blocks[0][0].entries)
            found.append(
                tuple(
                    interpolated(low, high, [row[i] for row in rows], rho, sizes[start + i])
                    for i in range(len(rows[0]))
                )
            )
    return Segment(found[0], found[1])


def _sizes(moments: Moments, low: Fraction, high: Fraction, rho: Fraction) -> list[Ball]:
    """Bounds of all entries on the ellipse: analytic functions take their largest modulus on the boundary."""
    rows = [moments.sizes(t) for t in ellipse(low, high, rho, _ARCS)]
    return [largest(column) for column in zip(*rows, strict=True)]


def _upper_entries(n: int, upper: int) -> list[int]:
    """Places of the entries among those of n features that belong to the first `upper` ones."""
    places, place = list(range(upper)), n
    for i in range(n):
        for j in range(i, n):
            if j < upper:
                places.append(place)
            place += 1
    return places


def _dyadic(x: Fraction) -> Fraction:
    return Fraction(round(x * 2**40), 2**40)
