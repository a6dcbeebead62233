"""What a second kernel replayed is marked by the digest of the proof."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import sympy as sp

from onestep.derivations.kernel.algebra import ring
from onestep.derivations.kernel.statements import Equation
from onestep.reports.commands.kernel import main
from onestep.reports.text.words import theorem_line
from onestep.verify.checks.digest import digest
from onestep.verify.checks.kinds import made
from onestep.verify.export.second_kernel import EXPECTED, Checked
from onestep.verify.ledger import second_kernel
from onestep.verify.ledger.document import theorem_json
from onestep.verify.protocol.evidence import Outcome, Proof, Settled

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
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("proved", [False, True])
def test_a_mark_that_rocq_does_not_confirm_is_an_error_and_only_all_claims_make_marks(
    whole: bool, proved: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = Checked(frozenset(), frozenset({"b"} | ({"a.square"} if proved else set())), ())
    monkeypatch.setattr("onestep.verify.export.second_kernel.check", lambda *_: checked)
    monkeypatch.setattr("onestep.verify.export.second_kernel.installed", lambda: True)
    monkeypatch.setattr("onestep.verify.export.second_kernel.version", lambda: "8.16")
    monkeypatch.setattr("onestep.reports.text.ledger_files.in_source_checkout", lambda: True)
    written = {"files": {}, "lemmas": 3, "inferences": 3, "assumed": 0, "by axiom": {}, "whole": whole}
    digests = {"a.square": [digest(SQUARE)], "b": ["0"]}
    (tmp_path / EXPECTED).write_text(json.dumps(written | {"digests": digests}), encoding="utf-8")
    before = second_kernel.RECORD.read_text(encoding="utf-8")
    assert main(tmp_path) == (0 if proved else 1)
    after = second_kernel.RECORD.read_text(encoding="utf-8")
    assert (after != before) == (whole and proved)
    if whole and proved:
        assert json.loads(after)["replayed"] == digests
