"""What a batch says of its points: every limit from both sides, and every part of an estimate by itself."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bulk.network_law import step_laws
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.level import UNDECIDED
from giantsteps.numerics.saddle_point.one_group import batch, batch_equations, network_equations
from giantsteps.numerics.saddle_point.one_group.batch_equations import Workspace, _inverse, _linearised
from giantsteps.numerics.saddle_point.one_group.network_equations import NetworkPoints
from giantsteps.numerics.saddle_point.one_group.network_gains import Gains
from giantsteps.numerics.saddle_point.profile import profile

EPS = float(np.finfo(float).eps)


def judged(**changes: float) -> tuple[bool, str, float]:
    """Convergence, status and error estimate of a point whose numbers are 1 and whose errors are these."""
    rows = np.ones((12, 2))
    rows[9:11] = 0.0
    moved, accepted = np.zeros(2), np.ones(2, dtype=bool)
    for name, value in changes.items():
        if name == "moved":
            moved[1] = value
        elif name == "accepted":
            accepted[1] = bool(value)
        else:
            rows[{"test": 0, "psi": 4, "residual": 9, "rounding": 10}[name], 1] = value
    found = batch._judged(rows, moved, accepted, (), (), (2,), True)
    # What goes wrong with one point is no matter of the other.
    assert found.converged[0]
    assert found.status[0] == "converged"
    return bool(found.converged[1]), str(found.status[1]), float(found.error_estimate[1])


@pytest.mark.parametrize(
    ("good", "bad", "words"),
    [
        ({"residual": 0.99e-7}, {"residual": 1.01e-7}, "residual"),
        # A test error of three: a ten-millionth of four.
        ({"test": 3.0, "moved": 3.99e-7}, {"test": 3.0, "moved": 4.01e-7}, "quadrature"),
        ({"test": 3.0, "rounding": 3.99e-7}, {"test": 3.0, "rounding": 4.01e-7}, "its rounding"),
        ({}, {"rounding": np.inf}, UNDECIDED),
        ({}, {"rounding": np.nan}, "residual"),
        ({}, {"psi": np.nan}, "residual"),
        ({}, {"accepted": 0.0}, "not accepted"),
        # Of several reasons the one that is first to be mended.
        ({}, {"residual": 1.0, "moved": 1.0, "accepted": 0.0}, "not accepted"),
        ({}, {"moved": 1.0, "rounding": 1.0}, "quadrature"),
    ],
)
def test_a_point_is_judged_by_every_limit(good: dict[str, float], bad: dict[str, float], words: str) -> None:
    converged, status, estimate = judged(**good)
    assert (converged, status) == (True, "converged")
    assert estimate == good.get("moved", 0.0) + good.get("rounding", 0.0)
    converged, status, _ = judged(**bad)
    assert not converged
    assert words in status


def test_the_estimate_at_a_width_has_every_part(monkeypatch: pytest.MonkeyPatch) -> None:
    # Both errors and the roundings of the first, on the last rule of each point and on the one before.
    numbers = {2: (1.0, 2.0, 3.0), 1: (1.25, 9.0, 9.0), 0: (1.75, 9.0, 9.0)}

    def both(table: Any, points: Any, values: Any, workspace: Any) -> Any:
        assert points.width == 300.0
        return np.repeat(np.array(numbers[table])[:, None], values.shape[1], axis=1)

    monkeypatch.setattr(batch, "both_errors", both)
    monkeypatch.setattr(batch, "in_parts", lambda table, count: [slice(0, count)])
    monkeypatch.setattr(batch, "replace", lambda points, width: SimpleNamespace(width=width, at=points.at))

    def at(index: Any) -> Any:
        return SimpleNamespace(width=300.0)

    family: Any = SimpleNamespace(
        points=SimpleNamespace(at=at), levels=[0, 1, 2], values=np.ones((2, 3)), last=np.array([2, 1, 2]),
        left=np.array([0.0, 0.0, 0.5]), growth=1e10,
    )  # fmt: skip
    test, training, estimate = batch._at_width(family, 300.0)
    assert test.tolist() == [1.0, 1.25, 1.0]
    assert training.tolist() == [2.0, 9.0, 2.0]
    # What the rule moves, the rounding as it grows, and what is left of the limit's own.
    rounding = 24.0 * EPS * 1e10
    assert estimate == pytest.approx([0.25 + 3.0 * rounding, 0.5 + 9.0 * rounding, 0.75 + 3.0 * rounding], rel=1e-12)


def step(student: str = "relu", target: str = "sin", **changes: Any) -> Model:
    values = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "alpha0": 2.0, "eta": 3.0} | changes
    return Model.from_gradient_step(activation(student), activation(target), bulk_model="network", **values)


def test_errors_of_a_law_are_in_the_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for uncertain in (0.0, 1e-9, 3e-9):
        monkeypatch.setattr(batch, "relative_uncertainty", lambda model, uncertain=uncertain: uncertain)
        one = batch.solve_batch(step(), ridge=[0.1])
        found.append((float(one.error_estimate[0]), float(one.test_error[0])))
    exact, small, large = (estimate for estimate, _ in found)
    # In proportion to it, and of the size that a relative error of 1e-9 moves numbers of order one by, times some
    # condition below a thousand.
    assert large - exact == pytest.approx(3.0 * (small - exact), rel=1e-3)
    assert 1e-9 * found[0][1] < small - exact < 1e-6


@pytest.fixture(scope="module")
def points() -> NetworkPoints:
    """Three points of one law, of small and of large ridge."""
    (law,) = step_laws(step())
    ones = np.ones(3)
    return NetworkPoints(1.5 * ones, 0.8 * ones, np.array([1e-3, 0.1, 10.0]), 0.3 * ones, law.bulk, gains=Gains(law))


@pytest.mark.parametrize("far", [1e-6, 1e-2, 1.0, 1e3])
def test_the_image_solves_its_equation_from_anywhere(points: NetworkPoints, far: float) -> None:
    conjugates, near = np.array([[0.7, 2.0, 30.0], [0.0, 0.4, 3.0]]), far * np.ones((2, 3))
    found = points.gamma(conjugates, near)
    filled, _ = points.gains.filled(conjugates[0] * found.x)
    left = found.x * (points.ridge + conjugates[1] + conjugates[0] * filled) / points.beta
    # The last of Newton's steps squares to less than the rounding of a hundred operations.
    assert left == pytest.approx(np.ones(3), abs=100.0 * EPS)


def test_m_and_the_overlaps_solve_one_system_and_bring_its_errors_along(points: NetworkPoints) -> None:
    model, workspace = step(), Workspace()
    table = profile(model, 1).one_group
    values = np.array([[0.5, 0.3, 0.04], [1.0, 0.7, 0.09]])
    gamma, _ = _linearised(table, points, values, workspace)
    inverse, _ = _inverse(table, values, workspace)
    for width in (np.inf, 200.0):
        at = NetworkPoints(
            points.ratio, points.beta, points.ridge, points.noise, points.bulk, width, gains=points.gains
        )
        means = at.means(table, values, gamma, inverse)
        assert isinstance(gamma, network_equations.NetworkGamma)
        overlap, _ = at.overlaps(gamma)
        moments, sizes = table.moments @ inverse, table.sizes @ inverse
        scatter = table.force_scatter @ inverse
        for k in range(3):
            g00, h1, h2, g11, g12, g22, f0, f1, f2, force = moments[:, k]
            h, gram, K = np.array([h1, h2]), np.array([[g11, g12], [g12, g22]]), overlap[:, :, k]
            A, held = K[:2, :2], np.eye(2) + K[:2, :2] @ gram
            cost = 0.0 if np.isinf(width) else 1.0 / (1.5 * width * values[1, k])
            system = np.block([[np.array([[g00 + cost]]), h[None]], [(A @ h)[:, None], held]])
            given = K[:2, 2] * force
            m, zeta, chi = np.linalg.solve(system, [f0, *(A @ [f1, f2] + given)])
            # Numbers of order one, by other eliminations of systems of moderate condition.
            assert [means.m[k], *means.overlaps[:, k]] == pytest.approx([m, zeta, chi], rel=1e-9, abs=1e-11)
            # mu0 beside the size of the activation, and what is left of its square beside the other two.
            free = g00 + cost - h @ np.linalg.solve(held, A @ h)
            assert means.share[k] == pytest.approx((sizes[k] / g00) ** 0.5 + g00 / free / 24.0, rel=1e-9)
            moved = np.abs(np.linalg.solve(held, A[:, 0] * scatter[0, k])) @ table.profile.along_norms
            across = (
                abs(K[2, 2]) * scatter[1, k] * (np.abs(table.profile.mu1[0] * table.profile.y1) @ table.profile.weights)
            )
            assert [means.known[0][k], means.known[1][k]] == pytest.approx([moved, across], rel=1e-9)


def images(z: tuple[float, float], m: float, h: tuple[float, float]) -> list[float]:
    """What the equations of m and z make of them, for G and A that are diagonal."""
    one = np.ones(1)
    gram, overlap = ((3.0 * one, 0.0 * one), (0.0 * one, 0.5 * one)), ((2.0 * one, 0.0 * one), (0.0 * one, 4.0 * one))
    fitted = (5.0 * one, (7.0 + m * h[0]) * one, (-1.0 + m * h[1]) * one)
    found = network_equations._images(
        m * one, (z[0] * one, z[1] * one), fitted, 4.0 * one, (h[0] * one, h[1] * one), gram, overlap,
        (0.25 * one, 0.75 * one), np.array([True]),
    )  # fmt: skip
    return [float(x) for x in found[:, 0]]


def test_images_of_one_unknown_each_are_its_solution() -> None:
    # z (1 + A G) = A f + b: 7 z = 14 + 1/4, and 3 z = -4 + 3/4.
    solution = (14.25 / 7.0, -3.25 / 3.0)
    for z in (solution, (3.0, -5.0)):
        assert images(z, 0.0, (0.0, 0.0))[1:] == pytest.approx(solution, rel=1e-14)
    # That of m, with h and z: m + (5 - 4 m - h.z)/4.
    assert images((3.0, -5.0), 2.0, (0.5, 0.25))[0] == pytest.approx((5.0 - 1.5 + 1.25) / 4.0, rel=1e-14)


def test_what_large_means_cancel_to_is_no_gap() -> None:
    # Forces are differences of numbers of size m h, here 1e8: a gap of their rounding counts as none.
    m, h = 1e8, (1.0, 0.0)
    rounding = EPS * 2.0 * m * (4.0 * 3.0) ** 0.5
    near = 14.25 / 7.0 + 0.5 * rounding / 7.0
    assert images((near, -3.25 / 3.0), m, h)[1] == near
    # And one that is larger counts with what it has beyond that.
    far = 14.25 / 7.0 + 1e3 * rounding / 7.0
    assert far - images((far, -3.25 / 3.0), m, h)[1] == pytest.approx(999.0 * rounding / 7.0, rel=1e-2)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("beside", [0, 1])
def test_each_force_s_terms_round_what_it_brings_to_both_overlaps(which: int, beside: int) -> None:
    # z = A F + b is F's solution to a quarter of the rounding of one entry of A times its force's terms, |m| |mu0| |f|.
    one, m, square = np.ones(1), 1e8, 4.0
    gram, entries = ((3.0 * one, 0.0 * one), (0.0 * one, 0.5 * one)), np.zeros((2, 2))
    entries[which, beside] = 2.0
    overlap = tuple(tuple(x * one for x in row) for row in entries.tolist())
    rounding = EPS * 2.0 * m * math.sqrt(square * (3.0, 0.5)[beside])
    for share, seen in ((0.5, False), (-0.5, False), (3.0, True)):
        z = [0.0, 0.0]
        z[which] = share * rounding
        fitted = (5.0 * one, *(gram[i][i] * z[i] for i in (0, 1)))  # no force, and nothing that z should be
        found = network_equations._images(
            m * one, (z[0] * one, z[1] * one), fitted, square * one, (0.0 * one, 0.0 * one), gram, overlap,  # type: ignore[arg-type]
            (0.0 * one, 0.0 * one), np.array([False]),
        )  # fmt: skip
        gap = abs(float(found[1 + which, 0]) - z[which])
        own = 1.0 + entries[which, which] * float(gram[which][which][0])
        assert gap == pytest.approx((abs(share) - 1.0) * rounding / own if seen else 0.0, rel=1e-6, abs=1e-3 * rounding)


def test_what_the_gain_s_functions_lose_counts_in_the_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    def estimate(lost: float) -> float:
        monkeypatch.setattr(Gains, "lost", lambda self, g: lost * np.ones(len(g)))
        return float(batch.solve_batch(step(), ridge=[0.1]).error_estimate[0])

    none, some, more = (estimate(lost) for lost in (0.0, 1e4, 3e4))
    assert more - none == pytest.approx(3.0 * (some - none), rel=1e-2)
    # Ten thousand roundings of (T, tau), beside a condition of a few and a test error of order one.
    assert 1e4 * EPS * 0.1 < some - none < 1e4 * EPS * 1e4


def test_a_rounding_is_that_of_the_larger_share_of_either_conjugate() -> None:
    # Rows of C by (T, tau), then of D, at one node; two points, of the second of which D is zero.
    table: Any = SimpleNamespace(roughness=np.array([[1.0], [2.0], [3.0], [4.0]]))
    values, conjugates = np.array([[2.0, 2.0], [5.0, 5.0]]), np.array([[1.0, 6.0], [4.0, 0.0]])
    found = batch_equations._roughness(table, values, conjugates, np.array([[1.0, 1.0]]))
    assert found.tolist() == [max(12.0, 26.0 / 4.0), 12.0 / 6.0]
    exchanged = batch_equations._roughness(table, values, conjugates[::-1], np.array([[1.0, 1.0]]))
    assert exchanged.tolist() == [max(12.0 / 4.0, 26.0), 26.0 / 6.0]
