"""Arrays of intervals in double precision, every operation rounded outwards: many balls for the price of a few arrays.

An interval is [mid - rad, mid + rad]. A double-precision operation is off by at most u |result|, u = 2^-53, or by less
than the smallest normal number where it underflows; radii are sums and products of a few numbers of one sign, each of
them off by some u, and are made larger by more than that. Where an operation is not defined on all of an interval the
result is not a number, no comparison with it holds, and nothing follows from it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_UNIT = 2.0**-53
# More than sixteen roundings of a radius.
_OUTWARD = 1.0 + 2.0**-48
# Above all errors of underflow of one operation, even times the numbers of a sum.
_TINY = 1e-290


def _radius(value: Any) -> Any:
    return value * _OUTWARD + _TINY


class Intervals:
    """mid +- rad, arrays of one shape or of shapes that broadcast; in sums and products doubles are exact numbers."""

    # NumPy leaves the operations of arrays with intervals to these.
    __array_ufunc__ = None
    __slots__ = ("mid", "rad")

    def __init__(self, mid: Any, rad: Any = 0.0) -> None:
        self.mid: Any = np.asarray(mid, float)
        radii = np.asarray(rad, float)
        self.rad: Any = radii if radii.shape == self.mid.shape else np.broadcast_to(radii, self.mid.shape)

    @classmethod
    def between(cls, low: Any, high: Any) -> Intervals:
        """The narrowest with these ends inside; not a number where low > high or an end is none."""
        low, high = np.asarray(low, float), np.asarray(high, float)
        mid = low + 0.5 * (high - low)
        rad = _radius(np.maximum(high - mid, mid - low))
        return cls(np.where(low <= high, mid, np.nan), rad)

    @property
    def lower(self) -> Array:
        """No more than any number inside."""
        return np.asarray(np.nextafter(self.mid - self.rad, -np.inf))

    @property
    def upper(self) -> Array:
        """No less than any number inside."""
        return np.asarray(np.nextafter(self.mid + self.rad, np.inf))

    def __getitem__(self, places: Any) -> Intervals:
        return Intervals(self.mid[places], self.rad[places])

    def __add__(self, other: Any) -> Intervals:
        other = _interval(other)
        mid = self.mid + other.mid
        return Intervals(mid, _radius(self.rad + other.rad + _UNIT * np.abs(mid)))

    __radd__ = __add__

    def __neg__(self) -> Intervals:
        return Intervals(-self.mid, self.rad)

    def __sub__(self, other: Any) -> Intervals:
        return self + -_interval(other)

    def __rsub__(self, other: Any) -> Intervals:
        return (-self).__add__(other)

    def __mul__(self, other: Any) -> Intervals:
        other = _interval(other)
        mid, size = self.mid * other.mid, np.abs(other.mid)
        spread = np.abs(self.mid) * other.rad + self.rad * (size + other.rad)
        return Intervals(mid, _radius(spread + _UNIT * np.abs(mid)))

    __rmul__ = __mul__

    def inverse(self) -> Intervals:
        """1/x; not a number where 0 may be inside."""
        size = np.abs(self.mid)
        near, far = (size - self.rad) / _OUTWARD - _TINY, (size + self.rad) * _OUTWARD + _TINY
        most, least = 1.0 / np.where(near > 0.0, near, np.nan), 1.0 / far
        mid = 0.5 * (most + least)
        return Intervals(np.copysign(mid, self.mid), _radius(0.5 * (most - least) + 4.0 * _UNIT * most))

    def __truediv__(self, other: Any) -> Intervals:
        return self * _interval(other).inverse()

    def __rtruediv__(self, other: Any) -> Intervals:
        return self.inverse() * _interval(other)

    def within(self, other: Intervals) -> Intervals:
        """What both hold; not a number where they have nothing in common."""
        return Intervals.between(np.maximum(self.lower, other.lower), np.minimum(self.upper, other.upper))

    def inside(self, other: Intervals) -> NDArray[np.bool_]:
        """Whether it lies in the interior of the other."""
        low, high = np.nextafter(other.mid - other.rad, np.inf), np.nextafter(other.mid + other.rad, -np.inf)
        return np.asarray((self.lower > low) & (self.upper < high))

    def at(self, table: Intervals) -> Intervals:
        """sum_k x_k F_kj for rows x of nonnegative midpoints, (P, n), and a table F, (n, j)."""
        terms = table.mid.shape[0]
        size = np.abs(table.mid)
        # One product: what the entries' own radii and the roundings of the sum add for every unit of x.
        rounding = table.rad + (terms + 4) * _UNIT * size
        spread = self.rad @ (size + table.rad) + self.mid @ rounding
        return Intervals(self.mid @ table.mid, _radius(spread * (1.0 + 4.0 * terms * _UNIT)))


def _interval(number: Any) -> Intervals:
    return number if isinstance(number, Intervals) else Intervals(number)
