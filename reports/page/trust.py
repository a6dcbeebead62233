"""The page on trust: the errors that the checks detect, with the command that measures each.

Only what is measured stands here, read off the ledger of the run and the committed measurements; of what is not, the
page says so.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from giantsteps.reports.measurements.study import Study, Table
from giantsteps.reports.text.words import EVIDENCE
from giantsteps.verify.checks.finite_size import FALSE_ALARM
from giantsteps.verify.ledger.document import alone, entry_json, theorem_json
from giantsteps.verify.ledger.family import FAMILY, rejected, simulations
from giantsteps.verify.ledger.run import Ledger
from giantsteps.verify.protocol.evidence import FiniteSize
from giantsteps.verify.protocol.power import ENOUGH, WEIGHED
from giantsteps.verify.protocol.verdict import Verdict

# What `make mutants` stores: one entry a slip in the source, with the test that fails on it.
_BENCHMARKS = Path(__file__).parent.parent.parent / "benchmarks"
CODE_MUTANTS = _BENCHMARKS / "mutants" / "mutants.json"
# What `make fuzz` stores: a hundred command lines, or models, an entry.
FUZZ = _BENCHMARKS / "fuzz" / "fuzz.json"


@dataclass(frozen=True)
class Measure:
    """One measure of trust: what was found, in sentences and a table, and the command that measures it.

    The first cells of the table are claims where ``of_claims``; ``study`` is the page that has more of it.
    """

    title: str
    text: str
    command: str
    table: Table | None = None
    of_claims: bool = False
    study: str = ""


def measures(ledger: Ledger, studies: Sequence[Study]) -> list[Measure]:
    """Every measure, in the order of the page."""
    return [
        _power(ledger),
        _mutants(ledger),
        _deviates(ledger, studies),
        _family(ledger),
        _properties(),
        _code_mutants(),
        _fuzz(),
        _certified(ledger),
        _second_kernel(ledger),
        _reproducibility(),
    ]


def _power(ledger: Ledger) -> Measure:
    """The claims that rest on numbers or simulation, those of which least was caught first."""
    shown = (*WEIGHED, Verdict.INCONCLUSIVE)
    judged = [(e, e.power) for e in ledger.entries if e.power and e.verdict in shown]
    rows = [
        (
            e.claim.id, e.verdict.value, power.earned_by, "{} of {}".format(*power.own),
            "{} of {}".format(*power.of_generic), ", ".join(power.missed),
        )
        for e, power in sorted(judged, key=lambda found: found[1].caught_alone / max(found[1].of, 1))
    ]  # fmt: skip
    below = sum(row[1] == Verdict.INCONCLUSIVE.value for row in rows)
    text = (
        "If no theorem or certificate decides a claim, the check that earned the verdict, or that stands beside a "
        "derivation, is tried alone on every mutant. Stated mutants come with the claim. Generic mutants change the "
        "right-hand side of an equation (five per cent more, an exponent a tenth larger, the smallest term dropped or "
        "its sign flipped, one ratio for another, a function replaced by its mean) or an inequality (reversed, or its "
        "bound moved five per cent past the nearest value). The claim is INCONCLUSIVE, though nothing contradicts it, "
        f"if the check refutes fewer than {ENOUGH:.0%} of the stated or of the generic mutants, if it misses a mutant "
        f"written for the claim, or if there are no mutants. This holds for {below} of {len(rows)} claims."
    )
    columns = ("claim", "verdict", "check", "stated mutants refuted", "generic mutants refuted", "missed")
    return Measure(
        "What each check would have caught, alone",
        text,
        "giantsteps verify",
        Table("By claim", columns, tuple(rows)),
        True,
    )


def _mutants(ledger: Ledger) -> Measure:
    counts = alone(ledger)
    rows = tuple(
        (words, str(counts[type_]["tried"]), str(counts[type_]["caught"]))
        for type_, words in EVIDENCE.items()
        if type_ in counts
    )
    tested = sum(len(entry.mutants) for entry in ledger.entries)
    survived = sum(len(entry.surviving_mutants) for entry in ledger.entries)
    text = (
        f"All checks of a claim together refute {tested - survived} of {tested} mutants. A proof refutes nearly every "
        "altered statement by construction, which says nothing about the numerical evidence beside it. The kinds of "
        "evidence are therefore counted separately, each on the mutants of the claims that have it."
    )
    columns = ("evidence", "mutants tried", "refuted alone")
    return Measure("Mutants, by kind of evidence", text, "giantsteps verify", Table("", columns, rows))


def _deviates(ledger: Ledger, studies: Sequence[Study]) -> Measure:
    """The deviates of the simulations of the ledger, and of the models drawn for it, from the study of these."""
    held = (entry for entry in ledger.entries if entry.verdict is not Verdict.REFUTED)
    ours = [e for entry in held for e in entry.evidence if isinstance(e, FiniteSize)]
    text = f"{len(ours)} simulations stand behind claims that hold."
    if ours:
        text += (
            f" The deviate of the worst model of each is {max(abs(e.z) for e in ours):.2f} at most in size, where "
            f"{min(e.threshold for e in ours):.2f} or more would have refuted; {sum(abs(e.z) > 2.0 for e in ours)} are "
            "beyond 2. Being the worst of several each, these are no sample of a normal law."
        )
    study = next((study for study in studies if study.slug == "calibration"), None)
    if study is None:
        return Measure("Calibration of deviates", f"{text} Models that were drawn for that are not installed here.", "")
    table = next(t for t in study.tables if t.columns[0] == "observable")
    tests = Table(table.caption, table.columns, table.rows[:1])
    text += " Those of models that were drawn for it should be, one for each model:"
    return Measure("Calibration of deviates", text, study.command, tests, study=study.slug)


def _family(ledger: Ledger) -> Measure:
    """Holm's procedure over all simulations of the ledger."""
    found = simulations({"claims": [entry_json(entry) for entry in ledger.entries]})
    decisions = rejected([p for _, _, p in found])
    refuting = (Verdict.REFUTED.value, Verdict.CONVENTION.value)
    alarms = sum(no and verdict not in refuting for (_, verdict, _), no in zip(found, decisions, strict=True))
    text = (
        f"Each of {len(found)} simulations refutes a right statement once in {round(1 / FALSE_ALARM)} seeds. Decided "
        f"together by Holm's procedure, with a probability of {FAMILY:.0%} at most that any right one is rejected, "
        f"{sum(decisions)} are: {alarms} of claims that hold, the others of statements that the ledger refutes or "
        "calls a convention of their source. Seeds are fixed; with --seed everything is drawn afresh."
    )
    return Measure("False alarms over the whole ledger", text, "giantsteps verify --seed 7")


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


def _second_kernel(ledger: Ledger) -> Measure:
    theorems = [found for entry in ledger.entries if (found := theorem_json(entry.evidence))]
    accepted = sum("rocq" in found["replayed"] for found in theorems)
    text = (
        f"Of {len(theorems)} claims that have a theorem, {accepted} were replayed by Rocq, a second kernel that shares "
        "no line with ours: each inference of their proof, as it stands now. One that changed since is not counted."
    )
    return Measure("A second kernel", text, "make kernel")


def _reproducibility() -> Measure:
    text = (
        "The ledger holds no clock, host or timing. The drift check makes it again and compares verdicts, statements, "
        "evidence and scores, whatever the number of workers; tests hold two runs of a small ledger to the same bytes. "
        "Whether two reports with one worker and with two are the same byte for byte is not measured here."
    )
    return Measure("Reproducibility", text, "make drift")
