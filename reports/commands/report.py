"""giantsteps report: regenerate everything that a person reads."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from giantsteps.reports.command_line.console import Output
from giantsteps.reports.command_line.options import common_options, option, profile_option
from giantsteps.reports.command_line.papers import paper_of, paper_option
from giantsteps.reports.command_line.problems import FAILED, InputProblem, check_writable

if TYPE_CHECKING:
    from giantsteps.verify.protocol.paper import Paper

HELP = """\b
Examples:
  giantsteps report
  giantsteps report --out build/report
  giantsteps report --pdf
  giantsteps report --check

Run the ledger, draw the figures, and write the pages (start at index.html) and the ledger as data, ledger.json.xz; with
--pdf also giantsteps.pdf, one document to print. This takes minutes. In a source checkout the quick profile also
updates the committed ledger (JSON and Markdown). Intermediate results are kept in build/kept: an interrupted run
continues where it stopped, and unchanged parts are not computed again. --fresh ignores them.

--check writes nothing and ignores intermediate results: it computes the ledger and compares it with the committed one.
The exit code is 1 if they differ.

Without a terminal stderr has one plain line per chapter of claims. The exit code is also 1 if a claim is refuted, if a
mutant is not refuted, or if a claim is undecided that the committed ledger decides.
"""


@click.command(help=HELP)
@profile_option
@option("--out directory", "DIR", "Where to write (default build/report).")
@click.option("--pdf", is_flag=True, help="Also typeset one document, giantsteps.pdf.")
@click.option("--fresh", is_flag=True, help="Ignore intermediate results of earlier runs.")
@click.option("--check", is_flag=True, help="Compare a newly computed ledger with the committed one.")
@paper_option
@common_options
def report(
    out: Output, profile: str, directory: str | None, pdf: bool, fresh: bool, check: bool, paper: str | None
) -> int:
    """Build the report, or check the ledger; the exit code."""
    if check:
        for given, other in ((directory is not None, "--out"), (pdf, "--pdf"), (fresh, "--fresh")):
            if given:
                raise InputProblem(
                    f"--check and {other} were both given; --check writes nothing, and one of them is accepted, for "
                    "example giantsteps report --check"
                )
        with paper_of(paper) as of:
            return check_drift(of, profile, out)
    folder = Path(directory or "build/report")
    if folder.exists() and not folder.is_dir():
        raise InputProblem(
            f"--out was given {directory!a}, which is a file; a directory is accepted, for example --out build/report"
        )
    if pdf:
        import typst  # noqa: F401  what is missing is said before minutes of work
    from giantsteps.reports.command_line.machine.kept import forget
    from giantsteps.reports.commands.verify import ledger_summary, remarks
    from giantsteps.reports.page.build import build
    from giantsteps.reports.text.ledger_files import KEPT, committed, in_source_checkout

    # What is kept rests on the source of the suite: that of another paper is not looked at.
    keep = KEPT if paper is None and in_source_checkout() else None
    if fresh and keep is not None:
        forget(keep)
    with paper_of(paper) as of:
        check_writable(folder)
        before = committed(of.ledger)  # building refreshes it
        built = build(of, profile, folder, quiet=out.quiet, document=pdf, keep=keep)
    if not out.as_json:
        for line in remarks(built.ledger):
            out.note(line)
    out.tell(
        lambda: built.document | {"files": [os.path.relpath(path) for path in built.files]},
        lambda: "\n".join([*shown(built.files), ledger_summary(built.ledger)]),
    )
    return built.ledger.exit_code(before)


def shown(files: Sequence[Path]) -> list[str]:
    """The files by name, the pages by their first and their number."""
    pages = [path for path in files if path.suffix == ".html"]
    others = [path for path in files if path.suffix in (".md", ".json", ".xz", ".pdf")]
    return [f"{os.path.relpath(pages[0])}, the first of {len(pages)} pages", *map(os.path.relpath, others)]


def check_drift(paper: Paper, profile: str, out: Output) -> int:
    """Compare a fresh ledger with the committed one; the exit code."""
    from giantsteps.reports.text.ledger_files import committed

    old = committed(paper.ledger)
    if old is None or paper.ledger is None:
        need = "" if paper.ledger else '; add ledger=Path(__file__).with_name("ledger.json") to the Paper(...)'
        raise InputProblem(
            f"--check found no committed ledger to compare with{need}; write it first, for example giantsteps "
            f"report{paper.option}"
        )
    recorded = old["provenance"]["profile"]
    if recorded != profile:
        raise InputProblem(
            f"--check was given the profile {profile}, and the committed ledger was made under {recorded}; "
            f"for example giantsteps report --check --profile {recorded}"
        )

    from giantsteps.reports.commands.verify import ledger_summary, remarks, run_ledger
    from giantsteps.reports.text.ledger_markdown import markdown_drift
    from giantsteps.verify.compiled.theorems import theorem_drift
    from giantsteps.verify.ledger.document import as_json as document_of
    from giantsteps.verify.ledger.drift import drift

    ledger = run_ledger(paper, profile, None, out.quiet)
    beside = markdown_drift(old, paper.chapters, paper.ledger.parent)
    # The equations that the solver's digits are computed by are theorems of the built-in paper.
    kept = [] if paper.module else theorem_drift()
    differences = [*drift(old, document_of(ledger)), *beside, *kept]
    if not out.as_json:
        for line in [*remarks(ledger), *differences]:
            out.note(line)
    end = f"{len(differences)} differences from the committed ledger" if differences else "no drift"
    out.tell(
        lambda: document_of(ledger) | {"drift": differences},
        lambda: f"{ledger_summary(ledger)}\n{end}; {len(ledger.undecided)} claims INCONCLUSIVE",
    )
    return FAILED if differences else ledger.exit_code(old)
