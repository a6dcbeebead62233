"""What the report of the built-in paper has beside its claims."""

from __future__ import annotations

from pathlib import Path

from giantsteps.reports.activation.gallery import ACTIVATIONS
from giantsteps.reports.built_in.results import RESULTS
from giantsteps.reports.built_in.studies import ALSO, STUDIES
from giantsteps.reports.built_in.trust import of_the_code
from giantsteps.reports.page.pages import Pages
from giantsteps.verify.ledger.run import Entry
from giantsteps.verify.protocol.claim import Role


def is_headline(entry: Entry) -> bool:
    """Result 3.1, the errors, and the bounds, in the form that is derived here."""
    id_ = entry.claim.id
    named = id_.startswith(("result-3-1.", "bounds.")) or id_.endswith((".test-error", ".training-error"))
    return named and entry.claim.role is Role.OURS


PAGES = Pages(
    name="giantsteps",
    subtitle="two-layer networks after one gradient step",
    templates=Path(__file__).parent / "templates",
    results=RESULTS,
    headline=is_headline,
    shown=("section-2", "result-3-1", "result-3-2", "definitions", "replicas", "result-3-3"),
    studies=STUDIES,
    figures=ALSO,
    activations=tuple(ACTIVATIONS),
    listings={"network.html": ("Beyond the paper", "beyond")},
    documented=True,
    measures=of_the_code,
)
