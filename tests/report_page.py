"""For the tests of the report: small ledgers, their page, and a strict reader of pages."""

from __future__ import annotations

import dataclasses
from functools import cache
from html.parser import HTMLParser

from derivations.symbols import glossary
from reports import figures
from reports.described import describe
from reports.render import page
from tests import toy
from verify.claim import Claim, Role
from verify.ledger import Entry, Ledger, examine
from verify.verdict import Verdict, weakest

VOID = {"meta", "br", "link", "img", "input", "hr", "path", "use", "area", "base", "col"}


@cache
def toy_ledger() -> Ledger:
    """A ledger of one claim, proved and confirmed, with its mutants."""
    claim: Claim = toy.claim()
    verdict, evidence, mutants = examine(claim, "quick")
    return Ledger("quick", (Entry(claim, verdict, evidence, mutants, verdict, claim.domain.hypotheses),))


@cache
def toy_figures() -> tuple[figures.Figure, ...]:
    """Two figures, one without and one with simulation, small."""
    return (
        figures.functions_along_the_spike(),
        figures.learning_curves_by_spike((0.5,), dimension=40, seeds=2),
    )


@cache
def toy_page() -> str:
    """The page of the toy ledger."""
    return page(toy_ledger(), [describe(toy.derivation())], toy_figures(), glossary)


class Outline(HTMLParser):
    """Reads a page strictly enough to see what is wrong with it: unbalanced tags, repeated ids, dangling links."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.problems: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if found.get("id"):
            self.ids.append(str(found["id"]))
        if tag in ("a", "use") and found.get("href"):
            self.links.append(str(found["href"]))
        if tag in ("script", "link", "img", "iframe", "object", "embed") or "src" in found:
            self.loads.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> at {self.getpos()}")


def outline(html: str) -> Outline:
    """The page, read."""
    parser = Outline()
    parser.feed(html)
    parser.close()
    return parser


def entry(name: str, verdict: Verdict, *uses: Entry, role: Role = Role.OURS) -> Entry:
    """An entry with this verdict that rests on others; nothing is run."""
    claim = dataclasses.replace(toy.claim(), id=name, role=role, uses=tuple(u.claim.id for u in uses))
    beneath = weakest([verdict, *(u.weakest for u in uses)])
    return Entry(claim, verdict, toy_ledger().entries[0].evidence, (), beneath, ())


@cache
def chained_ledger() -> Ledger:
    """Four parts: ground, over it a bound and an error that share what is beneath them, and one part alone."""
    ground = entry("ground.one", Verdict.PROVED)
    measured = entry("ground.two", Verdict.CONFIRMED, ground)
    bound = entry("bounds.one", Verdict.PROVED, ground)
    error = entry("top.test-error", Verdict.PROVED, bound, measured, ground)
    printed = entry("bounds.as-printed", Verdict.REFUTED, ground, role=Role.PRINTED)
    return Ledger("quick", (ground, measured, bound, error, printed, entry("alone.one", Verdict.PROVED)))
