"""A campaign: trials whose outcomes are stored one by one, and that go on where they stopped."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator
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


def main(
    path: Path,
    run: Callable[[argparse.Namespace, list[Entry]], Iterator[list[Entry]]],
    told: Callable[[list[Entry]], tuple[str, bool]],
    options: dict[str, tuple[int | str, str]],
) -> int:
    """Measure, or `show`: prints what is stored; 1 where it is not good.

    `run(asked, known)` yields all entries, in the order of the file, after each trial; `told` gives the text on them
    and whether they are good; `options` are a default and a help text by name.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="?", choices=["measure", "show"], default="measure")
    parser.add_argument("--again", action="store_true", help="do not keep what is stored")
    for name, (default, help_) in options.items():
        parser.add_argument(f"--{name}", type=type(default), default=default, help=f"{help_} (default {default!r})")
    asked = parser.parse_args()
    if asked.what == "measure":
        for entries in run(asked, [] if asked.again else stored(path)):
            write(path, entries)
    text, good = told(stored(path))
    print(text)
    return 0 if good else 1
