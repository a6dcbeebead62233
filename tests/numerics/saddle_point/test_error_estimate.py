"""The error that a solution claims, beside its distance from the solution to 50 digits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import mp

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.models.model import Model, ModelError, ReadoutGroup
from giantsteps.numerics.saddle_point.one_group.batch import solve_batch
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.verify.digits.solve import solve as solve_to

SLOW = pytest.mark.thorough
ACTIVATIONS = ("tanh", "erf", "sin", "relu", "sign", "hardtanh", "arctan", "z**3-3*z", "abs(z)", "relu(z-1/2)", "cos")
TARGETS = ("sin", "sign", "tanh", "relu", "z", "sin(2*z)", "z**2-1", "abs(z)")


def random_model(index: int) -> Model:
    """A model anywhere in the domain, every third near the interpolation threshold, every third at a tiny ridge."""
    rng = np.random.default_rng([2402, index])
    alpha, beta = 10.0 ** rng.uniform(-2.0, 2.0, 2)
    if index % 3 == 0:
        alpha = beta * (1.0 + rng.choice([-1.0, 0.0, 1.0]) * 10.0 ** rng.uniform(-6.0, -1.0))
    return Model(
        activation(str(rng.choice(ACTIVATIONS))),
        activation(str(rng.choice(TARGETS))),
        alpha=alpha,
        beta=beta,
        ridge=10.0 ** (rng.uniform(-12.0, -6.0) if index % 3 == 1 else rng.uniform(-8.0, 4.0)),
        noise=float(rng.choice([0.0, 0.1])),
        spike=rng.uniform(0.0, 8.0),
        bulk=10.0 ** rng.uniform(-1.0, 0.7),
        alignment=float(rng.choice([0.0, rng.uniform(-1.0, 1.0)])),
        readout=(ReadoutGroup(bias=rng.normal() if index % 5 == 0 else 0.0),),
    )


def _share(model: Model, digits: int = 24) -> float:
    """The true error of the test error over the one claimed, the worse of the solver's and the batch's."""
    exact = solve_to(model, digits=digits).test_error
    one = solve(model)
    many = solve_batch(model, alpha=[model.alpha])
    assert one.converged, one.status
    assert many.converged[0], many.status
    with mp.workdps(50):
        return max(
            float(abs(mp.mpf(one.test_error) - exact) / one.error_estimate),
            float(abs(mp.mpf(float(many.test_error[0])) - exact) / float(many.error_estimate[0])),
        )


@pytest.mark.parametrize("index", [0, 1, *range(4, 9), *(pytest.param(k, marks=SLOW) for k in (2, 3))])
def test_the_error_is_below_its_estimate(index: int) -> None:
    assert _share(random_model(index)) < 1.0


def test_an_oscillation_that_two_rules_see_as_mirror_images_is_noticed() -> None:
    # Rules along the spike of steps 0.2 and 0.2/sqrt(3.6) take it for cos(1.6 kappa), of which much is learnt; so did
    # the inner rule for E g^2. Nothing is learnt from any oscillation as fast as that, and they are all alike.
    frequencies = (math.pi / 0.2 * (math.sqrt(3.6) + 2.0) / 2.0, 50.0)
    found = [
        solve(
            Model(
                activation("relu"), activation(f"cos({w:.15g}*z)"), alpha=1.5, beta=1.0, ridge=0.1, spike=1.0,
                bulk=1.0, alignment=1.0,
            )
        )
        for w in frequencies
    ]  # fmt: skip
    assert abs(found[0].test_error - found[1].test_error) <= sum(x.error_estimate for x in found)


@pytest.mark.parametrize("student", ["relu", "hardtanh", "sign"])
@pytest.mark.parametrize("alpha", [0.3, 0.9])
def test_without_ridge_what_is_out_of_reach_is_refused_in_a_sentence(student: str, alpha: float) -> None:
    model = Model(
        activation(student), activation("sin"), alpha=alpha, beta=1.0, ridge=0.0, spike=1.0, bulk=1.0, alignment=1.0
    )
    with pytest.raises(ModelError, match="cannot be computed here"):
        solve(model)


@pytest.mark.parametrize(
    ("student", "ridge"),
    [("6.57e7*(1+tanh(z-10))", 1e-15), ("1-erf(4-z)", 1e-10), pytest.param("log(2+tanh(z-9))", 1e-10, marks=SLOW)],
)
def test_a_sum_that_cancels_in_the_tail_is_within_its_estimate_of_more_digits(student: str, ridge: float) -> None:
    model = Model(student, "sin", alpha=1.5, beta=1.0, ridge=ridge, spike=1.0, bulk=1.0, alignment=0.8)
    found = solve(model)
    assert found.converged
    assert abs(float(solve_to(model, digits=20).test_error) - found.test_error) <= found.error_estimate


def test_mirrored_groups_are_within_their_estimates_of_more_digits() -> None:
    one = Model(
        "erf", "tanh", alpha=55.95119234416627, beta=25.608270174595475, ridge=8.785811742241138e-05,
        spike=-0.04948773578590406, bulk=0.004097764344770293, alignment=1.0,
    )  # fmt: skip
    exact = float(solve_to(one, digits=25).test_error)
    for weight, share in ((1.0, 0.3), (1.0, 0.5), (-1.0, 0.5)):
        found = solve(one.changed(readout=(ReadoutGroup(fraction=share), ReadoutGroup(weight, 1.0 - share))))
        assert found.converged
        assert abs(found.test_error - exact) <= found.error_estimate < 1e-11
