"""The commands claims and errata: statements without running anything, verdicts on record, misprints corrected."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest

from giantsteps.reports.command_line.cli import run
from tests.shared.command_line import document, outcome, refused


class Pickling:
    """Works in this process, whose claims are built; what goes to a worker and back is pickled all the same."""

    def map(self, work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        copied = pickle.loads(pickle.dumps(work))
        return (pickle.loads(pickle.dumps(copied(item))) for item in items)


def test_claims_lists_statements_without_running_anything(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["claims"])
    assert len(found["claims"]) >= 40  # the least that the main text of the paper asks for
    assert sum(found["summary"].values()) == len(found["claims"])
    ids = {claim["id"] for claim in found["claims"]}
    for claim in found["claims"]:
        assert {
            "id",
            "source",
            "equations",
            "kind",
            "statement",
            "uses",
            "verdict",
            "weakest",
            "evidence",
            "mutants",
        } <= set(claim)
        assert set(claim["uses"]) <= ids
        assert claim["statement"]


def test_one_claim_is_shown_whole(capfd: pytest.CaptureFixture[str]) -> None:
    id_ = document(capfd, ["claims"])["claims"][0]["id"]
    assert [claim["id"] for claim in document(capfd, ["claims", id_])["claims"]] == [id_]
    code, out, _ = outcome(capfd, ["claims", id_])
    assert code == 0
    assert out.startswith(id_)
    assert "verdict" in out


def test_one_claim_is_read_from_the_committed_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    import giantsteps.verify.claims.index as index
    from giantsteps.reports.commands.claims import on_record, with_verdicts

    # What the record says is what the claims say, key by key and in the same order.
    known = index.all_claims()
    for claim in (known[0], known[len(known) // 2], known[-1]):
        (recorded,), (built,) = on_record(claim.id) or [], with_verdicts([claim])
        assert list(recorded.items()) == list(built.items())

    def unwanted() -> None:
        pytest.fail("the claims are built")

    monkeypatch.setattr(index, "all_claims", unwanted)
    assert run(["claims", known[0].id, "--quiet"]) == 0
    assert on_record("result-3-1") is None  # what only begins an id is looked for among all claims


def test_a_changed_statement_loses_its_recorded_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    import giantsteps.reports.text.ledger_files
    from giantsteps.reports.commands.claims import with_verdicts
    from giantsteps.verify.ledger.document import statement_latex
    from tests.shared.toy import claim as toy_claim

    claim = toy_claim()
    entry = {"id": claim.id, "verdict": "PROVED", "weakest": "PROVED", "evidence": [], "mutants": [], "hypotheses": []}
    for statement, verdict in ((statement_latex(claim), "PROVED"), ("x = y", "UNTESTED")):
        ledger = {"claims": [entry | {"statement": statement}]}
        monkeypatch.setattr(giantsteps.reports.text.ledger_files, "committed", lambda ledger=ledger: ledger)
        assert with_verdicts([claim])[0]["verdict"] == verdict


def test_errata_has_printed_and_corrected_forms(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    import giantsteps.reports.command_line.machine.workers
    from giantsteps.verify.claims import paper
    from giantsteps.verify.ledger import errata

    found_once: list[Any] = []
    examine = errata.examine_errata

    def examined(*args: Any) -> Any:
        # What is printed as JSON and as text is found by the same checks: they run once.
        if not found_once:
            found_once.append(examine(*args))
        return found_once[0]

    monkeypatch.setattr(errata, "examine_errata", examined)
    monkeypatch.setattr(giantsteps.reports.command_line.machine.workers, "pool", lambda: nullcontext(Pickling()))
    # two of them: the command checks what it prints, and all of them are checked in test_errata
    monkeypatch.setattr(paper, "PAPER", replace(paper.PAPER, errata=paper.PAPER.errata[:2], conventions=()))
    found = document(capfd, ["errata"])["errata"]
    assert len(found) == 2
    for erratum in found:
        assert {"id", "source", "printed", "corrected", "witness", "consequence"} <= set(erratum)
        assert erratum["printed"] != erratum["corrected"]
        assert all(erratum.values())
    code, out, _ = outcome(capfd, ["errata"])
    assert code == 0
    assert out.rstrip().endswith("2 do not hold as our sources have them")


def test_ids_may_be_cut_short(capfd: pytest.CaptureFixture[str]) -> None:
    from giantsteps.reports.commands.claims import find
    from giantsteps.verify.claims.index import all_claims

    ids = [claim.id for claim in all_claims()]
    expected = [id_ for id_ in ids if id_.startswith("result-3-1")]
    assert len(expected) > 1
    assert [claim["id"] for claim in document(capfd, ["claims", "result-3-1"])["claims"]] == expected
    code, out, _ = outcome(capfd, ["claims", "result-3-1"])
    assert (code, out.startswith("claim")) == (0, True)
    # What only one begins with is that one, shown whole; an id that others begin with is itself.
    assert outcome(capfd, ["claims", "result-3-1.spike-strength-n"])[1].startswith("result-3-1.spike-strength-noisy: ")
    assert outcome(capfd, ["claims", "result-3-1.spike-strength"])[1].startswith("result-3-1.spike-strength: ")
    assert all([claim.id for claim in find(all_claims(), id_)] == [id_] for id_ in ids)
    refused(capfd, ["claims", ""], "for example")
    refused(capfd, ["claims", "esult-3-1"], "result-3-1")


def test_verify_takes_the_beginnings_of_ids(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import giantsteps.reports.commands.verify as command
    from giantsteps.verify.claims.index import all_claims
    from giantsteps.verify.ledger.run import Ledger

    asked: list[list[str] | None] = []

    def run_ledger(profile: str, ids: list[str] | None, quiet: bool, seed: int) -> Ledger:
        asked.append(ids)
        return Ledger(profile, (), seed)

    monkeypatch.setattr(command, "run_ledger", run_ledger)
    expected = [claim.id for claim in all_claims() if claim.id.startswith("result-3-1")]
    assert outcome(capfd, ["verify", "result-3-1", "result-3-1.spike-strength"])[0] == 0
    assert outcome(capfd, ["verify", "result-3-1.spike-strength"])[0] == 0
    assert asked == [expected, ["result-3-1.spike-strength"]]
    assert "seed" not in outcome(capfd, ["verify", "result-3-1", "--json"])[1]
    assert '"seed": 7' in outcome(capfd, ["verify", "result-3-1", "--seed", "7", "--json"])[1]
    assert "drawn afresh with seed 7" in outcome(capfd, ["verify", "result-3-1", "--seed", "7"])[1]
    refused(capfd, ["verify", "result-99"], "for example")


def test_errata_takes_an_id_or_its_beginning(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import giantsteps.reports.command_line.machine.workers
    from giantsteps.verify.claims.slides.errata import ERRATA

    monkeypatch.setattr(giantsteps.reports.command_line.machine.workers, "pool", lambda: nullcontext(Pickling()))
    for text in ("erratum.step-over-n", "erratum.step-o", "step-over-n"):
        found = document(capfd, ["errata", text])
        assert [one["id"] for one in found["errata"]] == ["erratum.step-over-n"]
        assert found["conventions"] == []
    apart = document(capfd, ["errata", "input-scale"])
    assert ([one["id"] for one in apart["conventions"]], apart["errata"]) == (["convention.input-scale"], [])
    assert outcome(capfd, ["errata", "input-scale"])[1].rstrip().endswith("1 of another convention or reading")
    refused(capfd, ["errata", "erratum.no-such"], "erratum.", "for example")
    refused(capfd, ["errata", " "], "for example")
    assert len({erratum.id for erratum in ERRATA}) == len(ERRATA)


LEAVES = [
    {
        "kind": "hypothesis", "names": ["Result 3.2"], "statements": ["a = b"], "references": ["result-3-2.same"],
        "claim": "result-3-2.same", "test": None, "claims": ["result-3-3.one", "bounds.one"],
    },
    {
        "kind": "lemma", "names": ["Stein"], "statements": ["c = d"], "references": ["by parts"], "claim": None,
        "test": "tests/a.py::b[Stein]", "claims": ["bounds.one"],
    },
]  # fmt: skip


def test_the_leaves_of_theorems_are_listed(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import giantsteps.reports.text.ledger_files as ledger_files

    ids = [{"id": id_} for id_ in ("result-3-3.one", "bounds.one")]
    monkeypatch.setattr(ledger_files, "committed", lambda: {"claims": ids, "leaves": LEAVES})
    assert document(capfd, ["claims", "--leaves"])["leaves"] == LEAVES
    assert document(capfd, ["claims", "--leaves", "result-3-3"])["leaves"] == LEAVES[:1]
    code, out, _ = outcome(capfd, ["claims", "--leaves"])
    assert code == 0
    parts = ("1 hypotheses", "Result 3.2   (2 claims)", "result-3-2.same", "test tests/a.py::b[Stein]", "(1 claim)")
    assert [part for part in parts if part not in out] == []
    assert "no-such" in refused(capfd, ["claims", "--leaves", "no-such"])
    monkeypatch.setattr(ledger_files, "committed", lambda: {"claims": ids})
    assert "giantsteps report" in refused(capfd, ["claims", "--leaves"])
