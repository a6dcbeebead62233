"""The commands that the README, its pages in docs/ and the help texts print, with the output printed under them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

# What a reader is given: the README and the pages that it leads to.
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))

# Rounding of the last bits: these lines are printed, and differ between machines.
_ROUNDING = ("residual", "error estimate")


@dataclass(frozen=True)
class Sample:
    """A command as printed, and the lines of output under it; "..." stands for any lines."""

    command: str
    lines: tuple[str, ...]


def samples(text: str) -> list[Sample]:
    """Every "    $ command" of a Markdown text, a backslash going on in the next line, with what stands under it."""
    found: list[Sample] = []
    for block in re.findall(r"(?:^    .*\n)+", text, re.MULTILINE):
        lines = [line[4:] for line in block.splitlines()]
        if not lines[0].startswith("$ "):
            continue
        count = 1 + next(k for k, line in enumerate(lines) if not line.endswith("\\"))
        command = " ".join(line.removesuffix("\\").strip() for line in lines[:count]).removeprefix("$ ")
        found.append(Sample(command, tuple(lines[count:])))
    return found


def links(text: str) -> list[str]:
    """The relative addresses that a Markdown text links to or shows."""
    return [found for found in re.findall(r"\]\(([^)#\s]+)", text) if "://" not in found]


def shell(command: str, folder: Path, seconds: float = 600.0) -> subprocess.CompletedProcess[str]:
    """A command line as a shell runs it in a folder, `giantsteps` and `python3` those of this environment."""
    found = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env=os.environ | {"PATH": found, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=seconds,
    )


def differs(expected: Sequence[str], printed: Sequence[str]) -> str:
    """The first expected line that is not where it should be in what was printed; empty if all are."""
    place, free = 0, False
    for line in expected:
        if line == "...":
            free = True
            continue
        here = [k for k, other in enumerate(printed[place:], place) if same(line, other)]
        if not here or (not free and here[0] != place):
            return line
        place, free = here[0] + 1, False
    return "" if free or place == len(printed) else f"more was printed: {printed[place]}"


def same(expected: str, printed: str) -> bool:
    """Whether two lines agree: to the letter, but for numbers that are rounding errors."""
    return expected == printed or any(expected.startswith(word) and printed.startswith(word) for word in _ROUNDING)
