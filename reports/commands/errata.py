"""onestep errata: the misprints found in the sources."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click

from reports.cli_options import common_options
from reports.problems import DONE

if TYPE_CHECKING:
    from verify.errata import ErratumReport

HELP = """\b
Examples:
  onestep errata
  onestep errata --json

The misprints found in the sources: printed form, corrected form, witness, and what the correction changes. Nothing
is listed that the checks did not refute in this run.
"""


@click.command(help=HELP)
@common_options
def errata(as_json: bool, quiet: bool, debug: bool) -> int:
    """Print the errata; the exit code."""
    from reports.console import note, print_json, provenance
    from reports.errata_section import document
    from reports.workers import pool
    from verify.errata import errata as found_in
    from verify.errata import examine_errata

    if not as_json:
        note("checking the printed formulas and their corrections", quiet)
    with pool() as executor:
        found = found_in(examine_errata("quick", executor))
    if as_json:
        print_json({"errata": [document(report) for report in found], "provenance": provenance("errata", {})})
    else:
        print("\n\n".join(erratum_text(report) for report in found))
        print(f"\n{len(found)} misprints")
    return DONE


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
