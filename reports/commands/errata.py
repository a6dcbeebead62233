"""onestep errata: the misprints found in the sources."""

from __future__ import annotations

from typing import Any

import click

from reports.cli_options import common_options
from reports.problems import DONE

HELP = """\b
Examples:
  onestep errata
  onestep errata --json

The misprints found in the sources: printed form, corrected form, evidence. None is recorded yet.
"""


@click.command(help=HELP)
@common_options
def errata(as_json: bool, quiet: bool, debug: bool) -> int:
    """Print the errata; the exit code."""
    from reports.console import note, print_json, provenance

    found: list[dict[str, Any]] = []
    if as_json:
        print_json({"errata": found, "provenance": provenance("errata", {})})
    else:
        note("no errata are recorded yet", quiet)
    return DONE
