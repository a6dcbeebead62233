"""The thirteen equations of Result 3.3 follow from the replicated partition function, and what they rest on."""

from __future__ import annotations

import pytest
import sympy as sp

from giantsteps.derivations.free_energy import convex_loss
from giantsteps.derivations.free_energy import symbols as s
from giantsteps.derivations.free_energy.ridge import ENERGY, assembled
from giantsteps.derivations.free_energy.stationarity import CONJUGATE
from giantsteps.derivations.kernel.rational import vanishing
from giantsteps.derivations.kernel.search.goals import follows
from giantsteps.derivations.kernel.statements import Equation, Ground
from giantsteps.derivations.kernel.theorem import replay
from giantsteps.derivations.language.expectation import expand_expectations
from giantsteps.verify.claims.saddle_point.result_3_3 import CLAIMS

BY_UNKNOWN = {c.statement.lhs: c for c in CLAIMS if c.id.startswith("result-3-3.saddle.")}
# What the theory takes on trust, by the claims that carry it.
TRUSTED = {
    "result-3-2.same-test-error", "dropped.cross-term", "dropped.target-at-spike", "dropped.noise-at-spike",
    "dropped.m-hat",
}  # fmt: skip


@pytest.mark.parametrize("variable", CONJUGATE, ids=str)
def test_a_saddle_point_equation_is_a_theorem(variable: sp.Symbol) -> None:
    unknown = CONJUGATE[variable]
    statement = BY_UNKNOWN[unknown].statement
    theorem = follows(Equation(statement.lhs, statement.rhs), [ENERGY.solved(variable, unknown)])
    assert theorem is not None
    replay(theorem)
    leaves = {leaf.reference for leaf in theorem.assumptions if leaf.ground is Ground.HYPOTHESIS}
    assert leaves >= TRUSTED
    wrong = Equation(statement.lhs, sp.Rational(27, 25) * statement.rhs)
    assert follows(wrong, [ENERGY.solved(variable, unknown)]) is None


def test_the_free_energy_of_a_convex_loss_is_that_of_the_ridge_at_the_square_loss() -> None:
    general, ridge = (d.results[s.free_energy] for d in (convex_loss.free_energy(), assembled()))
    gap, wrong = (
        expand_expectations(convex_loss.at_square_loss(general) - factor * ridge) for factor in (1, sp.Rational(27, 25))
    )
    assert vanishing(gap, (ridge,)) is not None
    assert vanishing(wrong, (ridge,)) is None
