"""The notebooks of `examples` run, and they hold the outputs that they have when run."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbformat import NotebookNode
from PIL import Image

from benchmarks.notebooks import EXAMPLES, NOTEBOOKS, filled, outputs, read
from tests.reports.samples.comparison import differences

SVG, TEXT = "image/svg+xml", "text/plain"


def complaints(found: list[list[NotebookNode]]) -> list[str]:
    """The errors and warnings of a notebook. A notebook without any output did not run."""
    every = [output for cell in found for output in cell]
    errors = [f"{output.ename}: {output.evalue}" for output in every if output.output_type == "error"]
    warned = [output.text for output in every if output.get("name") == "stderr"]
    return [*errors, *warned] if every else ["no output"]


def drawings(notebook: NotebookNode) -> list[str]:
    """The SVG files of a notebook."""
    return [output.data[SVG] for output in kept(notebook) if SVG in output.get("data", ())]


def kept(notebook: NotebookNode) -> list[NotebookNode]:
    """All outputs of a notebook."""
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


def shown(notebook: NotebookNode) -> str:
    """The printed text, results and descriptions of the drawings, cell by cell."""
    lines = []
    for cell in notebook.cells:
        lines.append(f"{cell.id}, {cell.get('execution_count')}")
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            lines.append(output.get("text") or data.get(TEXT) or re.findall('aria-label="(.*?)"', data[SVG])[0])
    return "\n".join(lines)


def test_the_notebooks_run_and_hold_their_outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))  # IPython and Jupyter write there
    # Between them one that fails, one that warns, one without output, and one that uses a name of its neighbour.
    written = {
        "fails": "assert 1 == 2, 'a cell that fails'", "warns": "import warnings\nwarnings.warn('a warning')",
        "silent": "borrowed = 1", "borrows": "borrowed",
    }  # fmt: skip
    wrong = {name: nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text)]) for name, text in written.items()}
    first, *others = NOTEBOOKS
    found = outputs({first.stem: read(first)} | wrong | {path.stem: read(path) for path in others}, tmp_path)
    told = {name: complaints(cells) for name, cells in found.items()}
    assert told.pop("fails") == ["AssertionError: a cell that fails"]
    assert "UserWarning: a warning" in told.pop("warns")[0]
    assert told.pop("silent") == ["no output"]
    assert told.pop("borrows") == ["NameError: name 'borrowed' is not defined"]
    assert told == {path.stem: [] for path in NOTEBOOKS}
    for path in NOTEBOOKS:
        again = filled(path.stem, read(path), found[path.stem])
        assert differences(shown(read(path)), shown(again)) == [], f"run python -m benchmarks.notebooks: {path.name}"


def test_the_notebooks_are_whole_and_listed() -> None:
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"`(\w+\.ipynb)`", listed)) == [path.name for path in NOTEBOOKS]
    assert list(EXAMPLES.glob("*.py")) == []  # one form of each
    for path in NOTEBOOKS:
        notebook = read(path)
        nbformat.validate(notebook)
        assert notebook.cells[0].source.startswith("# ")
        assert {output.output_type for output in kept(notebook)} <= {"stream", "execute_result", "display_data"}
        assert {kind for output in kept(notebook) for kind in output.get("data", ())} <= {SVG, TEXT}
    assert sum(path.stat().st_size for path in NOTEBOOKS) < 1_500_000


def test_every_drawing_is_a_small_file_with_a_description() -> None:
    drawn = [svg for path in NOTEBOOKS for svg in drawings(read(path))]
    assert drawn
    for svg in drawn:
        assert svg.startswith('<svg xmlns="http://www.w3.org/2000/svg" role="img"')
        assert len(re.findall('aria-label="(.+?)"', svg)[0].split()) > 8
        assert len(svg) < 60_000


def test_the_map_of_the_learning_curve_has_forty_cells_along_each_axis() -> None:
    found = [
        re.findall('data:image/png;base64,([^"]+)', svg) for svg in drawings(read(EXAMPLES / "learning_curve.ipynb"))
    ]
    image = np.asarray(Image.open(io.BytesIO(base64.b64decode(next(png for png, *_ in filter(None, found))))), float)
    for axis in (0, 1):
        changes = np.any(np.diff(image, axis=axis), axis=(1 - axis, 2))
        assert 1 + np.sum(changes) >= 40
