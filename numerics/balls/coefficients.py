"""Certified coefficients of an activation: h1, h2, E[(sigma'-h1)^2], Hermite coefficients, mu0, mu1, mu2^2.

Everything is computed from its definition (equations (12) and (15) of arXiv 2402.04980) as a ball at any precision.
What is infinite is said to be infinite, with the reason; what could not be certified is said to be undecided.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.activations.local_exponents import FAR_OUT, slope_obstacles
from giantsteps.derivations.expressions.budget import at_most
from giantsteps.derivations.expressions.exact import alone
from giantsteps.numerics.balls.arithmetic import BallError, precision, rational_ball
from giantsteps.numerics.balls.integrals import MOST_OPERATIONS, InfiniteMoment, Moment, expectations

Ball = Any
Real = Fraction | int | float

_GUARD_BITS = 24
# Places that a reason names.
_MOST_NAMED = 6
_MEAN, _FIRST, _SECOND, _SLOPE_SQUARE = Moment(0, 1), Moment(1, 1), Moment(0, 2), Moment(0, 0, 2)


@dataclass(frozen=True)
class Certified:
    """A quantity with its certificate: a ball, or infinite, or undecided; the reason is a sentence unless finite.

    `bits` is the precision at which the ball was computed and has to be printed.
    """

    ball: Ball | None
    bits: int
    infinite: bool = False
    reason: str = ""

    @property
    def finite(self) -> bool:
        """Whether there is a ball."""
        return self.ball is not None

    def required(self) -> Ball:
        """The ball; raises BallError with the reason where there is none."""
        if self.ball is None:
            raise BallError(self.reason)
        return self.ball

    @property
    def radius(self) -> float:
        """An upper bound of the radius of the ball (infinite where there is none)."""
        if self.ball is None:
            return math.inf
        return float(self.ball.rad()) * (1 + 1e-9)

    @property
    def value(self) -> float:
        """The midpoint in double precision; raises BallError where there is none."""
        return float(self.required().mid())

    def digits(self, most: int | None = None) -> int:
        """The number of certain significant decimal digits."""
        accuracy = self.required().rel_accuracy_bits()
        certain = max(0, math.floor(int(accuracy) * math.log10(2)))
        return certain if most is None else min(certain, most)

    def text(self, digits: int = 30) -> str:
        """[mid +/- rad] with at most `digits` digits, every printed digit certain to one unit; or the reason."""
        if self.ball is None:
            return f"infinite: {self.reason}" if self.infinite else f"undecided: {self.reason}"
        with precision(max(self.bits, 64)):
            return str(self.ball.str(digits))

    def __str__(self) -> str:
        return self.text()


@dataclass(frozen=True)
class HermiteBalls:
    """E[sigma], h1 = E[z sigma], h2 = E[sigma^2], h1_check = E[(sigma' - h1)^2], and E[sigma''] = E[(z^2-1) sigma]."""

    mean: Certified
    h1: Certified
    h2: Certified
    h1_check: Certified
    curvature: Certified


@dataclass(frozen=True)
class ConditionalBalls:
    """mu0, mu1 and mu2^2 of the conditional Gaussian equivalence at one kappa, equation (15)."""

    mu0: Certified
    mu1: Certified
    mu2_squared: Certified


def _certified(compute: Callable[[], Ball], bits: int) -> Certified:
    """The ball that `compute` returns at a few guard bits, or the reason why there is none."""
    try:
        with precision(bits + _GUARD_BITS):
            ball = compute()
    except InfiniteMoment as reason:
        return Certified(None, bits, infinite=True, reason=str(reason))
    except BallError as reason:
        return Certified(None, bits, reason=str(reason))
    if not ball.is_finite():
        return Certified(None, bits, reason="the enclosure is not finite at this precision")
    return Certified(ball, bits)


def _square(ball: Ball) -> Ball:
    return ball * ball  # flint's ball ** 2 is not finite around 0


class _Moments:
    """Moments of one activation at one argument: all together where that works, else one by one."""

    def __init__(
        self,
        function: Activation,
        wanted: tuple[Moment, ...],
        mean: Fraction,
        variance: Fraction,
        bits: int,
        operations: int,
    ) -> None:
        self._arguments = (mean, variance, bits)
        self._operations = operations
        self._function = function
        self._known: dict[Moment, Ball] = {}
        try:
            # half of the operations: where one moment is too hard, the others still get their turn
            values = self._compute(wanted, 0.5)
        except BallError:
            return
        self._known = dict(zip(wanted, values, strict=True))

    def _compute(self, wanted: tuple[Moment, ...], share: float = 1.0) -> list[Ball]:
        mean, variance, bits = self._arguments
        given = int(share * self._operations)
        with at_most(given) as budget:
            try:
                return expectations(self._function, wanted, mean=mean, variance=variance, bits=bits, operations=given)
            finally:
                self._operations -= given - budget.left

    def of(self, moment: Moment) -> Ball:
        if moment not in self._known:
            self._known[moment] = self._compute((moment,))[0]
        return self._known[moment]


@alone
def hermite_balls(function: Activation, *, bits: int = 128, operations: int = MOST_OPERATIONS) -> HermiteBalls:
    """Certified E[sigma], h1, h2, E[(sigma' - h1)^2] and E[sigma''], equation (12), at x ~ N(0, 1).

    E[(sigma' - h1)^2] = sum_{k>=2} k s_k^2 is infinite where sigma jumps: sigma' has a Dirac part there.
    E[sigma''] is meant as E[(z^2 - 1) sigma], which exists for every square-integrable sigma.
    """
    working = bits + _GUARD_BITS
    wanted: tuple[Moment, ...] = (_MEAN, _FIRST, _SECOND, Moment(2, 1))
    derivative_reason, diverges = _derivative_obstacle(function)
    if not derivative_reason:
        wanted += (_SLOPE_SQUARE,)
    moments = _Moments(function, wanted, Fraction(0), Fraction(1), working, operations)
    if derivative_reason:
        check = Certified(None, bits, infinite=diverges, reason=derivative_reason)
    else:
        check = _certified(lambda: moments.of(_SLOPE_SQUARE) - _square(moments.of(_FIRST)), bits)
    return HermiteBalls(
        mean=_certified(lambda: moments.of(_MEAN), bits),
        h1=_certified(lambda: moments.of(_FIRST), bits),
        h2=_certified(lambda: moments.of(_SECOND), bits),
        h1_check=check,
        curvature=_certified(lambda: moments.of(Moment(2, 1)), bits),
    )


def _derivative_obstacle(function: Activation) -> tuple[str, bool]:
    """Why E[(sigma' - h1)^2] is not accessible (empty where nothing stands in the way), and whether it is infinite."""
    found = slope_obstacles(function)
    if found.jumps:
        some = sorted(found.jumps, key=lambda b: abs(b.value))[:_MOST_NAMED]
        more = f" and {len(found.jumps) - len(some)} more places" if len(found.jumps) > len(some) else ""
        places = ", ".join(str(b.location) for b in some) + more
        return (
            f"sigma jumps at z = {places}, so sigma' has a Dirac delta there and E[(sigma' - h1)^2] diverges; "
            "Result 3.1 does not apply, the spiked random features model does"
        ), True
    if found.steep:
        return (
            f"sigma rises like a square root (or faster) at z = {found.steep[0].location}, so sigma'^2 is not "
            "integrable there and E[(sigma' - h1)^2] diverges; Result 3.1 does not apply, the spiked random features "
            "model does"
        ), True
    if found.undecided:
        places = ", ".join(str(b.location) for b in found.undecided)
        return f"sigma' is unbounded at z = {places}, and whether its square is integrable was not decided", False
    if found.unbounded:
        places = ", ".join(str(b.location) for b in found.unbounded)
        why = "where its square is integrable, and no average of it is certified"
        return f"sigma' is unbounded at z = {places}, {why}", False
    if found.far:
        why = "and whether the square of sigma' is integrable was not decided"
        return f"sigma could jump, or rise like a root, {FAR_OUT}, {why}", False
    return "", False


@alone
def hermite_coefficients_ball(
    function: Activation, order: int, *, bits: int = 128, operations: int = MOST_OPERATIONS
) -> tuple[Certified, ...]:
    """Certified s_k = E[He_k(z) sigma(z)]/sqrt(k!) for k = 0 .. order, He_k the probabilists' Hermite polynomials."""
    if order < 0:
        raise BallError(f"the order of a Hermite coefficient is at least 0, not {order}")
    # the integrals are of the size sqrt(k!): their absolute goal is lowered by as many bits
    extra = max(0, math.ceil(math.lgamma(order + 1) / (2 * math.log(2))))
    wanted = tuple(Moment(k, 1) for k in range(order + 1))
    moments = _Moments(function, wanted, Fraction(0), Fraction(1), bits + _GUARD_BITS + extra // 2, operations)

    def coefficient(k: int) -> Certified:
        return _certified(lambda: moments.of(Moment(k, 1)) / arb(math.factorial(k)).sqrt(), bits)

    return tuple(coefficient(k) for k in range(order + 1))


@alone
def conditional_balls(
    function: Activation,
    *,
    spike: Real,
    bulk: Real,
    kappa: Real,
    bias: Real = 0,
    bits: int = 128,
    operations: int = MOST_OPERATIONS,
) -> ConditionalBalls:
    """Certified mu0, mu1, mu2^2 at x = spike kappa + bias + sqrt(bulk) z, equation (15); O(1) in d.

    mu0 = E sigma(x), mu1 = E[z sigma(x)]/sqrt(bulk), mu2^2 = E[sigma(x)^2] - mu0^2 - bulk mu1^2.
    Floats are taken as the binary rationals that they are.  Raises BallError for bulk <= 0.
    """
    variance = Fraction(bulk)
    if variance <= 0:
        raise BallError(f"the bulk variance must be positive, not {bulk}")
    mean = Fraction(spike) * Fraction(kappa) + Fraction(bias)
    working = bits + _GUARD_BITS
    moments = _Moments(function, (_MEAN, _FIRST, _SECOND), mean, variance, working, operations)
    return ConditionalBalls(
        mu0=_certified(lambda: moments.of(_MEAN), bits),
        mu1=_certified(lambda: moments.of(_FIRST) / rational_ball(variance).sqrt(), bits),
        mu2_squared=_certified(
            lambda: moments.of(_SECOND) - _square(moments.of(_MEAN)) - _square(moments.of(_FIRST)), bits
        ),
    )
