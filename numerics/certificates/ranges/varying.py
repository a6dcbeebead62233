"""Numbers over a tile of two parameters, with their slopes: every operation by the mean value theorem as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from giantsteps.numerics.certificates.ranges.intervals import Array, Intervals


@dataclass(frozen=True)
class Tiles:
    """The offsets p - p(middle) of both parameters from the middles of P tiles, each symmetric, (2, P)."""

    offsets: Intervals

    def around(self, middle: Intervals, slope: Intervals, over: Intervals) -> Varying:
        """A number that is `middle` in the middle, of these slopes (2, P) over the tile and these values (P,)."""
        moved = slope * self.offsets
        return Varying(self, middle, slope, over.within(middle + moved[0] + moved[1]))

    def parameter(self, which: int, middle: Array, over: Intervals) -> Varying:
        """One of both parameters."""
        slope = Intervals([[float(which == 0)], [float(which == 1)]]) + 0.0 * self.offsets.mid
        return Varying(self, Intervals(middle), slope, over)


@dataclass(frozen=True)
class Varying:
    """A number on every tile: at the middle, (P,), its slopes over the tile, (2, P), and its values over it, (P,).

    The values of a sum, product or quotient are what both its own rule and middle + slope offset leave: where two
    numbers move together, as a numerator and a denominator do, the second is by far the narrower.
    """

    tiles: Tiles
    middle: Intervals
    slope: Intervals
    over: Intervals

    def _made(self, middle: Intervals, slope: Intervals, over: Intervals) -> Varying:
        return self.tiles.around(middle, slope, over)

    def __add__(self, other: Any) -> Varying:
        if isinstance(other, Varying):
            return self._made(self.middle + other.middle, self.slope + other.slope, self.over + other.over)
        return Varying(self.tiles, self.middle + other, self.slope, self.over + other)

    __radd__ = __add__

    def __neg__(self) -> Varying:
        return Varying(self.tiles, -self.middle, -self.slope, -self.over)

    def __sub__(self, other: Any) -> Varying:
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> Varying:
        return (-self).__add__(other)

    def __mul__(self, other: Any) -> Varying:
        if isinstance(other, Varying):
            slope = self.slope * other.over + other.slope * self.over
            return self._made(self.middle * other.middle, slope, self.over * other.over)
        return Varying(self.tiles, self.middle * other, self.slope * other, self.over * other)

    __rmul__ = __mul__

    def inverse(self) -> Varying:
        """1/x."""
        over = self.over.inverse()
        return self._made(self.middle.inverse(), -(self.slope * (over * over)), over)

    def __truediv__(self, other: Any) -> Varying:
        return self * other.inverse() if isinstance(other, Varying) else self * (1.0 / other)


def solve_two(matrix: Sequence[Sequence[Any]], right: Sequence[Any]) -> tuple[Any, Any]:
    """Two linear equations by Cramer's rule, of intervals or of numbers that vary."""
    (a, b), (d, e) = matrix
    share = (a * e - b * d).inverse()
    return (right[0] * e - b * right[1]) * share, (a * right[1] - d * right[0]) * share
