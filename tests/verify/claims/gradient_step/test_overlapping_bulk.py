"""Turned rows after a step from rows that overlap: dense batches, and the isotropic limit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bulk.overlapping_bulk import TurnedEquivalent
from giantsteps.numerics.bulk.overlapping_rows import stepped, turned_bulk
from giantsteps.numerics.models.network import Network
from giantsteps.verify.second_route.grids import SMOOTH
from giantsteps.verify.second_route.networks.overlapping_draws import shared_functions

NETWORK = Network(
    activation("tanh"), activation("sin(z+7/10)"), 1.5, 0.8, 0.1, alpha0=2.0, eta=1.6, overlap=0.4
)  # fmt: skip


def forms(d: int, seed: int, gain: float) -> np.ndarray:
    """(1/d) tr (1 + g B)^-1 and its forms on theta, e and w, B by its definition from one batch; (10,)."""
    n0, rate, overlap = round(NETWORK.alpha0 * d), NETWORK.eta / NETWORK.beta, NETWORK.overlap
    x = np.random.default_rng(seed).standard_normal((n0, d))
    f = shared_functions("tanh", overlap)
    F, G, K, H = (f[name](x[:, 1]) for name in ("F_0", "G_0", "K_0", "H_0"))
    residual = SMOOTH["shifted sin"].value(x[:, 0]) - F
    turned = np.eye(d) + rate / n0 * (x.T * (residual * K)) @ x
    rest = (x.T * residual**2 * (H - (1.0 - overlap) * K**2)) @ x
    covariance = (1.0 - overlap) * (turned @ turned - np.outer(turned[:, 1], turned[:, 1])) + rate**2 * d / n0**2 * rest
    resolvent = np.linalg.inv(np.eye(d) + gain * covariance)
    planes = np.stack([*np.eye(2, d), (residual * G) @ x / n0])
    return np.append(planes @ resolvent @ planes.T, np.trace(resolvent) / d)


def test_dense_batches() -> None:
    equivalent = TurnedEquivalent(0.2, NETWORK.beta, turned_bulk(NETWORK))
    blocks = equivalent.blocks(np.array([0.8, 0.3]))
    expected = np.append(equivalent.forms(blocks), blocks[1])
    found = np.array([forms(150, seed, float(blocks[0])) for seed in range(24)])
    error = found.std(axis=0, ddof=1) / math.sqrt(len(found))
    # Five standard errors, 23 degrees of freedom: ten numbers leave them in 5e-4 of all cases; 1/d is for corrections.
    assert np.all(np.abs(found.mean(axis=0) - expected) < 5.0 * error + 1.0 / 150)
    # And the errors are small enough to tell isotropic rows of the same c.
    isotropic_form = 1.0 / (1.0 + float(blocks[0]) * stepped(NETWORK).bulk)
    assert abs(isotropic_form - expected[4]) > 20.0 * error[4]
    assert float(equivalent.law.bulk) == pytest.approx(stepped(NETWORK).bulk, rel=1e-12)
