"""The report as pages: what stands on which page, the navigation, and links between pages.

Templates link to `#name` wherever `name` may stand; which page that is, is known when all pages are, and put in last.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from onestep.derivations.language.glossary import Entry as Symbol
from onestep.reports.figures.figures import Figure
from onestep.reports.figures.paper import PLACES
from onestep.reports.measurements.network_trial import BEYOND, Trial
from onestep.reports.measurements.study import Study
from onestep.reports.page.claims import (
    Around,
    address,
    counts_by_verdict,
    glyph,
    search_script,
    surroundings,
    symbols_script,
)
from onestep.reports.page.dependencies import groups, headlines, links
from onestep.reports.page.dependency_graph import svg
from onestep.reports.page.described import DescribedDerivation
from onestep.reports.page.misprints import coverage, misprint_views
from onestep.reports.page.results import RESULTS
from onestep.reports.page.sources import SLIDES, by_source, document
from onestep.reports.page.trust import measures
from onestep.reports.page.views import (
    ClaimView,
    LeafView,
    assumptions,
    claim_view,
    derivation_views,
    leaf_views,
    source_table,
    summary_table,
)
from onestep.reports.text.anchors import anchor
from onestep.reports.text.ledger_markdown import MEANINGS
from onestep.reports.text.prose import heading, prose
from onestep.reports.text.words import LEAVES, MARKS, ORIGINS
from onestep.verify.claims.paper import PAPER
from onestep.verify.ledger.document import as_json
from onestep.verify.ledger.errata import conventions
from onestep.verify.ledger.run import Ledger
from onestep.verify.protocol.claim import Role
from onestep.verify.protocol.paper import OTHER, Chapter, chapter_of
from onestep.verify.protocol.verdict import Verdict

TEMPLATES = Path(__file__).parent.parent / "templates"
# No page is larger; a chapter is cut before its items reach CUT, which leaves room for the frame around them.
PAGE_BYTES, CUT = 500_000, 330_000
# Written beside the pages as they are.
ASSETS = ("style.css", "math.css", "open.js", "find.js")


View = TypeVar("View")


class SiteError(ValueError):
    """Pages that do not hang together: a link that leads nowhere, or a page that is too large."""


@dataclass(frozen=True)
class Page:
    """One page: its file, its title, what stands on it, and the page of the navigation that it is listed under."""

    file: str
    title: str
    body: Markup
    group: str


@dataclass(frozen=True)
class Listed:
    """An entry of the navigation with the pages listed under it."""

    file: str
    title: str
    pages: tuple[Page, ...]


@dataclass(frozen=True)
class Material:
    """What the pages are made from."""

    ledger: Ledger
    derivations: Sequence[DescribedDerivation]
    figures: Sequence[Figure]
    glossary: Sequence[Symbol]
    trial: tuple[Trial, Figure] | None = None
    studies: Sequence[Study] = ()


def site(material: Material) -> dict[str, str]:
    """Every file of the report but the ledger itself, by name. Raises MathError and SiteError."""
    environment = _environment()
    summary = as_json(material.ledger)
    claims = [claim_view(entry, material.derivations) for entry in material.ledger.entries]
    around = surroundings(material.ledger.entries, material.glossary)
    pages = [
        _landing(environment, material, claims, summary["mutants"]),
        *_claims(environment, claims, around),
        *_derivations(environment, material),
        *_others(environment, material, claims),
    ]
    navigation = [
        Listed(page.file, page.title, tuple(p for p in pages if p.group == page.file != p.file and not _root(p.file)))
        for page in pages
        if page.file == page.group
    ]
    layout = environment.get_template("layout.html")
    bare = {
        page.file: layout.render(
            page=page, navigation=navigation, provenance=summary["provenance"], root=_root(page.file)
        )
        for page in pages
    }
    places = _places(bare)
    found = {file: _linked(file, html, places) for file, html in bare.items()}
    large = [f"{file} ({len(html.encode())} bytes)" for file, html in found.items() if len(html.encode()) > PAGE_BYTES]
    if large:
        raise SiteError(f"a page of the report may have {PAGE_BYTES} bytes: {', '.join(large)}")
    assets = {name: (TEMPLATES / name).read_text(encoding="utf-8") for name in ASSETS}
    scripts = {
        "places.js": _places_script(places),
        "search.js": search_script(claims, around),
        "symbols.js": symbols_script(material.glossary),
    }
    every = [*material.figures, *(figure for study in material.studies for figure in study.figures)]
    data = {f"data/{figure.name}.csv": figure.data for figure in every if figure.data}
    return found | assets | scripts | data


def _root(file: str) -> str:
    """The way from a page to the folder of the first one."""
    return "../" * file.count("/")


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader([TEMPLATES / "pages", TEMPLATES / "claims", TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"prose": prose, "heading": heading, "anchor": anchor}
    environment.globals |= {"marks": MARKS, "origins": ORIGINS}
    return environment


def _page(environment: Environment, template: str, file: str, title: str, group: str = "", /, **context: Any) -> Page:
    return Page(file, title, Markup(environment.get_template(template).render(**context)), group or file)


def _landing(environment: Environment, material: Material, claims: Sequence[ClaimView], mutants: Any) -> Page:
    by_id = {view.entry.claim.id: view for view in claims}
    results = [
        (result, [(words, [by_id[i] for i in ids if i in by_id]) for words, ids in result.formulas])
        for result in RESULTS
        if any(i in by_id for _, ids in result.formulas for i in ids)
    ]
    entries = material.ledger.entries
    findings = [e for e in entries if e.claim.role is Role.PRINTED and e.verdict is Verdict.REFUTED]
    return _page(
        environment,
        "index.html",
        "index.html",
        "Overview",
        entries=entries,
        results=results,
        figures=[(figure, Markup(figure.svg)) for figure in material.figures[:1]],
        more_figures=len(material.figures) > 1,
        by_source=source_table(material.ledger),
        summary=summary_table(material.ledger),
        verdicts=[v.value for v in Verdict],
        meanings=MEANINGS,
        mutants=mutants,
        counts=material.ledger.summary,
        findings=by_source(findings),
    )


def _by_chapter(views: Iterable[tuple[str, View]]) -> dict[Chapter, list[View]]:
    """The views by the chapter of the claim named beside each; chapters without any are left out."""
    found: dict[Chapter, list[View]] = {chapter: [] for chapter in (*PAPER.chapters, OTHER)}
    for claim, view in views:
        found[chapter_of(claim, PAPER.chapters)].append(view)
    return {chapter: members for chapter, members in found.items() if members}


def _claims(environment: Environment, views: Sequence[ClaimView], around: Mapping[str, Around]) -> list[Page]:
    """The list of all claims, the chapters with their formulas, and a page for each claim."""
    chapters = _by_chapter((view.entry.claim.id, view) for view in views)
    pages = _chapters(environment, "claim", "Claims", chapters, verdicts=counts_by_verdict(views))
    for chapter, members in chapters.items():
        for view, before, after in zip(members, [None, *members], [*members[1:], None], strict=False):
            file = address(view.entry.claim.id)
            shown = {"claim": view, "around": around[view.entry.claim.id], "before": before, "after": after}
            where = {"chapter": chapter, "root": _root(file), "chapter_file": f"claims-{chapter.slug}.html"}
            title = view.entry.claim.title
            pages.append(_page(environment, "claim_page.html", file, title, "claims.html", **shown, **where))
    return pages


def _derivations(environment: Environment, material: Material) -> list[Page]:
    views = derivation_views(material.ledger, material.derivations)
    return _chapters(
        environment, "derivation", "Derivations", _by_chapter((next(iter(v.claims), ""), v) for v in views)
    )


def _chapters(
    environment: Environment, item: str, title: str, found: Mapping[Chapter, Sequence[object]], **more: object
) -> list[Page]:
    """A page that lists all items by chapter, and the pages of each chapter."""
    one, overview = environment.get_template(f"{item}.html"), f"{item}s.html"
    pages, listed = [], []
    for chapter, views in found.items():
        parts = packed([Markup(one.render({item: view})) for view in views])
        files = [f"{item}s-{chapter.slug}{f'-{k}' if k > 1 else ''}.html" for k in range(1, len(parts) + 1)]
        of = [f" ({k} of {len(parts)})" if len(parts) > 1 else "" for k in range(1, len(parts) + 1)]
        titles = [chapter.title + suffix for suffix in of]
        listed.append((chapter, files[0], views))
        for file, name, part, after in zip(
            files, titles, parts, [*zip(files[1:], titles[1:], strict=True), None], strict=True
        ):
            pages.append(
                _page(environment, "chapter.html", file, name, overview, title=name, items=part, after=after, item=item)
            )
    return [_page(environment, overview, overview, title, chapters=listed, **more), *pages]


def packed(items: Sequence[Markup], most: int = CUT) -> list[list[Markup]]:
    """Items in order on as few pages as keep within `most` bytes, of about equal size; one item is never cut."""
    sizes = [len(item.encode()) for item in items]
    share = sum(sizes) / max(-(-sum(sizes) // most), 1)
    found: list[list[Markup]] = [[]]
    filled = 0
    for item, size in zip(items, sizes, strict=True):
        if found[-1] and filled + size / 2 > share:
            found.append([])
            filled = 0
        found[-1].append(item)
        filled += size
    return found


def _others(environment: Environment, material: Material, claims: Sequence[ClaimView]) -> list[Page]:
    ledger, trial = material.ledger, material.trial
    slides = coverage(ledger)
    drawn = {"figure-" + anchor(figure.name) for figure in material.figures}
    drawn |= {"study-" + anchor(study.slug) for study in material.studies}
    places = [place for place in PLACES if place[-1] in drawn]
    further = [(figure, Markup(figure.svg)) for figure in material.figures[1:]]
    pages = [
        *(
            [_page(environment, "figures.html", "figures.html", "Figures", figures=further, places=places)]
            if further
            else []
        ),
        _page(
            environment,
            "network.html",
            "network.html",
            "The network's own bulk",
            beyond=[claim for claim in claims if claim.entry.claim.id.startswith("beyond.")],
            trial=trial[0] if trial else None,
            trial_figure=trial[1] if trial else None,
            trial_svg=Markup(trial[1].svg) if trial else "",
            trial_threshold=BEYOND,
        ),
        *_studies(environment, material.studies),
        _page(
            environment,
            "misprints.html",
            "misprints.html",
            "Misprints",
            misprints=misprint_views(ledger),
            conventions=misprint_views(ledger, conventions),
        ),
    ]
    if slides.formulas:
        title = "The slides, formula by formula"
        pages.append(_page(environment, "slides.html", "slides.html", title, slides=slides, document=document(SLIDES)))
    return [
        *pages,
        _page(
            environment,
            "trust.html",
            "trust.html",
            "How far to trust this",
            measures=measures(ledger, material.studies),
        ),
        _page(
            environment,
            "dependencies.html",
            "dependencies.html",
            "What rests on what",
            graph=Markup(svg(groups(ledger), links(ledger))),
            headlines=headlines(ledger),
        ),
        *_leaves(environment, ledger),
        _page(environment, "assumptions.html", "assumptions.html", "What is assumed", assumptions=assumptions(ledger)),
        _page(
            environment,
            "symbols.html",
            "symbols.html",
            "Symbols",
            glossary=[(glyph(row), row.meaning, row.scaling) for row in material.glossary],
        ),
    ]


def _leaves(environment: Environment, ledger: Ledger) -> list[Page]:
    """What theorems take on trust, and what their names mean: there are as many definitions as of all the rest."""
    trusted, meanings = "leaves.html", "definitions.html"
    views = leaf_views(ledger)
    home = {kind: meanings if kind == "definition" else trusted for kind, _ in views}
    counts = [(kind, len(listed), home[kind]) for kind, listed in views]

    def page(file: str, id_: str, title: str, here: Sequence[tuple[str, Sequence[LeafView]]]) -> Page:
        shown = {"id": id_, "title": title, "leaves": here, "counts": counts, "words": LEAVES}
        return _page(environment, "leaves.html", file, title, trusted, **shown)

    named = dict(views).get("definition", [])
    parts = packed([Markup("").join(view.formulas) for view in named], CUT // 2)
    title, first = "What the names in theorems mean", 0
    pages = [page(trusted, "leaves", "What theorems stand on", [one for one in views if one[0] != "definition"])]
    for number, part in enumerate(parts, 1):
        here = [("definition", named[first : first + len(part)])] if part else []
        file, of = (meanings, "") if number == 1 else (f"definitions-{number}.html", f" ({number} of {len(parts)})")
        pages.append(page(file, f"meanings{number if number > 1 else ''}", title + of, here))
        first += len(part)
    return pages


def _studies(environment: Environment, studies: Sequence[Study]) -> list[Page]:
    if not studies:
        return []
    files = [f"study-{anchor(study.slug)}.html" for study in studies]
    pages = [
        _page(
            environment,
            "study.html",
            file,
            study.title,
            "studies.html",
            study=study,
            figures=[(figure, Markup(figure.svg)) for figure in study.figures],
        )
        for study, file in zip(studies, files, strict=True)
    ]
    overview = _page(
        environment, "studies.html", "studies.html", "Studies", studies=list(zip(studies, files, strict=True))
    )
    return [overview, *pages]


# Links

_ID = re.compile(r'(?<=\sid=")[^"]+(?=")')
_LINK = re.compile(r'(?<=\shref=")#([^"]+)(?=")')


def _places(pages: Mapping[str, str]) -> dict[str, str]:
    """The page of every name that is defined on one page only: drawings name their parts for themselves."""
    found: dict[str, str] = {}
    twice = set()
    for file, html in pages.items():
        for name in _ID.findall(html):
            twice |= {name} if found.setdefault(name, file) != file else set()
    return {name: file for name, file in found.items() if name not in twice}


def _linked(file: str, html: str, places: Mapping[str, str]) -> str:
    """The page with each link to a name that stands elsewhere led there. Raises SiteError where it stands nowhere."""
    here = set(_ID.findall(html))

    def led(found: re.Match[str]) -> str:
        name = found[1]
        if name in here:
            return f"#{name}"
        if name not in places:
            raise SiteError(f"{file} links to {name}, which is on no page, or on several")
        # A claim is all that stands on its page.
        return _root(file) + (places[name] if name.startswith("claim-") else f"{places[name]}#{name}")

    return _LINK.sub(led, html)


def _places_script(places: Mapping[str, str]) -> str:
    """Where claims, derivations, misprints, figures and studies stand, for addresses that do not name the page."""
    found: dict[str, list[str]] = {}
    for name, file in places.items():
        if name.startswith(("claim-", "derivation-", "erratum-", "convention-", "reading-", "figure-", "study-")):
            found.setdefault(file, []).append(name)
    return f"const PLACES = {json.dumps(found, separators=(',', ':'))};\n"
