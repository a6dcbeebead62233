"""The page on trust says what the ledger and committed measurements have, and what is not measured."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from onestep.reports.measurements.study import Study, Table
from onestep.reports.page import trust
from onestep.reports.page.trust import Measure, measures
from onestep.verify.ledger.run import Entry, Ledger
from onestep.verify.protocol.evidence import FiniteSize, Outcome
from onestep.verify.protocol.power import Power
from onestep.verify.protocol.verdict import Verdict
from tests.shared.report_page import broken, entry, site_of, toy_ledger, toy_site


def found(title: str, ledger: Ledger, *studies: Study) -> Measure:
    (one,) = (measure for measure in measures(ledger, studies) if measure.title == title)
    return one


def scored(name: str, verdict: Verdict, caught: int, *missed: str) -> Entry:
    return dataclasses.replace(entry(name, verdict), power=Power("simulation: toy", caught, missed))


def test_claims_by_numbers_stand_with_their_score_the_weakest_first() -> None:
    ledger = Ledger(
        "quick",
        (
            scored("sharp.one", Verdict.CONFIRMED, 5),
            scored("proved.one", Verdict.PROVED, 1, "a", "b"),
            scored("blunt.one", Verdict.INCONCLUSIVE, 2, "a sign", "five per cent more"),
        ),
    )
    power = found("What each check would have caught, alone", ledger)
    assert power.table is not None
    assert power.table.rows == (
        ("blunt.one", "INCONCLUSIVE", "simulation: toy", "2 of 4", "0 of 0", "a sign, five per cent more"),
        ("sharp.one", "CONFIRMED", "simulation: toy", "5 of 5", "0 of 0", ""),
    )
    assert "1 of 2 claims" in power.text
    files = site_of(ledger)
    assert "caught of the generic" in files["trust.html"]
    assert "claim/blunt.one.html" in files["trust.html"]
    assert broken(files) == []


def test_the_weakest_is_that_of_the_least_share_not_of_the_least_count_or_the_most_missed() -> None:
    scores = {
        "b.four-fifths": (4, 1),
        "c.three-quarters": (3, 1),
        "a.half": (6, 6),
        "d.three-fifths": (12, 8),
        "e.none": (0, 0),
    }
    ledger = Ledger(
        "quick",
        tuple(
            scored(name, Verdict.CONFIRMED, caught, *(f"slip {k}" for k in range(missed)))
            for name, (caught, missed) in scores.items()
        ),
    )
    table = trust._power(ledger).table
    assert table is not None
    shown = [(row[0], row[3]) for row in table.rows]
    assert shown == [
        ("e.none", "0 of 0"), ("a.half", "6 of 12"), ("d.three-fifths", "12 of 20"), ("c.three-quarters", "3 of 4"),
        ("b.four-fifths", "4 of 5"),
    ]  # fmt: skip


def test_the_kinds_of_evidence_are_counted_apart() -> None:
    count = str(len(toy_ledger().entries[0].mutants))
    neighbours = found("Wrong neighbours, by kind of evidence", toy_ledger())
    assert neighbours.table is not None
    assert neighbours.table.rows == (("numbers", count, count), ("proof", count, count))
    assert "<h1>How far to trust this</h1>" in toy_site()["trust.html"]
    assert 'href="trust.html#trust"' in toy_site()["index.html"]


def test_deviates_are_those_of_the_ledger_and_of_the_drawn_models() -> None:
    simulated = FiniteSize("simulation: toy", 9, -2.5, 3.29, 0.05, Outcome.SUPPORTS, "toy")
    held = dataclasses.replace(entry("toy.one", Verdict.CONFIRMED), evidence=(simulated,))
    refuted = dataclasses.replace(
        entry("toy.two", Verdict.REFUTED), evidence=(dataclasses.replace(simulated, z=9.0, outcome=Outcome.REFUTES),)
    )
    ledger = Ledger("quick", (held, refuted))
    without = found("Calibration of deviates", ledger)
    assert "2.50 at most" in without.text
    assert "3.29 or more" in without.text
    assert "not installed" in without.text
    rows = (("test error", "43", "+0.01"), ("m", "40", "+0.10"))
    study = Study("calibration", "t", (), (Table("", ("observable", "deviates", "mean"), rows),), command="measure it")
    table = found("Calibration of deviates", ledger, study).table
    assert table is not None
    assert table.rows == rows[:1]


def test_slips_in_the_code_are_read_from_the_campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust, "CODE_MUTANTS", tmp_path / "mutants.json")
    assert "Not measured" in found("Slips in the code", toy_ledger()).text
    stored = [
        {"name": "verify/checks/a.py | + -> - | 0", "line": 1, "by": "tests/verify/checks/test_a.py::test_a"},
        {"name": "verify/checks/b.py | 1 -> 2 | 0", "line": 2, "by": ""},
        {"name": "numerics/balls/c.py | < -> <= | 0", "line": 3, "by": "tests/numerics/balls/test_c.py::test_c"},
    ]
    (tmp_path / "mutants.json").write_text(json.dumps(stored), encoding="utf-8")
    slips = found("Slips in the code", toy_ledger())
    assert "2 of 3 killed, 67%" in slips.text
    assert slips.table is not None
    assert slips.table.rows == (("numerics/balls", "1", "1"), ("verify/checks", "2", "1"))
    assert "had survived" not in slips.text
    (tmp_path / "mutants.json").write_text(json.dumps([{**stored[0], "lived": True}, *stored[1:]]), encoding="utf-8")
    assert "2 of 3 killed, 67%, 1 of them by tests that were written" in found("Slips in the code", toy_ledger()).text


def test_fuzzed_lines_and_certificates_are_read_from_the_campaign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trust, "FUZZ", tmp_path / "fuzz.json")
    title = "Fuzzed input and drawn certificates"
    assert "Not measured" in found(title, toy_ledger()).text
    stored = [
        {"kind": "lines", "block": 0, "counts": {"0": 30, "2": 69, "4": 1}, "faults": [{"number": 7, "fault": "4"}]},
        {"kind": "lines", "block": 1, "counts": {"0": 20, "2": 77, "3": 3}, "faults": []},
        {"kind": "certificates", "block": 0, "counts": {"contained": 60, "none": 40}, "faults": []},
    ]
    (tmp_path / "fuzz.json").write_text(json.dumps(stored), encoding="utf-8")
    text = found(title, toy_ledger()).text
    assert "200 random command lines" in text
    assert "50 were answered, 146 refused and 3 not converged" in text
    assert "1 broke the contract" in text
    assert "100 random models" in text
    assert "60 agree" in text
    assert "0 do not, 40 models have none" in text


def test_every_measure_names_its_command_or_says_that_nothing_was_measured() -> None:
    for measure in measures(toy_ledger(), ()):
        assert measure.command or "not installed here" in measure.text, measure.title
