"""Errata and conventions: each names two claims of the right role, and the committed ledger refutes these alone."""

from __future__ import annotations

import json
from pathlib import Path

from giantsteps.verify.claims.index import all_claims
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.claims.slides.errata import CONVENTIONS, ERRATA
from giantsteps.verify.protocol.claim import Kind, Role


def test_every_erratum_names_a_printed_claim_and_one_of_ours() -> None:
    by_id = {claim.id: claim for claim in all_claims()}
    for erratum in (*ERRATA, *CONVENTIONS):
        printed = by_id[erratum.printed]
        reading = erratum.id.startswith("reading.")
        assert printed.role is (Role.READING if reading else Role.PRINTED), erratum.id
        assert (printed.kind is Kind.CONVENTION) is erratum.id.startswith("convention."), erratum.id
        assert by_id[erratum.corrected].role is Role.OURS, erratum.id
        correction = by_id[erratum.printed].correction
        assert correction is None or correction.id == erratum.corrected, erratum.id
    listed = {erratum.printed for erratum in (*ERRATA, *CONVENTIONS)}
    assert {i for i, claim in by_id.items() if claim.kind is Kind.CONVENTION or claim.role is Role.READING} <= listed


def test_nothing_rests_on_a_convention_or_on_a_reading() -> None:
    apart = {c.id for c in all_claims() if c.kind is Kind.CONVENTION or c.role is Role.READING}
    assert [claim.id for claim in all_claims() if apart & set(claim.uses)] == []


def test_no_claim_of_ours_is_a_convention_and_no_reading_is_of_a_source() -> None:
    documents = {source.name for source in PAPER.sources} - {"this suite"}
    for claim in all_claims():
        assert claim.role is not Role.OURS or claim.kind is not Kind.CONVENTION, claim.id
        assert claim.role is not Role.READING or claim.source.document not in documents, claim.id


def test_no_refuted_formula_of_the_committed_ledger_is_missing() -> None:
    committed = json.loads(
        (Path(__file__).resolve().parent.parent.parent.parent.parent / "reports" / "ledger.json").read_text("utf-8")
    )
    found = {c["id"] for c in committed["claims"] if c["role"] != "ours" and c["verdict"] in ("REFUTED", "CONVENTION")}
    assert found == {erratum.printed for erratum in (*ERRATA, *CONVENTIONS)}
