"""The notebooks of the folder `examples` run as they stand, each in a kernel of its own, and the folder says what is in
it; they are kept without outputs, which would differ between machines.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def run(notebook: nbformat.NotebookNode, folder: Path) -> None:
    """Run all cells in a new kernel of this environment, without a limit of time: machines differ, and so does load."""
    where = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=None, startup_timeout=600, kernel_name="python3", resources=where).execute()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    notebook = read(path)
    # The kernel says which cell failed, and why; a notebook warns of nothing.
    run(notebook, tmp_path)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert outputs
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []


def test_a_cell_that_fails_fails_the_test(tmp_path: Path) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("assert 1 == 2")])
    with pytest.raises(CellExecutionError, match="assert 1 == 2"):
        run(notebook, tmp_path)


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
