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
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from giantsteps.derivations.expressions.exact import alone
from giantsteps.numerics.balls.arithmetic import BallError, precision
from giantsteps.numerics.certificates.certify import GUARD_BITS, LABEL_BITS, ONLY, box_texts, unsupported
from giantsteps.numerics.certificates.newton import Box
from giantsteps.numerics.certificates.problems import problem_of
from giantsteps.numerics.certificates.ranges.tubes import BITS, Tubes
from giantsteps.numerics.certificates.saddle_point import Enclosed
from giantsteps.numerics.models.model import Model, ModelError

_GIVEN, _OF_STEP = ("spike", "bulk", "alignment"), ("alpha0", "eta")
PARAMETERS = ("alpha", "beta", "ridge", "noise", *_GIVEN, *_OF_STEP)
# On a network's own bulk: those that no average over its labels depends on.
_BESIDE_STEPS = ("alpha", "ridge")
OF_A_NETWORK = ("alpha", "beta", "ridge", *_OF_STEP)

# Half width of a test error's ball over its middle, from which an interval is not halved again.
_NARROW = 0.01


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
        return {} if self.balls is None else self.balls.texts(BITS + GUARD_BITS, most, more=True)

    @property
    def width(self) -> float:
        """Half width of the test error's ball over its middle."""
        return math.inf if self.balls is None else float(self.balls.test_error.rad() / abs(self.balls.test_error.mid()))

    def to_dict(self) -> dict[str, Any]:
        """As plain data for JSON; where the piece is not certified, its status says why."""
        texts = self.texts()
        return {
            "interval": [self.low, self.high],
            "status": self.status,
            "test_error": texts.get("test_error"),
            "training_error": texts.get("training_error"),
            "box": box_texts(self.box) if self.certified else None,
        }


@dataclass(frozen=True, eq=False)
class Branch:
    """Certified intervals from one end of a parameter's range to the other; neighbours share the end between them.

    model: the problem.
    parameter: the parameter that takes all values of the range.
    pieces: the intervals: `low`, `high`, `status`, and where certified a `box` and `balls` for all values between.

    >>> giantsteps.certify_branch(model, "alpha", 1.5, 1.51).certified_fraction
    1.0
    """

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
        """The claim of the ledger by which no value has a solution outside of its box; nothing where none has a box.

        Nor on a network's own bulk, where the boxes are of the resolvent's unknowns as well.
        """
        shown = self.model.network_step is None and any(piece.certified for piece in self.pieces)
        return ONLY if shown else ""

    def to_dict(self) -> dict[str, Any]:
        """As plain data for JSON, in the words of the command line, piece by piece from the low end."""
        return {
            "parameter": self.parameter,
            "branch": [piece.to_dict() for piece in self.pieces],
            "certified_fraction": self.certified_fraction,
            "only_solution_by": self.only_by or None,
        }


@alone
def certify_branch(
    model: Model, parameter: str, low: float, high: float, most: int = 2000, step: Callable[[float], bool] | None = None
) -> Branch:
    """The certified branch for low <= parameter <= high.

    model: the problem, as for `certify`. Its own value of the parameter plays no part.
    parameter: alpha, beta, ridge, noise, spike, bulk, alignment, alpha0 or eta. On a network's own bulk: alpha, beta,
        ridge, alpha0 or eta.
    low: the low end.
    high: the high end.
    most: the largest number of intervals that are tried, from the low end on.
    step: called with the place where the next interval begins; it ends the search by returning False.

    Along alpha0 and eta, and along beta and noise after a step, the map of Result 3.1 is enclosed. Along alpha and
    ridge spike, bulk and alignment are the doubles of the model. Never raises for what could not be certified: its
    pieces say why. Raises ModelError for a range without a model.

    >>> branch = giantsteps.certify_branch(model, "alpha", 1.5, 1.51)
    >>> branch.certified, branch.pieces[0].texts()["test_error"]
    (True, '[0.1257... +/- ...]')
    """
    owned = [name for name in PARAMETERS if name not in (_GIVEN if model.step is not None else _OF_STEP)]
    if parameter not in owned:
        raise ModelError(
            f"a certified branch along {parameter} is not supported for this model; accepted are {', '.join(owned)}, "
            'for example certify_branch(model, "alpha", 1.0, 2.0)'
        )
    if not low < high:
        raise ModelError(f"a certified branch was given the range {low:g} to {high:g}; its low end comes first")
    ends = [model.changed(**{parameter: value}) for value in (low, high)]
    refused = list(map(unsupported, ends))
    # Without a rate there is no step yet, and the network's own bulk is the isotropic one.
    network = any(one.network_step is not None for one in (model, *ends))
    if network and parameter not in OF_A_NETWORK:
        refused.append(f"with a network's own bulk, branches are only supported along {', '.join(OF_A_NETWORK)}")
    if network and any(one.network_step is None for one in ends):
        refused.append("a network has its own bulk only after a step: exclude eta = 0 from the range")
    if model.step is not None and model.step.several and parameter not in model.independent:
        refused.append(f"after several gradient steps branches are only supported along {', '.join(_BESIDE_STEPS)}")
    if parameter == "bulk" and model.groups[0].bulk is not None:
        refused.append("the readout group has a bulk of its own, so the bulk of the model has no effect")
    if not any(refused):
        # What neither end has, an activation with no spike say, no value between them has.
        refused.append(_unbuilt(ends[0]) and _unbuilt(ends[1]))
    for why in refused:
        if why:
            return Branch(model, parameter, (Piece(low, high, f"not certified: {why}"),))
    tubes = Tubes(ends[0] if network else model, parameter)
    tried = 0
    pieces: list[Piece] = []
    # What is known of an interval before it is tried is what holds for the one that it is a half of.
    pending = [Piece(low, high, "not certified: the budget ended before")]
    while pending:
        piece = pending.pop()
        if tried < most and (step is None or step(piece.low)):
            found, tried = _piece(tubes, piece.low, piece.high), tried + 1
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


def _unbuilt(model: Model) -> str:
    """Why the law of a model's rows is not enclosed; empty where it is."""
    try:
        with precision(BITS + GUARD_BITS):
            problem_of(model, BITS + LABEL_BITS)
    except BallError as reason:
        return str(reason)
    return ""


def _piece(tubes: Tubes, low: float, high: float) -> Piece:
    """The tube of an interval, or why there is none."""
    try:
        box, balls = tubes.tube(low, high)
    except (BallError, ModelError) as reason:
        return Piece(low, high, f"not certified: {reason}")
    return Piece(low, high, "certified", box, balls)
