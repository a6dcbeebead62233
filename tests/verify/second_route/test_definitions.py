"""What is measured of one small draw, against its definition by dense matrices; what draws share and what not."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from giantsteps.derivations.bulk import symbols as s
from giantsteps.numerics.experiments.ensembles import unit_rows
from giantsteps.verify.second_route.any_activation import draws as any_draws
from giantsteps.verify.second_route.any_activation.curves import CURVES, Z
from giantsteps.verify.second_route.any_activation.curves import mean as average
from giantsteps.verify.second_route.equivalence import both_maps, twins
from giantsteps.verify.second_route.gradient_step import readouts as ridges
from giantsteps.verify.second_route.gradient_step import real
from giantsteps.verify.second_route.grids import SMOOTH, Array
from giantsteps.verify.second_route.networks import draws, one_letter_rows, overlapping_draws
from giantsteps.verify.second_route.networks.step import Step
from giantsteps.verify.second_route.networks.step import law as law_of
from giantsteps.verify.second_route.sampled import steadied

STEP = Step("tanh", "sin", 1.5, 2.0, 0.8)
ANY = Step("softplus", "shifted sin", 1.5, 2.0, 0.8)
LETTERS = twins.Setting(
    "tanh", "sin", 2.0, 0.8, 0.1, 1.5, 1.6, noise=0.3, letters=(1.0, -0.5), fractions=(0.25, 0.75), biases=(0.8, 0.4)
)
START = Step("tanh", "sin", 1.5, 2.0, 0.8, 0.1, 0.4)
LAW = one_letter_rows.LAWS["wide"]
# A network whose activation has a mean, with noise of the labels and a rate that is not eta.
SETTING = twins.Setting("relu", "sin", 1.75, 0.75, 0.1, 1.5, 3.0, noise=0.2, sets=3)

DRAWS: dict[str, Callable[[int, int], Any]] = {
    "first step": lambda d, seed: draws.first_step(STEP, d, seed),
    "Gaussian rows": lambda d, seed: draws.first_step(STEP, d, seed, True),
    "row statistics": lambda d, seed: draws.row_statistics(False, STEP, d, seed)[0],
    "batch resolvent": lambda d, seed: draws.batch_resolvent(("tanh", 2.0), d, seed),
    "fresh rows": lambda d, seed: draws.fresh_rows(5, d, seed),
    "bulk resolvent": lambda d, seed: draws.bulk_resolvent((STEP, 0.5, 0.7), d, seed)[0],
    "any activation": lambda d, seed: any_draws.row_statistics(ANY, d, seed)[0],
    "any batch": lambda d, seed: any_draws.batch_blocks((ANY, 0.8), d, seed),
    "any bulk": lambda d, seed: any_draws.bulk_resolvent((ANY, 0.5, 0.7), d, seed)[0],
    "twins": lambda d, seed: twins.pair(SETTING, d, seed)[0],
    "both maps": lambda d, seed: both_maps.measured("erf student, tanh target", d, seed, ()),
    "letters": lambda d, seed: twins.network(LETTERS, d, seed),
    "twins of letters": lambda d, seed: twins.twin(LETTERS, d, seed)[:5],
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


# --- networks and their twins


def test_errors_of_readouts_of_several_training_sets_are_their_definition() -> None:
    rng, n, p, ridge = np.random.default_rng(2), 4, 6, 0.6
    features, exact = rng.standard_normal((3 * n, p)), rng.standard_normal(3 * n)
    labels = exact + rng.standard_normal(3 * n)
    test, train = [], []
    for k in range(3):
        own = np.arange(3 * n) // n == k
        # Least squares with rows of sqrt(ridge) beside.
        stacked = np.vstack([features[own], math.sqrt(ridge) * np.eye(p)])
        f = features @ np.linalg.lstsq(stacked, np.append(labels[own], np.zeros(p)))[0]
        test.append(np.mean((exact - f)[~own] ** 2))
        train.append(np.mean((labels - f)[own] ** 2))
    f = features @ ridges.fitted(features, labels, 3, ridge)
    assert ridges.on_others((exact[:, None] - f) ** 2) == pytest.approx(np.mean(test), rel=1e-10)
    assert ridges.on_own((labels[:, None] - f) ** 2) == pytest.approx(np.mean(train), rel=1e-10)


def test_the_noise_of_the_labels_is_in_the_training_error_alone() -> None:
    quiet = twins.Setting("tanh", "tanh", 40.0, 1.0, 0.1, 2.0, 1.0)
    noisy = dataclasses.replace(quiet, noise=0.25)
    of_quiet, of_noisy = (
        np.mean([twins.network(one, 20, seed) for seed in range(8)], axis=0) for one in (quiet, noisy)
    )
    # With forty samples a neuron nearly nothing of it is fitted: 1/40 of it moves either error, and the scatter of
    # 38,400 squares is 1 %.
    assert (of_noisy - of_quiet)[1] == pytest.approx(0.25, abs=0.03)
    assert abs((of_noisy - of_quiet)[0]) < 0.03


# --- controls of mean zero


def test_what_is_linear_in_controls_is_taken_off() -> None:
    rng = np.random.default_rng(7)
    controls = rng.standard_normal((18, 3))
    samples = 2.0 + controls @ np.array([1.0, -2.0, 0.5]) + 1e-3 * rng.standard_normal(18)
    found = steadied(samples, controls)
    # Mean and error are intercept and error of the regression, by its normal equations.
    design = np.column_stack([np.ones(18), controls])
    inverse = np.linalg.inv(design.T @ design)
    line = inverse @ design.T @ samples
    variance = float(np.sum((samples - design @ line) ** 2)) / (18 - 4)
    assert len(found) == 15
    # Rounding: sums of a few dozen terms with condition numbers of order ten.
    assert found.mean() == pytest.approx(line[0], rel=1e-12)
    assert found.var(ddof=1) / 15 == pytest.approx(variance * inverse[0, 0], rel=1e-9)
    assert steadied(samples + controls @ np.array([3.0, 0.0, -5.0]), controls) == pytest.approx(found, abs=1e-12)
    with pytest.raises(ValueError, match="18 samples leave no scatter beside 17 controls: 19 are needed"):
        steadied(samples, np.ones((18, 17)))


def test_fitted_controls_leave_the_false_alarm_rate_where_it_is() -> None:
    """Eighteen samples and six controls, at a level of one per cent: 3000 right means are refuted 30 times, with a
    binomial deviation of 5.4; four of them, so that one seed in 16,000 fails.
    """
    rng = np.random.default_rng(13)
    critical, hits = float(stats.t.ppf(0.995, 11)), 0
    for _ in range(3000):
        controls = rng.standard_normal((18, 6))
        found = steadied(controls @ np.arange(6.0) + rng.standard_normal(18), controls)
        hits += abs(found.mean()) > critical * found.std(ddof=1) / math.sqrt(12)
    assert abs(hits - 30) < 4 * 5.4


# --- rows made even


def test_rows_that_took_no_step_are_made_of_one_norm_alone() -> None:
    """They have nothing of their batch: what even_rows leaves of them is their directions, at their mean norm."""
    rng = np.random.default_rng(4)
    start, batch = unit_rows(rng, 12, 5), rng.standard_normal((9, 5))
    rows = start - start.mean(axis=0)
    bulk = np.sum(rows**2) / 11
    scaled = rows * math.sqrt(bulk) / np.linalg.norm(rows, axis=1)[:, None]
    found = real.even_rows(rows, start, batch, np.sin(batch[:, 0]))
    # The weights of the shapes by normal equations of condition 10^3.
    assert found == pytest.approx(scaled - scaled.mean(axis=0), abs=1e-9)


def test_the_shapes_of_a_batch() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.standard_normal((9, 5)), rng.standard_normal(9)
    B, T, A = (sum(y[k] ** power * np.outer(x[k], x[k]) for k in range(9)) / 9 for power in (0, 1, 2))
    shapes = real.batch_shapes(x, y)
    assert shapes == pytest.approx(np.stack([np.eye(5), B, T, T @ T, A]), abs=1e-13)


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
    measured = expected[2:] if gaussian else expected
    assert draws.row_statistics(gaussian, step, 12, 3)[0] == pytest.approx(measured, rel=1e-10)
    norms = np.sum(start**2, axis=1)
    assert np.allclose(norms, 1.0) == (not gaussian)
    assert np.mean(norms) == pytest.approx(1.0, abs=0.6)  # of ten rows, each 1 up to 0.4


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
    assert draws.batch_resolvent(("tanh", n0 / d), d, 3) == pytest.approx(expected, rel=1e-10)


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
    assert any_draws.batch_blocks((ANY, gain), d, 3) == pytest.approx(expected, rel=1e-10)


def test_the_resolvent_of_rows_is_its_definition() -> None:
    start, move, *_ = draws.first_step(STEP, 12, 3)
    rows, mean = centred(start + STEP.rate * move), (start + STEP.rate * move).mean(axis=0)
    v = mean / np.linalg.norm(mean)
    perp = np.eye(12)[0] - v[0] * v
    perp = perp / np.linalg.norm(perp)
    gram = rows @ (np.eye(12) - np.outer(v, v)) @ rows.T
    G, p = np.linalg.inv(0.5 * gram + 0.7 * np.eye(len(gram))), len(gram)
    norms = np.sum(rows**2, axis=1)
    columns = np.stack([rows @ v, rows @ perp, norms - norms.mean()], axis=1)
    K = columns.T @ G @ columns
    expected = (np.trace(G) / p, np.trace(gram @ G) / p, K[0, 0], K[0, 1], K[1, 1], K[0, 2], K[1, 2], K[2, 2])
    assert (
        s.V2, s.V1, s.overlap_vv, s.overlap_vp, s.overlap_pp, s.overlap_vd, s.overlap_pd, s.overlap_dd,
    ) == real.BULK_COLUMNS  # fmt: skip
    assert draws.bulk_resolvent((STEP, 0.5, 0.7), 12, 3)[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", one_letter_rows.LAWS)
def test_forms_of_drawn_rows_by_their_definitions(name: str) -> None:
    law, d = one_letter_rows.LAWS[name], 11
    at, found = one_letter_rows.spectrum(law, d), one_letter_rows.formulas(law, d)
    beta, V2 = round(law.beta * d) / d, found[s.V2.name]
    assert (found[s.beta.name], found[s.gain.name]) == (beta, pytest.approx(law.conjugate * beta * V2, rel=1e-12))
    inverse = np.linalg.inv(np.eye(d) + found[s.gain.name] * np.diag(at.forms))
    # Neurons are p, modes are d: V2 (D + C tr[B (1 + g B)^-1]/d) = 1.
    bulk = float(np.trace(np.diag(at.forms) @ inverse)) / d
    assert V2 * (law.shift + law.conjugate * bulk) == pytest.approx(1.0, rel=1e-12)
    v, perp, tie = at.v, at.perp, at.tie
    expected = {
        s.row_vv: v @ inverse @ v, s.row_vp: v @ inverse @ perp, s.row_pp: perp @ inverse @ perp,
        s.row_vh: v @ inverse @ tie, s.row_ph: perp @ inverse @ tie, s.row_hh: tie @ inverse @ tie,
        s.row_trace: np.trace(inverse) / d, s.norm_variance: law.norm_variance, s.V1_hat: law.conjugate,
    }  # fmt: skip
    assert {x: found[x.name] for x in expected} == pytest.approx(expected, rel=1e-10)
    assert found[s.V2_hat.name] + found[s.ridge.name] == pytest.approx(law.shift)
    assert (v @ v, perp @ perp, v @ perp) == pytest.approx((1.0, 1.0, 0.0), abs=1e-12)


def test_averages_given_what_a_shared_direction_says_of_a_sine() -> None:
    """E cos(m + s z) = exp(-s^2/2) cos m, and cos^2 by twice the argument: m = sqrt(overlap) t, s^2 = 1 - overlap."""
    t, overlap = np.array([-0.8, 0.3, 1.9]), 0.3
    found = overlapping_draws.shared_functions("sin", overlap)
    m, square = math.sqrt(overlap) * t, 1.0 - overlap
    expected = {
        "F_0": math.exp(-square / 2) * np.sin(m), "G_0": math.exp(-square / 2) * np.cos(m),
        "K_0": -math.exp(-square / 2) * np.sin(m),
        "H_0": (1 + math.exp(-2 * square) * np.cos(2 * m)) / 2 - math.exp(-square) * np.cos(m) ** 2,
    }  # fmt: skip
    for name, values in expected.items():
        assert found[name](t) == pytest.approx(values, abs=1e-12)


def test_averages_of_any_activation_are_sums_over_a_grid() -> None:
    """Of a softplus and a shifted sine, by a rule of their own; labels Y = y - h0, s = sigma' - h1 - h2 z."""
    found = law_of(ANY)
    z, w = np.polynomial.hermite_e.hermegauss(80)
    w = w / w.sum()
    value, prime, y = np.logaddexp(0.0, z), 1 / (1 + np.exp(-z)), np.sin(z + 0.7)
    h0, h1, h2 = w @ value, w @ prime, w @ (z * prime)
    rest, Y = prime - h1 - h2 * z, y - h0
    expected = {
        s.mean_output: h0, s.h1: h1, s.curvature: h2, s.eta: 2.0 * 0.8, s.alpha0: 1.5, s.beta: 0.8, s.turn: 2.0 * h2,
        s.row_weight: 4.0 / 1.5 * (w @ rest**2),
        **{symbol: w @ (z**j * rest**k) for (j, k), symbol in s.slope_moment.items()},
        **{
            symbol: w @ (z**u * Y**k)
            for u, symbols in enumerate((s.label_moment, s.label_slope, s.label_curve))
            for k, symbol in enumerate(symbols) if k
        },
    }  # fmt: skip
    # Poles of the slope at distance pi, 80 nodes: 1e-9 and better.
    assert {x: found[x.name] for x in expected} == pytest.approx(expected, rel=1e-7, abs=1e-8)
