"""Formulas that do not hold as our sources have them, as the page shows them: both formulas, the witness, what the
correction changes, whether an error of conversion could explain it; apart from them conventions and readings that
differ from ours.

The errata as data for a page of the report and for the command line.

The coverage of the slides as the page shows it: frame by frame, each formula with its claims and their verdicts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup

from giantsteps.reports.page.sources import DOCUMENTS, SLIDES, document
from giantsteps.reports.text.mathematics import mathml
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.ledger.errata import ErratumReport, errata
from giantsteps.verify.ledger.run import Entry, Ledger
from giantsteps.verify.protocol.claim import Role
from giantsteps.verify.protocol.paper import DEFINITION, Document, Formula, Paper
from giantsteps.verify.protocol.verdict import Verdict


@dataclass(frozen=True)
class MisprintView:
    """One of them on the page."""

    id: str
    title: str
    equations: str
    printed: Markup
    printed_claim: str
    printed_verdict: str
    corrected: Markup
    corrected_claim: str
    corrected_verdict: str
    witness: str
    consequence: str
    conversion: str


Reports = Callable[[Ledger, Paper], tuple[ErratumReport, ...]]


def misprint_views(
    ledger: Ledger, reports: Reports = errata
) -> list[tuple[Document, list[tuple[str, list[MisprintView]]]]]:
    """The errata of a ledger, or its conventions, by document, and within it by the frame that prints them, in MathML.

    Documents stand in the order of `Paper.sources`, frames and errata in that of
    `Paper.errata`. Raises MathError.
    """
    found: dict[str, list[tuple[str, list[MisprintView]]]] = {name: [] for name in DOCUMENTS}
    for source, rows in section(ledger, reports=reports):
        name, _, frame = source.partition(", ")
        found.setdefault(name, []).append((frame, [_view(row, source) for row in rows]))
    return [(document(name), frames) for name, frames in found.items() if frames]


def _view(row: dict[str, str], source: str) -> MisprintView:
    return MisprintView(
        id=row["id"],
        title=row["title"],
        equations=row["source"].removeprefix(source).lstrip(", "),
        printed=Markup(mathml(row["printed"], block=True)),
        printed_claim=row["printed_claim"],
        printed_verdict=row["printed_verdict"],
        corrected=Markup(mathml(row["corrected"], block=True)),
        corrected_claim=row["corrected_claim"],
        corrected_verdict=row["corrected_verdict"],
        witness=row["witness"],
        consequence=row["consequence"],
        conversion=row["conversion"],
    )


def document_of_errata_section(report: ErratumReport) -> dict[str, str]:
    """One erratum as the command line prints it in JSON."""
    return {
        "id": report.id,
        "title": report.title,
        "source": report.source,
        "printed": report.printed,
        "printed_claim": report.printed_claim,
        "printed_verdict": report.printed_verdict.value,
        "corrected": report.corrected,
        "corrected_claim": report.corrected_claim,
        "corrected_verdict": report.corrected_verdict.value,
        "witness": report.witness,
        "consequence": report.consequence,
        "conversion": report.conversion,
    }


def section(
    ledger: Ledger, paper: Paper = PAPER, reports: Reports = errata
) -> tuple[tuple[str, tuple[dict[str, str], ...]], ...]:
    """The errata of a ledger, grouped by the frame that prints them, in the order of
    ``Paper.errata``.

    A frame that comes up again after another starts a group of its own, so that the order is kept.
    """
    documents = [document_of_errata_section(report) for report in reports(ledger, paper)]
    return tuple((source, tuple(group)) for source, group in groupby(documents, key=_frame))


def _frame(erratum: dict[str, str]) -> str:
    """The document and frame of an erratum, without equation numbers."""
    return erratum["source"].split(", (")[0]


# What became of a formula of the slides, in the order of the table of counts.
STANDS, CORRECTED, DIFFERS, FIXED = "stands", "corrected", "convention", "definition"


@dataclass(frozen=True)
class CoveredFormula:
    """One formula: what it says, what became of it, its claims as (id, verdict, stated as printed)."""

    frame: str
    says: str
    outcome: str
    claims: tuple[tuple[str, str, bool], ...]
    remark: str


@dataclass(frozen=True)
class Coverage:
    """The formulas of the slides by frame, and how many of them stand, are corrected, differ by a convention or are
    definitions.
    """

    frames: tuple[tuple[str, tuple[CoveredFormula, ...]], ...]
    counts: tuple[tuple[str, int], ...]

    @property
    def formulas(self) -> int:
        """How many formulas are listed."""
        return sum(count for _, count in self.counts)


def coverage(ledger: Ledger) -> Coverage:
    """The list of the slides' formulas with the verdicts of this ledger; formulas without a claim in it are
    left out."""
    entries = {entry.claim.id: entry for entry in ledger.entries}
    frames: dict[str, list[CoveredFormula]] = {}
    for formula in DOCUMENTS[SLIDES].formulas:
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
    return CoveredFormula(formula.frame, formula.says, outcome, claims, remark)
