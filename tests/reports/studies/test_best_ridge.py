"""The page of the best ridge: its model with two minima, and a text that follows the stored scan."""

from __future__ import annotations

from dataclasses import replace

import pytest

from giantsteps.numerics.bounds.ridge import best_ridge, upper_bound
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.studies.best_ridge import COUNT, TWO_MINIMA, Found, found_at, page, random_model, scan
from giantsteps.reports.text.prose import prose


def test_the_relu_model_has_two_minima() -> None:
    first, second = best_ridge(TWO_MINIMA).minima
    assert first.error > upper_bound(TWO_MINIMA) > second.error
    # The barrier between them is shallow, and near the first one.
    assert solve(TWO_MINIMA.changed(ridge=2.0 * first.at)).test_error > first.error + 3e-5
    for minimum in (first, second):
        for factor in (0.9, 1.1):
            assert solve(TWO_MINIMA.changed(ridge=minimum.at * factor)).test_error > minimum.error


def test_the_scan_is_stored_and_meets_itself_again() -> None:
    found = scan()
    assert len(found) == COUNT
    at = next(index for index, one in enumerate(found) if one.ridge is None)
    # At infinity indeed: the error at a large ridge is above the limit.
    assert solve(random_model(at).changed(ridge=1e3)).test_error > upper_bound(random_model(at))
    for index in (0, at):
        again = found_at(index)
        assert (again.minima, again.ridge is None) == (found[index].minima, found[index].ridge is None)


def test_the_page_follows_the_scan() -> None:
    finite, infinite = Found(1.0, 1, False, True), Found(None, 0, False, True)
    text = " ".join(page([finite] * 3 + [infinite], 4).text)
    assert "1 have the optimum at infinite ridge, 25.0 +- 21.7 %" in text
    assert "0 have more than one minimum" in text
    lost = " ".join(page([replace(finite, converged=False), infinite], 1).text)
    assert "1 did not converge and are left out" in lost
    study = page([finite] * 4, 4)
    assert "No pair" in study.text[-1]
    for paragraph in (*study.text, *(cell for table in study.tables for row in table.rows for cell in row)):
        prose(paragraph)


@pytest.mark.thorough
def test_the_two_minima_survive_a_finer_rule() -> None:
    for minimum in best_ridge(TWO_MINIMA).minima:
        assert solve(TWO_MINIMA.changed(ridge=minimum.at)).test_error == pytest.approx(minimum.error, abs=1e-10)
