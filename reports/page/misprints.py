"""Formulas that do not hold as our sources have them, as the page shows them: both formulas, the witness, what the
correction changes, whether an error of conversion could explain it; apart from them conventions and readings that
differ from ours.

The coverage of a source without numbered equations: frame by frame, each formula with its claims and their verdicts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby

from giantsteps.reports.page.sources import document
from giantsteps.verify.ledger.errata import ErratumReport, errata
from giantsteps.verify.ledger.run import Entry, Ledger
from giantsteps.verify.protocol.claim import Role
from giantsteps.verify.protocol.paper import DEFINITION, Document, Formula, Paper
from giantsteps.verify.protocol.verdict import Verdict

Reports = Callable[[Ledger, Paper], tuple[ErratumReport, ...]]


def misprints(
    ledger: Ledger, paper: Paper, reports: Reports = errata
) -> list[tuple[Document, list[tuple[str, list[tuple[str, ErratumReport]]]]]]:
    """The errata of a ledger, or its conventions, by document, and within it by the frame that prints them; each with
    the numbers of its equations as text.

    Documents stand in the order of `Paper.sources`, frames and errata in that of `Paper.errata`; a frame that comes up
    again after another stands again.
    """
    found: dict[str, list[tuple[str, list[tuple[str, ErratumReport]]]]] = {one.name: [] for one in paper.sources}
    for source, group in groupby(reports(ledger, paper), key=lambda report: report.source.split(", (")[0]):
        name, _, frame = source.partition(", ")
        rows = [(report.source.removeprefix(source).lstrip(", "), report) for report in group]
        found.setdefault(name, []).append((frame, rows))
    return [(document(name, paper), frames) for name, frames in found.items() if frames]


# What became of a formula of such a source, in the order of the table of counts.
STANDS, CORRECTED, DIFFERS, FIXED = "stands", "corrected", "convention", "definition"


@dataclass(frozen=True)
class CoveredFormula:
    """One formula: what it says, what became of it, its claims as (id, verdict, stated as printed)."""

    says: str
    outcome: str
    claims: tuple[tuple[str, str, bool], ...]
    remark: str


@dataclass(frozen=True)
class Coverage:
    """The formulas of a source by frame, and how many of them stand, are corrected, differ by a convention or are
    definitions.
    """

    frames: tuple[tuple[str, tuple[CoveredFormula, ...]], ...]
    counts: tuple[tuple[str, int], ...]

    @property
    def formulas(self) -> int:
        """How many formulas are listed."""
        return sum(count for _, count in self.counts)


def coverage(ledger: Ledger, source: Document) -> Coverage:
    """The list of a source's formulas with the verdicts of this ledger; formulas without a claim in it are left out."""
    entries = {entry.claim.id: entry for entry in ledger.entries}
    frames: dict[str, list[CoveredFormula]] = {}
    for formula in source.formulas:
        if any(id_ in entries for id_ in formula.claims):
            frames.setdefault(formula.frame, []).append(_covered(formula, entries))
    counted = Counter(one.outcome for rows in frames.values() for one in rows)
    return Coverage(
        tuple((frame, tuple(rows)) for frame, rows in frames.items()),
        tuple((outcome, counted[outcome]) for outcome in (STANDS, CORRECTED, DIFFERS, FIXED) if counted[outcome]),
    )


def _covered(formula: Formula, entries: Mapping[str, Entry]) -> CoveredFormula:
    found = [entries[id_] for id_ in formula.claims if id_ in entries]
    verdicts = {e.verdict for e in found if e.claim.role is Role.PRINTED}
    differs = (outcome for v, outcome in ((Verdict.REFUTED, CORRECTED), (Verdict.CONVENTION, DIFFERS)) if v in verdicts)
    outcome = next(differs, FIXED if formula.remark == DEFINITION else STANDS)
    claims = tuple((e.claim.id, e.verdict.value, e.claim.role is Role.PRINTED) for e in found)
    remark = "" if formula.remark == DEFINITION else formula.remark
    return CoveredFormula(formula.says, outcome, claims, remark)
