"""The sources of the claims by their own titles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from onestep.verify.ledger.run import Entry


@dataclass(frozen=True)
class Document:
    """A source: its title as its own first page has it, and whose it is and where it is found."""

    title: str
    details: str


_PAPER = "arXiv 2402.04980"
SLIDES = "slides"
DOCUMENTS: Mapping[str, Document] = {
    _PAPER: Document(
        "Asymptotics of feature learning in two-layer networks after one gradient-step",
        "H. Cui, L. Pesce, Y. Dandi, F. Krzakala, Y. M. Lu, L. Zdeborová, B. Loureiro, arXiv 2402.04980",
    ),
    SLIDES: Document(
        "Learning features with two-layer neural networks, one step at a time",
        "slides of B. Loureiro, DIMACS Workshop on Modeling Randomness in Neural Network Training, Rutgers University, "
        "June 2024",
    ),
    "arXiv 2305.18270": Document(
        "How Two-Layer Neural Networks Learn, One (Giant) Step at a Time",
        "Y. Dandi, F. Krzakala, B. Loureiro, L. Pesce, L. Stephan, arXiv 2305.18270",
    ),
    "arXiv 2310.07891": Document(
        "A Theory of Non-Linear Feature Learning with One Gradient Step in Two-Layer Neural Networks",
        "B. Moniri, D. Lee, H. Hassani, E. Dobriban, arXiv 2310.07891",
    ),
    "this suite": Document("Beyond the sources", "formulas of this suite"),
}


def document_of(source: str) -> str:
    """The document that a source names first: what two of them share is counted with the slides' paper."""
    name = source.split(", ")[0]
    return _PAPER if name == f"{SLIDES} and {_PAPER}" else name


def document(name: str) -> Document:
    """Title and details of a document; one that is not listed is called by its name."""
    return DOCUMENTS.get(name, Document(name, ""))


def by_source(entries: Iterable[Entry]) -> list[tuple[Document, list[Entry]]]:
    """The entries by the document they come from, the documents in the order of `DOCUMENTS`, others last."""
    found: dict[str, list[Entry]] = {name: [] for name in DOCUMENTS}
    for entry in entries:
        found.setdefault(document_of(entry.claim.source.document), []).append(entry)
    return [(document(name), members) for name, members in found.items() if members]
