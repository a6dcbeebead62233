"""Numbers, and functions along the spike, with a slope: what a formula of either kind gives, and how it moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flint import arb

from giantsteps.numerics.balls.arithmetic import Combined
from giantsteps.numerics.balls.rules import Along, SpikeRule

Ball = Any


@dataclass(frozen=True)
class Moving(Combined):
    """value + slope t to first order in t, each a ball, or a function along the spike; what is no Moving has slope 0.

    Where value and slope hold those of all t of an interval, so do those of what is made of them.
    """

    value: Any
    slope: Any

    def __add__(self, other: Any) -> Moving:
        if isinstance(other, Moving):
            return Moving(self.value + other.value, self.slope + other.slope)
        return Moving(self.value + other, self.slope)

    def __neg__(self) -> Moving:
        return Moving(-self.value, -self.slope)

    def __mul__(self, other: Any) -> Moving:
        if isinstance(other, Moving):
            return Moving(self.value * other.value, self.slope * other.value + self.value * other.slope)
        return Moving(self.value * other, self.slope * other)

    def __truediv__(self, other: Any) -> Moving:
        if isinstance(other, Moving):
            share = self.value / other.value
            return Moving(share, (self.slope - share * other.slope) / other.value)
        return Moving(self.value / other, self.slope / other)

    def __rtruediv__(self, other: Any) -> Moving:
        share = other / self.value
        return Moving(share, -(share * self.slope) / self.value)

    def __pow__(self, power: float) -> Any:
        """A whole power, or the square root."""
        if power == 0.5:
            return self.sqrt()
        assert power == int(power) >= 0
        return self * self ** (power - 1) if power else arb(1)

    def sqrt(self) -> Moving:
        """The square root."""
        root = self.value.sqrt()
        return Moving(root, self.slope / (2 * root))


def value_of(number: Any) -> Any:
    """Without its slope."""
    return number.value if isinstance(number, Moving) else number


def slope_of(number: Any) -> Any:
    """Of a number: zero of what does not move."""
    return number.slope if isinstance(number, Moving) else arb(0)


def expectation(rule: SpikeRule, function: Any) -> Any:
    """E over kappa of a function with or without a slope; a number is a constant function."""
    if isinstance(function, Moving):
        return Moving(expectation(rule, function.value), expectation(rule, function.slope))
    return rule.expectation(function) if isinstance(function, Along) else function
