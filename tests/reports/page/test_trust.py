"""The page on trust says what the ledger and committed measurements have, and what is not measured."""

from __future__ import annotations

import dataclasses

from giantsteps.reports.measurements.study import Study
from giantsteps.reports.page.material import Material
from giantsteps.reports.page.pages import Measure
from giantsteps.reports.page.trust import measures
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.ledger.run import Entry, Ledger
from giantsteps.verify.protocol.evidence import FiniteSize, Outcome
from giantsteps.verify.protocol.power import MutantResult, Power
from giantsteps.verify.protocol.verdict import Verdict
from tests.shared.report_page import broken, entry, site_of, toy_ledger
from tests.shared.toy import LIMIT


def found(title: str, ledger: Ledger, *studies: Study) -> Measure:
    (one,) = (measure for measure in measures(Material(ledger, (), PAPER, studies)) if measure.title == title)
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
    assert "generic mutants refuted" in files["trust.html"]
    assert "claim/blunt.one.html" in files["trust.html"]
    assert broken(files) == []


def test_every_measure_names_its_command_or_says_that_nothing_was_measured() -> None:
    for measure in measures(Material(toy_ledger(), (), PAPER)):
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


def test_stated_and_generic_mutants_are_counted_separately() -> None:
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
    assert "This holds for 1 of 3 claims." in measure.text
    assert "fewer than 80% of" in measure.text


def test_mutants_are_counted_one_by_one_and_by_what_catches_them() -> None:
    proof, numbers = toy_ledger().entries[0].evidence
    caught = [(proof.check,), (proof.check, numbers.check), (numbers.check,), (proof.check,), ()]
    verdicts = [Verdict.REFUTED] * 3 + [Verdict.CONFIRMED, Verdict.INCONCLUSIVE]
    mutants = [MutantResult("m", LIMIT, verdict, by) for by, verdict in zip(caught, verdicts, strict=True)]
    one = dataclasses.replace(toy_ledger().entries[0], mutants=tuple(mutants))
    measure = found("Mutants, by kind of evidence", Ledger("quick", (one,)))
    assert "together refute 3 of 5 mutants" in measure.text
    assert measure.table is not None
    assert measure.table.rows == (("numbers", "5", "2"), ("proof", "5", "3"))
