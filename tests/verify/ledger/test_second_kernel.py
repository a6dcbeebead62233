"""What a second kernel replayed is marked by the digest of the proof."""

from __future__ import annotations

from giantsteps.reports.text.words import theorem_line
from giantsteps.verify.ledger.document import theorem_json
from giantsteps.verify.ledger.second_kernel import record, replayed
from giantsteps.verify.protocol.evidence import Made, Outcome, Proof, Settled


def test_a_claim_is_marked_if_all_of_its_own_proofs_were_replayed() -> None:
    of_claims = record()["replayed"]
    assert len(of_claims) > 300
    for known, marks, ending in (
        (tuple(next(iter(of_claims.values()))), ["own", "rocq"], "; replayed by a second kernel, Rocq"),
        ((*next(iter(of_claims.values())), "of another proof"), ["own"], ""),
        ((), ["own"], ""),
    ):
        assert replayed(known) == ("rocq" in marks)
        made = Made((), (("ring", 1),), known)
        document = theorem_json([Proof("derivation: x", (Settled("said", Outcome.SUPPORTS, ""),), theorem=made)])
        assert document is not None
        assert document["replayed"] == marks
        assert theorem_line(document) == f"1 rule, from 0 definitions{ending}"
