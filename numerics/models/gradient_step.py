"""Spike, bulk and alignment after the step in numbers, and what their averages are known to.

Before the step the output of the network tends to E[u] E[sigma], so that the step sees Y = y - E[u] E[sigma]. With
sigma' = h1 + E[sigma''] z + s the mean slope makes the spike, the linear part turns every row, w -> (1 + nu M) w with
nu = (eta/beta) E[sigma''] and M = (1/n0) sum Y x x^T, and the rest adds noise:

    r = (eta/beta) h1 |w|,  |w|^2 = E[Y u]^2 + E[Y^2]/alpha0,  gamma = E[Y u]/|w|,
    c = (1 + (eta/beta) E[sigma''] E[Y])^2 + (eta/beta)^2 E[(sigma' - h1)^2] E[Y^2]/alpha0.

For an odd activation this is Result 3.1. Further steps follow by `numerics.gradient_steps.recursion`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple, cast

from giantsteps.derivations.activations.activation import Activation, integrable_square
from giantsteps.derivations.expressions.tree import ExpressionError
from giantsteps.numerics.gaussian.coefficients import HermiteConstants, hermite_constants
from giantsteps.numerics.gaussian.quadrature import MOST_UNSETTLED
from giantsteps.numerics.gradient_steps.batches import INITIAL, State
from giantsteps.numerics.gradient_steps.recursion import Reached, Step, critical_rate, states
from giantsteps.numerics.gradient_steps.same_batch import same_batch
from giantsteps.numerics.models.parameters import (
    EXACT,
    NOT_NEGATIVE,
    MapErrors,
    ModelError,
    ReadoutGroup,
    checked_flag,
    checked_number,
)
from giantsteps.numerics.models.readout_law import ReadoutLaw

# A mean that is zero in exact arithmetic comes out of the quadrature at the rounding of double precision.
_ZERO = 1e-11
INSTEAD = "give spike, bulk and alignment directly instead, for example spike=1, bulk=1, alignment=0.8"


# One number for every step, or one per step.
PerStep = float | tuple[float, ...]
MOST_STEPS = 1000


@dataclass(frozen=True)
class GradientStep:
    """The steps that the first layer took: alpha0 = n0/d samples, eta the learning rate over d; 0 means no step.

    `steps` of them, each on fresh samples, with one alpha0 and eta for all or one per step; with `same_batch` two on
    the same samples.

    Raises ModelError for a number out of range, and for as many values as there are no steps.
    """

    alpha0: PerStep
    eta: PerStep
    steps: int = 1
    same_batch: bool = False

    def __post_init__(self) -> None:
        if type(self.steps) is not int or self.steps != 1:  # a sweep makes a hundred thousand of one
            object.__setattr__(self, "steps", checked_steps(self.steps))
        for name in ("alpha0", "eta"):
            object.__setattr__(self, name, checked_per_step(name, getattr(self, name), self.steps))
        if self.same_batch is not False:
            object.__setattr__(self, "same_batch", checked_flag("same_batch", self.same_batch))
        if self.same_batch and (self.steps != 2 or isinstance(self.alpha0, tuple)):
            raise ModelError(
                "gradient steps on the same batch require two steps and one alpha0 for both: use steps=2, alpha0=2, "
                "same_batch=True"
            )

    @property
    def schedule(self) -> tuple[Step, ...]:
        """alpha0 and eta of every step."""
        if self.steps == 1:
            return (Step(cast(float, self.alpha0), cast(float, self.eta)),)
        columns = (value if isinstance(value, tuple) else (value,) * self.steps for value in (self.alpha0, self.eta))
        return tuple(Step(alpha0, eta) for alpha0, eta in zip(*columns, strict=True))

    @property
    def first(self) -> int:
        """How many leading steps change nothing."""
        return next((k for k, step in enumerate(self.schedule) if step.taken), self.steps)

    @property
    def taken(self) -> tuple[Step, ...]:
        """The steps that change something."""
        return tuple(step for step in self.schedule if step.taken)

    @property
    def several(self) -> bool:
        """Whether more than one step changes something."""
        return self.steps > 1 and len(self.taken) > 1

    @property
    def only(self) -> Step:
        """The one step that changes something, or one that does not. Raises ModelError where there are several."""
        if self.steps == 1:
            return self.schedule[0]
        if self.several:
            raise ModelError(f"this is only supported for one gradient step, and here there are {self.steps}: steps=1")
        return self.schedule[min(self.first, self.steps - 1)]

    @property
    def numbers(self) -> dict[str, float]:
        """alpha0 and eta where all steps share one, and how many steps there are if there are several."""
        found = {"alpha0": self.alpha0, "eta": self.eta} | ({"steps": self.steps} if self.steps > 1 else {})
        return {name: value for name, value in found.items() if not isinstance(value, tuple)}

    def to_dict(self) -> dict[str, object]:
        """As plain data for JSON, under the names of the command line's options."""
        numbers = {"alpha0": self.alpha0, "eta": self.eta}
        found: dict[str, object] = {k: list(x) if isinstance(x, tuple) else x for k, x in numbers.items()}
        found |= {"steps": self.steps} if self.steps > 1 else {}
        return found | ({"same_batch": True} if self.same_batch else {})

    def described(self) -> str:
        """In a line: alpha0=2, eta=3/1, steps=2."""
        parts = [f"{name}={joined(getattr(self, name))}" for name in ("alpha0", "eta")]
        parts += [f"steps={self.steps}"] if self.steps > 1 else []
        return ", ".join([*parts, *(["same batch"] if self.same_batch else [])])


def joined(value: PerStep) -> str:
    """A number, or numbers joined by /, as on the command line."""
    return "/".join(f"{x:g}" for x in (value if isinstance(value, tuple) else (value,)))


def checked_steps(given: object) -> int:
    """The number of steps. Raises ModelError for what is no whole number from 1 to MOST_STEPS."""
    number = float(given) if isinstance(given, int | float) and not isinstance(given, bool) else math.nan
    if not (number.is_integer() and 1 <= number <= MOST_STEPS):
        shown = given if math.isnan(number) else f"{number:g}"
        raise ModelError(
            f"steps = {shown} is not accepted: it has to be a whole number from 1 to {MOST_STEPS}, for example steps=2"
        )
    return int(number)


def checked_per_step(name: str, given: object, steps: int) -> PerStep:
    """One number where all steps have the same. Raises ModelError for another number of values than steps."""
    if not isinstance(given, tuple | list):
        return checked_number(name, given, *NOT_NEGATIVE)
    values = tuple(checked_number(name, value, *NOT_NEGATIVE) for value in given)
    if len(values) != steps:
        raise ModelError(
            f"{name} has {len(values)} values and there {'are' if steps > 1 else 'is'} {steps} gradient "
            f"step{'s' if steps > 1 else ''}: give one number or one per step, for example eta=(2, 1), steps=2"
        )
    return values[0] if len(set(values)) == 1 else values


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


def step_map(
    activation: Activation,
    target: Activation,
    step: GradientStep,
    *,
    beta: float,
    noise: float = 0.0,
    mean_weight: float = 1.0,
) -> StepMap:
    """The map of all steps of a schedule: `gradient_step` where one changes something, else that of the last state."""
    if not step.several:
        alpha0, eta = step.only
        return gradient_step(
            activation, target, alpha0=alpha0, eta=eta, beta=beta, noise=noise, mean_weight=mean_weight
        )
    state, errors, _ = reached(activation, target, step, beta=beta, noise=noise)[-1]
    return StepMap(state.spike, state.bulk, state.alignment, MapErrors(errors.spike, errors.bulk, errors.alignment))


def reached(
    activation: Activation, target: Activation, step: GradientStep, *, beta: float, noise: float = 0.0
) -> tuple[Reached, ...]:
    """The state after every step of a schedule, from a readout of ones; the first that changes something is mapped by
    `gradient_step`.

    Raises ModelError where a map does not exist or a state is out of reach of double precision.
    """
    leading = (Reached(INITIAL, State(0.0, 0.0, 0.0), 1.0),) * step.first
    left = step.schedule[step.first :]
    if not left:
        return leading
    made = gradient_step(activation, target, alpha0=left[0].alpha0, eta=left[0].eta, beta=beta, noise=noise)
    first = (
        State(made.spike, made.alignment, made.bulk),
        State(made.errors.spike, made.errors.alignment, made.errors.bulk),
    )
    try:
        if step.same_batch and step.several:
            return same_batch(activation, target, (left[0], left[1]), beta, noise, first)
        return leading + states(activation, target, left, beta, noise, first)
    except ExpressionError as reason:
        raise ModelError(f"the gradient steps after the first are out of reach: {reason}") from reason


def check_several(step: GradientStep, readout: tuple[ReadoutGroup, ...] | ReadoutLaw, network: bool) -> None:
    """Raises ModelError for what is only supported for one step.

    network: whether the network's own bulk is asked for.
    """
    check_uniform(readout, "one gradient step, and here there are several: use steps=1")
    if network and step.same_batch:
        raise ModelError(
            "the bulk of a network after two steps on the same batch is not known: use the isotropic bulk, "
            'bulk_model="isotropic"'
        )


def check_uniform(readout: tuple[ReadoutGroup, ...] | ReadoutLaw, supported: str) -> None:
    """Raises ModelError for another readout than ones: what it has is only `supported` elsewhere."""
    groups = () if isinstance(readout, ReadoutLaw) else readout
    parts = {
        "a density of initial readout weights": not isinstance(readout, ReadoutLaw),
        "more than one readout group": len(groups) <= 1,
        "an initial readout other than ones": all(group.weight == 1.0 and group.bulk is None for group in groups),
        "a bias": all(group.bias == 0.0 for group in groups),
    }
    for what, there in parts.items():
        if not there:
            raise ModelError(f"{what} is only supported for {supported}")


def steps_warnings(
    activation: Activation, target: Activation, step: GradientStep, beta: float, noise: float, isotropic: bool
) -> Iterator[str]:
    """What has to be known of several steps, one sentence each: that they are unstable, what the isotropic bulk omits.

    isotropic: whether the bulk is.
    """
    found, taken = reached(activation, target, step, beta=beta, noise=noise), step.schedule
    for k in range(step.first + 1, step.steps):
        critical = critical_rate(activation, taken[k].alpha0) if taken[k].taken else None
        if critical is not None and taken[k].eta / beta > critical:
            yield (
                f"gradient step {k + 1} is unstable: its eta/beta = {taken[k].eta / beta:.4g} is above "
                f"{critical:.4g}, beyond which a large spike grows in every step whatever the target; the last step "
                f"multiplies it by {found[-1].growth:.4g}"
            )
            break
    if step.same_batch:
        yield (
            "the bulk after two gradient steps on the same batch is not known, and the isotropic bulk that stands for "
            "it is off at leading order: spike, bulk and alignment are right, errors are not (0.296 for relu that "
            "learns tanh at alpha = 1.5, beta = 1, ridge 0.1, alpha0 = eta = 2, where networks have 0.276 +- 0.002); "
            "simulations of kind network have it"
        )
    elif isotropic:
        yield (
            "after several gradient steps the isotropic bulk is off at leading order: every step after the first turns "
            "the rows and spreads their norms, which it neglects; the network's own bulk (bulk model network) does "
            "not, and simulations of kind network have it"
        )


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
