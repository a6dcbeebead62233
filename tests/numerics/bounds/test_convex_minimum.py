"""The minimum of a convex function: its lower bound is below every value, whatever the function bends like."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from giantsteps.numerics.bounds.convex_minimum import convex_minimum

Array = NDArray[np.float64]
Function = Callable[[Array], tuple[float, Array]]


def smooth(rng: np.random.Generator, count: int) -> Function:
    """sum_i w_i log(1 + exp(-(rows_i.x))) with rows on all sides, of scales 1e-3 to 1e3: nothing separates them."""
    rows = rng.standard_normal((20 * count, count)) * np.logspace(-3.0, 3.0, count)
    weights = rng.uniform(0.1, 1.0, len(rows)) / len(rows)

    def function(x: Array) -> tuple[float, Array]:
        margin = rows @ x
        return float(weights @ np.logaddexp(0.0, -margin)), -(weights * 0.5 * (1.0 - np.tanh(0.5 * margin))) @ rows

    return function


def kinked(rng: np.random.Generator, count: int) -> Function:
    """sum_i w_i |target_i - rows_i.x|."""
    rows, target = rng.standard_normal((20 * count, count)), rng.standard_normal(20 * count)

    def function(x: Array) -> tuple[float, Array]:
        left = target - rows @ x
        return float(np.mean(np.abs(left))), -np.sign(left) @ rows / len(rows)

    return function


def flat_bottomed(rng: np.random.Generator, count: int) -> Function:
    """The squared distance from a ball, plus 1/4: many minima, and no curvature at any."""
    centre = 3.0 * rng.standard_normal(count)

    def function(x: Array) -> tuple[float, Array]:
        away = x - centre
        size = float(np.linalg.norm(away))
        beyond = max(size - 0.5, 0.0)
        return 0.25 + beyond**2, 2.0 * beyond * away / max(size, 1e-300)

    return function


@pytest.mark.parametrize("kind", [smooth, kinked, flat_bottomed])
@pytest.mark.parametrize("count", [1, 2, 5, 8])
def test_the_gap_is_closed_and_no_value_is_below_the_bound(
    kind: Callable[[np.random.Generator, int], Function], count: int
) -> None:
    rng = np.random.default_rng((20261201, count))
    function = kind(rng, count)
    found = convex_minimum(function, [np.zeros(count)])
    assert found.value == function(found.at)[0]
    assert found.gap <= 1e-9 * found.value
    # Values near the minimum, on all sides and at all distances, are rounded by 1e-16.
    for size in np.logspace(-8.0, 1.0, 40):
        for step in rng.standard_normal((5, count)):
            assert function(found.at + size * step)[0] >= found.lower - 1e-15


def test_convex_minimum_of_a_known_function() -> None:
    centre = np.array([1.0, -2.0, 0.5])
    scales = np.array([1.0, 30.0, 0.1])

    def function(x: Array) -> tuple[float, Array]:
        moved = scales * (x - centre)
        root = np.sqrt(1.0 + moved**2)
        return float(np.sum(root) - 3.0), np.asarray(scales * moved / root)

    found = convex_minimum(function, [np.zeros(3)], absolute=1e-12)
    assert found.value < 2e-12
    assert found.gap < 2e-12
    # sqrt(1 + t^2) - 1 = t^2/2: 2e-12 is t = 2e-6, and the flattest direction has scale 0.1.
    assert np.max(np.abs(found.at - centre)) < 2e-5


def test_an_infimum_that_is_not_reached_is_approached() -> None:
    found = convex_minimum(lambda x: (float(np.exp(-x[0])), -np.exp(-x)), [np.zeros(1)])
    assert found.value < 1e-14
    assert 0.0 <= found.lower <= found.value


@pytest.mark.parametrize("beyond", [np.inf, np.nan])
def test_a_function_that_overflows_is_not_minimised(beyond: float) -> None:
    def function(x: Array) -> tuple[float, Array]:
        inside = float(x[0]) < 2.0
        return (float(np.exp(-x[0])) if inside else beyond), -np.exp(-x) if inside else np.full(1, beyond)

    found = convex_minimum(function, [np.zeros(1)])
    assert np.isfinite(found.value)
    # What is beyond is not known to be better, and not known to be worse.
    assert found.lower == 0.0
    assert convex_minimum(lambda x: (beyond, x), [np.zeros(1)]).gap == np.inf
