"""A path of spiked features: spike, bulk and alignment as functions of one parameter t, in exact terms.

Group a of the readout has the argument u_a r(t) kappa + b_a + sqrt(c_a(t)) z,

    r(t) = slope t,    c_a(t) = base_a + growth_a t^2,    gamma fixed,

with t the learning rate eta~ of Result 3.1 (growth_a = u_a^2 growth, or a bulk of its own), or the spike itself
(growth 0). The numbers of Result 3.1 are enclosed, all others are the rational numbers that doubles are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from giantsteps.derivations.activations.activation import Activation
from giantsteps.numerics.balls.arithmetic import BallError, rational_ball
from giantsteps.numerics.balls.coefficients import hermite_balls
from giantsteps.numerics.models.model import UNIFORM, Model, ReadoutGroup

Ball = Any


@dataclass(frozen=True)
class Constants:
    """slope of the spike, growth of the bulk for a unit weight, gamma and rho = sqrt(1 - gamma^2), as balls."""

    slope: Ball
    growth: Ball
    gamma: Ball
    rho: Ball


@dataclass(frozen=True)
class PathGroup:
    """u and b; c = base + u^2 growth t^2, or `fixed` for all t where the group has its own bulk (base is it then)."""

    weight: Fraction
    bias: Fraction
    base: Fraction
    fixed: bool = False

    def spike(self, constants: Constants, t: Ball) -> Ball:
        """u r(t), for a real or complex ball t."""
        return rational_ball(self.weight) * constants.slope * t

    def bulk(self, constants: Constants, t: Ball) -> Ball:
        """c_a(t), for a real or complex ball t."""
        base = rational_ball(self.base)
        return base + 0 * t if self.fixed else base + rational_ball(self.weight**2) * constants.growth * (t * t)


@dataclass(frozen=True)
class Path:
    """The functions, the groups without repetitions, and what makes the constants at the precision in force.

    unequal: the rows of the bulk differ in norm, so that d mu0/dc joins what the lower bound is a distance to.
    """

    student: Activation
    target: Activation
    groups: tuple[PathGroup, ...]
    constants: Callable[[], Constants]
    unequal: bool = False

    @property
    def parity(self) -> int:
        """-1 or 1 where mu0 of every group is odd or even in kappa, 0 elsewhere."""
        sign = {"odd": -1, "even": 1}.get(self.student.parity or "", 0)
        return 0 if any(group.bias for group in self.groups) else sign


def along_spike(model: Model) -> Path:
    """t is the spike r >= 0 at the model's bulks, weights, biases and alignment. Raises BallError for other ranks."""
    if model.rank > 1:
        raise BallError("the optimum is certified for a spike of one direction")
    if model.step is not None:
        raise BallError("spike and bulk follow from the model's gradient step, and the spike does not vary alone")
    numbers = (Fraction(1), Fraction(0), Fraction(model.alignment))

    def constants() -> Constants:
        slope, growth, gamma = (rational_ball(x) for x in numbers)
        return Constants(slope, growth, gamma, rational_ball(1 - numbers[2] * numbers[2]).sqrt())

    groups = [
        PathGroup(Fraction(group.weight), Fraction(group.bias), Fraction(bulk), fixed=True)
        for group, bulk in zip(model.groups, model.bulks, strict=True)
    ]
    student = model.activation
    return Path(student, model.target, _distinct(student, groups), constants, model.unequal_norms)


def along_rate(
    student: Activation,
    target: Activation,
    *,
    alpha0: float,
    beta: float,
    noise: float = 0.0,
    groups: tuple[ReadoutGroup, ...] = UNIFORM,
    unequal: bool = False,
) -> Path:
    """t is the learning rate eta~ of Result 3.1, with h1, h1*, h2* and E[(sigma' - h1)^2] enclosed.

    Raises BallError where E[sigma] is not zero by parity, or a Hermite number has no enclosure.
    """
    if student.parity != "odd":
        raise BallError(
            f"the map of the gradient step is certified for odd activations, and {student} is not known odd"
        )
    ratio, width, variance = Fraction(alpha0), Fraction(beta), Fraction(noise)
    if ratio == 0:
        raise BallError("no gradient step was made at alpha0 = 0")

    @lru_cache(maxsize=1)
    def numbers() -> tuple[Ball, ...]:
        own, other = hermite_balls(student), hermite_balls(target)
        return own.h1.required(), own.h1_check.required(), other.h1.required(), other.h2.required()

    def constants() -> Constants:
        h1, check, first, square = numbers()
        second = (square + rational_ball(variance)) / rational_ball(ratio)
        length = (first * first + second).sqrt()
        b = rational_ball(width)
        return Constants(h1 * length / b, second * check / (b * b), first / length, second.sqrt() / length)

    given = [
        PathGroup(
            Fraction(group.weight),
            Fraction(group.bias),
            Fraction(1) if group.bulk is None else Fraction(group.bulk),
            fixed=group.bulk is not None,
        )
        for group in groups
    ]
    return Path(student, target, _distinct(student, given), constants, unequal)


def _distinct(student: Activation, groups: list[PathGroup]) -> tuple[PathGroup, ...]:
    """One of each set of groups with the same span: equal ones, and mirrored ones where sigma has a parity."""
    found: list[PathGroup] = []
    for group in groups:
        mirrored = PathGroup(-group.weight, -group.bias, group.base, group.fixed)
        known = {group, mirrored} if student.parity in ("odd", "even") else {group}
        if not any(other in known for other in found):
            found.append(group)
    return tuple(found)
