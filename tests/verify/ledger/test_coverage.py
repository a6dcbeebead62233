"""Coverage of the numbered equations: the counting on made-up claims, and the numbers of the real ones."""

from __future__ import annotations

from dataclasses import replace

from giantsteps.verify.claims.index import all_claims
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.ledger import coverage
from giantsteps.verify.ledger.coverage import Coverage, summary
from giantsteps.verify.protocol.claim import Claim, Role, Source
from giantsteps.verify.protocol.paper import Document, Formula
from tests.shared import listed, toy


def covering(id_: str, *equations: int, role: Role = Role.OURS) -> Claim:
    return toy.claim(id=id_, source=Source("paper", "a section", equations), role=role)


def test_claims_of_ours_and_printed_ones_are_counted_apart() -> None:
    rows = coverage.coverage([covering("a", 1, 100), covering("b", 100, role=Role.PRINTED)], PAPER)
    assert rows[99] == Coverage(100, ("a",), ("b",))
    assert rows[1] == Coverage(2, (), ())


def test_printed_claims_cover_nothing() -> None:
    assert 100 in summary([covering("b", 100, role=Role.PRINTED)], PAPER).missing


def test_a_number_beyond_the_paper_is_a_stray() -> None:
    assert listed.strays([covering("a", 191, 192)], PAPER) == ("a lists (192)",)


def test_the_summary_counts_and_joins_runs_of_numbers() -> None:
    # 191 numbers of which (1) is covered, and (4), (5) are listed twice: 188 missing.
    found = summary([covering("a", 1, 4, 5), covering("b", 4, 5)], PAPER)
    assert found.covered == 1
    assert len(found.missing) == 191 - 3
    assert dict(found.repeated) == {4: ("a", "b"), 5: ("a", "b")}
    assert found.sentence == (
        "1 of 191 numbered equations, each in exactly one claim of ours; missing (2)-(3), (6)-(191); in several claims "
        "(4)-(5)"
    )


def test_a_list_of_formulas_and_the_printed_claims_about_it_name_each_other() -> None:
    first = Formula("1", "a", ("one", "gone"))
    notes = Document("notes", "N", "N", (first, Formula("2", "b", ())))
    paper = replace(PAPER, sources=(*PAPER.sources, notes))

    def about(id_: str, document: str, role: Role) -> Claim:
        return toy.claim(id=id_, source=Source(document, "a section"), role=role)

    claims = [
        about("one", "notes", Role.PRINTED),
        about("two", "notes", Role.PRINTED),
        about("three", "notes", Role.OURS),
        about("four", "an essay", Role.PRINTED),
    ]
    assert listed.unlisted_claims(claims, paper) == ("two",)
    alone = replace(PAPER, sources=(*(replace(source, formulas=()) for source in PAPER.sources), notes))
    assert listed.missing_formulas(claims, alone) == ("2: b: no claim", "1: a: gone is no claim")


def test_every_number_of_the_paper_is_in_exactly_one_claim_of_ours() -> None:
    counts = {row.number: len(row.ours) for row in coverage.coverage(all_claims(), PAPER)}
    assert counts == dict.fromkeys(range(1, 192), 1)


def test_no_claim_lists_a_number_that_the_paper_does_not_have() -> None:
    assert listed.strays(all_claims(), PAPER) == ()
