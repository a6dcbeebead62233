"""One group in scalars is the general saddle point, digit for digit where the problem allows."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bulk.equivalent import IsotropicUniform
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.equations import LinearPart, NonlinearPart, linear_part, nonlinear_part, residual
from giantsteps.numerics.saddle_point.level import extra_reach, state_of
from giantsteps.numerics.saddle_point.one_group import point
from giantsteps.numerics.saddle_point.one_group.point import OneGroupState, Problem, one_group_residual, solve_one_group
from giantsteps.numerics.saddle_point.profile import Profile, profile
from giantsteps.numerics.saddle_point.solve import solve

CASES = [
    ("tanh", "sin", {"spike": 1.0, "bulk": 1.0, "alignment": 0.8}, 1.5, 1.0, 0.1, 0.0),
    ("relu", "sign", {"spike": 2.0, "bulk": 0.7, "alignment": 0.999}, 0.6, 2.0, 1e-3, 0.3),
    ("sign", "tanh", {"spike": 0.0, "bulk": 1.3, "alignment": -0.4}, 4.0, 0.5, 1e-6, 0.1),
    ("erf", "relu", {"spike": 0.3, "bulk": 1.0, "alignment": 1.0}, 1.0, 1.0, 1e-8, 0.0),
    ("z", "sin", {"spike": 1.0, "bulk": 1.0, "alignment": 0.5}, 1.2, 0.7, 10.0, 0.0),
    ("he(2, z)", "cos(z)", {"spike": 1.5, "bulk": 1.0, "alignment": 0.7}, 2.0, 1.0, 0.01, 0.0),
]


def _problem(student: str, target: str, values: dict[str, float], ridge: float) -> tuple[Profile, Model]:
    model = Model(activation(student), activation(target), alpha=1.0, beta=1.0, ridge=ridge, **values)
    return profile(model, 1, 0, extra_reach(ridge)), model


def _general(table: Profile, problem: Problem) -> tuple[NonlinearPart, LinearPart]:
    solved = nonlinear_part(table, problem.equivalent, problem.ratio, None, problem.unit)
    return solved, linear_part(table, solved, problem.ratio, problem.noise, problem.unit)


@pytest.mark.parametrize(("student", "target", "values", "alpha", "beta", "ridge", "noise"), CASES)
def test_scalars_are_the_general_solution(
    student: str, target: str, values: dict[str, float], alpha: float, beta: float, ridge: float, noise: float
) -> None:
    table, model = _problem(student, target, values, ridge)
    problem = Problem(IsotropicUniform(ridge, beta, model.bulk), alpha / beta, noise, 1.0)
    found = solve_one_group(table.one_group, problem)
    solved, linear = _general(table, problem)
    assert found.converged
    # Both end at rounding; a fold at distance sqrt(ridge) magnifies that of (T, tau), hence of all else.
    close = {"rel": 1e-13 + 1e-15 / math.sqrt(ridge), "abs": 1e-13}
    assert found.values == pytest.approx(solved.values, **close)
    assert found.m == pytest.approx(linear.m[0], **close)
    assert [found.zeta, found.psi] == pytest.approx(linear.overlaps, **close)
    assert found.q == pytest.approx(linear.q, **close)
    assert found.test_error == pytest.approx(linear.test_error, **close)
    assert found.training_error == pytest.approx(linear.training_error, **close)


@pytest.mark.parametrize(("student", "target", "values", "alpha", "beta", "ridge", "noise"), CASES)
def test_both_residuals_see_the_same(
    student: str, target: str, values: dict[str, float], alpha: float, beta: float, ridge: float, noise: float
) -> None:
    table, model = _problem(student, target, values, ridge)
    equivalent = IsotropicUniform(ridge, beta, model.bulk)
    problem = Problem(equivalent, alpha / beta, noise, 1.0)
    found = solve_one_group(table.one_group, problem)
    assert one_group_residual(table.one_group, problem, found) <= 1e-12
    for name in ("m", "zeta", "psi", "zeta_force", "psi_force"):
        # Away from the solution the two residuals agree to the rounding of sums.
        moved = OneGroupState(
            **{key: getattr(found, key) for key in found.__slots__} | {name: getattr(found, name) + 0.01}
        )
        general = residual(table, equivalent, alpha / beta, noise, state_of(moved), 1.0)
        own = one_group_residual(table.one_group, problem, moved)
        assert own == pytest.approx(general, rel=1e-9, abs=1e-12), name
        # Linear features have no even part, so that their mean does not enter.
        assert own > 1e-5 or (name == "m" and student in ("z", "sign")), name


@pytest.mark.parametrize("name", ["values", "conjugates", "q", "hats"])
def test_the_residual_sees_every_pair(name: str) -> None:
    table, model = _problem("tanh", "sin", CASES[0][2], 0.1)
    problem = Problem(IsotropicUniform(0.1, 1.0, model.bulk), 1.5, 0.0, 1.0)
    found = solve_one_group(table.one_group, problem)
    for entry in range(2):
        pair = list(getattr(found, name))
        pair[entry] *= 1.0 + 1e-6
        moved = OneGroupState(**{key: getattr(found, key) for key in found.__slots__} | {name: tuple(pair)})
        assert one_group_residual(table.one_group, problem, moved) > 1e-10


def test_the_scale_without_ridge_below_the_threshold() -> None:
    # ridge = 0, fewer samples than neurons: V ridge is solved for, with 0 + V in place of 1 + V.
    table, model = _problem("relu", "sin", {"spike": 0.3, "bulk": 1.0, "alignment": 0.8}, 1.0)
    problem = Problem(IsotropicUniform(1.0, 1.0, model.bulk), 0.5, 0.1, 0.0)
    found = solve_one_group(table.one_group, problem)
    solved, linear = _general(table, problem)
    assert found.values == pytest.approx(solved.values, rel=1e-12)
    assert found.test_error == pytest.approx(linear.test_error, rel=1e-12)
    assert found.training_error == 0.0


def test_any_start_leads_to_the_same_point() -> None:
    table, model = _problem("tanh", "sign", {"spike": 2.5, "bulk": 1.0, "alignment": 0.8}, 1e-3)
    problem = Problem(IsotropicUniform(1e-3, 1.0, model.bulk), 1.5, 0.0, 1.0)
    expected = solve_one_group(table.one_group, problem).values
    for start in ((1e-6, 1e-6), (1e6, 1e-6), (1e-6, 1e6), (1e9, 1e9)):
        found = solve_one_group(table.one_group, problem, start)
        assert found.converged
        assert found.values == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("beta", "excess", "bulk"), [(2.0, 0.001, 2.0), (2.0, 0.01, 1.0), (5.0, 0.01, 1.0)])
def test_a_little_beyond_interpolation_the_solution_is_the_one_of_positive_overlap(
    beta: float, excess: float, bulk: float
) -> None:
    # Without a ridge, steps from below the solution lead to T < 0 where tau > 0: on to what solves the equations and is
    # no overlap, or to roots of negative numbers.
    tanh, sin = activation("tanh"), activation("sin")
    model = Model(tanh, sin, alpha=beta * (1.0 + excess), beta=beta, ridge=0.0, spike=1.0, bulk=bulk, alignment=0.8)
    found, near = solve(model), solve(replace(model, ridge=1e-12))
    assert found.converged
    # The ridge moves it by its share of excess^2, times some tens.
    assert found.test_error == pytest.approx(near.test_error, rel=1e-10 / excess**2)
    table, ratio = profile(model, 1, 0, extra_reach(0.0)), model.alpha / beta
    problem = Problem(IsotropicUniform(0.0, beta, bulk), ratio, 0.0, 1.0)
    scalars, (general, linear) = solve_one_group(table.one_group, problem), _general(table, problem)
    # A fold at distance `excess` magnifies rounding.
    assert general.values.min() > 0.0
    assert scalars.values == pytest.approx(general.values, rel=1e-9)
    assert scalars.test_error == pytest.approx(linear.test_error, rel=1e-9)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_a_rounding_is_relative_to_conjugates_of_any_size(size: float) -> None:
    # Rows of C by (T, tau), then of D, at one node of weight one.
    table: Any = SimpleNamespace(roughness=np.array([[1.0], [2.0], [3.0], [4.0]]))
    problem: Any = SimpleNamespace(ratio=0.5)
    found = point._roughness(table, problem, (2.0 * size, 5.0 * size), np.array([1.0]), [size, 4.0 * size])
    assert found == pytest.approx(0.5 * max(2.0 + 10.0, (6.0 + 20.0) / 4.0), rel=1e-15)
    only_second = point._roughness(table, problem, (2.0 * size, 5.0 * size), np.array([1.0]), [0.0, 4.0 * size])
    assert only_second == pytest.approx(0.5 * 26.0 / 4.0, rel=1e-15)
