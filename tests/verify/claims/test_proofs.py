"""What the proof of each claim earns beside numbers that agree; all checks of a claim together refute its mutants."""

from __future__ import annotations

import pytest

from giantsteps.verify.claims.index import all_claims, examine
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.protocol.claim import Claim, Kind, Role
from giantsteps.verify.protocol.evidence import Agreement, Outcome, Proof
from giantsteps.verify.protocol.order import claims_of
from giantsteps.verify.protocol.verdict import Verdict, decide
from tests.planting.errors import PROOFS, proofs_of

CLAIMS = all_claims()
BY_ID = {claim.id: claim for claim in CLAIMS}
# Their verdicts by all checks but simulations are in the tests of closed forms, of networks and of overlapping rows.
EXAMINED_WHOLE = {
    claim.id
    for module in PAPER.modules
    if ".networks." in module or module.endswith((".overlapping_rows", ".overlapping_bulk", "equivalence.closed_forms"))
    for claim in claims_of(module)
}


def repeats(claim: Claim) -> bool:
    """Whether a printed formula is as we state it: then its proof is that of the claim it rests on."""
    return claim.role is Role.PRINTED and any(BY_ID[used].statement == claim.statement for used in claim.uses)


PROVED_ELSEWHERE = EXAMINED_WHOLE | {claim.id for claim in CLAIMS if repeats(claim)}
PROVABLE = [c for c in CLAIMS if c.id not in PROVED_ELSEWHERE and any(isinstance(k, PROOFS) for k in c.checks)]

# Printed formulas that hold as they stand.
RIGHT_AS_PRINTED = {
    "slides.hermite-series", "slides.mu-star", "slides.convex.test-error", "slides.convex.training",
    "slides.sign-mu0", "slides.sign-mu1", "slides.q1", "slides.q2", "slides.upper-bound", "slides.lower-bound",
}  # fmt: skip
# Its derivation speaks of a batch without overlap alone; numbers refute what is printed for any.
UNDECIDED = {"slides.upper-bound-any-batch"}
# Statements about random quantities whose concentration is derived; all others need a simulation beside their proof.
CONCENTRATION_DERIVED = {
    "result-3-1.spike-strength", "result-3-1.alignment", "result-3-1.spike-strength-noisy",
    "result-3-1.alignment-noisy", "result-3-1.bulk-variance", "result-3-1.bulk-variance-noisy",
    "result-3-1.cross-term",
}  # fmt: skip
# A limit that neglects terms whose order is not bounded.
CONJECTURED = {"beyond.spectrum"}


# Beside the proofs of a claim that has other checks: a number that agrees, for a limit at finite size.
AGREES = Agreement("the others agree", 1, 0.0, 1e-9, "", "", finite_size=True)


def expected(claim: Claim, theorem: bool, beside: bool) -> Verdict:
    """The verdict by a proof, which is a theorem or not, and by numbers ``beside`` it."""
    if claim.id in UNDECIDED:
        return Verdict.INCONCLUSIVE
    if claim.role is not Role.OURS and claim.id not in RIGHT_AS_PRINTED:
        return Verdict.CONVENTION if claim.kind is Kind.CONVENTION else Verdict.REFUTED
    open_ = claim.kind is Kind.CONCENTRATION and claim.id not in CONCENTRATION_DERIVED
    if open_ or claim.id in CONJECTURED:
        return Verdict.CONFIRMED if beside else Verdict.INCONCLUSIVE
    return Verdict.PROVED if theorem else Verdict.DERIVED if beside else Verdict.INCONCLUSIVE


@pytest.mark.parametrize("claim", PROVABLE, ids=lambda claim: claim.id)
def test_what_the_proof_of_a_claim_earns(claim: Claim) -> None:
    found = [proof for proof in proofs_of(claim) if isinstance(proof, Proof)]
    beside, theorem = len(found) < len(claim.checks), any(proof.theorem for proof in found)
    verdict = decide(claim.kind, [*found, *([AGREES] if beside else [])])
    assert verdict is expected(claim, theorem, beside)
    if verdict not in (Verdict.REFUTED, Verdict.CONVENTION) and claim.id not in UNDECIDED:
        assert [proof.summary for proof in found if proof.outcome is not Outcome.SUPPORTS] == []
        assert theorem or all(proof.without_rule for proof in found), "what a derivation lacks is named"


def test_what_has_no_proof() -> None:
    """Definitions, random quantities, misprints that numbers refute, two decimals in balls, limits, one solution."""
    without = {c.id for c in CLAIMS if not any(isinstance(check, PROOFS) for check in c.checks)}
    # Networks beside the theory are measured, and what is worse than what is enclosed.
    without -= {id_ for id_ in without if id_.startswith("headline.")}
    plain = {c.id for c in CLAIMS if c.kind in (Kind.DEFINITION, Kind.CONCENTRATION) or c.role is not Role.OURS}
    assert without - plain == {
        "result-3-3.worked-test-error", "result-3-3.worked-training-error",
        "convex.laplace", "random-features.many-samples",
        "one-solution.reached.T", "one-solution.reached.tau", "one-solution.groups.increasing",
        "one-solution.groups.subhomogeneous", "one-solution.groups",
    }  # fmt: skip


# By a theorem of the kernel, or by a derivation beside numbers: the ledger says which.
BY_DERIVATION = (Verdict.PROVED, Verdict.DERIVED)
# One claim of each sort of check, and each where the numbers alone have to see the mutants.
WITH_ALL_CHECKS = {
    BY_DERIVATION: (
        "section-2.initial-output", "result-3-1.spike-norm-exact", "result-3-1.row-correction-exact",
        "result-3-2.means-match", "result-3-2.residual-variance-is-least", "result-3-2.sign-mu2",
        "result-3-3.saddle.V1-hat", "result-3-3.marchenko-pastur-V1", "spectral.q1",
        "bounds.upper-any-alignment", "bounds.lower", "bounds.lower-over-bias",
        "bounds.any-loss.jensen", "bounds.any-loss.square",
        "appendix-d.saddle.V1-hat", "appendix-d.saddle.q1", "appendix-d.block.T-other", "appendix-d.isotropic.q2",
        "appendix-f.population", "appendix-f.schur", "appendix-f.V1-hat", "appendix-f.zeta-vanishes",
        "wider.rate.conventions",
    ),
    # Seeds are fixed; a right claim is refuted by an unlucky seed with probability below 1e-3.
    (Verdict.CONFIRMED,): (
        "appendix-d.mu1", "dropped.target-at-spike", "random-features.kernel",
        "wider.leap.share-beyond-one", "wider.leap.share-below-one", "wider.rate.spikes",
    ),
    (Verdict.REFUTED,): (
        "slides.lower-bound-without-kappa", "slides.overlap-without-modulus",
        "slides.V1-hat-with-rho", "slides.q1-hat-with-rho",
    ),
}  # fmt: skip
HEAVY = {
    BY_DERIVATION: ("bounds.any-loss.lower", "bounds.any-loss.heavy-ridge", "bounds.any-loss.upper"),
    (Verdict.CONFIRMED,): ("wider.leap.preprocessing",),
}


def assert_mutants_fall(id_: str, verdicts: tuple[Verdict, ...]) -> None:
    """The verdict of all checks of a claim, and at least two mutants that they refute."""
    found, _, mutants, _ = examine(BY_ID[id_], "quick")
    assert found in verdicts
    assert len(mutants) >= 2
    assert [m.name for m in mutants if m.verdict is not Verdict.REFUTED] == []


@pytest.mark.parametrize(("verdicts", "id_"), [(v, i) for v, ids in WITH_ALL_CHECKS.items() for i in ids])
def test_every_mutant_is_refuted_by_all_checks_together(verdicts: tuple[Verdict, ...], id_: str) -> None:
    assert_mutants_fall(id_, verdicts)


@pytest.mark.thorough
@pytest.mark.parametrize(("verdicts", "id_"), [(v, i) for v, ids in HEAVY.items() for i in ids])
def test_every_mutant_of_claims_of_heavy_numbers_is_refuted(verdicts: tuple[Verdict, ...], id_: str) -> None:
    assert_mutants_fall(id_, verdicts)
