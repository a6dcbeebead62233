"""Plain Gaussian equivalence of random features: what it matches, and its failure after a giant step."""

from __future__ import annotations

from functools import partial

import sympy as sp
from sympy.core.relational import Relational

from giantsteps.derivations.equivalence import symbols as s
from giantsteps.derivations.kernel.algebra import order
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.inequalities import ONE_READOUT
from giantsteps.derivations.saddle_point import symbols as s_saddle
from giantsteps.derivations.saddle_point.random_features import plain_equivalence as gaussian_equivalence
from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.proofs import ByDerivation, ByTheorem, said
from giantsteps.verify.checks.simulation import BySimulation
from giantsteps.verify.claims.random_features.no_spike import ODD
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol import tolerances
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range, Source
from giantsteps.verify.protocol.statement import Wrong, claim, eq, ge, le
from giantsteps.verify.second_route.grids import ANY, ANY_ENTIRE, ANY_INTERPRETATIONS
from giantsteps.verify.second_route.models import RANGES
from giantsteps.verify.second_route.saddle_point import plain_equivalence as numbers
from giantsteps.verify.second_route.saddle_point.simulations import simulated
from giantsteps.verify.solver.random_features import beside_plain, plain_by_theorems

PLAIN = Source("slides", "Gaussian equivalence")
_FLOOR = s.h2_star - s.h1_star**2

INPUT = claim(
    "wider.gep.input-covariance", "A feature and the input have the covariance of the linear part", PLAIN,
    eq(s_saddle.input_covariance, s.h1 * s.overlap),
    Domain((Range("activation", choices=ANY_ENTIRE), Range(s.overlap, 0.2, 0.9)), interpretations=ANY_INTERPRETATIONS),
    ByDerivation(gaussian_equivalence.input_covariance),
    ByNumbers("product rule", numbers.input_covariance, tolerances.QUADRATURE),
    wrong={"overlap squared": s.h1 * s.overlap**2, "h1 squared": s.h1**2 * s.overlap},
    note="Exact at any overlap: labels that are linear in x see only mu1.",
)

GAP = claim(
    "wider.gep.covariance-gap", "Covariances of two features match up to the square of their overlap, of order 1/d",
    PLAIN,
    eq(s.covariance_gap, s.hermite_coefficients[2] ** 2 * s.scaled_overlap**2),
    Domain((*(Range(c, 0.3, 1.0) for c in s.hermite_coefficients[1:4]), Range(s.scaled_overlap, 0.5, 1.5))),
    ByDerivation(gaussian_equivalence.covariance_gap),
    ByNumbers("product rule at d = 10^8", numbers.covariance_gap, tolerances.ASYMPTOTIC, finite_size=True),
    kind=Kind.LIMIT,
    wrong={"nothing left out": sp.S.Zero, "third coefficient": s.hermite_coefficients[3] ** 2 * s.scaled_overlap**2},
    note="After a giant step overlaps are of order one, and what is left out is no longer small.",
)

NO_SPIKE = claim(
    "wider.gep.no-spike", "The conditional map at r = 0, c = 1 is the plain one", paper("Section 3.2, on (15)"),
    eq(s.mu2_square, s.h2 - s.mu0_constant**2 - s.h1**2),
    Domain((Range("activation", choices=ANY), Range(s.kappa, -1.5, 1.5)), interpretations=ANY_INTERPRETATIONS),
    ByDerivation(gaussian_equivalence.without_spike),
    ByNumbers("coefficients along the spike at r = 0", numbers.without_spike, tolerances.ROUNDING),
    wrong={"mean left in": s.h2 - s.h1**2, "linear part left in": s.h2 - s.mu0_constant**2},
    uses=("result-3-2.conditional-variance",),
)

_k1, _k2 = s.mu1_constant, s.mu2_constant
_AFTER = Domain((Range("activation", choices=ODD), Range("target", choices=ODD), *RANGES[2:]),
                ("odd activation, centred target",))
_error = (
    s.h2_star - s.gamma**2 * s.h1_star**2 - 2 * _k1 * sp.sqrt(s.rho) * s.h1_star * s.psi + _k1**2 * s.q1 + _k2**2 * s.q2
)

LEARNED = claim(
    "wider.gep.after-step-learned", "After a giant step the plain map would learn the linear part along the spike",
    PLAIN,
    eq(s_saddle.gaussian_mean, s.gamma * s.h1_star), _AFTER,
    ByDerivation(gaussian_equivalence.after_step),
    BySimulation("ridge on the plain equivalent map", numbers.PLAIN_FEATURES),
    kind=Kind.FIXED_POINT,
    wrong={"all of the linear part": s.h1_star, "alignment squared": s.gamma**2 * s.h1_star},
    uses=("result-3-3.saddle.zeta-hat",),
    note="m is not penalised at leading order; on the real map mu0(kappa) is not linear and more is learned.",
)

ERROR = claim(
    "wider.gep.after-step-error", "The test error that plain equivalence predicts after a giant step", PLAIN,
    eq(s_saddle.gaussian_error, _error), _AFTER,
    ByDerivation(gaussian_equivalence.after_step),
    plain_by_theorems,
    BySimulation("ridge on the plain equivalent map", numbers.PLAIN_FEATURES),
    kind=Kind.FIXED_POINT,
    wrong={
        "nothing learned along the spike": _error + s.gamma**2 * s.h1_star**2,
        "without the noise of the features": _error - _k2**2 * s.q2,
    },
    uses=("wider.gep.after-step-learned",),
)


def _above_linear_fit(statement: Relational) -> Theorem:
    """The floor of the plain map, as stated."""
    return order(gaussian_equivalence.floor().theorems[-1:], said(statement), (sp.Integer(1),))


FLOOR = claim(
    "wider.gep.after-step-floor", "On the plain map no error can go below that of the best linear fit, step or no step",
    PLAIN,
    ge(s_saddle.gaussian_error, _FLOOR), _AFTER,
    ByTheorem("a sum of squares", _above_linear_fit, hypotheses=(ONE_READOUT,)),
    ByNumbers("its fixed point by the theorems", numbers.plain_at, tolerances.SOLVER),
    wrong={"all of the target": s.h2_star, "the other way": le(s_saddle.gaussian_error, _FLOOR)},
    uses=("wider.gep.after-step-error",),
)


def _simulated(name: str, title: str, statement: sp.Equality, models: str, *, wrong: Wrong, note: str) -> Claim:
    chosen, draws = (
        (numbers.STEPPED, numbers.SEEDS_STEPPED) if models == "stepped" else (numbers.UNTRAINED, numbers.SEEDS)
    )
    return claim(
        f"wider.gep.{name}", title, PLAIN,
        statement, Domain(hypotheses=("rows of the bulk are uniform on a sphere, at fixed ratios and ridge",)),
        BySimulation("ridge on random features, two models",
                     partial(simulated, chosen, beside_plain, numbers.SEED, draws)),
        kind=Kind.CONCENTRATION, wrong=wrong, uses=("wider.gep.after-step-error", "result-3-2.same-test-error"),
        note=note,
    )


BEFORE = _simulated(
    "before-step", "Without a step plain equivalence gives the test error of random features",
    eq(s.test_error, s_saddle.gaussian_error), "untrained",
    wrong={"the best linear fit": _FLOOR, "nothing learned": s.h2_star},
    note="|R - R_G| -> 0 for n, p of order d.",
)

AFTER = _simulated(
    "conditional-closes-gap", "After a giant step plain equivalence fails and the conditional one gives the test error",
    eq(s.test_error, s.equivalent_error), "stepped",
    wrong={"plain Gaussian equivalence": s_saddle.gaussian_error, "the best linear fit": _FLOOR},
    note="The plain prediction is one of the mutants that the simulation refutes.",
)

CLAIMS: tuple[Claim, ...] = (INPUT, GAP, NO_SPIKE, LEARNED, ERROR, FLOOR, BEFORE, AFTER)
