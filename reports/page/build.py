"""Build the report: the ledger, the figures and the derivations in worker processes, then the files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onestep.reports.activation.gallery import ACTIVATIONS, Card, card
from onestep.reports.figures.drawn import all_figures
from onestep.reports.figures.figures import Figure
from onestep.reports.measurements.network_trial import Trial, network_trial
from onestep.reports.measurements.study import Study
from onestep.reports.page.described import DescribedDerivation, derivations_of
from onestep.reports.page.studies import STUDIES, study_of
from onestep.reports.text.ledger_files import (
    COMMITTED_JSON,
    COMMITTED_PROFILE,
    in_source_checkout,
    remove_stale,
    write_together,
)
from onestep.verify.claims.index import all_claims
from onestep.verify.claims.index import run_ledger as run
from onestep.verify.claims.paper import PAPER
from onestep.verify.ledger.document import as_json, dumps
from onestep.verify.ledger.run import Beside, Ledger


@dataclass(frozen=True)
class Built:
    """What `build` made: the ledger, its document, and the files written."""

    ledger: Ledger
    document: dict[str, Any]
    files: tuple[Path, ...]


def build(profile: str, directory: Path, *, quiet: bool = False, document: bool = False) -> Built:
    """Run everything and write the pages, ledger.json and as Markdown the folder ledger into ``directory``.

    index.html is the first page; with ``document`` the same is typeset as one PDF.

    From a source checkout the quick profile refreshes the committed ledger too. Files are written whole and last: an
    interrupted or failing run changes nothing.
    """
    from onestep.reports.command_line.console import Progress
    from onestep.reports.command_line.machine.workers import pool

    all_claims()  # a ledger that does not hang together is reported before anything is run
    drawings = all_figures()
    units = len(PAPER.modules) + len(drawings) + len(STUDIES) + 2
    with Progress("report", units, quiet=quiet) as progress, pool() as executor:
        # Submitted first, so that the figures fill the gaps that the longest modules of claims leave.
        pending = [executor.submit(draw, drawing.__name__) for drawing in drawings]
        pending_trial = executor.submit(network_trial)
        pending_studies = [executor.submit(study_of, name) for name in STUDIES]
        pending_cards = [executor.submit(card, name) for name in ACTIVATIONS]
        described = Beside(derivations_of)
        ledger = run(profile, None, executor, lambda module: progress.step(module.rsplit(".", 1)[-1]), described)
        figures = []
        for future in pending:
            figures.append(future.result())
            progress.step("figures")
        studies = []
        for pending_study in pending_studies:
            studies.append(pending_study.result())
            progress.step("studies")
        derivations = unique([d for module in PAPER.modules for d in described.answers[module]])
        gallery = [found for found in (pending_card.result() for pending_card in pending_cards) if found]
        trial = pending_trial.result()
        progress.step("pages")
        found = [study for study in studies if study]
        built = write(ledger, derivations, figures, directory, trial, found, gallery, document=document)
        progress.step("files")
    return built


def draw(name: str) -> Figure:
    """Draw one figure by name: a unit of parallel work."""
    by_name: dict[str, Callable[[], Figure]] = {drawing.__name__: drawing for drawing in all_figures()}
    return by_name[name]()


def unique(derivations: Sequence[DescribedDerivation]) -> list[DescribedDerivation]:
    """Each derivation once, in order of first use."""
    first: dict[str, DescribedDerivation] = {}
    for derivation in derivations:
        first.setdefault(derivation.check, derivation)
    return list(first.values())


def write(
    ledger: Ledger,
    derivations: Sequence[DescribedDerivation],
    figures: Sequence[Figure],
    directory: Path,
    trial: tuple[Trial, Figure] | None = None,
    studies: Sequence[Study] = (),
    gallery: Sequence[Card] = (),
    *,
    document: bool = False,
) -> Built:
    """Render and write the files."""
    from onestep.reports.page import pdf
    from onestep.reports.page.site import Material, site
    from onestep.reports.text.ledger_markdown import markdown

    stated = as_json(ledger)
    name = pdf.NAME if document else ""
    material = Material(ledger, derivations, figures, PAPER.symbols, trial, studies, gallery, name)
    pages = site(material)
    texts, data = markdown(stated, PAPER.chapters), dumps(ledger)
    files: list[tuple[Path, str | bytes]] = [
        (directory / name, text) for name, text in (*pages.items(), *texts.items())
    ]
    files.append((directory / "ledger.json", data))
    if document:
        files.append((directory / pdf.NAME, pdf.typeset(material)))
    # A ledger of fresh draws is never the committed one.
    if ledger.profile == COMMITTED_PROFILE and not ledger.seed and in_source_checkout():
        files += [(COMMITTED_JSON.parent / name, text) for name, text in texts.items()]
        files.append((COMMITTED_JSON, data))
    write_together(files)
    remove_stale(directory, pages)
    return Built(ledger, stated, tuple(path for path, _ in files))
