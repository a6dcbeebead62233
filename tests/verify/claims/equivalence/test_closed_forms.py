"""The claims of closed forms: verdicts and mutants, by all their checks."""

from __future__ import annotations

import pytest

from giantsteps.verify.claims.equivalence.closed_forms import CLAIMS
from giantsteps.verify.claims.index import examine
from giantsteps.verify.protocol.claim import Claim
from giantsteps.verify.protocol.verdict import Verdict

BY_ID = {claim.id: claim for claim in CLAIMS}


def test_there_are_enough_claims_with_names_of_their_own() -> None:
    assert len(CLAIMS) >= 12
    assert len(BY_ID) == len(CLAIMS)
    assert all(used in BY_ID for claim in CLAIMS for used in claim.uses)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_every_claim_is_proved_and_its_mutants_are_refuted(claim: Claim) -> None:
    verdict, evidence, mutants, _ = examine(claim, "quick")
    assert verdict is Verdict.PROVED, [e.summary for e in evidence]
    # A theorem, the heat equation as a second route, and a number that knows nothing of either.
    assert len(evidence) == 3
    assert len(mutants) >= 2
    assert [m.name for m in mutants if m.verdict is not Verdict.REFUTED] == []
