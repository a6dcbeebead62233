"""Logarithms, exponentials that vanish, and the order in d of a sum: what the rules make, and what they refuse."""

from __future__ import annotations

import pytest
import sympy as sp

from onestep.derivations.gradient_step.leaves import exponent_of_sum, power_of_d
from onestep.derivations.kernel.limits import limit_compose, limit_exponential
from onestep.derivations.kernel.search.steps import value
from onestep.derivations.kernel.statements import Refused, Tends
from onestep.derivations.kernel.theorem import replay

a, b, L = sp.symbols("a b L", positive=True)
x, h = sp.symbols("x h", real=True)
e, P, Q = sp.Symbol("e", real=True), *sp.symbols("P Q", positive=True)


def test_an_exponential_vanishes_at_a_positive_rate() -> None:
    assert limit_exponential((), a / 2, L).statement == Tends(sp.exp(-a * L / 2), sp.Integer(0), L)
    for rate in (x, -a, a - b, sp.Integer(0), a * L, 1 / L):
        with pytest.raises(Refused):
            limit_exponential((), rate, L)


def test_a_logarithm_is_continuous_where_its_argument_is_positive() -> None:
    vanishing = limit_exponential((), a, L)
    assert limit_compose((vanishing,), sp.log(b + h), (h,)).statement.value == sp.log(b)
    for context in (sp.log(h), sp.log(h - 1), sp.log(x + h)):
        with pytest.raises(Refused):
            limit_compose((vanishing,), context, (h,))


@pytest.mark.parametrize(("larger", "smaller"), [(1 + a, a), (a, a), (a / 2, a / 3), (sp.Integer(0), -b)])
def test_the_larger_exponent_is_that_of_the_sum(larger: sp.Expr, smaller: sp.Expr) -> None:
    sizes = (power_of_d(P, larger, "one term"), power_of_d(Q, smaller, "another"))
    theorem = exponent_of_sum(e, (P, Q), "a sum", *sizes)
    replay(theorem)
    assert value(theorem) == sp.expand(larger)
    if larger != smaller:
        with pytest.raises(Refused):
            exponent_of_sum(e, (Q, P), "a sum whose first term is the smaller one", *sizes)
