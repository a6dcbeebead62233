"""A certificate of the ridge saddle point: a box that contains one solution, and balls of all results from it.

    1. V has no value -1 on a rectangle around the spike, |1 + V| bounded below there (`strip`).
    2. The expectations over kappa and over z are rules with derived error bounds (`balls.rules`, `balls.averages`).
    3. Krawczyk's test shows one (T, tau) in a box (`newton`), and the rest is linear (`saddle_point`). That there is
       none outside of the box is the theorem of the ledger that `ONLY` names.

The double-precision solution only says where to look. Supported for one group, ridge > 0, on the isotropic bulk with
rows of equal norm, or on a network's own bulk (`certificates.network`); activations and targets that are analytic up to
their breakpoints and bounded by a power. On a network's own bulk the box holds one solution of all equations, those of
the resolvent included, and nothing is shown of what lies outside of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from giantsteps.derivations.expressions.exact import alone
from giantsteps.numerics.accepts import accepts
from giantsteps.numerics.balls.arithmetic import BallError, precision, rational_ball
from giantsteps.numerics.balls.growth_bounds import uncertified
from giantsteps.numerics.certificates.functions import Problem
from giantsteps.numerics.certificates.newton import Box, System, Zero, krawczyk
from giantsteps.numerics.certificates.problems import problem_of
from giantsteps.numerics.certificates.saddle_point import Enclosed, enclosed, nonlinear_system
from giantsteps.numerics.certificates.setting import setting
from giantsteps.numerics.models.documents import ORDER_PARAMETERS
from giantsteps.numerics.models.given import model_of
from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.models.notebook import Shown
from giantsteps.numerics.models.solution import Solution
from giantsteps.numerics.saddle_point.ridge import solve

Ball = Any

# The claim that the square loss has one saddle point, for one group, ridge > 0 and any law of the bulk.
ONLY = "one-solution.T"

# Relative half widths of the box that is tried first, second and so on.
_WIDTHS = (Fraction(1, 10**4), Fraction(1, 10**6), Fraction(1, 10**8), Fraction(1, 10**10))
# Of a network's own bulk: averages over labels are taken at the middle of the box alone, and the box is small.
_NETWORK_WIDTHS = (Fraction(1, 10**8), Fraction(1, 10**10), Fraction(1, 10**12))
# Bits that the recursions of averages over labels may lose.
LABEL_BITS = 24
# Of the quadrature: the first is enough unless the ridge is tiny.
_BITS = (80, 130, 200)
# Bits of rounding and of cancellation beyond those of the quadrature.
GUARD_BITS = 48


class Imprecise(BallError):
    """Raised where more bits may help."""


@dataclass(frozen=True, repr=False, eq=False)
class Certificate(Shown):
    """What is certain about the saddle point of a model.

    model: the problem.
    status: "certified", or why nothing is.
    box: (V1, V2) that holds the only solution, by the claim `only_by`; on a network's own bulk (V1, V2, b1, b2), or
        without b1 = 0, that holds exactly one.
    contraction: the Krawczyk bound in the box, < 1.
    balls: enclosures of V1, V2, m, zeta, psi, q1, q2, test_error and training_error (and chi) as flint balls.
    bits: the bits of the quadrature.

    >>> giantsteps.certify(model).digits
    22
    """

    model: Model
    status: str
    box: Box = ()
    contraction: float = math.nan
    balls: Enclosed | None = None
    bits: int = 0

    @property
    def certified(self) -> bool:
        """Whether there is a certificate."""
        return self.balls is not None

    @property
    def digits(self) -> int:
        """The number of certain significant digits of the test error."""
        # An error of exactly zero has no last digit: no more than the quadrature was asked for.
        return 0 if self.balls is None else min(certain_digits(self.balls.test_error), self.bits)

    @property
    def only_by(self) -> str:
        """The claim of the ledger by which there is no solution outside of the box; nothing without one."""
        return ONLY if self.certified and self.model.network_step is None else ""

    @alone
    def texts(self, most: int = 30) -> dict[str, str]:
        """name -> [mid +/- rad] of every ball, every printed digit certain to one unit."""
        return {} if self.balls is None else self.balls.texts(self.bits + GUARD_BITS, most)

    def to_dict(self) -> dict[str, Any]:
        """As plain data for JSON, in the words of the command line; without a certificate the status says why."""
        if not self.certified:
            nothing = dict.fromkeys(("box", "only_solution_by", "contraction", "test_error"))
            return {"status": self.status, **nothing, "digits": 0}
        texts = self.texts()
        names = ("test_error", "training_error", *ORDER_PARAMETERS, *(["chi"] if "chi" in texts else []))
        return {
            "status": self.status,
            "box": box_texts(self.box),
            "only_solution_by": self.only_by or None,
            "contraction": self.contraction,
            "test_error": texts["test_error"],
            "digits": self.digits,
            "enclosures": {name: texts[name] for name in names},
        }

    def _title(self) -> str:
        return self.model.described()

    def _columns(self) -> Mapping[str, list[str]]:
        return {"status": [self.status]} | {name: [text] for name, text in self.texts(20).items()}

    def __repr__(self) -> str:
        return f"Certificate({self.texts(12).get('test_error', self.status)})"


# The sides of a box by their number: on a network's own bulk b1 and b2, too, or b2 alone where the activation is odd.
SIDES = {0: (), 2: ("V1", "V2"), 3: ("V1", "V2", "b2"), 4: ("V1", "V2", "b1", "b2")}


def box_texts(box: Box) -> dict[str, list[str]]:
    """The box of a solution, its ends as doubles rounded inwards, so that what is printed is certain."""
    return {
        name: [
            repr(math.nextafter(float(ball.lower()), math.inf)),
            repr(math.nextafter(float(ball.upper()), -math.inf)),
        ]
        for name, ball in zip(SIDES[len(box)], box, strict=True)
    }


def certain_digits(ball: Ball) -> int:
    """How many significant decimal digits a ball is sure of."""
    return max(0, math.floor(int(ball.rel_accuracy_bits()) * math.log10(2)))


@accepts(model=model_of)
@alone
def certify(model: Model, digits: int = 12) -> Certificate:
    """The certificate of a model: a box that holds the solution, and enclosures of the errors and order parameters.

    model: the problem: square loss, one readout group, one spike direction, rows of equal norm and ridge > 0. Every
        double is read as the binary rational that it is.
    digits: the digits of the test error to aim at.

    Never raises for what could not be certified: `status` of the certificate says why.

    >>> giantsteps.certify(model).texts()["test_error"]
    '[0.1258656085337792743506 +/- 2.99e-23]'
    """
    why = unsupported(model)
    if why:
        return Certificate(model, f"not certified: {why}")
    try:
        solution = solve(model)
    except ModelError as reason:
        return Certificate(model, f"not certified: {reason}")
    found = Certificate(model, "not certified: no precision was tried")
    refused: Certificate | None = None
    for bits in _BITS:
        try:
            with precision(bits + GUARD_BITS):
                found = _certified(model, solution, bits)
        except (BallError, ModelError) as reason:
            if found.certified:
                return found
            refused = refused or Certificate(model, f"not certified: {reason}")
            if not isinstance(reason, Imprecise):
                return refused
            continue
        if found.digits >= digits:
            break
    return found if found.certified or refused is None else refused


def unsupported(model: Model) -> str:
    """Why no certificate of a model is tried; empty where one is."""
    if model.loss.name != "square":
        return "certificates are only supported for the square loss"
    if model.law is not None or len(model.groups) > 1 or model.rank > 1:
        return "certificates are only supported for the uniform readout and a spike of one direction"
    if model.gaussian_rows:
        return "certificates are only supported for rows of equal norm before the step"
    if model.network_step is not None and model.network_step.several:
        return "certificates of a network's own bulk are only supported for one gradient step"
    if model.ridge == 0.0:
        return "certificates need a positive ridge, for example 1e-3"
    refused = ((function, uncertified(function)) for function in (model.activation, model.target))
    return next((f"{function} {why}" for function, why in refused if why), "")


def started(problem: Problem, model: Model, solution: Solution) -> list[tuple[float, float]]:
    """The unknowns in double precision, each with how large it counts. Raises BallError where T or tau is no number."""
    order = solution.order_parameters
    pair = (float(order.V1[0, 0]), float(order.V2[0]))
    if not all(math.isfinite(x) and x > 0.0 for x in pair):
        raise BallError("the solution in double precision is not positive and finite")
    return [*((x, x) for x in pair), *problem.law.start(model, solution)]


def _certified(model: Model, solution: Solution, bits: int) -> Certificate:
    problem = problem_of(model, bits + LABEL_BITS)
    start = started(problem, model, solution)
    widths = _NETWORK_WIDTHS if problem.law.names else _WIDTHS
    boxes = [tuple(arb(x, (arb(size) * rational_ball(width)).upper()) for x, size in start) for width in widths]
    # What holds for the widest box holds for those inside.
    place = setting(problem, solution, boxes[0][:2], bits)
    table = place.functions(problem)
    zero = _first_zero(nonlinear_system(problem, table, place.rule, place.inverse), boxes)
    # After a short step averages over labels lose more digits than the first bits have.
    try:
        found = enclosed(problem, table, place.rule, place.inverse, zero.enclosure)
    except BallError as reason:
        raise Imprecise(str(reason)) from reason
    if not found.test_error.is_finite():
        raise Imprecise("the enclosure of the test error is not finite")
    return Certificate(model, "certified", zero.box, float(zero.contraction), found, bits)


def _first_zero(system: System, boxes: list[Box]) -> Zero:
    """The zero in the first box that passes the test. Raises the last BallError where none does."""
    for box in boxes[:-1]:
        try:
            return krawczyk(system, box)
        except BallError:
            continue
    return krawczyk(system, boxes[-1])
