"""The network's own bulk for activations with an even part: worked values, symmetries, another equivalent, refusals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bulk.network import NetworkBulk
from giantsteps.numerics.bulk.network_constants import labels, slope_constants
from giantsteps.numerics.bulk.network_law import network_law
from giantsteps.numerics.bulk.overlapping_bulk import TurnedEquivalent
from giantsteps.numerics.bulk.overlapping_rows import stepped, turned_bulk
from giantsteps.numerics.models.model import Model, ModelError, ReadoutGroup
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.ridge import solve
from tests.numerics.bulk.differences import differences

RATIOS = {"alpha": 1.5, "beta": 1.0}


def network(student: str, target: str, bulk_model: str = "network", **values: Any) -> Model:
    return Model.from_gradient_step(
        activation(student), activation(target), bulk_model=bulk_model, **(RATIOS | {"ridge": 0.1} | values)
    )


# Test and training error, computed by other code than this, and the digits that they are given to.
TABLE = [
    ("relu", "sin", {"alpha0": 2.0, "eta": 3.0}, 0.34462, 0.17033, 5e-6),
    ("relu", "tanh", {"alpha0": 10.0, "eta": 8.0, "ridge": 0.01}, 0.358504, 0.170405, 5e-7),
    ("tanh(z + 0.7)", "tanh", {"alpha0": 10.0, "eta": 8.0, "ridge": 0.01}, 0.156407, 0.014393, 5e-7),
    ("tanh(z) + 0.2*(z**2 - 1)", "tanh", {"alpha0": 8.0, "eta": 3.0}, 0.285518, 0.065743, 5e-7),
]


@pytest.mark.parametrize(("student", "target", "values", "test", "training", "digits"), TABLE)
def test_worked_values(
    student: str, target: str, values: dict[str, float], test: float, training: float, digits: float
) -> None:
    solution = solve(network(student, target, **values))
    assert solution.converged
    assert solution.residual < 1e-12
    assert solution.error_estimate < 1e-11
    assert solution.test_error == pytest.approx(test, abs=digits)
    assert solution.training_error == pytest.approx(training, abs=digits)


def test_without_a_spike_no_more_than_a_constant_is_learned() -> None:
    # h1 = 0: features depend on |x.b| alone, and of a target its mean is left. yhat is a constant: mu1 = 0, and V with
    # it; a readout of p features fitted on n = 1.5 p labels costs the rest.
    solution = solve(network("abs(z)", "sin(z) + 1", alpha0=2.0, eta=3.0))
    order = solution.order_parameters
    assert solution.model.spike == 0.0
    # mu1 = 0 up to rounding, and both go with its square.
    assert abs(float(order.zeta.ravel()[0])) < 1e-25
    assert abs(float(order.psi[0])) < 1e-25
    assert solution.test_error > (1.0 - np.exp(-2.0)) / 2.0


@pytest.mark.parametrize("constant", ["1", "e*e", "cosh(1) + 1", "sin(z)**2 + cos(z)**2"])
def test_a_constant_activation_learns_nothing_of_an_odd_target(constant: str) -> None:
    # s = 0, and no step: the test error is E[sin^2], up to some rounding of a constant whose mean is taken off.
    found = slope_constants(activation(constant))
    assert (found.square, found.second, found.weighted_square, found.cube, found.square_variance) == (0.0,) * 5
    solution = solve(network(constant, "sin(z)", alpha0=2.0, eta=2.0))
    assert solution.test_error == pytest.approx((1.0 - np.exp(-2.0)) / 2.0, rel=1e-13)


@pytest.mark.parametrize("values", [{}, {"noise": 0.2, "alpha0": 0.7}])
def test_mirrored_networks_learn_alike(values: dict[str, float]) -> None:
    # With -sigma(-z), -g and the rows turned round every feature, label and step changes its sign, or none does.
    given = {"alpha0": 2.0, "eta": 3.0} | values
    one = solve(network("softplus(z) + z/2", "sin(z + 1/2)", **given))
    other = solve(network("-softplus(-z) + z/2", "-sin(z + 1/2)", **given))
    assert other.test_error == pytest.approx(one.test_error, rel=1e-12)
    assert other.training_error == pytest.approx(one.training_error, rel=1e-12)


def test_a_readout_weight_of_minus_one_is_minus_the_activation() -> None:
    given: dict[str, Any] = {"alpha0": 2.0, "eta": 3.0}
    one = solve(network("-softplus(z)", "sin(z + 1/2)", **given))
    other = solve(network("softplus(z)", "sin(z + 1/2)", readout=(ReadoutGroup(-1.0, 1.0, None, 0.0),), **given))
    assert other.model.bulks == pytest.approx(one.model.bulks, rel=1e-14)
    assert other.test_error == pytest.approx(one.test_error, rel=1e-12)


def test_a_vanishing_even_part_is_an_odd_activation() -> None:
    # Another path through the equations: all of them with nu = 1e-9, none of the terms in nu at nu = 0.
    odd = solve(network("tanh", "sin(z + 1/2)", alpha0=2.0, eta=3.0))
    nearly = solve(network("tanh(z) + 10**(-10)*(z**2 - 1)", "sin(z + 1/2)", alpha0=2.0, eta=3.0))
    assert nearly.test_error != odd.test_error
    assert nearly.test_error == pytest.approx(odd.test_error, rel=1e-8)


@pytest.mark.parametrize("student", ["relu", "tanh(z + 1)"])
@pytest.mark.parametrize("beta", [0.6, 2.3])
def test_rows_without_an_overlap_have_this_resolvent(student: str, beta: float) -> None:
    # Another solver of the same blocks, with its own unknowns, averages and forms, for rows of equal norm.
    given = Network(
        activation(student), activation("sin(z + 1/2)"), alpha=1.0, beta=beta, ridge=0.1, alpha0=2.0, eta=4.0
    )
    law = network_law(given.activation, given.target, given.alpha0, given.eta, beta, 0.0)
    ours, theirs = NetworkBulk(0.1, beta, law), TurnedEquivalent(0.1, beta, turned_bulk(given, 0.05))
    for conjugates in ([0.8, 0.3], [5.0, 0.01], [0.05, 2.0]):
        one, other = ours.at(np.array(conjugates)), theirs.at(np.array(conjugates))
        # Its averages are made to 1e-7, and K amplifies: v.(1 + g B)^-1 v is small.
        np.testing.assert_allclose(one.values, other.values, rtol=1e-7)
        np.testing.assert_allclose(one.jacobian, other.jacobian, rtol=1e-7)
        kept = np.ix_([0, 2], [0, 2])
        np.testing.assert_allclose(one.overlap[kept], other.overlap, rtol=1e-6)


@pytest.mark.parametrize(("student", "target"), [("relu", "sign"), ("tanh(z + 1)", "relu")])
def test_derivatives(student: str, target: str) -> None:
    law = network_law(activation(student), activation(target), 2.0, 6.0, 1.4, 0.1)
    conjugates, h = np.array([0.8, 0.3]), 2e-3
    point = NetworkBulk(0.05, 1.4, law).at(conjugates)
    # As for odd activations; fresh solvers, so that no start helps.
    moved = differences(lambda x: NetworkBulk(0.05, 1.4, law).at(x), conjugates, h)
    for k, (slopes, matrix) in enumerate(moved):
        np.testing.assert_allclose(slopes, point.jacobian[:, k], rtol=1e-10)
        size = np.abs(point.overlap_jacobian()[k]).max()
        np.testing.assert_allclose(matrix, point.overlap_jacobian()[k], atol=1e-10 * size)


def test_slope_constants_with_an_even_part() -> None:
    # sigma' = z^2 + z^3: h1 = 1, E[sigma''] = 3, s = He_2 + He_3. Gauss-Hermite with 12 nodes is exact to degree 23.
    z, weight = np.polynomial.hermite_e.hermegauss(12)
    s, weight = z**2 - 1 + z**3 - 3 * z, weight / weight.sum()
    found = slope_constants(activation("z**3/3 + z**4/4"))
    assert found.curvature == pytest.approx(3.0, rel=1e-12)
    values = [
        found.square, found.second, found.third, found.tilted_square, found.tilted_cube, found.cube,
        found.weighted_square, found.square_variance,
    ]  # fmt: skip
    expected = [s**2, z**2 * s, z**3 * s, z * s**2, z * s**3, s**3, (z * s) ** 2, (s**2 - 8.0) ** 2]
    np.testing.assert_allclose(values, [weight @ x for x in expected], rtol=1e-11)
    assert values[:4] == pytest.approx([8.0, 2.0, 6.0, 12.0], rel=1e-11)


def test_label_averages_with_two_poles() -> None:
    # sign - 1/2 is 1/2 or -3/2: every average over 1 + b1 Y + b2 Y^2 has two terms; E[u; sign = +-1] = +-1/sqrt(2 pi).
    rule = labels(activation("sign"), 0.0, 0.9, 0.5, -1.2)
    b1, b2, half = -1.2, 0.9, 1.0 / np.sqrt(2.0 * np.pi)
    found = rule.over(b1, b2)
    for row, (of_u, power) in {0: (0, 1), 5: (0, 6), 9: (1, 3), 13: (2, 2)}.items():
        terms = [
            weight * y**power / (1 + b1 * y + b2 * y * y) * np.array([1.0, -y, -y * y]) ** 1
            for y, weight in ((0.5, (0.5, half, 0.5)[of_u]), (-1.5, (0.5, -half, 0.5)[of_u]))
        ]
        shrunk = [1 + b1 * y + b2 * y * y for y in (0.5, -1.5)]
        expected = sum(t / np.array([1.0, d, d]) for t, d in zip(terms, shrunk, strict=True))
        np.testing.assert_allclose(found[row], expected, rtol=1e-11)
    assert rule.sums(b1, b2) == pytest.approx(found[:2, 0], rel=1e-14)
    slopes = -found[[0, 0, 1, 1], [1, 2, 1, 2]]
    first, second, *fall = rule.moved_sums(b1, b2)
    assert (first, second) == rule.sums(b1, b2)
    assert [fall[0], fall[1], fall[1], fall[2]] == pytest.approx(slopes, rel=1e-14)


def test_what_is_missing_is_said() -> None:
    given = {"alpha0": 2.0, "eta": 3.0, "gaussian_rows": True}
    with pytest.raises(ModelError, match=r"Gaussian initial rows.*would be missing"):
        network("relu", "tanh", **given)
    network("relu", "tanh", "isotropic", **given)


def test_the_noise_that_a_step_leaves_in_overlapping_rows_goes_like_its_rate_squared() -> None:
    # Nothing else in eta^2 E[(sigma' - E sigma')^2] E[residual^2]/alpha0 depends on eta, and none of it on beta but by
    # eta/beta.
    network = Network(
        activation("relu"), activation("tanh"), 1.0, 0.5, 0.1, alpha0=2.0, eta=1.5, noise=0.3, overlap=0.2
    )
    noise = stepped(network).noise
    for rate, alpha0 in ((6.0, 1.0), (0.3, 1.0), (1.0, 4.0)):
        changed = replace(network, eta=rate * network.eta, alpha0=alpha0 * network.alpha0)
        assert stepped(changed).noise == pytest.approx(noise * rate**2 / alpha0, rel=1e-12)
    assert noise > 0.0
