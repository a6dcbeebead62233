"""The committed ledger states these claims and they passed; `make drift` computes it again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from giantsteps.numerics.certificates.certify import ONLY
from giantsteps.reports.text.words import steps_without_rule
from giantsteps.verify.claims.index import all_claims
from giantsteps.verify.claims.saddle_point import definitions
from giantsteps.verify.ledger.document import statement_latex
from giantsteps.verify.protocol.claim import Kind, Role
from giantsteps.verify.protocol.order import ordered
from giantsteps.verify.protocol.verdict import Verdict

CLAIMS = all_claims()
LEDGER = Path(__file__).resolve().parent.parent.parent.parent / "reports" / "ledger.json"
COMMITTED = {entry["id"]: entry for entry in json.loads(LEDGER.read_text(encoding="utf-8"))["claims"]}
PASSING = {Verdict.PROVED, Verdict.CERTIFIED, Verdict.DERIVED, Verdict.CONFIRMED}
# Kinds that no agreement of numbers settles: proved, certified, or derived in steps of which some have no rule.
EXACT = {Kind.IDENTITY, Kind.INEQUALITY, Kind.FIXED_POINT}


def test_the_committed_ledger_states_these_claims_and_they_passed() -> None:
    assert set(COMMITTED) == {claim.id for claim in CLAIMS}
    for claim in CLAIMS:
        entry = COMMITTED[claim.id]
        assert entry["statement"] == statement_latex(claim), claim.id
        by_fiat = claim.kind is Kind.DEFINITION and not claim.checks
        if claim.role is Role.OURS and not by_fiat:
            blunt = entry["verdict"] == Verdict.INCONCLUSIVE and not _enough(entry["power"])
            assert blunt or entry["verdict"] in {v.value for v in PASSING}, claim.id
            assert {e["outcome"] for e in entry["evidence"]} == {"supports"}, claim.id
        if claim.kind is not Kind.DEFINITION:
            assert len(entry["mutants"]) >= 2, claim.id
        assert {m["verdict"] for m in entry["mutants"]} <= {"REFUTED"}, claim.id


def _enough(power: Mapping[str, Any]) -> bool:
    """Whether what earned a verdict caught four in five alone, of the claim's own and of the generic ones, and each of
    those that were written for the claim; the ledger has to say which it did not.
    """
    assert power["caught_alone"] + len(power["missed"]) == power["of"]
    generic = len([m for m in power["generic"] if power["earned_by"] in m["caught_by"]])
    own = (power["caught_alone"] - generic, power["of"] - len(power["generic"]))
    shares = all(5 * caught >= 4 * tried for caught, tried in (own, (generic, len(power["generic"]))))
    return shares and not power.get("missed_written")


def test_an_exact_claim_of_the_committed_ledger_is_proved_or_names_the_steps_that_no_rule_made() -> None:
    exact = [claim.id for claim in CLAIMS if claim.kind in EXACT and claim.role is Role.OURS]
    open_ = [id_ for id_ in exact if COMMITTED[id_]["verdict"] not in {Verdict.PROVED.value, Verdict.CERTIFIED.value}]
    noted = {id_ for id_ in open_ if "Missing for a theorem:" in COMMITTED[id_]["note"]}
    assert [id_ for id_ in open_ if COMMITTED[id_]["verdict"] != Verdict.DERIVED.value and id_ not in noted] == []
    assert [id_ for id_ in open_ if not steps_without_rule(COMMITTED[id_]) and id_ not in noted] == []


def test_what_certificates_name_is_a_theorem() -> None:
    # Nothing is taken on trust but that both points solve the equations.
    assert COMMITTED[ONLY]["verdict"] == Verdict.PROVED.value
    assert {one["kind"] for one in COMMITTED[ONLY]["theorem"]["assumptions"]} == {"definition", "lemma", "model"}


def test_the_claims_form_a_ledger() -> None:
    assert len(ordered(CLAIMS)) == len(CLAIMS) >= 40


def test_every_claim_says_where_it_comes_from_and_what_it_means() -> None:
    for claim in CLAIMS:
        assert claim.title, claim.id
        assert claim.source.document, claim.id
        assert claim.source.section, claim.id


def test_definitions_without_checks_say_that_there_is_nothing_to_test() -> None:
    assert definitions.CLAIMS
    for claim in definitions.CLAIMS:
        assert claim.kind is Kind.DEFINITION
        assert "nothing to test" in claim.note
