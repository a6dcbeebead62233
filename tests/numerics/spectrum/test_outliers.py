"""The correction of order one to the outlier: what second-order terms in the rows' overlaps and norms add."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.sparse.linalg import eigsh

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.experiments.ensembles import Sizes, spiked_random_features
from giantsteps.numerics.gaussian.coefficients import conditional_moments_of
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.saddle_point.profile import profile
from giantsteps.numerics.spectrum import outliers
from giantsteps.numerics.spectrum.axis import mean_eigenvalue
from giantsteps.numerics.spectrum.density import spectrum
from giantsteps.numerics.spectrum.point import Equations

VALUES = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "spike": 1.0, "bulk": 1.0, "alignment": 0.8}


def _model(student: str = "tanh", **changed: object) -> Model:
    return Model(activation(student), activation("sin"), **(VALUES | changed))  # type: ignore[arg-type]


def _corrections(model: Model, d: int, seeds: int) -> tuple[float, float]:
    """Mean and standard error of the largest eigenvalue minus sum mu0(kappa)^2, with all that has mean zero and is of
    first order taken off: the rows' overlaps with v, their norms, and what is odd in the inputs across v."""
    r, c = model.spike, model.bulk
    line = np.linspace(-7.0, 7.0, 4001)
    moments = conditional_moments_of(model.activation, r, c, 0.0, line)
    sizes = Sizes.rounded(d, alpha=model.alpha, beta=model.beta, fractions=(1.0,))
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng([seed, 7, d])
        drawn = spiked_random_features(model, sizes, rng)
        x = rng.standard_normal((sizes.n, d))
        kappa = x @ drawn.direction
        phi, mirrored = drawn.features(x), drawn.features(2.0 * np.outer(kappa, drawn.direction) - x)
        top = float(eigsh(phi.T @ phi / sizes.p, k=1, v0=np.ones(sizes.p), which="LA", tol=1e-10)[0][0])
        # mu0 by linear interpolation on a fine grid: 1e-6 of a correction of order one.
        mu0, slope, curvature = (np.interp(kappa, line, f) for f in (moments.mean, moments.slope, moments.curvature))
        overlap = drawn.weights @ drawn.direction - r
        norm = np.sum(drawn.weights**2, axis=1) - (r + overlap) ** 2 + overlap**2 - c
        first = mu0 @ (phi - mirrored).mean(axis=1)
        first += 2.0 * (mu0 @ (kappa * slope)) / math.sqrt(c) * overlap.mean()
        first += (mu0 @ curvature) / c * norm.mean()
        found.append(top - mu0 @ mu0 - first)
    return float(np.mean(found)), float(np.std(found, ddof=1)) / math.sqrt(seeds)


@pytest.mark.thorough
@pytest.mark.parametrize("gaussian", [False, True], ids=["unit rows", "Gaussian rows"])
@pytest.mark.parametrize(("spike", "bulk", "alpha"), [(1.0, 1.0, 1.5), (2.0, 0.7, 3.0)])
def test_the_correction_is_a_samples(spike: float, bulk: float, alpha: float, gaussian: bool) -> None:
    model = _model(spike=spike, bulk=bulk, alpha=alpha, gaussian_rows=gaussian)
    ((outlier,),) = (spectrum(model).outliers,)
    (small, small_error), (large, large_error) = _corrections(model, 100, 1200), _corrections(model, 200, 600)
    # What is left is of order 1/d: extrapolated from two sizes. 4.5 standard errors: 1e-5 of normal samples.
    error = math.hypot(small_error, 2.0 * large_error)
    assert abs(2.0 * large - small - outlier.correction) < 4.5 * error
    assert error < 0.06 * math.sqrt(alpha)


def test_the_second_order_terms_by_another_route() -> None:
    """alpha c E[(kappa^2 - 1) mu0 mu0''] is n times the mean over rows of mu0 {mu0(r + s, c - s^2) - mu0(r, c)}."""
    model = _model(spike=2.0, bulk=0.7, alpha=3.0)
    kappa = np.linspace(-9.0, 9.0, 901)
    weights = np.exp(-0.5 * kappa**2) / math.sqrt(2.0 * math.pi) * (kappa[1] - kappa[0])
    d = 4000.0
    size = math.sqrt(model.bulk / d)

    def mean(overlap: float) -> np.ndarray:
        return conditional_moments_of(model.activation, 2.0 + overlap, 0.7 - overlap**2, 0.0, kappa).mean

    plain, mu = mean(0.0), conditional_moments_of(model.activation, 2.0, 0.7, 0.0, kappa)
    # s takes the values +-size: its mean and variance are right, and the next power is of relative order 1/d.
    changed = 0.5 * (mean(size) + mean(-size)) - plain
    second = 2.0 * model.alpha * d * float(weights @ (plain * changed))
    variance = mu.slope**2 + mu.rest
    square = float(weights @ plain**2)
    first = model.alpha * float(weights @ variance) + float(weights @ (plain**2 * variance)) / square
    first += model.alpha * 0.7 * (float(weights @ (kappa * plain * mu.slope)) / math.sqrt(0.7)) ** 2 / square
    (outlier,) = spectrum(model).outliers
    assert outlier.slope == pytest.approx(square, rel=1e-9)
    assert outlier.correction == pytest.approx(first + second, rel=1e-3)


def test_norms_move_the_outlier_by_finite_differences() -> None:
    """Gaussian rows: v_c = 2 c^2 adds alpha {v_c E[mu0 k2]^2/E[mu0^2] + v_c E[mu0 d^2 mu0/dc^2]}."""
    kappa = np.linspace(-9.0, 9.0, 901)
    weights = np.exp(-0.5 * kappa**2) / math.sqrt(2.0 * math.pi) * (kappa[1] - kappa[0])
    h = 0.02

    def mean(bulk: float) -> np.ndarray:
        return conditional_moments_of(activation("tanh"), 1.0, bulk, 0.0, kappa).mean

    plain, up, down = mean(1.0), mean(1.0 + h), mean(1.0 - h)
    slope, curvature = (up - down) / (2.0 * h), (up - 2.0 * plain + down) / h**2
    square = float(weights @ plain**2)
    expected = 1.5 * 2.0 * (float(weights @ (plain * slope)) ** 2 / square + float(weights @ (plain * curvature)))
    ((unit,), (gaussian,)) = (spectrum(_model(gaussian_rows=rows)).outliers for rows in (False, True))
    # Differences of step 0.02: h^2 of the fourth derivative.
    assert gaussian.correction - unit.correction == pytest.approx(expected, rel=1e-2)


@pytest.mark.thorough
def test_a_detached_eigenvalue_is_a_samples() -> None:
    """A bias holds neurons off until kappa = 2.3: few samples, all far along the spike, carry one eigenvalue out."""
    groups = (ReadoutGroup(1.0, 1.0, 0.3, -3.5),)
    model = _model("erf", alpha=60.0, beta=0.3, spike=1.5, readout=groups)
    found = spectrum(model)
    (predicted,) = found.detached
    assert predicted > found.edges[-1][1]
    seconds = []
    for d in (200, 400):
        sizes = Sizes.rounded(d, alpha=model.alpha, beta=model.beta, fractions=(1.0,))
        sample = []
        for seed in range(24):
            rng = np.random.default_rng([seed, d])
            phi = spiked_random_features(model, sizes, rng).features(rng.standard_normal((sizes.n, d)))
            sample.append(float(np.linalg.eigvalsh(phi.T @ phi / sizes.p)[-2]))
        seconds.append((float(np.mean(sample)), float(np.std(sample, ddof=1)) / math.sqrt(len(sample))))
    (small, small_error), (large, large_error) = seconds
    # What is left is of order 1/d: extrapolated; 4.5 standard errors, 1e-5 of normal samples.
    assert abs(2.0 * large - small - predicted) < 4.5 * math.hypot(small_error, 2.0 * large_error)
    assert large_error < 0.03 * predicted


@pytest.mark.parametrize(("spike", "seen"), [(1e-5, True), (2e-6, True), (5e-7, False), (0.0, False)])
def test_a_mean_at_the_rounding_of_the_activation_is_none(spike: float, seen: bool) -> None:
    # E[mu0^2] is some r^2/3 beside w + mu0^2 of order one, and counts from a millionth of a millionth on.
    model = _model(spike=spike)
    found = outliers.outliers_of(model, profile(model, 1), Equations(model).rows)
    assert len(found) == seen


def test_the_mean_eigenvalue_is_the_first_moment_of_every_group() -> None:
    groups = ReadoutGroup(1.0, 0.5, 0.4, 0.0), ReadoutGroup(-0.7, 0.3, 1.3, 0.2), ReadoutGroup(0.2, 0.2, 0.9, -0.4)
    model, kappa = _model("relu", readout=groups, beta=0.8), np.linspace(-9.0, 9.0, 2001)
    weights = np.exp(-0.5 * kappa**2) / math.sqrt(2.0 * math.pi) * (kappa[1] - kappa[0])
    expected = 0.0
    for slope, group in zip(model.slopes, groups, strict=True):
        moments = conditional_moments_of(model.activation, slope, group.bulk, group.bias, kappa)
        expected += group.fraction * float(weights @ (moments.slope**2 + moments.rest))
    # Smooth functions on a fine grid of the whole line: rounding.
    assert mean_eigenvalue(Equations(model)) == pytest.approx(1.5 / 0.8 * expected, rel=1e-11)


TWO = (ReadoutGroup(1.0, 0.5), ReadoutGroup(-1.0, 0.5))
THREE = (ReadoutGroup(1.0, 0.3), ReadoutGroup(0.4, 0.3, bias=1.0), ReadoutGroup(-0.7, 0.4, bias=-0.5))


# Near slopes, of which the outliers part like sqrt(n) at 1,500 samples.
NEAR = "cos(z) + 1.14593*sin(z)"


@pytest.mark.parametrize(
    ("student", "readout"), [("relu", TWO), ("tanh", THREE), (NEAR, TWO)], ids=["relu", "tanh", "near slopes"]
)
def test_outliers_repel_each_other_as_those_of_drawn_means_do(student: str, readout: tuple[ReadoutGroup, ...]) -> None:
    model = _model(student, readout=readout)
    found = [outlier for outlier in spectrum(model).outliers if outlier.slope > 1e-3]
    assert len(found) > 1
    rng, n, draws = np.random.default_rng(5), 1500, 4000
    line = np.linspace(-7.0, 7.0, 2801)
    weights = np.exp(-0.5 * line**2) / math.sqrt(2.0 * math.pi) * (line[1] - line[0])
    groups = zip(model.slopes, model.bulks, model.biases, model.fractions, strict=True)
    means = np.array(
        [math.sqrt(share) * conditional_moments_of(model.activation, r, c, b, line).mean for r, c, b, share in groups]
    )
    vectors = np.linalg.eigh((means * weights) @ means.T)[1][:, ::-1][:, : len(found)]
    off = []
    for _ in range(draws):
        kappa = rng.standard_normal(n)
        drawn = np.array([np.interp(kappa, line, own) for own in means])
        gram = drawn @ drawn.T
        # What has mean n times the slope is taken off: it fluctuates by sqrt(n).
        off.append(np.linalg.eigvalsh(gram)[::-1][: len(found)] - np.einsum("ai,ab,bi->i", vectors, gram, vectors))
    mean, error = np.mean(off, axis=0), np.std(off, axis=0) / math.sqrt(draws)
    for outlier, measured, deviation in zip(found, mean, error, strict=True):
        added = sum(by.at(n) for by in outlier.repelled)
        # 4.5 standard errors (1e-5 of normal samples), and two per cent that sums of so few are not normal.
        assert abs(measured - added) < 4.5 * deviation + 0.02 * abs(added)
        assert deviation < 0.03 * abs(added)


def _apart(gap: float) -> outliers.Repulsion:
    return outliers.Repulsion(gap, square=0.5, spread=0.0, mixed=0.0, third=0.0)


def test_near_outliers_part_by_the_root_of_the_samples() -> None:
    assert _apart(1.0).first == 0.5
    assert _apart(-1.0).first == -0.5
    assert _apart(1.0).at(10**6) == pytest.approx(0.5, rel=1e-5)
    assert _apart(-1.0).at(10**6) == pytest.approx(-0.5, rel=1e-5)
    assert _apart(1.0).needed == pytest.approx(15.0)
    # Beyond reach: no number is added, and at each n the mean of |sum X| = sqrt(2 n E[X^2]/pi), up or down.
    for gap, sign in ((1e-5, 1.0), (-1e-5, -1.0), (0.0, 1.0), (-0.0, -1.0)):
        assert _apart(gap).first == 0.0
        assert _apart(gap).at(100) + 50.0 * gap == pytest.approx(sign * math.sqrt(100.0 / math.pi), rel=1e-7)
    # Equal in both directions, half of the mean of a Rayleigh variable; and turned by a mixed moment, the same length.
    equal = outliers.Repulsion(0.0, 0.5, 2.0, 0.0, 0.0).at(100)
    assert equal == pytest.approx(0.5 * math.sqrt(100.0 * math.pi), rel=1e-8)
    flat = outliers.Repulsion(0.0, 1.0, 0.0, 0.0, 0.0).at(100)
    assert outliers.Repulsion(0.0, 0.5, 2.0, 1.0, 0.0).at(100) == pytest.approx(flat, rel=1e-8)
    assert _apart(0.0).needed == math.inf
    assert outliers.Repulsion(0.3, 0.0, 0.0, 0.0, 0.0).at(100) == 0.0


def test_the_next_order_of_a_repulsion_is_that_of_its_mean() -> None:
    """Normal sums: n (n gap at(n)/E[X^2]/... - 1) at large n, of a spread and a mixed moment."""
    for pair in (outliers.Repulsion(1.0, 1.0, 4.0, 0.0, 0.0), outliers.Repulsion(-1.5, 2.0, 3.0, 0.8, 0.0)):
        n = 4000
        second = n * (pair.at(n) / pair.first - 1.0)
        # The order after it is some 1/n of it.
        assert second == pytest.approx(pair.second, rel=0.02)
        assert pair.needed == pytest.approx(10.0 * max(abs(pair.second), pair.square / pair.gap**2))


def test_an_outlier_says_from_how_many_samples_on_it_leaves_the_bulk() -> None:
    small = Model(activation("tanh"), activation("sin"), **(VALUES | {"spike": 0.01}))  # type: ignore[arg-type]
    found = spectrum(small)
    ((outlier,), edge) = (found.outliers, found.edges[-1][1])
    assert outlier.from_samples * outlier.slope + outlier.correction == pytest.approx(edge)
    (large,) = spectrum(_model()).outliers
    assert large.from_samples < 20.0
    assert large.outside(math.inf).from_samples == large.from_samples
