"""Section 3.3 and Appendix C: right derivations prove every claim, a wrong sign in one refutes its claims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import sympy as sp

from onestep.derivations.bulk import marchenko_pastur
from onestep.derivations.free_energy import ridge as free_energy
from onestep.derivations.free_energy import sample_energy
from onestep.derivations.language import symbols as s
from onestep.derivations.saddle_point import equations as saddle_point
from onestep.derivations.saddle_point import normalisations
from onestep.verify.checks.kinds import ByDerivation
from onestep.verify.claims.index import examine
from onestep.verify.claims.paper import PAPER
from onestep.verify.claims.saddle_point import free_energy as appendix_c
from onestep.verify.claims.saddle_point import result_3_3 as section_3_3
from onestep.verify.claims.slides import saddle_point as slides_saddle_point
from onestep.verify.protocol.claim import PROFILES, Claim, Role
from onestep.verify.protocol.evidence import Outcome
from onestep.verify.protocol.verdict import Verdict
from onestep.verify.second_route.models import density_integrals
from tests.planting.saddle_point import planting, verdict_by_proof

__all__ = ["planting"]

ALL = (*appendix_c.CLAIMS, *section_3_3.CLAIMS, *slides_saddle_point.CLAIMS)
BY_ID = {claim.id: claim for claim in ALL}
OURS = [claim for claim in ALL if claim.role is Role.OURS]


@pytest.mark.parametrize("claim", OURS, ids=lambda claim: claim.id)
def test_every_claim_is_proved(claim: Claim) -> None:
    assert verdict_by_proof(claim) is Verdict.PROVED


def test_the_equations_of_section_3_3_and_appendix_c_are_covered() -> None:
    covered = {n for claim in OURS for n in claim.source.equations}
    # The rest of Appendix C is in tests/verify/claims/saddle_point/test_appendix_c.py.
    assert {18, 19, 20, 25, 98, 102, 103, 104, 107, 108, 109, 110, 114, 116, 117} <= covered
    assert {*range(121, 130)} <= covered


def test_what_the_slides_print_is_refuted() -> None:
    printed = [claim for claim in ALL if claim.role is Role.PRINTED]
    assert len(printed) >= 2
    for claim in printed:
        verdict, _, mutants = examine(claim, "quick")
        assert verdict is Verdict.REFUTED
        assert all(m.verdict is Verdict.REFUTED for m in mutants)


def test_mutants_of_two_claims_with_numbers_are_refuted() -> None:
    for claim_id in ("result-3-3.saddle.V1-hat", "result-3-3.marchenko-pastur-V1"):
        verdict, _, mutants = examine(BY_ID[claim_id], "quick")
        assert verdict is Verdict.PROVED
        assert len(mutants) >= 2
        assert all(m.verdict is Verdict.REFUTED for m in mutants)


def wrong_sherman_morrison(x: sp.Expr) -> sp.Expr:
    """A wrong sign in the denominator."""
    return x + s.V1_hat * x**2 / (1 + s.V1_hat * x)


def wrong_trace(R: sp.Symbol, V: sp.Expr, q: sp.Expr, V_hat: sp.Expr, q_hat: sp.Expr) -> sp.Expr:
    """A wrong sign of V^ on the diagonal."""
    return -(R * (V + q) * (q_hat + V_hat) + R * (R - 1) * q * q_hat) / 2


def wrong_inverse(trace_of_rest: sp.Expr) -> sp.Expr:
    """A wrong sign in the Schur complement."""
    return marchenko_pastur.shift + s.V1_hat * s.c + s.V1_hat**2 * s.c * s.beta * trace_of_rest


_stationary = saddle_point.stationary
_implicit = marchenko_pastur.implicit_derivative
_mean = sample_energy.local_field_mean
_label = sample_energy.label
_exponent = free_energy.exponent_per_neuron

PLANTS: tuple[tuple[object, str, Callable[..., object], tuple[str, ...]], ...] = (
    (
        sample_energy,
        "moreau_minimiser",
        lambda: (s.field_mean - s.V * s.residual) / (1 + s.V),
        ("result-3-3.moreau-minimiser", "result-3-3.moreau-envelope"),
    ),
    (
        sample_energy,
        "local_field_mean",
        lambda: _mean().subs(s.psi, -s.psi),
        ("result-3-3.local-field-mean", "result-3-3.energetic-term"),
    ),
    (sample_energy, "label", lambda: -_label(), ("result-3-3.energetic-term",)),
    (
        free_energy,
        "sherman_morrison",
        wrong_sherman_morrison,
        ("result-3-3.sherman-morrison", "result-3-3.entropic-term", "result-3-3.saddle.zeta", "result-3-3.saddle.q1"),
    ),
    (
        free_energy,
        "replicated_trace",
        wrong_trace,
        ("result-3-3.trace-term", "result-3-3.saddle.V1-hat", "result-3-3.isotropic.q2"),
    ),
    (
        free_energy,
        "mode_minimum",
        lambda curvature, force: -(force**2) / curvature,
        ("result-3-3.entropic-term", "result-3-3.free-energy", "result-3-3.saddle.psi"),
    ),
    (
        free_energy,
        "mode_force",
        lambda singular, target: sp.sqrt(3 * s.p) * s.psi_hat * singular * target,
        ("result-3-3.entropic-term", "result-3-3.free-energy", "result-3-3.saddle.psi"),
    ),
    (
        free_energy,
        "exponent_per_neuron",
        lambda samples, cost: _exponent(samples / 2, cost),
        ("result-3-3.free-energy", "result-3-3.saddle.V1-hat"),
    ),
    (
        marchenko_pastur,
        "cavity_inverse",
        wrong_inverse,
        ("result-3-3.marchenko-pastur-V1", "result-3-3.marchenko-pastur-V2", "result-3-3.spike-resolvent"),
    ),
    (
        marchenko_pastur,
        "implicit_derivative",
        lambda variable: -_implicit(variable),
        ("result-3-3.resolvent-square", "result-3-3.resolvent-mixed", "result-3-3.resolvent-double"),
    ),
    (
        saddle_point,
        "stationary",
        lambda phi, variable: _stationary(phi, variable).subs(s.V1, -s.V1),
        ("result-3-3.saddle.V1-hat", "result-3-3.saddle.q1-hat", "result-3-3.saddle.m"),
    ),
    (
        saddle_point,
        "local_field_mean",
        lambda: _mean().subs(s.psi, -s.psi),
        ("result-3-3.test-error", "result-3-3.test-error-as-printed"),
    ),
    (
        normalisations,
        "stationary",
        lambda phi, variable: _stationary(phi, variable).subs(s.rho, s.rho**2),
        ("result-3-3.slides.psi-hat",),
    ),
)


@pytest.mark.parametrize(("module", "rule", "wrong", "claims"), PLANTS, ids=[plant[1] for plant in PLANTS])
def test_a_wrong_rule_refutes_its_claims(
    planting: pytest.MonkeyPatch, module: object, rule: str, wrong: Callable[..., object], claims: tuple[str, ...]
) -> None:
    planting.setattr(module, rule, wrong)
    for claim_id in claims:
        assert verdict_by_proof(BY_ID[claim_id]) is Verdict.REFUTED, claim_id


@pytest.mark.parametrize("name", ["entropic-term", "free-energy", "saddle.psi", "saddle.q1", "saddle.q2"])
def test_a_statement_and_its_derivation_wrong_alike_are_refuted_by_numbers(name: str) -> None:
    # Three times the target's force, as if the same slip were in the derivation: dense matrices know nothing of it.
    claim = BY_ID[f"result-3-3.{name}"]
    wrong = claim.statement.xreplace({s.psi_hat: sp.sqrt(3) * s.psi_hat})
    check = next(c for c in claim.checks if not isinstance(c, ByDerivation))
    assert check.run(claim, PROFILES["quick"], PAPER).outcome is Outcome.SUPPORTS
    assert check.run(replace(claim, statement=wrong), PROFILES["quick"], PAPER).outcome is Outcome.REFUTES


@pytest.mark.parametrize("beta", [0.4, 0.999, 1.001, 2.5])
def test_integrals_over_the_density_keep_the_trace_identity_next_to_beta_one(beta: float) -> None:
    # (1/p) tr[S S^-1] = 1 with S = shift + conjugate W W^T: exact, so only rounding of 540 terms is left.
    found = density_integrals(beta, 1.7, 0.3, 1.2)
    assert 0.3 * found[s.V2.name] + 1.2 * found[s.V1.name] == pytest.approx(1.0, abs=1e-13)
