"""Given weights, measured: networks of known seeds against the theory, rows of a known law, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import giantsteps
from giantsteps.numerics.experiments.ensembles import Array, Sizes, trained_network, unit_rows
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.spectrum.weights import weight_quantiles

NETWORKS = (
    Network("tanh", "sin", 1.0, 1.0, 0.1, alpha0=2.0, eta=3.0),
    Network("relu", "relu", 1.0, 2.0, 0.1, alpha0=4.0, eta=3.0, noise=0.2),
    Network("gelu", "sin", 1.0, 2.0, 0.1, alpha0=0.5, eta=8.0),
    Network("-tanh(z)", "sin", 1.0, 0.5, 0.1, alpha0=30.0, eta=1.0),  # a negative spike
    Network("he2", "relu", 1.0, 1.0, 0.1, alpha0=2.0, eta=0.3),  # none
)


def trained(network: Network, d: int, seed: int) -> tuple[Array, Array, Array]:
    """W, W0 and theta of a simulated network."""
    sizes, streams = Sizes.of(network, d), [np.random.default_rng([seed, k]) for k in (0, 0, 1)]
    before = unit_rows(streams[0], sizes.p, d)  # the first that the network draws from the same stream
    drawn = trained_network(network, sizes, *streams[1:])
    return drawn.weights, before, drawn.theta


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: str(network.activation))
def test_simulated_networks_agree_with_the_theory_within_the_errors(network: Network) -> None:
    seeds = 12
    found = [giantsteps.measure(*trained(network, 120, seed), network) for seed in range(seeds)]
    assert {one["rank"].measured for one in found} == {one["rank"].theory for one in found}
    for name in {row["name"] for row in found[0].rows() if row["difference"] is not None}:
        apart = np.array([one[name].difference for one in found], dtype=float)
        # The mean square of twelve normal numbers of variance one is above 3 once in 10^4 times; seeds are fixed.
        assert np.mean(apart**2) < 3.0, name


def test_errors_fall_as_the_root_of_the_dimension() -> None:
    errors = [giantsteps.measure(*trained(NETWORKS[0], d, 1), NETWORKS[0])["spike"].error for d in (100, 400)]
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.2)  # and terms of order 1/d


def test_another_learning_rate_is_told_apart() -> None:
    other = Network("tanh", "sin", 1.0, 1.0, 0.1, alpha0=2.0, eta=4.0)
    found = giantsteps.measure(*trained(NETWORKS[0], 400, 3), other)
    assert min(abs(found[name].difference or 0.0) for name in ("spike", "bulk", "step_bulk")) > 4.0


def test_the_quantiles_of_an_isotropic_bulk_are_those_of_marchenko_and_pastur() -> None:
    for beta in (0.5, 2.0):
        model = giantsteps.Model("relu", "sin", 1.0, beta, 0.1, spike=1.0, bulk=1.3, alignment=0.5)
        low, high = 1.3 * (1.0 - beta**0.5) ** 2, 1.3 * (1.0 + beta**0.5) ** 2
        # x = low + (high - low) (1 - cos t)/2 takes the roots at both ends away; of the positive eigenvalues.
        t = np.linspace(0.0, np.pi, 20_001)[1:-1]
        x = low + 0.5 * (high - low) * (1.0 - np.cos(t))
        below = np.cumsum(np.sin(t) ** 2 / x)
        for share, place in zip((0.1, 0.5, 0.9), weight_quantiles(model, (0.1, 0.5, 0.9)), strict=True):
            assert np.interp(share, below / below[-1], x) == pytest.approx(place, rel=1e-3)


def test_the_rank_of_the_step_counts_the_directions_that_all_neurons_share() -> None:
    rng = np.random.default_rng(5)
    before, noise = unit_rows(rng, 90, 60), 0.3 * unit_rows(rng, 90, 60)
    left, right = rng.standard_normal((2, 90)), unit_rows(rng, 2, 60)
    for count in (0, 1, 2):
        low = left[:count].T @ right[:count]
        assert giantsteps.measure(before + low, before)["rank"].measured == count
        assert giantsteps.measure(before + 2.0 * low + noise, before)["rank"].measured == count


def test_without_theta_the_direction_is_that_of_the_step() -> None:
    W, W0, theta = trained(NETWORKS[0], 200, 1)
    given, step, row, none = (giantsteps.measure(*arrays) for arrays in ((W, W0, 7.0 * theta), (W, W0), (W,), (W, W)))
    assert [one.origin for one in (given, step, row, none)] == ["theta", "step", "mean row", "mean row"]
    assert none["rank"].measured == none["step_bulk"].measured == 0.0
    np.testing.assert_allclose(given.direction, theta, atol=1e-15)
    with pytest.raises(KeyError):
        step["alignment"]
    # Both are v, which the step's own noise turns by O(d^-1/2).
    for one in (step, row):
        assert one.direction @ theta == pytest.approx(given["alignment"].measured, abs=0.05)


def test_a_result_is_rows_a_document_and_a_table() -> None:
    W, W0, theta = trained(NETWORKS[0], 60, 1)
    found = giantsteps.measure(W, W0, theta, NETWORKS[0])
    document = found.to_dict()
    assert [row["name"] for row in found.rows()] == list(document["measures"])
    assert document["measures"]["bulk"]["theory"] == pytest.approx(1.1897320046, abs=1e-9)
    assert len(document["eigenvalues"]) == len(document["step_values"]) == len(document["direction"]) == 60
    assert document["eigenvalues"][0] == pytest.approx(np.linalg.norm(W, 2) ** 2)
    assert found._repr_html_().count("<tr>") == 1 + len(found.rows())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"W": [[1.0, np.nan]]}, "W is not accepted"),
        ({"W": "text"}, "W is not accepted"),
        ({"W": np.full((8, 8), 1j)}, "finite real numbers"),
        ({"W": np.full((8, 8), 1e160)}, "the largest between 1e-50 and 1e50"),
        ({"theta": np.full(8, 1e300)}, "the largest between 1e-50 and 1e50"),
        ({"W": np.ones(9)}, "W has the shape"),
        ({"W0": np.ones((9, 8))}, "W0 has the shape"),
        ({"theta": np.ones(9)}, "theta has the shape"),
        ({"theta": np.zeros(8)}, "theta is zero"),
        ({"model": "tanh"}, "not accepted as a model"),
        ({"model": NETWORKS[1]}, "beta = 2, and these weights p/d = 8/8: use beta=1"),
        ({"model": Network("tanh", "sin", 1.0, 1.0, 0.1, 2.0, 1.0, steps=2)}, "one gradient step"),
    ],
)  # fmt: skip
def test_what_cannot_be_measured_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(giantsteps.ModelError, match=said):
        giantsteps.measure(**({"W": np.eye(8) + 1.0} | change))
