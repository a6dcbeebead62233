"""Errata and conventions on toy claims: what was refuted is reported with its witness, what passed is not."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

from giantsteps.derivations.language.symbols import h1_star
from giantsteps.verify.ledger import errata
from giantsteps.verify.ledger.errata import conventions, examine_errata
from giantsteps.verify.protocol.claim import Claim, Kind, Role
from giantsteps.verify.protocol.paper import Erratum, Paper
from giantsteps.verify.protocol.verdict import Verdict
from tests.shared.listed import unlisted
from tests.shared.toy import LIMIT, claim, norm, stating

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


@pytest.fixture
def paper(monkeypatch: pytest.MonkeyPatch) -> Paper:
    """A paper whose only module states the claims above."""
    return replace(stating(monkeypatch, toy=CLAIMS), errata=LISTED, conventions=OTHERS)


def test_errata_and_conventions_are_examined_alone_and_told_apart(paper: Paper) -> None:
    ledger = examine_errata(paper)
    verdicts = {entry.claim.id: entry.verdict for entry in ledger.entries}
    assert verdicts == {
        "toy.ours": Verdict.PROVED,
        "toy.printed": Verdict.REFUTED,
        "toy.printed-rightly": Verdict.PROVED,
        "toy.reading": Verdict.REFUTED,
        "toy.convention": Verdict.CONVENTION,
    }
    assert {len(entry.mutants) for entry in ledger.entries} == {0}
    (misprint,) = errata.errata(ledger, paper)
    assert (misprint.id, misprint.printed_claim, misprint.corrected_claim) == ("sign", "toy.printed", "toy.ours")
    assert (misprint.printed_verdict, misprint.corrected_verdict) == (Verdict.REFUTED, Verdict.PROVED)
    assert misprint.printed != misprint.corrected
    assert "witness" in misprint.witness
    assert misprint.consequence == "the spike is longer"
    assert [found.id for found in conventions(ledger, paper)] == ["reading", "unit"]


def test_what_was_chosen_is_examined_and_no_more(paper: Paper) -> None:
    done: list[str] = []
    ledger = examine_errata(paper, chosen=LISTED[:1], progress=done.append)
    assert done == list(paper.modules)
    assert [entry.claim.id for entry in ledger.entries] == ["toy.ours", "toy.printed"]
    assert errata.errata(ledger, paper)[0].id == "sign"
    assert conventions(ledger, paper) == ()


def test_what_was_refuted_and_is_on_no_list_is_named(paper: Paper) -> None:
    bare = replace(paper, errata=LISTED[1:], conventions=OTHERS[:1])
    ledger = examine_errata(paper)
    assert unlisted(ledger, paper) == ()
    assert unlisted(ledger, bare) == ("toy.printed", "toy.convention")


def test_what_agrees_or_lacks_its_correction_is_no_finding(paper: Paper) -> None:
    ledger = examine_errata(paper)
    alone = replace(ledger, entries=tuple(entry for entry in ledger.entries if entry.claim.id != "toy.ours"))
    assert errata.errata(alone, paper) == ()
    assert conventions(ledger, replace(paper, errata=(), conventions=LISTED[1:])) == ()
