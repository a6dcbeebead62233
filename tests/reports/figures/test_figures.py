"""How the figures of the report are written."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.figures.files import save
from giantsteps.reports.studies.paper.along_spike import projection
from tests.shared.report_page import toy_studies


def test_the_best_combination_of_the_figure_is_the_projection() -> None:
    # Projecting a combination of the functions gives it back, whatever the weights.
    x = np.linspace(-2.0, 2.0, 50)
    functions = np.stack([np.tanh(x), x * np.exp(-x * x)])
    target = 0.3 * functions[0] - 1.2 * functions[1]
    best = projection(functions, target, np.exp(-x * x))
    assert np.max(np.abs(best - target)) < 1e-13  # rounding of a 2-column least squares


def test_the_ids_of_a_figure_are_its_own() -> None:
    drawn = [figure for study in toy_studies() for figure in study.figures]
    ids = [set(re.findall(r'id="([^"]+)"', figure.svg)) for figure in drawn]
    assert ids[0]
    assert ids[0] & ids[1] == set()
    for figure in drawn:
        assert "<metadata" not in figure.svg
        assert "xlink" not in figure.svg
        root = ElementTree.fromstring(figure.svg)
        assert root.get("role") == "img"
        assert root.get("aria-label")


def test_the_points_of_a_figure_come_as_csv() -> None:
    canvas, axes = draw.panels()
    axes.errorbar([1.0, 2.0], [3.0, 4.0], yerr=[0.1, 0.2], marker="o", capsize=2, label="measured")
    axes.plot([1.0, 2.0], [5.0, 6.0], label="_theory")
    axes.plot([0.5], [0.25])
    axes.bar([1.0], [2.0])
    axes.errorbar([1.0], [2.0], xerr=[0.3], fmt="s", label='a "quoted" one')
    rows = list(csv.reader(draw.data_of(canvas).splitlines()))
    assert rows == [
        ["panel", "series", "x", "y", "standard_error"],
        ["1", "measured", "1", "3", "0.1"],
        ["1", "measured", "2", "4", "0.2"],
        ["1", "theory", "1", "5", ""],
        ["1", "theory", "2", "6", ""],
        ["1", "line 3", "0.5", "0.25", ""],
        ["1", "a 'quoted' one", "1", "2", ""],
    ]


def test_series_that_are_kept_apart_keep_their_data_and_stay_in_the_panel() -> None:
    canvas, axes = draw.panels()
    moved, plain = (axes.errorbar([1.0, 2.0], [3.0, 9.0], yerr=1.0, marker="o", label=name) for name in ("a", "b"))
    draw.keep_apart(axes, moved.get_children(), 0, 3)
    assert draw.data_of(canvas).count("2,9,1\n") == 2
    assert axes.get_ylim()[0] < 2.0 < 10.0 < axes.get_ylim()[1]
    places = [one.lines[0].get_transform().transform((1.0, 3.0)) for one in (moved, plain)]
    assert places[1] - places[0] == pytest.approx([3.0 * canvas.dpi / 72.0, 0.0])


def test_panels_stand_two_in_a_row_and_a_key_below_them() -> None:
    canvas, *panels = draw.panels(3, ylabel="error")
    draw.style_key(canvas, {"solid line": {"ls": "-"}, "open mark": {"marker": "o", "mfc": "none"}})
    canvas.draw_without_rendering()
    boxes = [axes.get_position() for axes in panels]
    assert boxes[0].y0 == pytest.approx(boxes[1].y0)
    assert boxes[2].y1 < boxes[0].y0
    assert [axes.get_ylabel() for axes in panels] == ["error", "", "error"]
    (key,) = canvas.legends
    assert [text.get_text() for text in key.get_texts()] == ["solid line", "open mark"]
    assert key.get_window_extent().y1 < panels[2].get_tightbbox().y0


@pytest.mark.parametrize(
    "suffix", [".svg", *(pytest.param(one, marks=pytest.mark.thorough) for one in (".png", ".pdf"))]
)
def test_a_figure_is_written_in_one_piece_or_not_at_all(suffix: str, tmp_path: Path) -> None:
    place = tmp_path / f"figure{suffix}"
    place.write_text("the old one")
    script = (
        "import resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))\n"
        "from giantsteps.reports.command_line.cli import run\n"
        "sys.exit(run(sys.argv[1:]))\n"
    )
    arguments = ["spectrum", "--activation", "tanh", "--alpha", "1.5", "--beta", "1", "--spike", "1", "--bulk", "1"]
    done = subprocess.run(
        # -B: bytecode would be cut off at the limit too, and be kept.
        [sys.executable, "-B", "-c", script, *arguments, "--plot", str(place)],
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert (done.returncode, "outlier         0.236" in done.stdout) == (2, True)
    assert done.stderr == f"giantsteps: --plot: {place} could not be written (File too large); give another file\n"
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [(place.name, "the old one")]


def test_a_figure_that_cannot_be_drawn_is_a_problem_to_be_told_later(tmp_path: Path) -> None:
    def fails() -> None:
        raise RuntimeError("no such font")

    problem = save(fails, tmp_path / "figure.svg")
    assert "could not be drawn (RuntimeError: no such font)" in str(problem)
    assert list(tmp_path.iterdir()) == []


def test_figures_are_drawn_in_our_own_style_whatever_the_user_has_set(tmp_path: Path) -> None:
    settings = tmp_path / "matplotlibrc"
    settings.write_text("text.usetex: True\nfont.size: 40\nfont.family: no such font\nsvg.fonttype: none\n")
    users = {"MPLBACKEND": "nonsense", "MATPLOTLIBRC": str(settings)}
    found = []
    for name, more in (("ours.svg", {}), ("theirs.svg", users)):
        command = [sys.executable, "-m", "giantsteps", "activation", "tanh", "--plot", str(tmp_path / name)]
        done = subprocess.run(command, env=os.environ | more, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        found.append((tmp_path / name).read_bytes())
    assert found[0] == found[1]
