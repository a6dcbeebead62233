"""Result 3.3 as theorems: what they stand on, and the rules that they needed."""

from __future__ import annotations

import dataclasses

import pytest
import sympy as sp

from giantsteps.derivations.free_energy.ridge import ENERGY, assembled
from giantsteps.derivations.free_energy.stationarity import CONJUGATE
from giantsteps.derivations.kernel.algebra import differentiate, rewrite
from giantsteps.derivations.kernel.calculus import slope
from giantsteps.derivations.kernel.search.leaves import define
from giantsteps.derivations.kernel.statements import Ground, Refused, sides
from giantsteps.derivations.kernel.terms import derivative, nonnegative, positive
from giantsteps.derivations.kernel.theorem import Theorem, replay
from giantsteps.derivations.language import symbols as s
from giantsteps.derivations.language.named_functions import PARTIALS, directions_action
from giantsteps.derivations.saddle_point import equations
from giantsteps.verify.claims.index import all_claims

# What Result 3.3 takes on trust besides that the saddle is stationary, and the claims that carry it.
CLAIMED = {
    "Result 3.2": "result-3-2.same-test-error",
    "cross-term": "dropped.cross-term",
    "m-hat": "dropped.m-hat",
    "target-at-spike": "dropped.target-at-spike",
    "noise-at-spike": "dropped.noise-at-spike",
}


def hypotheses(theorem: Theorem) -> dict[str, str]:
    return {leaf.name: leaf.reference for leaf in theorem.assumptions if leaf.ground is Ground.HYPOTHESIS}


@pytest.mark.parametrize("variable", CONJUGATE, ids=str)
def test_every_equation_shows_what_it_stands_on(variable: sp.Symbol) -> None:
    theorem = equations.at_saddle(variable)
    replay(theorem)
    found = hypotheses(theorem)
    assert {name: found.get(name) for name in CLAIMED} == CLAIMED
    assert found.keys() - CLAIMED.keys() == {
        "replica symmetry",
        "saddle point and order of limits",
        "stationary saddle point",
    }


def test_hypotheses_that_are_claims_stand_in_the_ledger() -> None:
    assert set(CLAIMED.values()) <= {claim.id for claim in all_claims()}


def test_no_equation_is_among_its_own_leaves() -> None:
    for variable, unknown in CONJUGATE.items():
        theorem = equations.at_saddle(variable)
        assert all(sides(leaf.statement)[0] != unknown for leaf in theorem.assumptions)


def test_without_stationarity_nothing_follows() -> None:
    theorem = equations.at_saddle(s.q1)
    kept = frozenset(leaf for leaf in theorem.assumptions if leaf.name != "stationary saddle point")
    with pytest.raises(Refused):
        replay(dataclasses.replace(theorem, assumptions=kept))


def test_at_the_saddle_no_more_derivatives_are_taken() -> None:
    with pytest.raises(Refused, match="the assumptions speak of"):
        differentiate((equations.at_saddle(s.q1),), s.V1)


def test_the_ridge_is_no_constant_of_the_free_energy() -> None:
    assert sides(ENERGY.partial(s.ridge).statement)[1] != 0


def test_the_chain_rule_in_several_variables() -> None:
    x, y = sp.symbols("x y", real=True)
    count = len(PARTIALS[directions_action])
    point = (x**2, sp.sin(y), *[y] * (count - 2))
    found = derivative(directions_action(*point), x)
    assert found == 2 * x * PARTIALS[directions_action][0](*point)
    with pytest.raises(Refused):  # of another number of variables nothing is known
        derivative(directions_action(x, y), x)
    with pytest.raises(Refused):
        derivative(sp.Function("f", real=True)(x, y), x)


def test_only_a_declared_sign_of_a_function_counts() -> None:
    u = sp.Symbol("u", real=True)
    assert nonnegative(sp.Function("f", nonnegative=True)(u))
    assert not positive(sp.Function("f", nonnegative=True)(u))
    assert not nonnegative(sp.Function("f", real=True)(u))
    assert not positive(sp.Function("f", real=True)(u))
    assert not nonnegative(-sp.Function("f", nonnegative=True)(u))


def test_another_term_makes_another_equation() -> None:
    """With one more term in the free energy the equation for V1^ is another one: nothing in it is typed."""
    energy = assembled().theorem_of(s.free_energy)
    Phi = sp.Symbol("Phi", real=True)
    more = define(Phi, s.free_energy + s.q1 * s.V1, "one more term")
    with_it = rewrite((more, energy))
    assert sides(slope((with_it,), s.q1, sp.Symbol("rate", real=True), "").statement)[1] != sides(
        slope((energy,), s.q1, sp.Symbol("rate", real=True), "").statement
    )[1]
