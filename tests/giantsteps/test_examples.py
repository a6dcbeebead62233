"""The notebooks of the folder `examples` run as they stand, each from an empty name space and folder, and the folder
says what is in it; they are kept without outputs, which would differ between machines.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def run(notebooks: dict[str, nbformat.NotebookNode], folder: Path) -> dict[str, list[nbformat.NotebookNode]]:
    """What the cells of each notebook put out, one notebook after the other in one kernel of this environment.

    A kernel starts and loads the library for a second, and is the same for all: what a notebook defined is forgotten,
    and the next one stands in a folder of its own. There is no limit of time: machines differ, and so does load.
    """
    cells, ends = [], {}
    for name, notebook in notebooks.items():
        (folder / name).mkdir()
        cells += [nbformat.v4.new_code_cell(f"%reset -f\nimport os\nos.chdir({str(folder / name)!r})\ndel os")]
        first = len(cells)
        cells += [nbformat.v4.new_code_cell(cell.source) for cell in notebook.cells if cell.cell_type == "code"]
        ends[name] = slice(first, len(cells))
    whole = nbformat.v4.new_notebook(cells=cells)
    where = {"metadata": {"path": str(folder)}}
    NotebookClient(
        whole, timeout=None, startup_timeout=600, kernel_name="python3", resources=where, allow_errors=True
    ).execute()
    return {
        name: [output for cell in whole.cells[place] for output in cell.get("outputs", [])]
        for name, place in ends.items()
    }


def complaints(outputs: list[nbformat.NotebookNode]) -> list[str]:
    """What failed, or warned, in a notebook; a notebook that puts out nothing is one that did not run."""
    errors = [f"{output.ename}: {output.evalue}" for output in outputs if output.output_type == "error"]
    warned = [output.text for output in outputs if output.get("name") == "stderr"]
    return [*errors, *warned] if outputs else ["nothing was put out"]


def test_the_notebooks_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))  # where IPython and Jupyter write, also for a user without one
    # Between them one that fails, one that warns, one that says nothing, and one that takes a name of its neighbour.
    written = {
        "fails": "assert 1 == 2, 'a cell that fails'", "warns": "import warnings\nwarnings.warn('a warning')",
        "silent": "borrowed = 1", "borrows": "borrowed",
    }  # fmt: skip
    wrong = {name: nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text)]) for name, text in written.items()}
    first, *others = NOTEBOOKS
    found = run({first.stem: read(first)} | wrong | {path.stem: read(path) for path in others}, tmp_path)
    told = {name: complaints(outputs) for name, outputs in found.items()}
    assert told.pop("fails") == ["AssertionError: a cell that fails"]
    assert "UserWarning: a warning" in told.pop("warns")[0]
    assert told.pop("silent") == ["nothing was put out"]
    assert told.pop("borrows") == ["NameError: name 'borrowed' is not defined"]
    assert told == {path.stem: [] for path in NOTEBOOKS}


def test_the_notebooks_are_whole_and_listed() -> None:
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert NOTEBOOKS
    assert list(EXAMPLES.glob("*.py")) == []  # one form of each
    for path in NOTEBOOKS:
        notebook = read(path)
        nbformat.validate(notebook)
        assert f"`{path.name}`" in listed
        assert notebook.cells[0].source.startswith("# ")
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        assert [cell.outputs for cell in code] == [[]] * len(code)
        assert {cell.execution_count for cell in code} == {None}
