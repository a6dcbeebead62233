"""Section 4.3, Appendix E and the limits: right derivations prove their claims, a wrong sign in one refutes them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sympy as sp

from onestep.derivations.bounds import closed_form as bounds_closed_form
from onestep.derivations.bounds import ridge as bounds
from onestep.derivations.free_energy.along_spike import mu0, over_kappa
from onestep.derivations.language import symbols as s
from onestep.derivations.saddle_point import conventions as invariances
from onestep.derivations.saddle_point.random_features import no_spike as random_features
from onestep.verify.checks.kinds import ByDerivation, ByObligations
from onestep.verify.claims.bounds import closed_form as closed_form_claims
from onestep.verify.claims.bounds import ridge as section_4_3
from onestep.verify.claims.index import examine
from onestep.verify.claims.random_features import limits
from onestep.verify.claims.random_features import no_spike as random_feature_claims
from onestep.verify.protocol.claim import Claim, Role
from onestep.verify.protocol.verdict import Verdict
from tests.planting.saddle_point import planting, verdict_by_proof

__all__ = ["planting"]

ALL = (*section_4_3.CLAIMS, *closed_form_claims.CLAIMS, *random_feature_claims.CLAIMS, *limits.CLAIMS)
BY_ID = {claim.id: claim for claim in ALL}
PROVABLE = [c for c in ALL if any(isinstance(check, ByDerivation | ByObligations) for check in c.checks)]


@pytest.mark.parametrize("claim", PROVABLE, ids=lambda claim: claim.id)
def test_every_claim_with_a_proof_is_proved(claim: Claim) -> None:
    assert verdict_by_proof(claim) is Verdict.PROVED


def test_every_claim_of_ours_has_a_proof() -> None:
    assert [claim.id for claim in ALL if claim not in PROVABLE and claim.role is Role.OURS] == []


def test_the_equations_of_section_4_3_and_appendix_e_are_covered() -> None:
    covered = {n for claim in ALL for n in claim.source.equations}
    # (166) only defines an inner product.
    assert {*range(26, 32), *range(165, 173)} - {166} <= covered


@pytest.mark.parametrize("claim_id", ["bounds.upper-any-alignment", "bounds.lower", "slides.lower-bound-without-kappa"])
def test_bounds_found_by_search_and_their_mutants(claim_id: str) -> None:
    claim = BY_ID[claim_id]
    verdict, _, mutants = examine(claim, "quick")
    assert verdict is (Verdict.PROVED if claim.role is Role.OURS else Verdict.REFUTED)
    assert len(mutants) >= 2
    assert all(m.verdict is Verdict.REFUTED for m in mutants)


_product = bounds_closed_form.erf_product_mean
_error = bounds.heavy_ridge_error
_readout = bounds.heavy_ridge_readout
_rules = random_features.target_moment_rules
_plain = random_features.plain_free_energy
_above = bounds.error_above_span
_rescaled = invariances.rescaled

PLANTS: tuple[tuple[object, str, Callable[..., object], tuple[str, ...]], ...] = (
    (
        bounds,
        "heavy_ridge_readout",
        lambda: tuple(-x for x in _readout()),
        ("bounds.m-infinity", "bounds.error-infinity"),
    ),
    (
        bounds,
        "heavy_ridge_error",
        lambda: _error() + 2 * over_kappa(mu0**2),
        ("bounds.error-infinity",),
    ),
    (
        bounds_closed_form,
        "erf_product_mean",
        lambda first, second: -_product(first, second),
        ("bounds.erf-upper", "bounds.sign-norm", "bounds.sign-overlap", "bounds.sign-upper"),
    ),
    (
        bounds_closed_form,
        "erf_mean",
        lambda position, variance: sp.erf(position / sp.sqrt(1 + variance)),
        ("bounds.erf-upper", "bounds.erf-perfect-spike", "bounds.erf-perfect-rate"),
    ),
    (
        random_features,
        "plain_free_energy",
        lambda: _plain() + s.beta * s.M_hat**2 * random_features.T_trace,
        ("no-spike.zeta", "no-spike.q1"),
    ),
    (
        random_features,
        "target_moment_rules",
        lambda: {average: -value for average, value in _rules().items()},
        ("no-spike.zeta", "no-spike.psi"),
    ),
    (
        invariances,
        "rescaled",
        lambda expression, mapping: _rescaled(expression, {**mapping, s.zeta: -s.zeta}),
        ("invariance.activation", "invariance.target", "invariance.bulk"),
    ),
    (
        bounds,
        "distance_to",
        lambda coefficients: 2 * sum(x**2 for x in coefficients) + over_kappa(mu0**2),
        ("bounds.distance",),
    ),
)


@pytest.mark.parametrize(("module", "rule", "wrong", "claims"), PLANTS, ids=[plant[1] for plant in PLANTS])
def test_a_wrong_rule_refutes_its_claims(
    planting: pytest.MonkeyPatch, module: object, rule: str, wrong: Callable[..., object], claims: tuple[str, ...]
) -> None:
    planting.setattr(module, rule, wrong)
    for claim_id in claims:
        assert verdict_by_proof(BY_ID[claim_id]) is Verdict.REFUTED, claim_id
