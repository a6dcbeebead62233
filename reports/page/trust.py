"""The page on trust: the errors that the checks detect, with the command that measures each.

Only what is measured stands here, read off the ledger of the run and the committed measurements; of what is not, the
page says so.
"""

from __future__ import annotations

from giantsteps.reports.measurements.study import Table
from giantsteps.reports.page.material import Material
from giantsteps.reports.page.pages import Measure
from giantsteps.reports.text.words import EVIDENCE
from giantsteps.verify.checks.finite_size import FALSE_ALARM
from giantsteps.verify.ledger.document import alone, entry_json, theorem_json
from giantsteps.verify.ledger.family import FAMILY, rejected, simulations
from giantsteps.verify.ledger.run import Ledger
from giantsteps.verify.protocol.evidence import FiniteSize
from giantsteps.verify.protocol.paper import Paper
from giantsteps.verify.protocol.power import ENOUGH, WEIGHED
from giantsteps.verify.protocol.verdict import Verdict


def measures(material: Material) -> list[Measure]:
    """Every measure, in the order of the page; simulations where there are any, or where their models have a study."""
    ledger, paper = material.ledger, material.paper
    simulated = material.pages.studies or any(isinstance(e, FiniteSize) for one in ledger.entries for e in one.evidence)
    return [
        _power(ledger, paper),
        _mutants(ledger, paper),
        *([_deviates(material), _family(ledger, paper)] if simulated else []),
        *material.pages.measures(ledger),
        _second_kernel(ledger, paper),
        *([_reproducibility(paper)] if paper.ledger else []),
    ]


def _power(ledger: Ledger, paper: Paper) -> Measure:
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
        f"giantsteps verify{paper.option}",
        Table("By claim", columns, tuple(rows)),
        True,
    )


def _mutants(ledger: Ledger, paper: Paper) -> Measure:
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
    return Measure("Mutants, by kind of evidence", text, f"giantsteps verify{paper.option}", Table("", columns, rows))


def _deviates(material: Material) -> Measure:
    """The deviates of the simulations of the ledger, and of the models drawn for it, from the study of these."""
    ledger, again = material.ledger, f"giantsteps verify{material.paper.option}"
    held = (entry for entry in ledger.entries if entry.verdict is not Verdict.REFUTED)
    ours = [e for entry in held for e in entry.evidence if isinstance(e, FiniteSize)]
    text = f"{len(ours)} simulations stand behind claims that hold."
    if ours:
        text += (
            f" The deviate of the worst model of each is {max(abs(e.z) for e in ours):.2f} at most in size, where "
            f"{min(e.threshold for e in ours):.2f} or more would have refuted; {sum(abs(e.z) > 2.0 for e in ours)} are "
            "beyond 2. Being the worst of several each, these are no sample of a normal law."
        )
    study = next((study for study in material.studies if study.slug == "calibration"), None)
    if study is None and not material.pages.studies:
        return Measure("Calibration of deviates", text, again)
    if study is None:
        return Measure("Calibration of deviates", f"{text} Models that were drawn for that are not installed here.", "")
    table = next(t for t in study.tables if t.columns[0] == "observable")
    tests = Table(table.caption, table.columns, table.rows[:1])
    text += " Those of models that were drawn for it should be, one for each model:"
    return Measure("Calibration of deviates", text, study.command, tests, study=study.slug)


def _family(ledger: Ledger, paper: Paper) -> Measure:
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
    return Measure("False alarms over the whole ledger", text, f"giantsteps verify{paper.option} --seed 7")


def _second_kernel(ledger: Ledger, paper: Paper) -> Measure:
    theorems = [found for entry in ledger.entries if (found := theorem_json(entry.evidence))]
    accepted = sum("rocq" in found["replayed"] for found in theorems)
    text = (
        f"Of {len(theorems)} claims that have a theorem, {accepted} were replayed by Rocq, a second kernel that shares "
        "no line with ours: each inference of their proof, as it stands now. One that changed since is not counted."
    )
    again = f"giantsteps verify{paper.option} --export rocq build/rocq" if paper.option else "make kernel"
    return Measure("A second kernel", text, again)


def _reproducibility(paper: Paper) -> Measure:
    text = (
        "The ledger holds no clock, host or timing. The drift check makes it again and compares verdicts, statements, "
        "evidence and scores, whatever the number of workers; tests hold two runs of a small ledger to the same bytes. "
        "Whether two reports with one worker and with two are the same byte for byte is not measured here."
    )
    return Measure(
        "Reproducibility", text, f"giantsteps report{paper.option} --check" if paper.option else "make drift"
    )
