"""A network's bulk in scalars is the general saddle point, digit for digit where the problem allows."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from mpmath import mp

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bulk.network import NetworkBulk, frame, signal_overlaps
from giantsteps.numerics.bulk.network_law import step_laws
from giantsteps.numerics.bulk.of_model import equivalent_of
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point import equations
from giantsteps.numerics.saddle_point.level import extra_reach
from giantsteps.numerics.saddle_point.one_group import network_point
from giantsteps.numerics.saddle_point.one_group.network_point import network_residual, solve_linear, solve_nonlinear
from giantsteps.numerics.saddle_point.profile import Profile, profile
from giantsteps.numerics.saddle_point.solve import solve

# Student, target, alpha, ridge, eta, noise and whether the rows begin Gaussian: odd and other activations, targets
# that an even part meets and that it does not, stiff and slack fits, and far more samples than features can fit.
CASES = [
    ("tanh", "tanh", 1.5, 0.1, 3.0, 0.0, False),
    ("tanh", "he(3, z)", 0.2, 1e-6, 9.0, 0.1, True),
    ("relu", "sin", 0.6, 1e-7, 14.0, 0.0, False),
    ("relu", "relu", 6.0, 1e-3, 12.0, 0.1, False),
    ("z + z**2", "sin", 1.2, 2.0, 0.3, 0.0, False),
]


@cache
def _problem(case: int) -> tuple[Profile, NetworkBulk, Model]:
    student, target, alpha, ridge, eta, noise, gaussian_rows = CASES[case]
    model = Model.from_gradient_step(
        activation(student), activation(target), alpha=alpha, beta=0.8, ridge=ridge, alpha0=2.0, eta=eta, noise=noise,
        bulk_model="network", gaussian_rows=gaussian_rows,
    )  # fmt: skip
    bulk = equivalent_of(model, ridge)
    assert isinstance(bulk, NetworkBulk)
    return profile(model, 0, 0, extra_reach(ridge)), bulk, model


def _both(case: int) -> tuple[list[equations.NonlinearPart], list[equations.LinearPart]]:
    table, bulk, model = _problem(case)
    ratio = model.alpha / model.beta
    with np.errstate(all="raise", under="ignore"):
        ours = solve_nonlinear(table.one_group, NetworkBulk(bulk.ridge, bulk.beta, bulk.law), ratio)
        theirs = equations.nonlinear_part(table, NetworkBulk(bulk.ridge, bulk.beta, bulk.law), ratio)
        rests = [
            solve_linear(table.one_group, ours, ratio, model.noise, 1.0, rough=False),
            equations.linear_part(table, theirs, ratio, model.noise),
        ]
    return [ours, theirs], rests


@pytest.mark.parametrize("case", range(len(CASES)))
def test_scalars_are_the_general_solution(case: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # No case is one for the other solver.
    monkeypatch.setattr(network_point, "nonlinear_part", lambda *_: pytest.fail("the other solver was asked"))
    (ours, theirs), (found, expected) = _both(case)
    assert ours.converged
    # Both end at rounding; what the rounding of the functions of kappa moves is in their estimates, which agree. The
    # estimates are in roundings, of 5e-15 each.
    known = 5e-15 * expected.rounding
    close = {"rel": 1e-12 + known, "abs": 1e-13 + known}
    assert ours.values == pytest.approx(theirs.values, **close)
    assert ours.conjugates == pytest.approx(theirs.conjugates, **close)
    assert ours.slope == pytest.approx(theirs.slope, **close)
    for name in ("m", "overlaps", "q", "hats", "test_error", "training_error"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), **close)
    # A force may be a small difference of large terms.
    assert found.forces == pytest.approx(expected.forces, rel=1e-9, abs=1e-12 + known)
    # Beside roundings it holds the gap that each has left, which is of their size.
    assert found.rounding == pytest.approx(expected.rounding, rel=0.2)


@pytest.mark.parametrize("case", range(len(CASES)))
def test_both_residuals_see_the_same(case: int) -> None:
    table, bulk, model = _problem(case)
    (solved, _), (linear, _) = _both(case)
    state = equations.State(
        solved.values, solved.conjugates, linear.m, linear.overlaps, linear.forces, linear.q, linear.hats
    )
    ratio = model.alpha / model.beta
    rng = np.random.default_rng(case)
    # One unknown at a time, off by one part in a thousand, which no other may hide.
    for name in ("", "values", "conjugates", "m", "overlaps", "forces", "q", "hats"):
        moved = replace(state, **({name: getattr(state, name) * (1.0 + 1e-3 * rng.random())} if name else {}))
        seen = network_residual(table.one_group, bulk, ratio, model.noise, moved, 1.0)
        # Of a solution both are rounding.
        assert seen == pytest.approx(equations.residual(table, bulk, ratio, model.noise, moved), rel=1e-9, abs=1e-14)


def test_a_rough_answer_is_the_answer_without_its_rounding() -> None:
    table, _, model = _problem(0)
    (solved, _), (whole, _) = _both(0)
    rough = solve_linear(table.one_group, solved, model.alpha / model.beta, model.noise, 1.0, rough=True)
    assert math.isnan(rough.rounding)
    assert rough.test_error == whole.test_error


def test_what_a_point_and_its_functions_lose_counts_in_the_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    # Either is so many roundings of C and D, which the condition makes larger.
    table, _, model = _problem(0)
    (solved, _), _ = _both(0)

    def rounding(rough: float, lost: float) -> float:
        monkeypatch.setattr(network_point, "_roughness", lambda *_: rough)
        point = replace(solved, point=replace(solved.point, lost=lost))
        return solve_linear(table.one_group, point, model.alpha / model.beta, model.noise, 1.0, rough=False).rounding

    plain, far = rounding(0.0, 0.0), rounding(1e6, 0.0)
    assert far > 1e3 * plain
    assert rounding(0.0, 1e6) == far
    assert rounding(1e6, 1e6) == pytest.approx(2.0 * far, rel=1e-2)


def test_a_start_that_leads_nowhere_is_taken_over() -> None:
    table, _, model = _problem(2)
    ratio = model.alpha / model.beta
    (solved, _), _ = _both(2)
    bulk = equivalent_of(model, model.ridge)
    assert isinstance(bulk, NetworkBulk)
    # Below the solution by far: a step leads to something negative, and the other solver begins from above.
    again = solve_nonlinear(table.one_group, bulk, ratio, 1e-3 * solved.values)
    assert again.converged
    assert again.values == pytest.approx(solved.values, rel=1e-12)


@pytest.mark.parametrize("case", [0, 4])
def test_a_start_from_which_the_first_step_leads_away_still_ends_at_the_solution(case: int) -> None:
    # From a hundred times (T, tau) the second step is several times the first: that alone is no end.
    table, bulk, model = _problem(case)
    (solved, _), _ = _both(case)
    fresh = NetworkBulk(bulk.ridge, bulk.beta, bulk.law)
    again = solve_nonlinear(table.one_group, fresh, model.alpha / model.beta, 100.0 * solved.values)
    assert again.converged
    assert again.values == pytest.approx(solved.values, rel=1e-12)


def test_no_start_leads_to_a_negative_overlap() -> None:
    model = Model.from_gradient_step(
        activation("tanh"), activation("tanh"), alpha=0.5, beta=11.0, ridge=0.0, alpha0=4.7, eta=7.7,
        bulk_model="network", gaussian_rows=True,
    )  # fmt: skip
    bulk, table, ratio = equivalent_of(model, 1.0), profile(model, 0, 0, extra_reach(0.0)), model.alpha / model.beta
    assert isinstance(bulk, NetworkBulk)
    solved = solve_nonlinear(table.one_group, bulk, ratio, unit=0.0)
    # From there the slopes lead to what solves the equations and is no overlap.
    start = 0.03 * solved.values
    with np.errstate(all="ignore"):
        below = equations.nonlinear_part(table, NetworkBulk(bulk.ridge, bulk.beta, bulk.law), ratio, start, 0.0)
        again = solve_nonlinear(table.one_group, NetworkBulk(bulk.ridge, bulk.beta, bulk.law), ratio, start, 0.0)
    assert below.values == pytest.approx(solved.values, rel=1e-12)
    assert again.values == pytest.approx(solved.values, rel=1e-12)


def test_where_no_step_leads_to_a_solution_it_is_said() -> None:
    # A little beyond interpolation both solvers are led to C < 0, where there is no equivalent.
    model = Model.from_gradient_step(
        activation("relu"), activation("z + z**2"), alpha=1.001 * 1.031641869792883, beta=1.031641869792883, ridge=0.0,
        alpha0=0.1300611829700652, eta=7.666698505003225, bulk_model="network",
    )  # fmt: skip
    found = solve(model)
    assert found.converged or "not converged" in found.status
    bulk = equivalent_of(model, 1.0)
    assert isinstance(bulk, NetworkBulk)
    with np.errstate(all="ignore"):
        assert np.isnan(bulk.at(np.array([-1e-3, 0.4])).values).all()
    # What it has kept of it is no start for what has one.
    fresh = NetworkBulk(bulk.ridge, bulk.beta, bulk.law)
    assert bulk.at(np.array([0.7, 0.4])).values == pytest.approx(fresh.at(np.array([0.7, 0.4])).values, rel=1e-13)


@pytest.mark.parametrize("case", range(len(CASES)))
def test_overlaps_of_one_point_are_the_contracted_forms(case: int) -> None:
    _, _, model = _problem(case)
    (law,) = step_laws(model)
    conjugates, h = np.array([0.7, 0.4]), 1e-100
    point = NetworkBulk(0.1, 1.3, law).at(conjugates)
    over = law.labels.over(float(point.solution[1]), float(point.solution[2]))
    x = point.solution[0] + 1j * h * point.slopes[0]
    gain = x * (conjugates[0] + 1j * h * np.array([1.0, 0.0]))
    expected = signal_overlaps(law, *frame(law), x, gain, over[:, :1] + 1j * h * (over[:, 1:] @ point.slopes[1:]))
    # The same terms added up in another order: some roundings of the largest.
    assert point.overlap == pytest.approx(expected[..., 0].real, rel=1e-13, abs=1e-14 * np.abs(point.overlap).max())
    slopes = np.moveaxis(expected.imag, -1, 0) / h
    assert point.overlap_jacobian() == pytest.approx(slopes, rel=1e-12, abs=1e-13 * float(np.abs(slopes).max()))


@pytest.mark.parametrize("case", range(len(CASES)))
@pytest.mark.parametrize("off", [(1e-4, 0.0), (-1e-4, 1e-4)])
def test_both_steps_are_newtons(case: int, off: tuple[float, float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_point, "nonlinear_part", lambda *_: pytest.fail("the other solver was asked"))
    table, known, model = _problem(case)
    bulk, ratio = NetworkBulk(known.ridge, known.beta, known.law), model.alpha / model.beta
    solved = solve_nonlinear(table.one_group, bulk, ratio)
    # 1e-4, 1e-8 and what is lost in rounding: (x, b1, b2) have moved with T and tau, or they would come behind.
    again = solve_nonlinear(table.one_group, bulk, ratio, solved.values * (1.0 + np.array(off)))
    assert again.iterations == 3
    assert again.values == pytest.approx(solved.values, rel=1e-10)


def test_no_unknown_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    # T and tau stand still from the first step on, and one of (x, b1, b2) moves in two of them.
    table, known, model = _problem(2)
    ratio, plain = model.alpha / model.beta, NetworkBulk.step
    for which in range(3):
        bulk = NetworkBulk(known.ridge, known.beta, known.law)
        solved, left = solve_nonlinear(table.one_group, bulk, ratio), [1e-3, 1e-4, 0.0]

        def step(self: NetworkBulk, C: float, D: float, place: Any, which: int = which, left: Any = left) -> Any:
            found, move = plain(self, C, D, place), [0.0, 0.0, 0.0]
            move[which] = left.pop(0) * abs(place[which]) if left else 0.0
            return found._replace(move=tuple(move)) if move[which] else found

        with monkeypatch.context() as patch:
            patch.setattr(NetworkBulk, "step", step)
            solve_nonlinear(table.one_group, bulk, ratio, solved.values)
        assert not left, which


@pytest.mark.parametrize("case", range(len(CASES)))
def test_forces_and_overlaps_agree_where_the_fit_is_stiff(case: int) -> None:
    # (zeta, chi) = K F + .. row by row, also where K is 1e9 and F what is left of large terms, and where K is small.
    _, _, model = _problem(case)
    (solved, _), (linear, _) = _both(case)
    overlap = model.alpha / model.beta * solved.point.overlap
    given, brought = overlap[:2, 2] * linear.forces[2], overlap[:2, :2] @ linear.forces[:2]
    # Of a dozen operations each: a hundred roundings.
    sizes = np.abs(linear.overlaps[:2]) + np.abs(given)
    assert np.all(np.abs(linear.overlaps[:2] - given - brought) <= 100.0 * np.finfo(float).eps * sizes)


@pytest.mark.parametrize("seed", range(6))
def test_the_condition_is_that_of_the_worse_of_both_equations(seed: int) -> None:
    # What relative errors of the right sides do to (T, tau), relative: |M^-1| x/x, whichever row is the larger.
    rng = np.random.default_rng(seed)
    matrix, sizes = rng.standard_normal((2, 2)), 10.0 ** rng.uniform(-3.0, 3.0, 2)
    rows = np.abs(np.linalg.inv(matrix)) @ sizes / sizes
    a, b, c, d = matrix.ravel().tolist()
    assert network_point._condition((a, b, c, d), sizes.tolist()) == pytest.approx(rows.max(), rel=1e-10)
    assert network_point._condition((d, c, b, a), sizes[::-1].tolist()) == pytest.approx(rows.max(), rel=1e-10)


def exact_fit(lines: Any, weights: Any, overlap: Any, force: float) -> tuple[list[Any], list[Any]]:
    """(m, zeta, chi) and the forces of both functions by their linear equations to fifty digits."""
    with mp.workdps(50):
        columns = [[mp.mpf(float(x)) for x in column] for column in lines.T]
        scales = [mp.mpf(float(x)) for x in weights]

        def mean(i: int, j: int) -> Any:
            return mp.fsum(w * x * y for w, x, y in zip(scales, columns[i], columns[j], strict=True))

        moments = mp.matrix(4, 4)
        for i in range(4):
            for j in range(4):
                moments[i, j] = mean(i, j)
        A = [[mp.mpf(float(overlap[i][j])) for j in range(3)] for i in range(2)]
        # Unknowns m, zeta, chi and the forces F: 0 = E f0 (y - yhat), F = E f (y - yhat), (zeta, chi) = A F + b p.
        matrix, right = mp.zeros(5, 5), mp.zeros(5, 1)
        for i in range(3):
            right[i] = -moments[i, 3]
            for j in range(3):
                matrix[i, j] = moments[i, j]
            if i:
                matrix[i, i + 2] = 1
        for i in range(2):
            matrix[3 + i, 1 + i], right[3 + i] = 1, A[i][2] * mp.mpf(force)
            for j in range(2):
                matrix[3 + i, 3 + j] = -A[i][j]
        found = list(mp.lu_solve(matrix, right))
        return found[:3], found[3:]


@pytest.mark.parametrize(
    "spread",
    [
        ((1e13, 0.0, 1e-13), 0.0), ((1e-13, 0.0, 1e13), 0.0), ((0.7, 0.0, 0.0), 0.0), ((0.0, 0.0, 0.7), 0.0),
        ((4e13, 2e13, 3e13), 1e3), ((1.0, -1.0, 1.0), 0.4), ((1e-9, 3e-12, 2e-10), 1e-12), ((3e9, -2.0, 1e-6), -0.3),
    ],
)  # fmt: skip
@pytest.mark.parametrize("case", [0, 1])
def test_forces_keep_their_digits_however_stiff_the_fit(
    case: int, spread: tuple[tuple[float, float, float], float]
) -> None:
    # From a function that nothing is seen of to one that takes all there is, where a force is what is left of it.
    table = _problem(case)[0].one_group
    inverse = _both(case)[0][0].inverse
    (a, b, d), given = spread
    overlap, force = [[a, b, given], [b, d, -0.5 * given], [given, -0.5 * given, 1.0]], 0.3
    norm = float(table.moments[0] @ inverse)
    m, zeta, chi, *forces, _ = network_point._fit(table, inverse, overlap, force, norm)
    exact, pulls = exact_fit(table.lines, table.profile.weights * inverse, overlap, force)
    # The conditions of the functions among themselves are some thousand here.
    for found, true in zip((m, zeta, chi, *forces), (*exact, *pulls), strict=True):
        assert found == pytest.approx(float(true), rel=1e-9, abs=1e-300)


def test_overlaps_of_one_direction_have_a_root_that_is_none() -> None:
    # x x^T has the eigenvalues |x|^2 and 0, and in doubles the second is a rounding of either sign.
    below = 0
    for k in range(200):
        x, y = math.cos(0.031 * k + 0.01), 3.0 * math.sin(0.047 * k + 0.02)
        (c, s), roots = network_point._square_root(x * x, x * y, y * y)
        whole = np.linalg.eigvalsh([[x * x, x * y], [x * y, y * y]])
        below += whole[0] < 0.0
        assert max(roots) == pytest.approx(math.hypot(x, y), rel=1e-14)
        assert 0.0 <= min(roots) <= 1e-7 * max(roots)
        assert c * c + s * s == pytest.approx(1.0, rel=1e-14)
    assert below > 20
    # The rounding of a K that vanishes, beside one that does not.
    assert network_point._square_root(-1e-17, 0.0, 4.0) == ((1.0, 0.0), (0.0, 2.0))
    assert network_point._square_root(4.0, 0.0, -1e-17) == ((1.0, 0.0), (2.0, 0.0))


@pytest.mark.parametrize("left", [0.0, 1.7])
@pytest.mark.parametrize(("student", "target"), [("relu", "z + he(3, z)"), ("tanh", "sin(2*z)")])
def test_forces_of_both_signs_do_not_cancel_in_what_they_are_known_to(student: str, target: str, left: float) -> None:
    # mu1 E[y1 | kappa] has both signs along the spike: what rounding does to it adds up.
    model = Model.from_gradient_step(
        activation(student), activation(target), alpha=1.5, beta=0.8, ridge=0.1, alpha0=50.0, eta=2.0,
        bulk_model="network",
    )  # fmt: skip
    general = profile(model, 0, 0, 0.0)
    table, overlap = general.one_group, np.array([[2.0, 0.3, -0.4], [0.3, 0.7, 0.2], [-0.4, 0.2, 1.3]])
    assert abs(table.whole[3].sum()) < 0.9 * np.abs(table.whole[3]).sum()
    inverse = 1.0 / (table.rows @ np.array([0.4, 0.6, 1.0]))
    moments = (table.moments @ inverse).tolist()
    found = network_point._force_rounding(table, inverse, overlap.tolist(), moments, math.sqrt(left))
    expected = equations._force_rounding(general, general.weights * inverse, overlap, left)
    assert found == pytest.approx(expected, rel=1e-10)
