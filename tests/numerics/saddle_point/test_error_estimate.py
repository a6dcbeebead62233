"""The error that a solution claims, beside its distance from the solution to 50 digits."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from mpmath import mp

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bounds.ridge import bounds
from giantsteps.numerics.gaussian.quadrature import ROUNDING
from giantsteps.numerics.models.losses import huber
from giantsteps.numerics.models.model import Model, ModelError, ReadoutGroup
from giantsteps.numerics.saddle_point.any_loss.convex import solve as solve_loss
from giantsteps.numerics.saddle_point.equations import LinearPart, linear_part
from giantsteps.numerics.saddle_point.level import Level, solve_on
from giantsteps.numerics.saddle_point.one_group import batch_equations
from giantsteps.numerics.saddle_point.one_group.batch import solve_batch
from giantsteps.numerics.saddle_point.profile import Profile, profile
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.verify.digits.solve import solve as solve_to

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


@pytest.mark.parametrize("index", range(9))
def test_the_error_is_below_its_estimate(index: int) -> None:
    assert _share(random_model(index)) < 1.0


@pytest.mark.thorough
def test_the_error_is_below_its_estimate_everywhere_and_not_far() -> None:
    shares = np.array([_share(random_model(index), 50) for index in range(100)])
    assert shares.max() < 1.0
    # Half of the estimates are within a factor 300: ten to fifty at points without trouble, more where the functions'
    # own rounding counts, whose effect averages out over the nodes.
    assert np.median(shares) > 1.0 / 300.0


@pytest.mark.parametrize("left", [0.0, 9e-12])
def test_what_is_left_of_inner_integrals_is_in_every_estimate(left: float, monkeypatch: pytest.MonkeyPatch) -> None:
    # Profiles that say to know their functions of kappa to so much, which is just little enough to go on with.
    def told(*args: Any, **options: Any) -> Profile:
        return dataclasses.replace(profile(*args, **options), unresolved=left)

    solvers = ("ridge", "finite_width", "one_group.batch", "any_loss.convex")
    for module in (*(f"saddle_point.{solver}" for solver in solvers), "bounds.ridge"):
        monkeypatch.setattr(f"giantsteps.numerics.{module}.profile", told)
    model = Model("tanh", "sin", alpha=1.5, beta=1.0, ridge=0.1, spike=1.0, bulk=1.0, alignment=0.7 + left)
    batch, loss = solve_batch(model, alpha=[model.alpha]), solve_loss(model.changed(loss=huber(0.5)))
    found = {
        "ridge": (solve(model).error_estimate, solve(model).test_error),
        "width": (solve(model).at_width(300).error_estimate, solve(model).at_width(300).test_error),
        "batch": (float(batch.error_estimate[0]), float(batch.test_error[0])),
        "width of a batch": (float(batch.at_width(300).error_estimate[0]), float(batch.at_width(300).test_error[0])),
        "loss": (loss.error_estimate, loss.test_error),
        "parameters": (loss.parameter_error, 0.0),
        "square loss": ((square := solve_loss(model)).error_estimate, square.test_error),
        # Beside E[g^2] = (1 - exp(-2))/2.
        "bounds": (bounds(model).error_estimate, (1.0 - math.exp(-2.0)) / 2.0 - 1.0),
    }
    for name, (estimate, error) in found.items():
        assert estimate >= left * (1.0 + error), name
        # Without, rounding and Newton's last corrections are left.
        assert left > 0.0 or estimate < 5e-12, name


def test_an_oscillation_in_step_with_the_rule_is_noticed() -> None:
    # cos(9.64 kappa + ...) oscillates 13 times in 2 pi/0.025: rules halved to that step agreed to 1e-11, wrong by 2e-7.
    model = Model(
        activation("cos"), activation("sin(2*z)"), alpha=0.03232644282895662, beta=0.0323277263730534,
        ridge=8.121023867363146e-10, spike=9.641709995370071, bulk=0.5584276521256956, alignment=0.0,
    )  # fmt: skip
    assert _share(model) < 1.0


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


def test_any_precision_notices_one_too() -> None:
    # Here only the training error feels it: 30 digits were claimed for 10.
    model = Model(
        activation("sin"), activation("hardtanh"), alpha=0.015035224062802149, beta=56.82871611108038,
        ridge=8.340590927416443, noise=0.01590236023874106, spike=8.653732097187413, bulk=0.3663315472504838,
        alignment=0.0,
    )  # fmt: skip
    assert float(solve_to(model, digits=30).training_error) == pytest.approx(solve(model).training_error, rel=1e-14)


def test_saturating_functions_keep_their_tails() -> None:
    # mu2^2 = 1e-10 is a term of V at this ridge, and all of it from the tail of a Gaussian beyond the kink.
    model = Model(
        activation("relu"), activation("tanh"), alpha=0.4, beta=6.7, ridge=5e-10, spike=2.5, bulk=0.45, alignment=0.86
    )
    assert _share(model) < 1.0
    exact = solve_to(model, digits=24).test_error
    assert solve(model).test_error == pytest.approx(float(exact), rel=1e-13)


@pytest.mark.parametrize("student", ["relu", "hardtanh", "sign"])
@pytest.mark.parametrize("alpha", [0.3, 0.9])
def test_without_ridge_what_is_out_of_reach_is_refused_in_a_sentence(student: str, alpha: float) -> None:
    model = Model(
        activation(student), activation("sin"), alpha=alpha, beta=1.0, ridge=0.0, spike=1.0, bulk=1.0, alignment=1.0
    )
    with pytest.raises(ModelError, match="out of reach"):
        solve(model)


@pytest.mark.parametrize("excess", [1e-5, 3e-3, -3e-3])
@pytest.mark.parametrize("parts", [1, 2])
def test_near_the_threshold_without_ridge_nothing_is_divided_by_zero(excess: float, parts: int) -> None:
    # Newton's method overshoots here and begins again; warnings are errors in these tests. Two equal groups go the way
    # of several groups.
    groups = tuple(ReadoutGroup(fraction=1.0 / parts) for _ in range(parts))
    plain = Model(
        activation("tanh"),
        activation("sin"),
        alpha=1.0 + excess,
        beta=1.0,
        ridge=0.0,
        alignment=0.8,
        spike=1.0,
        bulk=1.0,
    )
    found, one = solve(dataclasses.replace(plain, readout=groups)), solve(plain)
    assert found.converged
    assert abs(found.test_error - one.test_error) <= found.error_estimate + one.error_estimate


def test_an_estimate_is_the_last_move_and_the_rounding_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first rule that is wrong by a known amount, and rounding that is known: the estimate is their sum, no share."""
    moved, rounding = 3e-10, 5e-10
    model = Model("tanh", "sin", alpha=1.5, beta=1.0, ridge=0.1, spike=1.0, bulk=1.0, alignment=0.7)
    right = solve(model)
    assert right.error_estimate < 1e-3 * moved
    levels = "giantsteps.numerics.saddle_point"
    with monkeypatch.context() as patch:
        calls: list[None] = []

        def level(*args: Any, **given: Any) -> Level:
            found = solve_on(*args, **given)
            calls.append(None)
            off = moved if len(calls) == 1 else 0.0
            return dataclasses.replace(found, test_error=found.test_error + off, rounding=rounding)

        patch.setattr(f"{levels}.ridge.solve_on", level)
        one = solve(model)
    with monkeypatch.context() as patch:
        parts: list[None] = []

        def part(*args: Any) -> LinearPart:
            found = linear_part(*args)
            parts.append(None)
            off = moved if len(parts) == 1 else 0.0
            return dataclasses.replace(found, test_error=found.test_error + off, rounding=rounding / ROUNDING)

        patch.setattr(f"{levels}.finite_width.linear_part", part)
        wide = right.at_width(300)
    coarse = batch_equations.test_errors
    with monkeypatch.context() as patch:

        def rows(*args: Any) -> Any:
            found = np.array(batch_equations.linear(*args))
            found[10] = rounding / ROUNDING
            return found

        patch.setattr(f"{levels}.one_group.batch.linear", rows)
        patch.setattr(f"{levels}.one_group.batch.test_errors", lambda *args: coarse(*args) + moved)
        many = solve_batch(model, alpha=[model.alpha])
    for estimate in (one.error_estimate, wide.error_estimate, float(many.error_estimate[0])):
        # What the true rules and the inner integrals add is a thousandth.
        assert estimate == pytest.approx(moved + rounding, rel=5e-3)
