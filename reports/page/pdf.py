"""The report as one document, typeset by typst: the views that the pages show, in another form.

The document is tagged, its bytes follow from the ledger and the version of typst alone (no date, no fonts of the
system), and it is checked against PDF/UA-1 as it is written: every formula and figure can be read aloud.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from giantsteps.reports.figures.canvas import Figure, standalone
from giantsteps.reports.page.claims import glyph
from giantsteps.reports.page.material import Material
from giantsteps.reports.page.misprints import misprints
from giantsteps.reports.page.pages import Pages, stated
from giantsteps.reports.page.site import TEMPLATES, by_chapter
from giantsteps.reports.page.trust import measures
from giantsteps.reports.page.views import (
    assumptions,
    claim_view,
    derivation_views,
    source_table,
    summary_table,
)
from giantsteps.reports.text.anchors import anchor
from giantsteps.reports.text.ledger_markdown import MEANINGS
from giantsteps.reports.text.mathematics import mathml
from giantsteps.reports.text.prose import heading, prose
from giantsteps.reports.text.typst_markup import displayed, markup, string
from giantsteps.reports.text.words import MARKS
from giantsteps.verify.ledger.document import as_json
from giantsteps.verify.protocol.paper import part_of
from giantsteps.verify.protocol.verdict import Verdict


def name_of(pages: Pages) -> str:
    """The file of the document: giantsteps.pdf."""
    return f"{anchor(pages.name)}.pdf"


def typeset(material: Material) -> bytes:
    """The document. Raises MathError and MarkupError; ModuleNotFoundError where typst is not installed."""
    import typst

    # The stubs of typst know a single file only, where it takes several by name.
    compiled = typst.compile(  # type: ignore[call-overload]
        dict(sources(material)), format="pdf", ignore_system_fonts=True, pdf_standards="ua-1"
    )
    assert isinstance(compiled, bytes)
    return compiled


def sources(material: Material) -> Mapping[str, bytes]:
    """The files that typst is given, by name: the text as main.typ, and the drawings."""
    drawings = {f"{figure.name}.svg": standalone(figure).encode() for figure in _figures(material)}
    return {"main.typ": _text(material).encode(), **drawings}


def _figures(material: Material) -> list[Figure]:
    """The paper's figures, from their studies."""
    return [f for study in material.studies if study.slug.startswith("figure_") for f in study.figures]


def _text(material: Material) -> str:
    ledger, paper, pages = material.ledger, material.paper, material.pages
    summary = as_json(ledger)
    # A view also holds the formulas of all mutants; for most claims the document shows none.
    stating = [entry for entry in ledger.entries if entry.claim.id in pages.stating]
    results = [claim_view(entry, material.derivations, paper) for entry in stating]
    entries = [(entry.claim.id, entry) for entry in ledger.entries]
    verdicts = [v for v in Verdict if ledger.summary.get(v.value)]
    return (
        _environment(pages.templates)
        .get_template("report.typ")
        .render(
            paper=paper,
            entries=ledger.entries,
            provenance=summary["provenance"],
            mutants=summary["mutants"],
            results=stated(results, pages.results),
            shown_verdicts=[v.value for v in verdicts],
            by_source=[(d.title, numbers, total) for d, numbers, total in source_table(ledger, paper, verdicts)],
            by_kind=summary_table(ledger, verdicts),
            meanings=[(v.value, MEANINGS[v.value]) for v in verdicts],
            derivations=[
                view
                for view in derivation_views(ledger, material.derivations)
                if not pages.shown or any(part_of(claim) in pages.shown for claim in view.claims)
            ],
            chapters=[(c.title, found) for c, found in by_chapter(entries, paper).items()],
            marks=MARKS,
            figures=[(figure, f"{figure.name}.svg") for figure in _figures(material)],
            had=paper.document.had,
            misprints=misprints(ledger, paper),
            assumptions=assumptions(ledger),
            measures=measures(material),
            symbols=[
                (glyph(row), row.meaning, "" if row.scaling == "O(1)" else row.scaling)
                for row in material.paper.symbols
            ],
        )
    )


def _environment(own: Path | None) -> Environment:
    environment = Environment(
        loader=FileSystemLoader([*([own] if own else []), TEMPLATES, TEMPLATES.parent]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        block_start_string="<%", block_end_string="%>",
        variable_start_string="<<", variable_end_string=">>",
        comment_start_string="<#", comment_end_string="#>",
    )  # fmt: skip
    environment.filters |= {
        "text": lambda words: markup(str(prose(str(words)))),
        "shown": lambda html: markup(str(html)),
        "formula": lambda html: displayed(str(html)),
        "latex": lambda latex: displayed(mathml(latex, block=True)),
        "quoted": lambda words: string(str(words)),
        "title": lambda words: markup(str(heading(str(words)))),
    }
    return environment
