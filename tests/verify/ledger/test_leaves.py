"""What theorems stand on is read off them: every leaf once, with all claims that rest on it."""

from __future__ import annotations

from giantsteps.verify.ledger.document import as_json
from giantsteps.verify.ledger.leaves import grounds
from giantsteps.verify.ledger.run import Entry, Ledger
from giantsteps.verify.protocol.evidence import Leaf, Made, Outcome, Proof, Settled
from giantsteps.verify.protocol.verdict import Verdict
from tests.shared.toy import claim

STEP = Settled("a step", Outcome.SUPPORTS, "made")
TRUST = Leaf("small", "hypothesis", "a = 0", "toy.small")
TRUST_AGAIN = Leaf("small, elsewhere", "hypothesis", "b = 0", "toy.small")
SENTENCE = Leaf("symmetry", "hypothesis", "c = 1", "one replica is like another one")
STEIN = Leaf("Stein", "lemma", r"\\mathbb{E} z f = \\mathbb{E} f'", "integration by parts")
NAME, OTHER_MEANING = Leaf("r", "definition", "r = 1", "a radius"), Leaf("r", "definition", "r = 2", "a rate")


def entry(id_: str, *leaves: Leaf) -> Entry:
    proof = Proof("a proof", (STEP,), theorem=Made(leaves, (("ring", 1),)) if leaves else None)
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


def test_each_leaf_stands_once_with_all_that_rest_on_it() -> None:
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
    assert [leaf["claim"] for leaf in document["leaves"] if leaf["kind"] == "hypothesis"] == ["toy.small", None]
    assumed = next(c for c in document["claims"] if c["id"] == "toy.two")["theorem"]["assumptions"]
    assert {leaf["name"]: leaf["claim"] for leaf in assumed}["symmetry"] is None
