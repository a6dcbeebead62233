"""Test errors, sampled and exact, and order parameters against their definitions."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.experiments.ensembles import FeatureMap, Sizes, equivalent_map, spiked_random_features
from giantsteps.numerics.experiments.measure import (
    exact_test_error,
    lattice,
    order_parameters,
    sampled_test_error,
    shifted_normal_points,
)
from giantsteps.numerics.models.model import Model, ReadoutGroup

TANH, SIN, LINE = (activation(n) for n in ("tanh", "sin", "z"))
WORKED = Model(TANH, SIN, alpha=1.5, beta=1.0, ridge=0.1, spike=1.0, bulk=1.0, alignment=0.8)
TWO_GROUPS = replace(WORKED, readout=(ReadoutGroup(1.0, 0.5, 1.0), ReadoutGroup(-0.5, 0.5, 1.3)))

UNEVEN = replace(WORKED, beta=0.75, readout=(ReadoutGroup(1.0, 0.25, 1.0), ReadoutGroup(-0.5, 0.75, 1.3)))


def sizes_of(model: Model, d: int) -> Sizes:
    return Sizes.rounded(d, alpha=model.alpha, beta=model.beta, fractions=model.fractions)


def linear_map(d: int, p: int, gamma: float) -> FeatureMap:
    model = Model(LINE, SIN, alpha=1.0, beta=p / d, ridge=0.1, alignment=gamma, spike=1.0, bulk=1.0)
    return spiked_random_features(model, sizes_of(model, d), np.random.default_rng(5))


def test_sampled_test_error_is_unbiased_and_quiet() -> None:
    """A linear student, a sine: E(sin(theta.x) - b.x)^2 = (1 - e^-2)/2 - 2 e^-1/2 theta.b + |b|^2 in closed form."""
    drawn = linear_map(20, 30, 0.6)
    rng = np.random.default_rng(6)
    a = rng.standard_normal((30, 2))
    b = drawn.weights.T @ a / math.sqrt(30)
    exact = (1.0 - math.exp(-2.0)) / 2.0 - 2.0 * math.exp(-0.5) * drawn.theta @ b + np.sum(b**2, axis=0)
    seen = np.array([sampled_test_error(drawn, np.sin, a, 300, rng) for _ in range(200)])
    error = seen.std(axis=0, ddof=1) / math.sqrt(200)
    # Five standard errors in each of two columns: false alarm 1e-6.
    assert np.all(np.abs(seen.mean(axis=0) - exact) < 5.0 * error)
    # One column: all the error's variation is along the three directions that are sampled evenly. Independent samples
    # would scatter by the standard deviation of the squared error over sqrt(1000), about 3.5 times more; at least
    # twice.
    one = np.array([sampled_test_error(drawn, np.sin, a[:, :1], 1000, rng)[0] for _ in range(50)])
    x = rng.standard_normal((20_000, 20))
    independent = np.std((np.sin(x @ drawn.theta) - x @ b[:, 0]) ** 2) / math.sqrt(1000)
    assert one.std() < independent / 2.0


def test_lattice_points_are_even_and_normal() -> None:
    points = lattice(500, 3)
    # Each coordinate of a lattice rule with generator coprime to N takes every multiple of 1/N once.
    assert np.array_equal(np.sort(points[:, 0]), np.arange(500) / 500)
    rng = np.random.default_rng(7)
    draws = np.array([shifted_normal_points(500, 3, rng) for _ in range(200)])
    assert np.all(np.isfinite(draws))
    # One point, over shifts, is N(0, I_3): five standard errors of mean and covariance over 200 shifts.
    first = draws[:, 17]
    assert np.abs(first.mean(axis=0)).max() < 5.0 / math.sqrt(200)
    assert np.abs(np.cov(first.T) - np.eye(3)).max() < 5.0 * math.sqrt(2.0 / 200)
    # Products over the set scatter less than for independent points (1/sqrt(500) = 0.045): even spread.
    products = np.einsum("snj,snk->sjk", draws, draws) / 500
    assert products.std(axis=0).max() < 0.5 / math.sqrt(500)


def test_exact_test_error_of_the_equivalent_map_is_the_sampled_one() -> None:
    sizes = sizes_of(TWO_GROUPS, 16)
    drawn = equivalent_map(TWO_GROUPS, sizes, np.random.default_rng(8), np.random.default_rng(9))
    a = np.random.default_rng(10).standard_normal(sizes.p)
    x = np.random.default_rng(11).standard_normal((200_000, 16))
    squares = (np.sin(x @ drawn.theta) - drawn.features(x) @ a / math.sqrt(sizes.p)) ** 2
    # Five standard errors of a mean over 200,000 independent samples.
    assert exact_test_error(drawn, TWO_GROUPS, a) == pytest.approx(
        squares.mean(), abs=5.0 * squares.std() / math.sqrt(len(squares))
    )


def test_order_parameters_are_their_definitions() -> None:
    sizes = sizes_of(TWO_GROUPS, 10)
    drawn = spiked_random_features(TWO_GROUPS, sizes, np.random.default_rng(12))
    a = np.random.default_rng(13).standard_normal(10)
    w = drawn.weights - np.outer(drawn.spikes, drawn.direction)
    plane = np.eye(10) - np.outer(drawn.direction, drawn.direction)
    first, second = np.where(np.arange(10) < 5, a, 0.0), np.where(np.arange(10) < 5, 0.0, a)
    m = [first.sum() / math.sqrt(10), second.sum() / math.sqrt(10)]
    expected = {
        "m[0]": m[0],
        "m[1]": m[1],
        "zeta[0]": first @ w @ drawn.direction / math.sqrt(10),
        "zeta[1]": second @ w @ drawn.direction / math.sqrt(10),
        "psi[0]": first @ w @ drawn.theta_perp / math.sqrt(10),
        "psi[1]": second @ w @ drawn.theta_perp / math.sqrt(10),
        # The uniform parts that come off: c_a m_a^2/(pi_a p) and m_a^2/(pi_a p), with pi_a p = 5.
        "q1[0,0]": first @ w @ plane @ w.T @ first / 10 - 1.0 * m[0] ** 2 / 5,
        "q1[0,1]": first @ w @ plane @ w.T @ second / 10,
        "q1[1,1]": second @ w @ plane @ w.T @ second / 10 - 1.3 * m[1] ** 2 / 5,
        "q2[0]": first @ first / 10 - m[0] ** 2 / 5,
        "q2[1]": second @ second / 10 - m[1] ** 2 / 5,
    }
    assert dict(order_parameters(drawn, a, sizes)) == pytest.approx(expected, rel=1e-12, abs=1e-14)  # rounding


def test_what_a_known_sum_of_rows_takes_from_the_order_parameters() -> None:
    """Rows P w, P = 1 - u u^T/|u|^2, of independent w with mean squared norms c_a: their sums by groups, exactly."""
    sizes = sizes_of(UNEVEN, 16)
    plain = spiked_random_features(UNEVEN, sizes, np.random.default_rng(12))
    # Norms that differ within the groups, and u of other values in each.
    rng, u = np.random.default_rng(5), np.repeat([1.0, -0.5], sizes.groups)
    spikes = 0.7 * u[:, None]
    bulk = plain.weights * rng.uniform(0.5, 1.5, (12, 1))
    projector = np.eye(12) - np.outer(u, u) / (u @ u)
    bulk = projector @ bulk
    drawn = replace(plain, weights=bulk + spikes * plain.direction, spikes=spikes, centring=u)
    a = rng.standard_normal(12)
    groups = np.zeros((2, 12))
    for k, where in enumerate(drawn.groups):
        groups[k, where] = 1.0
    norms, counts = np.sum(bulk**2, axis=1), np.array(sizes.groups)
    # A row of u_i keeps 1 - u_i^2/|u|^2 of its square.
    c = groups @ norms / (groups @ np.diag(projector))
    known = groups @ projector @ np.diag(np.repeat(c, counts)) @ projector @ groups.T
    m = groups @ a / math.sqrt(12)
    across = bulk @ (np.eye(16) - np.outer(drawn.direction, drawn.direction))
    q1 = (groups * a) @ across @ across.T @ (groups * a).T / 12 - np.outer(m / counts, m / counts) * known
    means = groups @ norms / counts
    chi = (groups * a) @ (norms - np.repeat(means, counts)) / math.sqrt(12)
    found = dict(order_parameters(drawn, a, sizes))
    expected = {
        "q1[0,0]": q1[0, 0], "q1[0,1]": q1[0, 1], "q1[1,1]": q1[1, 1], "bulk[0]": c[0], "bulk[1]": c[1],
        "chi[0]": chi[0], "chi[1]": chi[1], "spike[0]": 0.7, "spike[1]": -0.35, "alignment": 0.8,
        "q2[0]": a[:3] @ a[:3] / 12 - m[0] ** 2 / 3, "q2[1]": a[3:] @ a[3:] / 12 - m[1] ** 2 / 9,
    }  # fmt: skip
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-10)
