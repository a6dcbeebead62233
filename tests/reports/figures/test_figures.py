"""The figures of the report: what they plot beside what `solve`, `bounds` and `simulate` answer, and how they are
written."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import giantsteps
from giantsteps.numerics.experiments.ridge import simulate_ridges
from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.figures import figures
from giantsteps.reports.figures.canvas import Figure
from giantsteps.reports.figures.files import save
from giantsteps.reports.page.build import draw as drawn_by_name
from giantsteps.reports.studies.paper.series import plotted
from tests.shared.report_page import toy_figures

SMALL: dict[str, Any] = {"dimension": 40, "seeds": 2, "seed": 7}
# The same solver at the same models, written with nine digits.
SAME: dict[str, float] = {"rel": 1e-8}


def spiked(alpha: float, ridge: float = 0.1, spike: float = 1.5, alignment: float = 0.9) -> giantsteps.Model:
    return giantsteps.Model("tanh", "sin", alpha, 1.0, ridge, spike=spike, bulk=1.0, alignment=alignment)


def stepped(alpha0: float, alpha: float) -> giantsteps.Model:
    return giantsteps.Model.from_gradient_step(
        "tanh", "sin", alpha=alpha, beta=1.0, ridge=0.1, alpha0=alpha0, eta=2.0, bulk_model="isotropic"
    )


Curves = dict[str, Callable[[float], giantsteps.Model]]
CURVES: dict[str, tuple[Callable[..., Figure], Curves]] = {
    "batch": (
        partial(figures.learning_curves_by_batch, (0.5, 8.0)),
        {rf"$\alpha_0 = {a:g}$": partial(stepped, a) for a in (0.5, 8.0)},
    ),
    "spike": (
        partial(figures.learning_curves_by_spike, (0.0, 2.0)),
        {f"$r = {r:g}$": partial(spiked, spike=r) for r in (0.0, 2.0)},
    ),
    "alignment": (
        partial(figures.learning_curves_by_alignment, (0.5, 1.0)),
        {rf"$\gamma = {g:g}$": partial(spiked, alignment=g) for g in (0.5, 1.0)},
    ),
    "ridge": (
        partial(figures.bounds_over_the_ridge, (0.5, 2.0)),
        {rf"$\alpha = {a:g}$": partial(spiked, a, spike=1.0) for a in (0.5, 2.0)},
    ),
}


@pytest.mark.parametrize("name", CURVES)
def test_lines_are_the_theory_and_points_the_simulation(name: str) -> None:
    draw_it, models = CURVES[name]
    found = plotted(draw_it(**SMALL))
    for k, (label, model) in enumerate(models.items()):
        line, points = found[1, f"line {2 * k + 1}"], found[1, label]
        for x, y in list(zip(line.x, line.y, strict=True))[::10]:
            assert y == pytest.approx(giantsteps.solve(model(float(x))).test_error, **SAME)
        if name == "ridge":  # runs that share their draws
            runs = simulate_ridges(model(1.0), points.x.tolist(), **SMALL)
        else:
            runs = [giantsteps.simulate(model(float(x)), **SMALL) for x in points.x]
        assert points.y == pytest.approx([run.test_error.mean for run in runs], **SAME)
        assert points.error == pytest.approx([run.test_error.standard_error for run in runs], **SAME)
    if name == "ridge":
        bounds = giantsteps.bounds(spiked(1.0, spike=1.0))
        for label, value in (("upper bound", bounds.upper), ("lower bound", bounds.lower)):
            assert list(found[1, label].y) == pytest.approx([value, value], **SAME)


def test_the_bounds_over_the_spike_hold_the_best_ridge_between_them() -> None:
    found = plotted(figures.bounds_over_the_spike(alpha=0.7, alignment=0.6, largest=2.1, points=5))
    best = found[1, r"best ridge, $\alpha = 0.7$"]
    assert list(best.x) == pytest.approx([0.1, 0.6, 1.1, 1.6, 2.1])
    for k, r in enumerate(best.x):
        bounds = giantsteps.bounds(spiked(0.7, spike=float(r), alignment=0.6))
        assert found[1, "upper bound"].y[k] == pytest.approx(bounds.upper, **SAME)
        assert found[1, "lower bound"].y[k] == pytest.approx(bounds.lower, **SAME)
        # No ridge of a scan does better, and one of them comes close: the scan is as fine as a parabola needs.
        models = (spiked(0.7, float(x), spike=float(r), alignment=0.6) for x in np.geomspace(1e-4, 1e3, 71))
        least = min(giantsteps.solve(model).test_error for model in models)
        assert best.y[k] <= least * (1 + 1e-8)
        assert best.y[k] == pytest.approx(least, rel=2e-3)


def test_the_functions_along_the_spike_are_averages_over_the_bulk() -> None:
    found = plotted(figures.functions_along_the_spike(student="relu", spike=0.7, bulk=1.3))
    # Gauss-Hermite on ReLU: 200 nodes leave a hundredth of a kink.
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    weights = weights / weights.sum()
    kappa = found[1, r"$\mu_0$"].x
    value = np.maximum(0.7 * kappa[:, None] + np.sqrt(1.3) * nodes, 0.0)
    mu0, mu1, square = value @ weights, value * nodes @ weights / np.sqrt(1.3), value**2 @ weights
    mu2 = np.sqrt(square - mu0**2 - 1.3 * mu1**2)
    for label, expected in (
        (r"$\mu_0$", mu0), (r"$\kappa\,\mu_1$", kappa * mu1), (r"$\mu_2$", mu2), ("target", np.sin(kappa)),
    ):  # fmt: skip
        assert np.max(np.abs(found[1, label].y - expected)) < 0.02


def test_the_best_combination_of_the_figure_is_the_projection() -> None:
    # Projecting a combination of the functions gives it back, whatever the weights.
    x = np.linspace(-2.0, 2.0, 50)
    functions = np.stack([np.tanh(x), x * np.exp(-x * x)])
    target = 0.3 * functions[0] - 1.2 * functions[1]
    best = figures.projection(functions, target, np.exp(-x * x))
    assert np.max(np.abs(best - target)) < 1e-13  # rounding of a 2-column least squares


def test_a_figure_is_the_same_bytes_every_time_with_ids_of_its_own() -> None:
    first = figures.functions_along_the_spike()
    assert figures.functions_along_the_spike() == first == drawn_by_name("functions_along_the_spike")
    assert "<metadata" not in first.svg
    assert "xlink" not in first.svg
    ids = [set(re.findall(r'id="([^"]+)"', figure.svg)) for figure in toy_figures()]
    assert ids[0]
    assert ids[0] & ids[1] == set()
    for figure in toy_figures():
        root = ElementTree.fromstring(figure.svg)
        assert root.get("role") == "img"
        assert root.get("aria-label")
    assert len({drawing.__name__ for drawing in figures.all_figures()}) == len(figures.all_figures())


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
