"""The free energy against its own saddle point: derivatives by finite differences at the solver's numbers."""

from __future__ import annotations

import functools

import pytest
import sympy as sp

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.bulk import marchenko_pastur
from giantsteps.derivations.free_energy import convex_loss
from giantsteps.derivations.free_energy.along_spike import denominator, over_modes, varpi, varrho, vartau
from giantsteps.derivations.free_energy.ridge import assembled
from giantsteps.derivations.free_energy.stationarity import CONJUGATE
from giantsteps.derivations.kernel.rational import vanishing
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.steps import value
from giantsteps.derivations.language import symbols as s
from giantsteps.derivations.language.expectation import expand_expectations
from giantsteps.numerics.models.model import Model
from giantsteps.verify.checks.evaluate import evaluate
from giantsteps.verify.second_route.models import functions_of
from giantsteps.verify.solver.models import numbers, solved

MODEL = Model(
    activation("tanh(z)"),
    activation("sin(z)"),
    alpha=1.5,
    beta=0.8,
    ridge=0.1,
    noise=0.05,
    alignment=0.8,
    spike=1.0,
    bulk=1.0,
)


@functools.cache
def explicit_free_energy() -> sp.Expr:
    """The isotropic free energy with both traces as the explicit roots of their quadratic."""
    root = marchenko_pastur.quadratic().results[s.V2]
    V1 = marchenko_pastur.cavity().results[s.V1].subs(s.V2, root)
    general = assembled().theorem_of(s.free_energy)
    # For isotropic rows tau and pi are independent of varrho, of mean square one.
    with_varrho = {over_modes(varrho * weight / denominator): V1 for weight in (1, vartau**2, varpi**2)}
    return value(averages_expanded(general, s.mode, s.kappa)).subs({over_modes(1 / denominator): root, **with_varrho})


@pytest.mark.parametrize("variable", CONJUGATE, ids=str)
def test_it_is_stationary_at_the_solution_of_the_leave_one_out_equations(variable: sp.Symbol) -> None:
    at, functions, step = numbers(solved(MODEL)), functions_of(MODEL), 1e-4

    def phi(shift: float) -> float:
        return evaluate(explicit_free_energy(), {**at, variable.name: at[variable.name] + shift}, functions)

    # A central difference of a function of order one: step^2 = 1e-8 of its third derivative, up to about 20 here, and
    # 1e-16/1e-4 of rounding. Every single term of a derivative is of order 0.01 to 1.
    assert abs(phi(step) - phi(-step)) / (2 * step) < 1e-6
    # The derivative does vary: the stationary point is not a flat direction that any error would pass.
    curvature = abs(phi(0.1) - phi(0.0)) + abs(phi(-0.1) - phi(0.0))
    cross = {s.V1_hat, s.V2_hat, s.q1, s.q2, s.q1_hat, s.q2_hat, s.psi, s.zeta_hat, s.psi_hat, s.V1, s.V2}
    assert curvature > 1e-6 or variable in cross  # linear variables are multipliers: their curvature is zero


def test_the_stationary_value_is_the_objective() -> None:
    at = numbers(solved(MODEL))
    found = evaluate(explicit_free_energy(), at, functions_of(MODEL))
    # (1/p)(1/2 sum (y - f)^2 + lambda/2 |a|^2) in terms of training error and q2.
    objective = MODEL.alpha / MODEL.beta * at[s.training_error.name] / 2 + MODEL.ridge * at[s.q2.name] / 2
    assert found == pytest.approx(objective, rel=1e-9)  # the solver's residual is below 1e-12


def test_the_free_energy_of_a_convex_loss_is_that_of_the_ridge_at_the_square_loss() -> None:
    general, ridge = (d.results[s.free_energy] for d in (convex_loss.free_energy(), assembled()))
    gap, wrong = (
        expand_expectations(convex_loss.at_square_loss(general) - factor * ridge) for factor in (1, sp.Rational(27, 25))
    )
    assert vanishing(gap, (ridge,)) is not None
    assert vanishing(wrong, (ridge,)) is None
