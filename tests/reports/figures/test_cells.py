"""Heat maps: each number of a table stands around its own point, whatever the order, and axes name few numbers."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from matplotlib.figure import Figure

from giantsteps.numerics.sweeps.sweep import Axis
from giantsteps.reports.figures.sweep_plot import cells, name_coordinate


@pytest.mark.parametrize("across", [*permutations((1.0, 2.0, 4.0)), *permutations((0.0, 1.0, 5.0))])
@pytest.mark.parametrize("up", [(1.0, 3.0), (3.0, 1.0)])
def test_each_number_is_drawn_around_its_own_point(across: tuple[float, ...], up: tuple[float, ...]) -> None:
    table = np.array([[10.0 * y + x for x in across] for y in up])
    mesh = cells(Figure().subplots(), across, up, table)
    corners, drawn = mesh.get_coordinates(), mesh.get_array()
    for x in across:
        for y in up:
            (inside,) = [
                (i, j)
                for i in range(len(up))
                for j in range(len(across))
                if corners[i, j, 0] < x < corners[i, j + 1, 0] and corners[i, j, 1] < y < corners[i + 1, j, 1]
            ]
            assert drawn[inside] == 10.0 * y + x


@pytest.mark.parametrize("which", ["x", "y"])
@pytest.mark.parametrize(
    ("values", "named"),
    [
        ((0.3, 0.9, 2.7, 5.0 * 1.62), ["0.5", "1", "2", "5"]),
        ((10.0, 20.0, 40.0, 80.0), ["10", "20", "50"]),
        ((80.0, 40.0, 20.0, 10.0), ["10", "20", "50"]),
    ],
)
def test_a_short_logarithmic_axis_names_few_numbers(which: str, values: tuple[float, ...], named: list[str]) -> None:
    axes = Figure().subplots()
    name_coordinate(axes, which, Axis("alpha", values))
    (axes.set_xlim if which == "x" else axes.set_ylim)(min(values), max(values))
    along, other = (axes.xaxis, axes.yaxis) if which == "x" else (axes.yaxis, axes.xaxis)
    inside = [t for t in along.get_major_locator()() if min(values) <= t <= max(values)]
    assert [along.get_major_formatter()(t) for t in inside] == named
    assert (along.get_scale(), other.get_scale(), along.get_label_text()) == ("log", "linear", "alpha")
    assert along.get_minor_formatter()(values[0] * 1.5) == ""


def test_over_less_than_a_factor_of_five_or_more_than_thirty_matplotlib_names_its_own() -> None:
    for values in ((1.0, 2.0, 4.0), (1.0, 6.0, 36.0)):
        axes, plain = Figure().subplots(2)
        plain.set_xscale("log")
        name_coordinate(axes, "x", Axis("alpha", values))
        assert type(axes.xaxis.get_minor_formatter()) is type(plain.xaxis.get_minor_formatter())
