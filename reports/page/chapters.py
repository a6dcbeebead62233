"""The chapters of the report: which parts of the theory stand together, in the order of the paper."""

from __future__ import annotations

from onestep.reports.page.dependencies import group_of
from onestep.verify.claims.paper import PAPER
from onestep.verify.protocol.paper import Chapter

# Where a part is in no chapter.
OTHER = Chapter("other", "Other claims", ())


def chapter_of(claim: str) -> Chapter:
    """The chapter of a claim, by its id."""
    return next((chapter for chapter in PAPER.chapters if group_of(claim) in chapter.parts), OTHER)
