"""The certified plane of where one step helps: stored cells are proved again, and wrong ones are refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from giantsteps.numerics.certificates.ranges.plane import signs
from giantsteps.numerics.saddle_point.one_group.batch import solve_batch
from giantsteps.reports.studies.networks import step_helps
from giantsteps.reports.studies.networks.step_helps import (
    BATCHES,
    COLUMNS,
    ROWS,
    Panel,
    grid,
    models,
    panels_of,
    row_of,
    row_text,
    stored,
    table,
    text,
)

ENTRIES = stored()
PANELS = panels_of(ENTRIES)


def refused(panel: Panel, places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The certified cells among these whose sign is not proved again, each in a block of its own."""
    wrong = []
    for row, column in places:
        sign = int(panel.signs[row, column])
        cell = grid().cells(slice(row, row + 1), slice(column, column + 1))
        if sign != 0 and int(signs(models(panel.alpha0), cell)[0]) != sign:
            wrong.append((row, column))
    return wrong


def drawn(panel: Panel, sign: int, seed: int) -> tuple[int, int]:
    """A random cell of a sign."""
    cells = np.argwhere(panel.signs == sign)
    row, column = cells[np.random.default_rng(seed).integers(len(cells))]
    return int(row), int(column)


def test_all_rows_are_stored_and_nearly_all_of_the_area_is_certified() -> None:
    assert [panel.alpha0 for panel in PANELS] == list(BATCHES)
    assert {panel.signs.shape for panel in PANELS} == {(ROWS, COLUMNS)} == {(250, 400)}
    # A curve across the plane meets at most ROWS + COLUMNS cells of it, 0.65 per cent, and their neighbours.
    assert all(panel.certified > 0.98 for panel in PANELS)


CELLS = [(k, sign) for k in range(len(PANELS)) for sign in (-1, 1)]


@pytest.mark.parametrize(
    ("which", "sign"),
    [
        # One of either sign, and the others.
        pytest.param(*cell, marks=() if cell in ((0, 1), (1, -1)) else (pytest.mark.thorough,))
        for cell in CELLS
    ],
)
def test_a_random_cell_is_proved_again(which: int, sign: int) -> None:
    # Seeded by its case alone; any cell has to do.
    panel = PANELS[which]
    assert refused(panel, [drawn(panel, sign, which)]) == []


@pytest.mark.thorough
def test_certified_cells_beside_uncertain_ones_are_proved_again() -> None:
    rng = np.random.default_rng(5)
    for panel in PANELS:
        edge = np.argwhere((panel.signs[:, :-1] != 0) & (panel.signs[:, 1:] == 0))
        assert refused(panel, [(int(row), int(column)) for row, column in rng.choice(edge, 4, replace=False)]) == []


def test_a_wrong_cell_is_refused() -> None:
    panel = PANELS[1]
    place = drawn(panel, 1, 7)
    planted = panel.signs.copy()
    planted[place] = -planted[place]
    assert refused(replace(panel, signs=planted), [place]) == [place]


def test_no_cell_that_the_line_crosses_is_certified() -> None:
    panel = PANELS[0]
    edges = np.meshgrid(grid().alphas[::5], grid().ridges[::5])
    after, before = (solve_batch(one, alpha=edges[0], ridge=edges[1]).test_error for one in models(panel.alpha0))
    helps = after < before
    crossed = (helps[1:, 1:] != helps[:-1, :-1]) | (helps[1:, :-1] != helps[:-1, 1:])
    assert crossed.sum() > 50
    # Corners of five cells by five that differ: one of these cells is uncertain, at the least.
    blocks = panel.signs.reshape(ROWS // 5, 5, COLUMNS // 5, 5)
    assert np.all((blocks == 0).any(axis=(1, 3))[crossed])


def test_doubles_agree_with_every_sign_and_notice_wrong_ones() -> None:
    for panel in PANELS:
        assert panel.contradicted(2000, np.random.default_rng(3)) == 0
    turned = replace(PANELS[0], signs=-PANELS[0].signs)
    assert turned.contradicted(200, np.random.default_rng(3)) > 150


def test_a_row_is_what_its_text_says() -> None:
    rng = np.random.default_rng(0)
    row = np.repeat(rng.integers(-1, 2, 40), 10)
    assert row_of(row_text(row)) == row.tolist()
    for wrong in ("400?1+", "399+", "200+200+", "0-400+", "400x"):
        with pytest.raises(ValueError, match="no row of 400 signs"):
            row_of(wrong)


def test_the_page_follows_from_the_rows() -> None:
    said, turned = (" ".join(text(panels)) for panels in (PANELS, [replace(p, signs=-p.signs) for p in PANELS]))
    assert "none contradicts" in said
    assert "contradict the sign" in turned
    rows = table(PANELS).rows
    assert [row[0] for row in rows] == [f"{alpha0:g}" for alpha0 in BATCHES]
    assert all(abs(sum(float(cell.removesuffix(" %")) for cell in row[1:]) - 100.0) < 0.02 for row in rows)
    assert table([replace(PANELS[0], signs=-PANELS[0].signs)]).rows[0][1] == rows[0][2]
    assert "No cell" in text([replace(PANELS[0], signs=np.minimum(PANELS[0].signs, 0))])[1]


def test_missing_rows_are_no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [panel.alpha0 for panel in panels_of(ENTRIES[1:])] == list(BATCHES[1:])
    monkeypatch.setattr(step_helps, "stored", lambda: ENTRIES[1:])
    assert step_helps.study() is None
