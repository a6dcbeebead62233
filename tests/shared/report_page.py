"""For the tests of the report: small ledgers, their pages, and a strict reader of pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from posixpath import dirname, join, normpath
from typing import Any

from giantsteps.derivations.language.glossary import Entry as Symbol
from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.measurements.study import Study
from giantsteps.reports.page.described import DescribedDerivation, describe
from giantsteps.reports.page.material import Material
from giantsteps.reports.page.site import site
from giantsteps.reports.text.documents import documents
from giantsteps.verify.claims.index import examine
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.ledger.run import Entry, Ledger, given_beneath
from giantsteps.verify.protocol.claim import Claim, Role
from giantsteps.verify.protocol.paper import Paper
from giantsteps.verify.protocol.verdict import Verdict, weakest
from tests.shared import toy
from tests.shared.committed_ledger import committed_ledger

VOID = {"meta", "br", "link", "img", "input", "hr", "path", "use", "area", "base", "col"}


@cache
def toy_ledger() -> Ledger:
    """A ledger of one claim, proved and confirmed, with its mutants."""
    claim: Claim = toy.claim()
    verdict, evidence, mutants, _ = examine(claim, "quick")
    return Ledger("quick", (Entry(claim, verdict, evidence, mutants, verdict, claim.domain.hypotheses),))


@cache
def toy_studies() -> tuple[Study, ...]:
    """A study of a figure of the paper, and one of another figure."""
    figures = []
    for style, name in enumerate(("figure_1", "another")):
        canvas, axes = draw.panels()
        draw.line(axes, [0.0, 1.0], [1.0, 2.0], style, r"$\alpha$")
        figures.append(draw.finished(canvas, name, f"title of {name}", f"caption of {name}"))
    return tuple(Study(figure.name, f"study of {figure.name}", ("text",), (), (figure,)) for figure in figures)


@cache
def toy_site() -> dict[str, str]:
    """The files of the report on the toy ledger."""
    return site(Material(toy_ledger(), [describe(toy.derivation(), PAPER.symbols)], PAPER, toy_studies()))


def with_symbols(*symbols: Symbol) -> Paper:
    """The built-in paper with another table of symbols."""
    return replace(PAPER, symbols=symbols, growing=frozenset(), siblings=())


def site_of(ledger: Ledger, derivations: Sequence[DescribedDerivation] = (), **material: Any) -> dict[str, str]:
    """The files of the report on a ledger, without figures and with no symbols."""
    return site(Material(ledger, derivations, with_symbols(), **material))


@cache
def whole_site() -> dict[str, str]:
    """The report on the committed ledger, with two small studies and the documentation, without derivations."""
    return site(Material(committed_ledger(), (), PAPER, toy_studies(), documents=documents()))


def pages_of(files: Mapping[str, str]) -> dict[str, str]:
    """The pages among the files of a report."""
    return {name: text for name, text in files.items() if name.endswith(".html")}


def broken(files: Mapping[str, str]) -> list[str]:
    """What is wrong with the pages of a report: unbalanced tags, repeated ids, links and files that are not there."""
    read = {name: outline(text) for name, text in pages_of(files).items()}
    ids = {name: frozenset(page.ids) for name, page in read.items()}
    found = []
    for name, page in read.items():
        found += [f"{name}: {problem}" for problem in [*page.problems, *(f"<{tag}> stays open" for tag in page.open)]]
        found += [f"{name}: the id {one} twice" for one, count in Counter(page.ids).items() if count > 1]
        for link in page.links:
            file, _, anchor = link.partition("#")
            place = normpath(join(dirname(name), file)) if file else name
            if (place in files and not anchor) or link.startswith("https://"):
                continue
            if place not in ids or (anchor and anchor not in ids[place]):
                found.append(f"{name}: {link} leads nowhere")
        loads = [one for one in page.loads if not one.startswith("data:")]
        found += [f"{name}: loads {one}" for one in loads if normpath(join(dirname(name), one)) not in files]
    return found


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
            self.loads.append(str(found.get("src") or found.get("href")))
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


@cache
def outline(html: str) -> Outline:
    """The page, read once for all tests."""
    parser = Outline()
    parser.feed(html)
    parser.close()
    return parser


def entry(name: str, verdict: Verdict, *uses: Entry, role: Role = Role.OURS) -> Entry:
    """An entry with this verdict that rests on others; nothing is run."""
    claim = replace(toy.claim(), id=name, role=role, uses=tuple(u.claim.id for u in uses))
    beneath = weakest([verdict, *(u.weakest for u in uses)])
    given = given_beneath(verdict, beneath, uses, PAPER)
    return Entry(claim, verdict, toy_ledger().entries[0].evidence, (), beneath, (), given=given)


@cache
def chained_ledger() -> Ledger:
    """Four parts: ground, over it a bound and an error that share what is beneath them, and one part alone."""
    ground = entry("ground.one", Verdict.PROVED)
    measured = entry("ground.two", Verdict.CONFIRMED, ground)
    bound = entry("bounds.one", Verdict.PROVED, ground)
    error = entry("top.test-error", Verdict.PROVED, bound, measured, ground)
    printed = entry("bounds.as-printed", Verdict.REFUTED, ground, role=Role.PRINTED)
    return Ledger("quick", (ground, measured, bound, error, printed, entry("alone.one", Verdict.PROVED)))
