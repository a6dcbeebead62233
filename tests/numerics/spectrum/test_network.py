"""The spectrum of a network's own features: the solver off the support, mass, mean, and the rows of real networks."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bulk.network import NetworkBulk
from giantsteps.numerics.experiments.ensembles import Sizes, spiked_random_features, trained_network
from giantsteps.numerics.models.model import Model, ModelError, ReadoutGroup
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.profile import profile
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.numerics.spectrum.axis import Axis, SpectrumError, continued, mean_eigenvalue
from giantsteps.numerics.spectrum.density import equations_of, spectrum, stieltjes
from giantsteps.numerics.spectrum.network import NetworkEquations, label_line, unbounded_labels
from giantsteps.numerics.spectrum.outliers import outliers_of

RATIOS: dict[str, Any] = {"alpha": 1.5, "beta": 0.8, "ridge": 0.1, "alpha0": 1.0, "eta": 6.0, "noise": 0.2}


def _network(student: str = "tanh", target: str = "tanh", bulk_model: str = "network", **changed: float) -> Model:
    values = RATIOS | changed
    return Model.from_gradient_step(activation(student), activation(target), bulk_model=bulk_model, **values)


CASES = {
    "noisy labels": _network(),
    "labels of one size": _network(target="sign", noise=0.0, alpha0=2.0),
    "unbounded labels, small batch": _network("sin", "z", noise=0.0, alpha0=0.5, eta=3.0, alpha=2.0),
    "fewer samples": _network("erf", "sin", noise=0.0, alpha=0.5, beta=1.2, eta=4.0),
}


@pytest.mark.parametrize("name", CASES)
def test_off_the_support_it_is_the_ridge_solvers(name: str) -> None:
    for ridge in (0.1, 2.0):
        tau = float(np.sum(solve(CASES[name].changed(ridge=ridge)).order_parameters.V2))
        # Other rules along spike and labels, another parametrisation and another Newton's method: rounding.
        assert stieltjes(CASES[name], complex(-ridge)) == pytest.approx(tau, rel=1e-11)


@pytest.mark.parametrize("name", ["labels of one size", "fewer samples"])
def test_overlaps_are_the_solvers(name: str) -> None:
    model = CASES[name]
    equations = equations_of(model)
    assert isinstance(equations, NetworkEquations)
    ridge = 0.3
    x = Axis(equations).at(-ridge).values
    conjugates = equations.conjugates(equations.table(x), x)[0].real
    K = NetworkBulk(ridge, model.beta, equations.law).at(conjugates).overlap[:2, :2]
    assert equations.overlap(x) == pytest.approx(model.alpha / model.beta * K, rel=1e-10)


@pytest.mark.parametrize(
    "name", ["labels of one size", *(pytest.param(name, marks=pytest.mark.thorough) for name in CASES)]
)
def test_mass_and_mean(name: str) -> None:
    found = spectrum(CASES[name])
    assert found.converged, found.status
    assert found.mass == pytest.approx(1.0, abs=1e-6)
    assert found.mean_error < 1e-6
    assert np.all(found.density >= 0.0)


@pytest.mark.parametrize(
    ("student", "target", "values"),
    [
        ("relu", "sin", {"alpha0": 2.0, "eta": 3.0, "noise": 0.0}),
        # Labels without bound, and fewer samples than neurons: the support reaches infinity, and zero.
        pytest.param("softplus(2*z)", "sin(z + 1/2)", {}, marks=pytest.mark.thorough),
        pytest.param("silu", "sin(z + 1/2)", {"alpha": 0.6}, marks=pytest.mark.thorough),
    ],
)
def test_an_even_part_is_in_the_spectrum(student: str, target: str, values: dict[str, Any]) -> None:
    """The trace off the support is the solver's; mass and mean inside are those of the equations at every point."""
    model = _network(student, target, **values)
    for ridge in (0.05, 2.0):
        tau = float(np.sum(solve(model.changed(ridge=ridge)).order_parameters.V2))
        assert stieltjes(model, complex(-ridge)) == pytest.approx(tau, rel=1e-11)
    equations, x = equations_of(model), Axis(equations_of(model)).at(-0.3).values
    assert isinstance(equations, NetworkEquations)
    conjugates = equations.conjugates(equations.table(x), x)[0].real
    K = NetworkBulk(0.3, model.beta, equations.law).at(conjugates).overlap[:2, :2]
    assert equations.overlap(x) == pytest.approx(model.alpha / model.beta * K, rel=1e-10)
    found = spectrum(model)
    # The shares of eigenvalues are imaginary parts of the log-determinant, the density those of its slope.
    assert found.converged, found.status
    # Panels are halved until they agree with the shares to 1e-9 each.
    assert found.mass == pytest.approx(1.0, abs=1e-8)
    assert found.mass_error < 1e-8
    assert found.mean_error < 1e-8


def test_a_vanishing_even_part_has_the_spectrum_of_an_odd_activation() -> None:
    odd, nearly = (
        Model.from_gradient_step(activation(text), activation("sin"), bulk_model="network", **RATIOS)
        for text in ("tanh(z)", "tanh(z) + 10**(-10)*(z**2 - 1)")
    )
    for z in (0.3 + 0.1j, 1.0 + 0.0j):
        assert stieltjes(nearly, z) == pytest.approx(stieltjes(odd, z), rel=1e-8)


def test_a_small_step_is_isotropic() -> None:
    """Off the support the two differ by omega, c - 1 being kept: (c - 1)^2 times numbers of order one."""
    differences = []
    for eta in (0.1, 0.2):
        own, plain = _network(eta=eta), _network(eta=eta, bulk_model="isotropic")
        bulk = own.bulk - 1.0
        differences.append(abs(stieltjes(own, -0.5 + 0.1j) - stieltjes(plain, -0.5 + 0.1j)) / bulk**2)
    # The difference is quadratic in the bulk's excess over 1: the ratio is 1 up to that excess, 1 %.
    assert differences[0] == pytest.approx(differences[1], rel=0.05)
    assert differences[0] < 1.0


def _shares(network: Network, d: int, seed: int, x: np.ndarray) -> np.ndarray:
    weights, batch, inputs = (np.random.default_rng([seed, d, k]) for k in range(3))
    sizes = Sizes.rounded(d, alpha=network.alpha, beta=network.beta, alpha0=network.alpha0, fractions=(1.0,))
    phi = trained_network(network, sizes, weights, batch).features(inputs.standard_normal((sizes.n, d)))
    values = np.linalg.eigvalsh(phi.T @ phi / sizes.p)[:-1]
    return np.array([float(np.mean(values < place)) for place in x])


@pytest.mark.parametrize("student", ["tanh", pytest.param("relu", marks=pytest.mark.thorough)])
def test_real_networks_have_this_spectrum_and_not_the_isotropic_one(student: str) -> None:
    network = Network(activation(student), activation("tanh"), **RATIOS)
    own, plain = spectrum(network.model("network")), spectrum(network.model("isotropic"))
    x = np.interp([0.3, 0.6, 0.9], own.cumulative, own.x)
    theory = np.interp(x, own.x, own.cumulative)
    isotropic = np.interp(x, plain.x, plain.cumulative)
    d, seeds = 240, 16
    samples = np.array([_shares(network, d, seed, x) for seed in range(seeds)])
    mean, error = samples.mean(axis=0), samples.std(axis=0, ddof=1) / math.sqrt(seeds)
    # Finite size moves shares by a few eigenvalues of p, 3/p; Student's t with 15 degrees of freedom exceeds 5.5 with
    # probability 6e-5, for one of three 2e-4.
    assert np.all(np.abs(mean - theory) < 5.5 * error + 3.0 / (d * network.beta))
    # The same allowance refutes the isotropic bulk.
    assert np.any(np.abs(mean - isotropic) > 5.5 * error + 3.0 / (d * network.beta))


def test_gaussian_rows_share_the_density_and_move_the_outlier() -> None:
    values: dict[str, Any] = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "spike": 1.0, "bulk": 1.0, "alignment": 0.8}
    plain = Model(activation("tanh"), activation("sin"), **values)
    rows = plain.changed(gaussian_rows=True)
    assert np.array_equal(spectrum(plain).density, spectrum(rows).density)
    ((one,), (other,)) = spectrum(plain).outliers, spectrum(rows).outliers
    assert one.slope == other.slope
    assert other.correction > one.correction
    # The distribution functions of the two samples: p eigenvalues each, on the same inputs.
    d = 400
    found = []
    for model in (plain, rows):
        rng = np.random.default_rng([3, d])
        sizes = Sizes.rounded(d, alpha=1.5, beta=1.0, fractions=(1.0,))
        phi = spiked_random_features(model, sizes, rng).features(rng.standard_normal((sizes.n, d)))
        found.append(np.linalg.eigvalsh(phi.T @ phi / sizes.p)[:-1])
    theory = spectrum(plain)
    for values_ in found:
        distance = np.max(np.abs(np.interp(values_, theory.x, theory.cumulative) - (np.arange(d - 1) + 0.5) / (d - 1)))
        # Kolmogorov's 1.95/sqrt(n) for the kappa of the samples, met once in a thousand, and a few eigenvalues.
        assert distance < 1.95 / math.sqrt(1.5 * d) + 5.0 / d


def test_the_mean_eigenvalue_is_that_of_the_isotropic_bulk() -> None:
    own, plain = CASES["labels of one size"], _network(target="sign", noise=0.0, alpha0=2.0, bulk_model="isotropic")
    assert mean_eigenvalue(equations_of(own)) == pytest.approx(mean_eigenvalue(equations_of(plain)), rel=1e-12)


def test_a_weight_of_the_readout_lengthens_the_step() -> None:
    twice = _network(readout=(ReadoutGroup(2.0, 1.0),), eta=3.0)  # type: ignore[arg-type]
    assert stieltjes(twice, complex(-0.1)) == pytest.approx(stieltjes(_network(), complex(-0.1)), rel=1e-12)


def test_groups_are_refused_in_one_sentence() -> None:
    groups = (ReadoutGroup(1.0, 0.5), ReadoutGroup(-1.0, 0.5))
    model = Model.from_gradient_step(
        activation("tanh"), activation("sin"), bulk_model="network", readout=groups, **RATIOS
    )
    with pytest.raises(ModelError, match="one readout group"):
        spectrum(model)


def test_a_weight_of_the_readout_centres_the_labels() -> None:
    model = _network("relu", "sin", readout=(ReadoutGroup(2.0, 1.0),), noise=0.0)  # type: ignore[arg-type]
    tau = float(np.sum(solve(model).order_parameters.V2))
    assert stieltjes(model, complex(-model.ridge)) == pytest.approx(tau, rel=1e-11)


@pytest.mark.parametrize(("z", "refused"), [(0.7 - 1e-9j, True), (-3.0 - 2.0j, True), (0.7 + 0.3j, False)])
def test_below_the_axis_nothing_is_continued(z: complex, refused: bool) -> None:
    equations = NetworkEquations(_network("relu", "sin", noise=0.0, alpha0=2.0))
    if refused:
        with pytest.raises(SpectrumError, match="below the real axis"):
            continued(equations, z)
    else:
        # T and tau have positive imaginary parts there.
        assert continued(equations, z).values.imag.min() > 0.0


@pytest.mark.parametrize("gaussian", [False, True], ids=["unit rows", "Gaussian rows"])
def test_the_law_of_the_rows_is_what_the_readout_sees_of_them_without_signal(gaussian: bool) -> None:
    equations = equations_of(_network(gaussian_rows=gaussian))
    assert isinstance(equations, NetworkEquations)
    # At C = 0 nothing is taken out of the rows: K = beta tau times the covariance of (v, delta).
    point = NetworkBulk(0.1, 0.8, equations.law).at(np.array([0.0, 0.2]))
    seen, rows = point.overlap / (0.8 * point.values[1]), equations.rows
    found = [rows.along[0], rows.mixed[0], rows.norm[0]]
    assert found == pytest.approx([seen[0, 0], seen[0, 1], seen[1, 1]], rel=1e-12)


@pytest.mark.parametrize("weight", [2.0, -0.5])
@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_labels_are_those_of_the_law_for_either_sign_of_the_step(weight: float, noise: float) -> None:
    model = _network("relu", "sin(z + 1/2)", readout=(ReadoutGroup(weight, 1.0),), noise=noise)  # type: ignore[arg-type]
    equations = NetworkEquations(model)
    table, moments = equations.labels.table(), equations.law.labels.moments
    # Panels along the label here, a rule of its own there: rounding.
    for row, moment in zip(table.features, moments[1:3], strict=True):
        assert float(table.weights @ row) == pytest.approx(moment, rel=1e-11)


def test_outliers_of_a_step_up_and_one_down_are_the_same() -> None:
    # Of an odd activation: both the spike and the covariance of a row's part along it with its norm change their signs.
    found = []
    for weight in (1.0, -1.0):
        model = _network("tanh", "sin", readout=(ReadoutGroup(weight, 1.0),))  # type: ignore[arg-type]
        rows = equations_of(model).rows
        found.append((*outliers_of(model, profile(model, 1), rows), float(rows.mixed[0])))
    (up, first), (down, second) = found
    assert second == pytest.approx(-first, rel=1e-12)
    assert (down.slope, down.correction) == pytest.approx((up.slope, up.correction), rel=1e-9)


@pytest.mark.parametrize("target", ["tanh(6*z)", "sin(4*z)", "exp(-z**2*3)", "sign(z - 0.3)"])
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_averages_over_the_line_of_labels_are_those_of_adaptive_quadrature(target: str, noise: float) -> None:
    function, centre = activation(target), 0.2
    names = {"tanh(6*z)": lambda u: math.tanh(6 * u), "sin(4*z)": lambda u: math.sin(4 * u)}
    names |= {"exp(-z**2*3)": lambda u: math.exp(-3 * u * u), "sign(z - 0.3)": lambda u: math.copysign(1.0, u - 0.3)}
    line = label_line(function, noise, centre)
    table = line.table(line.chosen(np.array([0.1 + 0.0j, 0.5 + 0.0j])))
    assert float(table.weights.sum()) == pytest.approx(1.0, rel=1e-12)

    def expected(power: int) -> float:
        def at(u: float) -> float:
            return (names[target](u) - centre) ** power * math.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi)

        cuts = [-9.0, -1.0, 0.0, 0.3, 1.0, 9.0]
        return sum(quad(at, a, b, epsabs=1e-14, limit=200)[0] for a, b in pairwise(cuts))

    first, second = (float(table.weights @ row) for row in table.features)
    # QUADPACK's goal for five intervals of numbers of order one.
    assert first == pytest.approx(expected(1), abs=1e-12)
    assert second == pytest.approx(expected(2) + noise, abs=1e-12)


@pytest.mark.parametrize(
    ("target", "noise", "unbounded"),
    [("sin", 0.0, False), ("sign", 0.0, False), ("sin", 0.1, True), ("z", 0.0, True), ("exp(z/4)", 0.0, True)],
)
def test_labels_without_bound(target: str, noise: float, unbounded: bool) -> None:
    assert unbounded_labels(_network(target=target, noise=noise)) is unbounded
