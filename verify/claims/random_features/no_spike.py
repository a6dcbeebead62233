"""Claims about plain random features: no spike at all, and a spike that vanishes (Section 4.2)."""

from __future__ import annotations

import sympy as sp
from sympy.core.relational import Relational

from giantsteps.derivations.kernel.algebra import order
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.random_features import no_spike as random_features
from giantsteps.derivations.saddle_point.random_features import vanishing_spike as vanishing
from giantsteps.verify.checks.points import ByNumbers, BySearch
from giantsteps.verify.checks.proofs import ByDerivation, ByTheorem, said
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range
from giantsteps.verify.protocol.statement import MORE, Wrong, claim, eq, ge
from giantsteps.verify.protocol.tolerances import ASYMPTOTIC, SOLVER
from giantsteps.verify.second_route.models import GENERIC, RANGES
from giantsteps.verify.solver import random_features as numbers

ODD = ("tanh(z)", "erf(z)", "sin(z)", "atan(z)")
k1, k2 = s.mu1_constant, s.mu2_constant

# ---- no spike ----

_ODD_RANGES = (Range("activation", choices=ODD), Range("target", choices=ODD), *RANGES[2:])
NO_SPIKE = Domain(_ODD_RANGES, ("odd activation and target",), (GENERIC,))
# With a wide and long problem the floor is reached: a false floor has to be seen there.
FLOOR = Domain((*_ODD_RANGES, Range("regime", choices=("generic", "many samples"))), ("odd activation and target",),
               (GENERIC,))


def _plain_error() -> sp.Expr:
    signal = s.beta * s.M_hat**2 * (k1**2 * s.resolvent_double + k2**2 * s.resolvent_mixed)
    constant = s.h2_star + s.noise - 2 * k1 * s.h1_star * s.beta * s.V1 * s.M_hat + signal
    loop = k1**4 * s.resolvent_double + 2 * k1**2 * k2**2 * s.resolvent_mixed + k2**4 * s.resolvent_square
    return constant / (1 - s.alpha / s.beta * loop / (1 + s.V) ** 2) - s.noise


def _no_spike_claims() -> tuple[Claim, ...]:
    section = "Section 4.2"
    reduction = ByDerivation(random_features.reduction)
    uses = ("result-3-3.saddle.zeta-hat", "result-3-3.saddle.psi-hat", "result-3-3.isotropic.q1")
    floor = s.h2_star - s.h1_star**2

    def reduced(name: str, title: str, statement: sp.Equality, wrong: Wrong | None = None) -> Claim:
        return claim(
            f"no-spike.{name}", title, paper(section),
            statement, NO_SPIKE,
            reduction, numbers.by_theorems,
            kind=Kind.FIXED_POINT, wrong=wrong, uses=uses,
        )

    gap = s.test_error
    return (
        reduced(
            "zeta", "Without a spike, v is a direction like any other", eq(s.zeta, s.gamma * s.M),
            wrong={"gamma lost": s.M},
        ),
        reduced(
            "psi", "Without a spike, the orthogonal direction has its share", eq(s.psi, sp.sqrt(s.rho) * s.M),
            wrong={"all of M": s.M},
        ),
        reduced("q1", "Without a spike, Q1 splits along and across v", eq(s.q1, s.Q1 - s.gamma**2 * s.M**2)),
        claim(
            "no-spike.test-error",
            "Without a spike the test error is that of plain random features, whatever the alignment", paper(section),
            eq(s.test_error, _plain_error()), NO_SPIKE,
            ByDerivation(random_features.plain_error), numbers.by_theorems,
            kind=Kind.FIXED_POINT, uses=("no-spike.zeta", "no-spike.psi", "no-spike.q1"),
        ),
        claim(
            "no-spike.floor", "Without a spike only the linear part of the target is learned", paper(section),
            ge(gap, floor), FLOOR,
            ByTheorem("the error less the floor is a sum of squares", _above_floor,
                      hypotheses=random_features.OF_FLOOR),
            BySearch("the solver at r = 0", numbers.linear_fit, SOLVER),
            wrong={
                "eight per cent more": MORE * floor,
                "the fourth power": s.h2_star - s.h1_star**4,
                "all of the target": s.h2_star,
            },
            uses=("no-spike.test-error",),
        ),
    )


def _above_floor(statement: Relational) -> Theorem:
    """left - right = (h1* - mu1 M)^2 + mu1^2 (Q1 - M^2) + mu2^2 q2, with Q1 - M^2 >= 0 by Cauchy-Schwarz."""
    return order(random_features.floor().theorems[-1:], said(statement), (sp.Integer(1),))


# ---- a vanishing spike ----


def _vanishing_spike_claims() -> tuple[Claim, ...]:
    section = "Section 4.2"
    checks = (
        ByDerivation(vanishing.vanishing_spike),
        ByNumbers("the solver at r = 1e-3, where corrections are of order 1e-6", numbers.tiny_spike, ASYMPTOTIC,
                  finite_size=True),
    )
    error = (
        s.h2_star
        - s.gamma**2 * s.h1_star**2
        - 2 * sp.sqrt(s.rho) * s.h1_star * k1 * s.psi
        + k1**2 * s.q1
        + k2**2 * s.q2
    )
    return (
        claim(
            "vanishing-spike.m", "As the spike vanishes m grows like its inverse", paper(section),
            eq(s.m_no_spike, s.gamma * s.h1_star / k1), NO_SPIKE,
            *checks,
            kind=Kind.LIMIT, uses=("result-3-3.saddle.m",),
        ),
        claim(
            "vanishing-spike.zeta", "As the spike vanishes m does all of zeta's work", paper(section),
            eq(s.zeta_no_spike, sp.S.Zero), NO_SPIKE,
            *checks,
            kind=Kind.LIMIT,
            wrong={
                "as without a spike": s.gamma * s.psi / sp.sqrt(s.rho),
                "the linear part along v": s.gamma * s.h1_star,
            },
            uses=("result-3-3.saddle.zeta-hat", "vanishing-spike.m"),
        ),
        claim(
            "vanishing-spike.test-error", "A vanishing spike learns the linear part of the target along it for nothing",
            paper(section),
            eq(s.error_no_spike, error), NO_SPIKE,
            *checks,
            kind=Kind.LIMIT,
            wrong={"the error without a spike": error + s.gamma**2 * s.h1_star**2},
            uses=("vanishing-spike.m", "vanishing-spike.zeta", "no-spike.test-error"),
            note="The limits r -> 0 and d -> infinity do not commute unless gamma = 0: at r = 0 the spike is learned "
                 "at the price of any other, at every r > 0 for nothing, m being unregularised at leading order.",
        ),
    )


CLAIMS: tuple[Claim, ...] = (*_no_spike_claims(), *_vanishing_spike_claims())
