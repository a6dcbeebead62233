"""The network's own bulk: the isotropic case is the same code, derivatives are exact, the worked values come out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bounds.ridge import lower_bound
from giantsteps.numerics.bulk.equivalent import IsotropicUniform
from giantsteps.numerics.bulk.network import NetworkBulk, _Point, frame, relative, signal_overlaps
from giantsteps.numerics.bulk.network_constants import _blurred, labels, slope_constants
from giantsteps.numerics.bulk.network_law import isotropic_law, network_law
from giantsteps.numerics.bulk.of_model import equivalent_of
from giantsteps.numerics.gaussian.quadrature import ROUNDING
from giantsteps.numerics.models.model import Model, ModelError, ReadoutGroup
from giantsteps.numerics.saddle_point.equations import linear_part, nonlinear_part
from giantsteps.numerics.saddle_point.finite_width import at_width
from giantsteps.numerics.saddle_point.profile import profile
from giantsteps.numerics.saddle_point.ridge import solve
from tests.numerics.bulk.differences import differences

TANH, SIGN = activation("tanh"), activation("sign")

POINTS = [np.array(x) for x in ([0.8, 0.3], [0.0, 0.2], [3.0, 1e-3], [1e-9, 1e-9], [50.0, 1e-6])]


def step(bulk_model: str = "network", **changes: float) -> Model:
    """The second line of the table below, with changes."""
    values = {"alpha": 1.5, "beta": 1.0, "ridge": 0.01, "alpha0": 10.0, "eta": 10.0} | changes
    return Model.from_gradient_step(TANH, TANH, bulk_model=bulk_model, **values)  # type: ignore[arg-type]


# Student and target tanh: parameters, test error by the isotropic theory (Result 3.1 and 3.3) and by the network's own.
# Computed by other code than this, to five digits; the last isotropic one is 0.0524049, just short of its rounding.
TABLE = [
    ({"alpha0": 1.0, "eta": 3.0, "beta": 2.0, "alpha": 1.0, "ridge": 0.1}, 0.12085, 0.12369),
    ({"alpha0": 10.0, "eta": 10.0, "beta": 1.0, "alpha": 1.5, "ridge": 0.01}, 0.10429, 0.08287),
    ({"alpha0": 50.0, "eta": 10.0, "beta": 1.0, "alpha": 1.5, "ridge": 0.01}, 0.05241, 0.03041),
]


@pytest.mark.parametrize(("parameters", "isotropic", "network"), TABLE)
def test_worked_values(parameters: dict[str, float], isotropic: float, network: float) -> None:
    # Half a unit of the last digit, and for the isotropic column 2 % of a unit more.
    for bulk_model, value, tolerance in (("isotropic", isotropic, 5.2e-6), ("network", network, 5e-6)):
        solution = solve(step(bulk_model, **parameters))
        assert solution.converged
        assert solution.residual < 1e-12
        assert abs(solution.test_error - value) < tolerance


@pytest.mark.parametrize("beta", [0.4, 1.0, 2.7])
@pytest.mark.parametrize(("bulk", "alignment"), [(1.3, 0.6), (0.7, -0.9), (5.0, 1.0)])
def test_isotropic_rows_give_the_closed_form(beta: float, bulk: float, alignment: float) -> None:
    # Marchenko-Pastur in closed form is the independent route; at beta = 1 and shift 1e-6 rounding is amplified by
    # 1/sqrt(shift), to 1e-13.
    network, closed = NetworkBulk(0.01, beta, isotropic_law(bulk, alignment)), IsotropicUniform(0.01, beta, bulk)
    for conjugates in POINTS:
        ours, theirs = network.at(conjugates), closed.at(conjugates)
        keep = np.ix_([0, 2], [0, 2])
        np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-10)
        np.testing.assert_allclose(
            ours.jacobian, theirs.jacobian, rtol=1e-10, atol=1e-10 * np.abs(theirs.jacobian).max()
        )
        np.testing.assert_allclose(ours.overlap[keep], theirs.overlap, rtol=1e-10, atol=1e-14 * theirs.overlap.max())
        slopes = theirs.overlap_jacobian()
        np.testing.assert_allclose(
            ours.overlap_jacobian()[:, keep[0], keep[1]], slopes, rtol=1e-10, atol=1e-10 * np.abs(slopes).max()
        )
        assert np.all(ours.overlap[1] == 0.0)


def test_isotropic_rows_give_the_srf_through_the_network_s_path() -> None:
    # omega A -> omega E[y^2], h = 0, v_c = 0: the third function is offered and cannot be used.
    model = step()
    expected = solve(step("isotropic"))
    table = profile(model, 2)
    assert len(table.along) == 2
    ratio = model.alpha / model.beta
    solved = nonlinear_part(
        table, NetworkBulk(model.ridge, model.beta, isotropic_law(model.bulk, model.alignment)), ratio
    )
    linear = linear_part(table, solved, ratio, model.noise)
    order = expected.order_parameters
    ours = [linear.test_error, linear.training_error, linear.m[0], linear.overlaps[0], linear.overlaps[2], *linear.q]
    theirs = [
        expected.test_error, expected.training_error, order.m[0], order.zeta[0], order.psi[0],
        order.q1[0, 0], order.q2[0],
    ]  # fmt: skip
    np.testing.assert_allclose(ours, theirs, rtol=1e-10)
    assert linear.overlaps[1] == 0.0


@pytest.mark.parametrize("beta", [0.7, 2.7])
def test_derivatives(beta: float) -> None:
    network = NetworkBulk(0.05, beta, network_law(TANH, SIGN, 2.0, 6.0, beta, 0.1))
    conjugates, h = np.array([0.8, 0.3]), 2e-3
    point = network.at(conjugates)
    # T and tau are derivatives of one function, (1/p) log det S: dT/dD = dtau/dC.
    assert point.jacobian[0, 1] == pytest.approx(point.jacobian[1, 0], rel=1e-12)
    # h^8 times ninth derivatives (1e-22 times at most 1e9), rounding 1e-16/h.
    for k, (slopes, matrix) in enumerate(differences(network.at, conjugates, h)):
        np.testing.assert_allclose(slopes, point.jacobian[:, k], rtol=1e-10)
        size = np.abs(point.overlap_jacobian()[k]).max()
        np.testing.assert_allclose(matrix, point.overlap_jacobian()[k], atol=1e-10 * size)


def test_overlaps_follow_from_where_they_were_computed_and_no_further() -> None:
    # Each pair is a few roundings from the one before it: were K carried from point to point, its slopes would stay
    # those of the first however far the last had gone.
    network = NetworkBulk(0.05, 1.0, network_law(TANH, TANH, 2.0, 6.0, 1.0, 0.0))
    conjugates = np.array([0.8, 0.3])
    for _ in range(200):
        last = network.at(conjugates)
        slopes, conjugates = last.overlap_jacobian(), conjugates * (1.0 + 1e-15)
    fresh = NetworkBulk(0.05, 1.0, network.law).at(conjugates / (1.0 + 1e-15)).overlap_jacobian()
    # Half of ROUNDING, 2.7e-15, times second derivatives of a few slopes, and rounding. Carried on: 2e-13 times these.
    np.testing.assert_allclose(slopes, fresh, rtol=0.0, atol=4e-14 * np.abs(fresh).max())


def test_trace_identities() -> None:
    # (1/p) tr[S S^-1] = 1 = D tau + C T, at every point.
    network = NetworkBulk(0.0, 1.3, network_law(TANH, TANH, 3.0, 5.0, 1.3, 0.0))
    for C, D in ((0.5, 0.2), (20.0, 1e-4), (1e-8, 3.0)):
        T, tau = network.at(np.array([C, D])).values
        assert D * tau + C * T == pytest.approx(1.0, abs=1e-12)


def test_overlaps_are_positive() -> None:
    network = NetworkBulk(0.05, 0.9, network_law(activation("erf"), activation("sin"), 0.7, 7.0, 0.9, 0.0))
    for conjugates in POINTS:
        assert np.linalg.eigvalsh(network.at(conjugates).overlap)[0] > 0.0


def test_slope_constants_of_a_cubic() -> None:
    # sigma = z - z^3/6: h1 = 1/2, s = (1 - z^2)/2. E s^2 = 1/2, E z^2 s = -1, E z^2 s^2 = (1 - 6 + 15)/4 = 5/2,
    # E s^3 = (1 - 3 + 9 - 15)/8 = -1, E s^4 = (1 - 4 + 18 - 60 + 105)/16 = 15/4, Var s^2 = 15/4 - 1/4 = 7/2.
    found = slope_constants(activation("z - z**3/6"))
    values = [found.square, found.second, found.weighted_square, found.cube, found.square_variance, found.square_slope]
    # Polynomials of degree 10 on a trapezoidal rule: rounding only.
    np.testing.assert_allclose(values, [0.5, -1.0, 2.5, -1.0, 3.5, 1.0], rtol=1e-11)


def test_constants_of_a_kink() -> None:
    # hardtanh: sigma' = 1 on [-1, 1]; with P = P(|z| < 1), h1 = P, E s^2 = P (1 - P), E s^3 = P (1 - P)(1 - 2 P).
    P = 0.6826894921370859  # erf(1/sqrt 2)
    found = slope_constants(activation("hardtanh"))
    np.testing.assert_allclose([found.square, found.cube], [P * (1 - P), P * (1 - P) * (1 - 2 * P)], rtol=1e-12)


def test_label_averages() -> None:
    # sign with noise 0.3 is +-1 plus noise: E y^2 = 1.3, E y^4 = 1 + 6 0.3 + 3 0.09 = 3.07, E[y u] = E|u|.
    rule = labels(SIGN, 0.3, 2.0)
    np.testing.assert_allclose([rule.square, rule.fourth, rule.first[0]], [1.3, 3.07, np.sqrt(2 / np.pi)], rtol=1e-12)
    # Without noise y^2 = 1 exactly, so that E_l[y^2] = 1/(1 + l).
    assert labels(SIGN, 0.0, 2.0).averages(2.0).square == pytest.approx(1 / 3, rel=1e-12)
    # The noisy average again, by adaptive quadrature over the noise alone (u and noise are independent, y^2 even).
    from scipy.integrate import quad

    def integrand(e: float) -> float:
        y2 = (1.0 + np.sqrt(0.3) * e) ** 2
        return float(y2 / (1 + 2 * y2) * np.exp(-e * e / 2) / np.sqrt(2 * np.pi))

    assert rule.averages(2.0).square == pytest.approx(quad(integrand, -12, 12, epsabs=1e-13, limit=200)[0], rel=1e-11)


def test_a_linear_activation_has_an_isotropic_bulk() -> None:
    # s = 0: the step leaves the bulk alone and the norms equal, so both theories agree.
    linear = activation("z")
    models = [
        Model.from_gradient_step(linear, TANH, alpha=1.5, beta=0.7, ridge=0.1, alpha0=3.0, eta=2.0, bulk_model=name)
        for name in ("isotropic", "network")
    ]
    isotropic, network = (solve(model) for model in models)
    assert network.test_error == pytest.approx(isotropic.test_error, rel=1e-12)
    # chi = sum_i a_i delta_i / sqrt p with delta = 0: rounding of a vanishing overlap, of square or so of the epsilon.
    assert abs(network.order_parameters.chi[0]) < 1e-20


def test_gaussian_rows_of_the_srf() -> None:
    # v_c = 2 c^2 independent of the rest: K gains one entry beta tau 2 c^2.
    model = Model(TANH, TANH, alpha=1.5, beta=0.8, ridge=0.1, spike=2.0, bulk=1.4, alignment=0.8, gaussian_rows=True)
    point = equivalent_of(model, 0.1).at(np.array([0.7, 0.2]))
    closed = IsotropicUniform(0.1, 0.8, 1.4).at(np.array([0.7, 0.2]))
    expected = np.diag([closed.overlap[0, 0], 0.8 * closed.values[1] * 2 * 1.4**2, closed.overlap[1, 1]])
    np.testing.assert_allclose(point.overlap, expected, rtol=1e-12, atol=1e-14)


def test_the_network_s_bound_is_below_the_isotropic_one() -> None:
    assert lower_bound(step()) < 0.9 * lower_bound(step("isotropic"))
    assert lower_bound(step()) < solve(step()).test_error


def test_the_limit_of_large_width_corrections() -> None:
    # The term of order 1/p vanishes; at p = 1e12 it is below 1e-9.
    solution = solve(step())
    wide = at_width(solution, 10**12)
    assert wide.test_error == pytest.approx(solution.test_error, rel=1e-8)
    np.testing.assert_allclose(wide.order_parameters.chi, solution.order_parameters.chi, rtol=1e-7)


def test_what_the_step_decides_does_not_change_alone() -> None:
    assert solve(step().changed(ridge=0.1)).test_error == solve(step(ridge=0.1)).test_error
    for name in ("spike", "bulk", "alignment"):
        with pytest.raises(ModelError, match="follows from the gradient step"):
            step().changed(**{name: 0.3})


def test_without_a_step_both_bulks_are_one() -> None:
    assert step(eta=0.0).network_step is None
    assert solve(step(eta=0.0)).test_error == solve(step("isotropic", eta=0.0)).test_error


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bulk_model": "spherical"}, "isotropic or network"),
        ({"readout": (ReadoutGroup(1.0, 0.5, 1.2), ReadoutGroup(-1.0, 0.5))}, "follows from the network"),
        ({"target": "exp(z**2/10)"}, "moment of order 8"),
    ],
)
def test_refusals(change: dict[str, object], message: str) -> None:
    values: dict[str, object] = {"activation": "tanh", "target": "tanh", "bulk_model": "network"} | change
    student, target = activation(str(values.pop("activation"))), activation(str(values.pop("target")))
    ratios = {"alpha": 1.0, "beta": 1.0, "ridge": 0.1, "alpha0": 2.0, "eta": 2.0}
    with pytest.raises(ModelError, match=message):
        solve(Model.from_gradient_step(student, target, **ratios, **values))  # type: ignore[arg-type]


@pytest.mark.parametrize(("nodes", "furthest"), [(2000, 1e-3), (80, 1e3)])  # too many products; too wide a grid
def test_labels_that_take_more_than_the_memory_are_refused(nodes: int, furthest: float) -> None:
    y = np.linspace(-furthest, furthest, nodes)
    with pytest.raises(ModelError, match=r"noise 0\.0001, here at leverages l up to 1e\+10, which takes more than"):
        _blurred(y, np.ones((3, nodes)), 1e-2, 1e-2 / 6000.0, 1e10)


def moved(conjugates: NDArray[np.float64], shares: tuple[float, float]) -> NDArray[np.float64]:
    """A pair (C, D) further on by so many times the rounding of averages, of each."""
    return conjugates * (1.0 + ROUNDING * np.array(shares))


@pytest.mark.parametrize("first", [(0.4, 0.4), (-0.4, 0.3)])
@pytest.mark.parametrize(
    ("second", "near"), [((0.45, -0.45), True), ((0.8, 0.0), False), ((0.0, -0.8), False), ((30.0, 30.0), False)]
)
def test_slopes_serve_another_point_within_half_a_rounding_of_where_they_were_computed(
    first: tuple[float, float], second: tuple[float, float], near: bool
) -> None:
    law = network_law(activation("relu"), activation("sin"), 2.0, 3.0, 1.0, 0.0)
    bulk, conjugates = NetworkBulk(0.1, 1.0, law), np.array([0.8, 0.3])
    known = bulk.at(conjugates)
    assert not known.computed
    slopes = known.overlap_jacobian()
    assert known.computed
    # The same pair is the same point, and one beside it follows from it.
    assert bulk.at(conjugates.copy()) is known
    beside = bulk.at(moved(conjugates, first))
    assert beside.overlap_jacobian() is not None
    assert beside.beside is not None
    assert beside.beside[0] is known
    assert not beside.computed
    # Another one beside the second is measured from the first.
    third = bulk.at(moved(conjugates, second))
    assert (third.beside is not None) == near
    assert third.overlap_jacobian() == pytest.approx(slopes, rel=1e-9)
    fresh = NetworkBulk(0.1, 1.0, law).at(moved(conjugates, second))
    assert third.overlap == pytest.approx(fresh.overlap, rel=1e-11)
    assert third.computed == (not near)


@pytest.mark.parametrize(
    ("place", "inside"),
    [
        ((0.0, 0.3, 0.5), False), ((1e-9, 0.3, 0.5), True), ((4.0, 0.3, 0.5), True), ((4.01, 0.3, 0.5), False),
        ((1.0, 1.41, 0.5), True), ((1.0, -1.41, 0.5), True), ((1.0, 1.42, 0.5), False), ((1.0, -1.42, 0.5), False),
        ((1.0, 0.0, 0.5), True), ((1.0, 0.0, 0.0), True), ((1.0, 0.0, -1e-9), False),
    ],
)  # fmt: skip
def test_places_on_the_way_have_no_zero_of_the_denominator(place: tuple[float, float, float], inside: bool) -> None:
    # x in (0, 2 beta/shift], and 4 b2 > b1^2.
    law = network_law(activation("relu"), activation("sin"), 2.0, 3.0, 1.0, 0.0)
    assert NetworkBulk(0.1, 1.2, law).inside(0.6, place) == inside


@pytest.mark.parametrize(
    ("move", "place", "size"),
    [
        ((-0.4, 0.0, 0.0), (2.0, 1.0, 4.0), 0.2), ((0.1, -0.6, 0.0), (2.0, 1.0, 4.0), 0.3),
        ((0.1, 0.0, -2.0), (2.0, 1.0, 4.0), 0.5), ((0.1, 0.0, 2.0), (2.0, 1.0, -4.0), 0.5),
        ((0.1, 0.7, 0.2), (2.0, 0.0, 0.0), 0.7), ((0.1, 0.2, 0.7), (2.0, 0.0, 0.0), 0.7),
    ],
)  # fmt: skip
def test_a_step_is_as_large_as_its_largest_share(
    move: tuple[float, ...], place: tuple[float, ...], size: float
) -> None:
    assert relative(move, place) == pytest.approx(size, rel=1e-14)


def test_a_solution_nearby_is_where_the_next_begins() -> None:
    network = NetworkBulk(0.05, 0.9, network_law(TANH, SIGN, 2.0, 6.0, 0.9, 0.1))
    swept = network.begun(0.8, 0.3, near=True)
    assert network.begun(0.8, 0.3, near=False) == swept  # nothing is known yet
    at = np.array(network.at(np.array([0.8, 0.3])).solution)
    beside = np.array(network.at(np.array([0.808, 0.297])).solution)
    # The last was at (0.808, 0.297); a move by 1 % leaves second order.
    apart = np.abs(network.begun(0.8, 0.3, near=True) - at)
    assert apart.max() < 0.05 * np.abs(beside - at).max()
    assert np.abs(np.array(swept) - at).max() > 2.0 * apart.max()
    assert network.begun(0.8, 0.3, near=False) == swept


@pytest.mark.parametrize("student", ["tanh", "relu", "sin(z+0.5)"])
def test_overlaps_of_many_points_are_those_of_each(student: str) -> None:
    law = network_law(activation(student), SIGN, 1.5, 4.0, 0.8, 0.2)
    pairs = [np.array([0.8, 0.3]), np.array([5.0, 0.02])]
    points = [NetworkBulk(0.05, 0.8, law).at(pair) for pair in pairs]
    x, b1, b2 = np.array([point.solution for point in points]).T
    over = np.stack([law.labels.over(*places) for places in zip(b1.tolist(), b2.tolist(), strict=True)], axis=-1)
    together = signal_overlaps(law, *frame(law), x, x * np.array(pairs)[:, 0], over[:, 0])
    for point, found in zip(points, np.moveaxis(together, -1, 0), strict=True):
        np.testing.assert_allclose(found, point.overlap, rtol=1e-11, atol=1e-12)


def test_a_point_beside_another_has_its_overlaps_to_first_order() -> None:
    network = NetworkBulk(0.1, 1.0, network_law(TANH, SIGN, 2.0, 6.0, 1.0, 0.0))
    rng = np.random.default_rng(2)
    known, slopes = rng.standard_normal((3, 3)), rng.standard_normal((2, 3, 3))
    there = SimpleNamespace(_overlaps=(known, slopes))
    two = np.zeros(2)
    point = _Point(network, 0.8, two, np.eye(2), np.zeros(3), two, (there, np.array([0.25, -0.5])))  # type: ignore[arg-type]
    assert np.array_equal(point.overlap, known + 0.25 * slopes[0] - 0.5 * slopes[1])
    assert np.array_equal(point.overlap_jacobian(), slopes)


@pytest.mark.parametrize("which", range(3))
def test_a_last_step_leads_to_the_numbers_at_its_end(which: int) -> None:
    bulk, conjugates = (
        NetworkBulk(0.1, 1.3, network_law(activation("relu"), SIGN, 2.0, 3.0, 1.3, 0.1)),
        np.array([0.8, 0.3]),
    )
    at = bulk.at(conjugates)
    place = at.solution.tolist()
    off = 1e-4 * max(abs(place[which]), 1e-2)
    place[which] += off
    step_ = bulk.step(0.8, 0.3, place)
    # To its second order: what a step leaves is the square of it.
    assert step_.values == pytest.approx(tuple(at.values), rel=1e-6)
    assert step_.move[which] == pytest.approx(-off, rel=1e-2)


def test_beyond_the_half_planes_nothing_is_solved() -> None:
    law = network_law(TANH, SIGN, 2.0, 6.0, 1.0, 0.0)
    for C, D, solved in (
        (0.5, 0.2, True),
        (0.0, 0.2, True),
        (-1e-9, 0.2, False),
        (0.5, -0.1, False),
        (0.5, -0.2, False),
    ):
        found = NetworkBulk(0.1, 1.0, law)._solve(C, 0.1 + D, np.array([C, D]))
        assert np.isfinite(found).all() == solved


def test_what_has_not_settled_is_no_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    law = network_law(TANH, SIGN, 2.0, 6.0, 1.0, 0.0)
    start, pair = np.array([0.4, 0.0, 0.7]), np.array([0.8, 0.3])

    def solved(sizes: list[float], known: bool) -> tuple[bool, int]:
        bulk, asked = NetworkBulk(0.1, 1.0, law), []
        if known:
            bulk.at(pair)

        def newton(self: NetworkBulk, C: float, shift: float, place: NDArray[np.float64]) -> tuple[Any, float]:
            asked.append(place)
            return start, sizes[min(len(asked), len(sizes)) - 1]

        with monkeypatch.context() as patch:
            patch.setattr(NetworkBulk, "_newton", newton)
            found = bulk._solve(0.81, 0.4, np.array([0.81, 0.3]))
        return bool(np.isfinite(found).all()), len(asked)

    # A last step of a hundred-millionth squares to rounding: from the last solution or from one sweep after another.
    near, far = 0.9e-8, 1.1e-8
    for known in (True, False):
        assert solved([near], known) == (True, 1)
        assert solved([far, near], known) == (True, 2)
        assert solved([far], known)[0] is False


@pytest.mark.parametrize("gaussian_rows", [False, True])
def test_a_step_up_and_one_down_are_mirrored(gaussian_rows: bool) -> None:
    # Of an odd activation: all rows turned round, and with them the parts that Gaussian rows have of their own. The
    # readout changes its sign, and the norms of the rows do not.
    given: dict[str, Any] = {"noise": 0.1, "gaussian_rows": gaussian_rows}
    up, down = (solve(step(readout=(ReadoutGroup(weight, 1.0),), **given)) for weight in (1.0, -1.0))
    assert down.test_error == pytest.approx(up.test_error, rel=1e-12)
    assert down.training_error == pytest.approx(up.training_error, rel=1e-12)
    assert down.order_parameters.chi[0] == pytest.approx(-up.order_parameters.chi[0], rel=1e-9)
