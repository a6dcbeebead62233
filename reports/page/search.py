"""What the search of the site looks up: each place with its title, its kind and the words that it is found by."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from html import unescape

from giantsteps.reports.page.claims import Around, address
from giantsteps.reports.page.material import Material
from giantsteps.reports.page.views import ClaimView, DerivationView
from giantsteps.reports.text.anchors import anchor
from giantsteps.reports.text.documents import Document
from giantsteps.reports.text.prose import heading
from giantsteps.verify.protocol.claim import Role

# Title, kind, address from the first page, words.
Entry = tuple[str, str, str, str]


def search_script(
    material: Material,
    claims: Sequence[ClaimView],
    around: Mapping[str, Around],
    derivations: Sequence[DerivationView],
    places: Mapping[str, str],
) -> str:
    """The entries of the search as a script; an index of them is made when a reader first searches."""
    found = [
        *(_claim(view, around[view.entry.claim.id], material.pages.stating) for view in claims),
        *_derivations(derivations, places),
        *_studies(material),
        *((card.name, "activation", f"activations/{card.slug}.html", f"activation function {card.slug}")
          for card in material.gallery),
        *(entry for document in material.documents for entry in _document(document)),
        *_symbols(material),
    ]  # fmt: skip
    rows = [[title, kind, where, unique(words)] for title, kind, where, words in found]
    return f"const ENTRIES = {json.dumps(rows, ensure_ascii=False, separators=(',', ':'))};\n"


def folded(text: str) -> str:
    r"""Text as the search compares it: small letters, without what only sets a formula (\zeta_{1} is zeta1)."""
    return " ".join(re.sub(r"\\(?:left|right|operatorname|mathrm)\b|[\\{}_$^]", "", text.lower()).split())


def unique(text: str) -> str:
    """The words of a text, each once."""
    return " ".join(dict.fromkeys(re.findall(r"\w+", text.lower())))


def plain(title: str) -> str:
    """A title as a list of results shows it: signs and letters without tags."""
    return unescape(re.sub(r"<[^>]*>", "", str(heading(title))))


def _claim(view: ClaimView, around: Around, stating: Container[str]) -> Entry:
    claim = view.entry.claim
    meanings = " ".join(meaning for _, meaning, _ in around.symbols)
    words = f"{claim.id} {view.source} {view.entry.verdict.value} {folded(around.tex)} {meanings}"
    kind = "result" if claim.id in stating else "formula as printed" if claim.role is Role.PRINTED else "claim"
    return plain(claim.title), kind, address(claim.id), words


def _derivations(views: Sequence[DerivationView], places: Mapping[str, str]) -> Iterable[Entry]:
    for view in views:
        words = " ".join(view.claims)
        yield plain(view.described.title), "derivation", f"{places[view.anchor]}#{view.anchor}", words


def _studies(material: Material) -> Iterable[Entry]:
    for study in material.studies:
        page = f"study-{anchor(study.slug)}.html"
        yield plain(study.title), "study", page, " ".join([study.slug, *study.text])
        for figure in study.figures:
            yield figure.title, "figure", f"{page}#figure-{anchor(figure.name)}", figure.caption


def _document(document: Document) -> Iterable[Entry]:
    kinds = {"examples/": "notebook", "docs/api/": "API", "CHANGELOG": "changes", "docs/changelog": "changes"}
    kind = next((kind for begin, kind in kinds.items() if document.file.startswith(begin)), "documentation")
    for section in document.sections:
        page = f"{document.file}#{section.anchor}" if section.anchor else document.file
        words = f"{document.title} {section.text}" if section.anchor else section.text
        yield section.title, kind, page, words


def _symbols(material: Material) -> Iterable[Entry]:
    for meaning in dict.fromkeys(row.meaning for row in material.paper.symbols):
        letters = " ".join(folded(str(row.symbol)) for row in material.paper.symbols if row.meaning == meaning)
        yield plain(meaning), "symbol", "symbols.html", letters
