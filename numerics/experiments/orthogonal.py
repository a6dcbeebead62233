"""Experiments with orthogonal bulk rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from giantsteps.numerics.bulk.orthogonal import Array
from giantsteps.numerics.experiments.ensembles import FeatureMap, Sizes, block_rows
from giantsteps.numerics.experiments.measure import sampled_test_error
from giantsteps.numerics.experiments.readout import fit
from giantsteps.numerics.gaussian.evaluate import compile_numpy
from giantsteps.numerics.models.model import Model


def orthogonal_features(model: Model, sizes: Sizes, rng: np.random.Generator) -> FeatureMap:
    """phi(x) = sigma(F x) with F = W + r u v^T, W = diag(sqrt(c)) O with uniformly random orthonormal rows O, p <= d.

    v and theta_perp are the first two axes: O has no preferred one.
    """
    basis, triangle = np.linalg.qr(rng.standard_normal((sizes.d, sizes.p)))
    rows = (basis * np.sign(np.diag(triangle))).T
    spikes = np.repeat(np.array(model.spikes), sizes.groups, axis=0)
    weights = np.sqrt(np.repeat(model.bulks, sizes.groups))[:, None] * rows
    weights[:, 0] += spikes[:, 0]
    v, perp = np.eye(2, sizes.d)
    sigma = compile_numpy(model.activation.expression)
    biases = np.repeat(model.biases, sizes.groups)
    theta = model.alignment * v + np.sqrt(model.remainder) * perp
    return FeatureMap(
        weights, spikes, v[None, :], theta, perp, sizes.slices, lambda x: np.asarray(sigma(x @ weights.T + biases))
    )


def simulated_test_errors(model: Model, dimension: int, seeds: int, seed: int) -> list[float]:
    """Test errors of ridge regression on spiked features with orthogonal rows, one per seed, on fresh test sets."""
    sizes = Sizes.rounded(dimension, alpha=model.alpha, beta=model.beta, fractions=model.fractions)
    target, errors = compile_numpy(model.target.expression), []
    for index in range(seeds):
        sequence = np.random.SeedSequence(seed, spawn_key=(dimension, index))
        weights, inputs, noise, test = map(np.random.default_rng, sequence.spawn(4))
        drawn = orthogonal_features(model, sizes, weights)

        def training(
            drawn: FeatureMap = drawn, inputs: np.random.Generator = inputs, noise: np.random.Generator = noise
        ) -> Iterator[tuple[Array, Array]]:
            rows = block_rows(sizes.d)
            for start in range(0, sizes.n, rows):
                x = inputs.standard_normal((min(rows, sizes.n - start), sizes.d))
                labels = np.asarray(target(x @ drawn.theta))
                yield drawn.features(x), labels + np.sqrt(model.noise) * noise.standard_normal(len(x))

        readout = fit(training(), sizes.n, sizes.p, (model.ridge,))
        samples = 2 * max(sizes.n, sizes.d)
        errors.append(float(sampled_test_error(drawn, target, readout.a, samples, test)[0]))
    return errors
