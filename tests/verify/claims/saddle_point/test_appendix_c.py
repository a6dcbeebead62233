"""Appendix C before and beyond the square loss: claims are proved; a wrong sign in a derivation refutes its claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
import sympy as sp

from onestep.derivations.free_energy import convex_loss, dropped_terms, replicas
from onestep.derivations.free_energy import ridge as free_energy
from onestep.derivations.language import symbols as s
from onestep.derivations.saddle_point import any_law as spectral
from onestep.derivations.saddle_point import leave_one_out
from onestep.verify.checks.kinds import ByDerivation, ByObligations
from onestep.verify.claims.bounds import tanh_tails
from onestep.verify.claims.index import all_claims, examine
from onestep.verify.claims.letters import uniform_bias
from onestep.verify.claims.paper import PAPER
from onestep.verify.claims.saddle_point import any_loss as appendix_c_convex
from onestep.verify.claims.saddle_point import definitions as paper_definitions
from onestep.verify.claims.saddle_point import dropped_terms as dropped_claims
from onestep.verify.claims.saddle_point import leave_one_out as cavity_claims
from onestep.verify.claims.saddle_point import replicas as appendix_c_replicas
from onestep.verify.claims.saddle_point import result_3_3 as section_3_3
from onestep.verify.claims.saddle_point import spectral_measure
from onestep.verify.protocol.claim import PROFILES, Claim, Kind, Role
from onestep.verify.protocol.evidence import Outcome
from onestep.verify.protocol.verdict import Verdict
from tests.planting.saddle_point import planting, verdict_by_proof

__all__ = ["planting"]

MODULES = (
    appendix_c_replicas,
    appendix_c_convex,
    dropped_claims,
    cavity_claims,
    spectral_measure,
    tanh_tails,
    uniform_bias,
)
ALL = tuple(claim for module in MODULES for claim in module.CLAIMS)
BY_ID = {claim.id: claim for claim in (*ALL, *section_3_3.CLAIMS)}
PROVABLE = [c for c in ALL if any(isinstance(check, ByDerivation | ByObligations) for check in c.checks)]


@pytest.mark.parametrize("claim", PROVABLE, ids=lambda claim: claim.id)
def test_the_proofs_of_every_claim_go_through(claim: Claim) -> None:
    proofs = [check for check in claim.checks if isinstance(check, ByDerivation | ByObligations)]
    for proof in proofs:
        evidence = proof.run(claim, PROFILES["quick"], PAPER)
        assert evidence.outcome is Outcome.SUPPORTS, evidence.summary


def test_identities_inequalities_and_fixed_points_all_have_proofs() -> None:
    strict = {Kind.IDENTITY, Kind.INEQUALITY, Kind.FIXED_POINT}
    assert [c.id for c in ALL if c.kind in strict and c not in PROVABLE] == []


def test_each_number_of_section_3_3_and_appendices_c_and_e_is_in_one_claim_of_ours() -> None:
    counts = Counter(n for claim in all_claims() if claim.role is Role.OURS for n in claim.source.equations)
    numbers = (*range(17, 33), *range(74, 133), *range(165, 173))
    assert {n: counts[n] for n in numbers if counts[n] != 1} == {}


def test_definitions_without_checks_say_that_they_are_true_by_fiat() -> None:
    for claim in paper_definitions.CLAIMS:
        assert claim.kind is Kind.DEFINITION
        assert "fiat" in claim.note


@pytest.mark.parametrize("claim_id", ["dropped.target-at-spike", "spectral.q1", "bounds.lower-over-bias"])
def test_numbers_alone_refute_the_mutants(claim_id: str) -> None:
    verdict, _, mutants = examine(BY_ID[claim_id], "quick")
    assert verdict in (Verdict.PROVED, Verdict.CONFIRMED)
    assert len(mutants) >= 2
    assert all(m.verdict is Verdict.REFUTED for m in mutants)


_inverse = replicas.inverse_entries
_determinant = replicas.log_determinant
_chain = convex_loss.along
_stein = convex_loss.stein_in_xi
_gap = leave_one_out.cavity_gap
_traces = leave_one_out.trace_of
_sherman_morrison = free_energy.sherman_morrison

PLANTS: tuple[tuple[object, str, Callable[..., object], tuple[str, ...]], ...] = (
    (
        replicas,
        "inverse_entries",
        lambda own, shared: _inverse(own, -shared),
        ("replicas.inverse", "replicas.inverse-diagonal"),
    ),
    (
        replicas,
        "log_determinant",
        lambda own, shared: _determinant(own, -shared),
        ("replicas.determinant", "replicas.determinant-at-zero"),
    ),
    (
        replicas,
        "field_average",
        lambda coupling, total: sp.exp(-coupling * total**2 / 2),
        ("replicas.decoupling", "replicas.entropic-mode"),
    ),
    (
        convex_loss,
        "along",
        lambda objective, minimiser, slope, variable: _chain(objective, minimiser, -slope, variable),
        ("convex.moreau-slope", "convex.moreau-response", "convex.regulariser-slope", "convex.saddle.V1-hat"),
    ),
    (
        convex_loss,
        "stein_in_xi",
        lambda coefficient, slope: -_stein(coefficient, slope),
        ("convex.saddle.V1-hat", "convex.saddle.V2-hat", "convex.saddle.psi-hat", "convex.conjugates"),
    ),
    (
        convex_loss,
        "stein_in_xi",
        lambda coefficient, slope: -_stein(coefficient, slope),
        ("result-3-3.saddle.V1-hat", "result-3-3.saddle.psi-hat"),
    ),
    (
        leave_one_out,
        "cavity_gap",
        lambda: _gap().subs(s.psi, -s.psi),
        ("leave-one-out.q1-hat", "leave-one-out.q2-hat"),
    ),
    (
        leave_one_out,
        "residual_with",
        lambda cavity_residual, response: cavity_residual / (1 - response),
        ("leave-one-out.V1-hat", "leave-one-out.zeta-hat", "leave-one-out.m"),
    ),
    (
        leave_one_out,
        "trace_of",
        lambda first, second: _traces(first, -second),
        ("leave-one-out.q1", "leave-one-out.q2"),
    ),
    (
        spectral,
        "sherman_morrison",
        lambda x: _sherman_morrison(-x),
        ("spectral.zeta",),
    ),
    (
        dropped_terms,
        "terms_with_m_hat",
        lambda: s.m_hat * s.m / sp.sqrt(s.p) + s.m_hat**2 * s.ones_resolvent / 2,
        ("dropped.m-hat-equation",),
    ),
)


@pytest.mark.parametrize(
    ("module", "rule", "wrong", "claims"), PLANTS, ids=[f"{plant[1]}-{i}" for i, plant in enumerate(PLANTS)]
)
def test_a_wrong_rule_refutes_its_claims(
    planting: pytest.MonkeyPatch, module: object, rule: str, wrong: Callable[..., object], claims: tuple[str, ...]
) -> None:
    planting.setattr(module, rule, wrong)
    for claim_id in claims:
        assert verdict_by_proof(BY_ID[claim_id]) is Verdict.REFUTED, claim_id
