"""The saddle point's own Krawczyk test: wrong slopes and boxes without the solution fail; balls of the linear part."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from flint import arb

from giantsteps.numerics.balls.arithmetic import BallError, precision
from giantsteps.numerics.certificates.newton import Box, System, krawczyk
from giantsteps.numerics.certificates.problems import problem_of
from giantsteps.numerics.certificates.saddle_point import _prediction, nonlinear_system, solve_two
from giantsteps.numerics.certificates.setting import setting
from giantsteps.numerics.saddle_point.ridge import solve
from tests.shared.certified_models import worked

Ball = Any


@pytest.fixture(scope="module")
def system() -> System:
    """The nonlinear part of the worked model, for boxes within one per cent of its solution."""
    model = worked()
    solution = solve(model)
    with precision(128):
        problem = problem_of(model)
        place = setting(problem, solution, near((1.0, 1.0), 0.01), 60)
        return nonlinear_system(problem, place.functions(problem), place.rule, place.inverse)


def near(factors: tuple[float, float], width: float) -> Box:
    order = solve(worked()).order_parameters
    values = (float(order.V1[0, 0]) * factors[0], float(order.V2[0]) * factors[1])
    return tuple(arb(value, value * width) for value in values)


def test_the_solution_passes_in_a_wide_and_in_a_narrow_box(system: System) -> None:
    with precision(128):
        wide, narrow = (krawczyk(system, near((1.0, 1.0), width)) for width in (1e-2, 1e-6))
        assert all(a.overlaps(b) for a, b in zip(wide.enclosure, narrow.enclosure, strict=True))
        assert wide.contraction < 0.1


@pytest.mark.parametrize("factors", [(1.005, 1.0), (1.0, 0.995), (1.005, 1.005)])
def test_a_box_without_the_solution_fails(system: System, factors: tuple[float, float]) -> None:
    with precision(128), pytest.raises(BallError, match="Krawczyk test failed"):
        krawczyk(system, near(factors, 1e-3))


@pytest.mark.parametrize(("row", "column"), [(0, 0), (0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize("factor", [-1, 1.01])
def test_a_wrong_jacobian_fails(system: System, row: int, column: int, factor: float) -> None:
    def spoilt(box: Box) -> list[list[Ball]]:
        slopes = [list(line) for line in system.slopes(box)]
        slopes[row][column] = slopes[row][column] * factor
        return slopes

    with precision(128), pytest.raises(BallError, match="Krawczyk test failed"):
        krawczyk(System(system.values, spoilt), near((1.0, 1.0), 1e-4))


def test_a_singular_pair_of_equations_is_refused() -> None:
    with pytest.raises(BallError, match="regular"):
        solve_two(((arb(1), arb(2)), (arb(2), arb(4, 0.001))), (arb(1), arb(1)))


@pytest.mark.parametrize(
    ("slope", "symmetric", "parity", "free"),
    [(0, True, "odd", True), (1, True, "odd", False), (0, False, "odd", False), (0, True, "even", False)],
)
def test_a_mean_is_free_where_symmetry_makes_it_vanish(slope: int, symmetric: bool, parity: str, free: bool) -> None:
    # Constants for functions: mu0 m + a zeta is 2 m + 3 zeta, y0 = 5, and the pull is 1/2.
    problem: Any = SimpleNamespace(
        along=SimpleNamespace(slope=arb(slope)), symmetric=symmetric, student=SimpleNamespace(parity=parity)
    )
    table: Any = SimpleNamespace(mu0=arb(2), along=arb(3), y0=arb(5))
    rule: Any = None
    m, zeta = _prediction(problem, table, rule, arb(1), arb(0.5))
    if free:
        # m = 0, and zeta (1 + 9/2) = 15/2.
        assert m == 0
        assert zeta.overlaps(arb(15) / 11)
        assert zeta.rad() < 1e-14
    else:
        # What a mean can fit it does: m = 5/2, and nothing is left for zeta.
        assert m.overlaps(arb(2.5))
        assert zeta.overlaps(arb(0))
        assert m.rad() < 1e-12
