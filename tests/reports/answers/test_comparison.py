"""Theory beside simulation: what is nothing but rounding is no evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from giantsteps import Model, compare
from giantsteps.numerics.experiments.ridge import Prediction
from giantsteps.numerics.experiments.simulate import predict
from giantsteps.reports.answers import comparison


def test_rounding_refutes_no_theory(monkeypatch: pytest.MonkeyPatch) -> None:
    # Constant features: q2 is 0, and at so small a ridge a sample's is rounding, 1e-15 or more.
    model = Model("1/6", "Abs(z)", alpha=2.0, beta=0.3, ridge=1e-8, spike=0.0, bulk=1.0, alignment=0.0)
    kept = compare(model, dimensions=(10, 15, 20), seeds=6)
    verdicts = {c.observable: c for c in kept.report.comparisons}
    assert verdicts["q2"].verdict == "INCONCLUSIVE"
    assert "do not vary between seeds" in verdicts["q2"].sentence
    sizes = [abs(value) for run in kept.simulations for value in run.values("q2")]
    assert 0.0 < max(sizes) < 1e-12
    # What is no rounding is compared as it was: not so with a threshold beneath it.
    monkeypatch.setattr(comparison, "_ROUNDING", 0.0)
    as_it_is = {c.observable: c for c in compare(model, dimensions=(10, 15, 20), seeds=6).report.comparisons}
    assert as_it_is["q2"].fit is not None
    assert {name: c for name, c in verdicts.items() if name != "q2"} == {
        name: c for name, c in as_it_is.items() if name != "q2"
    }


def test_small_units_are_no_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    """A q2 that is three times as large is refuted in whatever unit the features are, that of q2 being its square."""

    def wrong(*arguments: Any, **options: Any) -> Prediction:
        found = predict(*arguments, **options)
        return replace(found, values=found.values | {"q2": 3.0 * found.values["q2"]})

    monkeypatch.setattr(comparison, "predict", wrong)
    for unit in (1.0, 1e7):
        model = Model(
            f"{unit!r}*tanh(z)", "z", alpha=2.0, beta=0.5, ridge=0.1 * unit**2, spike=1.0, bulk=1.0, alignment=0.5
        )
        report = compare(model, dimensions=(20, 40, 80), seeds=8).report
        assert {c.observable for c in report.comparisons if c.verdict == "REFUTED"} == {"q2"}
