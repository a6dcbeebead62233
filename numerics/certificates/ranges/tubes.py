"""The tube of one interval of a parameter: Krawczyk's test and the mean value theorem around the middle.

Of a parameter that moves the law of a network's rows the constants of the step are balls that hold those of the
interval, with their slopes. At the middle of an interval a small box within the tube's then holds the solution, the
only one of the tube. After a short step, which leaves the readout's mean hardly any signal, roundings grow, and an
interval takes more bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from flint import arb

from giantsteps.numerics.balls.arithmetic import BallError, between, precision
from giantsteps.numerics.certificates.certify import GUARD_BITS, LABEL_BITS, SIDES, Imprecise, started
from giantsteps.numerics.certificates.functions import Functions, Problem, at_rest, narrowed
from giantsteps.numerics.certificates.newton import Box, System, Zero, krawczyk, krawczyk_near
from giantsteps.numerics.certificates.problems import problem_of
from giantsteps.numerics.certificates.saddle_point import Enclosed, enclosed, nonlinear_system, solved
from giantsteps.numerics.certificates.setting import Setting, setting
from giantsteps.numerics.certificates.slope import Moving, slope_of, value_of
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.solution import Solution
from giantsteps.numerics.saddle_point.ridge import solve

Ball = Any

# Of the quadrature: far below the widths of the tubes. Half as many again where roundings grow, until they are as many
# as a learning rate of 1e-3 requires; and how many of the test error in the middle are known, so that a tube's width is
# its own.
BITS, _MOST_BITS, _LEAST_BITS = 40, 135, 20
# Of the box around the solutions at the ends and in the middle.
_ROOM = 1.3
# Of the largest box that is tried over the first.
_SPARE = 6
LEAST_WIDTH = 1e-7
# Half width of the box in the middle, relative: far above the errors of doubles, far below a tube's.
_SMALL = 1e-9
# Of doubles and balls: far above the errors of doubles where a box is found at all, far below what a slip would do.
_AGREEMENT = 1e-6


class Tubes:
    """The tubes of one branch: solutions in double precision are shared by neighbours, and settings by halves.

    bits: how precise the quadrature is, about.
    """

    def __init__(self, model: Model, parameter: str) -> None:
        self._model, self._parameter = model, parameter
        self._solutions: dict[float, Solution] = {}
        self._at_bits(BITS)

    def _at_bits(self, bits: int) -> None:
        self.bits = bits
        self._known: tuple[Setting, Box] | None = None
        self._table: tuple[Setting, Functions] | None = None
        self._labels: Any = None

    def tube(self, low: float, high: float) -> tuple[Box, Enclosed]:
        """A box of the unknowns that holds one solution for every value, and balls for all of them.

        Raises BallError where nothing was shown, and ModelError where there is no model.
        """
        before = self.bits
        while True:
            try:
                with precision(self.bits + GUARD_BITS):
                    return self._tube(low, high)
            except BallError as reason:
                # Where no bits help the interval is too wide, and its halves may need no more than others.
                failed = self.bits >= _MOST_BITS or not isinstance(reason, Imprecise)
                bits = before if failed else 3 * self.bits // 2
                if bits != self.bits:
                    self._at_bits(bits)
                if failed:
                    raise

    def _tube(self, low: float, high: float) -> tuple[Box, Enclosed]:
        middle, interval = low + (high - low) / 2, between(Fraction(low), Fraction(high))
        first = self._problem(arb(middle))
        before, start, after = (self._started(first, value) for value in (low, middle, high))
        box = tuple(
            arb(at, _ROOM * max(abs(a - at), abs(b - at)) + LEAST_WIDTH * size)
            for (a, _), (at, size), (b, _) in zip(before, start, after, strict=True)
        )
        room = tuple(arb(side.mid(), _SPARE * arb(side.rad())) for side in box)
        if not all(side > 0 for side, name in zip(room, SIDES[len(room)], strict=True) if name != "b1"):
            raise BallError("the box of the interval is not positive: the solution moves too much along it")
        problems = [first, *(self._problem(value) for value in (interval, Moving(interval, arb(1))))]
        small = tuple(arb(x, _SMALL * size) for x, size in start) if first.law.names else None
        place = self._setting(problems[1], self._solutions[middle], room[:2], interval)
        offset = interval - arb(middle)
        parts = [
            (problem, table, place.rule, place.inverse)
            for problem, table in zip(problems, self._functions(problems, place, offset), strict=True)
        ]
        at, over, along = (nonlinear_system(*part) for part in parts)

        def inside(box: Box) -> Enclosed:
            try:
                found = enclosed(*parts[0], krawczyk(at, box).enclosure)
            except BallError as reason:
                raise Imprecise(str(reason)) from reason
            if not found.test_error.rel_accuracy_bits() > _LEAST_BITS:
                raise Imprecise("the test error in the middle of the interval is not enclosed to a millionth")
            return found

        try:
            zero, slopes = zeros(at, over, along, (box, room), offset)
            if small and not all(outer.contains(one) for outer, one in zip(zero.box, small, strict=True)):
                raise BallError("the solution at the middle of the interval is not shown to be that of its box")
            moved = enclosed(*parts[2], tuple(map(Moving, zero.enclosure, slopes)))
        except BallError:
            if small:
                inside(small)
            raise
        if not slope_of(moved.test_error).is_finite():
            raise Imprecise("the slope of the test error along the interval is not enclosed")
        thin = inside(small or zero.box)
        _compare(thin, self._solutions[middle])
        return zero.box, _mean_value(thin, moved, offset)

    def _problem(self, value: Any) -> Problem:
        """With this value of the parameter; the labels, and what is known of them, are the same for all."""
        found = problem_of(self._model, self.bits + LABEL_BITS, self._labels, **{self._parameter: value})
        self._labels = getattr(found.law, "labels", None)
        return found

    def _started(self, problem: Problem, value: float) -> list[tuple[float, float]]:
        model = self._model.changed(**{self._parameter: value})
        if value not in self._solutions:
            self._solutions[value] = solve(model)
        return started(problem, model, self._solutions[value])

    def _setting(self, problem: Problem, solution: Solution, box: Box, interval: Ball) -> Setting:
        """That of an interval and a box that hold these, or one of their own."""
        asked = (*box, interval)
        if self._known is None or not all(a.contains(b) for a, b in zip(self._known[1], asked, strict=True)):
            self._known = setting(problem, solution, box, self.bits), asked
        return self._known[0]

    def _functions(self, problems: Sequence[Problem], place: Setting, offset: Ball) -> list[Functions]:
        """The functions along the spike: in the middle, over the interval, and with slopes."""
        if not problems[2].moving:
            if self._table is None or self._table[0] is not place:
                self._table = place, place.functions(problems[0])
            return [self._table[1]] * 3
        middle = place.functions(problems[0])
        moved = narrowed(place.functions(problems[2]), middle, offset)
        return [middle, at_rest(moved), moved]


def zeros(at: System, over: System, along: System, boxes: tuple[Box, Box], offset: Ball) -> tuple[Zero, list[Ball]]:
    """The zeros of an interval in the first of the boxes, or a wider one within the second, and their slopes.

    at: the equations in the middle of the interval, over: those of all of it, along: with slopes.
    """

    def drift(place: Box) -> list[Ball]:
        return [slope_of(value) for value in along.values(place)]

    zero = krawczyk_near(System(at.values, over.slopes, drift, offset), *boxes)
    return zero, solved(over.slopes(zero.enclosure), [-slope for slope in drift(zero.enclosure)])


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


def _mean_value(middle: Enclosed, moved: Enclosed, offset: Ball) -> Enclosed:
    """Every quantity by the mean value theorem, and within what the interval gave directly."""
    found: dict[str, Ball] = {}
    for name, number in moved.named().items():
        ball = getattr(middle, name) + slope_of(number) * offset
        if not (ball.is_finite() and ball.overlaps(value_of(number))):
            raise BallError("the enclosures of the interval are not finite, or contradict one another")
        found[name] = ball.intersection(value_of(number))
    return Enclosed(**found)
