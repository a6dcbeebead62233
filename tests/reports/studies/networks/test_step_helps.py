"""Where one step helps: signs are those of the test errors of `solve`, and the page follows them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.studies.networks.step_helps import ALPHAS, RIDGES, Panel, middles, models, page, panel_of

PANELS = [panel_of(alpha0, 24, 15) for alpha0 in (0.25, 0.5)]


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: f"alpha0 {panel.alpha0:g}")
def test_signs_are_those_of_solutions(panel: Panel) -> None:
    alphas, ridges = middles(ALPHAS, 24), middles(RIDGES, 15)
    assert ALPHAS[0] < alphas[0] < alphas[-1] < ALPHAS[1]
    assert 0.05 < panel.share(1) < 0.95
    for row, column in np.random.default_rng(3).integers((15, 24), size=(6, 2)):
        after, before = (solve(one.changed(alpha=alphas[column], ridge=ridges[row])) for one in models(panel.alpha0))
        assert panel.signs[row, column] == np.sign(after.test_error - before.test_error)


def test_the_page_follows_from_the_signs() -> None:
    rows = page(PANELS).tables[0].rows
    assert all(abs(sum(float(cell.removesuffix(" %")) for cell in row[1:]) - 100.0) < 0.02 for row in rows)
    turned = replace(PANELS[0], signs=-PANELS[0].signs)
    assert page([turned]).tables[0].rows[0][1:3] == rows[0][2:0:-1]
    assert "does harm" in page([replace(PANELS[0], signs=np.minimum(PANELS[0].signs, 0))]).text[1]
