"""The solver for convex losses: it converges, its estimates hold, and it says why where there is no solution."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.gaussian.coefficients import conditional_coefficients
from giantsteps.numerics.gaussian.nodes import density
from giantsteps.numerics.models import losses
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.models.solution import Solution
from giantsteps.numerics.saddle_point.any_loss.convex import solve
from giantsteps.numerics.saddle_point.any_loss.envelope import Output, sampler
from giantsteps.verify.digits.solve import solve as solve_any

NAMES = ("m", "zeta", "psi", "q1", "q2", "V1", "V2")


def _unknowns(found: Solution) -> np.ndarray:
    return np.array([float(np.ravel(getattr(found.order_parameters, name))[0]) for name in NAMES])


def _legendre(ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nodes between ends, ten a panel, with the weights of a standard normal variable."""
    x, w = np.polynomial.legendre.leggauss(10)
    half = 0.5 * np.diff(ends)[:, None]
    nodes = (ends[:-1, None] + half * (1.0 + x)).ravel()
    return nodes, (half * w).ravel() * density(nodes)


def _sums(model: Model, found: Solution) -> np.ndarray:
    """E l(y, omega), E[f prox] and E|f prox|, f = (prox - omega)/V, by sums over a grid.

    Its axes are theta.x, the direction across, and omega, which is normal given x_v by the order parameters. With label
    noise in omega, the output itself has a mean that depends on it.
    """
    loss, (m, zeta, psi, q1, q2, V1, V2) = model.loss, _unknowns(found)
    signs = loss in (losses.LOGISTIC, losses.HINGE)
    across = math.sqrt(1.0 - model.alignment**2)
    # The targets' kinks, jumps and sign changes are ends of panels.
    t, w = _legendre(np.unique([*np.arange(-8.0, 8.5, 0.5), -math.sqrt(3.0), math.sqrt(3.0)]))
    u, v = _legendre(np.arange(-8.0, 9.0, 2.0))
    t, u, w = (part.ravel() for part in (*np.meshgrid(t, u), np.outer(v, w)))
    t, u, w = (part[w > 1e-12] for part in (t, u, w))
    kappa, z = model.alignment * t + across * u, across * t - model.alignment * u
    mu0, mu1, mu2 = conditional_coefficients(model.activation, model.spike, model.bulk, 0.0, kappa)
    y = np.sign(model.target(t)) if signs else model.target(t)
    # f is known where V is zero to rounding, but not as a difference over V.
    V = np.maximum(mu1**2 * V1 + mu2**2 * V2, 1e-6)
    mean, variance = m * mu0 + mu1 * (zeta * kappa + psi * z), mu1**2 * (q1 - psi**2) + mu2**2 * q2
    deviation = np.sqrt(np.maximum(variance + (0.0 if signs else model.noise), 1e-290))
    flipped = 0.5 * math.erfc(1.0 / math.sqrt(2.0 * model.noise)) if signs and model.noise > 0.0 else 0.0
    sums = np.zeros(3)
    for x in np.linspace(-8.0, 8.0, 321):
        omega, output = mean + deviation * x, mean + variance / deviation * x
        for label, share in ((y, 1.0 - flipped), (-y, flipped)):
            weight = 0.05 * share * float(density(x)) * w
            f = (loss.prox(label, omega, V) - omega) / V
            pull = f * (output + V * f)
            sums += weight @ np.transpose([loss.value(label, omega), pull, np.abs(pull)])
    return sums


def _assert_identities(model: Model) -> None:
    """What no equation of the solver says: a readout is the sum of its forces, and its energy is the least.

    From ridge a = sum_mu f_mu phi_mu/sqrt(p) follows ridge q2 = (alpha/beta) E[f prox]; and by the envelope theorem
    d/dridge of the least (sum of losses + (ridge/2)|a|^2)/p is q2/2.
    """
    found = solve(model)
    assert found.converged, (model, found.status)
    q2, ratio, (test, pulled, size) = float(found.order_parameters.q2[0]), model.alpha / model.beta, _sums(model, found)
    # A kink between nodes 0.05 apart leaves h^2/12 = 2e-4 of the change of slope there.
    assert test == pytest.approx(found.test_error, rel=2e-4), model
    assert ratio * pulled == pytest.approx(model.ridge * q2, abs=2e-4 * ratio * size), model
    h = model.ridge / 50.0
    energies = {k: solve(model.changed(ridge=model.ridge + k * h)).energy for k in (-2, -1, 1, 2)}
    slope = (8.0 * (energies[1] - energies[-1]) - (energies[2] - energies[-2])) / (12.0 * h)
    # Truncation: 4 (h/ridge)^4 = 6e-7 of q2, and rounding.
    assert slope == pytest.approx(0.5 * q2, rel=5e-6), model


def _case(student: str, target: str, loss: str, *values: float) -> Model:
    alpha, beta, ridge, noise, spike, bulk, alignment = values
    return Model(student, target, alpha, beta, ridge, noise=noise, spike=spike, bulk=bulk, alignment=alignment,
                 loss=loss)  # fmt: skip


# A rule along the spike that was doubled once left V1 off by 1e-6 in the first; Anderson's acceleration ended with
# residuals of infinity and of 46 in the next two. In the last V falls to 1e-290 along the spike.
HARD = {
    "saturating": _case("sigmoid", "hardtanh", "huber:0.3", 1.203715753227461, 0.5724994999145088, 0.292404056052302,
                        0.0, 1.7425084283715087, 1.2199998952047812, 0.7664383093775415),
    "flat loss": _case("relu", "he3", "hinge", 1.7141461419100292, 6.335085855014976, 4.861376645428883, 0.0,
                       1.975640745802135, 1.8147085235171474, 0.3905525434746654),
    "no spike": _case("leaky_relu(z,1/10)", "he2", "hinge", 0.32, 0.48, 0.67, 0.0, 0.0, 0.47, 0.47),
    "small ridge": _case("tanh", "sign", "logistic", 0.5, 1.0, 1e-3, 0.0, 1.0, 1.0, 0.8),
    "no V far out": _case("sign", "he2", "absolute", 1.62, 1.3, 0.0356, 0.307, 1.63, 0.816, 0.792),
}  # fmt: skip


@pytest.mark.parametrize("name", HARD)
def test_hard_cases_have_the_identities_of_a_minimum(name: str) -> None:
    _assert_identities(HARD[name])


def test_the_estimate_covers_every_order_parameter() -> None:
    """A finer rule than the one that was stopped at moves nothing by more than the estimate."""
    for model in HARD.values():
        found, finer = solve(model), solve(model, refine=1)
        moved = np.abs(_unknowns(found) - _unknowns(finer)) / (1.0 + np.abs(_unknowns(finer)))
        # Beside the estimate the rounding of some hundred terms.
        assert np.max(moved) <= found.parameter_error + 1e-12
        assert abs(found.test_error - finer.test_error) <= found.error_estimate + 1e-12


def test_a_mean_that_separates_the_labels_is_said() -> None:
    """At alignment 1 the mean of a tanh feature has the sign of kappa, every label: m has no price, and no limit."""
    for loss in (losses.LOGISTIC, losses.HINGE):
        model = Model(activation("tanh"), activation("sign"), alpha=0.5, beta=1.0, ridge=0.1, spike=1.0, bulk=1.0,
                      alignment=1.0)  # fmt: skip
        found = solve(model.changed(loss=loss))
        assert not found.converged
        assert "means of the features alone" in found.status
        assert "a larger ridge does not" in found.status
        # With flipped labels, or at finite width, there is a price.
        assert solve(model.changed(noise=0.3, loss=loss)).converged
        assert solve(model.changed(loss=loss), width=300).converged


@pytest.mark.parametrize("loss", [losses.LOGISTIC, losses.HINGE, losses.huber(0.5)], ids=lambda loss: loss.name)
def test_near_separability_the_loss_is_finite_and_quick(loss: losses.Loss) -> None:
    """Ridges down to 1e-5: V grows like 1/ridge; counted in averages, not in seconds."""
    energies = []
    for ridge in (1e-2, 1e-5):
        model = Model(activation("tanh"), activation("sign"), alpha=0.5, beta=1.0, ridge=ridge, spike=1.0, bulk=1.0,
                      alignment=0.8)  # fmt: skip
        found = solve(model.changed(loss=loss))
        assert found.converged, found.status
        assert found.iterations < 400
        energies.append(found.energy)
    # The least of losses plus (ridge/2)|a|^2 grows with the ridge.
    assert energies[0] > energies[1] > 0.0


def logistic_slope(y: np.ndarray, omega: np.ndarray, V: np.ndarray) -> np.ndarray:
    """-df/domega = l''/(1 + V l'') at the proximal point."""
    at = y * losses.LOGISTIC.prox(y, omega, V)
    second = special.expit(at) * special.expit(-at)
    return np.asarray(second / (1.0 + V * second))


# Given kappa: yhat, P, q and V at three places.
PLACES = np.array([[0.3, -0.5, 0.8], [0.4, 0.2, -0.3], [0.9, 1.3, 2.0], [1.5, 0.7, 3.0]])
KINDS = {
    "logistic": (losses.LOGISTIC, 0.0, 0.8), "flipped": (losses.LOGISTIC, 0.3, 0.8), "hinge": (losses.HINGE, 0.3, 0.8),
    "huber": (losses.huber(0.5), 0.2, 0.8), "absolute": (losses.ABSOLUTE, 0.0, 0.8),
    "any": (losses.ProximalLoss("any", losses.LOGISTIC.value, losses.LOGISTIC.prox, logistic_slope), 0.0, 0.8),
    "aligned": (losses.HINGE, 0.3, 1.0),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_derivatives_of_the_envelope_are_those_of_its_value(kind: tuple[losses.Loss, float, float]) -> None:
    """Gradient and Hessian of E M, M = l(prox) + V f^2/2, by central differences of values and of gradients."""
    loss, noise, alignment = kind
    model = Model(activation("tanh"), activation("sign"), alpha=1.5, beta=1.0, ridge=0.1, spike=1.0, bulk=1.0,
                  alignment=alignment, noise=noise)  # fmt: skip
    kappa = np.array([-1.2, 0.3, 2.0])
    averages = sampler(loss, model, alignment * kappa, np.full(3, 0.3), Output(*PLACES), 1)

    def value(x: np.ndarray) -> np.ndarray:
        at = Output(*x)
        return np.asarray(averages.loss(at, new=False) + 0.5 * at.V * averages.envelope(at).square)

    found, h = averages.envelope(Output(*PLACES)), 1e-5
    for i in range(4):
        up, down = PLACES.copy(), PLACES.copy()
        up[i] += h
        down[i] -= h
        # Differences are good to h^2 = 1e-10 and to rounding over h, 1e-11.
        assert found.slope[i] == pytest.approx((value(up) - value(down)) / (2 * h), abs=1e-8)
        slopes = averages.envelope(Output(*up)).slope - averages.envelope(Output(*down)).slope
        assert found.curvature[i] == pytest.approx(slopes / (2 * h), abs=1e-8)


def test_the_logistic_prox_at_every_scale() -> None:
    rng = np.random.default_rng(0)
    margin = np.concatenate(
        [rng.standard_normal(4000) * 10.0 ** rng.uniform(-2, 3, 4000), -np.linspace(0, 1, 999) * 1e5]
    )
    V = np.concatenate([10.0 ** rng.uniform(-12, 8, 4000), np.full(999, 1e5)])
    h = losses.LOGISTIC.prox(np.ones_like(margin), margin, V)
    s = np.exp(-np.logaddexp(0.0, h))
    # The equation to the rounding of its own terms.
    assert np.max(np.abs(h - margin - V * s) / (1.0 + np.abs(margin) + V * s)) < 1e-14


def test_what_doubles_round_away_is_part_of_the_estimate() -> None:
    # A Huber loss that is never linear is half of the square loss, whose digits are known.
    ratios = {"alpha": 14.27165790264964, "beta": 14.303119897937238, "ridge": 2.2932673694136204e-06}
    features = {"spike": 0.0, "bulk": 2.5741961901339496, "alignment": 0.04498066049324756}
    model = Model("tanh(8*z)", "sin", noise=0.016321905826786384, **ratios, **features)
    found = solve(model.changed(loss="huber:1e8"))
    exact = float(solve_any(model, digits=25).test_error)
    assert found.converged
    assert found.mean_squared_error is not None
    assert 1e-13 < abs(found.mean_squared_error - exact) <= found.error_estimate < 1e-10


@pytest.mark.thorough
def test_an_iterate_out_of_reach_ends_as_not_converged() -> None:
    # Linear features of two weights and next to no ridge: V grows to 1e7, and the equations are infinite there; on some
    # processors they end just before.
    groups = (ReadoutGroup(1.0, 0.5, 2.0), ReadoutGroup(-1.0, 0.5, 0.5))
    model = Model("z+z", "sigmoid", alpha=1.5, beta=2.0, ridge=1e-8, noise=0.1, spike=20.0, bulk=3.0, alignment=-1.0,
                  readout=groups, loss="absolute")  # fmt: skip
    found = solve(model)
    assert not found.converged
    assert found.residual > 1.0
    assert found.status.startswith("not converged")
