"""Slopes of curves, Taylor's formula, roots of whole numbers, functions of one slope: what rules make and refuse."""

from __future__ import annotations

import pytest
import sympy as sp

from giantsteps.derivations.kernel.algebra import assume, instantiate, rewrite, ring
from giantsteps.derivations.kernel.averages import iterated
from giantsteps.derivations.kernel.calculus import same_slope
from giantsteps.derivations.kernel.limits import name_limit, taylor
from giantsteps.derivations.kernel.search.assumptions import define
from giantsteps.derivations.kernel.search.averages import by_stein, slope_at
from giantsteps.derivations.kernel.search.goals import concluded
from giantsteps.derivations.kernel.search.steps import value
from giantsteps.derivations.kernel.statements import Assumption, Equation, Ground, Refused
from giantsteps.derivations.kernel.terms import derivative, substitute
from giantsteps.derivations.kernel.theorem import Theorem, replay
from giantsteps.derivations.kernel.vacuity.established import established
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sigma, sigma_second, with_slopes

z, x, t, u, a = sp.symbols("z x t u a", real=True)
D = sp.Symbol("D", positive=True)
F, F1, F2 = with_slopes("F")


def test_taylor_is_the_known_expansion_of_an_exponential() -> None:
    # D^2 (exp(t/D) - 1 - t/D) -> t^2/2
    curve = define(F(x), sp.exp(x), "an exponential", x)
    expansion = taylor((), F, 2, t, D)
    for times in range(3):
        expansion = rewrite((expansion, slope_at(curve, x, sp.Integer(0), times)))
    replay(expansion)
    assert expansion.statement.value == t**2 / 2
    assert expansion.statement.expression == D**2 * (F(t / D) - 1 - t / D)


@pytest.mark.parametrize("order", [0, 3, sp.Integer(2), sp.Rational(3, 2)])
def test_taylor_needs_a_slope_with_a_name(order: object) -> None:
    with pytest.raises(Refused):
        taylor((), F, order, t, D)


def test_taylor_holds_the_curve_and_the_increment_constant() -> None:
    with pytest.raises(Refused):
        taylor((), F, 2, t * D, D)
    moving = define(F(x), x**2 / D, "a curve that moves with the variable", x)
    with pytest.raises(Refused, match="held constant"):
        established(rewrite((taylor((), F, 2, t, D), slope_at(moving, x, sp.Integer(0)))))
    expansion = taylor((), F, 2, t, D)
    with pytest.raises(Refused):
        instantiate((expansion,), {t: D})


def test_a_limit_by_taylor_is_named_by_its_value() -> None:
    named = name_limit((taylor((), F, 1, t, D),), a, "the limit of D (F(t/D) - F(0))")
    assert named.statement == Equation(a, t * F1(sp.Integer(0)))


def test_stein_leaves_no_factor_beside_a_function() -> None:
    # E[z^2 sigma] = E sigma + E sigma''
    theorem = by_stein(define(a, Expectation(z**2 * sigma(z), z), "an average"))
    replay(theorem)
    assert value(theorem) == Expectation(sigma(z), z) + Expectation(sigma_second(z), z)


def test_slopes_of_a_curve_at_a_point() -> None:
    # F(x) = E sigma(x z): F''(0) = E[z^2] sigma''(0), and F'(0) = 0
    curve = define(F(x), Expectation(sigma(x * z), z), "a curve", x)
    assert value(slope_at(curve, x, sp.Integer(0))) == 0
    assert value(slope_at(curve, x, sp.Integer(0), 2)) == sigma_second(0)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (sp.sqrt(2) * sp.Symbol("a", real=True) * sp.sqrt(3), sp.sqrt(6) * a),
        ((sp.sqrt(2) + sp.sqrt(3)) ** 2, 5 + 2 * sp.sqrt(6)),
        (6 ** sp.Rational(1, 3) * a, 2 ** sp.Rational(1, 3) * 3 ** sp.Rational(1, 3) * a),
    ],
)
def test_a_root_of_a_whole_number_is_the_product_of_those_of_its_primes(left: sp.Expr, right: sp.Expr) -> None:
    if left != right:  # SymPy may have seen it
        replay(ring((), Equation(left, right), ()))
    with pytest.raises(Refused):
        ring((), Equation(left, right * sp.sqrt(2)), ())


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (sp.exp(a) * sp.exp(u / 2), sp.exp(a + u / 2)),
        (sp.exp(a / 2) * sp.exp(-x) * sp.exp(a / 2 + x), sp.exp(a)),
        (sp.exp(a * (x / 2 + sp.Rational(1, 2))), sp.exp(a) * sp.exp(a * (x / 2 - sp.Rational(1, 2)))),
    ],
)
def test_exponentials_of_parts_of_an_exponent_are_roots(left: sp.Expr, right: sp.Expr) -> None:
    replay(ring((), Equation(left, right), ()))
    with pytest.raises(Refused):
        ring((), Equation(left, -right), ())
    with pytest.raises(Refused):
        ring((), Equation(left, right * sp.exp(a / 3)), ())


def test_averages_are_taken_one_after_the_other() -> None:
    whole = Expectation(sigma(z + x) * t, z, x)
    nested = iterated((), whole, (z,))
    replay(nested)
    assert nested.statement == Equation(whole, Expectation(Expectation(sigma(z + x) * t, z), x))
    for inner in ((), (z, x), (t,), (z, z)):
        with pytest.raises(Refused):
            iterated((), whole, inner)
    with pytest.raises(Refused):
        iterated((), sigma(z), (z,))


def test_a_conclusion_leaves_the_side_that_it_starts_from() -> None:
    # u := a + x and a := x^2 say u + a = 2 x^2 + x, though a stands on both sides of the first
    first, second = define(u, a + x, "a sum"), define(a, x**2, "a square")
    assert concluded(Equation(u + a, 2 * x**2 + x), first, second).statement == Equation(u + a, 2 * x**2 + x)
    with pytest.raises(Refused):
        concluded(Equation(u + a, 2 * x**2 - x), first, second)


# What has one slope and one value is one function: on an interval, if nothing assumed speaks of the variable.

p = sp.Symbol("p", positive=True)
q = sp.Symbol("q", real=True, nonzero=True)
n = sp.Symbol("n", negative=True)
ZERO, ONE = sp.Integer(0), sp.Integer(1)


def said(left: sp.Expr, right: sp.Expr, *universal: sp.Symbol, ground: Ground = Ground.LEMMA) -> Theorem:
    return assume((), Assumption(ground, "for a test", Equation(left, right), "none", frozenset(universal)))


def joined(left: sp.Expr, right: sp.Expr, x: sp.Symbol, start: sp.Expr) -> Theorem:
    """left = right by slopes and values that are taken for granted."""
    at = {x: start}
    rates = said(derivative(left, x), derivative(right, x), x)
    return same_slope((rates, said(substitute(left, at), substitute(right, at))), left, right, x, start)


def test_two_ways_to_write_a_function() -> None:
    left, right = 1 / (1 + p), 1 - p / (1 + p)
    rates = ring((), Equation(derivative(left, p), derivative(right, p)))
    theorem = same_slope((rates, said(ONE, ONE)), left, right, p, ZERO)
    assert theorem.statement == Equation(left, right)
    replay(theorem)


def test_under_an_average_it_names_its_lemmas() -> None:
    left, right = Expectation(sp.log(1 + p * u**2), u), Expectation(sp.log(1 + p * u**2), u) + p - p**2 / p
    assert {"derivative under an average", "dominated convergence"} <= {
        assumed.name for assumed in joined(left, sp.Add(right, ZERO), p, ZERO).assumptions
    }


@pytest.mark.parametrize(
    ("left", "right", "variable", "start"),
    [
        (q**2, q**2 + q - q, q, ONE),  # two intervals
        (1 / x, 1 / x, x, ONE),  # a hole
        (p**2, p**2, p, -ONE),  # a start that is no value
        (p**2, p**2, p, p),
        (sigma(p), sigma(p), p, ZERO),  # which may jump at zero
        (n**2, n**2, n, ZERO),
        (sp.sqrt(p - 1), sp.sqrt(p - 1), p, ONE),  # not real everywhere
    ],
    ids=str,
)
def test_no_interval_is_refused(left: sp.Expr, right: sp.Expr, variable: sp.Symbol, start: sp.Expr) -> None:
    with pytest.raises(Refused):
        joined(left, right, variable, start)


def test_other_slopes_and_values_are_refused() -> None:
    left, right = 1 / (1 + p), 1 - p / (1 + p)
    rates = ring((), Equation(derivative(left, p), derivative(right, p)))
    one = said(ONE, ONE)
    for wrong in ((rates, said(ONE, ZERO)), (one, one), (said(-ONE / (1 + p) ** 2, ZERO, p), one)):
        with pytest.raises(Refused):
            same_slope(wrong, left, right, p, ZERO)
    with pytest.raises(Refused):
        same_slope((rates, one), left, right + 1, p, ZERO)


def test_what_holds_at_one_value_is_no_slope() -> None:
    left, right = p**2, 3 * p - 2
    rates = said(derivative(left, p), derivative(right, p), ground=Ground.HYPOTHESIS)
    with pytest.raises(Refused, match="speaks of"):
        same_slope((rates, said(ONE, ONE)), left, right, p, ONE)
