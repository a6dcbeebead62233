"""Experiments with orthogonal bulk rows."""

from __future__ import annotations

import numpy as np

from giantsteps.numerics.experiments.ensembles import FeatureMap, Sizes, along_axes
from giantsteps.numerics.experiments.ridge import ridge_readouts
from giantsteps.numerics.models.model import Model


def orthogonal_features(model: Model, sizes: Sizes, rng: np.random.Generator) -> FeatureMap:
    """phi(x) = sigma(F x) with F = W + r u v^T, W = diag(sqrt(c)) O with uniformly random orthonormal rows O, p <= d.

    v and theta_perp are the first two axes: O has no preferred one.
    """
    basis, triangle = np.linalg.qr(rng.standard_normal((sizes.d, sizes.p)))
    rows = np.sqrt(np.repeat(model.bulks, sizes.groups))[:, None] * (basis * np.sign(np.diag(triangle))).T
    spikes, biases = (np.repeat(np.array(of), sizes.groups, axis=0) for of in (model.spikes, model.biases))
    return along_axes(model, rows, spikes, sizes.slices, biases)


def simulated_test_errors(model: Model, dimension: int, seeds: int, seed: int) -> list[float]:
    """Test errors of ridge regression on spiked features with orthogonal rows, one per seed, on fresh test sets."""
    sizes = Sizes.of(model, dimension)
    errors = []
    for index in range(seeds):
        sequence = np.random.SeedSequence(seed, spawn_key=(dimension, index))
        weights, *streams = map(np.random.default_rng, sequence.spawn(4))
        drawn = orthogonal_features(model, sizes, weights)
        errors += ridge_readouts(drawn, model, sizes, (model.ridge,), streams)[1]
    return errors
