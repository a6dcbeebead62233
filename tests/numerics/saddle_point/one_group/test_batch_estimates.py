"""What a batch says of its points: every limit from both sides, and every part of an estimate by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bulk.network_law import step_laws
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.level import UNDECIDED
from giantsteps.numerics.saddle_point.one_group import batch, network_equations
from giantsteps.numerics.saddle_point.one_group.network_equations import NetworkPoints
from giantsteps.numerics.saddle_point.one_group.network_gains import Gains

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


def test_what_large_means_cancel_to_is_no_gap() -> None:
    # Forces are differences of numbers of size m h, here 1e8: a gap of their rounding counts as none.
    m, h = 1e8, (1.0, 0.0)
    rounding = EPS * 2.0 * m * (4.0 * 3.0) ** 0.5
    near = 14.25 / 7.0 + 0.5 * rounding / 7.0
    assert images((near, -3.25 / 3.0), m, h)[1] == near
    # And one that is larger counts with what it has beyond that.
    far = 14.25 / 7.0 + 1e3 * rounding / 7.0
    assert far - images((far, -3.25 / 3.0), m, h)[1] == pytest.approx(999.0 * rounding / 7.0, rel=1e-2)


def test_what_the_gain_s_functions_lose_counts_in_the_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    def estimate(lost: float) -> float:
        monkeypatch.setattr(Gains, "lost", lambda self, g: lost * np.ones(len(g)))
        return float(batch.solve_batch(step(), ridge=[0.1]).error_estimate[0])

    none, some, more = (estimate(lost) for lost in (0.0, 1e4, 3e4))
    assert more - none == pytest.approx(3.0 * (some - none), rel=1e-2)
    # Ten thousand roundings of (T, tau), beside a condition of a few and a test error of order one.
    assert 1e4 * EPS * 0.1 < some - none < 1e4 * EPS * 1e4
