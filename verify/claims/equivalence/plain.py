"""Plain Gaussian equivalence of random features: what it matches, and its failure after a giant step."""

from __future__ import annotations

from functools import partial

import sympy as sp

from onestep.derivations.language import symbols as s
from onestep.derivations.language.derivation import NonNegative, Obligation
from onestep.derivations.saddle_point.random_features import plain_equivalence as gaussian_equivalence
from onestep.verify.checks.kinds import ByDerivation, ByNumbers, ByObligations
from onestep.verify.checks.simulation import BySimulation
from onestep.verify.claims.random_features.no_spike import ODD
from onestep.verify.claims.sources import paper
from onestep.verify.protocol import tolerances
from onestep.verify.protocol.claim import Claim, Domain, Kind, Mutant, Range, Source
from onestep.verify.second_route.grids import ANY, ANY_ENTIRE, ANY_INTERPRETATIONS
from onestep.verify.second_route.models import RANGES
from onestep.verify.second_route.saddle_point import plain_equivalence as numbers

PLAIN = Source("slides", "Gaussian equivalence")
_FLOOR = s.h2_star - s.h1_star**2

INPUT = Claim(
    id="wider.gep.input-covariance",
    title="A feature and the input have the covariance of the linear part",
    source=PLAIN,
    kind=Kind.IDENTITY,
    statement=sp.Eq(s.input_covariance, s.h1 * s.overlap),
    domain=Domain(
        (Range("activation", choices=ANY_ENTIRE), Range(s.overlap, 0.2, 0.9)), interpretations=ANY_INTERPRETATIONS
    ),
    checks=(
        ByDerivation(gaussian_equivalence.input_covariance),
        ByNumbers("product rule", numbers.input_covariance, tolerances.QUADRATURE),
    ),
    mutants=(
        Mutant("overlap squared", sp.Eq(s.input_covariance, s.h1 * s.overlap**2)),
        Mutant("h1 squared", sp.Eq(s.input_covariance, s.h1**2 * s.overlap)),
    ),
    note="Exact at any overlap: labels that are linear in x see only mu1.",
)

GAP = Claim(
    id="wider.gep.covariance-gap",
    title="Covariances of two features match up to the square of their overlap, of order 1/d",
    source=PLAIN,
    kind=Kind.LIMIT,
    statement=sp.Eq(s.covariance_gap, s.hermite_coefficients[2] ** 2 * s.scaled_overlap**2),
    domain=Domain((*(Range(c, 0.3, 1.0) for c in s.hermite_coefficients[1:4]), Range(s.scaled_overlap, 0.5, 1.5))),
    checks=(
        ByDerivation(gaussian_equivalence.covariance_gap),
        ByNumbers("product rule at d = 10^8", numbers.covariance_gap, tolerances.ASYMPTOTIC),
    ),
    mutants=(
        Mutant("nothing left out", sp.Eq(s.covariance_gap, sp.S.Zero)),
        Mutant("third coefficient", sp.Eq(s.covariance_gap, s.hermite_coefficients[3] ** 2 * s.scaled_overlap**2)),
    ),
    note="After a giant step overlaps are of order one, and what is left out is no longer small.",
)

NO_SPIKE = Claim(
    id="wider.gep.no-spike",
    title="The conditional map at r = 0, c = 1 is the plain one",
    source=paper("Section 3.2, on (15)"),
    kind=Kind.IDENTITY,
    statement=sp.Eq(s.mu2_square, s.h2 - s.mu0_constant**2 - s.h1**2),
    domain=Domain((Range("activation", choices=ANY), Range(s.kappa, -1.5, 1.5)), interpretations=ANY_INTERPRETATIONS),
    checks=(
        ByDerivation(gaussian_equivalence.without_spike),
        ByNumbers("coefficients along the spike at r = 0", numbers.without_spike, tolerances.ROUNDING),
    ),
    mutants=(
        Mutant("mean left in", sp.Eq(s.mu2_square, s.h2 - s.h1**2)),
        Mutant("linear part left in", sp.Eq(s.mu2_square, s.h2 - s.mu0_constant**2)),
    ),
    uses=("result-3-2.conditional-variance",),
)

_k1, _k2 = s.mu1_constant, s.mu2_constant
_AFTER = Domain(
    (Range("activation", choices=ODD), Range("target", choices=ODD), *RANGES[2:]), ("odd activation, centred target",)
)
_error = (
    s.h2_star - s.gamma**2 * s.h1_star**2 - 2 * _k1 * sp.sqrt(s.rho) * s.h1_star * s.psi + _k1**2 * s.q1 + _k2**2 * s.q2
)

LEARNED = Claim(
    id="wider.gep.after-step-learned",
    title="After a giant step the plain map would learn the linear part along the spike",
    source=PLAIN,
    kind=Kind.FIXED_POINT,
    statement=sp.Eq(s.gaussian_mean, s.gamma * s.h1_star),
    domain=_AFTER,
    checks=(
        ByDerivation(gaussian_equivalence.after_step),
        BySimulation("ridge on the plain equivalent map", numbers.plain_features),
    ),
    mutants=(
        Mutant("all of the linear part", sp.Eq(s.gaussian_mean, s.h1_star)),
        Mutant("alignment squared", sp.Eq(s.gaussian_mean, s.gamma**2 * s.h1_star)),
    ),
    uses=("result-3-3.saddle.zeta-hat",),
    note="m is not penalised at leading order; on the real map mu0(kappa) is not linear and more is learned.",
)

ERROR = Claim(
    id="wider.gep.after-step-error",
    title="The test error that plain equivalence predicts after a giant step",
    source=PLAIN,
    kind=Kind.FIXED_POINT,
    statement=sp.Eq(s.gaussian_error, _error, evaluate=False),
    domain=_AFTER,
    checks=(
        ByDerivation(gaussian_equivalence.after_step),
        ByNumbers("its fixed point by bisection", numbers.plain_at, tolerances.SOLVER),
        BySimulation("ridge on the plain equivalent map", numbers.plain_features),
    ),
    mutants=(
        Mutant("nothing learned along the spike", sp.Eq(s.gaussian_error, _error + s.gamma**2 * s.h1_star**2)),
        Mutant("without the noise of the features", sp.Eq(s.gaussian_error, _error - _k2**2 * s.q2)),
    ),
    uses=("wider.gep.after-step-learned",),
)


def _floor_obligations(statement: sp.Basic) -> tuple[Obligation, ...]:
    """lhs - rhs at the error derived, as the same sum of squares as in the derivation."""
    derivation = gaussian_equivalence.floor()
    *_, proof = derivation.obligations
    assert isinstance(proof, NonNegative)
    difference = (statement.lhs - statement.rhs).subs(derivation.results).subs(s.gamma, sp.sqrt(1 - s.rho))
    return (*derivation.obligations, NonNegative("error less floor", sp.expand(difference), proof.squares))


FLOOR = Claim(
    id="wider.gep.after-step-floor",
    title="On the plain map no error can go below that of the best linear fit, step or no step",
    source=PLAIN,
    kind=Kind.INEQUALITY,
    statement=sp.Ge(s.gaussian_error, _FLOOR, evaluate=False),
    domain=_AFTER,
    checks=(
        ByObligations("a sum of squares", _floor_obligations),
        ByNumbers("its fixed point by bisection", numbers.plain_at, tolerances.SOLVER),
    ),
    mutants=(
        Mutant("all of the target", sp.Ge(s.gaussian_error, s.h2_star, evaluate=False)),
        Mutant("the other way", sp.Le(s.gaussian_error, _FLOOR, evaluate=False)),
    ),
    uses=("wider.gep.after-step-error",),
)


def _simulated(name: str, title: str, statement: sp.Equality, models: str, *mutants: Mutant, note: str) -> Claim:
    chosen = numbers.STEPPED if models == "stepped" else numbers.UNTRAINED
    return Claim(
        id=f"wider.gep.{name}",
        title=title,
        source=PLAIN,
        kind=Kind.CONCENTRATION,
        statement=statement,
        domain=Domain(hypotheses=("rows of the bulk are uniform on a sphere, at fixed ratios and ridge",)),
        checks=(BySimulation("ridge on random features, two models", partial(numbers.features, chosen)),),
        mutants=mutants,
        uses=("wider.gep.after-step-error", "result-3-2.same-test-error"),
        note=note,
    )


BEFORE = _simulated(
    "before-step",
    "Without a step plain equivalence gives the test error of random features",
    sp.Eq(s.test_error, s.gaussian_error),
    "untrained",
    Mutant("the best linear fit", sp.Eq(s.test_error, _FLOOR)),
    Mutant("nothing learned", sp.Eq(s.test_error, s.h2_star)),
    note="|R - R_G| -> 0 for n, p of order d.",
)

AFTER = _simulated(
    "conditional-closes-gap",
    "After a giant step plain equivalence fails and the conditional one gives the test error",
    sp.Eq(s.test_error, s.equivalent_error),
    "stepped",
    Mutant("plain Gaussian equivalence", sp.Eq(s.test_error, s.gaussian_error)),
    Mutant("the best linear fit", sp.Eq(s.test_error, _FLOOR)),
    note="The plain prediction is one of the wrong neighbours that the simulation refutes.",
)

CLAIMS: tuple[Claim, ...] = (INPUT, GAP, NO_SPIKE, LEARNED, ERROR, FLOOR, BEFORE, AFTER)
