"""The misprints of the sources as the page shows them: both formulas, the witness, what the correction changes."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from reports.errata_section import section
from reports.mathematics import mathml
from reports.sources import DOCUMENTS, Document, document
from verify.ledger import Ledger


@dataclass(frozen=True)
class MisprintView:
    """One misprint on the page."""

    id: str
    title: str
    equations: str
    printed: Markup
    printed_claim: str
    corrected: Markup
    corrected_claim: str
    corrected_verdict: str
    witness: str
    consequence: str


def misprint_views(ledger: Ledger) -> list[tuple[Document, list[tuple[str, list[MisprintView]]]]]:
    """The errata of a ledger by document, and within it by the frame that prints them, with MathML. Raises MathError.

    Documents stand in the order of `reports.sources.DOCUMENTS`, frames and errata in that of `verify.errata.ERRATA`.
    """
    found: dict[str, list[tuple[str, list[MisprintView]]]] = {name: [] for name in DOCUMENTS}
    for source, rows in section(ledger):
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
        corrected=Markup(mathml(row["corrected"], block=True)),
        corrected_claim=row["corrected_claim"],
        corrected_verdict=row["corrected_verdict"],
        witness=row["witness"],
        consequence=row["consequence"],
    )
