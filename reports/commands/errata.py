"""giantsteps errata: formulas of our sources that do not hold as printed."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from giantsteps.reports.command_line.console import Output, provenance
from giantsteps.reports.command_line.options import common_options
from giantsteps.reports.command_line.papers import paper_of, paper_option
from giantsteps.reports.command_line.problems import DONE, InputProblem
from giantsteps.reports.text.plain_formulas import plain, readable

if TYPE_CHECKING:
    from giantsteps.verify.ledger.errata import ErratumReport
    from giantsteps.verify.protocol.paper import Erratum

HELP = """\b
Examples:
  giantsteps errata
  giantsteps errata convention.input-scale
  giantsteps errata --json

List the formulas that do not hold as printed (those whose ids begin with ERRATUM): the printed form, the corrected
form, a counterexample, the effect of the correction, and whether an error in the conversion of the source to text could
explain it. Conventions and readings that differ from ours are listed separately. Every formula listed was refuted by
the checks in this run.
"""


@click.command(help=HELP)
@click.argument("erratum", required=False)
@paper_option
@common_options
def errata(out: Output, erratum: str | None, paper: str | None) -> int:
    """Print the errata; the exit code."""
    from giantsteps.reports.command_line.machine.workers import pool
    from giantsteps.verify.ledger.errata import conventions, examine_errata
    from giantsteps.verify.ledger.errata import errata as not_holding

    with paper_of(paper) as of:
        listed = (*of.errata, *of.conventions)
        chosen = listed if erratum is None else find(listed, erratum, of.option)
        if not out.as_json:
            out.note("checking the printed formulas and their corrections")
        with out.progress("checking errata", len(of.modules)) as progress, pool() as executor:
            ledger = examine_errata(of, "quick", executor, chosen, lambda name: progress.step(name.rsplit(".", 1)[-1]))
    found = {"errata": not_holding(ledger, of), "conventions": conventions(ledger, of)}
    documents: dict[str, Any] = {name: [asdict(report) for report in reports] for name, reports in found.items()}
    given = {name: value for name, value in (("erratum", erratum), ("paper", paper)) if value is not None}
    documents["provenance"] = provenance("errata", given)
    out.tell(documents, lambda: errata_text(found["errata"], found["conventions"]))
    return DONE


def errata_text(misprinted: Sequence[ErratumReport], differing: Sequence[ErratumReport]) -> str:
    """What does not hold as a source has it, apart from it conventions and readings, and how many there are of each."""
    parts = [erratum_text(report, "source has", "what holds") for report in misprinted]
    parts += [erratum_text(report, "theirs", "ours") for report in differing]
    count, apart = len(misprinted), len(differing)
    held = "do not hold as our sources have them" if count != 1 else "does not hold as our source has it"
    words = [f"{count} {held}"] if count or not apart else []
    words += [f"{apart} of another convention or reading"] if apart else []
    return "\n\n".join([*parts, ", ".join(words)])


def find(known: Sequence[Erratum], text: str, option: str = "") -> tuple[Erratum, ...]:
    """The erratum of that id, or those whose ids begin so ("erratum.", "convention." and "reading." may be left out).

    Raises InputProblem.
    """
    from difflib import get_close_matches

    from giantsteps.reports.command_line.claim_ids import beginning_with

    all_ids = [erratum.id for erratum in known]
    ids = beginning_with(all_ids, text)
    if not ids and text.strip():
        kinds = ("erratum", "convention", "reading")
        ids = [id_ for kind in kinds for id_ in beginning_with(all_ids, f"{kind}.{text.strip()}")]
    if not ids:
        close = get_close_matches(text.strip(), all_ids, n=3, cutoff=0.4) or all_ids[:1] or ["none"]
        raise InputProblem(
            f"no erratum is called {text[:80]!a}; `giantsteps errata{option}` lists those accepted, which may be cut "
            f"short, for example {', '.join(close)}"
        )
    return tuple(erratum for erratum in known if erratum.id in ids)


def erratum_text(report: ErratumReport, theirs: str, ours: str) -> str:
    """One erratum for people."""
    rows = (
        ("source", report.source),
        (theirs, plain(report.printed)),
        (ours, f"{plain(report.corrected)}   ({report.corrected_claim}: {report.corrected_verdict})"),
        # What was simulated stands beside what their formula says, which is no theory.
        ("witness", report.witness.replace(", theory ", f", {theirs} ")),
        ("consequence", report.consequence),
        *([("conversion", report.conversion)] if report.conversion else []),
    )
    lines = [f"{report.id}: {report.title}"]
    for label, text in rows:
        wrapped = textwrap.wrap(readable(text), 106, break_long_words=False) or [""]
        lines += [f"  {label if position == 0 else '':<11}  {line}" for position, line in enumerate(wrapped)]
    return "\n".join(lines)
