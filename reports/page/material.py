"""What the pages of the site are made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from giantsteps.derivations.language.glossary import Entry as Symbol
from giantsteps.reports.activation.gallery import Card
from giantsteps.reports.figures.canvas import Figure
from giantsteps.reports.measurements.study import Study
from giantsteps.reports.page.described import DescribedDerivation
from giantsteps.reports.page.studies import FIRST
from giantsteps.reports.text.documents import Document
from giantsteps.verify.ledger.run import Ledger


@dataclass(frozen=True)
class Material:
    """What the pages are made from."""

    ledger: Ledger
    derivations: Sequence[DescribedDerivation]
    glossary: Sequence[Symbol]
    studies: Sequence[Study] = ()
    gallery: Sequence[Card] = ()
    documents: Sequence[Document] = ()
    # The file of the same as one document, where it is written beside the pages.
    document: str = ""

    @property
    def first(self) -> Figure | None:
        """The figure of the paper that the first page shows, where its study is at hand."""
        return next((figure for study in self.studies for figure in study.figures if figure.name == FIRST), None)
