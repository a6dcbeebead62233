"""Figures written to files in one piece: a full disk leaves the old file, never half of a new one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from giantsteps.reports.command_line.machine.whole_files import placed

SUFFIXES = (".svg", ".png", ".pdf")


def save(figure: Any, file: Path) -> None:
    """Write a Matplotlib figure, without its date; the suffix, one of SUFFIXES, chooses the format. Raises OSError.

    It is drawn beside its place and takes it when it is whole.
    """
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(file.suffix, {})
    with placed() as beside:
        figure.savefig(beside(file), format=file.suffix[1:], metadata=metadata)
