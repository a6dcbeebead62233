"""The claim that certificates name is one that the kernel proves, for what certificates are built for."""

from __future__ import annotations

from giantsteps.numerics.certificates.certify import ONLY
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.claims.index import claims
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.protocol.claim import PROFILES
from giantsteps.verify.protocol.evidence import Outcome, Proof


def test_what_certificates_name_is_a_theorem() -> None:
    (claim,) = [claim for claim in claims(ONLY) if claim.id == ONLY]
    (check,) = [check for check in claim.checks if isinstance(check, ByDerivation)]
    evidence = check.run(claim, PROFILES["quick"], PAPER)
    assert evidence.outcome is Outcome.SUPPORTS
    # Nothing is taken on trust but that both points solve the equations.
    assert isinstance(evidence, Proof)
    assert evidence.theorem is not None
    assert {leaf.kind for leaf in evidence.theorem.assumptions} == {"definition", "lemma", "model"}
    assert {name for name, _ in evidence.theorem.rules} >= {"largest", "specialise", "antisymmetric"}


def test_the_other_number_of_the_solution_is_a_theorem_too() -> None:
    (claim,) = claims("one-solution.tau")
    check = claim.checks[0]
    assert check.run(claim, PROFILES["quick"], PAPER).outcome is Outcome.SUPPORTS
