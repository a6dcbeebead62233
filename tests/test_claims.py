"""Every claim of the ledger, one test each: its verdict is computed here again, and each of its mutants is refuted."""

from __future__ import annotations

import pytest

from verify.claim import Claim, Kind, Role
from verify.ledger import all_claims, examine, ordered
from verify.verdict import Verdict

CLAIMS = all_claims()
PASSING = {Verdict.PROVED, Verdict.CERTIFIED, Verdict.CONFIRMED}


@pytest.mark.parametrize("claim", CLAIMS, ids=[c.id for c in CLAIMS])
def test_claim(claim: Claim) -> None:
    verdict, evidence, mutants = examine(claim, "quick")
    found = "; ".join(f"{e.check}: {e.summary}" for e in evidence)
    if claim.kind is Kind.DEFINITION and not claim.checks:
        assert verdict is Verdict.UNTESTED  # true by fiat
    elif claim.role is Role.OURS:
        assert verdict in PASSING, found
    else:
        assert verdict in PASSING | {Verdict.REFUTED}, found
    if claim.kind is not Kind.DEFINITION:
        assert len(mutants) >= 2, "a check that was never seen to fail is not known to be able to"
    survivors = [m.name for m in mutants if m.verdict is not Verdict.REFUTED]
    assert not survivors, f"mutants that the checks let pass: {survivors}"


def test_the_claims_form_a_ledger() -> None:
    assert len(ordered(CLAIMS)) == len(CLAIMS) >= 40


def test_every_claim_says_where_it_comes_from_and_what_it_means() -> None:
    for claim in CLAIMS:
        assert claim.title, claim.id
        assert claim.source.document, claim.id
        assert claim.source.section, claim.id


def test_a_limit_is_not_called_proved_without_a_limit() -> None:
    for claim in CLAIMS:
        if claim.kind in (Kind.LIMIT, Kind.CONCENTRATION):
            assert any(getattr(check, "takes_limit", False) or "simulation" in check.name or "numbers" in check.name
                       or "search" in check.name for check in claim.checks), claim.id
