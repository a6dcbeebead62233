"""mu0, mu1, mu2^2, y0, y1, y2 as functions of kappa: enclosed on the nodes of a rule, bounded around the line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from flint import arb

from giantsteps.derivations.activations.activation import Activation
from giantsteps.numerics.balls.arithmetic import BallError, rational_ball
from giantsteps.numerics.balls.averages import ORDERS, Averages, polynomial_smoothing, smoothing
from giantsteps.numerics.balls.gaussian_bounds import Envelope
from giantsteps.numerics.balls.growth_bounds import Line, average_bound
from giantsteps.numerics.balls.lattice import averages
from giantsteps.numerics.balls.rules import Along, SpikeRule, on_nodes
from giantsteps.numerics.certificates.laws import Law
from giantsteps.numerics.certificates.slope import Moving, value_of

Ball = Any


@dataclass(frozen=True)
class Problem:
    """A model of one group, ridge > 0: its functions, and its numbers as balls, or wider or with slopes (`slope`).

    law: that of the rows of the bulk (`laws`), whose norm c is the square of the scale of `along`.
    """

    student: Activation
    target: Activation
    along: Line
    teacher: Line
    alpha: Any
    beta: Any
    ridge: Any
    noise: Any
    law: Law

    @property
    def moving(self) -> bool:
        """Whether the functions along the spike move with a parameter."""
        return self.along.rates is not None or self.teacher.rates is not None

    @property
    def symmetric(self) -> bool:
        """Whether mu0 has a parity, so that V is even."""
        return self.along.bias == 0 and self.student.parity in ("odd", "even")


@dataclass(frozen=True)
class Functions:
    """mu0, mu1, kappa mu1, mu2^2, y0, y1 and y2, each `Along` the spike, with a slope where it moves.

    curved: dmu0/dc = (E z^2 f - E f)/(2 c) where rows of the bulk differ in norm, else None.
    """

    mu0: Any
    mu1: Any
    along: Any
    mu2_squared: Any
    y0: Any
    y1: Any
    y2: Any
    curved: Any = None


def bounds(problem: Problem, height: Fraction, reach: Fraction) -> Functions:
    """The functions without values: their bounds on |Im kappa| <= height; at breakpoints on |Re kappa| <= reach."""
    nothing: tuple[Ball, ...] = ()
    return _combined(
        problem,
        _identity(nothing, height),
        _bounded((nothing,) * 3, problem.student, problem.along, height, reach),
        _bounded((nothing,) * 3, problem.target, problem.teacher, height, reach),
    )


def _identity(nodes: tuple[Ball, ...], height: Fraction) -> Along:
    """kappa: |x + iy| <= max(1, height) (1 + |x|)."""
    return Along(nodes, Envelope(rational_ball(max(Fraction(1), height)).upper(), 1))


def _bounded(
    columns: tuple[tuple[Ball, ...], ...], function: Activation, line: Line, height: Fraction, reach: Fraction
) -> tuple[Along, ...]:
    """As many of the averages, in the order of ORDERS, as there are columns of values, with their bounds."""
    orders = ORDERS[: len(columns)]
    found = [average_bound(function, line.slope, line.bias, line.scale(), height, *one, reach) for one in orders]
    known = [bound for bound in found if bound is not None]
    if len(known) < len(found):
        raise BallError(f"no bound by a power was found for {function} off the real line")
    return tuple(Along(column, bound) for column, bound in zip(columns, known, strict=True))


def _moving(known: tuple[Along, ...], identity: Along, line: Line) -> tuple[Any, ...]:
    """E f, E z f, E f^2 and, where E z^2 f is known, E z^2 f - E f; with their slopes along w = slope kappa + bias and
    the scale s. By Stein's lemma

    dE f = (E z f) dw/s + (E z^2 f - E f) ds/s,
    dE z f = (E z^2 f - E f) dw/s + (E z^3 f - 2 E z f) ds/s,
    dE f^2 = (E z f^2) dw/s + (E z^2 f^2 - E f^2) ds/s,
    d(E z^2 f - E f) = (E z^3 f - 3 E z f) dw/s + (E z^4 f - 4 E z^2 f + E f) ds/s.
    """
    mean, first, square, *others = known
    if line.rates is None:
        return (mean, first, square, *(second - mean for second in others[:1]))
    second, first_square, third, second_square, *fourth = others
    turn, stretch = (rate / line.scale() for rate in line.rates)
    turn = identity * turn
    bent = second - mean
    return (
        Moving(mean, first * turn + bent * stretch),
        Moving(first, bent * turn + (third - first * arb(2)) * stretch),
        Moving(square, first_square * turn + (second_square - square) * stretch),
        *(
            Moving(bent, (third - first * arb(3)) * turn + (order_4 - second * arb(4) + mean) * stretch)
            for order_4 in fourth
        ),
    )


def functions(problem: Problem, rule: SpikeRule, height: Fraction, reach: Fraction, bits: int) -> Functions:
    """The functions on the nodes of a rule, to about 2**-bits; `reach` bounds the nodes."""
    identity = _identity(rule.nodes, height)
    found = []
    for function, line, curved in (
        (problem.student, problem.along, problem.law.curved),
        (problem.target, problem.teacher, False),
    ):
        count = (3 if line.rates is None else 7) + curved
        columns = tuple(zip(*averages_on_nodes(function, line, rule, reach, bits, count), strict=True))[:count]
        found.append(_moving(_bounded(columns, function, line, height, reach), identity, line))
    return _combined(problem, identity, *found)


def averages_on_nodes(
    function: Activation, line: Line, rule: SpikeRule, reach: Fraction, bits: int, count: int
) -> list[Averages]:
    """Of a function along a line on the nodes of a rule, to about 2**-bits, at least the first `count` of ORDERS.

    All at once where nodes are equally spaced, else one by one.
    """
    closed = line.variance == 0 or polynomial_smoothing(function, line.scale()) is not None

    def at(nodes: Sequence[Ball]) -> list[Averages]:
        if rule.step is not None and not closed:
            last = len(rule.nodes) // 2
            found = averages(function, line, rule.step, last + 1 - len(nodes), last, bits, count)
            if found is not None:
                return found
        inner = smoothing(function, line, Fraction(0), abs(line.slope) * reach + abs(line.bias), bits)
        return [inner.at(line.argument(kappa)) for kappa in nodes]

    return on_nodes(at, rule.nodes, function.parity if line.bias == 0 else "")


def _combined(problem: Problem, identity: Along, student: tuple[Any, ...], teacher: tuple[Any, ...]) -> Functions:
    mean, first, square, *bent = student
    scale: Any = problem.along.scale()
    if problem.along.rates is not None:
        scale = Moving(scale, problem.along.rates[1])
    mu1 = first * (1 / scale)
    return Functions(
        mu0=mean,
        mu1=mu1,
        along=identity * mu1,
        mu2_squared=square - mean * mean - first * first,
        y0=teacher[0],
        y1=teacher[1],
        y2=teacher[2],
        curved=bent[0] * (1 / (2 * scale * scale)) if bent else None,
    )


def at_rest(table: Functions) -> Functions:
    """The functions without their slopes."""
    return Functions(*(value_of(getattr(table, one.name)) for one in fields(table)))


def narrowed(table: Functions, middle: Functions, offset: Ball) -> Functions:
    """Functions with slopes over an interval, within middle + slope offset as well, the mean value theorem's balls.

    Directly the averages in mu2^2 = E f^2 - (E f)^2 - (E z f)^2 would move each for itself.
    """

    def one(number: Any, at: Along) -> Any:
        if not isinstance(number, Moving):
            return number
        rows = zip(number.value.values, number.slope.values, at.values, strict=True)
        values = tuple(value.intersection(start + slope * offset) for value, slope, start in rows)
        return Moving(Along(values, number.value.bound), number.slope)

    return Functions(*(one(getattr(table, field.name), getattr(middle, field.name)) for field in fields(table)))


def over_variance(table: Functions, overlap: Any, tau: Any, inverse: Ball) -> Any:
    """1/(1 + V), V = T mu1^2 + tau mu2^2; `inverse` bounds it off the line, and 1 on it, T and tau being positive."""
    variance = table.mu1 * table.mu1 * overlap + table.mu2_squared * tau
    bound = Envelope(inverse.max(arb(1)))
    weight = Along(tuple(1 / (1 + v) for v in value_of(variance).values), bound)
    return Moving(weight, -(variance.slope * (weight * weight))) if isinstance(variance, Moving) else weight
