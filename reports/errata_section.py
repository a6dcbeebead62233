"""The errata as data for a page of the report and for the command line."""

from __future__ import annotations

from itertools import groupby

from verify.errata import ErratumReport, errata
from verify.ledger import Ledger


def document(report: ErratumReport) -> dict[str, str]:
    """One erratum as the command line prints it in JSON."""
    return {
        "id": report.id,
        "title": report.title,
        "source": report.source,
        "printed": report.printed,
        "printed_claim": report.printed_claim,
        "corrected": report.corrected,
        "corrected_claim": report.corrected_claim,
        "corrected_verdict": report.corrected_verdict.value,
        "witness": report.witness,
        "consequence": report.consequence,
    }


def section(ledger: Ledger) -> tuple[tuple[str, tuple[dict[str, str], ...]], ...]:
    """The errata of a ledger, grouped by the frame that prints them, in the order of ``verify.errata.ERRATA``.

    A frame that comes up again after another starts a group of its own, so that the order is kept.
    """
    documents = [document(report) for report in errata(ledger)]
    return tuple((source, tuple(group)) for source, group in groupby(documents, key=_frame))


def _frame(erratum: dict[str, str]) -> str:
    """The document and frame of an erratum, without equation numbers."""
    return erratum["source"].split(", (")[0]
