"""What the page on trust has of the code: properties, slips in the source, fuzzed input, certificates on demand."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from giantsteps.reports.measurements.study import Table
from giantsteps.reports.page.pages import Measure
from giantsteps.verify.ledger.run import Ledger
from giantsteps.verify.protocol.verdict import Verdict

# What `make mutants` stores: one entry a slip in the source, with the test that fails on it.
_BENCHMARKS = Path(__file__).parent.parent.parent / "benchmarks"
CODE_MUTANTS = _BENCHMARKS / "mutants" / "mutants.json"
# What `make fuzz` stores: a hundred command lines, or models, an entry.
FUZZ = _BENCHMARKS / "fuzz" / "fuzz.json"


def of_the_code(ledger: Ledger) -> tuple[Measure, ...]:
    """These measures, in the order of the page."""
    return _properties(), _code_mutants(), _fuzz(), _certified(ledger)


def _properties() -> Measure:
    from giantsteps.verify.properties.run import PROPERTIES, TIMES

    themes = Counter(one.name.split(".")[0] for one in PROPERTIES)
    examples = sum(one.examples for one in PROPERTIES)
    text = (
        f"{len(PROPERTIES)} sentences that no model may break, in {len(themes)} themes. A test sees each fail on an "
        "error planted in the theory. What a search finds depends on the examples asked for and is not stored here: "
        "the command prints for each the examples, the narrowest margin and the smallest counterexample."
    )
    rows = tuple((profile, str(examples * times)) for profile, times in TIMES.items())
    table = Table("", ("profile", "examples asked for"), rows)
    return Measure("Properties", text, "giantsteps verify --properties --profile thorough", table)


def _code_mutants() -> Measure:
    title, command = "Slips in the code", "make mutants"
    if not CODE_MUTANTS.is_file():
        return Measure(title, "Not measured here: no campaign is stored.", command)
    stored: list[dict[str, Any]] = json.loads(CODE_MUTANTS.read_text(encoding="utf-8"))
    rooms: dict[str, list[bool]] = {}
    for slip in stored:
        rooms.setdefault("/".join(slip["name"].split("/")[:2]), []).append(bool(slip["by"]))
    killed = sum(map(sum, rooms.values()))
    lived = sum("lived" in slip for slip in stored)
    share = f", {killed / len(stored):.0%}" if stored else ""
    text = (
        "Random slips in the source (another operator, constant or comparison, a statement dropped), each against the "
        f"fast tests of its own room: {killed} of {len(stored)} killed{share}"
        + (f", {lived} of them by tests that were written after they had survived." if lived else ".")
    )
    rows = tuple((room, str(len(found)), str(sum(found))) for room, found in sorted(rooms.items()))
    return Measure(title, text, command, Table("", ("room", "slips", "killed"), rows))


def _fuzz() -> Measure:
    title, command = "Fuzzed input and drawn certificates", "make fuzz"
    if not FUZZ.is_file():
        return Measure(title, "Not measured here: no campaign is stored.", command)
    stored: list[dict[str, Any]] = json.loads(FUZZ.read_text(encoding="utf-8"))
    lines, models = (Counter[str](), Counter[str]())
    for block in stored:
        (lines if block["kind"] == "lines" else models).update(block["counts"])
    faults = Counter(block["kind"] for block in stored for _ in block["faults"])
    late = sum(
        block["kind"] == "lines" and fault["fault"].startswith("no answer")
        for block in stored
        for fault in block["faults"]
    )
    text = (
        f"{lines.total()} random command lines, valid ones and ones with slips: {lines['0']} were answered, "
        f"{lines['2']} refused, {lines['3']} not converged or inconclusive, and {lines['1']} comparisons said REFUTED, "
        f"as few experiments far from their limit may; {late} had no answer in the time of a trial, two minutes, and "
        f"{faults['lines'] - late} broke the contract (a traceback, another exit code, more than one sentence, a "
        f"document that is none, an error below zero). Certificates of {models.total()} random models, to few and to "
        f"many digits: {models['contained']} agree with each other and hold the doubles within their estimate, "
        f"{faults['certificates']} do not, {models['none']} models have none."
    )
    return Measure(title, text, command)


def _certified(ledger: Ledger) -> Measure:
    count = sum(entry.verdict is Verdict.CERTIFIED for entry in ledger.entries)
    text = (
        f"{count} claims rest on ball arithmetic alone. A point of one readout group has a certificate on demand; what "
        "share of a range of parameters, or of drawn models, can be certified is not measured here."
    )
    command = (
        "giantsteps solve --activation tanh --target sin --alpha 1.5 --beta 1 --ridge 1 --alpha0 2 --eta 3 --certify"
    )
    return Measure("Certificates", text, command)
