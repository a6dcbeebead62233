"""Errata and conventions on toy claims: what was refuted is reported with its witness, what passed is not."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

from giantsteps.derivations.language.symbols import h1_star
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.ledger import errata
from giantsteps.verify.ledger.errata import conventions, examine_errata, unlisted
from giantsteps.verify.protocol import order
from giantsteps.verify.protocol.claim import Claim, Kind, Role
from giantsteps.verify.protocol.paper import Erratum
from giantsteps.verify.protocol.verdict import Verdict
from tests.shared.toy import LIMIT, claim, norm

WRONG = sp.Eq(norm, LIMIT - 2 * h1_star**2)
NUMBERS = claim().checks[1:]
CLAIMS: tuple[Claim, ...] = (
    claim(id="toy.ours"),
    claim(id="toy.printed", role=Role.PRINTED, statement=WRONG),
    claim(id="toy.printed-rightly", role=Role.PRINTED),
    claim(id="toy.reading", role=Role.READING, statement=WRONG),
    claim(id="toy.convention", role=Role.PRINTED, kind=Kind.CONVENTION, statement=WRONG, checks=NUMBERS),
    claim(id="toy.elsewhere", role=Role.PRINTED, statement=WRONG),
)
LISTED = (
    Erratum("sign", "toy.printed", "toy.ours", "the spike is longer"),
    Erratum("none", "toy.printed-rightly", "toy.ours", "nothing"),
)
OTHERS = (
    Erratum("reading", "toy.reading", "toy.ours", "another reading"),
    Erratum("unit", "toy.convention", "toy.ours", "another unit"),
)
PAPER_OF_TOYS = replace(PAPER, modules=("toy",), errata=LISTED, conventions=OTHERS)


@pytest.fixture(autouse=True)
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A paper whose only module states the claims above."""
    for module in (order, errata):
        monkeypatch.setattr(module, "claims_of", lambda _: CLAIMS)


def test_errata_and_conventions_are_examined_alone_and_told_apart() -> None:
    ledger = examine_errata(PAPER_OF_TOYS)
    verdicts = {entry.claim.id: entry.verdict for entry in ledger.entries}
    assert verdicts == {
        "toy.ours": Verdict.PROVED,
        "toy.printed": Verdict.REFUTED,
        "toy.printed-rightly": Verdict.PROVED,
        "toy.reading": Verdict.REFUTED,
        "toy.convention": Verdict.CONVENTION,
    }
    assert {len(entry.mutants) for entry in ledger.entries} == {0}
    (misprint,) = errata.errata(ledger, PAPER_OF_TOYS)
    assert (misprint.id, misprint.printed_claim, misprint.corrected_claim) == ("sign", "toy.printed", "toy.ours")
    assert (misprint.printed_verdict, misprint.corrected_verdict) == (Verdict.REFUTED, Verdict.PROVED)
    assert misprint.printed != misprint.corrected
    assert "witness" in misprint.witness
    assert misprint.consequence == "the spike is longer"
    assert [found.id for found in conventions(ledger, PAPER_OF_TOYS)] == ["reading", "unit"]


def test_what_was_chosen_is_examined_and_no_more() -> None:
    done: list[str] = []
    ledger = examine_errata(PAPER_OF_TOYS, chosen=LISTED[:1], progress=done.append)
    assert done == list(PAPER_OF_TOYS.modules)
    assert [entry.claim.id for entry in ledger.entries] == ["toy.ours", "toy.printed"]
    assert errata.errata(ledger, PAPER_OF_TOYS)[0].id == "sign"
    assert conventions(ledger, PAPER_OF_TOYS) == ()


def test_what_was_refuted_and_is_on_no_list_is_named() -> None:
    bare = replace(PAPER_OF_TOYS, errata=LISTED[1:], conventions=OTHERS[:1])
    ledger = examine_errata(PAPER_OF_TOYS)
    assert unlisted(ledger, PAPER_OF_TOYS) == ()
    assert unlisted(ledger, bare) == ("toy.printed", "toy.convention")


def test_a_correction_has_its_own_verdict_and_not_that_of_what_it_rests_on() -> None:
    done: list[str] = []
    ledger = examine_errata(PAPER_OF_TOYS, chosen=LISTED[:1], progress=done.append)
    assert done == list(PAPER_OF_TOYS.modules)
    resting = replace(ledger, entries=tuple(replace(e, weakest=Verdict.UNTESTED) for e in ledger.entries))
    assert errata.errata(resting, PAPER_OF_TOYS)[0].corrected_verdict is Verdict.PROVED


def test_what_agrees_or_lacks_its_correction_is_no_finding() -> None:
    ledger = examine_errata(PAPER_OF_TOYS)
    alone = replace(ledger, entries=tuple(entry for entry in ledger.entries if entry.claim.id != "toy.ours"))
    assert errata.errata(alone, PAPER_OF_TOYS) == ()
    assert conventions(ledger, replace(PAPER_OF_TOYS, errata=(), conventions=LISTED[1:])) == ()
