"""Plain equivalence, Hermite tensors, one giant step, intermediate rates: what is checked beside their proofs."""

from __future__ import annotations

import pytest

from giantsteps.derivations.gradient_step import symbols as rates
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.verify.protocol.claim import PROFILES
from giantsteps.verify.second_route.gradient_step import leap
from giantsteps.verify.second_route.saddle_point import plain_equivalence as equivalence_numbers
from giantsteps.verify.second_route.saddle_point.plain_equivalence import plain_equivalence
from giantsteps.verify.solver.models import solved


@pytest.mark.parametrize("name", equivalence_numbers.STEPPED)
def test_after_a_giant_step_the_two_equivalences_differ_by_more_than_simulations_err(name: str) -> None:
    model = equivalence_numbers.STEPPED[name]
    plain, conditional = plain_equivalence(model), solved(model).test_error
    floor = plain[s.h2_star.name] - plain[s.h1_star.name] ** 2
    # Simulations of the claim err by two per cent.
    assert conditional < 0.8 * plain[s.gaussian_error.name]
    assert plain[s.gaussian_error.name] > floor
    assert conditional < floor


def test_each_regime_of_a_problem_has_a_series_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """With its own numbers of samples, and its shortfall by its name and among its values."""
    asked = []

    def counted(problem: str, tau: object, d: int, n: int, k: int) -> tuple[float, float, float, float]:
        asked.append((problem, d, n))
        return 3.0, 4.0, 2.0, 1.0

    monkeypatch.setattr(leap, "one_step", counted)
    problem = next(iter(leap.PROBLEMS))
    degree = leap.PROBLEMS[problem].leap
    regimes = tuple(leap.Regime(problem, delta, 2.0, (1.0, 1.0), (16, 64), (1, 1)) for delta in (0.0, 0.5))
    series = leap.scaled(regimes, rates.signal_rate, PROFILES["quick"])
    assert len(series) == 2
    for (name, one), delta in zip(series.items(), (0.0, 0.5), strict=True):
        assert name.startswith(problem)
        assert name.endswith(f"{delta:g}")
        assert one.values == {rates.leap.name: degree, rates.shortfall.name: delta}
        assert {value for draws in one.samples for value in draws} == {5.0}
        for d in (16, 64):
            assert (problem, d, round(2.0 * d ** (degree - delta))) in asked
