"""What the kernel decides of signs: symbols below zero, and what stands for them."""

from __future__ import annotations

import pytest
import sympy as sp

from onestep.derivations.kernel.algebra import assume, instantiate
from onestep.derivations.kernel.search import define
from onestep.derivations.kernel.statements import Assumption, Condition, Demand, Equation, Ground, Refused
from onestep.derivations.kernel.terms import nonnegative, nonzero, positive
from onestep.derivations.kernel.theorem import meanings_of
from onestep.derivations.language.expectation import Expectation

x, u = sp.symbols("x u", real=True)
p, q = sp.symbols("p q", positive=True)
n, m = sp.symbols("n m", negative=True)
h = sp.Symbol("h", nonnegative=True)
f = sp.Function("f", real=True)


@pytest.mark.parametrize("term", [-n, n * m, -2 * n * p, p - n, sp.sqrt(-n)], ids=str)
def test_what_is_above_zero(term: sp.Expr) -> None:
    assert positive(term)
    assert nonnegative(term)
    assert nonzero(term)


@pytest.mark.parametrize("term", [n, 2 * n, n * p, -n * m, n + p, -p, -n * x, -n + x, -x, sp.Integer(-2)], ids=str)
def test_what_is_not_decidedly_above_zero(term: sp.Expr) -> None:
    assert not positive(term)
    assert not nonnegative(term)


def test_a_pair_of_factors_below_zero_keeps_the_sign_of_the_rest() -> None:
    assert nonnegative(-n * h)
    assert not positive(-n * h)
    assert not nonnegative(n * h)


def test_what_stands_for_a_symbol_below_zero_is_below_zero() -> None:
    leaf = Assumption(Ground.LEMMA, "for a test", Equation(f(n), n), "none", frozenset({n}))
    theorem = assume((), leaf)
    assert instantiate((theorem,), {n: -p}).statement == Equation(f(-p), -p)
    for wrong in (p, sp.Integer(1), x, sp.Integer(0), -h, m + p):
        with pytest.raises(Refused):
            instantiate((theorem,), {n: wrong})


def test_a_name_below_zero_leaves_a_condition_on_what_it_means() -> None:
    assert not define(n, -p, "").conditions
    assert Condition(-x, Demand.NONNEGATIVE) in define(n, x, "").conditions
    assert Condition(x) in define(n, x, "").conditions
    with pytest.raises(Refused):
        define(n, p, "")


def test_what_a_function_is_defined_for_is_no_name_that_it_rests_on() -> None:
    meanings = meanings_of(define(f(x), x * p + Expectation(u**2, u), "", x).assumptions)
    assert x not in meanings[f]
    assert p in meanings[f]
