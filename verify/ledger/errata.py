"""Errata: what the sources of a paper print wrong, what corrects it, and what that changes for a reader; and apart from
them conventions and readings that differ from ours.

Which formulas are wrong is not decided by these lists: one is reported only where checks found against the printed
claim, and its witness is the evidence of that run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

from giantsteps.verify.ledger.document import statement_latex
from giantsteps.verify.ledger.run import Entry, Ledger
from giantsteps.verify.protocol.claim import PROFILES, Claim, Role
from giantsteps.verify.protocol.evidence import Evidence, Outcome
from giantsteps.verify.protocol.order import claims_of, collected
from giantsteps.verify.protocol.paper import Erratum, Paper
from giantsteps.verify.protocol.papers import examining
from giantsteps.verify.protocol.verdict import Verdict, decide


@dataclass(frozen=True)
class ErratumReport:
    """An erratum with what the ledger found: both formulas in LaTeX, the witness, the verdict of the correction."""

    id: str
    title: str
    source: str
    printed: str
    printed_claim: str
    printed_verdict: Verdict
    corrected: str
    corrected_claim: str
    corrected_verdict: Verdict
    witness: str
    consequence: str
    conversion: str


def errata(ledger: Ledger, paper: Paper) -> tuple[ErratumReport, ...]:
    """The errata whose printed claim the ledger refuted, with printed and corrected LaTeX and the witness.

    Errata whose claims are not both in the ledger are left out, and so are printed claims that passed.
    """
    return _reported(ledger, paper.errata, lambda e: e.claim.role is Role.PRINTED and e.verdict is Verdict.REFUTED)


def conventions(ledger: Ledger, paper: Paper) -> tuple[ErratumReport, ...]:
    """The conventions of sources and the readings that checks found to differ from ours, as `errata` has misprints."""
    refuted = Role.READING, Verdict.REFUTED
    return _reported(
        ledger,
        paper.conventions,
        lambda e: e.verdict is Verdict.CONVENTION or (e.claim.role, e.verdict) == refuted,
    )


def _reported(ledger: Ledger, listed: Iterable[Erratum], found: Callable[[Entry], bool]) -> tuple[ErratumReport, ...]:
    entries = {entry.claim.id: entry for entry in ledger.entries}
    return tuple(
        _report(erratum, entries[erratum.printed], entries[erratum.corrected])
        for erratum in listed
        if erratum.printed in entries and erratum.corrected in entries and found(entries[erratum.printed])
    )


def _report(erratum: Erratum, printed: Entry, corrected: Entry) -> ErratumReport:
    return ErratumReport(
        id=erratum.id,
        title=printed.claim.title,
        source=str(printed.claim.source),
        printed_claim=printed.claim.id,
        printed_verdict=printed.verdict,
        printed=statement_latex(printed.claim),
        corrected_claim=corrected.claim.id,
        corrected=statement_latex(corrected.claim),
        corrected_verdict=corrected.verdict,
        witness="; ".join(e.summary for e in printed.evidence if e.outcome is Outcome.REFUTES),
        consequence=erratum.consequence,
        conversion=erratum.conversion,
    )


def examine_errata(
    paper: Paper,
    profile_name: str = "quick",
    executor: Executor | None = None,
    chosen: Sequence[Erratum] | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Ledger:
    """The printed claims of errata and conventions (all, unless chosen) and those that correct them, checked alone.

    That is without their mutants and without what they rest on. ``progress`` is told each module that is done.
    """
    listed = (*paper.errata, *paper.conventions) if chosen is None else chosen
    wanted = frozenset(id_ for erratum in listed for id_ in (erratum.printed, erratum.corrected))
    run = executor.map if executor else map
    found: dict[str, tuple[Evidence, ...]] = {}
    parts = run(partial(_evidence, wanted, profile_name, paper), paper.modules)
    for module, part in zip(paper.modules, parts, strict=True):
        found |= dict(part)
        progress(module)
    return Ledger(profile_name, tuple(_entry(c, found[c.id]) for c in collected(paper.modules) if c.id in wanted))


def _evidence(
    wanted: frozenset[str], profile_name: str, paper: Paper, module: str
) -> tuple[tuple[str, tuple[Evidence, ...]], ...]:
    """What the checks of the wanted claims of one module find; one unit of parallel work."""
    profile = PROFILES[profile_name]
    found = []
    for claim in (claim for claim in claims_of(module) if claim.id in wanted):
        with examining(claim.id, paper):
            found.append((claim.id, tuple(check.run(claim, profile, paper) for check in claim.checks)))
    return tuple(found)


def _entry(claim: Claim, evidence: tuple[Evidence, ...]) -> Entry:
    verdict = decide(claim.kind, evidence)
    return Entry(claim, verdict, evidence, (), verdict, claim.domain.hypotheses)
