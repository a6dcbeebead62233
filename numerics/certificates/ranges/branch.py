"""A certified branch: tubes around the solution for all values of one parameter between two ends.

For an interval of the parameter the numbers of the problem are balls that hold all its values, and Krawczyk's test
shows that for each of them a box holds one solution, the only one by `certify.ONLY`. The implicit function theorem
gives balls of the slopes of (T, tau) along the parameter, formulas of numbers with slopes those of all that follows,
and the mean value theorem around the solution in the middle an enclosure whose width is hardly more than its range's:

    E(p) in E(middle) + E'(interval) (p - middle).

Intervals are halved until the test passes and the test error's ball is narrow; neighbours share the end between them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

from flint import arb, arb_mat

from onestep.numerics.balls.arithmetic import BallError, between, precision
from onestep.numerics.certificates.certify import GUARD_BITS, ONLY, unsupported
from onestep.numerics.certificates.functions import Problem, at_rest, narrowed
from onestep.numerics.certificates.newton import Box, System, krawczyk, krawczyk_near
from onestep.numerics.certificates.problems import problem_along
from onestep.numerics.certificates.saddle_point import Enclosed, enclosed, nonlinear_system
from onestep.numerics.certificates.setting import Setting, setting
from onestep.numerics.certificates.slope import Moving, slope_of, value_of
from onestep.numerics.models.documents import branch_document
from onestep.numerics.models.model import Model, ModelError
from onestep.numerics.models.solution import Solution
from onestep.numerics.saddle_point.ridge import solve

Ball = Any

_GIVEN, _OF_STEP = ("spike", "bulk", "alignment"), ("alpha0", "eta")
PARAMETERS = ("alpha", "beta", "ridge", "noise", *_GIVEN, *_OF_STEP)

# Of the quadrature: far below the widths of the tubes.
_BITS = 40
# Half width of a test error's ball over its middle, from which an interval is not halved again.
_NARROW = 0.01
# Of the box around the solutions at the ends and in the middle.
_ROOM = 1.3
# Of the largest box that is tried over the first.
_SPARE = 6
_LEAST_WIDTH = 1e-7
# Of doubles and balls: far above the errors of doubles where a box is found at all, far below what a slip would do.
_AGREEMENT = 1e-6
# Of the averages that a gradient step's map needs.
_MAP_BITS = 64


@dataclass(frozen=True)
class Piece:
    """An interval of the parameter; where it is certified, a box of (V1, V2) and balls for all its values."""

    low: float
    high: float
    status: str
    box: Box = ()
    balls: Enclosed | None = None

    @property
    def certified(self) -> bool:
        """Whether every value of the interval is."""
        return self.balls is not None

    def texts(self, most: int = 8) -> dict[str, str]:
        """name -> [mid +/- rad] of every ball."""
        if self.balls is None:
            return {}
        with precision(_BITS + GUARD_BITS):
            return {f.name: str(getattr(self.balls, f.name).str(most, more=True)) for f in fields(self.balls)}

    @property
    def width(self) -> float:
        """Half width of the test error's ball over its middle."""
        return math.inf if self.balls is None else float(self.balls.test_error.rad() / abs(self.balls.test_error.mid()))


@dataclass(frozen=True, eq=False)
class Branch:
    """The pieces from one end of the range to the other, each the neighbour of the next."""

    model: Model
    parameter: str
    pieces: tuple[Piece, ...]

    @property
    def certified_fraction(self) -> float:
        """The share of the range that is certified; 1.0 where all of it is, and nowhere else."""
        if all(piece.certified for piece in self.pieces):
            return 1.0
        total = Fraction(self.pieces[-1].high) - Fraction(self.pieces[0].low)
        known = sum(Fraction(piece.high) - Fraction(piece.low) for piece in self.pieces if piece.certified)
        return min(float(known / total), math.nextafter(1.0, 0.0))

    @property
    def certified(self) -> bool:
        """Whether all of the range is."""
        return all(piece.certified for piece in self.pieces)

    @property
    def only_by(self) -> str:
        """The claim of the ledger by which no value has a solution outside of its box; nothing where none has a box."""
        return ONLY if any(piece.certified for piece in self.pieces) else ""

    def to_dict(self) -> dict[str, Any]:
        """As plain data for JSON, in the words of the command line."""
        return branch_document(self)


def certify_branch(
    model: Model, parameter: str, low: float, high: float, most: int = 2000, step: Callable[[float], bool] | None = None
) -> Branch:
    """The certified branch for low <= parameter <= high.

    Along alpha0 and eta, and along beta and noise after a step, the map of Result 3.1 is enclosed; along alpha and
    ridge spike, bulk and alignment are the doubles of the model.
    At most so many intervals are tried, from the low end on; `step`, given where the next one begins, may end it, too.
    Never raises for what could not be certified: its pieces say why. Raises ModelError for a range without a model.
    """
    owned = [name for name in PARAMETERS if name not in (_GIVEN if model.step is not None else _OF_STEP)]
    if parameter not in owned:
        raise ModelError(
            f"a certified branch along {parameter} is not built for this model; accepted are {', '.join(owned)}, for "
            'example certify_branch(model, "alpha", 1.0, 2.0)'
        )
    if not low < high:
        raise ModelError(f"a certified branch was given the range {low:g} to {high:g}; its low end comes first")
    ends = [model.changed(**{parameter: value}) for value in (low, high)]
    refused = list(map(unsupported, ends))
    # Without a rate there is no step yet, and the network's own bulk is the isotropic one.
    if any(one.network_step is not None for one in (model, *ends)):
        refused.append("branches are built for the isotropic bulk")
    if parameter == "bulk" and model.groups[0].bulk is not None:
        refused.append("the bulk of the group is given, and that of the model plays no part")
    for why in refused:
        if why:
            return Branch(model, parameter, (Piece(low, high, f"not certified: {why}"),))
    tubes, tried = _Tubes(model, parameter), 0
    pieces: list[Piece] = []
    # What is known of an interval before it is tried is what holds for the one that it is a half of.
    pending = [Piece(low, high, "not certified: the budget ended before")]
    while pending:
        piece = pending.pop()
        if tried < most and (step is None or step(piece.low)):
            found, tried = tubes.piece(piece.low, piece.high), tried + 1
            if found.certified or not piece.certified:
                piece = found
            middle = piece.low + (piece.high - piece.low) / 2
            if piece.width > _NARROW and piece.low < middle < piece.high:
                known = piece
                if not piece.certified:
                    known = replace(piece, status=f"{piece.status}; the budget ended before its halves")
                pending += [replace(known, low=middle), replace(known, high=middle)]
                continue
        pieces.append(piece)
    return Branch(model, parameter, tuple(pieces))


class _Tubes:
    """The pieces of one branch: solutions in double precision are shared by neighbours, and settings by halves."""

    def __init__(self, model: Model, parameter: str) -> None:
        self._model, self._parameter = model, parameter
        self._solutions: dict[float, Solution] = {}
        self._known: tuple[Setting, Box] | None = None

    def piece(self, low: float, high: float) -> Piece:
        """The tube of an interval."""
        try:
            with precision(_BITS + GUARD_BITS):
                box, balls = self._tube(low, high)
        except (BallError, ModelError) as reason:
            return Piece(low, high, f"not certified: {reason}")
        return Piece(low, high, "certified", box, balls)

    def _tube(self, low: float, high: float) -> tuple[Box, Enclosed]:
        middle = low + (high - low) / 2
        pairs = [self._pair(value) for value in (low, middle, high)]
        box = tuple(
            arb(at[1], _ROOM * max(abs(at[0] - at[1]), abs(at[2] - at[1])) + _LEAST_WIDTH * at[1])
            for at in zip(*pairs, strict=True)
        )
        room = tuple(arb(side.mid(), _SPARE * arb(side.rad())) for side in box)
        if not all(side > 0 for side in room):
            raise BallError("the box of the interval is not positive: the solution moves too much along it")
        interval = between(Fraction(low), Fraction(high))
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
        parts = [(table, place.rule, place.inverse) for table in (thin, at_rest(moved), moved)]
        at, over, along = (nonlinear_system(problem, *part) for problem, part in zip(problems, parts, strict=True))

        def drift(at: Box) -> list[Ball]:
            return [slope_of(value) for value in along.values(at)]

        zero = krawczyk_near(System(at.values, over.slopes, drift, offset), box, room)
        inner = krawczyk(at, zero.box)
        slopes = _solution(over.slopes(zero.enclosure), [-slope for slope in drift(zero.enclosure)])
        found = enclosed(problems[2], *parts[2], tuple(map(Moving, zero.enclosure, slopes)))
        thin_found = enclosed(problems[0], *parts[0], inner.enclosure)
        _compare(thin_found, self._solutions[middle])
        return zero.box, _mean_value(thin_found, found, offset)

    def _pair(self, value: float) -> tuple[float, float]:
        if value not in self._solutions:
            self._solutions[value] = solve(self._model.changed(**{self._parameter: value}))
        order = self._solutions[value].order_parameters
        pair = float(order.V1[0, 0]), float(order.V2[0])
        if not all(math.isfinite(x) and x > 0.0 for x in pair):
            raise BallError("the solution in double precision is not positive and finite")
        return pair

    def _setting(self, problem: Problem, solution: Solution, box: Box, interval: Ball) -> Setting:
        """That of an interval and a box that hold these, or one of their own."""
        asked = (*box, interval)
        if self._known is None or not all(a.contains(b) for a, b in zip(self._known[1], asked, strict=True)):
            self._known = setting(problem, solution, box, _BITS), asked
        return self._known[0]


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
    return Enclosed(**found)
