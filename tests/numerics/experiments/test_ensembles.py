"""Sizes, and the three feature maps: exact norms, exact moments, the exact gradient step."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.experiments.ensembles import (
    Sizes,
    equivalent_map,
    spiked_random_features,
    trained_network,
    unit_rows,
)
from giantsteps.numerics.experiments.simulate import simulate
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.models.network import Network, SimulationError

TANH, SIN, SIGN, SOFTPLUS = (activation(n) for n in ("tanh", "sin", "sign", "softplus"))
WORKED = Model(TANH, SIN, alpha=1.5, beta=1.0, ridge=0.1, spike=1.0, bulk=1.0, alignment=0.8)
TWO_GROUPS = replace(WORKED, readout=(ReadoutGroup(1.0, 0.5, 1.0), ReadoutGroup(-0.5, 0.5, 1.3)))


def sizes_of(model: Model, d: int) -> Sizes:
    return Sizes.rounded(d, alpha=model.alpha, beta=model.beta, fractions=model.fractions)


def test_sizes_are_rounded_and_reported() -> None:
    sizes = Sizes.rounded(101, alpha=1.5, beta=0.333, alpha0=2.0, fractions=(0.5, 0.25, 0.25))
    # By hand: 151.5 -> 152 (half to even), 33.6 -> 34; 34 neurons as 17, 8.5, 8.5 -> 17, 9, 8 by largest remainder.
    assert (sizes.n, sizes.p, sizes.n0, sizes.groups) == (152, 34, 202, (17, 9, 8))
    assert (sizes.alpha, sizes.beta, sizes.alpha0) == (152 / 101, 34 / 101, 2.0)
    assert sizes.fractions == (17 / 34, 9 / 34, 8 / 34)
    assert sizes.slices == (slice(0, 17), slice(17, 26), slice(26, 34))
    run = simulate(replace(WORKED, alpha=0.777, beta=0.513), dimension=50, seeds=1)
    assert (run.model.alpha, run.model.beta) == (39 / 50, 26 / 50)


def test_spiked_features_have_exact_norms_and_alignment() -> None:
    drawn = spiked_random_features(TWO_GROUPS, sizes_of(TWO_GROUPS, 40), np.random.default_rng(0))
    bulk = drawn.weights - np.outer(drawn.spikes, drawn.direction)
    # Exact by construction: rounding of a sum of 40 squares.
    assert np.sum(bulk**2, axis=1) == pytest.approx([1.0] * 20 + [1.3] * 20, rel=1e-14)
    assert drawn.alignment == pytest.approx(0.8, rel=1e-15)
    assert np.linalg.norm(drawn.theta) == pytest.approx(1.0, rel=1e-15)
    assert drawn.theta == pytest.approx(0.8 * drawn.direction + 0.6 * drawn.theta_perp, abs=1e-15)
    assert list(drawn.spikes) == [1.0] * 20 + [-0.5] * 20
    x = np.random.default_rng(1).standard_normal((7, 40))
    assert drawn.features(x) == pytest.approx(np.tanh(x @ drawn.weights.T), rel=1e-14)


def network(**changes: float) -> Network:
    values = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "alpha0": 2.0, "eta": 3.0} | changes
    return Network(SOFTPLUS, SIN, **values)


def test_gradient_step_is_the_gradient_of_the_loss() -> None:
    problem = network(noise=0.2, beta=0.5)
    sizes = Sizes.rounded(12, alpha=1.5, beta=0.5, alpha0=2.0, fractions=(1.0,))
    drawn = trained_network(problem, sizes, np.random.default_rng(3), np.random.default_rng(4))
    # The same draws again, in the documented order: rows; label noise, then inputs.
    before = unit_rows(np.random.default_rng(3), sizes.p, sizes.d)
    batch = np.random.default_rng(4)
    noise = math.sqrt(0.2) * batch.standard_normal(sizes.n0)
    x = batch.standard_normal((sizes.n0, sizes.d))
    y = np.sin(x @ drawn.theta) + noise

    def loss(w: np.ndarray) -> float:
        # a0 = 1/sqrt(p) and f = a.sigma/sqrt(p): the mean over neurons.
        return float(np.mean((y - np.logaddexp(0.0, x @ w.T).mean(axis=1)) ** 2) / 2.0)

    gradient, h = np.zeros_like(before), 1e-6
    for index in np.ndindex(before.shape):
        moved = before.copy()
        moved[index] += h
        gradient[index] = loss(moved)
        moved[index] -= 2 * h
        gradient[index] = (gradient[index] - loss(moved)) / (2 * h)
    # Central differences: rounding 1e-16/1e-6 and truncation 1e-12 beside gradients of 1e-2; eta = 3 d = 36.
    assert drawn.weights - before == pytest.approx(-36.0 * gradient, abs=1e-7)


LETTERS = (ReadoutGroup(1.0, 0.25, bias=0.4), ReadoutGroup(-0.5, 0.5, bias=-0.6), ReadoutGroup(0.0, 0.25, bias=0.2))


@pytest.mark.parametrize("eta", [3.0, -3.0])
@pytest.mark.parametrize("steps", [1, 2])
def test_a_network_of_letters_takes_its_steps_and_is_split_into_spike_and_bulk(eta: float, steps: int) -> None:
    """With the gradient by its definition, sample by sample; v points along what its batches sum of y x."""
    problem = replace(network(alpha0=1.5, noise=0.2, eta=3.0), readout=LETTERS, steps=steps)
    sizes = Sizes.rounded(8, alpha=1.5, beta=2.0, alpha0=1.5, fractions=(0.25, 0.5, 0.25))
    counts, (p, d, n0) = sizes.groups, (16, 8, 12)
    assert (sizes.p, sizes.n0, counts) == (p, n0, (4, 8, 4))
    target = SIN if eta > 0.0 else activation("-sin(z)")
    drawn = trained_network(replace(problem, target=target), sizes, np.random.default_rng(3), np.random.default_rng(4))
    weights, batch = unit_rows(np.random.default_rng(3), p, d), np.random.default_rng(4)
    u = np.repeat([1.0, -0.5, 0.0], counts)
    summed = np.zeros(d)
    for _ in range(steps):
        noise = math.sqrt(0.2) * batch.standard_normal(n0)
        x = batch.standard_normal((n0, d))
        y = math.copysign(1.0, eta) * np.sin(x[:, 0]) + noise
        summed += y @ x
        h = x @ weights.T
        residual = y - np.logaddexp(0.0, h) @ u / p
        slope = 1.0 / (1.0 + np.exp(-h))
        weights = weights + 3.0 * d / (p * n0) * u[:, None] * ((slope * residual[:, None]).T @ x)
    assert drawn.weights == pytest.approx(weights, abs=1e-12)
    mean = u @ weights / (u @ u)
    v = mean / np.linalg.norm(mean)
    v = v if v @ summed > 0.0 else -v
    assert drawn.direction == pytest.approx(v, abs=1e-12)
    assert drawn.alignment == pytest.approx(v[0], abs=1e-12)
    assert drawn.spikes[:, 0] == pytest.approx((mean @ v) * u, abs=1e-12)
    assert drawn.centring == pytest.approx(u)
    x = np.random.default_rng(5).standard_normal((3, d))
    biases = np.repeat([0.4, -0.6, 0.2], counts)
    assert drawn.features(x) == pytest.approx(np.logaddexp(0.0, x @ weights.T + biases), abs=1e-12)


def test_the_equivalent_map_has_the_coefficients_of_every_group() -> None:
    """Of a sine in closed form: exp(-c/2) sin and cos of u r kappa + b, and the xi by what two samples share."""
    groups = (ReadoutGroup(1.0, 0.25, 0.8, 0.4), ReadoutGroup(-0.5, 0.75, 1.3, -0.6))
    model = replace(WORKED, activation=SIN, spike=1.2, readout=groups)
    sizes = sizes_of(model, 8)
    drawn = equivalent_map(model, sizes, np.random.default_rng(0), np.random.default_rng(1))
    x = np.random.default_rng(2).standard_normal((5, 8))
    xi = np.random.default_rng(1).standard_normal((5, 8))
    first = np.arange(8) < 2
    u, c, b = np.where(first, 1.0, -0.5), np.where(first, 0.8, 1.3), np.where(first, 0.4, -0.6)
    argument = 1.2 * u * x[:, :1] + b
    mu0, mu1 = np.exp(-c / 2) * np.sin(argument), np.exp(-c / 2) * np.cos(argument)
    mu2 = np.sqrt((1.0 - np.exp(-2.0 * c) * np.cos(2.0 * argument)) / 2.0 - mu0**2 - c * mu1**2)
    assert drawn.features(x) == pytest.approx(mu0 + mu1 * (x @ drawn.weights.T) + mu2 * xi, abs=1e-9)
    assert np.sum(drawn.weights**2, axis=1) == pytest.approx(c)


GROUPS = (ReadoutGroup(1.0, 1 / 8), ReadoutGroup(0.0, 7 / 8))
REFUSED = {
    "2 is needed": (1, {}), "both have to be positive": (10, {"alpha": 0.01}), "leave a group": (10, {"beta": 0.1}),
    "jumps": (20, {"activation": SIGN}), "1 take a step": (8, {"readout": GROUPS}),
    "more than 1e": (8, {"eta": 1e10, "steps": 4}), "at most 1e": (400, {"alpha": 1e9}),
}  # fmt: skip


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_drawn_is_refused(words: str) -> None:
    d, changes = REFUSED[words]
    halves = (ReadoutGroup(1.0, 0.5), ReadoutGroup(1.0, 0.5))
    given = replace(network(), **({"readout": halves} | changes))
    with pytest.raises(SimulationError, match=words):
        simulate(given, dimension=d, seeds=1)
