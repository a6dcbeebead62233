"""Numbers with a slope, of balls: what a formula of numbers of any kind gives, and how it moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flint import arb

Ball = Any


@dataclass(frozen=True)
class Moving:
    """value + slope t to first order in t."""

    value: Ball
    slope: Ball

    def __add__(self, other: Any) -> Moving:
        value, slope = _parts(other)
        return Moving(self.value + value, self.slope + slope)

    __radd__ = __add__

    def __neg__(self) -> Moving:
        return Moving(-self.value, -self.slope)

    def __sub__(self, other: Any) -> Moving:
        return self + (-_moving(other))

    def __rsub__(self, other: Any) -> Moving:
        return _moving(other) + (-self)

    def __mul__(self, other: Any) -> Moving:
        value, slope = _parts(other)
        return Moving(self.value * value, self.slope * value + self.value * slope)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Moving:
        value, slope = _parts(other)
        share = self.value / value
        return Moving(share, (self.slope - share * slope) / value)

    def __rtruediv__(self, other: Any) -> Moving:
        return _moving(other) / self

    def __pow__(self, power: float) -> Moving:
        """The square root alone."""
        assert power == 0.5
        root = self.value.sqrt()
        return Moving(root, self.slope / (2 * root))


def _parts(number: Any) -> tuple[Ball, Ball]:
    return (number.value, number.slope) if isinstance(number, Moving) else (arb(number), arb(0))


def _moving(number: Any) -> Moving:
    return number if isinstance(number, Moving) else Moving(arb(number), arb(0))
