"""What a campaign stores: a list of entries as JSON, one line each."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Entry = dict[str, Any]


def stored(path: Path) -> list[Entry]:
    """The entries of a file; none where there is no file yet."""
    found: list[Entry] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    return found


def write(path: Path, entries: Iterable[Entry]) -> None:
    """One line an entry, in the order given."""
    lines = [json.dumps(entry, ensure_ascii=False) for entry in entries]
    path.write_text("[\n " + ",\n ".join(lines) + "\n]\n", encoding="utf-8")
