"""The examples run as they stand, and the folder says what is in it."""

from __future__ import annotations

import runpy
from pathlib import Path

import matplotlib
import pytest

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_an_example_runs(script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matplotlib.use("Agg")
    from matplotlib import pyplot

    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name="__main__")
    pyplot.close("all")


def test_the_examples_are_listed() -> None:
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert SCRIPTS
    assert [script.name for script in SCRIPTS if f"`{script.name}`" not in text] == []
    for script in SCRIPTS:
        assert script.read_text(encoding="utf-8").startswith("# %% [markdown]\n# # ")
