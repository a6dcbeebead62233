"""Every formula of the slides has a claim, and every printed claim about the slides is listed."""

from __future__ import annotations

from giantsteps.verify.claims.index import all_claims
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.claims.slides.coverage import FORMULAS
from giantsteps.verify.protocol.paper import DEFINITION
from tests.shared.listed import missing_formulas, unlisted_claims


def test_every_formula_has_a_claim_of_the_ledger() -> None:
    assert missing_formulas(all_claims(), PAPER) == ()


def test_every_printed_claim_about_the_slides_is_listed() -> None:
    assert unlisted_claims(all_claims(), PAPER) == ()


def test_formulas_are_told_apart() -> None:
    assert len({(f.frame, f.says) for f in FORMULAS}) == len(FORMULAS) > 80


def test_what_is_no_definition_is_decided_by_evidence() -> None:
    by_id = {claim.id: claim for claim in all_claims()}
    decided = [f for f in FORMULAS if f.remark != DEFINITION]
    assert all(any(by_id[id_].checks for id_ in f.claims) for f in decided)
