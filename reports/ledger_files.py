"""Where the committed ledger lives, and reading and refreshing it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from reports.problems import InputProblem

HERE = Path(__file__).parent
COMMITTED_JSON = HERE / "ledger.json"
COMMITTED_MARKDOWN = HERE / "ledger.md"
COMMITTED_PROFILE = "quick"


def committed() -> dict[str, Any] | None:
    """The committed ledger as a document, None where there is none."""
    if not COMMITTED_JSON.exists():
        return None
    document: dict[str, Any] = json.loads(COMMITTED_JSON.read_text(encoding="utf-8"))
    return document


def in_source_checkout() -> bool:
    """Whether this package is run from its source tree, where the committed ledger may be refreshed."""
    return (HERE.parent / "pyproject.toml").is_file() and os.access(HERE, os.W_OK)


def write_whole(path: Path, text: str) -> None:
    """Write a file in one piece: an interrupted run leaves the old one, never half of the new.

    Raises InputProblem where it cannot be written: a full disk, no permission.
    """
    partial = path.with_name(path.name + ".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            partial.write_text(text, encoding="utf-8", newline="\n")
            partial.replace(path)
        except OSError:
            partial.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputProblem(
            f"{path} cannot be written ({error.strerror}); free some space, or give a directory that can be written "
            "to, for example --out build/report"
        ) from None
