"""The tube of one interval of a parameter: Krawczyk's test and the mean value theorem around the middle."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import fields
from fractions import Fraction
from typing import Any

from flint import arb, arb_mat

from giantsteps.numerics.balls.arithmetic import BallError, between
from giantsteps.numerics.certificates.functions import Functions, Problem, at_rest, narrowed
from giantsteps.numerics.certificates.newton import Box, System, Zero, krawczyk, krawczyk_near
from giantsteps.numerics.certificates.problems import problem_along
from giantsteps.numerics.certificates.saddle_point import Enclosed, enclosed, nonlinear_system
from giantsteps.numerics.certificates.setting import Setting, setting
from giantsteps.numerics.certificates.slope import Moving, slope_of, value_of
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.solution import Solution
from giantsteps.numerics.saddle_point.ridge import solve

Ball = Any

# Of the quadrature: far below the widths of the tubes.
BITS = 40
# Of the box around the solutions at the ends and in the middle.
_ROOM = 1.3
# Of the largest box that is tried over the first.
_SPARE = 6
LEAST_WIDTH = 1e-7
# Of doubles and balls: far above the errors of doubles where a box is found at all, far below what a slip would do.
_AGREEMENT = 1e-6
# Of the averages that a gradient step's map needs.
_MAP_BITS = 64


class Tubes(ABC):
    """The tubes of one branch: solutions in double precision are shared by neighbours, and settings by halves.

    bits: how precise the quadrature is, about.
    """

    bits = BITS

    def __init__(self, model: Model, parameter: str) -> None:
        self._model, self._parameter = model, parameter
        self._solutions: dict[float, Solution] = {}
        self._known: tuple[Setting, Box] | None = None

    def tube(self, low: float, high: float) -> tuple[Box, Enclosed]:
        """A box of the unknowns that holds one solution for every value, and balls for all of them.

        Raises BallError where nothing was shown, and ModelError where there is no model.
        """
        middle = low + (high - low) / 2
        rows = [self._unknowns(value) for value in (low, middle, high)]
        box = tuple(
            arb(at[1], _ROOM * max(abs(at[0] - at[1]), abs(at[2] - at[1])) + LEAST_WIDTH * size)
            for at, size in zip(zip(*rows, strict=True), self._sizes(rows[1]), strict=True)
        )
        room = tuple(arb(side.mid(), _SPARE * arb(side.rad())) for side in box)
        if not all(room[place] > 0 for place in self._positive(len(room))):
            raise BallError("the box of the interval is not positive: the solution moves too much along it")
        interval = between(Fraction(low), Fraction(high))
        zero, thin, moved = self._enclosed(middle, interval, box, room)
        _compare(thin, self._solutions[middle])
        return zero.box, _mean_value(thin, moved, interval - arb(middle))

    def _solved(self, value: float) -> Solution:
        if value not in self._solutions:
            self._solutions[value] = solve(self._model.changed(**{self._parameter: value}))
        return self._solutions[value]

    def _pair(self, value: float) -> tuple[float, float]:
        """(T, tau) in double precision."""
        order = self._solved(value).order_parameters
        pair = float(order.V1[0, 0]), float(order.V2[0])
        if not all(math.isfinite(x) and x > 0.0 for x in pair):
            raise BallError("the solution in double precision is not positive and finite")
        return pair

    def _setting(self, problem: Problem, solution: Solution, box: Box, interval: Ball) -> Setting:
        """That of an interval and a box that hold these, or one of their own."""
        asked = (*box, interval)
        if self._known is None or not all(a.contains(b) for a, b in zip(self._known[1], asked, strict=True)):
            self._known = setting(problem, solution, box, self.bits), asked
        return self._known[0]

    @abstractmethod
    def _unknowns(self, value: float) -> Sequence[float]:
        """The solution in double precision."""

    def _sizes(self, unknowns: Sequence[float]) -> Sequence[float]:
        """How large each unknown counts."""
        return unknowns

    def _positive(self, count: int) -> Sequence[int]:
        """The places of the unknowns that have to be positive."""
        return range(count)

    @abstractmethod
    def _enclosed(self, middle: float, interval: Ball, box: Box, room: Box) -> tuple[Zero, Enclosed, Enclosed]:
        """The zeros of the interval; balls at its middle; and over all of it, with slopes."""


def zeros(at: System, over: System, along: System, boxes: tuple[Box, Box], offset: Ball) -> tuple[Zero, list[Ball]]:
    """The zeros of an interval in the first of the boxes, or a wider one within the second, and their slopes.

    at: the equations in the middle of the interval, over: those of all of it, along: with slopes.
    """

    def drift(place: Box) -> list[Ball]:
        return [slope_of(value) for value in along.values(place)]

    zero = krawczyk_near(System(at.values, over.slopes, drift, offset), *boxes)
    return zero, _solution(over.slopes(zero.enclosure), [-slope for slope in drift(zero.enclosure)])


class IsotropicTubes(Tubes):
    """Tubes on the isotropic bulk, along any parameter."""

    def _unknowns(self, value: float) -> Sequence[float]:
        return self._pair(value)

    def _enclosed(self, middle: float, interval: Ball, box: Box, room: Box) -> tuple[Zero, Enclosed, Enclosed]:
        offset = interval - arb(middle)
        problems = [
            problem_along(self._model, self._parameter, value, _MAP_BITS)
            for value in (arb(middle), interval, Moving(interval, arb(1)))
        ]
        place = self._setting(problems[1], self._solutions[middle], room, interval)
        moved = place.functions(problems[2])
        # The functions move with spike, bulk and alignment alone.
        thin = moved if problems[0].fixed else place.functions(problems[0])
        moved = narrowed(moved, thin, offset)
        tables: tuple[Functions, ...] = (thin, at_rest(moved), moved)
        parts = [(table, place.rule, place.inverse) for table in tables]
        at, over, along = (nonlinear_system(problem, *part) for problem, part in zip(problems, parts, strict=True))
        zero, slopes = zeros(at, over, along, (box, room), offset)
        inner = krawczyk(at, zero.box)
        found = enclosed(problems[2], *parts[2], tuple(map(Moving, zero.enclosure, slopes)))
        return zero, enclosed(problems[0], *parts[0], inner.enclosure), found


def _compare(middle: Enclosed, doubles: Solution) -> None:
    """Raises BallError where a ball at the middle leaves out the solution in double precision: what does not move the
    unknowns of Krawczyk's test, the sign of a spike say, is not seen by it.
    """
    order = doubles.order_parameters
    known = {name: float(getattr(order, name).ravel()[0]) for name in ("m", "zeta", "psi", "q1", "q2")}
    known |= {"test_error": doubles.test_error, "training_error": doubles.training_error}
    for name, value in known.items():
        if not getattr(middle, name).overlaps(arb(value, _AGREEMENT * (1.0 + abs(value)))):
            raise BallError(f"the enclosure of {name} leaves out the solution in double precision")


def _solution(matrix: Any, right: list[Ball]) -> list[Ball]:
    try:
        found = arb_mat([list(row) for row in matrix]).solve(arb_mat([[q] for q in right]))
    except ZeroDivisionError:
        raise BallError("the slopes over the box are not shown to be invertible") from None
    return [found[i, 0] for i in range(len(right))]


def _mean_value(middle: Enclosed, moved: Enclosed, offset: Ball) -> Enclosed:
    """Every quantity by the mean value theorem, and within what the interval gave directly."""
    found: dict[str, Ball] = {}
    for field in fields(middle):
        number = getattr(moved, field.name)
        ball = getattr(middle, field.name) + slope_of(number) * offset
        if not (ball.is_finite() and ball.overlaps(value_of(number))):
            raise BallError("the enclosures of the interval are not finite, or contradict one another")
        found[field.name] = ball.intersection(value_of(number))
    return type(middle)(**found)
