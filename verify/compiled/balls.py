"""Balls for compiled theorems, and Newton's method on them.

A function of the bound variable is its values on the nodes of one rule. Averages and solutions are midpoints: their
errors are judged by a coarser rule, and those of rounding by what the last sweep leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, repeat
from operator import add, mul, truediv
from typing import Any, NamedTuple

from flint import arb, arb_mat

from giantsteps.derivations.expressions.exact import PrecisionError, precision
from giantsteps.verify.compiled.program import Functions, Sweep, check, parts_of
from giantsteps.verify.compiled.tape import Tape

Ball = Any
_GUARD, _MOST_STEPS = 24, 60


def ball(value: Fraction | float) -> Ball:
    """The number itself: of a double, the binary rational that it is."""
    exact = Fraction(value)
    return arb(exact.numerator) / exact.denominator


def geometric(first: Ball, ratio: Ball, count: int) -> list[Ball]:
    """So many numbers, each the ratio times the one before."""
    return list(accumulate(repeat(ratio, count - 1), mul, initial=first))


class Astray(PrecisionError):
    """Newton's method did not converge from where it began."""


class BallRule(NamedTuple):
    """Nodes and weights for a bound variable; `mirrored`: with every node its negative, and zero in the middle."""

    nodes: list[Ball]
    weights: list[Ball]
    mirrored: bool = False


class Vector:
    """A function of the bound variable: its values on the nodes."""

    def __init__(self, values: Sequence[Ball]) -> None:
        self.values = values

    def _with(self, join: Callable[[Any, Any], Any], other: Any) -> Vector:
        if isinstance(other, Vector):
            return Vector(list(map(join, self.values, other.values)))
        return Vector([join(value, other) for value in self.values])

    def __add__(self, other: Any) -> Vector:
        return self._with(add, other)

    def __mul__(self, other: Any) -> Vector:
        return self._with(mul, other)

    def __truediv__(self, other: Any) -> Vector:
        return self._with(truediv, other)

    def __rtruediv__(self, other: Any) -> Vector:
        return Vector([other / value for value in self.values])

    __radd__, __rmul__ = __add__, __mul__


class Balls:
    """Balls at the precision in force, with one rule for each bound variable."""

    def __init__(self, rules: Mapping[str, BallRule]) -> None:
        self.rules = rules
        self.nodes = {variable: Vector(rule.nodes) for variable, rule in rules.items()}

    def number(self, value: Fraction | str) -> Any:
        """A ball around it."""
        return arb.pi() if value == "pi" else ball(Fraction(value))

    def root(self, value: Any) -> Any:
        """The square root."""
        return Vector([x.sqrt() for x in value.values]) if isinstance(value, Vector) else value.sqrt()

    def function(self, name: str, value: Any) -> Any:
        """A function that balls have under this name."""
        if isinstance(value, Vector):
            return Vector([getattr(x, name)() for x in value.values])
        return getattr(value, name)()

    def mean(self, variable: str, value: Any) -> Any:
        """The sum over the nodes."""
        weights = self.rules[variable].weights
        if not isinstance(value, Vector):
            return value * sum(weights, arb(0))
        return sum(map(mul, weights, value.values), arb(0))


class Refined(NamedTuple):
    """The values of all symbols, the largest gap |x - F(x)|/(1 + |x|), what rounding moves them by, and steps made."""

    values: dict[str, Ball]
    residual: Ball
    rounding: Ball
    steps: int


def refined(
    tapes: Sequence[Tape], numbers: Balls, given: Mapping[str, Ball], functions: Functions, start: Mapping[str, float],
    bits: int,
) -> Refined:  # fmt: skip
    """The solution next to one in double precision, by Newton's method at twice the bits from step to step.

    What it has no start for begins at zero. Raises Astray where it does not converge.
    """
    values: dict[str, Ball] = {}
    residual, rounding, steps = arb(0), arb(0), 0
    check(tapes, given, numbers.nodes, functions)
    for part in parts_of(tuple(tapes)):
        sweep = Sweep(part, numbers, {**given, **values}, functions)
        x, made = _newton(sweep, part.unknowns, [arb(start.get(name, 0.0)) for name in part.unknowns], bits)
        found = sweep(dict(zip(part.unknowns, x, strict=True)))
        for name, value in zip(part.unknowns, x, strict=True):
            residual = residual.max(abs(value - found[name]) / (1 + abs(value)))
        for name in part.symbols:
            values[name] = found[name].mid()
            rounding = rounding.max(found[name].rad() / (1 + abs(values[name])))
        steps += made
    return Refined(values, residual.mid(), rounding.mid(), steps)


def _newton(sweep: Sweep, names: Sequence[str], x: list[Ball], most: int) -> tuple[list[Ball], int]:
    """Slopes are differences over 2^(-bits/2), so that a step leaves about the square of what was left before."""
    if not x:
        return x, 0

    def image(x: Sequence[Ball]) -> list[Ball]:
        found = sweep(dict(zip(names, x, strict=True)))
        return [found[name].mid() for name in names]

    bits, wanted = 64, arb(2) ** -(most // 2)
    for step in range(1, _MOST_STEPS):
        with precision(min(bits + _GUARD, most)):
            moves = [arb(2) ** -(bits // 2) * (1 + abs(value)).mid() for value in x]
            here = image(x)
            columns = []
            for place, move in enumerate(moves):
                there = image([value + move * (k == place) for k, value in enumerate(x)])
                columns.append([(a - b) / move for a, b in zip(there, here, strict=True)])
            rows = [[(i == j) - columns[j][i].mid() for j in range(len(x))] for i in range(len(x))]
            try:
                change = arb_mat(rows).solve(arb_mat([[(a - b).mid()] for a, b in zip(x, here, strict=True)]))
            except ZeroDivisionError:
                break
            x = [(value - change[k, 0]).mid() for k, value in enumerate(x)]
            size = max((abs(change[k, 0]) / (1 + abs(value)) for k, value in enumerate(x)), key=float)
        if not all(value.is_finite() for value in x):
            break
        if bits == most and size < wanted:
            return x, step
        if size < arb(2) ** -(bits // 4):
            bits = min(2 * bits, most)
    raise Astray(
        "Newton's method did not converge from the solution in double precision, as where the mean features of two "
        "groups coincide up to sign"
    )
