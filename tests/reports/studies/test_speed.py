"""The page of the speed measurements is computed from the stored run, verdicts included."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from benchmarks.speed import baseline
from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.measurements import drawing
from giantsteps.reports.studies.speed import DATA, bars, page, study, text_table


def _stored() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
    return found


def test_the_stored_run_makes_a_page() -> None:
    found = study()
    assert found is not None
    assert found.command == "make bench"
    assert [len(table.rows) > 3 for table in found.tables] == [True] * 3
    assert all("<svg" in figure.svg for figure in found.figures)
    # Neither clock nor host: what was measured on is cores and versions.
    assert set(_stored()["measured on"]) == {"cores", "python", "numpy"}


def test_ratios_are_those_of_one_run() -> None:
    data = _stored()
    by_name = {bar.what: bar for bar in bars(data)}
    one = by_name["one point, against the baseline"]
    assert one.value == data["baseline"]["seconds"] / data["single"]["seconds"]
    many = by_name["a point of a batch, against the baseline"]
    assert many.value == data["baseline"]["seconds"] / data["batch"]["seconds_per_point"]


@pytest.mark.parametrize(
    ("part", "name", "factor", "what"),
    [
        ("single", "seconds", 1e3, "one point, against the baseline"),
        ("batch", "seconds_per_point", 1e3, "a point of a batch, analytic"),
        ("batch", "residual", 1e9, "largest residual"),
        ("four groups", "seconds", 1e3, "one point with four readout groups"),
    ],
)
def test_a_missed_promise_is_said(
    part: str, name: str, factor: float, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing, "svg_of", lambda *_: "")  # words and tables alone are looked at
    data = copy.deepcopy(_stored())
    data[part][name] *= factor
    assert what in {bar.what for bar in bars(data) if not bar.met}
    assert what in page(data).text[-1]
    assert "missed" in text_table(data)


@pytest.mark.parametrize(("name", "factor"), [("seconds", 1e3), ("parameter_error", 1e6), ("converged", 0)])
def test_a_missed_promise_of_a_convex_loss_is_said(name: str, factor: float) -> None:
    data = copy.deepcopy(_stored())
    before = {bar.what for bar in bars(data) if not bar.met}
    data["convex"]["logistic"][name] *= factor
    (missed,) = {bar.what for bar in bars(data) if not bar.met} - before
    assert missed.startswith("a convex loss")


def test_the_baseline_solves_the_same_equations() -> None:
    model = Model(
        activation("tanh"), activation("sin"), alpha=1.5, beta=1.0, ridge=0.1, alignment=0.8, spike=1.0, bulk=1.0
    )
    found = baseline.solve(model, baseline.bulk_eigenvalues(1.0, 1.0, dimension=300))
    assert found.converged
    # Eigenvalues of one sample at d = 300: deviations of order 1/d; 19 nodes and the stop are under 1e-3 here.
    assert found.test_error == pytest.approx(solve(model).test_error, rel=0.01)
    assert len(vars(found.unknowns)) == 13
