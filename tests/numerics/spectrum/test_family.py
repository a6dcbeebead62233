"""The bar of the spectrum on a drawn family: mass 1 within 1e-6, no negative density, edges, no silent failure."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from giantsteps.numerics.experiments.ensembles import Sizes, spiked_random_features
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.profile import profile
from giantsteps.numerics.spectrum.axis import mean_eigenvalue
from giantsteps.numerics.spectrum.density import equations_of, spectrum, stieltjes
from tests.shared.spectrum_family import MEMBERS, drawn

# The first of the family.
FAST = 5


@pytest.mark.parametrize(
    "seed", [*range(FAST), *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(FAST, MEMBERS))]
)
def test_the_bar(seed: int) -> None:
    model = drawn(seed)
    found = spectrum(model)
    assert found.converged, found.status
    assert found.mass == pytest.approx(1.0, abs=1e-6)
    assert found.mass_error < 1e-6
    assert np.all(found.density >= 0.0)
    assert np.all(np.diff(found.cumulative) > -1e-9)
    assert found.cumulative[0] == pytest.approx(found.atom_at_zero + found.below_resolution, abs=1e-9)
    assert found.cumulative[-1] == pytest.approx(1.0, abs=1e-8)
    # What has no density has a name.
    assert found.below_resolution < 1e-8 or "lies below" in found.status or found.edges[0][0] == 0.0
    # The mean eigenvalue by other rules along the spike.
    table = profile(model, 1)
    each = np.array(model.bulks)[:, None] * table.mu1**2 + table.mu2_squared
    mean = model.alpha / model.beta * float(np.array(model.fractions) @ each @ table.weights)
    steps, places = np.diff(found.cumulative), 0.5 * (found.x[1:] + found.x[:-1])
    assert mean_eigenvalue(equations_of(model)) == pytest.approx(mean, rel=1e-8)
    assert found.mean_error < 1e-6
    # And coarsely from what is stored: trapezoids of a hundred points.
    assert float(steps @ places) == pytest.approx(mean, rel=0.05)
    assert len(found.edges) >= 1
    for (low, high), (start, _) in pairwise([*found.edges, (math.inf, math.inf)]):
        assert 0.0 <= low < high < start or math.isinf(high)
    # Beyond an edge g is real, and the density ends there.
    for low, high in found.edges:
        for outside in (low / 1.02, high * 1.02):
            if math.isfinite(outside) and outside > 0.0 and not any(a < outside < b for a, b in found.edges):
                g = stieltjes(model, complex(outside))
                assert abs(g.imag) < 1e-8 * abs(g)


def _distance(model: Model, d: int, seed: int) -> tuple[float, float]:
    """Kolmogorov's distance of a sample's eigenvalues from the theory, and what it may be."""
    rng = np.random.default_rng([seed, d])
    sizes = Sizes.rounded(d, alpha=model.alpha, beta=model.beta, fractions=model.fractions)
    phi = spiked_random_features(model, sizes, rng).features(rng.standard_normal((sizes.n, d)))
    small = phi @ phi.T if sizes.n < sizes.p else phi.T @ phi
    values = np.maximum(np.linalg.eigvalsh(small / sizes.p), 0.0)
    values = values[len(values) - min(sizes.n, sizes.p) :]
    found = spectrum(model)
    theory = np.interp(values, found.x, found.cumulative)
    zeros = sizes.p - len(values)
    sample = (zeros + np.arange(len(values)) + 0.5) / sizes.p
    # The kappa of n samples scatter by Kolmogorov's 1.95/sqrt(n) with probability 1e-3, and a sample carries 1/p of
    # the count; means and signals move at most 2 k + 2 eigenvalues each way; ratios are rounded by 1/(2 d).
    share = min(1.0, sizes.n / sizes.p)
    allowed = 1.95 / math.sqrt(sizes.n) * share + (2.0 * len(model.groups) + 3.0) / sizes.p + 1.0 / (d * model.beta)
    return float(np.max(np.abs(theory - sample))), allowed


@pytest.mark.parametrize("seed", range(FAST))
def test_eigenvalues_are_distributed_so(seed: int) -> None:
    distance, allowed = _distance(drawn(seed), 300, seed)
    assert distance < allowed


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(FAST, MEMBERS, 6))
def test_eigenvalues_of_larger_samples(seed: int) -> None:
    distance, allowed = _distance(drawn(seed), 600, seed)
    assert distance < allowed
