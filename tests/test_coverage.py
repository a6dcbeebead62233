"""Coverage of the numbered equations: the counting on made-up claims, and the homes of the real ones."""

from __future__ import annotations

import pytest

from tests import toy
from verify import coverage
from verify.claim import Claim, Role, Source
from verify.coverage import Coverage, summary
from verify.ledger import all_claims


def covering(id_: str, *equations: int, role: Role = Role.OURS) -> Claim:
    return toy.claim(id=id_, source=Source("paper", "a section", equations), role=role)


def test_a_number_with_one_claim_of_ours_is_at_home_there() -> None:
    rows = coverage.coverage([covering("a", 1, 100), covering("b", 100, role=Role.PRINTED)])
    assert rows[99] == Coverage(100, "a", (), ("b",))
    assert rows[99].status == "covered"


def test_printed_claims_cover_nothing() -> None:
    assert coverage.coverage([covering("b", 100, role=Role.PRINTED)])[99].status == "missing"


def test_several_claims_without_a_home_are_ambiguous() -> None:
    row = coverage.coverage([covering("a", 100), covering("b", 100)])[99]
    assert (row.home, row.companions, row.status) == (None, ("a", "b"), "ambiguous")


def test_a_home_is_named_for_numbers_that_several_claims_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "HOMES", {100: "b"})
    row = coverage.coverage([covering("a", 100), covering("b", 100)])[99]
    assert (row.home, row.companions, row.status) == ("b", ("a",), "covered")


def test_a_home_that_does_not_list_its_number_is_a_stray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "HOMES", {100: "c"})
    assert coverage.strays([covering("a", 100)]) == ("(100) is not at home in c, which does not list it",)
    assert coverage.coverage([covering("a", 100), covering("b", 100)])[99].status == "ambiguous"


def test_a_number_beyond_the_paper_is_a_stray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "HOMES", {})
    assert coverage.strays([covering("a", 192)]) == ("a lists (192)",)


def test_the_summary_counts_and_joins_runs_of_numbers() -> None:
    # 191 numbers of which (1) is covered, and (2), (3) are listed twice: 188 missing.
    found = summary([covering("a", 1, 4, 5), covering("b", 4, 5)])
    assert found.covered == 1
    assert len(found.missing) == 191 - 3
    assert dict(found.ambiguous) == {4: ("a", "b"), 5: ("a", "b")}
    assert found.sentence == (
        "1 of 191 numbered equations at home in one claim; missing (2)-(3), (6)-(191); several claims and no home for "
        "(4)-(5)"
    )


def test_the_homes_of_the_ledger_list_their_numbers() -> None:
    assert coverage.strays(all_claims()) == ()


def test_no_number_of_the_ledger_is_ambiguous() -> None:
    assert dict(summary(all_claims()).ambiguous) == {}


def test_every_number_of_the_ledger_is_covered() -> None:
    assert summary(all_claims()).missing == ()
