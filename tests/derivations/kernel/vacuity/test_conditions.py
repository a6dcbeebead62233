"""Conditions that nothing meets, together or far out, are refused, and averages for which there is no function."""

from __future__ import annotations

from itertools import pairwise

import pytest
import sympy as sp

from giantsteps.derivations.kernel.algebra import congruence, instantiate, order
from giantsteps.derivations.kernel.averages import average
from giantsteps.derivations.kernel.calculus import average_limit
from giantsteps.derivations.kernel.limits import limit_rational, name_limit
from giantsteps.derivations.kernel.search.assumptions import define
from giantsteps.derivations.kernel.statements import AtLeast, Condition, Demand, Refused
from giantsteps.derivations.kernel.terms import any_value
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.kernel.vacuity.conditions import can_hold
from giantsteps.derivations.kernel.vacuity.established import asked_by, established
from giantsteps.derivations.kernel.vacuity.growth import averages_exist_where
from giantsteps.derivations.language.expectation import Expectation
from tests.derivations.kernel.vacuity.test_existence import below_one_half, beside_a_limit
from tests.shared.assumptions import above, taken

x, y, z, t = sp.symbols("x y z t", real=True)
d, p = sp.symbols("d p", positive=True)
h, bump = sp.Function("h", real=True), sp.Function("bump", nonnegative=True)
ZERO, ONE = sp.Integer(0), sp.Integer(1)
BELOW, APART = Demand.NONNEGATIVE, Demand.NONZERO


def test_functions_in_exponents_help_no_more_than_they_can() -> None:
    """1 - 2 (x + ...) >= 0 by way of an average that exists for no function where x is one."""
    for power in (
        x + (h(y) + 1) ** 2,
        x * (1 + h(y) ** 2),
        sp.Max(x, h(y)),
        x + sp.Abs(h(y)) + h(y),
        x + h(y) ** 2 + h(y) + 1,
        x + Expectation(h(t * y) ** 2, t),
    ):
        general = average((below_one_half(power),), (y,))
        established(general)
        with pytest.raises(Refused, match=r"never|grows too fast"):
            established(instantiate((general,), {x: ONE}))
        at_once = Expectation(sp.exp(z**2 * power.xreplace({t: x, x: ONE})), z, y)
        with pytest.raises(Refused, match=r"never|may not exist|grows too fast"):
            can_hold(averages_exist_where(at_once), frozenset())
        assert not any(isinstance(s, sp.Dummy) for k in asked_by(general) for s in k.term.free_symbols)


@pytest.mark.parametrize(
    "power",
    [
        sp.Max(d, h(y)),
        d + sp.Abs(h(y)) + h(y),
        d * h(y) ** 2 - h(y) + 1,
        sp.exp(h(y)) + d / 9,
        sp.Max(1, h(y)) - 100 / d,
    ],
)
def test_functions_help_no_more_than_they_can_far_out(power: sp.Expr) -> None:
    """An average that exists for small d alone has no limit."""
    with pytest.raises(Refused, match="never"):
        established(average_limit((beside_a_limit(sp.exp(power * z**2)),), (y,)))


@pytest.mark.parametrize("power", [1 / d + sp.Abs(h(y)) + h(y), h(y) / d, -d * h(y) ** 2])
def test_functions_help_as_far_as_they_can(power: sp.Expr) -> None:
    """One that is below zero, or small, does."""
    established(average_limit((beside_a_limit(sp.exp(power * z**2)),), (y,)))


def test_functions_help_no_more_than_they_can_beside_a_higher_power_or_far_out_by_little() -> None:
    """Max(h, 1 - h) is a half or more, and 1/d^(1/50) falls slowly."""
    for whole in (sp.exp(sp.Max(h(t), 1 - h(t)) * z**4), sp.exp(sp.Max(h(t), 1 - h(t)) * sp.Abs(z) ** 3)):
        with pytest.raises(Refused, match="never"):
            can_hold(averages_exist_where(Expectation(whole, z, t)), frozenset())
    can_hold(averages_exist_where(Expectation(sp.exp(h(t) * z**4), z, t)), frozenset())
    with pytest.raises(Refused, match="never"):
        can_hold(averages_exist_where(Expectation(sp.exp(h(t) * z**3), z, t)), frozenset())
    slowly = (1 + h(y) - h(x) - 100 / d ** sp.Rational(1, 50)) * z**2
    with pytest.raises(Refused, match="never"):
        established(average_limit((beside_a_limit(sp.exp(slowly)),), (x, y)))


@pytest.mark.parametrize(
    ("number", "exists"),
    [
        (1 / (1 + 1 / (1 + h(t) ** 2)), False),
        (sp.exp(h(t)), False),
        (1 + bump(t), False),
        (h(t), True),
        (-1 - h(t) ** 2, True),
    ],
)
def test_a_fourth_power_is_nowhere_beside_a_number_above_zero(number: sp.Expr, exists: bool) -> None:
    whole = Expectation(sp.exp(number * z**4), z, t)
    if exists:
        averages_exist_where(whole)
    else:
        with pytest.raises(Refused, match="grows too fast"):
            averages_exist_where(whole)


def test_what_an_average_divides_is_small_where_it_is_large() -> None:
    """1/(A^-20 + A^-20) = exp(5 z^2/2)/2 for A = E[exp(z t/2)]."""
    growing = [Expectation(sp.exp(sign * z * t / 2), t) for sign in (1, -1)]
    with pytest.raises(Refused, match="grow too fast"):
        averages_exist_where(Expectation(1 / (growing[0] ** -20 + growing[1] ** -20), z))
    averages_exist_where(Expectation(1 / sum(growing), z))


def test_names_that_are_too_deep_are_refused() -> None:
    names = [-1 - y**2, *sp.symbols("m0:20", real=True)]
    listed = [define(name, below + below**3, "") for below, name in pairwise(names)]
    with pytest.raises(Refused, match="too large"):
        can_hold(frozenset({Condition(names[-1], BELOW)}), frozenset().union(*(one.assumptions for one in listed)))


def test_inequalities_for_all_values_hold_of_those_that_are_asked_about() -> None:
    low = above(h(x), ONE, x)
    q = sp.Symbol("q", nonnegative=True)
    by_name = order((define(q, -h(y), ""),), AtLeast(-h(y), ZERO), (-ONE,), ((q, ONE),))
    established(_all_hold(low, above(h(y), ZERO)))
    for other in (above(-h(y), ZERO), above(-h(x), ZERO, x), by_name, above(-Expectation(h(z), z), ZERO)):
        with pytest.raises(Refused, match="no values are found"):
            established(_all_hold(low, other))


def test_what_grows_is_large_enough() -> None:
    """Of what functions make of all values it is asked far out; squeezed values are seen to by others."""
    anything = h(any_value(y, 0))
    for low, fine in ((10 - p - sp.Abs(anything), False), (p - sp.Abs(anything), True), (10 - p, True)):
        asked = frozenset({Condition(low, BELOW)})
        can_hold(asked, frozenset())
        if fine:
            can_hold(asked, frozenset(), frozenset({p}))
        else:
            with pytest.raises(Refused, match="never"):
                can_hold(asked, frozenset(), frozenset({p}))


def test_far_out_what_grows_alone_is_seen_to_by_others() -> None:
    """A bound of what grows, and beside it what a function makes of all values."""
    anything = h(any_value(y, 0))
    asked = frozenset({Condition(10 - p, BELOW), Condition(3 - sp.Abs(anything), BELOW), Condition(2 - d, BELOW)})
    can_hold(asked, frozenset(), frozenset({p}))


def _all_hold(*theorems: Theorem) -> Theorem:
    """Inequalities added up."""
    total = sum((one.statement.left - one.statement.right for one in theorems), ZERO)  # type: ignore[union-attr]
    return order(theorems, AtLeast(total, ZERO), (ONE,) * len(theorems))


def test_hypotheses_that_something_is_not_less_are_met_too() -> None:
    established(_all_hold(above(x, ONE), above(2 - x, ZERO)))
    with pytest.raises(Refused, match="no values are found"):
        established(_all_hold(above(x, ONE), above(-x, ONE)))


@pytest.mark.parametrize(
    ("left", "right", "universal", "fine"),
    [
        (p * d, ZERO, (), False),
        (p * d, ONE, (), True),
        (sp.Abs(x), ZERO - p, (), False),
        (x**2 - 1, ZERO, (), True),
        (h(x) ** 2, -ONE, (x,), False),
        (h(x) ** 2, ONE, (x,), True),
        (Expectation(bump(z), z), ZERO, (), True),
        (Expectation(bump(z), z), -ONE, (), False),
        (x + 1, ZERO, (), True),
    ],
)
def test_the_sides_of_an_equation_are_not_far_apart(
    left: sp.Expr, right: sp.Expr, universal: tuple[sp.Symbol, ...], fine: bool
) -> None:
    for assumed in (taken(left, right, *universal), taken(right, left, *universal)):
        if fine:
            can_hold(frozenset(), assumed.assumptions)
        else:
            with pytest.raises(Refused, match=r"never|no values"):
                can_hold(frozenset(), assumed.assumptions)


def test_equations_hold_where_conditions_do() -> None:
    low = frozenset({Condition(x, BELOW), Condition(x)})
    can_hold(low, taken(x - 1, ZERO).assumptions)
    with pytest.raises(Refused, match="no values are found"):
        can_hold(low, taken(x + 1, ZERO).assumptions)


@pytest.mark.parametrize(
    ("left", "right", "divisor"),
    [
        (x + y, ONE, x + y - 1),
        (h(ZERO), ONE, h(ZERO) - 1),
        (Expectation(h(z) ** 2, z), ONE, Expectation(h(z) ** 2, z) - 1),
        (2 * x + 3 * h(y), ONE, 4 * x + 6 * h(y) - 2),
    ],
)
def test_what_an_equation_makes_zero_is_no_divisor(left: sp.Expr, right: sp.Expr, divisor: sp.Expr) -> None:
    for assumed in (taken(left, right), taken(right, left)):
        can_hold(frozenset({Condition(divisor - 1)}), assumed.assumptions)
        with pytest.raises(Refused, match="never"):
            can_hold(frozenset({Condition(divisor)}), assumed.assumptions)


def test_what_may_be_multiplied_by_zero_is_not_solved_for() -> None:
    """x y = y where x is two or more: y is zero."""
    can_hold(frozenset({Condition(x - 2, BELOW)}), taken(x * y, y).assumptions)


def test_an_equation_does_not_hold_at_infinity() -> None:
    with pytest.raises(Refused, match=r"never|no values"):
        can_hold(frozenset(), taken(1 / x + 1 / y**2 - 1 / x, ZERO).assumptions)
    with pytest.raises(Refused, match=r"never|no values"):
        can_hold(frozenset(), taken(1 / (x + y), ZERO).assumptions)


def test_a_name_has_one_value() -> None:
    both = taken(x, ONE).assumptions | taken(x, sp.Integer(2)).assumptions
    with pytest.raises(Refused, match="never"):
        can_hold(frozenset(), both)


def test_inequalities_for_all_values_hold_of_them() -> None:
    established(instantiate((above(x**2, ZERO, x),), {x: ONE}))
    for assumed in (above(x, ZERO, x), above(y * x, ZERO, x)):
        with pytest.raises(Refused, match="never"):
            established(instantiate((assumed,), {x: -ONE}))


def test_an_assumption_for_all_values_is_no_condition() -> None:
    established(order((instantiate((above(h(x), x, x),), {x: y}),), AtLeast(h(y), y), (ONE,)))


@pytest.mark.parametrize(
    ("sign", "meaning", "fine"),
    [
        ({"positive": True}, x, True),
        ({"positive": True}, -(x**2), False),
        ({"positive": True}, sp.Integer(0), False),
        ({"nonnegative": True}, sp.Integer(0), True),
        ({"nonnegative": True}, -1 - x**2, False),
        ({"negative": True}, x, True),
        ({"negative": True}, 1 + x**2, False),
        ({"real": True, "nonzero": True}, x, True),
        ({"real": True, "nonzero": True}, sp.Integer(0), False),
    ],
)
def test_names_mean_what_has_their_sign(sign: dict[str, bool], meaning: sp.Expr, fine: bool) -> None:
    named = Condition(meaning, Demand.IS, sp.Symbol("q", **sign))
    if fine:
        can_hold(frozenset({named}), frozenset())
    else:
        with pytest.raises(Refused, match="never"):
            can_hold(frozenset({named}), frozenset())


def test_formulas_have_the_signs_of_their_functions_for_all_arguments() -> None:
    for meaning, fine in ((1 + x**2, True), (x, False), (-ONE, False), (p + 0 * x, True)):
        assumed = taken(sp.Function("K", positive=True)(x), meaning, x)
        if fine:
            can_hold(frozenset(), assumed.assumptions)
        else:
            with pytest.raises(Refused, match=r"never|no values"):
                can_hold(frozenset(), assumed.assumptions)
    root = sp.Function("K", positive=True)(p)
    can_hold(frozenset(), taken(root, p, p).assumptions)


def test_meanings_and_formulas_stand_in_conditions() -> None:
    q = sp.Symbol("q", real=True)
    listed = (define(q, x - 2, "a name"), taken(h(x), -(x**2), x))
    assumptions = frozenset().union(*(assumed.assumptions for assumed in listed))
    can_hold(frozenset({Condition(q, BELOW), Condition(h(q) + 1, BELOW)}), assumptions)
    with pytest.raises(Refused, match="no values are found"):
        can_hold(frozenset({Condition(q, BELOW), Condition(1 - x, BELOW)}), assumptions)
    with pytest.raises(Refused, match="never"):
        can_hold(frozenset({Condition(h(q) - 1, BELOW)}), assumptions)


def test_formulas_stand_for_what_a_name_brings_in() -> None:
    q = sp.Symbol("q", real=True)
    listed = (define(q, h(ONE), "a name"), define(h(x), -1 - x**2, "a function", x))
    with pytest.raises(Refused, match="never"):
        can_hold(frozenset({Condition(q, BELOW)}), frozenset().union(*(assumed.assumptions for assumed in listed)))


def test_one_function_does_for_all_averages() -> None:
    """E[exp((n + h^2) t^2)] exists for h^2 < 1/2 at most, E[exp(t^2/(1 + h^2))] for h^2 > 1."""
    low = averages_exist_where(Expectation(sp.exp(t**2 * (bump(x) + h(z) ** 2)), t, z))
    high = averages_exist_where(Expectation(sp.exp(t**2 / (1 + h(z) ** 2)), t, z))
    can_hold(low, frozenset())
    can_hold(high, frozenset())
    with pytest.raises(Refused, match="no values are found"):
        can_hold(low | high, frozenset())


def test_limits_within_a_proof_are_looked_at_far_out() -> None:
    """Of 1/d -> 0 =: q follows E[y] q = 0 for an average that exists for d < 1/2 alone."""
    q = sp.Symbol("q", real=True)
    named = name_limit((limit_rational((), 1 / d, ZERO, d),), q, "a limit")
    for grows, fine in ((d, False), (1 / d, True)):
        inner = Expectation(sp.exp(t**2 * grows * (sp.Abs(h(z)) + sp.Abs(1 - h(z)))), t, z)
        theorem = congruence((named,), y * inner, y)
        if fine:
            established(theorem)
        else:
            with pytest.raises(Refused, match="never"):
                established(theorem)
