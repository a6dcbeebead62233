"""giantsteps report: regenerate everything that a person reads."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from giantsteps.reports.command_line.console import Output
from giantsteps.reports.command_line.options import common_options, option, profile_option
from giantsteps.reports.command_line.problems import FAILED, InputProblem, check_writable

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
@common_options
def report(out: Output, profile: str, directory: str | None, pdf: bool, fresh: bool, check: bool) -> int:
    """Build the report, or check the ledger; the exit code."""
    if check:
        for given, other in ((directory is not None, "--out"), (pdf, "--pdf"), (fresh, "--fresh")):
            if given:
                raise InputProblem(
                    f"--check and {other} were both given; --check writes nothing, and one of them is accepted, for "
                    "example giantsteps report --check"
                )
        return check_drift(profile, out)
    folder = Path(directory or "build/report")
    if folder.exists() and not folder.is_dir():
        raise InputProblem(
            f"--out was given {directory!a}, which is a file; a directory is accepted, for example --out build/report"
        )

    check_writable(folder)
    if pdf:
        import typst  # noqa: F401  what is missing is said before minutes of work
    from giantsteps.reports.command_line.machine.kept import forget
    from giantsteps.reports.commands.verify import ledger_summary, remarks
    from giantsteps.reports.page.build import build
    from giantsteps.reports.text.ledger_files import KEPT, committed, in_source_checkout

    keep = KEPT if in_source_checkout() else None
    if fresh and keep is not None:
        forget(keep)
    before = committed()  # building refreshes it
    built = build(profile, folder, quiet=out.quiet, document=pdf, keep=keep)
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


def check_drift(profile: str, out: Output) -> int:
    """Compare a fresh ledger with the committed one; the exit code."""
    from giantsteps.reports.text.ledger_files import committed

    old = committed()
    if old is None:
        raise InputProblem(
            "--check found no committed ledger to compare with; write it first, for example giantsteps report"
        )
    recorded = old["provenance"]["profile"]
    if recorded != profile:
        raise InputProblem(
            f"--check was given the profile {profile}, and the committed ledger was made under {recorded}; "
            f"for example giantsteps report --check --profile {recorded}"
        )

    from giantsteps.reports.commands.verify import ledger_summary, remarks, run_ledger
    from giantsteps.reports.text.ledger_files import COMMITTED_JSON
    from giantsteps.reports.text.ledger_markdown import markdown_drift
    from giantsteps.verify.claims.paper import PAPER
    from giantsteps.verify.compiled.theorems import theorem_drift
    from giantsteps.verify.ledger.document import as_json as document_of
    from giantsteps.verify.ledger.drift import drift

    ledger = run_ledger(profile, None, out.quiet)
    beside = markdown_drift(old, PAPER.chapters, COMMITTED_JSON.parent)
    differences = [*drift(old, document_of(ledger)), *beside, *theorem_drift()]
    if not out.as_json:
        for line in [*remarks(ledger), *differences]:
            out.note(line)
    end = f"{len(differences)} differences from the committed ledger" if differences else "no drift"
    out.tell(
        lambda: document_of(ledger) | {"drift": differences},
        lambda: f"{ledger_summary(ledger)}\n{end}; {len(ledger.undecided)} claims INCONCLUSIVE",
    )
    return FAILED if differences else ledger.exit_code(old)
