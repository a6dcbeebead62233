"""The tails of mu1 for tanh: a theorem, and what is more than it says does not follow."""

from __future__ import annotations

import pytest
import sympy as sp

from giantsteps.derivations.bounds import symbols as s
from giantsteps.derivations.bounds.tanh_tails import exponential_tails, slope_bound, triangle
from giantsteps.derivations.kernel.statements import AtLeast, Ground, Refused
from giantsteps.derivations.kernel.theorem import replay
from giantsteps.derivations.kernel.vacuity.established import asked_by
from giantsteps.derivations.language.derivation import ge

BOUND = sp.exp(2 * s.c - 2 * s.r * sp.Abs(s.kappa)) * (1 - sp.erf(sp.sqrt(2 * s.c)))


def test_the_bound_is_a_theorem() -> None:
    theorem = replay(exponential_tails(ge(s.mu1, BOUND)))
    assert theorem.statement == AtLeast(s.mu1, BOUND)
    assert not asked_by(theorem)
    models = {leaf.name for leaf in theorem.assumptions if leaf.ground is Ground.MODEL}
    assert models == {"tanh activation", "the spike's sign"}


@pytest.mark.parametrize(
    "more", [BOUND * 27 / 25, BOUND + sp.Rational(1, 13), BOUND.subs(s.r, s.r / 2), BOUND * sp.exp(s.c)], ids=str
)
def test_a_larger_bound_does_not_follow(more: sp.Expr) -> None:
    with pytest.raises(Refused):
        exponential_tails(ge(s.mu1, more))


def test_its_parts_are_made_again() -> None:
    for part in (slope_bound(), triangle()):
        assert replay(part).statement == part.statement
