"""The assumptions of theorems are listed once each, with all claims that rest on them."""

from __future__ import annotations

from giantsteps.verify.ledger.assumptions import grounds
from giantsteps.verify.ledger.document import as_json
from giantsteps.verify.ledger.run import Entry, Ledger
from giantsteps.verify.protocol.evidence import Assumed, Made, Outcome, Proof, Settled
from giantsteps.verify.protocol.verdict import Verdict
from tests.shared.toy import claim

STEP = Settled("a step", Outcome.SUPPORTS, "made")
TRUST = Assumed("small", "hypothesis", "a = 0", "toy.small")
TRUST_AGAIN = Assumed("small, elsewhere", "hypothesis", "b = 0", "toy.small")
SENTENCE = Assumed("symmetry", "hypothesis", "c = 1", "one replica is like another one")
STEIN = Assumed("Stein", "lemma", r"\\mathbb{E} z f = \\mathbb{E} f'", "integration by parts")
NAME, OTHER_MEANING = Assumed("r", "definition", "r = 1", "a radius"), Assumed("r", "definition", "r = 2", "a rate")


def entry(id_: str, *listed: Assumed) -> Entry:
    proof = Proof("a proof", (STEP,), theorem=Made(listed, (("ring", 1),)) if listed else None)
    return Entry(claim(id=id_), Verdict.PROVED, (proof,), (), Verdict.PROVED, ())


LEDGER = Ledger(
    "quick",
    (
        entry("toy.one", TRUST, STEIN, NAME),
        entry("toy.two", TRUST_AGAIN, SENTENCE, STEIN),
        entry("toy.three", STEIN, OTHER_MEANING),
        entry("toy.derived"),
    ),
)


def test_each_assumption_is_listed_once_with_all_claims_on_it() -> None:
    trusted, told, lemma, *definitions = grounds(LEDGER)
    assert trusted.names == ("small", "small, elsewhere")
    assert trusted.statements == ("a = 0", "b = 0")
    assert (trusted.claim, trusted.claims) == ("toy.small", ("toy.one", "toy.two"))
    assert told.names == ("symmetry",)
    assert lemma.claims == ("toy.one", "toy.two", "toy.three")
    assert lemma.test.endswith("test_a_lemma_holds[Stein]")
    # One name of two meanings is two definitions.
    assert sorted(one.statements for one in definitions) == [("r = 1",), ("r = 2",)]


def test_a_sentence_is_no_claim() -> None:
    (told,) = (one for one in grounds(LEDGER) if one.names == ("symmetry",))
    assert (told.claim, told.references) == ("", ("one replica is like another one",))
    document = as_json(LEDGER)
    assert [one["claim"] for one in document["leaves"] if one["kind"] == "hypothesis"] == ["toy.small", None]
    assumed = next(c for c in document["claims"] if c["id"] == "toy.two")["theorem"]["assumptions"]
    assert {one["name"]: one["claim"] for one in assumed}["symmetry"] is None
