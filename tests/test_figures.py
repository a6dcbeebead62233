"""The figures of the report: the same bytes every time, ids of their own, each redrawn by its name."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import numpy as np

import reports.report
from reports import figures
from tests.report_page import toy_figures


def test_a_figure_is_the_same_bytes_every_time() -> None:
    first = figures.functions_along_the_spike()
    assert figures.functions_along_the_spike() == first
    assert "<metadata" not in first.svg
    assert "xlink" not in first.svg


def test_the_ids_of_two_figures_are_different() -> None:
    ids = [set(re.findall(r'id="([^"]+)"', figure.svg)) for figure in toy_figures()]
    assert ids[0]
    assert ids[0] & ids[1] == set()
    for figure in toy_figures():
        root = ElementTree.fromstring(figure.svg)
        assert root.get("role") == "img"
        assert root.get("aria-label")


def test_each_figure_can_be_redrawn_by_its_name() -> None:
    names = [drawing.__name__ for drawing in figures.all_figures()]
    assert len(names) == len(set(names))
    for name in names:
        assert callable(getattr(figures, name))
    assert reports.report.draw("functions_along_the_spike") == figures.functions_along_the_spike()


def test_the_best_combination_of_the_figure_is_the_projection() -> None:
    # Projecting a combination of the functions gives it back, whatever the weights.
    x = np.linspace(-2.0, 2.0, 50)
    functions = np.stack([np.tanh(x), x * np.exp(-x * x)])
    target = 0.3 * functions[0] - 1.2 * functions[1]
    best = figures._projection(functions, target, np.exp(-x * x))
    assert np.max(np.abs(best - target)) < 1e-13  # rounding of a 2-column least squares
