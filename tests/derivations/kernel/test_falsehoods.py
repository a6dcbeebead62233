"""Falsehoods that several rules together could make: each chain ends in what is not so, and is refused on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
import sympy as sp
from sympy.core.function import UndefinedFunction

from giantsteps.derivations.kernel.algebra import assume, congruence, differentiate, instantiate, order, rewrite, ring
from giantsteps.derivations.kernel.averages import average, linear, moment, stein
from giantsteps.derivations.kernel.calculus import average_limit, same_slope, slope
from giantsteps.derivations.kernel.conditions import forms
from giantsteps.derivations.kernel.inequalities import antisymmetric
from giantsteps.derivations.kernel.limits import (
    limit_average,
    limit_compose,
    limit_exponential,
    limit_order,
    limit_rational,
    limit_unique,
    name_limit,
)
from giantsteps.derivations.kernel.search.assumptions import define
from giantsteps.derivations.kernel.statements import Assumption, AtLeast, Condition, Demand, Equation, Ground, Refused
from giantsteps.derivations.kernel.terms import derivative, substitute
from giantsteps.derivations.kernel.theorem import Theorem, rule
from giantsteps.derivations.kernel.vacuity.established import established
from giantsteps.derivations.kernel.vacuity.growth import averages_exist_where
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sigma

a, b, x, y, z, t, Q, rate = sp.symbols("a b x y z t Q rate", real=True)
p, c, d, m = sp.symbols("p c d m", positive=True)
hole, first, second = sp.symbols("hole first second", real=True)
q = sp.Symbol("q", real=True, nonzero=True)
f = sp.Function("f", real=True)
ZERO, ONE, TWO = sp.Integer(0), sp.Integer(1), sp.Integer(2)


def taken(left: sp.Expr, right: sp.Expr, ground: Ground = Ground.HYPOTHESIS, *universal: sp.Symbol) -> Theorem:
    assumed = Assumption(ground, f"{left} is {right}", Equation(left, right), "for a test", frozenset(universal))
    return assume((), assumed)


def above(left: sp.Expr, right: sp.Expr) -> Theorem:
    return assume((), Assumption(Ground.LEMMA, f"{left} above {right}", AtLeast(left, right), "for a test"))


def tends(expression: sp.Expr, value: sp.Expr) -> Theorem:
    return limit_rational((), expression, value, d)


# Premises, the sum that shows a bound by them, and both sides of it.
Bound = tuple[tuple[Theorem, ...], tuple[sp.Expr, ...], tuple[tuple[sp.Expr, sp.Expr], ...], sp.Expr, sp.Expr]


def no_limit(made: Callable[[], Bound]) -> None:
    """The bound follows, and its limit is refused."""
    premises, multipliers, squares, above, below = made()
    low = order(premises, AtLeast(above, below), multipliers, squares)
    with pytest.raises(Refused):
        established(limit_order((low, tends(above, ZERO)), d))


def average_of(integrand: sp.Expr, *variables: sp.Symbol) -> Theorem:
    """An average, of which something is said."""
    return taken(Expectation(integrand, *variables), ONE, Ground.LEMMA)


# What holds where its conditions do, and nowhere else.


def two_is_zero() -> Theorem:
    """-x^2 - y^2 >= 0 holds at one point, where derivatives say nothing."""
    low = -(x**2) - y**2
    above = antisymmetric(
        (
            order((), AtLeast(low, ZERO), (), ((ONE, sp.sqrt(low)),)),
            order((), AtLeast(ZERO, low), (), ((ONE, x), (ONE, y))),
        )
    )
    twice = differentiate((differentiate((above,), x),), x)
    return instantiate((twice,), {x: ZERO, y: ZERO})


def derivative_at_one_point() -> Theorem:
    """x = 0 by x sqrt(-x^2 - y^2) = 0, so that 1 = 0 at x = y = 0."""
    root = sp.sqrt(-(x**2) - y**2)
    nothing = taken(x * f(x), ZERO, Ground.HYPOTHESIS, x)
    zero = ring((nothing,), Equation(x + 1 / f(x) + root - root, 1 / f(x)), (1 / f(x),))
    return differentiate((ring((zero,), Equation(x, ZERO), (ONE,)),), x)


def nothing_is_at_least_two() -> Theorem:
    """A base that is real nowhere."""
    low = -2 * x**2 + x * y - y**2 - 2
    real_there = order((), AtLeast(low, ZERO), (), ((ONE, sp.sqrt(low)),))
    return order((real_there,), AtLeast(ZERO, TWO), (ONE,), ((ONE, y - x / 2), (sp.Rational(7, 4), x)))


def below_five() -> Theorem:
    """5/d >= 1 where d <= 5, and 5/d -> 0."""
    assumed = AtLeast(5 / d + sp.sqrt(5 - d), 1 + sp.sqrt(5 - d))
    below = assume((), Assumption(Ground.LEMMA, "for a test", assumed, "", frozenset({d})))
    limit = limit_order((order((below,), AtLeast(5 / d, ONE), (ONE,)), tends(5 / d, ZERO)), d)
    return instantiate((limit,), {d: sp.Integer(3)})


# What is divided by, hidden from sight.


def one_is_minus_one() -> Theorem:
    """sqrt((x + 1)^2) - x - 1 may be zero, and is divided by under a root of a cofactor."""
    root = sp.sqrt(x**2 + 2 * x + 1)
    zero = (root - x - 1) * (root + x + 1)
    cofactor = (1 / (root - x - 1)) ** sp.Rational(3, 2) * zero
    return instantiate((ring((moment((), z, 2),), Equation(root, -x - 1), (cofactor,)),), {x: ZERO})


def place_with_a_sign() -> Theorem:
    """1/c = 1/m by b c = b m with b = 0, under b/place for a positive place."""
    both = ring((define(b, ZERO, ""),), Equation(b * c, b * m), (c - m,))
    return congruence((both,), b / p, p)


def where_a_root_is_real() -> Theorem:
    """f = g where sqrt(z) is real, averaged over all z."""
    both = taken(f(z) * sp.sqrt(z), sigma(z) * sp.sqrt(z), Ground.LEMMA, z)
    return average((congruence((both,), hole / sp.sqrt(z), hole),), (z,))


def cancelled_in_an_argument() -> Theorem:
    return ring((), Equation(f((x**2 + x) / x), f(x + 1)))


# Averages that are infinite.


def square_of_a_sum() -> Theorem:
    """By Stein's lemma E[F] = 1 + 2 E[exp(z^2/4)] for F = (1 + exp(z^2/4))^2, which is at least 4 exp(z^2/4)."""
    factor = z * (1 + sp.exp(z**2 / 4)) ** 2
    return stein((), Expectation(z * factor, z), z, factor)


def defined_to_grow() -> Theorem:
    """E[z^2 exp(sigma)] = E[exp(sigma)] + 2 E[z^2 exp(sigma)] for sigma(x) := x^2."""
    factor = z * sp.exp(sigma(z))
    by_parts = stein((), Expectation(z * factor, z), z, factor)
    doubled = instantiate((differentiate((define(sigma(x), x**2, "", x),), x),), {x: z})
    return rewrite((by_parts, doubled))


def defined_to_vanish() -> Theorem:
    """E[z^2/sigma] = 1 for sigma(x) := x^2, where E[1/sigma] is infinite."""
    square = instantiate((define(sigma(x), x**2, "", x),), {x: z})
    parted = stein((), Expectation(z**2 / sigma(z), z), z, z / sigma(z))
    return rewrite((parted, square))


def at_least_four() -> Theorem:
    """f^2 >= 4 for any constant f, by E[1/(z + f)], which is not there."""
    below = 1 / (z + f(a))
    return linear((), Expectation(z * below, z), ((ONE, ONE), (-f(a), below)))


# Limits of what moves.


def fixed_by_a_hypothesis() -> Theorem:
    """a = d by way of y := a - d and y = 0, while a was held constant in a/d -> 0."""
    moving = ring((define(y, a - d, ""), taken(y, ZERO)), Equation(a, d), (-ONE, ONE))
    return limit_unique((rewrite((tends(a / d + 1 / d, ZERO), moving)), tends(1 + 1 / d, ONE)))


def fixed_by_a_saddle_point(quantity: Theorem, at: sp.Expr = ZERO) -> Theorem:
    """a = d by dQ/da = 0 for Q := (a - d)^2/2, or the like."""
    steepness = slope((quantity,), a, rate, "dQ/da")
    moving = ring((steepness, taken(rate, at)), Equation(a, d), (-ONE, ONE))
    return limit_unique((rewrite((tends(a / d + 1 / d, ZERO), moving)), tends(1 + 1 / d, ONE)))


def by_a_limit() -> Theorem:
    """Q, the limit of (a - d)^2/2 + b + 1/m, which no definition says."""
    return name_limit((limit_rational((), (a - d) ** 2 / 2 + b + 1 / m, (a - d) ** 2 / 2 + b, m),), Q, "a limit")


def fixed_by(*listed: Theorem) -> Theorem:
    """a = d by y := a - d + b, and hypotheses that make y and b equal."""
    total = define(y, a - d + b, "")
    moving = ring((total, *listed), Equation(a, d), (-ONE, *(ONE for _ in listed)))
    return limit_unique((rewrite((tends(a / d + 1 / d, ZERO), moving)), tends(1 + 1 / d, ONE)))


def fixed_by_a_limit() -> Theorem:
    """a = d by Q = 0 for the limit Q of a - d + 1/m."""
    limit = name_limit((limit_rational((), a - d + 1 / m, a - d, m),), Q, "a limit")
    moving = ring((limit, taken(Q, ZERO)), Equation(a, d), (-ONE, ONE))
    return limit_unique((rewrite((tends(a / d + 1 / d, ZERO), moving)), tends(1 + 1 / d, ONE)))


def fixed_by_a_function() -> Theorem:
    """a = d by f(a) = 0 for f(x) := x - d."""
    here = instantiate((define(f(x), x - d, "", x),), {x: a})
    moving = ring((here, taken(f(a), ZERO)), Equation(a, d), (-ONE, ONE))
    return limit_unique((rewrite((tends(a / d + 1 / d, ZERO), moving)), tends(1 + 1 / d, ONE)))


def two_derivatives() -> Theorem:
    """dQ/dc for Q := c x^2 is x^2 where x is a constant, and 3 c^2 where x := c."""
    quantity, same = define(Q, c * x**2, ""), define(x, c, "")
    partial = slope((quantity,), c, rate, "dQ/dc")
    total = slope((rewrite((quantity, same)),), c, rate, "dQ/dc")
    return ring((partial, total, same), Equation(c**2, 3 * c**2), (-ONE, ONE, -(x + c)))


def grows_by_another_limit() -> Theorem:
    """a/d -> 0 while a is held constant, where a is the limit of d + 1/m."""
    return rewrite((tends(a / d, ZERO), name_limit((limit_rational((), d + 1 / m, d, m),), a, "")))


def two_variables() -> Theorem:
    """1/m = 1/d, the limits of their sum in one and the other."""
    both = 1 / d + 1 / m
    return limit_unique((limit_rational((), both, 1 / m, d), limit_rational((), both, 1 / d, m)))


def below_zero() -> Theorem:
    return limit_exponential((), ONE, sp.Symbol("n", negative=True))


def held_by_a_hypothesis() -> Theorem:
    return rewrite((tends(1 / d, ZERO), taken(d, sp.Integer(5))))


PEAK = 1 / ((1 - z**2 * first) ** 2 + second)
TO_ZERO = (tends(1 / d, ZERO), limit_exponential((), sp.Integer(3), d))


def peak_far_out() -> Theorem:
    """1/((1 - z^2/d)^2 + exp(-3 d)) -> 1 for all z, and its average grows without bound."""
    return limit_average(TO_ZERO, Expectation(PEAK, z), (first, second))


def pointwise_peak() -> Theorem:
    return average_limit((limit_compose(TO_ZERO, PEAK, (first, second)),), (z,))


# Other things than real terms and plain values.


def imaginary_start() -> Theorem:
    """sqrt(1 + x^2) sqrt(4 + x^2) is the root of the product for real x, and minus that at 3i."""
    left, right = sp.sqrt(1 + x**2) * sp.sqrt(4 + x**2), sp.sqrt(x**4 + 5 * x**2 + 4)
    zero = ring((), Equation((left - right) * (left + right), ZERO))
    same = ring((zero,), Equation(left, right), (1 / (left + right),))
    left, right = left + (y + 1) ** 2, right - 4 * sp.sqrt(10) + y**2 + 2 * y + 1
    rates = ring((differentiate((same,), x),), Equation(derivative(left, x), derivative(right, x)), (ONE,))
    at = {x: 3 * sp.I}
    return same_slope((rates, ring((), Equation(substitute(left, at), substitute(right, at)))), left, right, x, at[x])


def slope_of_a_corner() -> Theorem:
    return define(sigma(x), sp.Abs(x), "", x)


class Changing(tuple):  # type: ignore[type-arg]
    """A tuple that holds 1/(a - b) when it is first looked at, and 1 the next time."""

    looks: ClassVar = [ONE, 1 / (a - b)]

    def __iter__(self) -> Any:
        self.looks.reverse()
        return iter(self.looks[:1])


class EvenInteger(int):
    def __mod__(self, other: object) -> int:
        return 0


class Forked(sp.Expr):
    """A context that is zero for a and one for anything else."""

    @property
    def func(self) -> Any:
        return lambda part: ZERO if part == a else ONE


@dataclass(frozen=True)
class TwoFaced(Assumption):
    """A lemma that is known when its assumptions are read."""


def with_rules_of_its_own(**more: Any) -> Any:
    return UndefinedFunction("f", real=True, __dict__=more)


FIVE_AT_ZERO = with_rules_of_its_own(eval=classmethod(lambda cls, at: sp.Integer(5) if at == 0 else None))
NOT_NEGATIVE = with_rules_of_its_own(_eval_is_nonnegative=lambda self: True, _eval_is_negative=lambda self: False)
BY_A_PROPERTY = with_rules_of_its_own(is_nonnegative=property(lambda self: True))

FALSEHOODS: dict[str, Callable[[], Theorem]] = {
    "2 = 0 at one point": two_is_zero,
    "1 = 0 where f(x) is not zero": derivative_at_one_point,
    "0 >= 2 nowhere": nothing_is_at_least_two,
    "0 >= 1 where d <= 5": below_five,
    "1 = -1": one_is_minus_one,
    "1/c = 1/m": place_with_a_sign,
    "E[f] = E[g] of half a line": where_a_root_is_real,
    "0/0 in an argument": cancelled_in_an_argument,
    "roots of two orders": lambda: ring((), Equation(sp.sqrt(x**2 + x + 1), sp.cbrt(x * (x + 1) + 1))),
    "averages over two variables": lambda: ring((), Equation(Expectation(f(z + t), z), Expectation(f(t + z), t))),
    "a value that is zero for one that is not": lambda: instantiate((taken(f(q), ONE, Ground.LEMMA, q),), {q: x}),
    "what is averaged over by a constant": lambda: rewrite((average_of(f(z) * z**2, z), taken(f(z), a))),
    "a constant by what is averaged over": lambda: rewrite((average_of(a * z**2, z), taken(a, f(z)))),
    "the square of a sum of exponentials": square_of_a_sum,
    "exponentials of products of variables": lambda: average_of(sp.exp(z * t), z, t),
    "exponentials of their negatives": lambda: average_of(sp.exp(-z * t), z, t),
    "the same, one average after the other": lambda: average_of(Expectation(sp.exp(z * t), t), z),
    "products that are too large together": lambda: average_of(
        sp.exp(2 * z**2 / 5) * Expectation(sp.exp(3 * z * t / 5), t), z
    ),
    "a wide inner average": lambda: average_of(Expectation(sp.exp(2 * t**2 / 5 + 2 * z * t / 3), t), z),
    "a power of an average": lambda: average_of(Expectation(sp.exp(3 * z * t / 5), t) ** 3, z),
    "exponentials that vanish below": lambda: average_of(1 / (sp.exp(-(z**2)) + sp.exp(-2 * z**2)), z),
    "a fourth power that vanishes below": lambda: average_of(1 / (sp.exp(-(z**4)) + sp.exp(-2 * z**4)), z),
    "a function that is defined to grow": defined_to_grow,
    "a function that is defined to vanish": defined_to_vanish,
    "f^2 >= 4": at_least_four,
    "a constant under a fraction, averaged over": lambda: average_of(1 / (z + sigma(t)), z, t),
    "a = d": fixed_by_a_hypothesis,
    "a = d at a saddle point": lambda: fixed_by_a_saddle_point(define(Q, (a - d) ** 2 / 2, "")),
    "the same, with a constant more": lambda: fixed_by_a_saddle_point(define(Q, (a - d) ** 2 / 2 + b, "")),
    "the same, with a slope that cancels": lambda: fixed_by_a_saddle_point(define(Q, (a - d) ** 2 / 2 + a * b, ""), b),
    "the same, for a quantity that is a limit": lambda: fixed_by_a_saddle_point(by_a_limit()),
    "a = d by a value that cancels": lambda: fixed_by(taken(y, b)),
    "the same, told of the difference": lambda: fixed_by(taken(y - b, ZERO)),
    "the same, by another name": lambda: fixed_by(taken(y, x), taken(x, b)),
    "the same, by a name of its own": lambda: fixed_by(taken(y, x), define(x, b, "")),
    "the same, by a model": lambda: fixed_by(taken(y, b, Ground.MODEL)),
    "a = d where a limit is zero": fixed_by_a_limit,
    "a = d where a function is zero": fixed_by_a_function,
    "a limit by another variable": grows_by_another_limit,
    "limits in two variables": two_variables,
    "a rate that falls": lambda: rewrite((limit_exponential((), p, d), define(p, 1 / d, ""))),
    "a factor that grows": lambda: rewrite(
        (limit_compose((tends(1 / d, ZERO),), p * hole, (hole,)), define(p, c * d, ""))
    ),
    "what was constant by the name of what grows": lambda: rewrite(
        (instantiate((tends(a / d, ZERO),), {a: p}), define(p, c * d, ""))
    ),
    "what was constant by an inequality": lambda: rewrite(
        (limit_order((above(1 / d, -p), tends(1 / d, ZERO)), d), define(p, c * d, ""))
    ),
    "a new variable of a limit": lambda: instantiate(
        (rewrite((tends(1 / d, ZERO), ring((), Equation(1 / d, (x**2 + 1) / (d * x**2 + d))))),), {x: d}
    ),
    "c^2 = 3 c^2": two_derivatives,
    "what is below zero grows": below_zero,
    "1/5 -> 0": held_by_a_hypothesis,
    "a peak far out": peak_far_out,
    "a peak for each z": pointwise_peak,
    "sqrt(10) = 0": imaginary_start,
    "a derivative at a corner": slope_of_a_corner,
    "an imaginary value": lambda: instantiate((ring((), Equation(x * (y + 1), x * y + x)),), {t: sp.I}),
    "an infinite value": lambda: instantiate((ring((), Equation(x * (y + 1), x * y + x)),), {t: sp.oo}),
    "cofactors that change": lambda: ring((taken(a, b),), Equation(ONE, ZERO), Changing((ONE,))),
    "a number that is even at one": lambda: moment((), z, EvenInteger(1)),
    "a context of its own": lambda: congruence((taken(a, b),), Forked(hole), hole),
    "an assumption of its own": lambda: assume((), TwoFaced(Ground.LEMMA, "Stein", Equation(a, b), "")),
    "a function that is five at zero": lambda: instantiate(
        (define(FIVE_AT_ZERO(x), x, "", x),), {x: ZERO}
    ),
    "a function with a hidden sign": lambda: order((), AtLeast(NOT_NEGATIVE(x), ZERO), (), ((NOT_NEGATIVE(x), ONE),)),
    "a function with a sign by a property": lambda: order(
        (), AtLeast(BY_A_PROPERTY(x), ZERO), (), ((BY_A_PROPERTY(x), ONE),)
    ),
}  # fmt: skip


@pytest.mark.parametrize("chain", FALSEHOODS.values(), ids=FALSEHOODS.keys())
def test_a_falsehood_is_refused(chain: Callable[[], Theorem]) -> None:
    with pytest.raises(Refused):
        established(chain())


def test_rules_are_made_in_the_kernel_alone() -> None:
    with pytest.raises(TypeError, match="no part of the kernel"):
        rule(lambda premises: premises[0])


def slope_where(low: sp.Expr) -> Theorem:
    """dQ/dx for Q := x, where a term is under a root."""
    there = ring((define(Q, x, ""),), Equation(Q + sp.sqrt(low), x + sp.sqrt(low)), (ONE,))
    return slope((ring((there,), Equation(Q, x), (ONE,)),), x, rate, "dQ/dx")


def test_derivatives_are_taken_where_conditions_hold_all_around() -> None:
    low = 1 - x**2 - y**2
    assert {Condition(low), Condition(low, Demand.NONNEGATIVE)} <= slope_where(low).conditions
    with pytest.raises(Refused, match="never is not negative"):
        established(slope_where(-(x**2) - y**2))


def test_averages_that_exist_are_admitted() -> None:
    for integrand in (
        sp.exp(z**2 / 8 + z * t / 2),
        (1 + sp.exp(z**2 / 9)) ** 4,
        sp.exp(z) / (1 + sp.exp(z**2)),
        1 / (1 + f(z)),
        sp.exp(a * z + f(t)),
        Expectation(sp.exp(z * t / 3), t) ** 2,
    ):
        averages_exist_where(Expectation(integrand, z, t))


def test_a_limit_asks_of_its_variable_what_holds_far_out() -> None:
    """x d - 1 is not negative from some d on where x is positive."""
    theorem = tends(1 / (x * d - 1), ZERO)
    assert {k.term for k in theorem.conditions if k.demand is not Demand.CONSTANT} == {x}
    below = assume((), Assumption(Ground.LEMMA, "", AtLeast(1 / d + sp.sqrt(x * d - 1), sp.sqrt(x * d - 1)), ""))
    limit = limit_order((order((below,), AtLeast(1 / d, ZERO), (ONE,)), tends(1 / d, ZERO)), d)
    assert {Condition(x), Condition(x, Demand.NONNEGATIVE)} <= limit.conditions
    assert not any(d in k.term.free_symbols for k in limit.conditions if isinstance(k.term, sp.Expr))


def test_what_is_taken_in_a_circle_is_put_in_once() -> None:
    """Model equations that name each other: whether a condition can be met is decided without going round."""
    ring_of = [*sp.symbols("m0:12", real=True)]
    listed = [taken(u, v**2 + u * v, Ground.MODEL) for u, v in zip(ring_of, ring_of[1:] + ring_of[:1], strict=True)]
    total = ring(tuple(listed), Equation(sp.Add(*ring_of), sp.Add(*(v.statement.right for v in listed))), (ONE,) * 12)
    assert congruence((total,), 1 / hole, hole).conditions


@pytest.mark.parametrize("closed", [True, False], ids=["circle", "chain"])
def test_names_that_double_a_term_are_put_in_while_it_is_small(closed: bool) -> None:
    """Twenty names, each for twice the next: in full a term of one of them has a million parts."""
    chain = [*sp.symbols("m0:20", real=True)]
    following = [*chain[1:], chain[0] if closed else d]
    listed = [taken(u, v + sp.exp(-v), Ground.MODEL) for u, v in zip(chain, following, strict=True)]
    assumptions = frozenset().union(*(theorem.assumptions for theorem in listed))
    sizes = [sum(1 for _ in sp.preorder_traversal(form)) for form in forms(chain[0], assumptions)]
    assert 1000 < max(sizes) <= 32768
