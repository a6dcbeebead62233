"""The spectrum in numbers: the ridge solver, Marchenko-Pastur, eigenvalues of samples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.experiments.ensembles import Sizes, spiked_random_features
from giantsteps.numerics.gaussian.coefficients import conditional_coefficients
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.spectrum.density import spectrum, stieltjes

VALUES = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "spike": 1.0, "bulk": 1.0, "alignment": 0.8}
TWO = (ReadoutGroup(1.0, 0.5, 1.0, 0.0), ReadoutGroup(-0.5, 0.5, 1.3, 0.2))


def slow(*values: object) -> Any:
    return pytest.param(*values, marks=pytest.mark.thorough)


def _model(student: str, **values: object) -> Model:
    return Model(activation(student), activation("sin"), **(VALUES | values))  # type: ignore[arg-type]


def _sample(model: Model, d: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng([seed, d])
    sizes = Sizes.rounded(d, alpha=model.alpha, beta=model.beta, fractions=model.fractions)
    phi = spiked_random_features(model, sizes, rng).features(rng.standard_normal((sizes.n, d)))
    return np.linalg.eigvalsh(phi.T @ phi / sizes.p)


def test_off_the_axis_it_is_a_samples_transform() -> None:
    model = _model("tanh", readout=TWO)
    values = _sample(model, 500, 1)
    for z in (0.5 + 0.3j, 2.0 + 0.5j, -0.2 + 0.4j):
        # (1/p) sum 1/(l - z) fluctuates like 1/p and the outliers move it by 1/p: 5/500 is generous.
        assert abs(np.mean(1.0 / (values - z)) - stieltjes(model, z)) < 0.01


def test_a_linear_network_without_spike_is_a_product_of_two_wisharts() -> None:
    # sigma = z, r = 0: Phi = X W^T. As beta -> infinity W^T W/p -> c/d, and Phi Phi^T/p has the law of X X^T/d.
    model = _model("z", spike=0.0, alpha=0.25, beta=400.0)
    found = spectrum(model)
    # Marchenko-Pastur: (1 +- sqrt(alpha))^2, the edges of X X^T/d. W^T W/p is c/d up to sqrt(d/p), and what is of
    # first order in it averages out: 1/beta = 1/400 of their size.
    low, high = found.edges[0]
    assert low == pytest.approx((1.0 - 0.5) ** 2, rel=2.0 / 400.0)
    assert high == pytest.approx((1.0 + 0.5) ** 2, rel=2.0 / 400.0)
    assert found.atom_at_zero == pytest.approx(1.0 - 0.25 / 400.0, abs=1e-15)


def test_edges_are_turning_points() -> None:
    model = _model("tanh")
    ((_, high),) = spectrum(model).edges
    # Im g grows like a square root: at 1e-6 and 4e-6 inside it differs by a factor 2, up to the next power.
    inside = [stieltjes(model, complex(high * (1.0 - h))).imag for h in (1e-6, 4e-6)]
    assert inside[1] / inside[0] == pytest.approx(2.0, rel=1e-3)
    assert stieltjes(model, complex(high * (1.0 + 1e-6))).imag == pytest.approx(0.0, abs=1e-9)


def test_outliers_with_their_corrections() -> None:
    model = _model("tanh")
    (outlier,) = spectrum(model).outliers
    gaps, d = [], 120
    # mu0 by linear interpolation on a fine grid: 1e-6 of a correction of order one.
    line = np.linspace(-6.0, 6.0, 2001)
    mean = conditional_coefficients(model.activation, 1.0, 1.0, 0.0, line)[0]
    for seed in range(24):
        rng = np.random.default_rng([seed, 5])
        sizes = Sizes.rounded(d, alpha=model.alpha, beta=model.beta, fractions=model.fractions)
        x = rng.standard_normal((sizes.n, d))
        phi = spiked_random_features(model, sizes, rng).features(x)
        top = float(np.linalg.eigvalsh(phi.T @ phi)[-1]) / sizes.p
        # mu0(kappa) is measured apart, so that the sample's own sum of mu0^2 replaces n E[mu0^2].
        mu0 = np.interp(x[:, 0], line, mean)
        gaps.append(top - float(mu0 @ mu0))
    error = float(np.std(gaps, ddof=1)) / math.sqrt(len(gaps))
    # Student's t with 23 degrees of freedom exceeds 4.5 with probability 2e-4; terms of order 1/p are 1 %.
    assert abs(float(np.mean(gaps)) - outlier.correction) < 4.5 * error
    assert error < 0.3 * outlier.correction


def test_a_gap_in_the_support() -> None:
    groups = (ReadoutGroup(0.2, 0.5, 0.02, 0.0), ReadoutGroup(-0.5, 0.5, 2.0, 0.3))
    model = _model("tanh", alpha=8.0, beta=0.5, readout=groups)
    found = spectrum(model)
    assert len(found.edges) == 2
    for outlier in found.outliers:  # they leave the whole of it
        assert outlier.at(math.ceil(outlier.from_samples)) > 0.9 * found.edges[1][1]
    assert found.mass == pytest.approx(1.0, abs=1e-6)
    # Neurons of small variance carry the lower interval: half of all.
    below = found.x <= found.edges[0][1]
    values = _sample(model, 300, 1)
    # The outliers of the means take at most two eigenvalues out of them.
    assert len(values) // 2 - 2 <= np.sum(values <= found.edges[0][1] * 1.05) <= len(values) // 2
    assert np.any(below)


@pytest.mark.parametrize(("student", "spike"), [("z - sin(z)", 0.3), slow("z + 4*cos(z/2)", 0.1), ("cos(2*z)", 0.1)])
def test_features_whose_variance_comes_and_goes_have_an_edge(student: str, spike: float) -> None:
    # (1 - exp(-1/2) cos x)^2 and its kind: at two far places alone it may look as if it grew. No edge is beyond that of
    # two random factors, of rows and of inputs, times the largest variance.
    model = _model(student, alpha=0.5, spike=spike)
    edge = spectrum(model).edges[-1][1]
    parts = conditional_coefficients(model.activation, spike, 1.0, 0.0, np.linspace(-12.0, 12.0, 400) / spike)
    assert edge < (math.sqrt(0.5) + 1.0) ** 2 * float(np.max(parts.mu1**2 + parts.mu2**2)) * (1.0 + math.sqrt(2.0)) ** 2


@pytest.mark.parametrize("student", ["he2", "exp(z/2)", "z*sin(z)", "relu(-z)**2"])
def test_features_of_unbounded_variance_have_no_upper_edge(student: str) -> None:
    found = spectrum(_model(student))
    assert math.isinf(found.edges[-1][1])
    assert found.mass == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    ("student", "spike"),
    [("relu", 0.3), slow("gelu", 0.2), ("z*tanh(z)", 0.3), slow("z + 3*tanh(z)", 0.4)],
)
def test_features_whose_variance_takes_a_wide_step_end_all_the_same(student: str, spike: float) -> None:
    # Their variance is 17 % larger at the end of the reach than half way there, and that is where it stays.
    model = _model(student, alpha=0.5, spike=spike)
    found = spectrum(model)
    assert found.mass == pytest.approx(1.0, abs=1e-6)
    # Below one or two outliers; the largest eigenvalue fluctuates, and lies inside, by some d^(-2/3) = 2 %.
    drawn = _sample(model, 300, 2)
    assert found.edges[-1][1] == pytest.approx(float(drawn[-1 - len(found.outliers)]), rel=0.12)


@pytest.mark.parametrize("values", [{"alpha": 1.0, "beta": 2.0}, {"alpha": 1.5, "spike": 20.0}], ids=["n = d", "p = d"])
def test_linear_features_with_a_square_factor_reach_down_to_zero(values: dict[str, float]) -> None:
    # Phi = X W^T, and a square Gaussian factor has singular values down to 0. Twice the spike's eigenvalue in a trace.
    model = _model("z", **values)
    found = spectrum(model)
    assert found.converged
    assert found.edges[0][0] == 0.0
    drawn = _sample(model.changed(spike=0.0), 300, 5)
    kept = drawn[drawn > 1e-9]
    # The largest eigenvalue is of Tracy and Widom's law, d^(-2/3) = 2 % of it; the share of zeros is exact.
    assert found.edges[0][1] == pytest.approx(float(kept[-1]), rel=0.06)
    assert found.atom_at_zero == pytest.approx(1.0 - len(kept) / len(drawn), abs=1e-12)
    # The trace of a sample, up to its own fluctuation, some 2/d of it.
    share = np.interp(1.0, found.x, found.cumulative)
    assert share == pytest.approx(float(np.mean(drawn < 1.0)), abs=0.01)
