"""The page on trust says what the ledger and committed measurements have, and what is not measured."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from giantsteps.reports.measurements.study import Study, Table
from giantsteps.reports.page import trust
from giantsteps.reports.page.trust import Measure, measures
from giantsteps.verify.ledger.run import Entry, Ledger
from giantsteps.verify.protocol.evidence import FiniteSize, Made, Outcome, Proof, Settled
from giantsteps.verify.protocol.power import MutantResult, Power
from giantsteps.verify.protocol.verdict import Verdict
from tests.shared.report_page import broken, entry, site_of, toy_ledger, toy_site
from tests.shared.toy import LIMIT


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
        {"kind": "lines", "block": 1, "counts": {"0": 20, "1": 2, "2": 75, "3": 3}, "faults": []},
        {"kind": "certificates", "block": 0, "counts": {"contained": 60, "none": 40}, "faults": []},
    ]
    (tmp_path / "fuzz.json").write_text(json.dumps(stored), encoding="utf-8")
    text = found(title, toy_ledger()).text
    assert "200 random command lines" in text
    assert "50 were answered, 144 refused, 3 not converged or inconclusive, and 2 comparisons said REFUTED" in text
    assert "1 broke the contract" in text
    assert "100 random models" in text
    assert "60 agree" in text
    assert "0 do not, 40 models have none" in text


def test_every_fault_of_a_block_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust, "FUZZ", tmp_path / "fuzz.json")
    faults = [{"number": 7, "fault": "4"}, {"number": 9, "fault": "4"}]
    late = {"number": 8, "fault": "no answer after 120 s of processor time"}
    blocks = [
        {"kind": "lines", "block": 0, "counts": {"0": 98, "4": 2}, "faults": [*faults, late]},
        {"kind": "certificates", "block": 0, "counts": {"contained": 97, "fault": 3}, "faults": [*faults, faults[0]]},
    ]
    (tmp_path / "fuzz.json").write_text(json.dumps(blocks), encoding="utf-8")
    text = found("Fuzzed input and drawn certificates", toy_ledger()).text
    assert "1 had no answer in the time of a trial, two minutes, and 2 broke the contract" in text
    assert "3 do not" in text


def test_every_measure_names_its_command_or_says_that_nothing_was_measured() -> None:
    for measure in measures(toy_ledger(), ()):
        assert measure.command or "not installed here" in measure.text, measure.title


def simulated(z: float, threshold: float, outcome: Outcome = Outcome.SUPPORTS) -> FiniteSize:
    return FiniteSize("simulation: toy", 9, z, threshold, 0.05, outcome, "toy")


def test_deviates_count_by_their_size_of_claims_that_hold_alone() -> None:
    held = dataclasses.replace(
        entry("toy.one", Verdict.CONFIRMED), evidence=tuple(simulated(z, 4.5) for z in (-3.1, 2.2, -2.1, 0.4))
    )
    other = dataclasses.replace(entry("toy.two", Verdict.INCONCLUSIVE), evidence=(simulated(1.0, 3.29),))
    refuted = dataclasses.replace(entry("toy.three", Verdict.REFUTED), evidence=(simulated(-9.0, 2.5),))
    text = found("Calibration of deviates", Ledger("quick", (held, other, refuted))).text
    assert text.startswith("5 simulations stand behind claims that hold.")
    assert "is 3.10 at most in size, where 3.29 or more would have refuted; 3 are beyond 2." in text


def test_the_family_counts_alarms_apart_from_what_is_refuted_or_another_convention() -> None:
    scores = {"a": (Verdict.CONFIRMED, 9.0), "b": (Verdict.CONVENTION, -9.0), "c": (Verdict.REFUTED, 9.0),
              "d": (Verdict.CONFIRMED, 0.5), "e": (Verdict.INCONCLUSIVE, -1.0)}  # fmt: skip
    entries = [dataclasses.replace(entry(n, v), evidence=(simulated(z, 3.29),)) for n, (v, z) in scores.items()]
    text = found("False alarms over the whole ledger", Ledger("quick", tuple(entries))).text
    assert "Each of 5 simulations refutes a right statement once in 1000 seeds." in text
    assert "with a probability of 5% at most that any right one is rejected, 3 are: 1 of claims that hold" in text


def test_the_score_of_a_claim_stands_for_its_own_and_the_generic_neighbours_apart() -> None:
    own = ("a sign", "a square")
    generic = tuple(
        MutantResult(name, LIMIT, Verdict.REFUTED, by)
        for name, by in (("more", ("checked",)), ("mean", ()), ("dropped", ("checked", "another")))
    )
    power = Power("checked", 6, (*own, "mean"), generic, own[:1])
    verdicts = (Verdict.CONFIRMED, Verdict.DERIVED, Verdict.PROVED, Verdict.REFUTED, Verdict.INCONCLUSIVE)
    entries = [dataclasses.replace(entry(f"toy.{v.value}", v), power=power) for v in verdicts]
    measure = found("What each check would have caught, alone", Ledger("quick", tuple(entries)))
    assert measure.table is not None
    assert [row[1] for row in measure.table.rows] == ["CONFIRMED", "DERIVED", "INCONCLUSIVE"]
    assert {row[2:] for row in measure.table.rows} == {("checked", "4 of 6", "2 of 3", "a sign, a square, mean")}
    assert "That is so for 1 of 3 claims." in measure.text
    assert "fewer than 80% of" in measure.text


def test_wrong_neighbours_are_counted_one_by_one_and_by_what_catches_them() -> None:
    proof, numbers = toy_ledger().entries[0].evidence
    caught = [(proof.check,), (proof.check, numbers.check), (numbers.check,), (proof.check,), ()]
    verdicts = [Verdict.REFUTED] * 3 + [Verdict.CONFIRMED, Verdict.INCONCLUSIVE]
    mutants = [MutantResult("m", LIMIT, verdict, by) for by, verdict in zip(caught, verdicts, strict=True)]
    one = dataclasses.replace(toy_ledger().entries[0], mutants=tuple(mutants))
    measure = found("Wrong neighbours, by kind of evidence", Ledger("quick", (one,)))
    assert "together refute 3 of 5 wrong neighbours" in measure.text
    assert measure.table is not None
    assert measure.table.rows == (("numbers", "5", "2"), ("proof", "5", "3"))


def test_properties_are_counted_by_theme_and_examples_by_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    few = [SimpleNamespace(name=name, claim=claim, examples=examples) for name, claim, examples in (
        ("limits.a", "one.a", 3), ("limits.b", "two.b", 5), ("orderings.a", "three.c", 20))]  # fmt: skip
    monkeypatch.setattr("giantsteps.verify.properties.run.PROPERTIES", few)
    monkeypatch.setattr("giantsteps.verify.properties.run.TIMES", {"quick": 1, "thorough": 10})
    measure = found("Properties", toy_ledger())
    assert "3 sentences that no model may break, in 2 themes" in measure.text
    assert measure.table is not None
    assert measure.table.rows == (("quick", "28"), ("thorough", "280"))


def test_certificates_and_replayed_theorems_are_counted_by_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def proved(*digests: str) -> Proof:
        made = Made((), (), digests) if digests else None
        return Proof("a proof", (Settled("said", Outcome.SUPPORTS, ""),), theorem=made)

    evidence = {"a": (proved("x"), proved("y")), "b": (proved(), proved("z")), "c": (simulated(0.0, 3.0),)}
    entries = [dataclasses.replace(entry(n, Verdict.CERTIFIED), evidence=e) for n, e in evidence.items()]
    entries[0] = dataclasses.replace(entries[0], weakest=Verdict.CONFIRMED)
    entries.append(dataclasses.replace(entries[2], verdict=Verdict.CONFIRMED, weakest=Verdict.CERTIFIED))
    monkeypatch.setattr("giantsteps.verify.ledger.document.replayed", lambda digests: digests in (("x",), ("z",)))
    ledger = Ledger("quick", tuple(entries))
    assert found("Certificates", ledger).text.startswith("3 claims rest on ball arithmetic alone.")
    assert found("A second kernel", ledger).text.startswith("Of 2 claims that have a theorem, 2 were replayed")


def test_a_comparison_of_what_is_near_zero_sees_absolute_errors() -> None:
    from giantsteps.reports.page.views import evidence_summary, short_summary
    from giantsteps.verify.protocol.evidence import Agreement

    near = {"check": "numbers", "points": 3, "worst": 0.0, "tolerance": 1e-9, "worst_at": "x=1", "reason": "rounding"}
    for smallest, said in (
        (1e-9, "a relative error of 1e-09"),
        (2e3, "an absolute error of 1e-12 (all sides are near zero)"),
        (float("inf"), "an absolute error of 1e-12 (all sides are near zero)"),
    ):
        evidence = Agreement(**near, asked=3, smallest_detectable=smallest)  # type: ignore[arg-type]
        assert evidence_summary(evidence).endswith(f"would have caught {said}")
        assert short_summary(evidence) == f"3 points, sees {said}"
