"""The report as one document: the same bytes every time, tagged, and nothing that stands over the margin."""

from __future__ import annotations

import io
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import typst
from PIL import Image

from giantsteps.derivations.language.glossary import Entry as Symbol
from giantsteps.reports.page.build import write
from giantsteps.reports.page.described import describe
from giantsteps.reports.page.material import Material
from giantsteps.reports.page.pdf import sources, typeset
from giantsteps.reports.text.mathematics import mathml
from giantsteps.reports.text.typst_markup import displayed
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.ledger.run import Ledger
from giantsteps.verify.protocol.claim import Role
from giantsteps.verify.protocol.verdict import Verdict
from tests.shared import toy
from tests.shared.report_page import entry, toy_ledger, toy_studies, with_symbols


@cache
def material() -> Material:
    """One claim with its derivation, a misprint and a figure."""
    printed = entry("slides.step-over-n", Verdict.REFUTED, role=Role.PRINTED)
    ours = entry("section-2.gradient-step", Verdict.PROVED)
    symbols = tuple(Symbol(one, "a letter", "") for one in toy.claim().statement.free_symbols)
    # Of another profile than the committed ledger, which is not to be refreshed.
    ledger = Ledger("ci", (*toy_ledger().entries, ours, printed))
    return Material(ledger, [describe(toy.derivation(), symbols)], with_symbols(*symbols), toy_studies()[:1])


def test_the_document_stands_beside_the_pages_and_is_linked_where_it_is(tmp_path: Path) -> None:
    given = replace(material(), studies=(), paper=PAPER)
    with_it = {path.name for path in write(replace(given, document="giantsteps.pdf"), tmp_path).files}
    assert (tmp_path / "giantsteps.pdf").read_bytes().startswith(b"%PDF-")
    assert 'href="giantsteps.pdf"' in (tmp_path / "index.html").read_text(encoding="utf-8")
    without = {path.name for path in write(given, tmp_path).files}
    assert with_it - without == {"giantsteps.pdf"}
    assert "giantsteps.pdf" not in (tmp_path / "index.html").read_text(encoding="utf-8")


def text() -> str:
    return sources(material())["main.typ"].decode()


def test_the_document_is_the_same_every_time_and_can_be_read_aloud() -> None:
    # The standard PDF/UA-1 refuses a formula or a figure without words, and a document that is not tagged.
    first = typeset(material())
    assert first.startswith(b"%PDF-")
    assert first == typeset(material())
    assert b"pdfuaid" in first
    assert b"CreateDate" not in first


WIDE = r"\sqrt{" + "+".join(rf"\frac{{x_{{{k}}}}}{{y_{{{k}}}}}" for k in range(60)) + r"}^{" + "a" * 200 + "}"


def margins(source: str, **drawings: bytes) -> list[float]:
    """The darkest dot in the right margin of each page: 1 is white."""
    found = typst.compile({"main.typ": source.encode()} | drawings, format="png", ppi=40, ignore_system_fonts=True)
    pages = found if isinstance(found, list) else [found]
    read = [np.asarray(Image.open(io.BytesIO(page or b"")).convert("L")) / 255 for page in pages]
    return [float(page[:, -int(page.shape[1] * 18 / 210) :].min()) for page in read]


def test_a_formula_is_never_wider_than_its_place() -> None:
    frame = text().partition("#align(center)")[0]
    wide = frame + displayed(mathml(WIDE, block=True)) + "\n#block(width: 40%)[" + displayed(mathml(WIDE)) + "]"
    assert min(margins(wide)) == 1.0
    # What stands over the margin is seen: the same formula without what fits it.
    over = displayed(mathml("x" * 300)).replace("#formula(", "#math.equation(block: true, alt: ")
    assert min(margins(frame + over)) < 1.0


def test_every_page_keeps_its_margins() -> None:
    files = dict(sources(material()))
    assert min(margins(files.pop("main.typ").decode(), **files)) == 1.0


def test_the_contents_are_on_one_page_however_many_there_are() -> None:
    frame, _, rest = text().partition("#align(center)")
    contents = rest.partition("#pagebreak()\n")[2].partition("\n\n")[0]
    for count in (10, 170):
        headings = "".join(f"== The title of the derivation with number {k}\n" for k in range(count))
        assert len(margins(f"{frame}{contents}\n#pagebreak()\n{headings}")) == 1 + len(margins(frame + headings))


def test_every_misprint_has_a_heading() -> None:
    ledger = material().ledger
    second = (
        entry("slides.spike-factor", Verdict.REFUTED, role=Role.PRINTED),
        entry("result-3-1.spike-factor", Verdict.PROVED),
    )
    two = replace(material(), ledger=replace(ledger, entries=(*ledger.entries, *second)))
    assert sources(two)["main.typ"].decode().count("\n=== ") == 2
