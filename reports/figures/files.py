"""Figures written to files in one piece: a full disk leaves the old file, never half of a new one."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def save(figure: Any, file: Path) -> None:
    """Write a Matplotlib figure, without its date; the suffix (.svg, .png or .pdf) chooses the format. Raises OSError.

    It is drawn beside its place and takes it when it is whole.
    """
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(file.suffix, {})
    partial = file.with_name(file.name + ".partial")
    try:
        figure.savefig(partial, format=file.suffix[1:], metadata=metadata)
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)
