"""Build the report: the ledger, the figures and the derivations in worker processes, then the files."""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from giantsteps.reports.activation.gallery import card
from giantsteps.reports.command_line.machine.kept import Kept, forget, kept_at
from giantsteps.reports.page.described import DescribedModule, module_described
from giantsteps.reports.page.pages import pages_of
from giantsteps.reports.page.studies import study_of
from giantsteps.reports.text.documents import documents
from giantsteps.reports.text.ledger_files import (
    COMMITTED_JSON,
    COMMITTED_PROFILE,
    refreshed,
    remove_stale,
    write_together,
)
from giantsteps.reports.text.mathematics import blocks, remember
from giantsteps.verify.ledger.document import as_json, dumps
from giantsteps.verify.ledger.run import Beside, Ledger, run
from giantsteps.verify.ledger.second_kernel import RECORD
from giantsteps.verify.protocol.order import collected
from giantsteps.verify.protocol.paper import Paper

if TYPE_CHECKING:
    from giantsteps.reports.page.material import Material

# The whole ledger beside the pages, for programs.
DATA = "ledger.json.xz"


@dataclass(frozen=True)
class Built:
    """What `build` made: the ledger, its document, and the files written."""

    ledger: Ledger
    document: dict[str, Any]
    files: tuple[Path, ...]


# What the claims of a module rest on, and what a study or a card does.
_MATHEMATICS = ("giantsteps", "derivations", "numerics", "verify", "reports/page/described.py")
_DRAWN = (*_MATHEMATICS, "reports", "benchmarks")


def build(
    paper: Paper, profile: str, directory: Path, *, quiet: bool, document: bool = False, keep: Path | None = None
) -> Built:
    """Run everything of a paper and write the pages and ledger.json.xz into ``directory``.

    index.html is the first page; with ``document`` the same is typeset as one PDF. What the parts of the work make is
    kept in the folder ``keep`` and used again while nothing that they rest on changes
    (`reports.command_line.machine.kept`).

    The quick profile refreshes the committed ledger too where it may, as JSON and as Markdown. Files are
    written whole and last: an interrupted or failing run changes nothing.
    """
    from giantsteps.reports.command_line.console import Chapters, Progress, note
    from giantsteps.reports.command_line.machine.workers import pool
    from giantsteps.reports.page import pdf
    from giantsteps.reports.page.material import Material

    pages = pages_of(paper)
    collected(paper.modules)  # a ledger that does not hang together is reported before anything is run
    examined, drawn = _kept_in(keep)
    if used := examined.count + drawn.count:
        note(f"{used} parts of an earlier run of the same code are used again; --fresh runs them again", quiet)
    said = Chapters(paper.modules, quiet)
    units = len(paper.modules) + len(pages.studies) + 2
    with (
        telling(examined, drawn, quiet=quiet),
        Progress("report", units, quiet=quiet) as progress,
        pool(near=paper.modules) as executor,
    ):
        # Submitted first, so that the studies fill the gaps that the longest modules of claims leave.
        pending_studies = [executor.submit(drawn.unit, f"study {name}", study_of, name) for name in pages.studies]
        pending_cards = [executor.submit(drawn.unit, f"card {name}", card, name) for name in pages.activations]
        described = Beside(module_described, unit=examined.unit)
        asked: set[str] = set()
        pending_formulas: list[Future[dict[str, str]]] = []

        def arrived(module: str) -> None:
            """The formulas of a module are converted while the claims of others are still examined."""
            answer: DescribedModule = described.answers[module]
            new = tuple(formula for formula in answer.formulas if formula not in asked)
            asked.update(new)
            if new:
                pending_formulas.append(executor.submit(drawn.unit, "\n".join(("formulas", *new)), blocks, new))
            said.arrived(module)
            progress.step(module.rsplit(".", 1)[-1])

        ledger = run(paper, profile, None, executor, arrived, described)

        studies = []
        for pending in pending_studies:
            studies += [study] if (study := pending.result()) is not None else []
            progress.step("studies")
        gallery = [found for found in (pending_card.result() for pending_card in pending_cards) if found]
        # Several modules may rest on one derivation.
        derivations = {d.check: d for module in paper.modules for d in described.answers[module].derivations}
        name = pdf.name_of(pages) if document else ""
        for converted in pending_formulas:
            remember(converted.result())
        progress.step("pages")
        texts = documents() if pages.documented else []
        material = Material(ledger, [*derivations.values()], paper, studies, gallery, texts, document=name)
        built = write(material, directory)
        progress.step("files")
    if keep is not None:
        forget(keep, but=(examined, drawn))
    return built


@contextmanager
def telling(*kept: Kept, quiet: bool) -> Iterator[None]:
    """Who interrupts the work inside is told what is kept of it."""
    from giantsteps.reports.command_line.console import note

    try:
        yield
    except KeyboardInterrupt:
        if count := sum(one.count for one in kept):
            parts = "1 part of the work is" if count == 1 else f"{count} parts of the work are"
            note(f"{parts} kept, and the same command goes on from there", quiet)
        raise


def _kept_in(folder: Path | None) -> tuple[Kept, Kept]:
    """What is kept of the claims, and of what is drawn."""
    if folder is None:
        return Kept(None), Kept(None)
    root = COMMITTED_JSON.parent.parent
    # The committed ledger is what a run makes, and what the second kernel has seen is read when it is written down.
    but = frozenset({COMMITTED_JSON, RECORD})
    return kept_at(folder, root, _MATHEMATICS, but), kept_at(folder, root, _DRAWN, but)


def write(material: Material, directory: Path) -> Built:
    """Render and write the files; the document too where the material names one."""
    from giantsteps.reports.page import pdf
    from giantsteps.reports.page.site import site
    from giantsteps.reports.text.ledger_markdown import markdown

    ledger, paper, stated = material.ledger, material.paper, as_json(material.ledger)
    pages = site(material)
    texts, data = markdown(stated, paper.chapters), dumps(ledger)
    files: list[tuple[Path, str | bytes]] = [(directory / name, text) for name, text in pages.items()]
    # A thirtieth of the bytes, and no time of writing: the same ledger is the same file.
    files.append((directory / DATA, lzma.compress(data.encode(), preset=9)))
    if material.document:
        files.append((directory / material.document, pdf.typeset(material)))
    # A ledger of fresh draws is never the committed one.
    if ledger.profile == COMMITTED_PROFILE and not ledger.seed and paper.ledger and refreshed(paper.ledger):
        files += [(paper.ledger.parent / name, text) for name, text in texts.items()]
        files.append((paper.ledger, data))
    write_together(files)
    remove_stale(directory, pages)
    return Built(ledger, stated, tuple(path for path, _ in files))
