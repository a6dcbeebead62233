"""The closed forms of one activation for its page: text, the outcome of their proof, and a comparison with balls."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.closed_forms.gaussian_class import NotInClassError
from giantsteps.derivations.closed_forms.heat_equation import (
    ClosedForm,
    ClosedForms,
    HeatObligation,
    beneath,
    closed_forms,
    established,
)
from giantsteps.derivations.expressions.budget import TookTooLong, at_most
from giantsteps.derivations.language import symbols
from giantsteps.derivations.language.algebra_budget import counted_algebra
from giantsteps.numerics.balls.arithmetic import BallError, precision
from giantsteps.numerics.balls.coefficients import Certified, ConditionalBalls, conditional_balls
from giantsteps.numerics.balls.integrals import LIMIT_REACHED
from giantsteps.verify.closed_forms.proof import prove
from giantsteps.verify.protocol.balls import NoBallError, enclose
from giantsteps.verify.protocol.evidence import Outcome, Settled

# Where closed forms are compared with balls of the definition, in units of kappa.
_PLACES = (Fraction(1), Fraction(-1, 2))
_BITS = 96
_FOR_COMPARISON = 2_000_000
# A formula whose terms cancel is evaluated more precisely, up to this: differences of 10^-1000 are told from zero.
_MOST_BITS = 4096
_FORMS = ("mu0", "mu1", "second_moment")


@dataclass(frozen=True)
class Constant:
    """The closed form of one coefficient: its value and "proved" or "conjectured"."""

    value: sp.Expr
    proof: str

    @property
    def text(self) -> str:
        """The formula as text."""
        return str(self.value)

    def certified(self, bits: int) -> Certified:
        """The value of the formula as a ball with `bits` relative bits, if raising the precision gives them."""
        working = bits
        while True:
            with precision(working + 24):
                found = Certified(enclose(self.value, {}).real, working)
            if found.required().rel_accuracy_bits() >= bits or working >= _MOST_BITS:
                return found
            working *= 2


@dataclass(frozen=True)
class Formulas:
    """The closed forms of an activation as far as they exist.

    `status` is proved when every obligation of every form is discharged, certified when only ball arithmetic confirms
    them (at the places that `checked` names), else inconclusive; `why` says what has no closed form.
    """

    forms: ClosedForms | None
    found: dict[str, ClosedForm]
    obligations: tuple[tuple[str, Settled], ...]
    status: str
    why: str = ""
    checked: str = ""
    settled: frozenset[HeatObligation] = frozenset()

    def withheld(self) -> Formulas:
        """None of them: what is left when there is no time for closed forms."""
        return Formulas(None, {}, (), "inconclusive")

    def constant(self, name: str, certified: Certified) -> Constant | None:
        """The closed form of h1, h2, h1_check or s_k, if it exists and lies in the ball of the definition."""
        if self.forms is None or self.status == "inconclusive" or certified.infinite:
            return None
        with counted_algebra():
            try:
                value, _ = established(self.forms, name)
            except NotInClassError:
                return None
            if value == sp.oo:
                return None
            if certified.ball is not None and not _overlaps(value, certified):
                return None
            return Constant(value, "proved" if self._is_proved(name) else "conjectured")

    def _is_proved(self, name: str) -> bool:
        """Whether every obligation that the constant rests on is discharged; those not settled yet are checked now."""
        if self.forms is None or self.status != "proved":
            return False
        rest = [form for form in beneath(self.forms, name) if not self.settled.issuperset(form.obligations)]
        return all(prove(form, name, self.settled).outcome is Outcome.SUPPORTS for form in rest)

    def as_dict(self) -> dict[str, Any]:
        """The keys closed_forms, why, proof of the JSON document."""
        shown = {name: str(self.found[name].expression) if name in self.found else None for name in _FORMS}
        latex = {name: _latex(self.found[name]) if name in self.found else None for name in _FORMS}
        proof = {
            "status": self.status,
            "obligations": [
                {"form": form, "says": o.says, "outcome": o.outcome.value, "method": o.method}
                for form, o in self.obligations
            ],
        }
        if self.forms is not None and self.found.keys() >= set(_FORMS):
            shown["mu2_squared"] = str(self.forms.mu2_squared.expression)
        closed = shown | {"latex": latex, "holds_for": self._domain()} if self.found else None
        extra = {"why": self.why} if self.why else {}
        return {"closed_forms": closed, **extra, "proof": proof | ({"compared": self.checked} if self.checked else {})}

    def _domain(self) -> str:
        below = min((form.valid_below for form in self.found.values()), default=sp.oo)
        return "all c > 0" if below == sp.oo else f"0 < c < {below}"


def _latex(form: ClosedForm) -> str:
    from giantsteps.derivations.language.rendering import latex

    return latex(form.expression)


def formulas_of(activation: Activation, spike: float, bulk: float, operations: int) -> Formulas:
    """Find, prove and compare the closed forms of an activation; those that take too many operations are left out."""
    try:
        with counted_algebra():
            forms = closed_forms(activation)
    except NotInClassError as reason:
        return Formulas(None, {}, (), "inconclusive", str(reason))
    found: dict[str, ClosedForm] = {}
    obligations: list[tuple[str, Settled]] = []
    known: set[HeatObligation] = set()
    why = ""
    for name in _FORMS:
        try:
            with at_most(operations // 3), counted_algebra():
                form: ClosedForm = getattr(forms, name)
                proof = prove(form, name, known)
        except NotInClassError as reason:
            why = why or f"{name}: {reason}"
            continue
        except TookTooLong:
            why = why or f"{LIMIT_REACHED} before {name}"
            continue
        found[name] = form
        obligations += [(name, o) for o in proof.obligations]
        known.update(form.obligations)
    if not found:
        return Formulas(forms, {}, (), "inconclusive", why)
    agree, checked = _compared(activation, found, spike, bulk)
    proved = all(o.outcome is Outcome.SUPPORTS for _, o in obligations)
    status = "inconclusive" if not agree else "proved" if proved else "certified"
    return Formulas(forms, found, tuple(obligations), status, why, checked, frozenset(known) if proved else frozenset())


def _compared(activation: Activation, found: dict[str, ClosedForm], spike: float, bulk: float) -> tuple[bool, str]:
    """Whether the forms lie in the balls of their definition at a few places, and the places in words."""
    r, c = Fraction(spike), Fraction(bulk)
    if any(not form.valid_below > sp.Rational(c.numerator, c.denominator) for form in found.values()):
        return True, ""
    compared = 0
    for kappa in _PLACES:
        try:
            balls = conditional_balls(activation, spike=r, bulk=c, kappa=kappa, bits=_BITS, operations=_FOR_COMPARISON)
            with precision(_BITS + 24):
                for form, ball in _pairs(found, balls, c):
                    value = enclose(form, {symbols.x: r * kappa, symbols.c: c})
                    compared += 1
                    if not (value.real.overlaps(ball) and value.imag.contains(0)):
                        return False, f"the closed form and the ball are disjoint at kappa = {kappa}"
        except (BallError, NoBallError):
            continue
    if not compared:
        return True, ""
    return True, f"closed forms and balls overlap at kappa = {', '.join(map(str, _PLACES))}, r = {spike}, c = {bulk}"


def _pairs(found: dict[str, ClosedForm], balls: ConditionalBalls, bulk: Fraction) -> list[tuple[sp.Expr, Any]]:
    mu0, mu1 = balls.mu0.required(), balls.mu1.required()
    of = {"mu0": mu0, "mu1": mu1}
    if balls.mu2_squared.ball is not None:
        of["second_moment"] = balls.mu2_squared.ball + mu0**2 + mu1**2 * bulk.numerator / bulk.denominator
    return [(found[name].expression, ball) for name, ball in of.items() if name in found]


def _overlaps(value: sp.Expr, certified: Certified) -> bool:
    """Whether the closed form of a constant lies in its certified ball; a form without a ball is not shown."""
    try:
        with precision(certified.bits + 24):
            ball = enclose(value, {})
            return bool(ball.real.overlaps(certified.required()) and ball.imag.contains(0))
    except NoBallError:
        return False
