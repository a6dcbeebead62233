"""What a second kernel replayed is marked by the digest of the proof."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sympy as sp

from giantsteps.derivations.kernel.algebra import ring
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.reports.commands.kernel import main
from giantsteps.reports.text.words import theorem_line
from giantsteps.verify.checks.digest import digest
from giantsteps.verify.checks.proofs import made
from giantsteps.verify.export.second_kernel import EXPECTED, Checked
from giantsteps.verify.ledger import second_kernel
from giantsteps.verify.ledger.document import theorem_json
from giantsteps.verify.protocol.evidence import Outcome, Proof, Settled

_x = sp.Symbol("x", real=True)
SQUARE = ring((), Equation((_x + 1) ** 2, _x**2 + 2 * _x + 1))
OTHER = ring((), Equation((_x - 1) ** 2, _x**2 - 2 * _x + 1))


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    path = tmp_path / "record.json"
    path.write_text(json.dumps({"replayed": {"a.square": [digest(SQUARE)]}}), encoding="utf-8")
    monkeypatch.setattr(second_kernel, "RECORD", path)
    second_kernel.record.cache_clear()
    yield
    second_kernel.record.cache_clear()


@pytest.mark.usefixtures("recorded")
def test_a_claim_is_marked_if_its_own_proof_was_replayed() -> None:
    marks = []
    for theorem in (SQUARE, OTHER):
        proof = Proof("derivation: x", (Settled("said", Outcome.SUPPORTS, ""),), theorem=made(theorem))
        document = theorem_json([proof])
        assert document is not None
        marks.append((document["replayed"], theorem_line(document)))
    assert marks[0] == (["own", "rocq"], "1 rule, from 0 definitions; replayed by a second kernel, Rocq")
    assert marks[1] == (["own"], "1 rule, from 0 definitions")


@pytest.mark.usefixtures("recorded")
def test_of_several_theorems_all_have_to_be_replayed() -> None:
    assert second_kernel.replayed((digest(SQUARE),))
    assert not second_kernel.replayed((digest(SQUARE), digest(OTHER)))
    assert not second_kernel.replayed(())


def test_without_a_record_nothing_is_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_kernel, "RECORD", tmp_path / "none.json")
    second_kernel.record.cache_clear()
    assert not second_kernel.replayed((digest(SQUARE),))
    second_kernel.record.cache_clear()


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize("proved", [False, True])
def test_marks_are_kept_chapter_by_chapter_and_one_that_rocq_does_not_confirm_is_an_error(
    proved: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    of_a = Checked(("a.square",), frozenset(), frozenset({"a.square"} if proved else ()))
    of_b = Checked(("b.one", "b.two"), frozenset(), frozenset({"b.one"}), ("n2",), 1)
    both = Checked(of_a.asked + of_b.asked, frozenset(), of_a.theorems | of_b.theorems, ("n2",), 1)

    def check(_: Path, __: object, keep: Callable[[Checked], None]) -> Checked:
        for chapter in (of_a, of_b):
            keep(chapter)
        return both

    monkeypatch.setattr("giantsteps.verify.export.second_kernel.check", check)
    monkeypatch.setattr("giantsteps.verify.export.second_kernel.installed", lambda: True)
    monkeypatch.setattr("giantsteps.verify.export.second_kernel.version", lambda: "8.16")
    monkeypatch.setattr("giantsteps.reports.text.ledger_files.in_source_checkout", lambda: True)
    before = {"a.square": [digest(SQUARE)], "b.two": ["1"], "c": ["2"]}
    second_kernel.RECORD.write_text(json.dumps({"replayed": before}), encoding="utf-8")
    digests = {"a.square": [digest(SQUARE)], "b.one": ["0"], "b.two": ["3"]}
    rules = {"n1": ["ring"], "n2": ["ring", "ring"], "n3": ["assume"]}
    written = {"files": {}, "rules": rules, "assumed": [], "digests": digests}
    (tmp_path / EXPECTED).write_text(json.dumps(written), encoding="utf-8")
    assert main(tmp_path) == (0 if proved else 1)
    after = json.loads(second_kernel.RECORD.read_text(encoding="utf-8"))
    square = {"a.square": [digest(SQUARE)]} if proved else {}
    assert after == {"rocq": "8.16", "replayed": {**square, "b.one": ["0"], "c": ["2"]}}
    assert "Rocq proves 1 of 3 inferences" in capsys.readouterr().out
