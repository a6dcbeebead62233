"""Result 3.1 in numbers: spike, bulk and alignment after the step, and what their averages are known to."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

from onestep.derivations.activations.activation import Activation, integrable_square
from onestep.derivations.expressions.parser import ExpressionError
from onestep.numerics.gaussian.coefficients import HermiteConstants, hermite_constants
from onestep.numerics.gaussian.quadrature import MOST_UNSETTLED
from onestep.numerics.models.parameters import EXACT, MapErrors, ModelError

# A mean that is zero in exact arithmetic comes out of the quadrature at the rounding of double precision.
_ZERO = 1e-11
INSTEAD = "give --spike, --bulk and --alignment directly instead, for example --spike 1 --bulk 1 --alignment 0.8"


class StepMap(NamedTuple):
    """Spike, bulk and alignment after a step, and how far each may be off."""

    spike: float
    bulk: float
    alignment: float
    errors: MapErrors


@lru_cache(maxsize=512)
def gradient_step(
    activation: Activation, target: Activation, *, alpha0: float, eta: float, beta: float, noise: float = 0.0
) -> StepMap:
    """Result 3.1 with the errors of its averages; see `Model.from_gradient_step`."""
    if alpha0 == 0.0 or eta == 0.0:
        return StepMap(0.0, 1.0, 0.0, EXACT)
    for role, given in (("activation", activation), ("target", target)):
        check_second_moment(role, given, 1.0, 0.0)
    student, teacher = hermite_constants(activation), hermite_constants(target)
    _check_averages(student, teacher)
    second = (teacher.h2 + noise) / alpha0
    length = math.hypot(teacher.h1, math.sqrt(second))
    rate = eta / beta
    alignment = teacher.h1 / length if length > 0.0 else 0.0
    return StepMap(
        rate * student.h1 * length,
        1.0 + rate**2 * second * student.h1_check,
        alignment,
        _errors(student, teacher, abs(rate), second, length, alpha0),
    )


def _check_averages(student: HermiteConstants, teacher: HermiteConstants) -> None:
    """Raises ModelError where the averages do not settle, or the map does not exist."""
    for role, found in (("activation", student), ("target", teacher)):
        if max(found.errors.mean, found.errors.h1) > MOST_UNSETTLED * math.sqrt(found.h2):
            raise ModelError(
                f"the averages of the {role} in the gradient-step map do not settle in double precision, it varies too "
                f"fast; {INSTEAD}"
            )
    if abs(student.mean) > max(_ZERO * math.sqrt(student.h2), student.errors.mean):
        raise ModelError(f"the gradient-step map needs E[sigma] = 0, and here E[sigma] = {student.mean:.6g}; {INSTEAD}")
    if abs(student.curvature * teacher.mean) > _ZERO * math.sqrt(student.h2 * teacher.h2):
        raise ModelError(
            f"the gradient-step map needs E[sigma''] E[g] = 0, and here E[sigma''] = {student.curvature:.6g} and E[g] "
            f"= {teacher.mean:.6g}; {INSTEAD}"
        )
    if math.isinf(student.h1_check):
        raise ModelError(
            "the gradient-step map needs a finite E[(sigma' - h1)^2], and here it is infinite "
            f"because {student.h1_check_reason}; {INSTEAD}"
        )


def _errors(
    student: HermiteConstants, teacher: HermiteConstants, rate: float, second: float, length: float, alpha0: float
) -> MapErrors:
    """How far the errors of the Hermite constants move the map, to first order."""
    if length == 0.0:
        return EXACT
    second_error = teacher.errors.h2 / alpha0
    length_error = (abs(teacher.h1) * teacher.errors.h1 + 0.5 * second_error) / length
    return MapErrors(
        spike=rate * (student.errors.h1 * length + abs(student.h1) * length_error),
        bulk=rate**2 * (second_error * student.h1_check + second * student.errors.h1_check),
        alignment=(teacher.errors.h1 + abs(teacher.h1 / length) * length_error) / length,
    )


# Spike, bulk and alignment are a function of the same numbers, so that no more than rounding is between two of them.
SAME = 1e-12


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
