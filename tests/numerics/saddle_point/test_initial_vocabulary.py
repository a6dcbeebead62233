"""One gradient step from a readout with a vocabulary: spike and bulk of each letter, measured on real steps."""

from __future__ import annotations

import math

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.experiments.ensembles import unit_rows
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.saddle_point.finite_width import at_width
from giantsteps.numerics.saddle_point.ridge import solve

LETTERS = (1.0, -0.5, 2.0)
DIMENSION, WIDTH, BATCH, SAMPLES = 300, 300, 900, 600
ETA, RIDGE = 2.5, 0.1
SEEDS = 10
TARGET = activation("z + he(3, z)/4")


def target(z: np.ndarray) -> np.ndarray:
    """z + (z^3 - 3 z)/4, which the uniform readout's two functions along the spike miss by much."""
    return 0.25 * (z**3 + z)


MODEL = Model.from_gradient_step(
    activation("tanh"), TARGET, alpha=SAMPLES / DIMENSION, beta=WIDTH / DIMENSION, ridge=RIDGE,
    alpha0=BATCH / DIMENSION, eta=ETA,
    readout=tuple(ReadoutGroup(u, 1.0 / 3.0) for u in LETTERS), bulk_model="isotropic",
)  # fmt: skip


def one_step(seed: int) -> dict[str, float]:
    """Spike, bulk and alignment by letter, and the test error, after a step from a0 = u/sqrt(p), all written out."""
    rng = np.random.default_rng(seed)
    u = np.repeat(LETTERS, WIDTH // 3)
    W = unit_rows(rng, WIDTH, DIMENSION)
    x = rng.standard_normal((BATCH, DIMENSION))
    y = target(x[:, 0])
    h = x @ W.T
    residual = y - np.tanh(h) @ u / WIDTH
    gradient = ((1.0 - np.tanh(h) ** 2) * residual[:, None]).T @ x / BATCH
    W = W + ETA * DIMENSION / WIDTH * u[:, None] * gradient
    v = u @ W
    v /= np.linalg.norm(v)
    found = {"alignment": float(v[0])}
    for k, letter in enumerate(LETTERS):
        rows = W[k * WIDTH // 3 : (k + 1) * WIDTH // 3]
        spike = float(np.mean(rows @ v))
        found[f"spike {letter}"] = spike
        found[f"bulk {letter}"] = float(np.mean(np.sum((rows - spike * v) ** 2, axis=1)))
    x, fresh = rng.standard_normal((SAMPLES, DIMENSION)), rng.standard_normal((2000, DIMENSION))
    features = np.tanh(x @ W.T) / math.sqrt(WIDTH)
    a = np.linalg.solve(features.T @ features + RIDGE * np.eye(WIDTH), features.T @ target(x[:, 0]))
    found["test error"] = float(np.mean((target(fresh[:, 0]) - np.tanh(fresh @ W.T) @ a / math.sqrt(WIDTH)) ** 2))
    return found


@pytest.fixture(scope="module")
def measured() -> dict[str, tuple[float, float]]:
    """Mean and standard error over seeds."""
    runs = [one_step(seed) for seed in range(SEEDS)]
    values = {name: np.array([run[name] for run in runs]) for name in runs[0]}
    return {name: (float(x.mean()), float(x.std(ddof=1)) / math.sqrt(SEEDS)) for name, x in values.items()}


@pytest.mark.parametrize("k", range(3))
def test_each_letter_has_its_spike_and_bulk(k: int, measured: dict[str, tuple[float, float]]) -> None:
    letter = LETTERS[k]
    for name, theory in ((f"spike {letter}", MODEL.slopes[k]), (f"bulk {letter}", MODEL.bulks[k])):
        mean, error = measured[name]
        # Five standard errors (9 degrees of freedom: a false alarm in 1400) and 3/d for corrections of order 1/d.
        assert abs(mean - theory) < 5.0 * error + 3.0 / DIMENSION * (1.0 + abs(theory)), name
    # u enters the bulk squared: the letters' bulks are distinguishable.
    assert MODEL.bulks[2] - 1.0 == pytest.approx(4.0 * (MODEL.bulks[0] - 1.0), rel=1e-12)
    assert measured["bulk 2.0"][0] - measured["bulk 1.0"][0] > 0.1


def test_the_step_s_direction_is_that_of_the_uniform_readout(measured: dict[str, tuple[float, float]]) -> None:
    mean, error = measured["alignment"]
    assert abs(mean - MODEL.alignment) < 5.0 * error + 3.0 / DIMENSION


def test_the_network_s_error_is_that_of_the_vocabulary_s_features(measured: dict[str, tuple[float, float]]) -> None:
    mean, error = measured["test error"]
    theory = at_width(solve(MODEL), WIDTH).test_error
    # The bulk of a network is not isotropic: a few per cent are known to be left at a step of this size.
    assert abs(mean - theory) < 5.0 * error + 0.05 * theory
    uniform = Model.from_gradient_step(
        activation("tanh"),
        TARGET,
        alpha=SAMPLES / DIMENSION,
        beta=WIDTH / DIMENSION,
        ridge=RIDGE,
        alpha0=BATCH / DIMENSION,
        eta=ETA,
        bulk_model="isotropic",
    )
    # The uniform readout's theory is further off than that.
    assert solve(uniform).test_error - mean > 3.0 * error + 0.05 * theory
