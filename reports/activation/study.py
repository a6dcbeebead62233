"""The examination of one activation: certified coefficients, closed forms, and what they mean for learning.

`examine` returns what `giantsteps activation` prints, as data. Every number is certified by ball arithmetic except the
bounds and the best spike, which are double-precision quadrature; every closed form carries the outcome of its proof and
is compared with a ball before it is shown.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from flint import arb

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.expressions.budget import TookTooLong, at_most
from giantsteps.derivations.expressions.exact import alone
from giantsteps.derivations.expressions.normal_form import as_polynomial
from giantsteps.numerics.balls.arithmetic import precision
from giantsteps.numerics.balls.coefficients import Certified, HermiteBalls, hermite_balls, hermite_coefficients_ball
from giantsteps.numerics.balls.integrals import LIMIT_REACHED
from giantsteps.reports.activation.learning import Learning, bounds_at, warnings_of, with_best_spike
from giantsteps.reports.command_line.machine.allowance import OutOfTimeError, allowance

if TYPE_CHECKING:
    from giantsteps.reports.activation.formulas import Constant, Formulas

# Hermite coefficients shown unless more are asked for, and where the search for the information exponent ends.
SHOWN_ORDER = 8
LAST_ORDER = 64
# Bits beyond the digits asked for, and how often the precision is doubled when they do not come out certain.
_SPARE_BITS = 24
_ATTEMPTS = 3
# The operations that an examination may take, some ten seconds; the processor time that nothing goes beyond, far more:
# what is left out has to depend on what was asked for and not on the machine.
OPERATIONS = 16_000_000
# A larger --time-limit helps here, and not where the operations are used up.
TIME_REACHED = "the limit on the processor time was reached"
_LIMITS = (LIMIT_REACHED, TIME_REACHED)
SECONDS = 60.0
# Where each part has to be done, as a fraction of the operations; what a part leaves over goes to the next ones.
_SHARES = {
    "balls": 0.5,
    "closed forms": 0.75,
    "Hermite coefficients": 0.85,
    "target": 0.87,
    "bounds": 0.95,
    "best spike": 1.0,
}

# The averages of the activation, as the document and as sentences name them.
_MEANS = {"h1": "h1", "h2": "h2", "h1_check": "E[(sigma' - h1)^2]"}

Found = TypeVar("Found")


@dataclass(frozen=True)
class Coefficient:
    """One number: its certificate, how many of its digits are certain, and its closed form if it has one.

    `zero` says that it vanishes exactly, by symmetry or by a proved closed form.
    """

    certified: Certified
    digits: int
    closed: Constant | None = None
    zero: bool = False

    @property
    def rounded(self) -> str:
        """The number as text of six digits, for sentences."""
        return "0" if self.zero else _rounded(self.certified, 1)

    @property
    def undecided(self) -> bool:
        """Whether nothing is known: no ball, not infinite, no exact zero."""
        return self.certified.ball is None and not self.certified.infinite and not self.zero

    def as_dict(self, most: int) -> dict[str, Any]:
        """The JSON of cli "coefficients": at most `most` digits are printed, each certain to one unit."""
        form = (None, None) if self.closed is None else (self.closed.text, self.closed.proof)
        common = {"digits": self.digits, "closed_form": form[0], "proof": form[1]}
        if self.zero:
            return {"ball": "0"} | common
        if self.certified.ball is None:
            kind = "infinite" if self.certified.infinite else "undecided"
            return {kind: True, "reason": self.certified.reason} | common
        return {"ball": self.certified.text(most)} | common


@dataclass(frozen=True)
class ActivationStudy:
    """Everything that `giantsteps activation` prints about one activation."""

    activation: Activation
    target: Activation
    digits: int
    spike: float
    bulk: float
    means: Mapping[str, Coefficient]  # by the names of _MEANS
    hermite: tuple[Coefficient, ...]
    target_h1: Coefficient
    information_exponent: int | None
    formulas: Formulas
    learning: Learning
    warnings: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()
    out_of_time: tuple[str, ...] = ()

    @property
    def undecided(self) -> tuple[str, ...]:
        """The numbers that were asked for and could not be certified or computed, in whatever time."""
        named = [(name, self.means[key]) for key, name in _MEANS.items()]
        named += [(f"s_{k}", s) for k, s in enumerate(self.hermite)]
        return tuple(name for name, s in named if s.undecided) + ("bounds",) * self.learning.unresolved

    @property
    def complete(self) -> bool:
        """Whether every part was finished in the time allowed and every number decided."""
        return not (self.unfinished or self.undecided)

    @property
    def spike_emerges(self) -> bool:
        """Whether h1 is certainly not zero: a gradient step then gives the weights a spike."""
        return _is_certainly_not_zero(self.means["h1"])

    def as_dict(self) -> dict[str, Any]:
        """The JSON document of `giantsteps activation`."""
        sigma, n = self.activation, self.digits
        coefficients: dict[str, Any] = {key: self.means[key].as_dict(n) for key in _MEANS}
        coefficients["hermite"] = [{"order": k} | s.as_dict(n) for k, s in enumerate(self.hermite)]
        return {
            "expression": str(sigma),
            "target": str(self.target),
            "target_h1": self.target_h1.as_dict(n),
            "spike": self.spike,
            "bulk": self.bulk,
            "parity": sigma.parity,
            "breakpoints": [str(point) for point in sigma.breakpoints],
            "growth": str(sigma.growth),
            "analytic_strip": _strip(sigma),
            "coefficients": coefficients,
            "information_exponent": self.information_exponent,
            **self.formulas.as_dict(),
            **self.learning.as_dict(),
            "spike_emerges": self.spike_emerges,
            "warnings": list(self.warnings),
            "complete": self.complete,
            "unfinished": list(self.unfinished),
            "out_of_time": list(self.out_of_time),
            "undecided": list(self.undecided),
        }


@alone
def examine(
    activation: Activation,
    target: Activation | None = None,
    *,
    digits: int = 30,
    spike: float = 1.0,
    bulk: float = 1.0,
    orders: int = SHOWN_ORDER,
    operations: int = OPERATIONS,
    seconds: float = SECONDS,
) -> ActivationStudy:
    """Examine one activation at spike r and bulk variance c, with a target to learn (itself by default).

    Hermite coefficients are given up to order `orders`, and further up to the first one of order >= 1 that is not zero.
    What is not done after so many `operations`, or `seconds` of processor time, is said to be undecided or left out,
    and named in `unfinished`; what the time ended, in `out_of_time` too.
    """
    from giantsteps.reports.activation.formulas import Formulas, formulas_of

    parts = _Parts(operations, seconds)
    goal = activation if target is None else target
    balls = parts.part(
        "balls",
        lambda left: _balls(activation, digits, left),
        lambda why: HermiteBalls(*[Certified(None, _bits(digits), reason=why)] * 5),
    )
    formulas = parts.part(
        "closed forms",
        lambda left: formulas_of(activation, spike, bulk, left),
        lambda why: Formulas(None, {}, (), "inconclusive", f"{why} before they were found"),
    )
    vanishing = {"h1"} if activation.parity == "even" else set()
    known = {key: _with_form(parts, getattr(balls, key), digits, formulas, key, key in vanishing) for key in _MEANS}
    h1, bare = known["h1"], formulas.withheld()
    hermite: list[Coefficient] = []
    parts.part(
        "Hermite coefficients",
        lambda left: _hermite(activation, balls, h1, formulas, digits, orders, left, hermite),
        lambda _: None if hermite else _hermite(activation, balls, h1, bare, digits, orders, _FEW_OPERATIONS, hermite),
    )
    h1 = hermite[1]
    exponent = _information_exponent(hermite)
    target_mean, target_h1 = parts.part(
        "target",
        lambda left: (hermite[0], h1) if goal is activation else _lowest(goal, digits, left),
        lambda why: (Coefficient(Certified(None, _bits(digits), reason=why), 0),) * 2,
    )
    found = parts.part(
        "bounds",
        lambda _: bounds_at(activation, goal, spike, bulk),
        lambda why: Learning(missing=f"{why} before they were found", unresolved=True),
    )
    found = parts.part("best spike", lambda _: with_best_spike(found, activation, goal, bulk), lambda _: found)
    curvature = _curvature(hermite[2])
    means = f"E[sigma] = {hermite[0].rounded}, E[sigma''] = {curvature}, E[g] = {target_mean.rounded}"
    return ActivationStudy(
        activation=activation,
        target=goal,
        digits=digits,
        spike=spike,
        bulk=bulk,
        means=known | {"h1": h1},
        hermite=tuple(hermite[: max(orders, exponent or 0) + 1]),
        target_h1=target_h1,
        information_exponent=exponent,
        formulas=formulas,
        learning=found,
        warnings=warnings_of(activation, balls, means, found, h1_zero=h1.zero, h1_sure=_is_certainly_not_zero(h1)),
        unfinished=tuple(dict.fromkeys([*parts.unfinished, *_left_out(balls, hermite, formulas, _LIMITS)])),
        out_of_time=tuple(dict.fromkeys([*parts.out_of_time, *_left_out(balls, hermite, formulas, (TIME_REACHED,))])),
    )


class _Parts:
    """The operations and the processor time allowed, handed out to the parts; remembers which parts were not done."""

    def __init__(self, operations: int, seconds: float) -> None:
        self._operations, self._used = operations, 0
        self._end = time.process_time() + seconds
        self.unfinished: list[str] = []
        self.out_of_time: list[str] = []

    def part(self, name: str, work: Callable[[int], Found], otherwise: Callable[[str], Found]) -> Found:
        """What `work`, told the operations left, returns; what `otherwise`, told the limit reached, does if not."""
        left = max(int(_SHARES[name] * self._operations) - self._used, 0)
        try:
            with allowance(self._end - time.process_time()), at_most(left) as budget:
                try:
                    return work(left)
                finally:
                    self._used += left - budget.left
        except OutOfTimeError:
            why = TIME_REACHED
            self.out_of_time.append(name)
        except TookTooLong:
            why = LIMIT_REACHED
        self.unfinished.append(name)
        with at_most(_FEW_OPERATIONS):
            return otherwise(why)


def _with_form(
    parts: _Parts, ball: Certified, digits: int, formulas: Formulas, name: str, vanishes: bool = False
) -> Coefficient:
    """A number with its closed form, or without one where there is no time for it."""
    return parts.part(
        "closed forms",
        lambda _: _coefficient(ball, digits, formulas, name, vanishes),
        lambda _: _coefficient(ball, digits, formulas.withheld(), name, vanishes),
    )


def _left_out(
    balls: HermiteBalls, hermite: list[Coefficient], formulas: Formulas, limits: tuple[str, ...]
) -> list[str]:
    """The certified numbers that one of these limits left undecided."""
    named = [(name, getattr(balls, key)) for key, name in _MEANS.items()]
    named += [(f"s_{k}", s.certified) for k, s in enumerate(hermite) if not s.zero]
    late = [name for name, ball in named if ball.ball is None and any(limit in ball.reason for limit in limits)]
    return late + (["closed forms"] if any(limit in formulas.why for limit in limits) else [])


# What is enough for the parts that always succeed, and for finding out that the others do not.
_FEW_OPERATIONS = 500_000


def _bits(digits: int) -> int:
    return math.ceil(digits * math.log2(10)) + _SPARE_BITS


def _balls(activation: Activation, digits: int, operations: int) -> HermiteBalls:
    """h1, h2 and E[(sigma' - h1)^2] with the precision raised until the digits asked for are certain."""
    bits = _bits(digits)
    best = hermite_balls(activation, bits=bits, operations=operations // 2)
    for _ in range(_ATTEMPTS):
        short = [b for b in (best.h1, best.h2, best.h1_check) if b.ball is not None and b.digits(digits) < digits]
        if not short or all(b.required().contains(0) for b in short):
            return best
        bits *= 2
        try:
            sharper = hermite_balls(activation, bits=bits, operations=operations // 4)
        except TookTooLong:
            return best
        best = HermiteBalls(*(b if a.ball is None else a for a, b in zip(_each(sharper), _each(best), strict=True)))
    return best


def _each(balls: HermiteBalls) -> tuple[Certified, ...]:
    return balls.mean, balls.h1, balls.h2, balls.h1_check, balls.curvature


def _hermite(
    activation: Activation,
    known: HermiteBalls,
    h1: Coefficient,
    formulas: Formulas,
    digits: int,
    orders: int,
    operations: int,
    found: list[Coefficient],
) -> None:
    """Fill `found` with s_0, s_1, ..., until one of order >= 1 is certainly not zero or too many have been tried.

    What is `known` already is not doubted: s_0 is E[sigma], s_1 is h1. An interruption leaves what is known by then:
    all the balls of an order, and the closed forms reached.
    """
    polynomial = as_polynomial(activation.expression)
    # A polynomial has no coefficients beyond its degree, and all of them exactly.
    order = max(orders, 2)  # E[sigma''] needs s_2
    if polynomial is not None:
        order = max(order, min(len(polynomial) - 1, LAST_ORDER))
    bare = formulas.withheld()
    while True:
        balls = hermite_coefficients_ball(activation, order, bits=_bits(digits), operations=operations // 3)
        balls = (_surer(known.mean, balls[0]), _surer(h1.certified, balls[1]), *balls[2:])
        vanish = [_vanishes_by_parity(activation, k) for k in range(order + 1)]
        found[:] = [_coefficient(balls[k], digits, bare, f"s_{k}", vanish[k]) for k in range(order + 1)]
        for k, ball in enumerate(balls):
            found[k] = h1 if k == 1 and not h1.undecided else _coefficient(ball, digits, formulas, f"s_{k}", vanish[k])
        unknown = any(s.certified.ball is None for s in found)
        if unknown or order >= LAST_ORDER or _information_exponent(found) is not None:
            return
        order *= 2


def _surer(first: Certified, second: Certified) -> Certified:
    """The first certificate, the second where the first is none."""
    return second if first.ball is None and not first.infinite else first


def _lowest(target: Activation, digits: int, operations: int) -> tuple[Coefficient, Coefficient]:
    """E[g] and E[z g] of a target that is not the activation."""
    balls = hermite_coefficients_ball(target, 1, bits=_bits(digits), operations=operations)
    from giantsteps.reports.activation.formulas import Formulas

    bare = Formulas(None, {}, (), "inconclusive")
    mean, slope = (
        _coefficient(ball, digits, bare, f"s_{k}", _vanishes_by_parity(target, k)) for k, ball in enumerate(balls)
    )
    return mean, slope


def _curvature(second: Coefficient) -> str:
    """E[sigma''] = sqrt(2) s_2, in the sense of distributions."""
    return "0" if second.zero else _rounded(second.certified, 2)


def _rounded(certified: Certified, square: int) -> str:
    """sqrt(square) times a certified number, to six digits."""
    if certified.ball is None:
        return "infinite" if certified.infinite else "undecided"
    with precision(certified.bits):
        ball = certified.ball * arb(square).sqrt()
    if ball.contains(0):
        return f"0 within {ball.abs_upper().str(2, radius=False)}"
    return str(ball.str(6, radius=False))


def _information_exponent(found: list[Coefficient]) -> int | None:
    """The least k >= 1 with s_k certainly not zero."""
    return next((k for k, s in enumerate(found) if k and _is_certainly_not_zero(s)), None)


def _vanishes_by_parity(activation: Activation, order: int) -> bool:
    return activation.parity == ("odd" if order % 2 == 0 else "even")


def _is_certainly_not_zero(coefficient: Coefficient) -> bool:
    ball = coefficient.certified.ball
    return not coefficient.zero and ball is not None and not ball.contains(0)


def _coefficient(
    certified: Certified, digits: int, formulas: Formulas, name: str, vanishes: bool = False
) -> Coefficient:
    """A certified number with its closed form; an exact zero is told from a ball around zero.

    Where the definition gave no ball, or one that holds zero, a proved closed form gives a sharper one.
    """
    closed = formulas.constant(name, certified)
    proved = closed is not None and closed.proof == "proved"
    exactly = certified.ball is not None and bool(certified.ball == 0)
    zero = vanishes or exactly or (proved and closed is not None and closed.text == "0")
    if proved and closed is not None and not zero and (certified.ball is None or certified.ball.contains(0)):
        certified = closed.certified(certified.bits)
    certain = digits if zero else 0 if certified.ball is None else certified.digits(digits)
    return Coefficient(certified, certain, closed, zero)


def _strip(activation: Activation) -> Any:
    strip = activation.strip
    if strip is None:
        return None
    return {"infinite": True, "reason": "the activation is entire"} if strip == math.inf else float(strip)
