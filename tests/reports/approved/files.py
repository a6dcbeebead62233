"""Where the approved texts are kept: one file a family, each text under a line with its name."""

from __future__ import annotations

import lzma
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "texts"
_MARK = "\x1e"


def path_of(family: str) -> Path:
    """The file of a family."""
    return FOLDER / f"{family}.txt.xz"


@cache
def read(family: str) -> dict[str, str]:
    """The approved texts of a family, by name."""
    path = path_of(family)
    whole = lzma.decompress(path.read_bytes()).decode() if path.is_file() else ""
    return dict(part.split("\n", 1) for part in whole.split(_MARK) if part)


def write(family: str, texts: dict[str, str]) -> None:
    """Keep the texts of a family."""
    whole = "".join(f"{_MARK}{name}\n{text}" for name, text in texts.items())
    path_of(family).write_bytes(lzma.compress(whole.encode(), preset=9))
