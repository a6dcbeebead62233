"""A certificate of the ridge saddle point: a box that holds one solution, and from it balls of everything.

    1. V has no value -1 on a rectangle around the spike, |1 + V| bounded below there (`strip`).
    2. The expectations over kappa and over z are rules with derived error bounds (`balls.rules`, `balls.averages`).
    3. Krawczyk's test shows one (T, tau) in a box (`newton`), and the rest is linear (`saddle_point`). That there is
       none outside of the box is the theorem of the ledger that `ONLY` names.

The double-precision solution only says where to look. Built for one group, ridge > 0, on the isotropic bulk with rows
of equal norm, or on a network's own bulk with labels without noise (`certificates.network`); activations and targets
analytic in a strip and growing like a power, or polynomials between breakpoints. On a network's own bulk the box holds
one solution of all equations, those of the resolvent included, and nothing is shown of what lies outside of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from flint import arb

from onestep.numerics.accepts import accepts
from onestep.numerics.balls.arithmetic import BallError, precision, rational_ball
from onestep.numerics.balls.averages import smoothing
from onestep.numerics.balls.growth_bounds import Line
from onestep.numerics.balls.rules import Along, SpikeRule, panels, trapezoidal
from onestep.numerics.certificates.functions import Functions, Problem, bounds, functions
from onestep.numerics.certificates.newton import Box, System, Zero, krawczyk
from onestep.numerics.certificates.saddle_point import Enclosed, enclosed, fixed_error, nonlinear_system
from onestep.numerics.certificates.strip import Student, inverse_bound
from onestep.numerics.models.documents import certificate_document
from onestep.numerics.models.given import model_of
from onestep.numerics.models.model import Model, ModelError
from onestep.numerics.models.solution import Solution
from onestep.numerics.saddle_point.ridge import solve

Ball = Any

# The claim that the square loss has one saddle point, for one group, ridge > 0 and any law of the bulk.
ONLY = "one-solution.T"

# Relative half widths of the box that is tried first, second and so on.
_WIDTHS = (Fraction(1, 10**4), Fraction(1, 10**6), Fraction(1, 10**8), Fraction(1, 10**10))
# Of a network's own bulk: averages over labels are taken at the middle of the box alone, and the box is small.
_NETWORK_WIDTHS = (Fraction(1, 10**8), Fraction(1, 10**10), Fraction(1, 10**12))
# Bits that the recursions of its averages over labels may lose.
_NETWORK_BITS = 24
_HEIGHTS = tuple(Fraction(n, 100) for n in (100, 80, 64, 50, 40, 32, 25, 20, 16, 12, 10, 8, 6, 5, 4, 3, 2, 1))
# Of the distance to the nearest zero of 1 + V as it is guessed: how high a rectangle is tried first.
_SHARE = 0.6
_MOST_NODES = 40_000
_STRIP_BITS = 64
# Of the quadrature: the first is enough unless the ridge is tiny.
_BITS = (80, 130, 200)
# Bits of rounding and of cancellation beyond those of the quadrature.
_GUARD_BITS = 48


@dataclass(frozen=True, repr=False, eq=False)
class Certificate:
    """What is certain about the saddle point of a model; where nothing is, `status` says why.

    box: a box of (V1, V2) that holds the only solution, by the claim `only_by`; on a network's own bulk a box of (V1,
    V2, b1, b2), or without b1 = 0, that holds exactly one. contraction < 1: the Krawczyk bound there. balls: enclosures
    of V1, V2, m, zeta, psi, q1, q2, test_error and training_error (and chi) as flint balls, at `bits` bits of
    quadrature.
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

    def texts(self, most: int = 30) -> dict[str, str]:
        """name -> [mid +/- rad] of every ball, every printed digit certain to one unit."""
        if self.balls is None:
            return {}
        with precision(self.bits + _GUARD_BITS):
            return {f.name: str(getattr(self.balls, f.name).str(most)) for f in fields(self.balls)}

    def to_dict(self) -> dict[str, Any]:
        """As plain data for JSON, in the words of the command line."""
        return certificate_document(self)

    def __repr__(self) -> str:
        return f"Certificate({self.texts(12).get('test_error', self.status)})"


def certain_digits(ball: Ball) -> int:
    """How many significant decimal digits a ball is sure of."""
    return max(0, math.floor(int(ball.rel_accuracy_bits()) * math.log10(2)))


@accepts(model=model_of)
def certify(model: Model, digits: int = 12) -> Certificate:
    """The certificate of a model, to at least `digits` digits of the test error where the precisions tried allow.

    Every double of the model is the binary rational that it is. Never raises for what could not be certified.
    """
    why = _unsupported(model)
    if why:
        return Certificate(model, f"not certified: {why}")
    try:
        solution = solve(model)
    except ModelError as reason:
        return Certificate(model, f"not certified: {reason}")
    found = Certificate(model, "not certified: no precision was tried")
    for bits in _BITS:
        try:
            with precision(bits + _GUARD_BITS):
                found = _certified(model, solution, bits)
        except (BallError, ModelError) as reason:
            return found if found.certified else Certificate(model, f"not certified: {reason}")
        if found.digits >= digits:
            break
    return found


def _unsupported(model: Model) -> str:
    if model.loss.name != "square":
        return "certificates are built for the square loss"
    if model.law is not None or len(model.groups) > 1 or model.rank > 1:
        return "certificates are built for the uniform readout and a spike of one direction"
    if model.gaussian_rows:
        return "certificates are built for rows of equal norm before the step"
    if model.network_step is not None and model.noise > 0.0:
        return "certificates of a network's own bulk are built for labels without noise"
    if model.ridge == 0.0:
        return "certificates need a positive ridge, for example --ridge 1e-3"
    return ""


def _certified(model: Model, solution: Solution, bits: int) -> Certificate:
    order = solution.order_parameters
    start = (float(order.V1[0, 0]), float(order.V2[0]))
    if not all(math.isfinite(x) and x > 0.0 for x in start):
        raise BallError("the solution in double precision is not positive and finite")
    if model.network_step is not None:
        return _certified_network(model, solution, bits)
    problem = _problem(model)
    boxes = [tuple(arb(x, (abs(arb(x)) * rational_ball(width)).upper()) for x in start) for width in _WIDTHS]
    # What holds for the widest box holds for those inside.
    setting = _setting(problem, solution, boxes[0], bits)
    system = nonlinear_system(problem, setting.table, setting.rule, setting.inverse)
    zero = _first_zero(system, boxes)
    found = enclosed(problem, setting.table, setting.rule, setting.inverse, zero.enclosure)
    if not found.test_error.is_finite():
        raise BallError("the enclosure of the test error is not finite")
    return Certificate(model, "certified", zero.box, float(zero.contraction), found, bits)


def _certified_network(model: Model, solution: Solution, bits: int) -> Certificate:
    # Imported here: most certificates are of the isotropic bulk.
    from onestep.numerics.certificates.network import saddle_point as network_saddle_point
    from onestep.numerics.saddle_point.one_group.network_any_precision import network_start

    network = network_saddle_point.network_problem(model, bits + _NETWORK_BITS)
    T, tau, b1, b2 = network_start(model).values
    # b1 is of the size of the square root of b2, and may be small beside it.
    sizes = [(T, T), (tau, tau), *([(b1, max(abs(b1), 1e-3 * math.sqrt(b2)))] if network.turned else []), (b2, b2)]
    boxes = [tuple(arb(x, (arb(size) * rational_ball(w)).upper()) for x, size in sizes) for w in _NETWORK_WIDTHS]
    setting = _setting(network.problem, solution, boxes[0][:2], bits)
    system = network_saddle_point.nonlinear_system(network, setting.table, setting.rule, setting.inverse)
    zero = _first_zero(system, boxes)
    curved = network_saddle_point.norm_slope(network, setting.rule, setting.height, setting.reach, bits + 8)
    found = network_saddle_point.enclosed(network, setting.table, curved, setting.rule, setting.inverse, zero.enclosure)
    if not found.test_error.is_finite():
        raise BallError("the enclosure of the test error is not finite")
    return Certificate(model, "certified", zero.box, float(zero.contraction), found, bits)


def _first_zero(system: System, boxes: list[Box]) -> Zero:
    """The zero in the first box that passes the test. Raises the last BallError where none does."""
    for box in boxes[:-1]:
        try:
            return krawczyk(system, box)
        except BallError:
            continue
    return krawczyk(system, boxes[-1])


def _problem(model: Model) -> Problem:
    gamma = Fraction(model.alignment)
    along = Line(Fraction(model.slopes[0]), Fraction(model.biases[0]), Fraction(model.bulks[0]))
    return Problem(
        model.activation,
        model.target,
        along,
        Line(gamma, Fraction(0), 1 - gamma * gamma),
        Fraction(model.alpha),
        Fraction(model.beta),
        Fraction(model.ridge),
        Fraction(model.noise),
    )


@dataclass(frozen=True)
class _Setting:
    table: Functions
    rule: SpikeRule
    inverse: Ball
    height: Fraction
    reach: Fraction


def _setting(problem: Problem, solution: Solution, box: Box, bits: int) -> _Setting:
    """The rectangle, the rule along the spike and the functions on it, for all (T, tau) in the box."""
    reach = Fraction(math.ceil(math.sqrt(2 * (bits * math.log(2) + 90))) + 2)
    widest, inverse = _rectangle(problem, box, reach)
    order = solution.order_parameters
    overlaps = tuple(arb(float(x)) for x in (order.m[0], order.zeta[0], order.psi[0]))
    smaller = [widest * Fraction(7, 10) ** n for n in range(24)]
    sizes = [(height, size) for height in smaller if (size := _largest(problem, height, overlaps, inverse)) is not None]
    if not sizes:
        raise BallError(f"no bound by a power was found for {problem.target} off the real line")
    # The widest step: 2 pi a over the logarithm of size/accuracy.
    height, size = max(sizes, key=lambda pair: float(pair[0]) / (float(pair[1].log()) + bits * math.log(2)))
    cuts = []
    if problem.teacher.variance == 0:
        places = [panel.right.place.rational() for panel in problem.target.panels if panel.right is not None]
        if any(place is None for place in places):
            raise BallError("breakpoints of the target that are not rational, at alignment 1, are not built")
        cuts = [rational_ball((place or Fraction(0)) / problem.teacher.slope) for place in places]
    a = rational_ball(height)
    rule = panels(cuts, a, bits, size, _MOST_NODES) if cuts else trapezoidal(a, bits, size, _MOST_NODES)
    if not rule.end < rational_ball(reach):
        raise BallError("the rule along the spike is longer than the rectangle on which |1 + V| was bounded")
    return _Setting(functions(problem, rule, height, reach, bits + 8), rule, inverse, height, reach)


def _rectangle(problem: Problem, box: Box, reach: Fraction) -> tuple[Fraction, Ball]:
    """The largest height tried on which |1 + V| is bounded below, and the bound of its inverse."""
    slope = abs(problem.along.slope)
    widest = slope * reach + abs(problem.along.bias)
    strip = problem.student.strip
    overlap, tau = box
    furthest = math.inf
    reason = BallError("1 + V was not shown to be free of zeros around the spike")
    with precision(_STRIP_BITS):
        for height in _HEIGHTS:
            if height > furthest or (isinstance(strip, Fraction) and 10 * slope * height > 8 * strip):
                continue
            try:
                inner = smoothing(problem.student, problem.along, slope * height, widest, 30)
            except BallError as why:
                reason = why
                continue
            student = Student(inner, problem.along)
            if furthest == math.inf:
                furthest = max(float(_HEIGHTS[-1]), _SHARE * student.distance(overlap, tau, reach, problem.symmetric))
                if height > furthest:
                    continue
            found = inverse_bound(student, overlap, tau, height, reach, problem.symmetric)
            if found is not None:
                return height, found
    raise reason


def _largest(problem: Problem, height: Fraction, overlaps: tuple[Ball, ...], inverse: Ball) -> Ball | None:
    """About the mean of the largest integrand's bound, for the choice of the rule only; None without a bound."""
    try:
        table = bounds(problem, height)
    except BallError:
        return None
    fixed = fixed_error(table, *overlaps)
    features = table.mu1 * table.mu1 + table.mu2_squared
    weight = Along((), features.bound).scaled(inverse * inverse)
    return ((fixed + features) * weight).bound.mean() + 1
