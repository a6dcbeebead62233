"""What the pages of the site are made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from giantsteps.reports.activation.gallery import Card
from giantsteps.reports.measurements.study import Study
from giantsteps.reports.page.described import DescribedDerivation
from giantsteps.reports.page.pages import Pages, pages_of
from giantsteps.reports.text.documents import Document
from giantsteps.verify.ledger.run import Ledger
from giantsteps.verify.protocol.paper import Paper


@dataclass(frozen=True)
class Material:
    """What the pages are made from."""

    ledger: Ledger
    derivations: Sequence[DescribedDerivation]
    paper: Paper
    studies: Sequence[Study] = ()
    gallery: Sequence[Card] = ()
    documents: Sequence[Document] = ()
    # The file of the same as one document, where it is written beside the pages.
    document: str = ""

    @property
    def pages(self) -> Pages:
        """What the report has beside the claims."""
        return pages_of(self.paper)
