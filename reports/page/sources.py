"""The sources of the claims by their own titles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.ledger.run import Entry
from giantsteps.verify.protocol.paper import Document

SLIDES = "slides"
DOCUMENTS: Mapping[str, Document] = {source.name: source for source in PAPER.sources}


def document_of(source: str) -> str:
    """The document that a source names first: what two of them share is counted with the slides' paper."""
    name = source.split(", ")[0]
    return PAPER.name if name == f"{SLIDES} and {PAPER.name}" else name


def document(name: str) -> Document:
    """Title and details of a document; one that is not listed is called by its name."""
    return DOCUMENTS.get(name, Document(name, name, ""))


def by_source(entries: Iterable[Entry]) -> list[tuple[Document, list[Entry]]]:
    """The entries by the document they come from, the documents in the order of `DOCUMENTS`, others last."""
    found: dict[str, list[Entry]] = {name: [] for name in DOCUMENTS}
    for entry in entries:
        found.setdefault(document_of(entry.claim.source.document), []).append(entry)
    return [(document(name), members) for name, members in found.items() if members]
