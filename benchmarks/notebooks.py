"""Run the notebooks of `examples` and store their outputs: `python -m benchmarks.notebooks`.

An output is an SVG drawing, the plain text of a result, or printed text. Two runs on one machine write the same bytes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from giantsteps.reports.figures.canvas import Figure, standalone
from giantsteps.reports.figures.svg import lean

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
_SVG, _TEXT = "image/svg+xml", "text/plain"


def read(path: Path) -> NotebookNode:
    """One notebook with its outputs."""
    return nbformat.read(path, as_version=4)


def outputs(notebooks: Mapping[str, NotebookNode], folder: Path) -> dict[str, list[list[NotebookNode]]]:
    """The outputs of every code cell, by the name of the notebook.

    All notebooks run in one kernel of this environment, which loads the library once. Each starts with an empty name
    space, in a folder of its own inside `folder`. There is no time limit, because machines and their load differ.
    """
    cells: list[NotebookNode] = []
    spans = {}
    for name, notebook in notebooks.items():
        (folder / name).mkdir()
        start = f"%reset -f\n%config InlineBackend.figure_formats = ['svg']\n%cd -q {folder / name}"
        code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
        spans[name] = slice(len(cells) + 1, len(cells) + 1 + len(code))
        cells += [nbformat.v4.new_code_cell(source) for source in (start, *code)]
    whole = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(
        whole, timeout=None, startup_timeout=600, kernel_name="python3", allow_errors=True, coalesce_streams=True,
        resources={"metadata": {"path": str(folder)}},
    ).execute()  # fmt: skip
    return {name: [cell.outputs for cell in whole.cells[span]] for name, span in spans.items()}


def filled(name: str, notebook: NotebookNode, found: list[list[NotebookNode]]) -> NotebookNode:
    """The notebook with these outputs. The paragraph above a code cell describes its drawings."""
    cells, paragraph, number = [], "", 0
    for cell in notebook.cells:
        if cell.cell_type == "code":
            kept = [_kept(one, f"{name}-{number}", paragraph, number + 1) for one in found[number]]
            number += 1
            cell = NotebookNode(cell | {"outputs": kept, "execution_count": number, "metadata": {}})
        else:
            paragraph = " ".join(cell.source.split("\n\n")[-1].split())
        cells.append(cell)
    return NotebookNode(notebook | {"cells": cells})


def _kept(output: NotebookNode, name: str, description: str, count: int) -> NotebookNode:
    """An output as it is stored: the drawing in few bytes, else the plain text."""
    if "data" not in output:
        return output
    data = output.data
    if _SVG in data:
        drawing = standalone(Figure(name, "", "", lean(data[_SVG], name, description)))
        return nbformat.v4.new_output("display_data", {_SVG: drawing})
    return nbformat.v4.new_output("execute_result", {_TEXT: data[_TEXT]}, execution_count=count)


def main() -> None:
    """Run all notebooks and write them back."""
    with TemporaryDirectory() as folder:
        os.environ["IPYTHONDIR"] = os.environ["MPLCONFIGDIR"] = folder  # nobody's settings
        notebooks = {path.stem: read(path) for path in NOTEBOOKS}
        for name, found in outputs(notebooks, Path(folder)).items():
            for failed in (one for cell in found for one in cell if one.output_type == "error"):
                raise SystemExit(f"{name}: {failed.ename}: {failed.evalue}")
            nbformat.write(filled(name, notebooks[name], found), EXAMPLES / f"{name}.ipynb")


if __name__ == "__main__":
    main()
