"""The samples: plain text files beside this one, each sample under the command line that prints it."""

from __future__ import annotations

import contextlib
import io
import re
import tempfile
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path

from giantsteps.reports.command_line.cli import run
from tests.reports.samples.commands import COMMANDS, GRID
from tests.reports.samples.refusals import FILES, LINES, LONG

_MARK = "\n$ "
# What a document says of the installation that made it.
_VERSION = re.compile(r'(?<=": ")\d+(?:\.\d+)+[^"]*(?=")')


@cache
def read(name: str) -> dict[str, str]:
    """The samples of one file, by command line."""
    path = Path(__file__).with_name(f"{name}.txt")
    whole = "\n" + path.read_text(encoding="utf-8").rstrip("\n") if path.is_file() else ""
    return dict(part.split("\n", 1) for part in whole.split(_MARK) if part)


def write(name: str, samples: Mapping[str, str]) -> None:
    """Keep the samples of one file."""
    text = "".join(f"{_MARK}{line}\n{printed}" for line, printed in samples.items())
    Path(__file__).with_name(f"{name}.txt").write_text(text.removeprefix("\n") + "\n", encoding="utf-8")


def printed(line: tuple[str, ...], file: bytes = GRID.encode()) -> str:
    """What a command prints and how it ends. ``file`` is the sweep of grid.toml."""
    out, err = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("grid.toml").write_bytes(file)
        Path("taken.svg").mkdir()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run([*line, "--quiet"])
        if code == 2 and not out.getvalue():  # refused, before anything is written
            assert {path.name for path in Path().iterdir()} <= {"grid.toml", "taken.svg", "results", "proofs"}, line
    told = _VERSION.sub("(version)", out.getvalue()) + err.getvalue()
    return f"exit code {code}\n{told}".rstrip("\n")


def answers() -> dict[str, Callable[[], str]]:
    """What commands answer."""
    return {" ".join(("giantsteps", *line)): partial(printed, line) for line in COMMANDS}


def refusals() -> dict[str, Callable[[], str]]:
    """With which sentence each kind of bad input is refused."""
    sweep = ("sweep", "grid.toml", "--out", "results")
    lines = {" ".join(("giantsteps", *line)).replace(LONG, "(long)"): partial(printed, line) for line in LINES}
    return lines | {f"(a sweep file with {name})": partial(printed, sweep, file) for name, file in FILES.items()}


MADE: dict[str, Callable[[], dict[str, Callable[[], str]]]] = {"answers": answers, "refusals": refusals}
