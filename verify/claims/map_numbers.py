"""The two feature maps of Result 3.2 side by side: one bulk, one training set, one test set, two ridge readouts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import sympy as sp

from derivations.language import symbols as s
from verify.checks.simulation import Measured, column
from verify.claims.brute_force import LINE, SMOOTH, WEIGHT, Array
from verify.protocol.claim import Profile

# student, target, alpha, beta, ridge, spike, bulk, alignment
MODELS: dict[str, tuple[str, str, float, float, float, float, float, float]] = {
    "tanh student, sine target": ("tanh", "sin", 1.5, 1.0, 0.1, 1.0, 1.0, 0.8),
    "erf student, tanh target": ("erf", "tanh", 2.0, 0.8, 0.05, 1.5, 1.2, 0.9),
}
_TEST_FACTOR = 4  # test samples per training sample


def along_spike(activation: str, argument: Array, c: float) -> tuple[Array, Array, Array]:
    """mu0, mu1, mu2 at r kappa = ``argument``, from their definitions."""
    values = SMOOTH[activation].value(argument[:, None] + np.sqrt(c) * LINE)
    mu0 = values @ WEIGHT
    slope = values @ (WEIGHT * LINE)
    residual = values - mu0[:, None] - slope[:, None] * LINE
    return mu0, slope / np.sqrt(c), np.sqrt(residual**2 @ WEIGHT)


# |kappa| of a simulation; linear interpolation between 4000 places is exact to 1e-6, far below sampling errors.
_KAPPAS = np.linspace(-8.0, 8.0, 4001)


@lru_cache(maxsize=8)
def _tables(activation: str, r: float, c: float) -> tuple[Array, Array, Array]:
    return along_spike(activation, r * _KAPPAS, c)


@lru_cache(maxsize=4096)
def both_errors(name: str, d: int, seed: int) -> tuple[float, float]:
    """The test errors of the spiked random features and of the equivalent map on one draw of everything but xi."""
    activation, target, alpha, beta, ridge, r, c, gamma = MODELS[name]
    n, p = round(alpha * d), round(beta * d)
    rng = np.random.default_rng(np.random.SeedSequence(22, spawn_key=(d, seed)))
    rows = rng.standard_normal((p, d))
    rows *= np.sqrt(c) / np.linalg.norm(rows, axis=1)[:, None]
    x = rng.standard_normal(((1 + _TEST_FACTOR) * n, d))
    kappa = x[:, 0]
    y = SMOOTH[target].value(gamma * kappa + np.sqrt(1 - gamma**2) * x[:, 1])
    received = x @ rows.T
    spiked = SMOOTH[activation].value(received + r * kappa[:, None])
    mu0, mu1, mu2 = (np.interp(kappa, _KAPPAS, table) for table in _tables(activation, r, c))
    equivalent = mu0[:, None] + mu1[:, None] * received + mu2[:, None] * rng.standard_normal((len(x), p))
    errors = []
    for features in (spiked, equivalent):
        scaled = features / np.sqrt(p)
        gram = scaled[:n].T @ scaled[:n] + ridge * np.eye(p)
        readout = np.linalg.solve(gram, scaled[:n].T @ y[:n])
        errors.append(float(np.mean((y[n:] - scaled[n:] @ readout) ** 2)))
    return errors[0], errors[1]


# Draws per seed of the profile at each dimension: a draw costs d^3, and varies less at larger d.
DRAWS = (10, 8, 4)


def both_maps(quantity: sp.Basic, profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
    """Test errors of the spiked map, each with its equivalent map's error taken off and the mean of those put back.

    The two errors of a draw share bulk and samples, so their difference has little noise, and the standard error is
    that of the difference.
    """
    column(quantity, s.test_error)
    found: dict[str, tuple[Measured, ...]] = {}
    for name, model in MODELS.items():
        measured = []
        # A profile of fewer dimensions measures at those only, one of none nowhere; of more there are no draws.
        for dimension, draws in zip(profile.dimensions, DRAWS[: len(profile.dimensions)], strict=True):
            d = dimension // 2
            pairs = [both_errors(name, d, seed) for seed in range(draws * profile.seeds)]
            reference = float(np.mean([equivalent for _, equivalent in pairs]))
            samples = tuple(spiked - equivalent + reference for spiked, equivalent in pairs)
            values = {s.equivalent_error.name: reference, s.beta.name: model[3], s.c.name: model[6]}
            measured.append(Measured(d, samples, values))
        found[name] = tuple(measured)
    return found
