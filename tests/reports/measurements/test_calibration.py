"""The stored calibration: drawn models beside their simulations (`benchmarks/networks/calibration.py` makes them)."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from giantsteps.reports.measurements.calibration import deviates
from giantsteps.reports.measurements.experiments import read
from giantsteps.reports.measurements.models import DATA, ITEMS, LANDMARK_RUN, MODELS, RUNS, Drawn, measured, models_of
from giantsteps.reports.measurements.normal_deviates import extreme, look_normal, normality, spread, squares
from giantsteps.reports.measurements.theory import computed, judge, landmark, stored_theory
from giantsteps.verify.checks.finite_size import REFUTED, Report

# Cheap to judge; the page judges all of them.
QUICK = ("ridge", "noise", "plain", "gaussian-rows", "huber")


@cache
def judged() -> tuple[tuple[str, Drawn, Report], ...]:
    return tuple(
        (item.key, drawn, judge(drawn, runs)) for item, drawn, runs in measured(read(DATA)) if item.key in QUICK
    )


def test_every_model_is_measured() -> None:
    data = read(DATA)
    found: dict[str, int] = {}
    for item, _, runs in measured(data):
        assert {int(d): len(samples["test_error"]) for d, samples in runs.items()} == dict(item.runs)
        found[item.key] = found.get(item.key, 0) + 1
    assert found == {item.key: MODELS for item in ITEMS}
    assert len(data["landmark"]) == 1


def test_no_model_is_refuted() -> None:
    # 30 models, each refuted with probability 1e-3 at most where the theory is right: 3 % for any of them, seeds fixed.
    for key, drawn, report in judged():
        assert report.verdict != REFUTED, f"{key}, {drawn.name}: {report.sentence}"


def test_the_deviates_look_standard_normal() -> None:
    found = deviates([report.comparisons for _, _, report in judged()])["test_error"]
    # One deviate per model, independent: three tests at the level 1e-3 each.
    assert normality(found) > 1e-3
    assert spread(found) > 1e-3
    assert extreme(found) > 1e-3


def test_a_wrong_theory_does_not() -> None:
    """The tests above can fail: the same samples beside the theory of twice the ridge."""
    wrong = []
    for item, drawn, runs in measured(read(DATA)):
        if item.key == "ridge":
            other = replace(drawn, subject=replace(drawn.subject, ridge=2.0 * drawn.subject.ridge))
            wrong.append(judge(other, runs))
    assert sum(report.verdict == REFUTED for report in wrong) >= 3


def assert_stored(drawn: Drawn, dimension: int) -> None:
    known, fresh = stored_theory()[drawn.name, dimension], computed(drawn, dimension)
    assert known.converged == fresh.converged
    for name, value in fresh.values.items():
        # DIGITS digits are stored; solvers stop at a residual of 1e-9 and a learned bias at 1e-6 or so.
        assert abs(known.values[name] - value) <= 1e-5 * fresh.scales[name], name
        assert abs(known.scales[name] - fresh.scales[name]) <= 1e-5 * fresh.scales[name], name


def test_the_stored_theory_is_that_of_the_models() -> None:
    slow = [drawn for item in ITEMS if item.slow for drawn in models_of(item.key)]
    assert set(stored_theory()) == {(drawn.name, d) for drawn in slow for d, _ in RUNS}
    assert all(found.converged for found in stored_theory().values())
    assert_stored(models_of("huber")[0], 600)
    assert_stored(models_of("hinge")[1], 150)


def test_the_spread_is_tested_on_both_sides() -> None:
    rng = np.random.default_rng(6)
    z = rng.standard_normal(80)
    assert spread(z) > 1e-3
    # Tabulated quantiles of the chi-square law on 10 degrees of freedom: 3.247 at 2.5 %, 18.307 at 95 %.
    for total, expected in ((3.247, 0.05), (18.307, 0.1)):
        deviates_of_it = np.full(10, np.sqrt(total / 10.0))
        assert squares(deviates_of_it) == pytest.approx(total)
        assert spread(deviates_of_it) == pytest.approx(expected, rel=1e-3)  # four digits are tabulated
    # Error bars wrong by a third, either way: a spread that Kolmogorov and Smirnov's test lets pass.
    for factor in (1.35, 0.7):
        assert normality(factor * z) > 1e-2
        assert spread(factor * z) < 1e-2
        assert not look_normal(factor * z)


def test_logistic_regression_at_dimension_1000() -> None:
    found = landmark(read(DATA))
    assert LANDMARK_RUN[0] == 1000
    assert {"m", "zeta", "psi", "q2", "test_error", "training_error", "classification_error"} <= set(found)
    for name, (theory, mean, error) in found.items():
        # Student's t with 11 degrees of freedom exceeds 5 with probability 4e-4; ten observables.
        assert abs(mean - theory) < 5.0 * error, name
