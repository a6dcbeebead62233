"""Where formulas come from."""

from __future__ import annotations

from giantsteps.verify.protocol.claim import Source

ARXIV = "arXiv 2402.04980"


def paper(section: str, *equations: int) -> Source:
    """A place in the paper: section, and the numbers of the equations."""
    return Source(ARXIV, section, equations)
