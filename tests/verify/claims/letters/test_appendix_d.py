"""Appendix D: right derivations prove every claim, a wrong sign in one refutes its claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
import sympy as sp

from onestep.derivations.bulk import blocks as block_equivalent
from onestep.derivations.bulk.blocks import C, Theta, X
from onestep.derivations.language import symbols as s
from onestep.derivations.saddle_point import letters as readout_features
from onestep.derivations.saddle_point import letters as readout_groups
from onestep.derivations.saddle_point import orthogonal_bulk
from onestep.derivations.saddle_point.letter_energy import double_sum
from onestep.verify.checks.kinds import ByDerivation, ByObligations
from onestep.verify.claims.index import examine
from onestep.verify.claims.letters import free_energy as appendix_d
from onestep.verify.claims.letters import orthogonal as appendix_d_orthogonal
from onestep.verify.claims.letters import saddle_point as appendix_d_saddle
from onestep.verify.claims.paper import PAPER
from onestep.verify.protocol.claim import PROFILES, Claim, Kind, Role
from onestep.verify.protocol.evidence import Outcome
from onestep.verify.protocol.verdict import Verdict
from onestep.verify.second_route.saddle_point.orthogonal import exact
from tests.planting.appendices import planting, verdict_by_proof

__all__ = ["planting"]

ALL = (*appendix_d.CLAIMS, *appendix_d_saddle.CLAIMS, *appendix_d_orthogonal.CLAIMS)
BY_ID = {claim.id: claim for claim in ALL}
OURS = [claim for claim in ALL if claim.role is Role.OURS]
WITH_PROOF = [c for c in OURS if any(isinstance(check, ByDerivation | ByObligations) for check in c.checks)]


@pytest.mark.parametrize("claim", WITH_PROOF, ids=lambda claim: claim.id)
def test_every_claim_with_a_proof_is_proved(claim: Claim) -> None:
    assert verdict_by_proof(claim) is Verdict.PROVED


def test_all_other_claims_are_definitions_or_about_random_matrices() -> None:
    assert {c.kind for c in OURS if c not in WITH_PROOF} == {Kind.DEFINITION, Kind.CONCENTRATION}


def test_every_equation_is_covered_once() -> None:
    covered = Counter(n for claim in OURS for n in claim.source.equations)
    assert covered == Counter(range(133, 165))


# One claim of each sort of check: numbers and proof, one given bulk, a definition with numbers.
@pytest.mark.parametrize(
    "id_",
    [
        "appendix-d.saddle.V1-hat",
        "appendix-d.saddle.q1",
        "appendix-d.mu1",
        "appendix-d.block.T-other",
        "appendix-d.isotropic.q2",
    ],
)
def test_every_mutant_is_refuted(id_: str) -> None:
    verdict, _, mutants = examine(BY_ID[id_], "quick")
    assert verdict in (Verdict.PROVED, Verdict.CONFIRMED)
    assert len(mutants) >= 2
    assert {m.verdict for m in mutants} == {Verdict.REFUTED}


def test_leaving_the_spike_in_an_orthogonal_bulk_is_refuted() -> None:
    printed = [claim for claim in ALL if claim.role is Role.PRINTED]
    assert len(printed) == 2
    for claim in printed:
        checks = [check for check in claim.checks if check is exact]
        assert len(checks) == 1  # the exact algebra of one finite bulk is enough, no simulation needed
        assert checks[0].run(claim, PROFILES["quick"], PAPER).outcome is Outcome.REFUTES


def wrong_inverse(a: int, traces: sp.Matrix) -> sp.Expr:
    """A wrong sign of what the rest takes off a row."""
    return block_equivalent.shift[a] + s.c_of[a] * (C + s.beta * C * traces * C)[a, a]


def wrong_slope(dTheta: sp.Matrix) -> sp.Matrix:
    """A wrong sign of what Theta contributes to dM."""
    M, one = block_equivalent.M, sp.eye(2)
    return (one - M * Theta) * X * (one - Theta * M) + M * dTheta * M


def wrong_spike(X_: sp.Matrix) -> sp.Matrix:
    """A wrong sign of the rank-one term."""
    return ((sp.eye(2) + X_ * C).inv(method="ADJ") * X_).applyfunc(sp.factor)


_entropic_slope = readout_groups.entropic_slope
_double_sum = double_sum
_isotropic_traces = readout_groups.isotropic_traces

PLANTS: tuple[tuple[object, str, Callable[..., object], tuple[str, ...]], ...] = (
    (block_equivalent, "diagonal_inverse", wrong_inverse, ("appendix-d.block.tau", "appendix-d.block.T-own")),
    (block_equivalent, "mixed_slope", wrong_slope, ("appendix-d.isotropic.q2", "appendix-d.isotropic.q1")),
    (
        readout_groups,
        "entropic_slope",
        lambda variable: -_entropic_slope(variable),
        ("appendix-d.saddle.q1", "appendix-d.saddle.V2", "appendix-d.saddle.zeta"),
    ),
    (
        readout_groups,
        "isotropic_traces",
        lambda: {name: -value for name, value in _isotropic_traces().items()},
        ("appendix-d.isotropic.zeta", "appendix-d.isotropic.psi"),
    ),
    (orthogonal_bulk, "along_spike", wrong_spike, ("appendix-d.orthogonal.zeta", "appendix-d.orthogonal.q")),
    (
        orthogonal_bulk,
        "overlap_of",
        lambda a, b: orthogonal_bulk.without_spike(a, b) * s.q2_of[a] + s.zeta_of[a] * s.zeta_of[b],
        ("appendix-d.orthogonal.output-variance",),
    ),
    (readout_features, "letter_row", lambda step: -s.letter[0] * step, ("appendix-d.row-norm",)),
    (
        readout_features,
        "split_input",
        lambda along, across: s.kappa * along - across,
        ("appendix-d.output",),
    ),
)


@pytest.mark.parametrize(
    ("module", "rule", "wrong", "ids"), PLANTS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_wrong_sign_in_a_rule_refutes_its_claims(
    planting: pytest.MonkeyPatch, module: object, rule: str, wrong: Callable[..., object], ids: tuple[str, ...]
) -> None:
    planting.setattr(module, rule, wrong)
    assert {i: verdict_by_proof(BY_ID[i]) for i in ids} == dict.fromkeys(ids, Verdict.REFUTED)
