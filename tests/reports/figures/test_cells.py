"""Heat maps: each number of a table stands around its own point, in whatever order the points are given."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from matplotlib.figure import Figure

from onestep.reports.figures.sweep_plot import cells


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
