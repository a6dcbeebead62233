"""The texts that are approved, each with its name: made anew by the code as it stands."""

from __future__ import annotations

import contextlib
import hashlib
import io
import re
import tempfile
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path

from matplotlib.figure import Figure as Canvas

from onestep.reports.command_line.cli import run
from onestep.reports.figures.drawn import all_figures
from onestep.reports.figures.figures import Figure
from onestep.reports.figures.svg import svg_of
from onestep.reports.measurements.study import Study
from onestep.reports.page.pdf import sources
from onestep.reports.page.studies import STUDIES, study_of
from tests.onestep.test_notebook import DRAWN, KINDS, results
from tests.reports.approved.commands import COMMANDS, GRID
from tests.reports.templates import material as small

# Files of the small report that are copied, or are the docstrings of the library.
COPIED = (".css", "open.js", "find.js", "sort.js", "library.html")
# Studies and figures that take seconds to make: looked at in the thorough profile.
SLOW = (
    "measurements.calibration", "studies.bound_functions", "studies.networks.practitioner", "studies.spectrum_sample",
    "studies.networks.learning_rate", "studies.width", "learning_curves_by_batch", "learning_curves_by_alignment",
    "learning_curves_by_spike",
)  # fmt: skip
# What a document says of the installation that made it.
_VERSION = re.compile(r'(?<=": ")\d+(?:\.\d+)+[^"]*(?=")')
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def drawing(svg: str) -> str:
    """A drawing as text: what is drawn in which order and style, and how far its coordinates reach in all."""
    definitions = re.compile(r"<defs>.*?</defs>", re.DOTALL)
    placed = definitions.sub("", svg)
    shape = _NUMBER.sub("#", re.sub(r'(id|href|clip-path)="[^"]*"', "", placed))
    letters = "".join(definitions.findall(svg))
    reach = sum(abs(float(number)) for number in _NUMBER.findall(re.sub(r'"#?\w*"', "", placed)))
    label = re.search(r'aria-label="([^"]*)"', svg)
    return "\n".join((
        label.group(1) if label else "",
        f"glyphs and marks {_digest(letters)}, lines and styles {_digest(shape)}, coordinates {reach:.3e} in all",
    ))  # fmt: skip


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def figure(drawn: Figure) -> str:
    """A figure as text, with its data."""
    return "\n".join((drawn.name, drawn.title, drawn.caption, drawn.call, drawing(drawn.svg), drawn.data))


def study(found: Study | None) -> str:
    """A study as text: its words, its tables cell by cell, its figures."""
    assert found is not None
    tables = [
        "\n".join((table.caption, " | ".join(table.columns), *(" | ".join(row) for row in table.rows)))
        for table in found.tables
    ]
    figures = map(figure, found.figures)
    return "\n".join((found.slug, found.title, *found.text, *tables, *figures, found.command))


def printed(line: tuple[str, ...]) -> str:
    """What a command prints and how it ends; a drawing that it writes."""
    out, err = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("grid.toml").write_text(GRID, encoding="utf-8")
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run([*line, "--quiet"] if "--help" not in line else list(line))
        drawn = [f"{path.name}: {drawing(path.read_text(encoding='utf-8'))}" for path in sorted(Path().glob("*.svg"))]
    return "\n".join((f"exit code {code}", _VERSION.sub("(version)", out.getvalue()), err.getvalue(), *drawn))


@cache
def _document() -> Mapping[str, bytes]:
    return sources(small.material())


def _main() -> str:
    return _document()["main.typ"].decode()


def pages() -> dict[str, Callable[[], str]]:
    """The small report, page by page, and the text of its PDF."""
    texts: dict[str, Callable[[], str]] = {
        name: partial(small.files().__getitem__, name) for name in small.files() if not name.endswith(COPIED)
    }
    return texts | {"main.typ": _main}


def studies() -> dict[str, Callable[[], str]]:
    """The studies on their stored samples."""
    return {name: (lambda name=name: study(study_of(name))) for name in STUDIES}


def figures() -> dict[str, Callable[[], str]]:
    """The figures of this suite."""
    return {draw.__name__: (lambda draw=draw: figure(draw())) for draw in all_figures()}


def commands() -> dict[str, Callable[[], str]]:
    """What the commands print."""
    return {" ".join(line): partial(printed, line) for line in COMMANDS}


def result(kind: str) -> str:
    """What a notebook shows of a result, its frame and its drawing."""
    found = results()[kind]
    shown = [found._repr_html_(), found._repr_latex_() if hasattr(found, "_repr_latex_") else ""]
    if hasattr(found, "to_frame"):
        shown += [f"{name}: {' '.join(map(str, values))}" for name, values in dict(found._columns()).items()]
    if kind in DRAWN:
        canvas = Canvas()
        found.plot(canvas.subplots())
        shown.append(drawing(svg_of(canvas, kind, kind)))
    return "\n".join(shown)


FAMILIES: dict[str, Callable[[], dict[str, Callable[[], str]]]] = {
    "pages": pages, "studies": studies, "figures": figures, "commands": commands,
    "results": lambda: {kind: partial(result, kind) for kind in KINDS},
}  # fmt: skip
