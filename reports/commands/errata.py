"""onestep errata: the misprints found in the sources."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from onestep.reports.command_line.options import common_options
from onestep.reports.command_line.problems import DONE, InputProblem

if TYPE_CHECKING:
    from onestep.verify.ledger.errata import ErratumReport
    from onestep.verify.protocol.paper import Erratum

HELP = """\b
Examples:
  onestep errata
  onestep errata erratum.input-scale
  onestep errata --json

The misprints found in the sources (those whose ids begin with ERRATUM): printed form, corrected form, witness, and what
the correction changes. Nothing is listed that the checks did not refute in this run.
"""


@click.command(help=HELP)
@click.argument("erratum", required=False)
@common_options
def errata(erratum: str | None, as_json: bool, quiet: bool, debug: bool) -> int:
    """Print the errata; the exit code."""
    from onestep.verify.claims.paper import PAPER

    chosen = PAPER.errata if erratum is None else find(PAPER.errata, erratum)
    from onestep.reports.command_line.console import note, print_json, provenance
    from onestep.reports.command_line.machine.workers import pool
    from onestep.reports.page.misprints import document_of_errata_section as document
    from onestep.verify.ledger.errata import errata as found_in
    from onestep.verify.ledger.errata import examine_errata

    parameters = {} if erratum is None else {"erratum": erratum}
    if not as_json:
        note("checking the printed formulas and their corrections", quiet)
    with pool() as executor:
        found = found_in(examine_errata(PAPER, "quick", executor, chosen), PAPER)
    if as_json:
        print_json({"errata": [document(report) for report in found], "provenance": provenance("errata", parameters)})
    else:
        print("\n\n".join(erratum_text(report) for report in found))
        print(f"\n{len(found)} misprint{'s' * (len(found) != 1)}")
    return DONE


def find(known: Sequence[Erratum], text: str) -> tuple[Erratum, ...]:
    """The erratum of that id, or those whose ids begin so ("erratum." may be left out). Raises InputProblem."""
    from difflib import get_close_matches

    from onestep.reports.commands.claims import beginning_with

    all_ids = [erratum.id for erratum in known]
    ids = beginning_with(all_ids, text)
    if not ids and text.strip():
        ids = beginning_with(all_ids, f"erratum.{text.strip()}")
    if not ids:
        close = get_close_matches(text.strip(), all_ids, n=3, cutoff=0.4) or all_ids[:1]
        raise InputProblem(
            f"no erratum is called {text[:80]!a}; `onestep errata` lists those accepted, which may be cut short, for "
            f"example {', '.join(close)}"
        )
    return tuple(erratum for erratum in known if erratum.id in ids)


def erratum_text(report: ErratumReport) -> str:
    """One erratum for people."""
    rows = (
        ("source", report.source),
        ("printed", report.printed),
        ("corrected", f"{report.corrected}   ({report.corrected_claim}: {report.corrected_verdict})"),
        ("witness", report.witness),
        ("consequence", report.consequence),
    )
    lines = [f"{report.id}: {report.title}"]
    for label, text in rows:
        wrapped = textwrap.wrap(text, 106, break_long_words=False) or [""]
        lines += [f"  {label if position == 0 else '':<11}  {line}" for position, line in enumerate(wrapped)]
    return "\n".join(lines)
