"""Where the committed ledger lives, and reading and refreshing it."""

from __future__ import annotations

import json
import os
from collections.abc import Container, Iterable
from pathlib import Path
from typing import Any

from giantsteps.reports.command_line.machine.whole_files import placed
from giantsteps.reports.command_line.problems import InputProblem

HERE = Path(__file__).parent.parent
COMMITTED_JSON = HERE / "ledger.json"
KEPT = HERE.parent / "build" / "kept"
COMMITTED_PROFILE = "quick"


def committed(ledger: Path | None = COMMITTED_JSON) -> dict[str, Any] | None:
    """The committed ledger of a paper as a document, by default of the built-in one; None where there is none."""
    if ledger is None or not ledger.exists():
        return None
    document: dict[str, Any] = json.loads(ledger.read_text(encoding="utf-8"))
    return document


def refreshed(ledger: Path) -> bool:
    """Whether a report refreshes this committed ledger: where it can be written to, the built-in one in a checkout."""
    return in_source_checkout() if ledger == COMMITTED_JSON else os.access(ledger.parent, os.W_OK)


def in_source_checkout() -> bool:
    """Whether this package is run from its source tree, where the committed ledger may be refreshed."""
    return (HERE.parent / "pyproject.toml").is_file() and os.access(HERE, os.W_OK)


def write_together(files: Iterable[tuple[Path, str | bytes]]) -> None:
    """Write files each in one piece, and all or none: they take their places when the last one is on the disk.

    An interrupted run leaves the old ones, never half of the new. Raises InputProblem, with nothing changed, where one
    cannot be written: a full disk, no permission.
    """
    path = Path()
    try:
        with placed() as beside:
            for path, content in files:
                path.parent.mkdir(parents=True, exist_ok=True)
                beside(path).write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise InputProblem(
            f"{path} cannot be written ({error.strerror}); free some space, or give a directory that can be written "
            "to, for example --out build/report"
        ) from None


# What `reports/templates/layout.html` puts on every page.
_OURS = '<meta name="generator" content="giantsteps report">'


def remove_stale(directory: Path, pages: Container[str]) -> None:
    """Remove the pages of an earlier report that this one does not have; files of other origin stay."""
    for path in directory.rglob("*.html"):
        head = path.read_text(encoding="utf-8", errors="replace")[:2000]
        if path.relative_to(directory).as_posix() not in pages and _OURS in head:
            path.unlink()
