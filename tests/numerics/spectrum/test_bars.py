"""The density for one, two and three groups, with and without bias: mass, sign, and edges of a sample at d = 2000."""

from __future__ import annotations

import math

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.experiments.ensembles import Sizes, spiked_random_features
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.spectrum.axis import Axis
from giantsteps.numerics.spectrum.density import Spectrum, equations_of, spectrum, stieltjes
from giantsteps.numerics.spectrum.edge_fluctuations import edge_law

ONE = (ReadoutGroup(1.0, 1.0),)
TWO = (ReadoutGroup(1.0, 0.5), ReadoutGroup(-0.5, 0.5, 1.3))
THREE = (ReadoutGroup(1.0, 0.4), ReadoutGroup(-0.6, 0.35, 1.3), ReadoutGroup(0.3, 0.25, 0.8))
BIASED = tuple(
    ReadoutGroup(group.weight, group.fraction, group.bulk, bias)
    for group, bias in zip(THREE, (0.5, -0.3, 0.1), strict=True)
)


def _model(student: str, groups: tuple[ReadoutGroup, ...], alpha: float = 1.5, beta: float = 0.8) -> Model:
    return Model(
        activation(student), activation("sin"), alpha, beta, 0.1, spike=1.0, bulk=1.0, alignment=0.8, readout=groups
    )


MODELS = {
    "one group": _model("tanh", ONE),
    "one biased group": _model("erf", (ReadoutGroup(1.0, 1.0, bias=0.6),), alpha=2.5, beta=0.5),
    "two groups": _model("erf", TWO),
    "two groups, relu": _model("relu", TWO, alpha=2.0),
    "three groups": _model("tanh", THREE),
    "three biased groups": _model("tanh", BIASED),
    # Samples of small variance leave a tail at the lower edge, whose density falls by ten decades.
    "three biased groups, fewer samples": _model("tanh", BIASED, alpha=0.5),
}


def _beyond(found: Spectrum, model: Model, low: float, high: float) -> float:
    """The share of eigenvalues that the theory has in [low, high], by Gauss-Legendre nodes in a square root."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    share = 0.5 * (1.0 + nodes)
    # x = edge -+ (high - low) s^2: the density ends like a root at the edge.
    towards = high if high in [edge for ends in found.edges for edge in ends] else low
    sign = -1.0 if towards == high else 1.0
    x = towards + sign * (high - low) * share**2
    values = np.array([stieltjes(model, complex(y)).imag for y in x]) / math.pi
    return float(0.5 * weights @ (values * 2.0 * share)) * (high - low)


@pytest.mark.thorough
@pytest.mark.parametrize("name", MODELS)
def test_the_edges_are_those_of_a_sample(name: str) -> None:
    model, d = MODELS[name], 2000
    found = spectrum(model)
    rng = np.random.default_rng([17, d])
    sizes = Sizes.rounded(d, alpha=model.alpha, beta=model.beta, fractions=model.fractions)
    phi = spiked_random_features(model, sizes, rng).features(rng.standard_normal((sizes.n, d)))
    gram = phi.T @ phi if sizes.p <= sizes.n else phi @ phi.T
    values = np.linalg.eigvalsh(gram / sizes.p)
    # An outlier of the means stands apart only where it is beyond the bulk at this size.
    separate = sum(outlier.at(sizes.n) > found.edges[-1][1] for outlier in found.outliers)
    separate += sum(value > found.edges[-1][1] for value in found.detached)
    bulk = values[: len(values) - separate]
    low, high = found.edges[0][0], found.edges[-1][1]
    positive = bulk[max(0, round(found.atom_at_zero * sizes.p) - (sizes.p - len(values))) :]
    axis = Axis(equations_of(model))
    for edge, value, upper in ((high, float(positive[-1]), True), (low, float(positive[0]), False)):
        law = edge_law(axis, edge, sizes.n, sizes.p, upper=upper)
        if law.square_root:
            # Tracy and Widom's law, its upper tail beyond four standard deviations 3e-4, and the normal law of the edge
            # of the sample's own kappa.
            assert abs(law.score(value)) < 4.0
    # Where it stops short of the edge the theory has few eigenvalues beyond: five are passed over once in 150 for
    # independent ones, and far more seldom for eigenvalues, which repel each other.
    for start, stop in ((float(bulk[-1]), high), (low, float(bulk[0]))):
        if start < stop:
            assert sizes.p * _beyond(found, model, start, stop) < 5.0
