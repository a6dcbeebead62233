"""The coverage of the slides as the page shows it: frame by frame, each formula with its claims and their verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from verify.claim import Role
from verify.ledger import Entry, Ledger
from verify.slides_coverage import DEFINITION, FORMULAS, Formula
from verify.verdict import Verdict

# What became of a formula of the slides, in the order of the table of counts.
STANDS, CORRECTED, FIXED = "stands", "corrected", "definition"


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
    """The formulas of the slides by frame, and how many of them stand, are corrected or are definitions."""

    frames: tuple[tuple[str, tuple[CoveredFormula, ...]], ...]
    counts: tuple[tuple[str, int], ...]

    @property
    def formulas(self) -> int:
        """How many formulas are listed."""
        return sum(count for _, count in self.counts)


def coverage(ledger: Ledger) -> Coverage:
    """The list of `verify.slides_coverage` with the verdicts of this ledger; formulas without a claim in it are left
    out."""
    entries = {entry.claim.id: entry for entry in ledger.entries}
    frames: dict[str, list[CoveredFormula]] = {}
    for formula in FORMULAS:
        if any(id_ in entries for id_ in formula.claims):
            frames.setdefault(formula.frame, []).append(_covered(formula, entries))
    counted = Counter(one.outcome for rows in frames.values() for one in rows)
    return Coverage(
        tuple((frame, tuple(rows)) for frame, rows in frames.items()),
        tuple((outcome, counted[outcome]) for outcome in (STANDS, CORRECTED, FIXED) if counted[outcome]),
    )


def _covered(formula: Formula, entries: Mapping[str, Entry]) -> CoveredFormula:
    found = [entries[id_] for id_ in formula.claims if id_ in entries]
    refuted = any(e.claim.role is Role.PRINTED and e.verdict is Verdict.REFUTED for e in found)
    outcome = CORRECTED if refuted else FIXED if formula.remark == DEFINITION else STANDS
    claims = tuple((e.claim.id, e.verdict.value, e.claim.role is Role.PRINTED) for e in found)
    remark = "" if formula.remark == DEFINITION else formula.remark
    return CoveredFormula(formula.frame, formula.says, outcome, claims, remark)
