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

from giantsteps.derivations.expressions.exact import PrecisionError, precision, rational_ball
from giantsteps.verify.compiled.program import Functions, Part, Sweep, check, parts_of
from giantsteps.verify.compiled.tape import Tape

Ball = Any
_FIRST_BITS, _GUARD, _MOST_STEPS = 64, 24, 60
# What has no start is iterated so often at most, and until nothing moves by more: a start needs no more digits.
_SWEEPS, _STARTED = 40, 2.0**-52
# How far from the doubles a response may end: rules that are too coarse, and other solutions, end farther away.
_NEAR = 0.02


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
        return Vector(list(map(join, self.values, repeat(other))))

    def __add__(self, other: Any) -> Vector:
        return self._with(add, other)

    def __mul__(self, other: Any) -> Vector:
        return self._with(mul, other)

    def __truediv__(self, other: Any) -> Vector:
        return self._with(truediv, other)

    def __rtruediv__(self, other: Any) -> Vector:
        return Vector(list(map(truediv, repeat(other), self.values)))

    __radd__, __rmul__ = __add__, __mul__


class Balls:
    """Balls at the precision in force, with one rule for each bound variable."""

    def __init__(self, rules: Mapping[str, BallRule]) -> None:
        self.rules = rules
        self.nodes = {variable: Vector(rule.nodes) for variable, rule in rules.items()}

    def number(self, value: Fraction | str) -> Any:
        """A ball around it."""
        return arb.pi() if value == "pi" else rational_ball(Fraction(value))

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

    Raises Astray where it does not converge, or to another solution.
    """
    values: dict[str, Ball] = {}
    residual, rounding, steps = arb(0), arb(0), 0
    check(tapes, given, numbers.nodes, functions)
    for part in parts_of(tuple(tapes)):
        sweep = Sweep(part, numbers, {**given, **values}, functions)
        ended = _next_to(part, sweep, start, bits)
        found = sweep(ended.x)
        gaps = [abs(value - found[name]) / (1 + abs(value)) for name, value in ended.x.items()]
        residual = max((residual, *gaps), key=float)
        for name in part.symbols:
            values[name] = found[name].mid()
            gaps.append(found[name].rad() / (1 + abs(values[name])))
        lost = ended.condition * max(gaps, key=float)
        for name in (tape.symbol for tape in part.tapes if tape.positive and tape.symbol in ended.x):
            begun = arb(start.get(name, values[name]))
            if not abs(values[name] - begun) < _NEAR * abs(begun) + 2 * lost * (1 + abs(values[name])):
                raise Astray("Newton's method led to another solution than the one in double precision")
        rounding = rounding.max(lost)
        steps += ended.steps
    return Refined(values, residual.mid(), rounding.mid(), steps)


class _Ended(NamedTuple):
    """Where Newton's method ended, by how much a gap there moves the solution, and how many steps it made."""

    x: dict[str, Ball]
    condition: Ball
    steps: int


def _next_to(part: Part, sweep: Sweep, start: Mapping[str, float], bits: int) -> _Ended:
    x = {name: arb(start.get(name, 0.0)) for name in part.unknowns}
    without = [name for name in x if name not in start]
    if without and len(without) < len(x):
        # What has no start is first iterated alone: Newton's method from zero would lead all astray.
        with precision(_FIRST_BITS):
            for _ in range(_SWEEPS):
                found = sweep(x)
                before, x = x, x | {name: found[name].mid() for name in without}
                if all(abs(x[name] - before[name]) < _STARTED * (1 + abs(x[name])) for name in without):
                    break
    return _newton(sweep, x, bits)


def _newton(sweep: Callable[[dict[str, Ball]], Mapping[str, Ball]], x: dict[str, Ball], most: int) -> _Ended:
    """Slopes are differences over 2^(-bits/2), so that a step leaves about the square of what was left before."""
    if not x:
        return _Ended(x, arb(1), 0)
    bits, wanted = _FIRST_BITS, arb(2) ** -(most // 2)
    for step in range(1, _MOST_STEPS):
        with precision(min(bits + _GUARD, most)):
            here, scales = sweep(x), {name: (1 + abs(value)).mid() for name, value in x.items()}
            rows = [[arb(int(i == j)) for j in x] for i in x]
            for j, (name, value) in enumerate(x.items()):
                move = arb(2) ** -(bits // 2) * scales[name]
                there = sweep(x | {name: value + move})
                for row, other in zip(rows, x, strict=True):
                    row[j] = (row[j] - (there[other].mid() - here[other].mid()) / move).mid()
            try:
                inverse = arb_mat(rows).inv()
            except ZeroDivisionError:
                break
            change = inverse * arb_mat([[(value - here[name]).mid()] for name, value in x.items()])
            x = {name: (value - change[k, 0]).mid() for k, (name, value) in enumerate(x.items())}
            size = max((abs(change[k, 0]) / (1 + abs(value)) for k, value in enumerate(x.values())), key=float)
        if not all(value.is_finite() for value in x.values()):
            break
        if bits == most and size < wanted:
            sizes = list(scales.values())
            moves = (
                sum((abs(inverse[i, j]) * sizes[j] for j in range(len(sizes))), arb(0)) / sizes[i]
                for i in range(len(sizes))
            )
            return _Ended(x, max(arb(1), *moves, key=float).mid(), step)
        if size < arb(2) ** -(bits // 4):
            bits = min(2 * bits, most)
    raise Astray(
        "Newton's method did not converge from the solution in double precision, as where the mean features of two "
        "groups coincide up to sign"
    )
