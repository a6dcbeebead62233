"""A step on a small batch may be worse than none: tanh learns sin at alpha0 = 0.5, beside plain random features."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy as sp
from flint import arb
from sympy.core.relational import Relational

from onestep.derivations.activations.activation import activation
from onestep.derivations.bulk import symbols as s
from onestep.numerics.balls.arithmetic import precision, rational_ball
from onestep.numerics.certificates.certify import certify
from onestep.numerics.models.model import Model
from onestep.verify.checks.kinds import BySearch, Point
from onestep.verify.claims.networks.headline import HEADLINE
from onestep.verify.protocol import statement
from onestep.verify.protocol.claim import Claim, Domain, Kind, Profile, Range
from onestep.verify.protocol.evidence import Certificate, Evidence
from onestep.verify.protocol.paper import Paper
from onestep.verify.protocol.statement import MORE, ge, le
from onestep.verify.protocol.tolerances import SOLVER
from onestep.verify.second_route.models import solved

_WORDS = "tanh student, sin target, beta = 1, ridge 0.1, eta = 3, no label noise; no step, or one with alpha0 = 0.5"
_DOUBLES = "the map's r, c and gamma, and the ridge, the binary numbers of double precision nearest to them"
# The curves cross between alpha = 1.5 and 1.6.
_ALPHAS = ("8/5",)


def _pair(alpha: float, bulk_model: str) -> tuple[Model, Model]:
    """The network's model after a step on half a sample per dimension, and without a step."""
    tanh, sine = activation("tanh"), activation("sin")
    step = Model.from_gradient_step(
        tanh, sine, alpha=alpha, beta=1.0, ridge=0.1, alpha0=0.5, eta=3.0, bulk_model=bulk_model
    )
    return step, Model(tanh, sine, alpha, 1.0, 0.1, spike=0.0, bulk=1.0, alignment=1.0)


@lru_cache(maxsize=16)
def _enclosed(alpha: str) -> tuple[Any, Any]:
    step, none = _pair(float(sp.Rational(alpha)), "isotropic")
    return certify(step.as_given(), digits=6).balls, certify(none, digits=6).balls


@dataclass(frozen=True)
class ByBalls:
    """An inequality, linear in both errors, at every alpha of the domain: the sign of a ball that encloses the gap."""

    name: str = "ball arithmetic: Krawczyk's test, and quadrature with enclosed errors"

    def run(self, claim: Claim, profile: Profile, paper: Paper) -> Evidence:
        """Refutes where a whole ball is negative, supports where all are positive; else it decides nothing."""
        assert isinstance(claim.statement, Relational)
        gap, widest, points = claim.statement.gts - claim.statement.lts, 0.0, 0
        for alpha in _ALPHAS:
            balls = _enclosed(alpha)
            if None in balls:
                return Certificate(self.name, 0, math.inf, 0.0)
            with precision(128):
                terms = zip((s.test_error, s.error_without_step), balls, strict=True)
                ball = sum((_rational(gap.coeff(x)) * b.test_error for x, b in terms), arb(0))
                if ball < 0:
                    return Certificate(self.name, points, widest, 0.0, f"alpha = {alpha}")
                points, widest = points + int(bool(ball > 0)), max(widest, float(arb(ball.rad())))
        return Certificate(self.name, points if points == len(_ALPHAS) else 0, widest, 1e-6)


def _rational(number: sp.Rational) -> arb:
    return rational_ball(Fraction(int(number.p), int(number.q)))


def _errors(point: Point) -> Mapping[str, float] | None:
    step, none = (solved(model) for model in _pair(float(point[s.alpha.name]), "network"))
    if not (step.converged and none.converged):
        return None
    return {s.test_error.name: step.test_error, s.error_without_step.name: none.test_error}


_ABOVE = ge(s.test_error, s.error_without_step)
_WRONG = {
    "the step is better": le(s.test_error, s.error_without_step),
    "by eight per cent everywhere": ge(s.test_error, MORE * s.error_without_step),
}
CLAIMS = (
    statement.claim(
        "headline.small-batch-above-no-step", "A step on a small batch is worse than none at alpha = 1.6",
        HEADLINE,
        _ABOVE, Domain((Range(s.alpha, choices=_ALPHAS),), hypotheses=(_WORDS, _DOUBLES)),
        ByBalls(),
        kind=Kind.INEQUALITY, wrong=_WRONG, uses=("result-3-3.test-error",),
        note="Drawn over several batches, the curve of alpha0 = 0.5 lies above that of alpha0 = 0.",
    ),
    statement.claim(
        "headline.network-small-batch-above-no-step",
        "A step on a small batch is worse than none, by the theory of the network's own bulk", HEADLINE,
        _ABOVE, Domain((Range(s.alpha, 1.2, 4.0),), hypotheses=(_WORDS,)),
        BySearch("the solver", _errors, SOLVER),
        wrong={**_WRONG, "by a quarter": ge(s.test_error, sp.Rational(5, 4) * s.error_without_step)},
        uses=("beyond.test-error",),
        note="Missing for a theorem: a certificate of the network's own bulk, and one for an interval of alpha.",
    ),
)
