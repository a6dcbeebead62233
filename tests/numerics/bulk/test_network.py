"""The network's own bulk: the isotropic case is the same code, derivatives are exact, the worked values come out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bounds.ridge import lower_bound
from giantsteps.numerics.bulk.equivalent import IsotropicUniform
from giantsteps.numerics.bulk.network import NetworkBulk
from giantsteps.numerics.bulk.network_constants import labels, slope_constants
from giantsteps.numerics.bulk.network_law import isotropic_law, network_law
from giantsteps.numerics.bulk.of_model import equivalent_of
from giantsteps.numerics.models.model import Model, ReadoutGroup
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


def test_trace_identities() -> None:
    # (1/p) tr[S S^-1] = 1 = D tau + C T, at every point.
    network = NetworkBulk(0.0, 1.3, network_law(TANH, TANH, 3.0, 5.0, 1.3, 0.0))
    for C, D in ((0.5, 0.2), (20.0, 1e-4), (1e-8, 3.0)):
        T, tau = network.at(np.array([C, D])).values
        assert D * tau + C * T == pytest.approx(1.0, abs=1e-12)


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


def test_without_a_step_both_bulks_are_one() -> None:
    assert step(eta=0.0).network_step is None
    assert solve(step(eta=0.0)).test_error == solve(step("isotropic", eta=0.0)).test_error


@pytest.mark.parametrize("gaussian_rows", [False, True])
def test_a_step_up_and_one_down_are_mirrored(gaussian_rows: bool) -> None:
    # Of an odd activation: all rows turned round, and with them the parts that Gaussian rows have of their own. The
    # readout changes its sign, and the norms of the rows do not.
    given: dict[str, Any] = {"noise": 0.1, "gaussian_rows": gaussian_rows}
    up, down = (solve(step(readout=(ReadoutGroup(weight, 1.0),), **given)) for weight in (1.0, -1.0))
    assert down.test_error == pytest.approx(up.test_error, rel=1e-12)
    assert down.training_error == pytest.approx(up.training_error, rel=1e-12)
    assert down.order_parameters.chi[0] == pytest.approx(-up.order_parameters.chi[0], rel=1e-9)
