"""What the report of a paper has beside its claims, derivations and symbols: a paper's module of pages has `PAGES`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from giantsteps.reports.measurements.study import Table
from giantsteps.verify.ledger.run import Entry, Ledger
from giantsteps.verify.protocol.claim import Role
from giantsteps.verify.protocol.paper import Paper
from giantsteps.verify.protocol.papers import imported

if TYPE_CHECKING:
    from giantsteps.reports.page.views import ClaimView


@dataclass(frozen=True)
class Result:
    """One result of the paper: its title, and its formulas as {what they are: the claims that state them}."""

    title: str
    formulas: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Measure:
    """One measure of trust: what was found, in sentences and a table, and the command that measures it.

    The first cells of the table are claims where ``of_claims``; ``study`` is the page that has more of it.
    """

    title: str
    text: str
    command: str
    table: Table | None = None
    of_claims: bool = False
    study: str = ""


@dataclass(frozen=True)
class Pages:
    """What the report of a paper has beside its claims. Everything has a default, so that a paper needs no pages.

    - ``name`` and ``subtitle``: what the site and its document are called;
    - ``templates``: a folder; what lies there takes the place of the template of that name, and may extend it as
      "templates/pages/index.html";
    - ``results``: what the page of results states; ``headline``: the claims that "What rests on what" takes apart;
    - ``shown``: parts of the theory whose derivations the document has whole, by default all;
    - ``studies``: modules with a ``STUDY``, or with what is named behind a colon; ``figures``: studies by their slug
      that have a figure of the paper, with its number; those called figure_N need not be listed;
    - ``activations``: those of the gallery; ``listings``: further pages, {file, its template: (title, part listed)};
    - ``documented``: whether the documents of the checkout are pages; ``measures``: what else the page on trust has.
    """

    name: str
    subtitle: str
    templates: Path | None = None
    results: tuple[Result, ...] = ()
    headline: Callable[[Entry], bool] = lambda entry: entry.claim.role is Role.OURS
    shown: tuple[str, ...] = ()
    studies: tuple[str, ...] = ()
    figures: Mapping[str, int] = field(default_factory=dict)
    activations: tuple[str, ...] = ()
    listings: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    documented: bool = False
    measures: Callable[[Ledger], tuple[Measure, ...]] = lambda _: ()

    @property
    def stating(self) -> frozenset[str]:
        """The claims that state the results."""
        return frozenset(id_ for result in self.results for ids in result.formulas.values() for id_ in ids)


def pages_of(paper: Paper) -> Pages:
    """What the module of pages of a paper says; its name and title alone where it names none."""
    return imported(paper.pages).PAGES if paper.pages else Pages(paper.name, paper.document.title)


def stated(
    views: Sequence[ClaimView], results: Sequence[Result]
) -> list[tuple[Result, list[tuple[str, list[ClaimView]]]]]:
    """Each result of which a claim is among these, with what they are and the claims that are there."""
    by_id = {view.entry.claim.id: view for view in views}
    return [
        (result, [(words, [by_id[i] for i in ids if i in by_id]) for words, ids in result.formulas.items()])
        for result in results
        if any(i in by_id for ids in result.formulas.values() for i in ids)
    ]
