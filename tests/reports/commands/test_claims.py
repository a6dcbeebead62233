"""giantsteps claims, errata and verify: statements, verdicts on record, ids cut short, misprints corrected, drift."""

from __future__ import annotations

from dataclasses import replace

import pytest

from giantsteps.reports.command_line.claim_ids import find
from giantsteps.reports.commands.claims import assumptions_text, on_record, with_verdicts
from giantsteps.reports.commands.errata import find as find_erratum
from giantsteps.reports.text.ledger_files import committed
from giantsteps.verify.claims.index import all_claims
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.ledger.run import Ledger
from giantsteps.verify.protocol.verdict import Verdict
from tests.shared.command_line import document, outcome
from tests.shared.report_page import toy_ledger

LEDGER = committed() or {}


def test_claims_lists_statements_without_running_anything(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["claims"])
    assert len(found["claims"]) >= 40  # the least that the main text of the paper asks for
    assert sum(found["summary"].values()) == len(found["claims"])
    ids = {claim["id"] for claim in found["claims"]}
    keys = {"id", "source", "equations", "kind", "statement", "uses", "verdict", "weakest", "evidence", "mutants"}
    for claim in found["claims"]:
        assert keys <= set(claim)
        assert set(claim["uses"]) <= ids
        assert claim["statement"]


def test_one_claim_is_what_the_committed_ledger_says() -> None:
    """Key by key and in the same order; what only begins an id is looked for among all claims."""
    known = all_claims()
    for claim in (known[0], known[len(known) // 2], known[-1]):
        (recorded,), (built,) = on_record(claim.id, LEDGER) or [], with_verdicts([claim], LEDGER)
        assert list(recorded.items()) == list(built.items())
    assert on_record("result-3-1", LEDGER) is None


def test_a_changed_statement_loses_its_recorded_verdict() -> None:
    kept, other = all_claims()[:2]
    assert with_verdicts([kept], LEDGER)[0]["verdict"] != "UNTESTED"
    changed = replace(kept, statement=other.statement)
    assert with_verdicts([changed], LEDGER)[0]["verdict"] == "UNTESTED"


def test_ids_may_be_cut_short(capfd: pytest.CaptureFixture[str]) -> None:
    ids = [claim.id for claim in all_claims()]
    expected = [id_ for id_ in ids if id_.startswith("result-3-1")]
    assert len(expected) > 1
    assert [claim["id"] for claim in document(capfd, ["claims", "result-3-1"])["claims"]] == expected
    assert outcome(capfd, ["claims", "result-3-1"])[1].startswith("claim")
    # What only one begins with is that one, shown whole; an id that others begin with is itself.
    assert outcome(capfd, ["claims", "result-3-1.spike-strength-n"])[1].startswith("result-3-1.spike-strength-noisy: ")
    assert outcome(capfd, ["claims", "result-3-1.spike-strength"])[1].startswith("result-3-1.spike-strength: ")
    assert all([claim.id for claim in find(all_claims(), id_)] == [id_] for id_ in ids)


@pytest.mark.parametrize("text", ["(9)", "9", "eq. (9)", "Equation 9"])
def test_an_equation_finds_every_claim_whose_source_names_it(text: str) -> None:
    names = ("result-3-1.spike-strength", "result-3-1.spike-strength-noisy", "result-3-1.spike-order")
    assert {claim.id for claim in find(all_claims(), text)} == {*names, "slides.spike-strength"}


def test_verify_runs_what_is_named_with_all_it_rests_on(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capfd, ["verify", "result-3-2.sign-mu2", "--seed", "7", "--quiet"])
    (claim,) = find(all_claims(), "result-3-2.sign-mu2")
    assert (code, err) == (0, "")
    assert {line.split()[0] for line in out.splitlines() if line} >= {claim.id, *claim.uses}
    assert "drawn afresh with seed 7" in out
    assert "mutants refuted" in out.splitlines()[-1]


@pytest.mark.parametrize(
    ("verdict", "was", "seed", "code"),
    [
        (Verdict.PROVED, Verdict.PROVED, 0, 0),
        (Verdict.REFUTED, Verdict.REFUTED, 0, 1),
        (Verdict.INCONCLUSIVE, Verdict.INCONCLUSIVE, 0, 0),
        (Verdict.INCONCLUSIVE, Verdict.CONFIRMED, 0, 1),  # drift
        (Verdict.INCONCLUSIVE, Verdict.CONFIRMED, 7, 3),  # other draws
        (Verdict.INCONCLUSIVE, None, 0, 3),  # there is nothing to compare with
    ],
)
def test_the_exit_codes_of_a_ledger(verdict: Verdict, was: Verdict | None, seed: int, code: int) -> None:
    entry = replace(toy_ledger().entries[0], verdict=verdict)
    known = {"claims": [{"id": entry.claim.id, "verdict": was.value}]} if was else None
    assert Ledger("quick", (entry,), seed=seed).exit_code(known) == code


def test_errata_takes_an_id_or_its_beginning_and_shows_both_forms(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["errata", "erratum.step-o"])
    (erratum,) = found["errata"]
    assert (erratum["id"], found["conventions"]) == ("erratum.step-over-n", [])
    assert {"id", "source", "printed", "corrected", "witness", "consequence"} <= set(erratum)
    assert erratum["printed"] != erratum["corrected"]
    assert [one.id for one in find_erratum((*PAPER.errata, *PAPER.conventions), "input-scale")] == [
        "convention.input-scale"
    ]


def test_the_assumptions_of_theorems_are_listed(capfd: pytest.CaptureFixture[str]) -> None:
    known = LEDGER["leaves"]
    assert document(capfd, ["claims", "--leaves"])["leaves"] == known
    of_one = document(capfd, ["claims", "--leaves", "result-3-3"])["leaves"]
    assert 0 < len(of_one) < len(known)
    assert all(any(id_.startswith("result-3-3") for id_ in one["claims"]) for one in of_one)
    lemma = {
        "kind": "lemma", "names": ["Stein"], "statements": ["c = d"], "references": ["by parts"], "claim": None,
        "test": "tests/a.py::b[Stein]", "claims": ["bounds.one", "bounds.two"],
    }  # fmt: skip
    hypothesis = lemma | {"kind": "hypothesis", "claim": "result-3-2.same", "claims": ["bounds.one"]}
    text = assumptions_text([lemma, hypothesis])
    assert [line for line in text.splitlines() if line and not line.startswith(" ")][:2] == ["1 hypotheses", "1 lemmas"]
    for part in ("Stein   (2 claims)", "Stein   (1 claim)", "result-3-2.same", "by parts", "test tests/a.py::b[Stein]"):
        assert text.count(part) == 1 + (part[:5] == "test ")
