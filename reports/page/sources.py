"""The sources of the claims by their own titles."""

from __future__ import annotations

from collections.abc import Iterable

from giantsteps.verify.ledger.run import Entry
from giantsteps.verify.protocol.paper import Document, Paper


def document_of(source: str, paper: Paper) -> str:
    """The document that a source names first: what another one shares with the paper is counted with the paper."""
    name = source.split(", ")[0]
    return paper.name if name.endswith(f" and {paper.name}") else name


def document(name: str, paper: Paper) -> Document:
    """Title and details of a document; one that is not listed is called by its name."""
    return next((source for source in paper.sources if source.name == name), Document(name, name, ""))


def by_source(entries: Iterable[Entry], paper: Paper) -> list[tuple[Document, list[Entry]]]:
    """The entries by the document they come from, the documents in the order of the paper's sources, others last."""
    found: dict[str, list[Entry]] = {source.name: [] for source in paper.sources}
    for entry in entries:
        found.setdefault(document_of(entry.claim.source.document, paper), []).append(entry)
    return [(document(name, paper), members) for name, members in found.items() if members]
