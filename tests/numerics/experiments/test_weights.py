"""Moments of rows of a known law, and of a network after two steps."""

from __future__ import annotations

import numpy as np

from giantsteps.numerics.experiments.ensembles import unit_rows
from giantsteps.numerics.experiments.simulate import simulate
from giantsteps.numerics.experiments.weights import OBSERVABLES, moments_of, simulate_weights
from giantsteps.numerics.models.network import Network


def test_moments_of_rows_whose_norms_lean() -> None:
    """b (1 + b.v) with unit rows b: delta = 2 b.v to first order, so h = 2 v, v_c = 4, and the mean row gains v/d."""
    p, d, spike, alignment = 40_000, 100, 0.3, 0.6
    bulk = unit_rows(np.random.default_rng(1), p, d)
    v, other = np.eye(2, d)
    weights = bulk * (1.0 + bulk @ v)[:, None] + spike * v
    found = moments_of(weights, alignment * v + 0.8 * other)
    assert tuple(found) == OBSERVABLES
    expected = {"spike": spike + 1.0 / d, "alignment": alignment, "bulk": 1.0, "norm_variance": 4.0}
    expected |= {"tilt_along": 2.0, "tilt_across": 0.0, "tilt_square": 4.0}
    for name, value in expected.items():
        # Second order in b.v adds a few times 1/d; 40,000 rows scatter by less.
        assert abs(found[name] - value) < 0.05 * max(abs(value), 1.0), name


def test_the_weights_are_those_of_the_simulated_network() -> None:
    network = Network("tanh", "sin", 1.5, 1.0, 0.1, alpha0=2.0, eta=3.0, steps=2)
    usual, run = (made(network, dimension=60, seeds=3, seed=3) for made in (simulate, simulate_weights))
    assert run.values("test_error") == usual.values("test_error")
    # |mean row|^2 = r^2 + c/p is what the simulation gives; pairs of neurons leave the neurons' own part out.
    squares = np.array(usual.values("spike")) ** 2 - np.array(run.values("spike")) ** 2
    np.testing.assert_allclose(squares, np.array(run.values("bulk")) / 60, rtol=0.05)
