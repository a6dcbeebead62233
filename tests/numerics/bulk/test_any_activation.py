"""The network's own bulk for activations with an even part: worked values, symmetries, another equivalent, refusals."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bulk.network import NetworkBulk
from giantsteps.numerics.bulk.network_constants import Labels, labels, labels_from, row_sizes, slope_constants
from giantsteps.numerics.bulk.network_law import network_law
from giantsteps.numerics.bulk.overlapping_bulk import TurnedEquivalent
from giantsteps.numerics.bulk.overlapping_rows import stepped, turned_bulk
from giantsteps.numerics.bulk.resolvent import Rows, block_slopes, blocks, steepest
from giantsteps.numerics.models.model import Model, ModelError, ReadoutGroup
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.verify.digits.solve import solve as solve_to
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


# Odd activations as the solver of one matrix of the batch alone had them.
ODD = [
    ("tanh", "tanh", {"alpha": 1.5, "beta": 1.0, "ridge": 0.01, "alpha0": 10.0, "eta": 10.0}, 0.08286718668499302),
    ("erf", "sign", {"alpha": 2.0, "ridge": 0.05, "alpha0": 4.0, "eta": 4.0, "noise": 0.1}, 0.6591627796249196),
    (
        "tanh", "sin",
        {"alpha": 0.6, "beta": 0.4, "ridge": 1e-3, "alpha0": 0.7, "eta": 5.0, "gaussian_rows": True},
        2.1537857931241065,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("student", "target", "values", "test"), ODD)
def test_odd_activations_are_what_they_were(student: str, target: str, values: dict[str, Any], test: float) -> None:
    assert solve(network(student, target, **values)).test_error == pytest.approx(test, rel=1e-12)


@pytest.mark.parametrize("student", ["gelu", "silu", "softplus", "leaky_relu(z, 1/10)", "elu(z)", "mish(z)", "sigmoid"])
def test_common_activations_are_solved(student: str) -> None:
    solution = solve(network(student, "sin(z + 1/2)", alpha0=3.0, eta=4.0, noise=0.1))
    assert solution.converged
    assert solution.residual < 1e-12
    assert solution.error_estimate < 1e-10


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


def test_nothing_cancels_where_the_readout_does_not_see_the_rows() -> None:
    # At C = 0 all forms are those of B itself, and a small C follows the slope there: C^2 of the rest is 1e-12.
    law = network_law(activation("relu"), activation("sin(z + 1/2)"), 2.0, 6.0, 1.4, 0.0)
    at = NetworkBulk(0.1, 1.4, law).at
    none, little = at(np.array([0.0, 0.3])), at(np.array([1e-7, 0.3]))
    size = np.abs(none.overlap).max()
    np.testing.assert_allclose(
        little.overlap, none.overlap + 1e-7 * none.overlap_jacobian()[0], rtol=0.0, atol=1e-11 * size
    )
    # T at C = 0 is tau (1/d) tr B.
    assert none.values[0] == pytest.approx(law.bulk * none.values[1], rel=1e-13)


def test_far_from_any_start() -> None:
    # Conjugates from one end to the other, each from the last: the sweeps find what the start misses.
    law = network_law(activation("relu"), activation("sin"), 3.0, 12.0, 0.5, 0.0)
    remembered = NetworkBulk(1e-6, 0.5, law)
    for conjugates in ([1e-4, 1e3], [1e4, 1e-6], [1e-9, 1e-9], [30.0, 0.1]):
        found, alone = remembered.at(np.array(conjugates)), NetworkBulk(1e-6, 0.5, law).at(np.array(conjugates))
        np.testing.assert_allclose(found.values, alone.values, rtol=1e-12)
        assert np.linalg.eigvalsh(found.overlap)[0] > 0.0


def test_the_solver_asks_for_few_averages(monkeypatch: pytest.MonkeyPatch) -> None:
    # What a point costs, as a count of averages over the labels. Ten or so per pair (C, D) would be 100.
    calls = [0]
    for name in ("over", "sums", "moved_sums"):
        whole = getattr(Labels, name)

        def counted(self: Labels, b1: float, b2: float, whole: Any = whole) -> Any:
            calls[0] += 1
            return whole(self, b1, b2)

        monkeypatch.setattr(Labels, name, counted)
    model = network("relu", "tanh", alpha0=9.7, eta=8.0)
    law = network_law(model.activation, model.target, 9.7, 8.0, 1.0, 0.0)
    assert law.turn != 0.0
    calls[0] = 0
    solve(model)
    assert 20 < calls[0] < 80


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


@pytest.mark.parametrize("nu", [0.0, 1.3, -0.4])
def test_the_slopes_of_the_blocks_are_complex_steps(nu: float) -> None:
    law, place, step = Rows(1.7, 0.6, nu), (0.9, -0.2, 0.8), 1e-100
    found = block_slopes(law, *place, blocks(law, *place))
    for column in range(3):
        moved = [complex(x, step * (k == column)) for k, x in enumerate(place)]
        at = blocks(law, *moved)
        expected = [x.imag / step for x in (at.filled, at.b1, at.b2)]
        assert [row[column] for row in found] == pytest.approx(expected, rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("noise", [0.0, 0.3])
@pytest.mark.parametrize("target", ["z**2", "cos(z)", "Abs(z)", "1", "1e-9*sin(z)"])
def test_targets_of_either_parity_are_solved(target: str, noise: float) -> None:
    # Either all E[u Y^k] or all E[Y^(2k+1)] vanish by symmetry: what is left of them is rounding, which never settles.
    solution = solve(network("relu", target, alpha0=2.0, eta=3.0, noise=noise))
    assert solution.converged
    assert solution.error_estimate < 1e-11


def test_an_even_target_in_other_arithmetic() -> None:
    model = network("relu", "z**2", alpha0=2.0, eta=3.0, alpha=2.0)
    solution, other = solve(model), solve_to(model, digits=17)
    assert abs(solution.test_error - float(other.test_error)) <= solution.error_estimate


def test_averages_over_labels_are_within_their_sizes() -> None:
    rule = labels(activation("tanh(z + 0.3) + 0.2*z**2"), 0.0, 1.0)
    for b1, b2 in ((0.0, 0.0), (0.4, 0.7), (-0.3, 1.0)):
        rows = rule.over(b1, b2)[:, 0]
        sizes = row_sizes(rows, b1, b2)
        # Even powers are their own size, to the rounding of sums of positive terms; the others lie below theirs.
        assert np.all(np.abs(rows) <= sizes * (1.0 + 1e-12))
        shrunk = rule.table[0] / rule.nodes / (1.0 + rule.nodes * (b1 + b2 * rule.nodes))
        assert sizes[0] == pytest.approx(np.sqrt(shrunk.sum() * (shrunk @ rule.nodes**2)), rel=1e-12)
        assert sizes[8] == pytest.approx(np.sqrt(rows[13] * rows[1]), rel=1e-12)


def test_averages_at_many_places_take_no_memory_for_every_node() -> None:
    # Label noise takes up to 2e6 nodes; here 36 places at once, as the functions of a gain are asked for.
    y = np.linspace(-3.0, 3.0, 40_000)
    rule = labels_from(y, np.stack([np.exp(-0.5 * y * y), np.sin(y), y * y]) / 40_000)
    b1, b2 = np.linspace(0.3, -0.2, 36), np.linspace(0.5, 2.0, 36)
    tracemalloc.start()
    found = rule.over_each(b1, b2)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # Some arrays of the size of a block, half a megabyte at most each; one array of nodes by places has 12.
    assert most < 3e6
    for place in (0, 17, 35):
        # Sums in another order, of 40 000 terms of one sign or with a size of order one.
        assert found[:, :, place] == pytest.approx(rule.over(b1[place], b2[place]), rel=1e-12, abs=1e-13)
    assert rule.over_each(b1, b2, 2) == pytest.approx(found[:2], rel=1e-12, abs=1e-13)


def test_what_is_missing_is_said() -> None:
    given = {"alpha0": 2.0, "eta": 3.0, "gaussian_rows": True}
    with pytest.raises(ModelError, match=r"Gaussian initial rows.*would be missing"):
        network("relu", "tanh", **given)
    network("relu", "tanh", "isotropic", **given)


@pytest.mark.parametrize("size", [0.1, 3.0, 30.0])
@pytest.mark.parametrize("turn", [0.0, 0.3, -2.0])
def test_where_the_poles_come_closest_is_where_sweeps_lead(size: float, turn: float) -> None:
    rule = labels(activation("tanh(z + 0.4)"), 0.2, 1.0)
    law = Rows(2.0, size, turn * size)
    b1 = b2 = 0.0
    for _ in range(1000):
        # Half of the way each time would circle where M counts most.
        at = blocks(law, 1e7, *rule.sums(b1, b2))
        b1, b2 = b1 + 0.1 * (at.b1 - b1), b2 + 0.1 * (at.b2 - b2)
    # To the share that is asked for, in units of b2 and of the largest b1 that leaves no zero.
    found = steepest(law, rule)
    assert found[1] == pytest.approx(b2, rel=3e-3)
    assert found[0] == pytest.approx(b1, abs=3e-3 * 2.0 * b2**0.5)


def test_the_rule_of_noisy_labels_is_fine_enough_where_both_poles_come_closest() -> None:
    # Hardly anything but nu z^2: b1^2 is three quarters of 4 b2, and the poles are twice as close as b2 alone tells.
    law = network_law(activation("z + z**2 + sin(z)/10"), activation("sin"), 2.0, 30.0, 1.0, 0.2)
    assert isinstance(law.labels, Labels)
    b1, b2 = steepest(Rows(2.0, law.omega, law.turn), law.labels)
    assert b1 * b1 > 2.8 * b2
    finer = labels(activation("sin"), 0.2, 16.0 * b2, 1.0, 4.0 * b1)
    np.testing.assert_allclose(law.labels.averaged(b1, b2), finer.averaged(b1, b2), rtol=1e-12)


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


# sigma' = h1 + curvature z + a He_2 + b He_3 + c He_4, so that each constant is there without some of the others.
CHAOSES = {
    "z**3/3": (1.0, 0.0, 1.0, 0.0, 0.0), "z + z**4/4 - 3*z**2/2": (1.0, 0.0, 0.0, 1.0, 0.0),
    "z + z**4/4 - 3*z**2/2 + z**3/3 - z": (1.0, 0.0, 1.0, 1.0, 0.0), "z + z**2/2": (1.0, 1.0, 0.0, 0.0, 0.0),
    "z + z**5/5 - 2*z**3 + 3*z + z**4/4 - 3*z**2/2": (1.0, 0.0, 0.0, 1.0, 1.0),
}  # fmt: skip


@pytest.mark.parametrize("student", CHAOSES)
def test_constants_without_a_curvature_are_those_of_the_other_chaoses(student: str) -> None:
    _, curvature, *rest = CHAOSES[student]
    z, weight = np.polynomial.hermite_e.hermegauss(20)
    weight = weight / weight.sum()
    s = np.polynomial.hermite_e.hermeval(z, [0.0, 0.0, *rest])
    found = slope_constants(activation(student))
    expected = {
        "square": s**2, "second": z**2 * s, "weighted_square": (z * s) ** 2, "cube": s**3, "third": z**3 * s,
        "tilted_square": z * s**2, "tilted_cube": z * s**3, "square_variance": (s**2 - weight @ s**2) ** 2,
    }  # fmt: skip
    assert found.curvature == pytest.approx(curvature, abs=1e-12)
    for name, values in expected.items():
        # Averages of polynomials of degree 18 at most: rounding of terms that cancel, the largest of some 1e4.
        assert getattr(found, name) == pytest.approx(float(weight @ values), rel=1e-11, abs=1e-9), name


@pytest.mark.parametrize("student", list(CHAOSES)[:3])
def test_a_law_without_a_curvature_is_the_limit_of_laws_with_one(student: str) -> None:
    # Labels that are no symmetric numbers: then the norms have a term of every constant.
    given: Any = activation("sin(z + 1/2) + z**2/4"), 0.8, 2.0, 1.2, 0.1
    without, nearly = (
        network_law(activation(text), *given, False, -0.9) for text in (student, f"{student} + 10**(-7)*(z**2 - 1)")
    )
    assert without.turn == 0.0 != nearly.turn
    for name in ("omega", "bulk", "norm_variance", "pulled", "added"):
        # The turn is 3e-7, and its terms have factors of some ten.
        assert getattr(nearly, name) == pytest.approx(getattr(without, name), rel=1e-5, abs=1e-5), name
