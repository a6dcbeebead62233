"""What holds nowhere is not proved: values are looked for at which all conditions of a theorem hold."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.core.function import UndefinedFunction

from onestep.derivations.kernel.algebra import congruence, instantiate, order
from onestep.derivations.kernel.averages import average
from onestep.derivations.kernel.calculus import average_limit
from onestep.derivations.kernel.limits import limit_rational, name_limit
from onestep.derivations.kernel.search.leaves import define
from onestep.derivations.kernel.statements import AtLeast, Condition, Demand, Refused
from onestep.derivations.kernel.terms import any_value
from onestep.derivations.kernel.theorem import Theorem
from onestep.derivations.kernel.vacuity import values
from onestep.derivations.kernel.vacuity.conditions import can_hold
from onestep.derivations.kernel.vacuity.established import asked_by, established
from onestep.derivations.kernel.vacuity.growth import averages_exist_where
from onestep.derivations.kernel.vacuity.values import meet
from onestep.derivations.language.expectation import Expectation
from onestep.derivations.language.named_functions import (
    DERIVATIVES,
    PARTIALS,
    sigma,
    sigma_prime,
    sigma_second,
)
from onestep.derivations.language.normal_probabilities import SignProduct
from tests.derivations.kernel.vacuity.test_existence import below_one_half, beside_a_limit
from tests.shared.leaves import above, taken

x, y, z, t = sp.symbols("x y z t", real=True)
a, b, c = sp.symbols("a b c", real=True)
d, p = sp.symbols("d p", positive=True)
h, bump = sp.Function("h", real=True), sp.Function("bump", nonnegative=True)
ZERO, ONE, HALF = sp.Integer(0), sp.Integer(1), sp.Rational(1, 2)
BELOW, APART = Demand.NONNEGATIVE, Demand.NONZERO


def met(*terms: sp.Expr, nonzero: tuple[sp.Expr, ...] = ()) -> bool:
    """Whether values are found at which terms are not negative, and others not zero."""
    return meet(frozenset({*((term, BELOW) for term in terms), *((term, APART) for term in nonzero)}))


@pytest.mark.parametrize(
    ("terms", "found"),
    [
        ((a - b - 1, b - c - 1, 1 + a - c), True),
        ((a - b - 1, b - c - 1, c - a - 1), False),
        ((1 - x**2, x**4 - HALF), True),
        ((1 - x**2, x**4 - 2), False),
        ((x + sp.Abs(x) - 1,), True),
        ((-HALF - sp.Abs(x) - x,), False),
        ((sp.Max(x, y) - 1, -x - 1), True),
        ((HALF - sp.Max(1, x),), False),
        ((x * y - 1, -x - 1), True),
        ((x * y - 1, -x - 1, y - 1), False),
        ((-(x**2) - x * y - y**2 - HALF,), False),
        ((sp.log(p), 1 - p), False),
        ((sp.log(p), 2 - p), True),
        ((sp.asin(x / 9) - 1, 10 - x), True),
        ((sp.sqrt(x) - 1, 2 - x), True),
        ((sp.sqrt(x), -1 - x), False),
        ((sp.pi - 3, 4 - sp.pi), True),
        ((3 - sp.pi,), False),
    ],
)
def test_values_are_found_where_there_are_some(terms: tuple[sp.Expr, ...], found: bool) -> None:
    assert met(*terms) is found


def test_what_few_values_meet_is_found_in_another_block() -> None:
    """One value in a few hundred has five signs and three sizes right."""
    signs = sp.symbols("s_0:9", real=True)
    assert met(*signs, signs[0] - 5)
    assert not all(np.logical_and.reduce([values._met(s, BELOW, 0) for s in signs]))
    assert not met(*signs, -sum(signs))


@pytest.mark.parametrize("demand", [BELOW, APART])
def test_what_cancels_is_zero(demand: Demand) -> None:
    for term in (
        sp.sin(x) ** 2 + sp.cos(x) ** 2 - 1,
        Expectation(z, z),
        Expectation(z**2, z) - 1,
        Expectation(z**4 * x, z) - 3 * x,
        Expectation(z**2 * t**2, z, t) - 1,
        Expectation(z**3 * h(x), z),
    ):
        assert meet(frozenset({(term, demand)})) is (demand is BELOW)
        assert not meet(frozenset({(1 / term, demand)}))


@pytest.mark.parametrize("count", range(1, 9))
def test_laws_have_means_variances_and_no_correlations(count: int) -> None:
    drawn, weights = values._law(count)
    assert weights.sum() == pytest.approx(1)
    np.testing.assert_allclose(drawn @ weights, np.zeros(count), atol=1e-12)
    np.testing.assert_allclose((drawn * weights) @ drawn.T, np.eye(count), atol=1e-12)
    assert (weights > 0).all()


def test_averages_within_averages_are_told_apart() -> None:
    inner = Expectation(h(x * t), t)
    assert met(nonzero=(Expectation((z**2 - 1) * Expectation(h(z * t), t), z),))
    for outer in (Expectation(inner * z**2, z), Expectation(z**2, z) * inner):
        found = values._value(outer - inner, {}, 0, 0)
        assert np.abs(found).max() < 1e-6 * np.abs(values._value(inner, {}, 0, 0)).max()
    # The variable of the outer average is that of the inner one in name alone.
    again = Expectation(z**2 * Expectation(z**4, z), z)
    np.testing.assert_allclose(values._value(again, {}, 0, 0), 3)


def _slope(of: sp.Expr, by: sp.Symbol) -> np.ndarray:
    """By differences of the values at which a term stands."""
    step = 1e-6
    up, down = (values._value(of, {by: np.asarray(0.3 + sign * step)}, 0, 0) for sign in (1, -1))
    return (up - down) / (2 * step)


def test_slopes_with_names_are_those_of_their_functions() -> None:
    at = {x: np.asarray(0.3)}
    for function, slope in ((sigma, sigma_prime), (sigma_prime, sigma_second), *DERIVATIVES.items()):
        found = values._value(slope(x), at, 0, 0)
        np.testing.assert_allclose(_slope(function(x), x), found, rtol=1e-3, atol=1e-4 * np.abs(found).max())
        assert np.std(found) > 0
    for function, slopes in PARTIALS.items():
        others = sp.symbols(f"o_0:{len(slopes)}", real=True)
        for place, slope in enumerate(slopes):
            arguments = [x if k == place else other for k, other in enumerate(others)]
            found = values._value(slope(*arguments), at, 0, 0)
            drawn = _slope(function(*arguments), x)
            np.testing.assert_allclose(drawn, found, rtol=1e-3, atol=1e-4 * np.abs(found).max())


def test_functions_that_share_a_slope_differ_by_a_constant() -> None:
    shared = [s for s in DERIVATIVES.values() if list(DERIVATIVES.values()).count(s) > 1]
    functions = [f for f, s in DERIVATIVES.items() if s in shared[:1]]
    assert len(functions) > 1
    one, other = functions[:2]
    assert met(nonzero=(one(x) - other(x),))
    assert not met(nonzero=(one(x) - other(x) - one(y) + other(y),))


@pytest.mark.parametrize("sign", ["positive", "nonnegative", "negative"])
def test_names_have_their_declared_signs(sign: str) -> None:
    symbol, function = sp.Symbol("s", **{sign: True}), sp.Function("s", **{sign: True})(x)
    for name in (symbol, function):
        below = -name if sign == "negative" else name
        assert met(below, nonzero=(name,))
        assert not met(-below, nonzero=(name,))


def test_values_are_those_of_all_arguments() -> None:
    """A function is as large at one argument as at another, and no constant."""
    anything = any_value(y, 0)
    assert met(10 - h(anything))
    assert met(h(anything) - sp.Rational(1, 10))
    assert not met(h(anything) - h(x) - 1, h(x) - h(anything) - 1)
    assert not met(anything)
    assert not met(-anything)
    assert not met(nonzero=(sp.Max(anything, ZERO),))
    assert met(anything**2, 1 + sp.Abs(anything))


def test_what_is_not_known_meets_nothing() -> None:
    assert not met(SignProduct(x, y, HALF) + 2)
    assert not met(sp.exp(sp.exp(10 * p + 10)))


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
        assert not any(isinstance(s, sp.Dummy) for k in asked_by(general) for s in k.term.free_symbols)


@pytest.mark.parametrize(
    "power", [sp.Max(d, h(y)), d + sp.Abs(h(y)) + h(y), d * h(y) ** 2 - h(y) + 1, sp.exp(h(y)) + d / 9]
)
def test_functions_help_no_more_than_they_can_far_out(power: sp.Expr) -> None:
    """An average that exists for small d alone has no limit."""
    with pytest.raises(Refused, match="never"):
        established(average_limit((beside_a_limit(sp.exp(power * z**2)),), (y,)))


@pytest.mark.parametrize("power", [1 / d + sp.Abs(h(y)) + h(y), d * (h(y) + 1) ** 2 + 1 / d])
def test_functions_help_as_far_as_they_can(power: sp.Expr) -> None:
    """A function that is -1 does."""
    established(average_limit((beside_a_limit(sp.exp(power * z**2)),), (y,)))


def test_what_grows_is_large_enough() -> None:
    low = frozenset({Condition(10 - p, BELOW)})
    can_hold(low, frozenset())
    with pytest.raises(Refused, match="never"):
        can_hold(low, frozenset(), frozenset({p}))


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


def test_a_name_has_one_value() -> None:
    both = taken(x, ONE).assumptions | taken(x, sp.Integer(2)).assumptions
    with pytest.raises(Refused, match="never"):
        can_hold(frozenset(), both)


def test_what_is_not_negative_may_be_zero() -> None:
    """One value in eight."""
    zero = sp.Symbol("s", nonnegative=True)
    for name in (zero, bump(x)):
        assert 0.05 < np.mean(values._value(name, {x: np.asarray(0.3)}, 0, 0) == 0) < 0.25
    assert not np.any(values._value(p, {}, 0, 0) == 0)


def test_what_a_leaf_says_of_all_values_is_no_condition() -> None:
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


def test_meanings_and_formulas_stand_in_conditions() -> None:
    q = sp.Symbol("q", real=True)
    leaves = (define(q, x - 2, "a name"), taken(h(x), -(x**2), x))
    assumptions = frozenset().union(*(leaf.assumptions for leaf in leaves))
    can_hold(frozenset({Condition(q, BELOW), Condition(h(q) + 1, BELOW)}), assumptions)
    with pytest.raises(Refused, match="no values are found"):
        can_hold(frozenset({Condition(q, BELOW), Condition(1 - x, BELOW)}), assumptions)
    with pytest.raises(Refused, match="never"):
        can_hold(frozenset({Condition(h(q) - 1, BELOW)}), assumptions)


def test_formulas_stand_for_what_a_name_brings_in() -> None:
    q = sp.Symbol("q", real=True)
    leaves = (define(q, h(ONE), "a name"), define(h(x), -1 - x**2, "a function", x))
    with pytest.raises(Refused, match="never"):
        can_hold(frozenset({Condition(q, BELOW)}), frozenset().union(*(leaf.assumptions for leaf in leaves)))


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


def test_a_function_declared_with_a_sign_has_it_as_a_slope_too() -> None:
    """A slope with a sign of its own is no slope of an oscillation."""
    assert isinstance(sigma_prime, UndefinedFunction)
    steep = sp.Function("steep", positive=True)
    assert values._slope_of(steep) == (steep, ())
    assert values._slope_of(sigma_second) == (sigma, (0, 0))
