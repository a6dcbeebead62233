"""Spike, bulk and alignment after the step in numbers, and what their averages are known to.

Before the step the output of the network tends to E[u] E[sigma], so that the step sees Y = y - E[u] E[sigma]. With
sigma' = h1 + E[sigma''] z + s the mean slope makes the spike, the linear part turns every row, w -> (1 + nu M) w with
nu = (eta/beta) E[sigma''] and M = (1/n0) sum Y x x^T, and the rest adds noise:

    r = (eta/beta) h1 |w|,  |w|^2 = E[Y u]^2 + E[Y^2]/alpha0,  gamma = E[Y u]/|w|,
    c = (1 + (eta/beta) E[sigma''] E[Y])^2 + (eta/beta)^2 E[(sigma' - h1)^2] E[Y^2]/alpha0.

For an odd activation this is Result 3.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from giantsteps.derivations.activations.activation import Activation, integrable_square
from giantsteps.derivations.expressions.tree import ExpressionError
from giantsteps.numerics.gaussian.coefficients import HermiteConstants, hermite_constants
from giantsteps.numerics.gaussian.quadrature import MOST_UNSETTLED
from giantsteps.numerics.models.parameters import (
    EXACT,
    NOT_NEGATIVE,
    MapErrors,
    ModelError,
    ReadoutGroup,
    checked_number,
)
from giantsteps.numerics.models.readout_law import ReadoutLaw

# A mean that is zero in exact arithmetic comes out of the quadrature at the rounding of double precision.
_ZERO = 1e-11
INSTEAD = "give spike, bulk and alignment directly instead, for example spike=1, bulk=1, alignment=0.8"


@dataclass(frozen=True)
class GradientStep:
    """The step that the first layer took: alpha0 = n0/d samples, eta the learning rate over d; 0 means no step."""

    alpha0: float
    eta: float

    def __post_init__(self) -> None:
        for name in ("alpha0", "eta"):
            object.__setattr__(self, name, checked_number(name, getattr(self, name), *NOT_NEGATIVE))


class StepMap(NamedTuple):
    """Spike, bulk and alignment after a step, and how far each may be off; turn = (eta/beta) E[sigma''] E[Y].

    A group of readout weight u has the bulk 1 + 2 u turn + u^2 (c - 1 - 2 turn), `bulk_of`.
    """

    spike: float
    bulk: float
    alignment: float
    errors: MapErrors
    turn: float = 0.0
    turn_error: float = 0.0

    def bulk_of(self, weight: float) -> float:
        """c_u of a step u times as long: (1 + u turn)^2 + u^2 (the rest)."""
        if weight == 1.0 or (weight == -1.0 and self.turn == 0.0):
            return self.bulk
        return 1.0 + 2.0 * weight * self.turn + weight**2 * (self.bulk - 1.0 - 2.0 * self.turn)

    def bulk_error(self, weight: float) -> float:
        """How far c_u may be off: by the turn, which c may feel less where it is negative, and by the rest."""
        rest = self.errors.bulk - 2.0 * abs(1.0 + self.turn) * self.turn_error
        return 2.0 * abs(weight * (1.0 + weight * self.turn)) * self.turn_error + weight**2 * max(rest, 0.0)


class EvenPart(NamedTuple):
    """E[sigma] and E[sigma''], with nothing where they vanish as far as their averages tell."""

    mean: float
    curvature: float


def _cleared(found: HermiteConstants) -> HermiteConstants:
    """The constants with h1 = 0 where its average is one of rounding and tells no more: r = 0 is not a small r.

    As r -> 0 the test error tends to another limit than it has at r = 0, and the rounding of he3 is no spike. A slope
    of 1e-15 that is no rounding is taken for none as well; an average that is not settled says so by its error.
    """
    if abs(found.h1) > found.errors.h1 or found.errors.h1 > _ZERO * math.sqrt(found.h2):
        return found
    return replace(found, h1=0.0, errors=found.errors._replace(h1=0.0))


def even_part(activation: Activation) -> EvenPart:
    """What a step sees of an activation's even part; both are exactly 0.0 for an odd one."""
    student = hermite_constants(activation)
    rounded = _ZERO * math.sqrt(student.h2)
    mean, curvature = (
        0.0 if abs(value) <= max(rounded, error) else value
        for value, error in ((student.mean, student.errors.mean), (student.curvature, student.errors.curvature))
    )
    return EvenPart(mean, curvature)


@lru_cache(maxsize=512)
def gradient_step(
    activation: Activation,
    target: Activation,
    *,
    alpha0: float,
    eta: float,
    beta: float,
    noise: float = 0.0,
    mean_weight: float = 1.0,
) -> StepMap:
    """The map of one step for any activation, with the errors of its averages; see `Model.from_gradient_step`.

    mean_weight: E[u] over the neurons, which the output before the step is proportional to.
    """
    if alpha0 == 0.0 or eta == 0.0:
        return StepMap(0.0, 1.0, 0.0, EXACT)
    for role, given in (("activation", activation), ("target", target)):
        check_second_moment(role, given, 1.0, 0.0)
    try:
        student, teacher = _cleared(hermite_constants(activation)), _cleared(hermite_constants(target))
    except ExpressionError as overflow:
        raise ModelError(f"the gradient step is out of reach of double precision: {overflow}") from overflow
    _check_averages(student, teacher)
    even, rate = even_part(activation), eta / beta
    output = mean_weight * even.mean
    mean = teacher.mean - output
    # E[Y^2] with Y = y - E[u] E[sigma], as a variance and a square; the variance of a constant rounds below zero.
    square = max(teacher.h2 - teacher.mean**2, 0.0) + mean**2 if output else teacher.h2
    # Labels that the initial output explains leave no gradient: h1* and E[Y^2] are rounding, which a step may enlarge.
    left = _ZERO * math.sqrt(teacher.h2)
    if max(abs(teacher.h1), math.sqrt(square + noise)) <= left:
        length, turn = abs(rate) * math.hypot(left, left / math.sqrt(alpha0)), abs(rate * even.curvature) * left
        errors = MapErrors(abs(student.h1) * length, length**2 * student.h1_check + turn * (2.0 + turn), 0.0)
        return StepMap(0.0, 1.0, 0.0, errors, turn_error=turn)
    second = (square + noise) / alpha0
    length = math.hypot(teacher.h1, math.sqrt(second))
    alignment = teacher.h1 / length if length > 0.0 else 0.0
    turn = rate * even.curvature * mean
    if abs(even.curvature * mean) <= _ZERO * math.sqrt(student.h2 * square):
        turn = 0.0
    errors, turn_error = _errors(student, teacher, even, output, abs(rate), second, length, alpha0)
    return StepMap(
        rate * student.h1 * length,
        (1.0 + turn) ** 2 + rate**2 * second * student.h1_check if turn else 1.0 + rate**2 * second * student.h1_check,
        alignment, errors, turn, turn_error,
    )  # fmt: skip


def _check_averages(student: HermiteConstants, teacher: HermiteConstants) -> None:
    """Raises ModelError where the averages do not settle, or the map does not exist."""
    for role, found in (("activation", student), ("target", teacher)):
        if not math.isfinite(found.h2):
            raise ModelError(f"the gradient step is out of reach of double precision: averages of the {role} overflow")
        if max(found.errors.mean, found.errors.h1) > MOST_UNSETTLED * math.sqrt(found.h2):
            raise ModelError(
                f"the averages of the {role} in the gradient-step map do not settle in double precision, it varies too "
                f"fast; {INSTEAD}"
            )
    if student.obstacle:
        raise ModelError(
            f"the gradient-step map needs a finite E[(sigma' - h1)^2], and here {student.obstacle}; {INSTEAD}"
        )


def _errors(
    student: HermiteConstants,
    teacher: HermiteConstants,
    even: EvenPart,
    output: float,
    rate: float,
    second: float,
    length: float,
    alpha0: float,
) -> tuple[MapErrors, float]:
    """How far the errors of the Hermite constants move the map, and its turn, to first order."""
    if length == 0.0:
        return EXACT, 0.0
    mean = teacher.mean - output
    # An activation without even part leaves the labels and the initial rows as they are, exactly.
    output_error = student.errors.mean * abs(output / even.mean) if even.mean else 0.0
    mean_error = teacher.errors.mean + output_error
    # E[Y^2] = h2* - 2 E[u] E[sigma] E[g] + (E[u] E[sigma])^2.
    square_error = teacher.errors.h2 + 2.0 * (abs(output) * teacher.errors.mean + abs(mean) * output_error)
    second_error = square_error / alpha0
    turn_error = 0.0
    if even.curvature:
        turn_error = rate * (student.errors.curvature * abs(mean) + abs(even.curvature) * mean_error)
    length_error = (abs(teacher.h1) * teacher.errors.h1 + 0.5 * second_error) / length
    errors = MapErrors(
        spike=rate * (student.errors.h1 * length + abs(student.h1) * length_error),
        bulk=rate**2 * (second_error * student.h1_check + second * student.errors.h1_check)
        + 2.0 * abs(1.0 + rate * even.curvature * mean) * turn_error,
        alignment=(teacher.errors.h1 + abs(teacher.h1 / length) * length_error) / length,
    )
    return errors, turn_error


def check_second_moment(role: str, function: Activation, spike: float, bulk: float) -> None:
    """E[f(spike kappa + bias + sqrt(bulk) z)^2] is finite; a bias does not change whether it is."""
    if function.growth.quadratic == 0:
        return
    try:
        finite = integrable_square(function, spike, bulk)
    except ExpressionError as reason:
        raise ModelError(f"the {role} is not accepted here: {reason}") from reason
    if not finite:
        smaller = "a smaller spike or bulk, or " if bulk else ""
        raise ModelError(
            f"the second moment of the {role} is infinite when its argument has variance {spike**2 + bulk:.6g}: "
            f"give {smaller}a function that grows more slowly, for example tanh(z)"
        )


def mean_weight(readout: tuple[ReadoutGroup, ...] | ReadoutLaw) -> float:
    """E[u] over the neurons: 0.0 for a density, which is symmetric."""
    if isinstance(readout, ReadoutLaw):
        return 0.0
    return math.fsum(group.weight * group.fraction for group in readout)
