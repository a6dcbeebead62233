"""The misprints of the sources as the page shows them: both formulas, the witness, what the correction changes."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from reports.errata_section import section
from reports.mathematics import mathml
from verify.ledger import Ledger


@dataclass(frozen=True)
class MisprintView:
    """One misprint on the page."""

    id: str
    title: str
    source: str
    printed: Markup
    printed_claim: str
    corrected: Markup
    corrected_claim: str
    corrected_verdict: str
    witness: str
    consequence: str


def misprint_views(ledger: Ledger) -> list[tuple[str, list[MisprintView]]]:
    """The errata of a ledger by the frame that prints them, with MathML. Raises MathError."""
    return [(frame, [_view(document) for document in documents]) for frame, documents in section(ledger)]


def _view(document: dict[str, str]) -> MisprintView:
    return MisprintView(
        id=document["id"],
        title=document["title"],
        source=document["source"],
        printed=Markup(mathml(document["printed"], block=True)),
        printed_claim=document["printed_claim"],
        corrected=Markup(mathml(document["corrected"], block=True)),
        corrected_claim=document["corrected_claim"],
        corrected_verdict=document["corrected_verdict"],
        witness=document["witness"],
        consequence=document["consequence"],
    )
