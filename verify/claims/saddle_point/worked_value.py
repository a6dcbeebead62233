"""The worked value to twenty digits: errors of one model of Result 3.3, enclosed by ball arithmetic."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy as sp
from flint import arb

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.language import symbols as s
from giantsteps.numerics.balls.arithmetic import precision, rational_ball
from giantsteps.numerics.certificates.certify import certify
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.solve import solve
from giantsteps.verify.claims import sources
from giantsteps.verify.compiled.digits import solve_digits
from giantsteps.verify.protocol import statement
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Profile
from giantsteps.verify.protocol.evidence import Agreement, Certificate, Evidence
from giantsteps.verify.protocol.paper import Paper
from giantsteps.verify.protocol.statement import MORE, le
from giantsteps.verify.protocol.tolerances import MANY_DIGITS

_WORDS = "tanh student, sin target, alpha = 3/2, beta = 1, ridge 0.1, r = c = 1, gamma = 0.8, no label noise"
_NAMES: Mapping[sp.Symbol, str] = {s.test_error: "test_error", s.training_error: "training_error"}
_UNITS = 10**20


def _model() -> Model:
    return Model(
        activation("tanh(z)"), activation("sin(z)"), alpha=1.5, beta=1.0, ridge=0.1, spike=1.0, bulk=1.0, alignment=0.8
    )


@lru_cache(maxsize=1)
def _enclosed() -> Any:
    return certify(_model(), digits=20).balls


@lru_cache(maxsize=1)
def _fifty_digits() -> Any:
    order = solve(_model()).order_parameters
    return solve_digits(_model(), 50, {"V1": order.V1[0, 0], "V2": order.V2[0]}).values


def _within(symbol: sp.Symbol, value: sp.Rational) -> sp.LessThan:
    """|10^20 symbol - 10^20 value| <= 1/2."""
    return le(sp.Abs(_UNITS * symbol - _UNITS * value), sp.Rational(1, 2))


def _parts(stated: sp.Basic) -> tuple[str, Fraction, Fraction]:
    """The quantity, the value and the tolerance of |10^20 symbol - 10^20 value| <= tolerance 10^20."""
    inside = stated.lhs.args[0]
    (symbol,) = inside.free_symbols
    value, tolerance = symbol - inside / _UNITS, stated.rhs / _UNITS
    return _NAMES[symbol], Fraction(int(value.p), int(value.q)), Fraction(int(tolerance.p), int(tolerance.q))


@dataclass(frozen=True)
class ByEnclosure:
    """The saddle point is unique in a box by Krawczyk's test, and the error enclosed, with all quadrature errors."""

    name: str = "ball arithmetic: Krawczyk's test, and quadrature with enclosed errors"

    def run(self, claim: Claim, profile: Profile, paper: Paper) -> Evidence:
        """Supports or refutes only where the whole ball does; no certificate is no evidence."""
        quantity, value, tolerance = _parts(claim.statement)
        balls = _enclosed()
        if balls is None:
            return Certificate(self.name, 0, math.inf, float(tolerance))
        with precision(256):
            ball = getattr(balls, quantity)
            gap = abs(ball - rational_ball(value)) - rational_ball(tolerance)
            decided = bool(gap <= 0) or bool(gap > 0)
            return Certificate(
                self.name, int(decided), float(arb(ball.rad())), float(tolerance), _WORDS if gap > 0 else ""
            )


@dataclass(frozen=True)
class ByManyDigits:
    """Fifty digits by the equations that derivations of Result 3.3 conclude, on other rules, and Newton's method."""

    name: str = "theorem computed: fifty digits of Result 3.3"

    def run(self, claim: Claim, profile: Profile, paper: Paper) -> Evidence:
        """The violation of the statement on an absolute scale."""
        quantity, value, tolerance = _parts(claim.statement)
        with precision(256):
            distance = abs(_fifty_digits()[quantity] - rational_ball(value))
            excess = max(0.0, float(distance - rational_ball(tolerance)))
        return Agreement(
            self.name, 1, excess, MANY_DIGITS.value, _WORDS, MANY_DIGITS.reason, 1, float(tolerance / abs(value))
        )


def _claim(symbol: sp.Symbol, slug: str, title: str, digits: str, other: str) -> Claim:
    value, double = sp.Rational(digits), sp.Rational(other)
    return statement.claim(
        f"result-3-3.worked-{slug}", title, sources.paper("Result 3.3"),
        _within(symbol, value),
        Domain(hypotheses=(_WORDS, "ridge and gamma the binary numbers of double precision nearest to these")),
        ByEnclosure(), ByManyDigits(),
        kind=Kind.INEQUALITY,
        wrong={
            "one unit of the last digit": _within(symbol, value + sp.Rational(1, _UNITS)),
            "the digits of double precision": _within(symbol, double),
            "eight per cent more": _within(symbol, value * MORE),
        },
        uses=(f"result-3-3.{slug}",), note="giantsteps solve --certify does the same for other models.",
    )


CLAIMS: tuple[Claim, ...] = (
    _claim(
        s.test_error, "test-error", "The test error of the worked model to twenty digits", "0.12586560853377927435",
        "0.12586560853377926",
    ),
    _claim(
        s.training_error, "training-error", "The training error of the worked model to twenty digits",
        "0.04535092072528320448", "0.04535092072528317",
    ),
)
