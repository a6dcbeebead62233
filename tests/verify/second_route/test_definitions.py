"""What is measured of one small draw, against its definition by dense matrices; what draws share and what not."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from giantsteps.derivations.bulk import symbols as s
from giantsteps.numerics.models.model import Model
from giantsteps.verify.protocol.claim import Profile
from giantsteps.verify.second_route.any_activation import draws as any_draws
from giantsteps.verify.second_route.any_activation.curves import CURVES, Z
from giantsteps.verify.second_route.any_activation.curves import mean as average
from giantsteps.verify.second_route.equivalence import both_maps, twins
from giantsteps.verify.second_route.gradient_step import real
from giantsteps.verify.second_route.grids import SMOOTH, Array, Curve
from giantsteps.verify.second_route.models import solved
from giantsteps.verify.second_route.networks import draws, letter_networks, one_letter_rows, overlapping_draws
from giantsteps.verify.second_route.networks.letter_networks import Vocabulary
from giantsteps.verify.second_route.networks.numbers import network_values, own_model
from giantsteps.verify.second_route.networks.step import Step

STEP = Step("tanh", "sin", 1.5, 2.0, 0.8)
ANY = Step("softplus", "shifted sin", 1.5, 2.0, 0.8)
LETTERS = Vocabulary(Step("tanh", "sin", 1.5, 2.0, 0.8), (0.25, 0.75), (1.0, -0.5), (0.8, 0.4), 2.0, 0.1, 0.3)
START = overlapping_draws.Start("tanh", "sin", 1.5, 0.8, 2.0, 0.4, 0.1)
LAW = one_letter_rows.LAWS["wide"]
# A network whose activation has a mean, with noise of the labels and a rate that is not eta.
SETTING = twins.Setting("relu", "sin", 1.75, 0.75, 0.1, 1.5, 3.0, noise=0.2, sets=3)
SMALL = Profile("small", points=1, examples=1, dimensions=(40, 80), seeds=1)

DRAWS: dict[str, Callable[[int, int], Any]] = {
    "first step": lambda d, seed: draws.first_step(STEP, d, seed),
    "Gaussian rows": lambda d, seed: draws.first_step(STEP, d, seed, True),
    "row statistics": lambda d, seed: draws.row_statistics(STEP, d, seed, False)[0],
    "batch resolvent": lambda d, seed: draws.batch_resolvent("tanh", d, 2 * d, seed),
    "fresh rows": lambda d, seed: draws.fresh_rows(5, d, seed),
    "bulk resolvent": lambda d, seed: tuple(draws.bulk_resolvent(STEP, d, 0.5, 0.7, seed)[0].values()),
    "any activation": lambda d, seed: any_draws.row_statistics(ANY, d, seed)[0],
    "any batch": lambda d, seed: any_draws.batch_blocks(ANY, 0.8, d, seed),
    "any bulk": lambda d, seed: tuple(any_draws.bulk_resolvent(ANY, d, 0.5, 0.7, seed)[0].values()),
    "twins": lambda d, seed: twins.pair(SETTING, d, seed),
    "turned": lambda d, seed: twins._turned(d, seed),
    "both maps": lambda d, seed: both_maps.measured("erf student, tanh target", d, seed, ()),
    "letters": lambda d, seed: dataclasses.astuple(letter_networks.drawn(LETTERS, d, seed)),
    "twins of letters": lambda d, seed: dataclasses.astuple(letter_networks.twin(LETTERS, d, seed))[:3],
    "overlapping rows": lambda d, seed: overlapping_draws.measured_step(START, d, seed),
    "rows by a law": lambda d, seed: one_letter_rows.drawn(LAW, d, seed)[0],
}


def flat(found: Any) -> Array:
    """All numbers of a draw."""
    if isinstance(found, tuple):
        return np.concatenate([flat(part) for part in found])
    return np.ravel(np.asarray(found, dtype=float))


@pytest.mark.parametrize("name", DRAWS)
def test_every_number_of_a_draw_depends_on_its_seed_and_its_dimension(name: str) -> None:
    first, again, other, larger = (flat(DRAWS[name](d, seed)) for d, seed in ((16, 3), (16, 3), (16, 4), (20, 3)))
    assert np.array_equal(first, again)
    # Of the coordinates of the target direction, signs and zeros may agree; nothing else.
    assert np.mean(first == other) < 0.05
    assert not np.isin(first, larger).all()


# --- ridge readouts


def test_readouts_beside_their_twins_are_their_definition() -> None:
    rng, n, p = np.random.default_rng(2), 4, 6
    features, exact, u = rng.standard_normal((3 * n, p)), rng.standard_normal(3 * n), rng.standard_normal(3 * n)
    labels, found = exact + rng.standard_normal(3 * n), []
    for k in range(3):
        own = np.arange(3 * n) // n == k
        # Least squares with sqrt(ridge p) rows beside, in the scale a of F a/p.
        stacked = np.vstack([features[own], math.sqrt(0.1 * p) * np.eye(p)])
        a = np.linalg.lstsq(stacked, np.append(labels[own], np.zeros(p)))[0]
        f = features @ a
        found.append((
            np.mean((exact - f)[~own] ** 2), np.mean((labels - f)[own] ** 2), np.sum(a), np.mean((f * u)[~own]),
            np.mean((f * (u**3 - 3 * u))[~own]) / 6,
        ))  # fmt: skip
    assert SETTING.ridge == 0.1
    measured = twins._readouts(features, exact, labels, u, SETTING)
    assert measured == pytest.approx(tuple(np.mean(found, axis=0)), rel=1e-10)


def test_a_readout_of_either_map_is_its_definition() -> None:
    drawn = both_maps.draw("erf student, tanh target", 20, 3)
    pair, n, p = drawn.pair, drawn.training, len(drawn.rows)
    assert (n, p, len(drawn.inputs)) == (40, 16, 200)
    assert np.sum(drawn.rows**2, axis=1) == pytest.approx(np.full(p, pair.bulk))
    x = drawn.inputs
    assert drawn.labels == pytest.approx(np.tanh(0.9 * x[:, 0] + math.sqrt(1 - 0.81) * x[:, 1]))
    values = SMOOTH["erf"].value(x @ drawn.rows.T + 1.5 * x[:, :1])
    train = values[:n]
    R = np.linalg.inv(train.T @ train / p + pair.ridge * np.eye(p))
    a = R @ train.T @ drawn.labels[:n] / p  # over sqrt(p)
    kappa = x[:n, 0]
    leverage = np.array([row @ R @ row / p for row in train])
    expected = (
        np.mean((drawn.labels - values @ a)[n:] ** 2), a.sum(), a @ drawn.rows[:, 0],
        np.trace(drawn.rows @ drawn.rows.T @ R) / p, np.trace(R) / p, np.mean((kappa**2 - 1) * (1 - leverage)),
    )  # fmt: skip
    found = both_maps.readout(drawn, both_maps.spiked(drawn), traces=True)
    assert found == pytest.approx(expected, rel=1e-9)
    assert both_maps.measured("erf student, tanh target", 20, 3, ())[0] == found


@pytest.mark.parametrize("paired", [False, True])
def test_a_readout_of_letters_is_its_definition(paired: bool) -> None:
    d, seed = 16, 2
    draw = letter_networks._draw(LETTERS, d, seed)
    n, p, rows, sets = 32, 13, draw.rows, letter_networks._sets(LETTERS)
    first = draw.group == 0
    assert (len(draw.labels), len(rows), first.sum()) == (sets * n, p, 3)
    u = np.where(first, 1.0, -0.5)
    stepped = real.after_step(draw.start, SMOOTH["tanh"], *draw.batch, 2.0, u)
    assert rows == pytest.approx(stepped, abs=1e-13)
    if paired:
        rows = np.empty_like(draw.rows)
        for own in (first, ~first):
            mean = draw.rows[own].mean(axis=0)
            rows[own] = real.even_rows(draw.rows[own] - mean, draw.start[own], *draw.batch) + mean
    features = np.tanh(draw.samples @ rows.T + np.where(first, 0.8, 0.4)) / math.sqrt(p)
    bulk = rows[first] - rows[first].mean(axis=0)
    norms, clean, found = np.sum(bulk**2, axis=1), np.sin(draw.samples[:, 0]), []
    for k in range(sets):
        own = np.arange(sets * n) // n == k
        stacked = np.vstack([features[own], math.sqrt(0.1) * np.eye(p)])
        a = np.linalg.lstsq(stacked, np.append(draw.labels[own], np.zeros(p)))[0]
        found.append((
            np.mean((clean - features @ a)[~own] ** 2), np.mean((draw.labels - features @ a)[own] ** 2),
            a[first].sum() / math.sqrt(p), a[first] @ (norms - norms.mean()) / math.sqrt(p),
        ))  # fmt: skip
    measured = (letter_networks.twin if paired else letter_networks.drawn)(LETTERS, d, seed)
    assert dataclasses.astuple(measured) == pytest.approx(tuple(np.mean(found, axis=0)), rel=1e-9, abs=1e-12)
    assert np.std(draw.labels - clean) == pytest.approx(math.sqrt(0.3), rel=0.3)  # of 192 draws


# --- twins


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_a_twin_has_the_mean_row_of_its_network(noise: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a linear student the rows are read off the features: of both, beside the rate and the labels of the step."""
    d, setting = 10, dataclasses.replace(SETTING, student="line", noise=noise)
    seen: dict[str, list[Any]] = {"step": [], "even": [], "read": []}
    step, even, read = twins.after_step, twins.even_rows, twins._readouts
    monkeypatch.setitem(twins._CURVES, "line", Curve(lambda z: np.asarray(z) + 0.0, np.ones_like))
    monkeypatch.setattr(twins, "after_step", lambda *given: (seen["step"].append(given), step(*given))[1])
    monkeypatch.setattr(twins, "even_rows", lambda *given: (seen["even"].append(given), even(*given))[1])
    monkeypatch.setattr(twins, "_readouts", lambda *given: (seen["read"].append(given), read(*given))[1])
    found = twins.pair.__wrapped__(setting, d, 1)
    ((start, _, batch, given, rate),) = seen["step"]
    assert rate == pytest.approx(setting.eta / setting.beta)
    assert np.sum(start**2, axis=1) == pytest.approx(np.ones(8))
    assert (batch.shape, np.array_equal(given, np.sin(batch[:, 0]))) == ((15, d), noise == 0.0)
    rng = np.random.default_rng(np.random.SeedSequence(97, spawn_key=(d, 1)))
    x = [rng.standard_normal(shape) for shape in ((8, d), (15, d), (3 * 18, d))][-1]
    assert given == pytest.approx(np.sin(batch[:, 0]) + math.sqrt(noise) * (rng.standard_normal(15) if noise else 0.0))
    trained = np.sin(x[:, 0]) + math.sqrt(noise) * (rng.standard_normal(54) if noise else 0.0)
    network, twin = (np.linalg.lstsq(x, features)[0].T for features, *_ in seen["read"])
    own = step(start, twins._CURVES["line"], batch, given, rate)
    assert network == pytest.approx(own, abs=1e-12)
    assert twin.mean(axis=0) == pytest.approx(own.mean(axis=0), abs=1e-12)
    assert twin - own.mean(axis=0) == pytest.approx(even(own - own.mean(axis=0), start, batch, given), abs=1e-12)
    ((_, before, *rest),) = seen["even"]
    assert np.array_equal(before, start)
    assert np.array_equal(rest[0], batch)
    for _, exact, labels, u, read_with in seen["read"]:
        assert read_with == setting
        assert np.array_equal(u, x[:, 0])
        assert np.array_equal(exact, np.sin(u))
        assert labels == pytest.approx(trained)
    for numbers, (features, *rest) in zip(found, seen["read"], strict=True):
        assert numbers == read(features, *rest)


@pytest.mark.parametrize("quantity", twins._QUANTITIES, ids=str)
def test_of_a_twin_its_own_number_is_taken_off_and_its_own_limit_put_back(quantity: Any) -> None:
    setting, at = SETTING, twins._QUANTITIES.index(quantity)
    (sizes,) = twins.beside_twins({"one": setting}, quantity, SMALL).values()
    assert [size.dimension for size in sizes] == [10, 20]
    for size in sizes:
        d = size.dimension
        model = own_model(setting.at(d), bulk_model="isotropic")
        assert (model.noise, model.alpha, model.beta) == (0.2, round(1.75 * d) / d, round(0.75 * d) / d)
        even = solved(model)
        limits = (even.test_error, even.training_error, float(even.order_parameters.m[0]), *twins.learned(even))
        assert len(set(limits)) == 5
        draws_of = [twins.pair(setting, d, seed) for seed in range(len(size.samples))]
        expected = [network[at] - twin[at] + limits[at] for network, twin in draws_of]
        assert size.samples == pytest.approx(expected, rel=1e-12)
        assert size.values[s.cubic_isotropic.name] == limits[4]
        isotropic = [size.values[x.name] for x in (s.error_isotropic, s.training_isotropic, s.m_isotropic)]
        assert isotropic == pytest.approx(limits[:3], rel=1e-8)  # what either solution is converged to
        own = solved(own_model(setting.at(d)))
        assert size.values == network_values(own) | {s.cubic_isotropic.name: limits[4]}
        order = own.order_parameters
        named = (s.test_error, s.training_error, s.m, s.zeta, s.psi, s.chi)
        values = (own.test_error, own.training_error, order.m[0], order.zeta[0], order.psi[0], order.chi[0])
        assert [size.values[x.name] for x in named] == list(values)


@pytest.mark.parametrize("name", ["softplus(z)", "tanh(z) + (z**2 - 1)/5"])
def test_the_learned_function_by_its_definition(name: str) -> None:
    """E over (kappa, z, xi): f is the student's own average over what of W x is neither, by Gauss rules."""
    solution = solved(Model(name, "sin(z+1/2)", 1.5, 1.0, 0.1, spike=1.2, bulk=1.3, alignment=0.6))
    order = solution.order_parameters
    curve: Callable[[Array], Array] = (
        (lambda z: np.logaddexp(0.0, z)) if name == "softplus(z)" else lambda z: np.tanh(z) + (z * z - 1) / 5
    )
    z, w = np.polynomial.hermite_e.hermegauss(60)
    w = w / w.sum()
    kappa = z[:, None]
    values = curve(1.2 * kappa + math.sqrt(1.3) * z)
    mu0, mu1 = values @ w, values @ (w * z) / math.sqrt(1.3)
    f = (order.m[0] * mu0 + order.zeta[0] * z * mu1)[:, None] + order.psi[0] * mu1[:, None] * z
    u = 0.6 * kappa + 0.8 * z
    # 60 nodes for functions with poles at distance pi/2: 1e-6.
    expected = (w @ (f * u) @ w, w @ (f * (u**3 - 3 * u)) @ w / 6)
    assert twins.learned(solution) == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_a_setting_stands_at_the_ratios_that_its_sizes_have() -> None:
    network = dataclasses.replace(SETTING, alpha=1.72, beta=0.74, alpha0=1.46, eta=3.0).at(10)
    assert (network.alpha, network.beta, network.alpha0) == (1.7, 0.7, 1.5)
    assert (network.ridge, network.noise, network.groups[0].weight) == (0.1, 0.2, 1.0)
    assert network.eta / network.beta == pytest.approx(3.0 / 0.74)


# --- rows made even


def test_rows_that_took_no_step_are_made_of_one_norm_alone() -> None:
    """They have nothing of their batch: what even_rows leaves of them is their directions, at their mean norm."""
    rng = np.random.default_rng(4)
    start, batch = real.unit_rows(12, 5, rng), rng.standard_normal((9, 5))
    rows = start - start.mean(axis=0)
    bulk = np.sum(rows**2) / 11
    scaled = rows * math.sqrt(bulk) / np.linalg.norm(rows, axis=1)[:, None]
    found = real.even_rows(rows, start, batch, np.sin(batch[:, 0]))
    # The weights of the shapes by normal equations of condition 10^3.
    assert found == pytest.approx(scaled - scaled.mean(axis=0), abs=1e-9)


def test_the_shapes_of_a_batch_and_their_weights() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.standard_normal((9, 5)), rng.standard_normal(9)
    B, T, A = (sum(y[k] ** power * np.outer(x[k], x[k]) for k in range(9)) / 9 for power in (0, 1, 2))
    shapes = real.batch_shapes(x, y)
    assert shapes == pytest.approx(np.stack([np.eye(5), B, T, T @ T, A]), abs=1e-13)
    weights = np.array([1.0, -0.2, 0.3, 0.1, 0.4])
    matrix = sum(weight * shape for weight, shape in zip(weights, (np.eye(5), B, T, T @ T, A), strict=True))
    assert real._weights(matrix, shapes) == pytest.approx(weights, abs=1e-9)  # normal equations of condition 10^4


# --- statistics of rows


def centred(rows: Array) -> Array:
    return np.asarray(rows - rows.mean(axis=0))


def covariances(bulk: Array, batch: Array) -> list[float]:
    """d times Var b.theta, Cov(b.theta, |b|^2), Cov(b.v~, |b|^2), Var |b|^2, with p - 1."""
    d, norms = bulk.shape[1], np.sum(bulk**2, axis=1)
    return [d * np.cov(x, y)[0, 1] for x, y in (
        (bulk[:, 0], bulk[:, 0]), (bulk[:, 0], norms), (bulk @ batch, norms), (norms, norms)
    )]  # fmt: skip


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("rate", [0.5, 3.0])
def test_statistics_of_rows_are_their_definitions(gaussian: bool, rate: float) -> None:
    step = dataclasses.replace(STEP, rate=rate)
    start, move, x, labels = draws.first_step(step, 12, 3, gaussian)
    assert labels == pytest.approx(np.sin(x[:, 0]))
    h = x @ start.T
    residual = labels - np.tanh(h).mean(axis=1)
    assert move == pytest.approx((residual[:, None] / np.cosh(h) ** 2).T @ x / len(x), abs=1e-13)
    expected = covariances(centred(start + rate * move), labels @ x / len(x))
    assert draws.row_statistics(step, 12, 3, gaussian)[0] == pytest.approx(expected, rel=1e-10)
    norms = np.sum(start**2, axis=1)
    assert np.allclose(norms, 1.0) == (not gaussian)
    assert np.mean(norms) == pytest.approx(1.0, abs=0.6)  # of ten rows, each 1 up to 0.4


def test_statistics_of_rows_of_any_activation_are_their_definitions() -> None:
    drawn, x, labels, start = any_draws._step(ANY, 12, 3)
    h0 = average(CURVES["softplus"].value(Z))
    plain = np.sin(x[:, 0] + 0.7)
    assert labels == pytest.approx(plain - h0)
    curve, h = CURVES["softplus"], x @ start.T
    residual = plain - curve.value(h).mean(axis=1)
    rows = start + 2.0 * (residual[:, None] * curve.prime(h)).T @ x / len(x)
    bulk, mean, p = centred(rows), rows.mean(axis=0), len(rows)
    size = math.sqrt(mean @ mean - np.sum(bulk**2) / (p - 1) / p)
    expected = [size, mean[0] / size, np.sum(bulk**2) / (p - 1), *covariances(bulk, labels @ x / len(x))]
    assert any_draws.row_statistics(ANY, 12, 3)[0] == pytest.approx(expected, rel=1e-10)
    assert drawn.batch == pytest.approx(labels @ x / len(x))


def test_a_step_of_overlapping_rows_is_its_definition() -> None:
    d, p, n0 = 20, 16, 30
    rng = np.random.default_rng(np.random.SeedSequence(53, spawn_key=(d, 3)))
    rows = overlapping_draws.first_layer(START, p, d, rng)
    assert rows[:, 1] == pytest.approx(np.full(p, math.sqrt(0.4)))
    assert np.sum(rows**2, axis=1) == pytest.approx(np.ones(p))
    x, noise = rng.standard_normal((n0, d)), rng.standard_normal(n0)
    residual = np.sin(x[:, 0]) + math.sqrt(0.1) * noise - np.tanh(x @ rows.T).mean(axis=1)
    after = rows + 2.0 * (residual[:, None] / np.cosh(x @ rows.T) ** 2).T @ x / n0
    mean, bulk = after.mean(axis=0), np.sum(centred(after) ** 2) / (p - 1)
    size = math.sqrt(mean @ mean - bulk / p)
    assert overlapping_draws.measured_step(START, d, 3) == pytest.approx((size, mean[0] / size, bulk), rel=1e-10)


def test_a_step_with_letters_is_its_definition() -> None:
    rng = np.random.default_rng(5)
    rows, x, y, u = rng.standard_normal((7, 4)), rng.standard_normal((9, 4)), rng.standard_normal(9), np.arange(7) - 2.5
    residual = y - np.tanh(x @ rows.T) @ u / 7
    moved = [
        rows[i] + 1.7 * u[i] / 9 * sum(residual[k] / np.cosh(x[k] @ rows[i]) ** 2 * x[k] for k in range(9))
        for i in range(7)
    ]
    assert real.after_step(rows, SMOOTH["tanh"], x, y, 1.7, u) == pytest.approx(np.array(moved), rel=1e-12)


# --- resolvents


def test_forms_of_a_batch_are_their_definitions() -> None:
    d, n0 = 8, 12
    x = np.random.default_rng(np.random.SeedSequence(37, spawn_key=(d, 3))).standard_normal((n0, d))
    y = np.tanh(x[:, 0])
    Q = np.linalg.inv(sum(y[k] ** 2 * np.outer(x[k], x[k]) for k in range(n0)) / n0 + draws.SHIFT * np.eye(d))
    v, w3 = y @ x / n0, y**3 @ x / n0
    expected = (np.trace(Q) / d, Q[0, 0], Q[0] @ v, Q[0] @ w3, v @ Q @ w3)
    assert draws.batch_resolvent("tanh", d, n0, 3) == pytest.approx(expected, rel=1e-10)


def test_blocks_of_a_batch_are_their_definitions() -> None:
    d, n0, gain = 8, 12, 0.8
    x = np.random.default_rng(np.random.SeedSequence(47, spawn_key=(d, 3))).standard_normal((n0, d))
    prime = CURVES["softplus"].prime(Z)
    h0, h2 = average(CURVES["softplus"].value(Z)), average(Z * prime)
    square = average((prime - average(prime) - h2 * Z) ** 2)
    y = np.sin(x[:, 0] + 0.7) - h0
    P = np.eye(d) + 2.0 * h2 * sum(y[k] * np.outer(x[k], x[k]) for k in range(n0)) / n0
    A = sum(y[k] ** 2 * np.outer(x[k], x[k]) for k in range(n0)) / n0
    # E[s^2] of what of sigma' is neither constant nor linear, and the weight e^2 E[s^2]/alpha0 of A in the rows.
    H = np.linalg.inv(np.eye(d) + gain * (P @ P + 4.0 * square / 1.5 * A))
    expected = (
        np.trace(H) / d, np.trace(H @ P) / d, 1 - gain * np.trace(P @ H @ P) / d, H[0, 0], (H @ P)[0, 0],
    )  # fmt: skip
    assert any_draws.batch_blocks(ANY, gain, d, 3) == pytest.approx(expected, rel=1e-10)


def test_the_resolvent_of_rows_is_its_definition() -> None:
    drawn = draws.draw(STEP, 12, 3)
    assert drawn.rows.mean(axis=0) == pytest.approx(np.zeros(12), abs=1e-14)
    *_, x, labels = draws.first_step(STEP, 12, 3)
    assert drawn.batch == pytest.approx(labels @ x / 18)
    v = drawn.mean / np.linalg.norm(drawn.mean)
    perp = np.eye(12)[0] - v[0] * v
    perp = perp / np.linalg.norm(perp)
    gram = drawn.rows @ (np.eye(12) - np.outer(v, v)) @ drawn.rows.T
    G, p = np.linalg.inv(0.5 * gram + 0.7 * np.eye(len(gram))), len(gram)
    norms = np.sum(drawn.rows**2, axis=1)
    columns = np.stack([drawn.rows @ v, drawn.rows @ perp, norms - norms.mean()], axis=1)
    K = columns.T @ G @ columns
    expected = {
        s.V2: np.trace(G) / p, s.V1: np.trace(gram @ G) / p, s.overlap_vv: K[0, 0], s.overlap_vp: K[0, 1],
        s.overlap_pp: K[1, 1], s.overlap_vd: K[0, 2], s.overlap_pd: K[1, 2], s.overlap_dd: K[2, 2],
    }  # fmt: skip
    found = draws.bulk_resolvent(STEP, 12, 0.5, 0.7, 3)[0]
    assert found == pytest.approx({symbol.name: value for symbol, value in expected.items()}, rel=1e-9)


def test_a_network_and_its_twin_in_one_resolvent() -> None:
    """K_v,perp of rows less that of even rows of the same mean, at the conjugates of the step."""
    d, (step, C, shift) = 12, twins._TURNED
    start, move, x, labels = draws.first_step(step, d, 3)
    rows = start + step.rate * move
    mean = rows.mean(axis=0)
    v = mean / np.linalg.norm(mean)
    perp = np.eye(d)[0] - v[0] * v
    perp = perp / np.linalg.norm(perp)

    def overlap(W: Array) -> float:
        planar = W - np.outer(W @ v, v)
        return float((W @ v) @ np.linalg.solve(C * planar @ planar.T + shift * np.eye(len(W)), W @ perp))

    even = real.even_rows(rows - mean, start, x, labels)
    assert twins._turned(d, 3) == pytest.approx(overlap(rows - mean) - overlap(even), rel=1e-8)
