"""Errata: reported where a printed claim was refuted, with the ledger's own witness, and only there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import sympy as sp

from giantsteps.reports.page.misprints import document_of_errata_section as document
from giantsteps.reports.page.misprints import section
from giantsteps.verify.claims.index import all_claims, examine
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.claims.slides.errata import CONVENTIONS, ERRATA
from giantsteps.verify.ledger.errata import conventions, errata, examine_errata, unlisted
from giantsteps.verify.ledger.run import Entry, Ledger
from giantsteps.verify.protocol.claim import Claim, Kind, Role, Source
from giantsteps.verify.protocol.paper import Erratum
from giantsteps.verify.protocol.verdict import Verdict
from tests.shared import toy

RIGHT = toy.claim(id="toy.right")
WRONG = toy.claim(
    id="toy.wrong",
    role=Role.PRINTED,
    source=Source("slides", "a frame", (3,)),
    statement=sp.Eq(toy.norm, toy.LIMIT / 2),
)
TOY = replace(PAPER, errata=(Erratum("erratum.toy", "toy.wrong", "toy.right", "twice as much"),))


def ledger_of(*claims: Claim) -> Ledger:
    entries = []
    for claim in claims:
        verdict, evidence, mutants, _ = examine(claim, "quick")
        entries.append(Entry(claim, verdict, evidence, mutants, verdict, ()))
    return Ledger("quick", tuple(entries))


def test_a_refuted_printed_claim_is_reported_with_the_evidence_of_the_run() -> None:
    ledger = ledger_of(RIGHT, WRONG)
    (report,) = errata(ledger, TOY)
    assert report.corrected_verdict is Verdict.PROVED
    assert report.source == "slides, a frame, (3)"
    assert "\\frac" in report.printed
    assert report.printed != report.corrected
    wrong = next(e for e in ledger.entries if e.claim.id == "toy.wrong")
    # the witness is word for word what the checks said
    assert report.witness == "; ".join(e.summary for e in wrong.evidence)
    assert document(report)["corrected_verdict"] == "PROVED"
    assert section(ledger, TOY) == (("slides, a frame", (document(report),)),)
    assert conventions(ledger, TOY) == ()


OTHER = replace(WRONG, kind=Kind.CONVENTION)
APART = replace(PAPER, errata=(), conventions=TOY.errata)


def test_a_convention_that_differs_is_listed_apart_and_is_no_misprint() -> None:
    ledger = ledger_of(RIGHT, OTHER)
    assert ledger.entries[1].verdict is Verdict.CONVENTION
    assert ledger.entries[1].mutants
    assert ledger.entries[1].surviving_mutants == ()  # a slip of the pen in it is refuted like any other
    assert ledger.exit_code() == 0
    (report,) = conventions(ledger, APART)
    assert (report.printed_verdict, report.corrected_verdict) == (Verdict.CONVENTION, Verdict.PROVED)
    assert report.witness
    assert errata(ledger, TOY) == ()  # listed among the misprints it is none
    assert unlisted(ledger, APART) == ()
    assert unlisted(ledger, TOY) == ("toy.wrong",)


def test_a_convention_that_is_ours_too_is_not_listed() -> None:
    same = replace(OTHER, statement=RIGHT.statement)
    assert conventions(ledger_of(RIGHT, same), APART) == ()


def test_a_refuted_reading_is_listed_apart_and_fails_nothing() -> None:
    ledger = ledger_of(RIGHT, replace(WRONG, role=Role.READING))
    assert ledger.exit_code() == 0
    assert [report.printed_verdict for report in conventions(ledger, APART)] == [Verdict.REFUTED]
    assert errata(ledger, TOY) == ()


def test_a_printed_claim_that_passes_is_no_erratum() -> None:
    passing = replace(WRONG, statement=RIGHT.statement)
    ledger = ledger_of(RIGHT, passing)
    assert errata(ledger, TOY) == ()
    assert unlisted(ledger, TOY) == ()


def test_claims_outside_the_ledger_make_no_erratum() -> None:
    assert errata(ledger_of(WRONG), TOY) == ()


def test_a_refuted_printed_claim_without_an_erratum_is_noticed() -> None:
    assert unlisted(ledger_of(WRONG), PAPER) == ("toy.wrong",)


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


@pytest.fixture(scope="module")
def examined() -> Ledger:
    return examine_errata(PAPER)


def test_every_erratum_is_found_by_running_its_checks(examined: Ledger) -> None:
    found = errata(examined, PAPER)
    assert [report.id for report in found] == [erratum.id for erratum in ERRATA]
    assert [report.id for report in conventions(examined, PAPER)] == [erratum.id for erratum in CONVENTIONS]
    assert all(report.witness for report in (*found, *conventions(examined, PAPER)))
    assert unlisted(examined, PAPER) == ()


def test_no_refuted_formula_of_the_committed_ledger_is_missing() -> None:
    committed = json.loads(
        (Path(__file__).resolve().parent.parent.parent.parent.parent / "reports" / "ledger.json").read_text("utf-8")
    )
    found = {c["id"] for c in committed["claims"] if c["role"] != "ours" and c["verdict"] in ("REFUTED", "CONVENTION")}
    assert found == {erratum.printed for erratum in (*ERRATA, *CONVENTIONS)}


def test_every_correction_passes(examined: Ledger) -> None:
    passing = {Verdict.PROVED, Verdict.CERTIFIED, Verdict.DERIVED, Verdict.CONFIRMED}
    found = (*errata(examined, PAPER), *conventions(examined, PAPER))
    assert {report.id for report in found if report.corrected_verdict not in passing} == set()


def test_the_misprints_named_in_advance_are_found(examined: Ledger) -> None:
    """Spike strength, alignment, bulk variance and its constant, the factor rho, kappa in the lower bound and the span,
    mu2 and mu* against their squares; the ridge is a convention.
    """
    expected = {
        "spike-strength",
        "alignment",
        "bulk-variance",
        "check-constant",
        "V1-hat-with-rho",
        "V2-hat-with-rho",
        "lower-bound-without-kappa",
        "span-with-derivative",
        "sign-mu2",
        "mu-star-without-root",
    }
    assert expected <= {report.id.removeprefix("erratum.") for report in errata(examined, PAPER)}
    assert "convention.same-ridge" in {report.id for report in conventions(examined, PAPER)}
