"""The texts that are approved, each with its name: made anew by the code as it stands."""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from matplotlib.figure import Figure as Canvas

from onestep.reports.command_line.cli import run
from onestep.reports.figures.drawn import all_figures
from onestep.reports.figures.figures import Figure
from onestep.reports.figures.svg import svg_of
from onestep.reports.measurements.study import Study
from onestep.reports.page.pdf import sources
from onestep.reports.page.studies import STUDIES, study_of
from onestep.reports.text.mathematics import mathml
from onestep.verify.claims.index import all_claims
from onestep.verify.ledger.document import statement_latex
from tests.onestep.test_notebook import DRAWN, KINDS, results
from tests.reports.approved import parts
from tests.reports.approved.commands import COMMANDS, GRID, GRIDS
from tests.reports.approved.drawings import digest, drawing, heat_maps
from tests.reports.approved.refusals import FILES, LINES
from tests.reports.approved.sayings import VERSION, sayings
from tests.reports.templates import material as small

# Files of the small report that no one reads here: an embedded font, and the docstrings of the library.
NOT_READ = ("math.css", "library.html")
# Studies and figures that take seconds to make: looked at in the thorough profile.
SLOW = (
    "measurements.calibration", "studies.bound_functions", "studies.spectrum_sample", "learning_curves_by_batch",
    "learning_curves_by_alignment", "learning_curves_by_spike",
)  # fmt: skip


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


def printed(line: tuple[str, ...], file: bytes = GRID.encode()) -> str:
    """What a command prints and how it ends; a drawing that it writes. ``file`` is the sweep of grid.toml."""
    out, err = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("grid.toml").write_bytes(file)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), heat_maps() as maps:
            code = run([*line, "--quiet"] if "--help" not in line else list(line))
        drawn = [f"{path.name}: {drawing(path.read_text(encoding='utf-8'))}" for path in sorted(Path().glob("*.svg"))]
    return "\n".join((f"exit code {code}", VERSION.sub("(version)", out.getvalue()), err.getvalue(), *drawn, *maps))


def _main() -> str:
    return sources(small.material())["main.typ"].decode()


def pages() -> dict[str, Callable[[], str]]:
    """The small report, page by page, with style sheet and scripts, and the text of its PDF."""
    texts: dict[str, Callable[[], str]] = {
        name: partial(small.files().__getitem__, name) for name in small.files() if not name.endswith(NOT_READ)
    }
    return texts | {"main.typ": _main}


def studies() -> dict[str, Callable[[], str]]:
    """The studies on their stored samples."""
    return {name: partial(_with_maps, partial(study_of, name)) for name in STUDIES}


def _with_maps(made: Callable[[], Study | None]) -> str:
    with heat_maps() as maps:
        return "\n".join((study(made()), *maps))


def figures() -> dict[str, Callable[[], str]]:
    """The figures of this suite."""
    return {draw.__name__: (lambda draw=draw: figure(draw())) for draw in all_figures()}


def commands() -> dict[str, Callable[[], str]]:
    """What the commands print."""
    sweep = ("sweep", "grid.toml", "--out", "results", "--plot", "diagram.svg")
    drawn = {f"a sweep, {name}": partial(printed, sweep, file.encode()) for name, file in GRIDS.items()}
    return {" ".join(line): partial(printed, line) for line in COMMANDS} | drawn


def studies_in_part() -> dict[str, Callable[[], str]]:
    """What takes seconds whole, in part; and what the pages of the small report have no measurements for."""
    return {name: (lambda made=made: study(made())) for name, made in parts.STUDIES.items()} | parts.TEXTS


def refusals() -> dict[str, Callable[[], str]]:
    """With which sentences what is no input is refused."""
    lines = {" ".join(line): partial(printed, line) for line in LINES}
    sweep = ("sweep", "grid.toml", "--out", "results")
    return lines | {f"a sweep, {name}": partial(printed, sweep, file) for name, file in FILES.items()}


def result(kind: str) -> str:
    """What a notebook shows of a result, its frame and its drawing."""
    found = results()[kind]
    shown = [found._repr_html_(), found._repr_latex_() if hasattr(found, "_repr_latex_") else ""]
    if hasattr(found, "to_frame"):
        shown += [f"{name}: {' '.join(map(str, values))}" for name, values in dict(found._columns()).items()]
    if kind in DRAWN:
        canvas = Canvas()
        with heat_maps() as maps:
            found.plot(canvas.subplots())
        shown += [drawing(svg_of(canvas, kind, kind)), *maps]
    return "\n".join(shown)


def formulas() -> str:
    """How the statement of each claim is set: a digest of its formula and the lines it takes."""
    set_ = ((claim.id, mathml(statement_latex(claim), block=True)) for claim in all_claims())
    return "\n".join(f"{id_} {digest(formula)} {formula.count('<mtr>')}" for id_, formula in set_)


FAMILIES: dict[str, Callable[[], dict[str, Callable[[], str]]]] = {
    "pages": pages, "studies": studies, "figures": figures, "commands": commands,
    "refusals": refusals, "sayings": sayings, "parts": studies_in_part,
    "formulas": lambda: {"statements": formulas},
    "results": lambda: {kind: partial(result, kind) for kind in KINDS},
}  # fmt: skip
