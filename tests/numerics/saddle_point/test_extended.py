"""The ridge solver beside one of its own kind in extended precision: within the error estimate, or said not to be."""

from __future__ import annotations

import math
from dataclasses import asdict, replace

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.saddle_point.any_loss.convex import solve as solve_any
from giantsteps.numerics.saddle_point.equations import residual
from giantsteps.numerics.saddle_point.level import solve_on
from giantsteps.numerics.saddle_point.one_group.batch import solve_batch
from giantsteps.numerics.saddle_point.profile import profile
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.verify.second_route.saddle_point.plain import ERF, SIN, solve_one
from tests.references import extended as reference_extended
from tests.references.extended import FUNCTIONS, Problem

pytestmark = pytest.mark.skipif(
    float(np.finfo(np.longdouble).eps) > 1e-18, reason="this machine's long double is no more precise than a double"
)
STUDENTS = tuple(name for name in FUNCTIONS if name != "z")
TARGETS = tuple(FUNCTIONS)
_QUICK, _MANY = 6, 3000


def drawn(index: int) -> Problem:
    """A model anywhere: ridge 1e-12 to 1e6, alpha and beta 1e-3 to 1e3, r to 50, c 1e-4 to 1e3."""
    rng = np.random.default_rng([25, index])
    return Problem(
        student=str(rng.choice(STUDENTS)),
        target=str(rng.choice(TARGETS)),
        alpha=10.0 ** rng.uniform(-3.0, 3.0),
        beta=10.0 ** rng.uniform(-3.0, 3.0),
        ridge=10.0 ** rng.uniform(-12.0, 6.0),
        spike=float(rng.choice([rng.uniform(0.0, 50.0), 10.0 ** rng.uniform(-2.0, 1.0)])),
        bulk=10.0 ** rng.uniform(-4.0, 3.0),
        alignment=float(rng.choice([rng.uniform(-1.0, 1.0), rng.uniform(-1.0, 1.0), 0.0, 1.0])),
        noise=float(rng.choice([0.0, 0.1])),
    )


def model_of(problem: Problem) -> Model:
    values = asdict(problem)
    return Model(activation(values.pop("student")), activation(values.pop("target")), **values)


Found = list[tuple[float, float, bool, str]]


def _three_ways(problem: Problem) -> Found:
    """Test error, estimate, whether it converged and the status: of one group, of two equal ones, of a batch."""
    model = model_of(problem)
    halves = model.changed(readout=(ReadoutGroup(fraction=0.5), ReadoutGroup(fraction=0.5)))
    batch = solve_batch(model, alpha=[model.alpha], beta=model.beta, ridge=model.ridge, noise=model.noise)
    found = [(one.test_error, one.error_estimate, one.converged, one.status) for one in (solve(model), solve(halves))]
    numbers = float(batch.test_error[0]), float(batch.error_estimate[0])
    return [*found, (*numbers, bool(batch.converged[0]), str(batch.status[0]))]


def _compared(index: int) -> int | None:
    """How many of three ways to solve converged, each within its estimate; None where the reference did not."""
    problem = drawn(index)
    found = _three_ways(problem)
    if not any(converged for *_, converged, _ in found):
        return 0
    try:
        exact = reference_extended.solve(problem)
    except ArithmeticError:
        return None
    for value, estimate, converged, _ in found:
        assert abs(value - exact) <= estimate or not converged, (index, problem, value, exact, estimate)
    return sum(converged for *_, converged, _ in found)


def test_two_references_of_different_make_agree() -> None:
    point = {"alpha": 1.5, "beta": 0.8, "ridge": 0.1, "spike": 1.2, "bulk": 0.9, "alignment": 0.7, "noise": 0.1}
    exact = reference_extended.solve(Problem("sin", "sin", **point))
    # The damped iteration in double precision stops at 1e-13.
    assert solve_one(SIN, SIN, **point)["test_error"] == pytest.approx(exact, rel=1e-11)
    with pytest.raises(AssertionError):
        assert solve_one(ERF, SIN, **point)["test_error"] == pytest.approx(exact, rel=1e-11)


@pytest.mark.parametrize("index", range(_QUICK))
def test_solutions_are_within_their_estimates_of_extended_precision(index: int) -> None:
    _compared(index)


@pytest.mark.thorough
def test_three_thousand_solutions_are_within_their_estimates_of_extended_precision() -> None:
    counts = [_compared(index) for index in range(_MANY)]
    compared = sum(count or 0 for count in counts)
    print(f"{counts.count(0)} of {_MANY} models did not converge in any way, {compared} solutions were compared")
    assert compared >= 0.85 * 3 * _MANY
    # The reference takes features at small bulks to 1e-19 of their size, where those of hardtanh are smaller still.
    assert counts.count(None) <= 0.02 * _MANY


# mu0 = exp(-c/2) sin(r kappa), where sin is of size 1: in the limit a readout that is e^(c/2) long fits y0 with it.
@pytest.mark.parametrize("index", [5, 43, 75, 82])
def test_four_groups_converge_where_newton_stalls_at_rounding(index: int) -> None:
    # Steps for tau that no longer shrink: without the last of them the residual stays above the goal of 1e-12.
    groups = tuple(ReadoutGroup(letter, 0.25) for letter in (1.0, -0.5, 0.3, 2.0))
    solution = solve(model_of(drawn(index)).changed(readout=groups))
    assert solution.converged
    assert solution.residual < 1e-12


def test_the_rounding_of_large_means_hides_no_wrong_overlap() -> None:
    # The means of this model are some 3e4 and cancel in yhat: the overlap's equation is left at 4e-12.
    model = model_of(drawn(43)).changed(readout=tuple(ReadoutGroup(a, 0.25) for a in (1.0, -0.5, 0.3, 2.0)))
    level = solve_on(profile(model, 2, 2), model)
    *given, state, unit = level.left.args  # type: ignore[attr-defined]
    for k in range(4):
        wrong = state.overlaps.copy()
        wrong[k] += 1e-9
        assert level.left() < 1e-12 < 1e-11 < residual(*given, replace(state, overlaps=wrong), unit)


@pytest.mark.parametrize("bulk", [70.0, 170.58374236169337, 350.0])
@pytest.mark.parametrize("target", ["z", "sign", "z**3-3*z"])
def test_a_mean_below_rounding_is_not_taken_for_zero(bulk: float, target: str) -> None:
    problem = Problem("sin", target, alpha=2.0, beta=0.5, ridge=0.1, spike=0.3, bulk=bulk, alignment=0.8, noise=0.0)
    exact = reference_extended.solve(problem)
    ways = _three_ways(problem)
    for value, estimate, converged, status in ways:
        assert abs(value - exact) > 1e-3
        assert estimate == math.inf
        assert not converged
        assert "lost in rounding" in status
    huber = solve_any(model_of(problem).changed(loss="huber:0.5"))
    assert not huber.converged
    assert "lost in rounding" in huber.status
    # At a finite width a long readout has its cost, and without a spike or without y0 there is nothing to be lost.
    assert solve_any(model_of(problem).changed(loss="huber:0.5"), width=300).converged
    assert all(converged for *_, converged, _ in _three_ways(replace(problem, spike=0.0)))
    for other in (replace(problem, target="z**2-1"), replace(problem, alignment=0.0)):
        exact = reference_extended.solve(other)
        for value, estimate, converged, _ in _three_ways(other):
            assert converged
            assert abs(value - exact) <= estimate


def test_a_small_mean_enters_the_estimate_with_its_rounding() -> None:
    """A mean a million times smaller than the activation is known to a millionth of the digits."""
    problem = Problem("sin", "z", alpha=2.0, beta=0.5, ridge=0.1, spike=0.3, bulk=28.0, alignment=0.8, noise=0.0)
    exact = reference_extended.solve(problem)
    for value, estimate, converged, _ in _three_ways(problem):
        assert converged
        assert abs(value - exact) <= estimate
        assert 1e-10 < estimate < 1e-6
    # The target is fitted by sign's mean to 1e-4 of its size: the square of what is left knows that much less.
    problem = drawn(134)
    exact = reference_extended.solve(problem)
    assert exact < 1e-8
    for value, estimate, converged, _ in _three_ways(problem):
        assert converged
        assert abs(value - exact) <= estimate < 1e-15


def test_a_force_that_is_a_small_difference_of_large_terms_keeps_its_digits() -> None:
    # zeta_force = 1e-5 of a sum of terms of order 1: q2 came out with an error of 1e-10, of which no estimate knew.
    problem = Problem(
        student="Max(z-1/2,0)", target="relu", alpha=849.7935047695996, beta=35.46787523018166,
        ridge=2.9933994661311554e-06, spike=32.07567947528017, bulk=0.3362177607390392,
        alignment=-0.012856880113207625, noise=0.1,
    )  # fmt: skip
    exact, found = reference_extended.solve(problem), solve(model_of(problem))
    assert abs(found.test_error - exact) < 1e-12
    assert abs(found.test_error - exact) <= found.error_estimate < 1e-10
    assert math.isfinite(exact)
