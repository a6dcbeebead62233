"""Models anywhere: a solution is within its error estimate of the certified one, or is said not to be converged."""

from __future__ import annotations

import math

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.certificates.certify import certify
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.saddle_point.any_loss.convex import solve as solve_any
from giantsteps.numerics.saddle_point.one_group.batch import solve_batch
from giantsteps.numerics.saddle_point.ridge import solve

STUDENTS = (
    "tanh", "sin", "relu", "hardtanh", "sign", "abs(z)", "z**3-3*z", "z**2-1", "tanh(z)+z**2/10", "Max(z-1/2,0)",
)  # fmt: skip
TARGETS = (*STUDENTS[:7], "z", *STUDENTS[7:])
FOUR = tuple(ReadoutGroup(letter, 0.25) for letter in (1.0, -0.5, 0.3, 2.0))


def drawn(index: int) -> Model:
    """A model anywhere: ridge 1e-12 to 1e6, alpha and beta 1e-3 to 1e3, r to 50, c 1e-4 to 1e3."""
    rng = np.random.default_rng([25, index])
    return Model(
        str(rng.choice(STUDENTS)),
        str(rng.choice(TARGETS)),
        alpha=10.0 ** rng.uniform(-3.0, 3.0),
        beta=10.0 ** rng.uniform(-3.0, 3.0),
        ridge=10.0 ** rng.uniform(-12.0, 6.0),
        spike=float(rng.choice([rng.uniform(0.0, 50.0), 10.0 ** rng.uniform(-2.0, 1.0)])),
        bulk=10.0 ** rng.uniform(-4.0, 3.0),
        alignment=float(rng.choice([rng.uniform(-1.0, 1.0), rng.uniform(-1.0, 1.0), 0.0, 1.0])),
        noise=float(rng.choice([0.0, 0.1])),
    )


def certain(model: Model) -> float | None:
    """The test error, certain to all digits of a double, or None without a certificate."""
    balls = certify(model, digits=17).balls
    return None if balls is None else float(balls.test_error.mid())


def three_ways(model: Model) -> list[tuple[float, float, bool, str]]:
    """Test error, estimate, whether it converged and the status: of one group, of two equal ones, of a batch."""
    halves = model.changed(readout=(ReadoutGroup(fraction=0.5), ReadoutGroup(fraction=0.5)))
    batch = solve_batch(model, alpha=[model.alpha], beta=model.beta, ridge=model.ridge, noise=model.noise)
    found = [(one.test_error, one.error_estimate, one.converged, one.status) for one in (solve(model), solve(halves))]
    numbers = float(batch.test_error[0]), float(batch.error_estimate[0])
    return [*found, (*numbers, bool(batch.converged[0]), str(batch.status[0]))]


# mu0 = exp(-c/2) sin(r kappa), where sin is of size 1: in the limit a readout that is e^(c/2) long fits y0 with it.
@pytest.mark.parametrize("index", [5, 43, 75, 82])
def test_four_groups_converge_where_newton_stalls_at_rounding(index: int) -> None:
    # Steps for tau that no longer shrink: without the last of them the residual stays above the goal of 1e-12.
    solution = solve(drawn(index).changed(readout=FOUR))
    assert solution.converged
    assert solution.residual < 1e-12


def of_small_mean(target: str, bulk: float) -> Model:
    return Model("sin", target, alpha=2.0, beta=0.5, ridge=0.1, spike=0.3, bulk=bulk, alignment=0.8)


@pytest.mark.parametrize(("bulk", "target"), [(70.0, "z"), (170.58374236169337, "sign"), (350.0, "z**3-3*z")])
def test_a_mean_below_rounding_is_not_taken_for_zero(bulk: float, target: str) -> None:
    model = of_small_mean(target, bulk)
    # What a mean fits does not depend on its size, and mu1^2 = e^-40 is less than rounding of the test error.
    exact = certain(of_small_mean(target, 40.0))
    assert exact is not None
    for value, estimate, converged, status in three_ways(model):
        assert abs(value - exact) > 1e-3
        assert estimate == math.inf
        assert not converged
        assert "lost in rounding" in status
    huber = solve_any(model.changed(loss="huber:0.5"))
    assert not huber.converged
    assert "lost in rounding" in huber.status
    # At a finite width a long readout has its cost, and without a spike or without y0 there is nothing to be lost.
    assert solve_any(model.changed(loss="huber:0.5"), width=300).converged
    assert all(converged for *_, converged, _ in three_ways(model.changed(spike=0.0)))
    for changes in ({"target": activation("z**2-1")}, {"alignment": 0.0}):
        exact = certain(of_small_mean(target, 40.0).changed(**changes))
        assert exact is not None
        for value, estimate, converged, _ in three_ways(model.changed(**changes)):
            assert converged
            assert abs(value - exact) <= estimate


def test_a_small_mean_enters_the_estimate_with_its_rounding() -> None:
    """A mean a million times smaller than the activation is known to a millionth of the digits."""
    # The target is fitted by sign's mean to 1e-4 of its size: the square of what is left knows that much less.
    for model, low, high in ((of_small_mean("z", 28.0), 1e-10, 1e-6), (drawn(134), 0.0, 1e-15)):
        exact = certain(model)
        assert exact is not None
        for value, estimate, converged, _ in three_ways(model):
            assert converged
            assert abs(value - exact) <= estimate
            assert low < estimate < high


def test_a_force_that_is_a_small_difference_of_large_terms_keeps_its_digits() -> None:
    # zeta_force = 1e-5 of a sum of terms of order 1: q2 came out with an error of 1e-10, of which no estimate knew.
    found = solve(
        Model(
            "Max(z-1/2,0)", "relu", alpha=849.7935047695996, beta=35.46787523018166, ridge=2.9933994661311554e-06,
            spike=32.07567947528017, bulk=0.3362177607390392, alignment=-0.012856880113207625, noise=0.1,
        )
    )  # fmt: skip
    # To 25 digits, which take seven seconds.
    assert abs(found.test_error - 1.55219763727832) < 1e-12
    assert abs(found.test_error - 1.55219763727832) <= found.error_estimate < 1e-10


def test_a_smooth_student_is_followed_along_a_long_spike() -> None:
    # Smoothed by its bulk softplus(r kappa) is as good as relu: at this spike the smoothing is 1e-5 wide in kappa.
    models = [
        Model(student, "sin", 1.27, 0.33, 0.312, 0.276, spike=1e6, bulk=125.0, alignment=0.7)
        for student in ("softplus", "relu")
    ]
    soft, kinked = map(solve, models)
    assert soft.converged
    assert kinked.converged
    assert soft.test_error == pytest.approx(kinked.test_error, rel=1e-6)
    assert soft.error_estimate < 1e-8
