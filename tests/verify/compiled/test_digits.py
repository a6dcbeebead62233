"""The theorems over balls: against doubles, certificates, themselves and closed forms; and what they refuse."""

from __future__ import annotations

from typing import Any

import pytest
from mpmath import mp

from giantsteps import ModelError, PrecisionError, solve
from giantsteps.numerics.models.losses import huber
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.models.readout_law import ReadoutLaw
from giantsteps.numerics.models.solution import Solution
from tests.shared.certified_models import worked

NAMES = ("m", "zeta", "psi", "q1", "q2", "V1", "V2", "chi")
# Odd and not, smooth and with kinks, a target with a jump, label noise, a bias, a weight, a large and a tiny step.
NETWORKS: list[tuple[str, str, dict[str, Any]]] = [
    ("tanh", "sin", {}),
    ("relu", "sin", {}),
    ("gelu", "sign", {"alpha0": 8.0}),
    ("tanh(z+0.7)", "tanh", {"alpha0": 10.0, "eta": 8.0, "ridge": 0.01}),
    ("softplus(z)", "tanh", {"noise": 0.3, "readout": (ReadoutGroup(-0.5, 1.0, bias=0.4),)}),
    ("leaky_relu(z, 1/5)", "z+he2(z)/5", {"alpha0": 0.5, "eta": 0.2, "beta": 2.5}),
    # The eighth power of its labels weighs tails that the density alone does not.
    ("tanh", "z+he(7, z)/70", {"alpha0": 4.0, "eta": 1.0}),
]
BIASED = (ReadoutGroup(1.0, 0.3, bias=0.2), ReadoutGroup(0.7, 0.7, bias=-0.4))
# Two groups at a small ridge, where another solution is near.
ASTRAY = Model("sin", "relu", 0.5, 1.0, 1e-6, spike=0.1, bulk=1.0, alignment=0.9999,
               readout=(ReadoutGroup(0.5, 0.001, bias=0.4), ReadoutGroup(0.0, 0.999, bias=-0.7)))  # fmt: skip
# The same in less time; functions that fall and grow like exp(q z^2).
HARD = [
    Model("sigmoid", "sign", 1.5, 1.0, 1e-7, 0.1, spike=0.01, bulk=1.0, alignment=0.0,
          readout=(ReadoutGroup(1.0, 0.5), ReadoutGroup(0.6, 0.5))),
    Model("tanh", "z**2", 1.0, 2.0, 1e-3, 0.1, spike=3.0, bulk=1.0, alignment=1.0,
          readout=(ReadoutGroup(1.0, 0.5), ReadoutGroup(0.0, 0.5))),
    worked().changed(activation="z*exp(-z**2)"),
    worked().changed(activation="z*exp(z**2/5)", spike=0.1),
]  # fmt: skip


def network(student: str, target: str, **changes: Any) -> Model:
    step = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "alpha0": 2.0, "eta": 3.0, **changes}
    return Model.from_gradient_step(student, target, bulk_model="network", **step)


def values(found: Solution) -> list[Any]:
    """The errors and all order parameters."""
    return [found.test_error, found.training_error,
            *(x for name in NAMES for x in getattr(found.order_parameters, name).ravel())]  # fmt: skip


def apart(first: Solution, second: Solution) -> Any:
    with mp.workdps(200):
        pairs = zip(values(first), values(second), strict=True)
        return max(abs(a - b) / (1 + abs(b)) for a, b in pairs)


@pytest.mark.parametrize(
    "model",
    [
        worked().changed(readout=BIASED),
        *(network(student, target, **changes) for student, target, changes in NETWORKS),
        *HARD,
        pytest.param(ASTRAY, marks=pytest.mark.thorough),
    ],
    ids=str,
)
def test_twenty_digits_meet_the_doubles(model: Model) -> None:
    double, found = solve(model), solve(model, digits=20)
    assert abs(float(found.test_error - mp.mpf(double.test_error))) <= double.error_estimate
    # The doubles' own goal is 1e-11 for the errors; conditions of order parameters cost at most two digits more.
    assert apart(found, double) <= 1e-10
    assert found.error_estimate < 1e-20
    assert found.residual < 1e-28


@pytest.mark.parametrize(
    "model",
    [
        worked(),
        worked().changed(activation="relu", target="sign", alignment=-0.5, noise=0.1),
        worked().changed(activation="sign", target="sign", alignment=1.0),
        worked().changed(activation="tanh", target="sign", alignment=-1.0, noise=0.1),
        worked().changed(spike=0.0),
        network("relu", "sin"),
    ],
    ids=str,
)
def test_thirty_digits_agree_with_forty_five(model: Model) -> None:
    # Other nodes on every rule, another precision.
    thirty, more = solve(model, digits=30), solve(model, digits=45)
    assert thirty.error_estimate < mp.mpf(10) ** -30
    # An error of 1e-30 in the test error goes with some more in order parameters that it hardly depends on.
    assert apart(thirty, more) < mp.mpf(10) ** -27


def test_a_linear_student_has_its_closed_form() -> None:
    """sigma(z) = z: mu0 = r kappa, mu1 = 1, mu2 = 0, so that V is constant and everything is a rational expression."""
    found = solve(worked().changed(activation="z", target="z", alignment=0.6), digits=50)
    order = found.order_parameters
    with mp.workdps(60):
        ridge, ratio = mp.mpf(0.1), mp.mpf(1.5)
        # D = 0 and C = ratio/(1 + T); tau = 1/(ridge + C/(1 + C tau)) and T = tau/(1 + C tau) for c = beta = 1.
        T, tau = mp.findroot(
            lambda t, u: (
                (ridge + ratio / (1 + t) / (1 + ratio / (1 + t) * u)) * u - 1,
                t * (1 + ratio / (1 + t) * u) - u,
            ),
            (mp.mpf(float(order.V1[0, 0])), mp.mpf(float(order.V2[0]))),
        )
        assert abs(T - order.V1[0, 0]) < mp.mpf(10) ** -49
        assert abs(tau - order.V2[0]) < mp.mpf(10) ** -49
        # The target's part along the spike is fitted without a cost: gamma kappa = (m r + zeta) kappa.
        assert abs(order.m[0] + order.zeta[0] - mp.mpf(0.6)) < mp.mpf(10) ** -49


def test_small_features_at_a_ridge_are_larger_ones_at_a_larger_ridge() -> None:
    model = Model("tanh(z)/10**20", "sin", 1.5, 1.0, 0.125, spike=1.0, bulk=1.0, alignment=0.8)
    small, large = (solve(one, digits=30) for one in (model, model.changed(activation="tanh", ridge=0.125e40)))
    # The ridge 0.125e40 is a double, off by 1e-16 of itself, of which the error at so heavy a ridge feels nothing.
    assert small.test_error == pytest.approx(large.test_error, rel=1e-25)


TWICE = (ReadoutGroup(1.0, 0.5), ReadoutGroup(1.0, 0.5))


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (worked().changed(ridge=0.0), "ridge > 0"),
        (worked().changed(readout=tuple(ReadoutGroup(u, 0.25) for u in (1.0, -1.0, 0.5, 2.0))), "two readout groups"),
        (worked().changed(readout=ReadoutLaw()), "readout groups"),
        (worked().changed(readout=TWICE), "coincide up to sign"),
        (worked().changed(loss=huber(1.0)), "square loss"),
        (worked().changed(gaussian_rows=True), "equal norm"),
        (worked().changed(activation="elu"), "is neither"),
        (worked().changed(activation="z**2 - 1", spike=0.0), "mu1 is 0"),
        (worked().changed(activation="cosh(1) + 1"), "mu1 is 0"),  # known in balls alone
        (worked().changed(activation="sin(z)**2 + cos(z)**2"), "mu1 is 0"),
        (network("abs", "sin"), "makes a spike"),
        (network("tanh", "sin", gaussian_rows=True), "rows of equal norm"),
        (network("tanh", "sin", readout=TWICE), "readout group"),
    ],
)
def test_what_digits_do_not_support_is_refused(model: Model, words: str) -> None:
    with pytest.raises((ModelError, PrecisionError), match=words):
        solve(model, digits=20)
