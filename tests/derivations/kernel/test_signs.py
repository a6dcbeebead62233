"""What the kernel decides of signs, and what it leaves on record where it does not."""

from __future__ import annotations

import pytest
import sympy as sp

from onestep.derivations.kernel.algebra import EXCHANGE, assume, congruence, differentiate, instantiate, order
from onestep.derivations.kernel.averages import dilate, rotate
from onestep.derivations.kernel.conditions import meanings_of
from onestep.derivations.kernel.limits import limit_compose, limit_exponential, limit_order, limit_rational
from onestep.derivations.kernel.search.leaves import define
from onestep.derivations.kernel.statements import Assumption, AtLeast, Condition, Demand, Equation, Ground, Refused
from onestep.derivations.kernel.terms import nonnegative, nonzero, positive
from onestep.derivations.kernel.theorem import Theorem
from onestep.derivations.language.expectation import Expectation
from tests.derivations.kernel.test_held_constant import at_saddle_of, b, c, t, taken, tends, y

x, u = sp.symbols("x u", real=True)
p, q = sp.symbols("p q", positive=True)
n, m = sp.symbols("n m", negative=True)
h = sp.Symbol("h", nonnegative=True)
k = sp.Symbol("k", real=True, nonzero=True)
d = sp.Symbol("d", positive=True)
hole = sp.Symbol("hole", real=True)
f = sp.Function("f", real=True)
ONE = sp.Integer(1)


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


def cancelled(factor: sp.Expr) -> Theorem:
    """f(u) = u, by what divides both sides for all x, and leaves no trace in them."""
    leaf = Assumption(Ground.LEMMA, "for a test", Equation(factor * f(u), factor * u), "none", frozenset({x, u}))
    return congruence((assume((), leaf),), hole / factor, hole)


TO_U = limit_rational((), u + 1 / d, u, d)


@pytest.mark.parametrize(
    ("theorem", "conditions"),
    [
        (cancelled(x), {Condition(x)}),
        (instantiate((cancelled(x),), {x: h}), {Condition(h)}),
        (instantiate((cancelled(x),), {x: u - 1}), {Condition(u - 1)}),
        (instantiate((cancelled(sp.sqrt(x)),), {x: k}), {Condition(k, Demand.NONNEGATIVE)}),
        (limit_compose((TO_U,), u / hole, (hole,)), {Condition(u)}),  # for u = 0 it is 0, and its limit would be 1
        (limit_compose((TO_U,), x * hole, (hole,)), {Condition(x, Demand.CONSTANT, d)}),
        (limit_exponential((), p, d), {Condition(p, Demand.CONSTANT, d)}),
        (dilate((), Expectation(f(u), u), u, x), {Condition(x), Condition(x, Demand.NONNEGATIVE)}),
        (define(f(x), sp.asin(x), "", x), {Condition(1 - x**2, Demand.NONNEGATIVE)}),
        (define(k, x, ""), {Condition(x)}),
    ],
    ids=lambda part: str(part.statement) if hasattr(part, "statement") else "",
)
def test_what_is_not_decided_stays_on_record(theorem: Theorem, conditions: set[Condition]) -> None:
    assert conditions <= theorem.conditions


def test_a_derivative_under_an_average_names_its_lemma() -> None:
    renamed = rotate((), Expectation(sp.tanh(x * u), u), (sp.Symbol("t", real=True),), ((ONE,),))
    assert EXCHANGE in differentiate((renamed,), x).assumptions


def test_a_coefficient_is_not_free_where_its_meaning_is_told() -> None:
    """y x + 1/d - 5/d^2 = 0 for y := b - t, held constant, with b = t: zero then, and at small values of d alone."""
    at = at_saddle_of(y * x**2 / 2 + x * (1 / d - 5 / d**2))
    premises = (*at, define(y, b - t, ""), taken(b, t))
    left, right = 5 * c / d + y / d, c + y / d
    low = order(premises, AtLeast(left, right), (c * d, -c * d, c * d * x, c * d * x))
    with pytest.raises(Refused, match="at most"):
        limit_order((low, tends(left, sp.Integer(0)), tends(right, c)), d)
