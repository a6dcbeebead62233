"""The law of extreme eigenvalues at an edge: the Tracy-Widom scale against Marchenko-Pastur, and many samples."""

from __future__ import annotations

import math

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.experiments.ensembles import Sizes, spiked_random_features
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.spectrum.axis import Axis
from giantsteps.numerics.spectrum.density import equations_of, spectrum
from giantsteps.numerics.spectrum.edge_fluctuations import edge_law
from tests.shared.spectrum_family import drawn

TWO = (ReadoutGroup(1.0, 0.5), ReadoutGroup(-0.5, 0.5, 1.3))


def _model(student: str, spike: float, alpha: float, beta: float, groups: tuple[ReadoutGroup, ...]) -> Model:
    return Model(
        activation(student), activation("sin"), alpha, beta, 0.1, spike=spike, bulk=1.0, alignment=0.8, readout=groups
    )


def test_the_scale_is_johnstones() -> None:
    """sigma = z without a spike and many neurons: the n eigenvalues are those of X X^T/d, whose largest fluctuates by
    (sqrt(n) + sqrt(d)) (1/sqrt(n) + 1/sqrt(d))^(1/3)/d, Johnstone's scale."""
    alpha, beta, d = 0.25, 4000.0, 1e4
    model = _model("z", 0.0, alpha, beta, (ReadoutGroup(),))
    high = spectrum(model).edges[-1][1]
    law = edge_law(Axis(equations_of(model)), high, round(alpha * d), round(beta * d), upper=True)
    root_n, root_d = math.sqrt(alpha * d), math.sqrt(d)
    johnstone = (root_n + root_d) * (1.0 / root_n + 1.0 / root_d) ** (1.0 / 3.0) / d
    # W^T W/p is its mean up to sqrt(d/p), of which the first order averages out: 1/4000, and slopes of it.
    assert law.tracy_widom / 1.2680340580 == pytest.approx(johnstone, rel=5e-3)
    assert law.own_kappa == pytest.approx(0.0, abs=1e-12)
    assert law.square_root


def test_scores_of_samples_are_standard() -> None:
    model, d, seeds = _model("erf", 1.0, 1.5, 0.8, TWO), 150, 60
    found = spectrum(model)
    axis = Axis(equations_of(model))
    sizes = Sizes.rounded(d, alpha=model.alpha, beta=model.beta, fractions=model.fractions)
    law = edge_law(axis, found.edges[0][0], sizes.n, sizes.p, upper=False)
    scores = []
    for seed in range(seeds):
        rng = np.random.default_rng([seed, 1])
        phi = spiked_random_features(model, sizes, rng).features(rng.standard_normal((sizes.n, d)))
        scores.append(law.score(float(np.linalg.eigvalsh(phi.T @ phi / sizes.p)[0])))
    # Means of 60 scatter by 0.13 and their deviations by 0.1; d^(-1/3) of a deviation, 0.2, is left at this size.
    assert abs(np.mean(scores)) < 0.2 + 4.0 / math.sqrt(seeds)
    assert 0.6 < np.std(scores) < 1.5


@pytest.mark.thorough
def test_a_tail_has_no_square_root() -> None:
    # The 35th model of the family: a group of large slope saturates, and leaves a tail at the lower edge.
    model = drawn(34)
    found = spectrum(model)
    axis = Axis(equations_of(model))
    assert not edge_law(axis, found.edges[0][0], 500, 800, upper=False).square_root
    assert edge_law(axis, found.edges[-1][1], 500, 800, upper=True).square_root


@pytest.mark.thorough
def test_an_edge_beyond_which_samples_without_weight_lie() -> None:
    """Far out along the spike 1 + V vanishes below this edge, where the Gaussian weight is 1e-15 and less."""
    model = _model("erf", 1.0, 0.5, 0.8, (ReadoutGroup(1.0, 0.5, 1.2), ReadoutGroup(0.2, 0.5, 1.2)))
    law = edge_law(Axis(equations_of(model)), spectrum(model).edges[0][0], 500, 800, upper=False)
    assert law.square_root
    assert 0.0 < law.own_kappa < law.tracy_widom
