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
from giantsteps.numerics.experiments.measure import order_parameters
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


@pytest.mark.parametrize(
    ("d", "alpha", "beta", "fractions"), [(1, 1.0, 1.0, (1.0,)), (10, 0.01, 1.0, (1.0,)), (10, 1.0, 0.1, (0.5, 0.5))]
)
def test_sizes_that_cannot_be_are_refused(d: int, alpha: float, beta: float, fractions: tuple[float, ...]) -> None:
    with pytest.raises(SimulationError):
        Sizes.rounded(d, alpha=alpha, beta=beta, fractions=fractions)


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


def test_equivalent_features_have_the_conditional_moments() -> None:
    """For x = kappa v + one fixed rest, phi has mean mu0 + mu1 w.x and variance mu2^2; sign has them in closed form."""
    model = replace(WORKED, activation=SIGN, spike=1.3, bulk=0.7)
    drawn = equivalent_map(model, sizes_of(model, 12), np.random.default_rng(0), np.random.default_rng(1))
    x = np.random.default_rng(2).standard_normal(12)
    kappa = x[0]
    phi = drawn.features(np.tile(x, (40_000, 1)))
    # mu0 = erf(u kappa/sqrt(2c)), mu1 = sqrt(2/(pi c)) exp(-u^2 kappa^2/(2c)), mu2^2 = 1 - mu0^2 - c mu1^2.
    mu0 = math.erf(1.3 * kappa / math.sqrt(1.4))
    mu1 = math.sqrt(2.0 / (math.pi * 0.7)) * math.exp(-(1.3**2) * kappa**2 / 1.4)
    mu2_squared = 1.0 - mu0**2 - 0.7 * mu1**2
    # Five standard errors of a mean, and of a variance, over 40,000 draws.
    assert phi.mean(axis=0) == pytest.approx(mu0 + mu1 * drawn.weights @ x, abs=5 * math.sqrt(mu2_squared / 40_000))
    assert phi.var(axis=0) == pytest.approx(np.full(12, mu2_squared), rel=5 * math.sqrt(2.0 / 40_000))


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


def test_measured_spike_and_bulk_reassemble_the_network() -> None:
    problem = network()
    sizes = Sizes.rounded(60, alpha=1.5, beta=1.0, alpha0=2.0, fractions=(1.0,))
    drawn = trained_network(problem, sizes, np.random.default_rng(0), np.random.default_rng(1))
    bulk = drawn.weights - np.outer(drawn.spikes, drawn.direction)
    assert np.abs(bulk.mean(axis=0)).max() < 1e-14  # the mean row is the spike; rounding
    assert np.linalg.norm(drawn.direction) == pytest.approx(1.0, rel=1e-14)
    assert drawn.theta_perp @ drawn.direction == pytest.approx(0.0, abs=1e-14)
    measured = dict(order_parameters(drawn, np.ones(sizes.p), sizes))
    assert measured["bulk"] == pytest.approx(np.sum(np.var(bulk, axis=0, ddof=1)), rel=1e-12)


def test_jumping_student_has_no_gradient_step() -> None:
    with pytest.raises(SimulationError, match="jumps"):
        simulate(replace(network(), activation=SIGN), dimension=20, seeds=1, kind="network")


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


@pytest.mark.parametrize("seed", range(6))
def test_the_spike_points_along_its_batch_and_not_along_the_target(seed: int) -> None:
    """After a step on four samples the batch's direction is nearly that of noise, and may be against the target."""
    problem = replace(network(alpha0=0.1, noise=4.0), activation=activation("-tanh(z)"))
    sizes = Sizes.rounded(40, alpha=1.5, beta=0.5, alpha0=0.1, fractions=(1.0,))
    drawn = trained_network(problem, sizes, np.random.default_rng(seed), np.random.default_rng(seed + 100))
    batch = np.random.default_rng(seed + 100)
    noise, x = 2.0 * batch.standard_normal(4), batch.standard_normal((4, 40))
    assert drawn.direction @ ((np.sin(x[:, 0]) + noise) @ x) > 0.0
    assert drawn.spikes[0, 0] == pytest.approx(drawn.weights.mean(axis=0) @ drawn.direction, rel=1e-10)


@pytest.mark.parametrize(("count", "accepted"), [(1, False), (2, True)])
def test_two_neurons_at_least_take_a_step(count: int, accepted: bool) -> None:
    groups = (ReadoutGroup(1.0, count / 8), ReadoutGroup(0.0, 1.0 - count / 8))
    sizes = Sizes.rounded(8, alpha=1.0, beta=1.0, alpha0=1.0, fractions=(count / 8, 1.0 - count / 8))
    given = (replace(network(), readout=groups), sizes, np.random.default_rng(3), np.random.default_rng(4))
    if accepted:
        assert np.count_nonzero(trained_network(*given).spikes) == 2
        return
    with pytest.raises(SimulationError, match="1 take a step"):
        trained_network(*given)


@pytest.mark.parametrize(("steps", "accepted"), [(1, True), (4, False)])
def test_rows_that_are_too_long_are_refused(steps: int, accepted: bool) -> None:
    """One step makes them of 1e10, and each further one by as much longer."""
    sizes = Sizes.rounded(8, alpha=1.0, beta=1.0, alpha0=1.0, fractions=(1.0,))
    given = (replace(network(eta=1e10), steps=steps), sizes, np.random.default_rng(3), np.random.default_rng(4))
    if accepted:
        assert np.all(np.isfinite(trained_network(*given).weights))
        return
    with pytest.raises(SimulationError, match="more than 1e\\+20"):
        trained_network(*given)


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
