"""The examination of one activation: certified coefficients, closed forms, and what they mean for learning.

`study` returns the JSON document of `onestep activation`; `examine` the same as data. Every number is certified by ball
arithmetic except the bounds and the best spike, which are double-precision quadrature; every closed form carries the
outcome of its proof and is compared with a ball before it is shown.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from derivations.activation import Activation
from numerics.ball_coefficients import Certified, HermiteBalls, hermite_balls, hermite_coefficients_ball
from reports.activation_learning import Learning, learning, warnings_of
from reports.activation_page import study_text

if TYPE_CHECKING:
    from reports.activation_formulas import Formulas

__all__ = ["ActivationStudy", "Coefficient", "examine", "study", "study_text"]

# Hermite coefficients shown, and where the search for the information exponent ends.
SHOWN_ORDER = 8
LAST_ORDER = 64
# Bits beyond the digits asked for, and how often the precision is doubled when they do not come out certain.
_SPARE_BITS = 24
_ATTEMPTS = 3


@dataclass(frozen=True)
class Coefficient:
    """One number: its certificate, how many of its digits are certain, and its closed form with the state of its proof.

    `zero` says that it vanishes exactly, by symmetry or by a proved closed form.
    """

    certified: Certified
    digits: int
    closed_form: str | None = None
    proof: str | None = None
    zero: bool = False

    def as_dict(self, most: int) -> dict[str, Any]:
        """The JSON of cli "coefficients": at most `most` digits are printed, each certain to one unit."""
        common = {"digits": self.digits, "closed_form": self.closed_form, "proof": self.proof}
        if self.zero:
            return {"ball": "0"} | common
        if self.certified.ball is None:
            kind = "infinite" if self.certified.infinite else "undecided"
            return {kind: True, "reason": self.certified.reason} | common
        return {"ball": self.certified.text(most)} | common


@dataclass(frozen=True)
class ActivationStudy:
    """Everything that `onestep activation` prints about one activation."""

    activation: Activation
    target: Activation
    digits: int
    spike: float
    bulk: float
    h1: Coefficient
    h2: Coefficient
    h1_check: Coefficient
    hermite: tuple[Coefficient, ...]
    information_exponent: int | None
    formulas: Formulas
    learning: Learning
    warnings: tuple[str, ...] = field(default=())

    @property
    def spike_emerges(self) -> bool:
        """Whether h1 is certainly not zero: a gradient step then gives the weights a spike."""
        return _is_certainly_not_zero(self.h1)

    def as_dict(self) -> dict[str, Any]:
        """The JSON document of `onestep activation`."""
        sigma, n = self.activation, self.digits
        coefficients: dict[str, Any] = {
            "h1": self.h1.as_dict(n),
            "h2": self.h2.as_dict(n),
            "h1_check": self.h1_check.as_dict(n),
            "hermite": [{"order": k} | s.as_dict(n) for k, s in enumerate(self.hermite)],
        }
        return {
            "expression": str(sigma),
            "target": str(self.target),
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
        }


def study(
    activation: Activation, target: Activation | None = None, *, digits: int = 30, spike: float = 1.0, bulk: float = 1.0
) -> dict[str, Any]:
    """The JSON document of `onestep activation`; the target defaults to the activation itself."""
    return examine(activation, target, digits=digits, spike=spike, bulk=bulk).as_dict()


def examine(
    activation: Activation,
    target: Activation | None = None,
    *,
    digits: int = 30,
    spike: float = 1.0,
    bulk: float = 1.0,
    seconds: float = 9.0,
) -> ActivationStudy:
    """Examine one activation at spike r and bulk variance c, with a target to learn (itself by default).

    `seconds` bounds the time spent; what could not be certified in it is said to be undecided.
    """
    from reports.activation_formulas import formulas_of

    deadline = time.monotonic() + seconds
    goal = activation if target is None else target
    balls = _balls(activation, digits, deadline)
    formulas = formulas_of(activation, balls, spike, bulk, deadline)
    hermite, exponent = _hermite(activation, formulas, digits, deadline)
    h1 = _coefficient(balls.h1, digits, formulas, "h1", activation.parity == "even")
    h2 = _coefficient(balls.h2, digits, formulas, "h2")
    h1_check = _coefficient(balls.h1_check, digits, formulas, "h1_check")
    found = learning(activation, goal, spike, bulk, deadline)
    return ActivationStudy(
        activation=activation,
        target=goal,
        digits=digits,
        spike=spike,
        bulk=bulk,
        h1=h1,
        h2=h2,
        h1_check=h1_check,
        hermite=hermite,
        information_exponent=exponent,
        formulas=formulas,
        learning=found,
        warnings=warnings_of(activation, goal, balls, found, h1_zero=h1.zero, h1_sure=_is_certainly_not_zero(h1)),
    )


def _bits(digits: int) -> int:
    return math.ceil(digits * math.log2(10)) + _SPARE_BITS


def _left(deadline: float) -> float:
    return max(0.5, deadline - time.monotonic())


def _balls(activation: Activation, digits: int, deadline: float) -> HermiteBalls:
    """h1, h2 and E[(sigma' - h1)^2] with the precision raised until the digits asked for are certain."""
    bits = _bits(digits)
    best = hermite_balls(activation, bits=bits, seconds=_left(deadline) / 2)
    for _ in range(_ATTEMPTS):
        short = [b for b in (best.h1, best.h2, best.h1_check) if b.ball is not None and b.digits(digits) < digits]
        if not short or all(b.required().contains(0) for b in short) or time.monotonic() > deadline:
            return best
        bits *= 2
        best = hermite_balls(activation, bits=bits, seconds=_left(deadline) / 2)
    return best


def _hermite(
    activation: Activation, formulas: Formulas, digits: int, deadline: float
) -> tuple[tuple[Coefficient, ...], int | None]:
    """The Hermite coefficients s_0, s_1, ... and the least k >= 1 with s_k certainly not zero."""
    order = SHOWN_ORDER
    while True:
        balls = hermite_coefficients_ball(activation, order, bits=_bits(digits), seconds=_left(deadline) / 3)
        found = tuple(
            _coefficient(ball, digits, formulas, f"s_{k}", _vanishes_by_parity(activation, k))
            for k, ball in enumerate(balls)
        )
        exponent = next((k for k, s in enumerate(found) if k and _is_certainly_not_zero(s)), None)
        if exponent is not None or order >= LAST_ORDER or time.monotonic() > deadline or not _worth_searching(found):
            return found[: max(SHOWN_ORDER, exponent or 0) + 1], exponent
        order *= 2


def _worth_searching(found: tuple[Coefficient, ...]) -> bool:
    return all(s.certified.ball is not None for s in found)


def _vanishes_by_parity(activation: Activation, order: int) -> bool:
    return activation.parity == ("odd" if order % 2 == 0 else "even")


def _is_certainly_not_zero(coefficient: Coefficient) -> bool:
    ball = coefficient.certified.ball
    return not coefficient.zero and ball is not None and not ball.contains(0)


def _coefficient(
    certified: Certified, digits: int, formulas: Formulas, name: str, vanishes: bool = False
) -> Coefficient:
    """A certified number with its closed form; an exact zero is told from a ball around zero.

    Where the ball of the definition holds zero, a proved closed form gives a sharper one.
    """
    closed = formulas.constant(name, certified)
    proved = closed is not None and closed.proof == "proved"
    zero = vanishes or (proved and closed is not None and closed.text == "0")
    if proved and closed is not None and not zero and certified.ball is not None and certified.ball.contains(0):
        certified = closed.certified(certified.bits)
    certain = digits if zero else 0 if certified.ball is None else certified.digits(digits)
    return Coefficient(certified, certain, closed.text if closed else None, closed.proof if closed else None, zero)


def _strip(activation: Activation) -> Any:
    strip = activation.strip
    if strip is None:
        return None
    return {"infinite": True, "reason": "the activation is entire"} if strip == math.inf else float(strip)
