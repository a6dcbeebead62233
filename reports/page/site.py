"""The report as pages: what stands on which page, the navigation, and links between pages.

Templates link to `#name` wherever `name` may stand; which page that is, is known when all pages are, and put in last.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from pathlib import Path
from posixpath import dirname
from typing import Any, TypeVar

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from giantsteps.reports.activation.gallery import TARGETS, Card, percent
from giantsteps.reports.measurements.study import Study
from giantsteps.reports.page.claims import Around, address, glyph, surroundings, symbols_script
from giantsteps.reports.page.graph.dependencies import groups, headlines, links
from giantsteps.reports.page.graph.drawing import svg
from giantsteps.reports.page.graph.links import SiteError as SiteError
from giantsteps.reports.page.graph.links import linked_page, places_of, places_script, root
from giantsteps.reports.page.material import Material
from giantsteps.reports.page.misprints import coverage, misprints
from giantsteps.reports.page.pages import stated
from giantsteps.reports.page.search import search_script
from giantsteps.reports.page.sources import by_source
from giantsteps.reports.page.studies import figure_places
from giantsteps.reports.page.trust import measures
from giantsteps.reports.page.views import (
    ClaimView,
    DerivationView,
    assumptions,
    claim_view,
    derivation_views,
    proved_given,
    source_table,
    summary_table,
)
from giantsteps.reports.text.anchors import anchor
from giantsteps.reports.text.documents import Document
from giantsteps.reports.text.ledger_markdown import MEANINGS
from giantsteps.reports.text.mathematics import mathml, said_of
from giantsteps.reports.text.prose import heading, prose
from giantsteps.reports.text.words import ASSUMPTIONS, MARKS, ORIGINS
from giantsteps.verify.ledger.assumptions import Ground, grounds
from giantsteps.verify.ledger.document import as_json
from giantsteps.verify.ledger.errata import conventions
from giantsteps.verify.ledger.run import Ledger
from giantsteps.verify.protocol.claim import Role
from giantsteps.verify.protocol.paper import OTHER, Chapter, Paper, chapter_of, part_of
from giantsteps.verify.protocol.verdict import Verdict

TEMPLATES = Path(__file__).parent.parent / "templates"
# No page is larger; a chapter is cut before its items reach CUT, which leaves room for the frame around them.
PAGE_BYTES, CUT = 500_000, 330_000
# The menu of every page: its heads, and below each the pages by the words that they are listed under.
MENU = {
    "Use": {
        "index.html": "Overview",
        "documentation.html": "Documentation",
        "docs/api/README.html": "API",
        "gallery.html": "Activations",
        "examples/README.html": "Notebooks",
    },
    "Theory and evidence": {
        "results.html": "Results",
        "claims.html": "Claims",
        "derivations.html": "Derivations",
        "figures.html": "Figures",
        "studies.html": "Studies",
        "misprints.html": "Misprints",
        "trust.html": "How far to trust this",
        "symbols.html": "Symbols",
    },
}
# Of these folders there are many pages, which no menu lists.
UNLISTED = ("claim/", "activations/")
# The kinds of documentation, each with what the names of its files begin with; every other one is reference.
KINDS = {
    "Begin": ("README", "docs/tutorial"),
    "How to": ("docs/howto/", "docs/practitioner"),
    "Theory": ("docs/theory", "docs/model", "docs/several_steps", "docs/proved", "docs/second_kernel", "docs/studies"),
    "Reference": ("docs/",),
    "The project": ("CONTRIBUTING", "CHANGELOG"),
}
# Written beside the pages as they are.
ASSETS = (
    *("style.css", "math.css", "scripts/open.js", "scripts/formulas.js", "scripts/sort.js"),
    *("scripts/search.js", "scripts/minisearch.js"),
)


View = TypeVar("View")


@dataclass(frozen=True)
class Page:
    """One page: its file, its title, what stands on it, and the page of the menu that it is listed under."""

    file: str
    title: str
    body: Markup
    group: str


def site(material: Material) -> dict[str, str]:
    """Every file of the report but the ledger itself, by name. Raises MathError and SiteError."""
    summary = as_json(material.ledger)
    claims = [claim_view(entry, material.derivations, material.paper) for entry in material.ledger.entries]
    around = surroundings(material.ledger.entries, material.paper.symbols)
    derivations = derivation_views(material.ledger, material.derivations)
    pages = [
        _landing(material, summary["mutants"]),
        *_documentation(material.documents, claims),
        _results(material, claims, summary["mutants"]),
        *_claims(material, claims, around),
        *_derivations(derivations, material.paper),
        *_others(material, claims),
    ]
    bare = {page.file: _framed(page, pages, material, summary["provenance"]) for page in pages}
    # Headings of documents are named by their words: only links of their own page lead to these.
    places = places_of({page.file: bare[page.file] for page in pages if page.group not in _OF_DOCUMENTS})
    # All attributes stand in double quotes: an apostrophe is itself.
    found = {file: linked_page(file, html, places).replace("&#39;", "'") for file, html in bare.items()}
    large = [f"{file} ({len(html.encode())} bytes)" for file, html in found.items() if len(html.encode()) > PAGE_BYTES]
    if large:
        raise SiteError(f"a page of the report may have {PAGE_BYTES} bytes: {', '.join(large)}")
    assets = {Path(name).name: (TEMPLATES / name).read_text(encoding="utf-8") for name in ASSETS}
    scripts = {
        "places.js": places_script(places),
        "entries.js": search_script(material, claims, around, derivations, places),
        "symbols.js": symbols_script(material.paper.symbols),
    }
    every = (figure for study in material.studies for figure in study.figures)
    data = {f"data/{figure.name}.csv": figure.data for figure in every if figure.data}
    drawings = {file: drawn for one in material.documents for file, drawn in one.drawings.items()}
    return found | assets | scripts | data | drawings


def _framed(page: Page, pages: Sequence[Page], material: Material, provenance: Mapping[str, Any]) -> str:
    """A page with what stands on every page: menu, search, footer."""
    files = {one.file for one in pages}
    menu = {head: {file: words for file, words in part.items() if file in files} for head, part in MENU.items()}
    # The many pages that no menu lists have a short menu themselves: their first line leads to their chapter.
    listed = [] if page.file.startswith(UNLISTED) else pages
    near = [one for one in listed if one.group == page.group != one.file and not one.file.startswith(UNLISTED)]
    layout = _environment().get_template("layout.html")
    shown = {"page": page, "menu": menu, "near": near, "site": material.pages, "option": material.paper.option}
    return layout.render(**shown, provenance=provenance, root=root(page.file))


@cache
def _environment(own: Path | None = None) -> Environment:
    """The templates, those of a paper's own folder first; "templates/pages/index.html" is the suite's in any case."""
    folders = [*([own] if own else []), TEMPLATES / "pages", TEMPLATES / "claims", TEMPLATES / "activation", TEMPLATES]
    environment = Environment(
        loader=FileSystemLoader([*folders, TEMPLATES.parent]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"prose": prose, "heading": heading, "anchor": anchor, "percent": percent}
    environment.filters["formula"] = lambda latex: Markup(mathml(latex, block=True))
    environment.globals |= {"marks": MARKS, "origins": ORIGINS}
    return environment


def _page(file: str, title: str, group: str = "", template: str = "", /, **context: Any) -> Page:
    """A page made from the template of its own name, or another one, for the navigation or a page of it.

    ``own`` is the folder of the paper's own templates, for the pages of which there may be one.
    """
    environment = _environment(context.pop("own", None))
    return Page(file, title, Markup(environment.get_template(template or file).render(**context)), group or file)


def _landing(material: Material, mutants: Any) -> Page:
    return _page(
        "index.html",
        "Overview",
        own=material.pages.templates,
        paper=material.paper,
        claims=len(material.ledger.entries),
        picture=next((file for one in material.documents for file in one.drawings), ""),
        known={one.file for one in material.documents},
        meanings=MEANINGS,
        mutants=mutants,
        counts=material.ledger.summary,
        document=material.document,
        proved=proved_given(material.ledger),
    )


def _results(material: Material, claims: Sequence[ClaimView], mutants: Any) -> Page:
    findings = [e for e in material.ledger.entries if e.claim.role is Role.PRINTED and e.verdict is Verdict.REFUTED]
    return _page(
        "results.html",
        "Results",
        own=material.pages.templates,
        results=stated(claims, material.pages.results),
        by_source=source_table(material.ledger, material.paper),
        summary=summary_table(material.ledger),
        verdicts=[v.value for v in Verdict],
        mutants=mutants,
        counts=material.ledger.summary,
        findings=by_source(findings, material.paper),
        had=material.paper.document.had,
        proved=proved_given(material.ledger),
    )


_CODE = re.compile("<code>([^<]*)</code>")
_OF_DOCUMENTS = ("documentation.html", "docs/api/README.html", "examples/README.html")


def _documentation(documents: Sequence[Document], claims: Sequence[ClaimView]) -> list[Page]:
    """The list of documents by kind, and each as a page of the menu entry that it belongs to.

    The name of a claim leads to the claim.
    """
    anchors = {view.entry.claim.id: view.anchor for view in claims}

    def led(found: re.Match[str]) -> str:
        return f'<a href="#{anchors[found[1]]}">{found[0]}</a>' if found[1] in anchors else found[0]

    kinds: dict[str, list[Document]] = {kind: [] for kind in KINDS}
    grouped: dict[str, list[Document]] = {group: [] for group in _OF_DOCUMENTS}
    for one in documents:
        group = next((g for g in _OF_DOCUMENTS[1:] if one.file.startswith(dirname(g) + "/")), _OF_DOCUMENTS[0])
        grouped[group].append(one)
        if group == _OF_DOCUMENTS[0]:
            kinds[next(kind for kind, begins in KINDS.items() if one.file.startswith(begins))].append(one)
    grouped[_OF_DOCUMENTS[0]] = [one for listed in kinds.values() for one in listed]
    pages = [
        Page(one.file, one.title, Markup(f'<article class="document">{_CODE.sub(led, one.body)}</article>'), group)
        for group, listed in grouped.items()
        for one in listed
    ]
    return [_page("documentation.html", "Documentation", kinds=kinds), *pages] if documents else []


def by_chapter(views: Iterable[tuple[str, View]], paper: Paper) -> dict[Chapter, list[View]]:
    """The views by the chapter of the claim named beside each; chapters without any are left out."""
    found: dict[Chapter, list[View]] = {chapter: [] for chapter in (*paper.chapters, OTHER)}
    for claim, view in views:
        found[chapter_of(claim, paper.chapters)].append(view)
    return {chapter: members for chapter, members in found.items() if members}


def _claims(material: Material, views: Sequence[ClaimView], around: Mapping[str, Around]) -> list[Page]:
    """The list of all claims, the chapters with their formulas, and a page for each claim."""
    chapters = by_chapter(((view.entry.claim.id, view) for view in views), material.paper)
    counts = [(name, count) for name, count in material.ledger.summary.items() if count]
    pages = _chapters("claim", "Claims", chapters, verdicts=counts)
    for chapter, members in chapters.items():
        for view, before, after in zip(members, [None, *members], [*members[1:], None], strict=False):
            file = address(view.entry.claim.id)
            shown = {"claim": view, "around": around[view.entry.claim.id], "before": before, "after": after}
            where = {"chapter": chapter, "root": root(file), "chapter_file": f"claims-{chapter.slug}.html"}
            pages.append(_page(file, view.entry.claim.title, "claims.html", "claim_page.html", **shown, **where))
    return pages


def _derivations(views: Sequence[DerivationView], paper: Paper) -> list[Page]:
    found = by_chapter(((next(iter(v.claims), ""), v) for v in views), paper)
    return _chapters("derivation", "Derivations", found, lambda view: view.symbols)


def _chapters(
    item: str,
    title: str,
    found: Mapping[Chapter, Sequence[View]],
    symbols_of: Callable[[View], Iterable[tuple[Markup, str]]] = lambda _: (),
    **more: object,
) -> list[Page]:
    """A page that lists all items by chapter, and the pages of each chapter."""
    one, overview = _environment().get_template(f"{item}.html"), f"{item}s.html"
    pages, listed = [], []
    for chapter, views in found.items():
        parts = packed([Markup(one.render({item: view})) for view in views])
        files = [f"{item}s-{chapter.slug}{f'-{k}' if k > 1 else ''}.html" for k in range(1, len(parts) + 1)]
        of = [f" ({k} of {len(parts)})" if len(parts) > 1 else "" for k in range(1, len(parts) + 1)]
        titles = [chapter.title + suffix for suffix in of]
        listed.append((chapter, files[0], views))
        first = 0
        for file, name, part, after in zip(
            files, titles, parts, [*zip(files[1:], titles[1:], strict=True), None], strict=True
        ):
            # What several derivations of a page write stands once, at its head.
            symbols = dict.fromkeys(pair for view in views[first : first + len(part)] for pair in symbols_of(view))
            first += len(part)
            shown = {"title": name, "items": part, "after": after, "item": item, "symbols": symbols}
            pages.append(_page(file, name, overview, "chapter.html", **shown))
    return [_page(overview, title, chapters=listed, **more), *pages]


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


def _others(material: Material, claims: Sequence[ClaimView]) -> list[Page]:
    ledger, paper, pages = material.ledger, material.paper, material.pages
    own, shown = pages.templates, {"study-" + anchor(study.slug) for study in material.studies}
    graph = Markup(svg(groups(ledger), links(ledger)))
    glossary = [(glyph(row), row.meaning, row.scaling) for row in material.paper.symbols]
    places = figure_places(material.studies, pages.figures)
    main = headlines(ledger, pages.headline)
    parts = pages.listings.items()
    listed = [(f, title, [c for c in claims if part_of(c.entry.claim.id) == part]) for f, (title, part) in parts]
    return [
        *([_page("figures.html", "Figures", places=places)] if places else []),
        *(_page(file, title, "claims.html", own=own, claims=of, studies=shown) for file, title, of in listed),
        *_studies(material.studies),
        *_gallery(material.gallery),
        *_misprints(ledger, paper, own),
        _page("trust.html", "How far to trust this", measures=measures(material)),
        _page("dependencies.html", "What rests on what", "trust.html", own=own, graph=graph, headlines=main),
        *_assumptions(ledger),
        _page("symbols.html", "Symbols", glossary=glossary),
    ]


def _misprints(ledger: Ledger, paper: Paper, own: Path | None) -> list[Page]:
    """What does not hold as a source has it, and the formulas of sources without numbers; none of a paper without."""
    listed = [(source, coverage(ledger, source)) for source in paper.sources if source.formulas]
    if not (paper.errata or listed or any(entry.claim.role is not Role.OURS for entry in ledger.entries)):
        return []
    file, title = "misprints.html", "Formulas that do not hold as our sources have them"
    found, apart = misprints(ledger, paper), misprints(ledger, paper, conventions)
    pages = [_page(file, title, own=own, misprints=found, conventions=apart)]
    for source, covered in listed:
        name = anchor(source.name)
        title = f"{'The ' if source.name.islower() else ''}{source.name}, formula by formula"
        shown = {"id": name, "title": title, "covered": covered, "document": source}
        pages += [_page(f"{name}.html", title, file, "formulas.html", **shown)] if covered.formulas else []
    return pages


def _assumptions(ledger: Ledger) -> list[Page]:
    """The assumptions of theorems and claims, and pages of their own for definitions, which are half of them."""
    trusted, meanings = "assumptions.html", "definitions.html"
    told = [replace(one, statements=said_of(one.statements)) for one in grounds(ledger)]
    told = [one for one in told if one.statements or one.kind != "definition"]
    listed = {kind: list(group) for kind, group in groupby(told, lambda one: one.kind)}
    counts = [(kind, len(found), meanings if kind == "definition" else trusted) for kind, found in listed.items()]
    known = {entry.claim.id for entry in ledger.entries}

    def page(file: str, id_: str, title: str, here: Mapping[str, Sequence[Ground]]) -> Page:
        shown = {"id": id_, "title": title, "assumptions": here, "hypotheses": assumptions(ledger)}
        more = {"counts": counts, "words": ASSUMPTIONS, "known": known}
        return _page(file, title, "trust.html", "assumptions.html", **shown, **more)

    named = listed.pop("definition", [])
    pages = [page(trusted, "assumptions", "Assumptions", listed)]
    sizes = [Markup("").join(Markup(mathml(said, block=True)) for said in one.statements) for one in named]
    parts, first = packed(sizes, CUT // 2), 0
    for number, part in enumerate(parts, 1):
        here = {"definition": named[first : first + len(part)]} if part else {}
        file, of = (meanings, "") if number == 1 else (f"definitions-{number}.html", f" ({number} of {len(parts)})")
        id_ = f"meanings{number if number > 1 else ''}"
        pages.append(page(file, id_, "Definitions in theorems" + of, here))
        first += len(part)
    return pages


def _studies(studies: Sequence[Study]) -> list[Page]:
    """The list of studies, and a page for each."""
    listed = [(study, f"study-{anchor(study.slug)}.html") for study in studies]
    pages = [_page(file, study.title, "studies.html", "study.html", study=study) for study, file in listed]
    return [_page("studies.html", "Studies", studies=listed), *pages] if studies else []


def _gallery(cards: Sequence[Card]) -> list[Page]:
    """The list of activations, and a page for each."""
    pages = [_page("gallery.html", "Activations", cards=cards, targets=TARGETS)] if cards else []
    for card, before, after in zip(cards, [None, *cards], [*cards[1:], None], strict=False):
        shown = {"card": card, "document": card.document, "before": before, "after": after}
        file = f"activations/{card.slug}.html"
        pages.append(_page(file, card.name, "gallery.html", "activation.html", **shown))
    return pages
