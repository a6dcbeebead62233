"""Orders of the slides: the simulated step is the gradient of the squared error."""

from __future__ import annotations

import numpy as np
import pytest

from giantsteps.verify.second_route.gradient_step import orders as slides_orders_numbers


def test_the_step_is_the_gradient_of_the_squared_error() -> None:
    """Along one weight: minus half the derivative of the mean squared error, by a central difference of step 1e-5."""
    rng = np.random.default_rng(11)
    state = rng.bit_generator.state
    moved, theta = slides_orders_numbers.step(rng, 5, 7, 3, 0.4)
    rng.bit_generator.state = state
    rows = rng.standard_normal((3, 5))
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    rng.standard_normal(5)
    x = rng.standard_normal((7, 5))

    def loss(step: float) -> float:
        changed = rows.copy()
        changed[1, 2] += step
        output = np.tanh(x @ changed.T) @ np.full(3, 0.4) / np.sqrt(3)
        return float(np.mean((np.tanh(x @ theta) - output) ** 2)) / 2

    # error of the difference: 1e-10 from its curvature, 1e-11 from rounding
    assert moved[1, 2] == pytest.approx(-(loss(1e-5) - loss(-1e-5)) / 2e-5, abs=1e-8)
