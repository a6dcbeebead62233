"""What a second kernel replayed is marked by the digest of the proof."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import sympy as sp

from giantsteps.derivations.kernel.algebra import ring
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.reports.text.words import theorem_line
from giantsteps.verify.checks.digest import digest
from giantsteps.verify.checks.proofs import made
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
