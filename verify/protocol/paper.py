"""A paper as data: what the ledger, the mutants, the checker, coverage, errata and pages have to know of one.

Nothing else of this floor or of `verify.checks` and `verify.ledger` knows a name, a number or a symbol of any paper.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import sympy as sp

from giantsteps.derivations.language.glossary import Entry, GlyphError

# What is no statement but a name for something: it has claims that use it and none that decides on it.
DEFINITION = "a definition"


@dataclass(frozen=True)
class Formula:
    """One formula of a source without numbers: its place, what it says in words, and the claims about it.

    ``remark`` says what of it is a definition, or what is left to named theorems.
    """

    frame: str
    says: str
    claims: tuple[str, ...]
    remark: str = ""


@dataclass(frozen=True)
class Document:
    """A source: the name by which claims call it, its title as its own first page has it, whose it is and where it is
    found, and, where its formulas have no numbers, the list of them. ``had``: how this suite has its formulas.
    """

    name: str
    title: str
    details: str
    formulas: tuple[Formula, ...] = ()
    had: str = ""


@dataclass(frozen=True)
class Chapter:
    """A chapter: the slug of its pages, its title, and the parts (what ids of claims begin with) that it holds.

    ``given``: what stands behind the verdict of a claim that rests on one of these which is not proved, as in "PROVED
    given Result 3.2".
    """

    slug: str
    title: str
    parts: tuple[str, ...]
    given: str = ""


# Of claims whose part is in no chapter.
OTHER = Chapter("other", "Other claims", ())


def part_of(claim: str) -> str:
    """The part of the theory that a claim belongs to: what its id begins with."""
    return claim.split(".")[0]


def chapter_of(claim: str, chapters: Iterable[Chapter]) -> Chapter:
    """The chapter of a claim, by its id; OTHER where there is none."""
    return next((chapter for chapter in chapters if part_of(claim) in chapter.parts), OTHER)


def given_words(claims: Iterable[str], chapters: Iterable[Chapter]) -> str:
    """What these claims are called behind a verdict: two names at most, in the order of the chapters."""
    known = (*chapters, OTHER)
    of = {chapter_of(claim, known) for claim in claims}
    names = [chapter.given or chapter.title for chapter in known if chapter in of]
    return " and ".join(names[:2]) + (" and more" if len(names) > 2 else "")


@dataclass(frozen=True)
class Erratum:
    """A printed claim, the claim that corrects it, and what the correction changes for a reader; or a convention or a
    reading that is not ours, and the claim that states ours.

    ``conversion``: whether an error in the conversion of the source to text could explain the printed form.
    """

    id: str
    printed: str
    corrected: str
    consequence: str
    conversion: str = ""


class PaperError(ValueError):
    """A paper whose parts do not fit each other."""


@dataclass(frozen=True, eq=False)
class Paper:
    """One theory and its sources.

    - ``name``: what claims call the document whose numbered ``equations`` are to be covered;
    - ``symbols``: the glossary, each name once; ``growing``: those that grow without bound together with the dimension,
      so that a limit in one may not hold another one fixed;
    - ``siblings``: symbols with what a slip of the pen takes for them, the first that fits is tried;
    - ``exchanged``: pairs of symbols of which the first is written for the second, where both occur; ``averaged``:
      normal variables of which a function may be taken for its mean;
    - ``modules``: where the claims are stated, in the order of the paper; ``chapters``: in which they stand together;
    - ``sources``: all documents that claims come from; ``errata``: what they print wrong; ``conventions``: what they
      normalise, name or read in another way, and readings that no source prints;
    - ``about``: a paragraph for the first page of the report; ``pages``: the module whose ``PAGES`` say what the report
      has beside the claims (`giantsteps.reports.page.pages`), if any;
    - ``ledger``: the JSON file that `giantsteps report` refreshes and `--check` compares with, if any;
    - ``module``: what `--paper` was given to find it; empty for the built-in paper.

    Raises GlyphError for two symbols of one name and PaperError for a growing symbol that the glossary does not have,
    an unnamed paper or an erratum or convention that stands twice.
    """

    name: str
    equations: range
    symbols: tuple[Entry, ...]
    growing: frozenset[sp.Symbol]
    siblings: tuple[tuple[sp.Symbol, sp.Expr], ...]
    modules: tuple[str, ...]
    chapters: tuple[Chapter, ...]
    sources: tuple[Document, ...]
    errata: tuple[Erratum, ...] = ()
    conventions: tuple[Erratum, ...] = ()
    exchanged: tuple[tuple[sp.Symbol, sp.Symbol], ...] = ()
    averaged: frozenset[sp.Symbol] = frozenset()
    about: str = ""
    pages: str = ""
    ledger: Path | None = None
    module: str = ""

    def __post_init__(self) -> None:
        _once("symbols", (entry.symbol.name for entry in self.symbols), GlyphError)
        _once("sources", (source.name for source in self.sources), PaperError)
        listed = (*self.errata, *self.conventions)
        _once("errata", (erratum.id for erratum in listed), PaperError)
        _once("errata on printed claims", (erratum.printed for erratum in listed), PaperError)
        _once("parts of chapters", (part for chapter in self.chapters for part in chapter.parts), PaperError)
        known = {entry.symbol for entry in self.symbols}
        unknown = {symbol.name for symbol in (*self.growing, *(s for s, _ in self.siblings)) if symbol not in known}
        if unknown:
            raise PaperError(f"{self.name}: not in its glossary: {', '.join(sorted(unknown))}")
        if self.name not in {source.name for source in self.sources}:
            raise PaperError(f"{self.name!r} is none of its sources; add Document({self.name!r}, title, details)")

    @property
    def document(self) -> Document:
        """The source that has its name."""
        return next(source for source in self.sources if source.name == self.name)

    @property
    def option(self) -> str:
        """What names this paper in a command line: " --paper MODULE", empty for the built-in paper."""
        return f" --paper {self.module}" if self.module else ""


def _once(what: str, names: Iterable[str], error: type[Exception]) -> None:
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        raise error(f"{what} of one name: {', '.join(repeated)}")
