"""Plain random features, and the jump between no spike and a vanishing one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.ridge import solve

MODEL = Model(
    activation("tanh(z)"), activation("sin(z)"), alpha=1.5, beta=1.0, ridge=0.1, alignment=0.8, spike=0.0, bulk=1.0
)
TINY = 1e-3  # corrections are of order r^2 = 1e-6


def test_without_a_spike_the_alignment_does_not_matter() -> None:
    errors = [solve(replace(MODEL, alignment=gamma)).test_error for gamma in (0.0, 0.5, 0.8, 1.0)]
    assert errors == pytest.approx([errors[0]] * 4, rel=1e-9)  # residuals are below 1e-12


def test_a_vanishing_spike_is_not_no_spike() -> None:
    without, tiny = solve(MODEL), solve(replace(MODEL, spike=TINY))
    assert tiny.test_error < 0.7 * without.test_error
    # r m -> gamma h1*/mu1 with h1* of sin = exp(-1/2) and mu1 = h1 of tanh = 0.60570550960215883 (c = 1).
    limit = 0.8 * 0.6065306597126334 / 0.60570550960215883
    assert TINY * tiny.order_parameters.m[0] == pytest.approx(limit, rel=1e-5)  # ten times r^2


def test_across_the_target_a_vanishing_spike_is_no_spike() -> None:
    across = replace(MODEL, alignment=0.0)
    tiny = solve(replace(across, spike=TINY)).test_error
    assert tiny == pytest.approx(solve(across).test_error, rel=1e-5)  # ten times r^2


def test_the_floor_is_approached_with_many_samples_and_neurons() -> None:
    # h2* - h1*^2 of sin = (1 - exp(-2))/2 - exp(-1) = 0.06445291721025
    error = solve(replace(MODEL, alpha=3e4, beta=3e2, ridge=1e-3)).test_error
    # Above it: p/n = 1/100 of the floor from fitting noise, and mu2^2 M^2/beta = 0.027/300 from finite width: 1.15 %.
    assert 0.06445291721025 < error < 1.02 * 0.06445291721025
