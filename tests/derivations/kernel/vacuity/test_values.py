"""What holds nowhere is not proved: values are looked for at which all conditions of a theorem hold."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
import sympy as sp
from sympy.core.function import UndefinedFunction

from giantsteps.derivations.kernel.conditions import meanings_in
from giantsteps.derivations.kernel.statements import Assumption, Demand, Equation, Ground
from giantsteps.derivations.kernel.terms import any_value
from giantsteps.derivations.kernel.vacuity import values
from giantsteps.derivations.kernel.vacuity.values import meet
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import (
    DERIVATIVES,
    PARTIALS,
    sigma,
    sigma_prime,
    sigma_second,
)
from giantsteps.derivations.language.normal_probabilities import SignProduct

x, y, z, t = sp.symbols("x y z t", real=True)
a, b, c = sp.symbols("a b c", real=True)
p = sp.Symbol("p", positive=True)
h, bump = sp.Function("h", real=True), sp.Function("bump", nonnegative=True)
ZERO, ONE, HALF = sp.Integer(0), sp.Integer(1), sp.Rational(1, 2)
BELOW, APART = Demand.NONNEGATIVE, Demand.NONZERO


def at_values(term: sp.Expr, at: Mapping[sp.Symbol, values.Values] | None = None) -> values.Values:
    """A term at the values of the first block."""
    return values._value(term, at or {}, 0, 0, {})


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
        ((sp.sqrt(x) - sp.Rational(1, 9), -1 - x), False),
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
    assert not all(np.logical_and.reduce([values._met(s, BELOW, values.NEAR_BY, 0) for s in signs]))
    assert not met(*signs, -sum(signs))


def test_many_names_that_may_be_negative_are_found_above_zero() -> None:
    names = sp.symbols("s_0:30", real=True)
    assert met(*names)
    assert met(*(-name for name in names[:5]))


def test_numbers_are_of_any_size() -> None:
    assert met(p - 1000)
    assert met(sp.Rational(1, 10**4) - p)


def test_an_integrand_may_be_zero_at_many_values() -> None:
    assert met(nonzero=(Expectation((z + sp.Abs(z)) ** 2 * (1 + h(z) ** 2), z),))


@pytest.mark.parametrize("demand", [BELOW, APART])
def test_what_cancels_is_zero(demand: Demand) -> None:
    for term in (
        x * (x + 1) - x**2 - x,
        Expectation(z, z),
        Expectation(z**2, z) - 1,
        Expectation(z**4 * x, z) - 3 * x,
        Expectation(z**2 * t**2, z, t) - 1,
        Expectation(z**3 * h(x), z),
    ):
        assert meet(frozenset({(term, demand)})) is (demand is BELOW)
        assert not meet(frozenset({(1 / term, demand)}))


@pytest.mark.parametrize("depth", range(3))
@pytest.mark.parametrize("count", range(1, 9))
def test_laws_have_means_variances_and_no_correlations(count: int, depth: int) -> None:
    drawn = values._law(count, depth)
    np.testing.assert_allclose(drawn.mean(axis=1), np.zeros(count), atol=1e-12)
    np.testing.assert_allclose(drawn @ drawn.T / drawn.shape[1], np.eye(count), atol=1e-12)
    assert drawn.shape[1] >= 2 * count + 4


def test_averages_within_averages_are_told_apart() -> None:
    inner = Expectation(h(x * t), t)
    assert met(nonzero=(Expectation((z**2 - 1) * Expectation(h(z * t), t), z),))
    for outer in (Expectation(inner * z**2, z), Expectation(z**2, z) * inner):
        np.testing.assert_allclose(at_values(outer), at_values(inner), rtol=1e-9)
    # The variable of the outer average is that of the inner one in name alone.
    again = Expectation(z**2 * Expectation(z**4, z), z)
    assert not met(nonzero=(Expectation(sp.sin(z) * Expectation(sp.sin(z), z), z),))
    np.testing.assert_allclose(at_values(again), 3)


def _slope(of: sp.Expr, by: sp.Symbol) -> np.ndarray:
    """By differences of the values at which a term stands."""
    step = 1e-6
    up, down = (at_values(of, {by: np.asarray(0.3 + sign * step)}) for sign in (1, -1))
    return (up - down) / (2 * step)


def test_slopes_with_names_are_those_of_their_functions() -> None:
    at = {x: np.asarray(0.3)}
    for function, slope in ((sigma, sigma_prime), (sigma_prime, sigma_second), *DERIVATIVES.items()):
        found = at_values(slope(x), at)
        np.testing.assert_allclose(_slope(function(x), x), found, rtol=1e-3, atol=1e-4 * np.abs(found).max())
        assert np.std(found) > 0
    for function, slopes in PARTIALS.items():
        others = sp.symbols(f"o_0:{len(slopes)}", real=True)
        for place, slope in enumerate(slopes):
            arguments = [x if k == place else other for k, other in enumerate(others)]
            found = at_values(slope(*arguments), at)
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
    """What is computed by nothing, too large, or what rounding leaves: it may be of either sign."""
    deep = Expectation(sp.tanh(x * z), z)
    for _ in range(6):
        deep = Expectation(sp.tanh(deep.xreplace({x: z})) * sp.cos(x), z)
    for term in (
        SignProduct(x, y, HALF) + 2,
        sp.exp(sp.exp(10 * p + 10)) - 1,
        sp.sin(x) ** 2 + sp.cos(x) ** 2 - 1,
        -sp.exp(-(x**2) - 10**4),
        -sp.log(1 + p**-12),
        -Expectation(sp.exp(-(p**2) * (1000 + z**2)), z),
        sp.Rational(-1, 10**400) * p,
        sp.erf(x) - 1,
        p**4 - sp.sqrt(1 + p**8),
        deep - 1,
    ):
        assert not met(term)
        assert not met(1 / term)


def test_averages_of_polynomials_are_exact() -> None:
    for moment, low, high in (
        (Expectation(z**14, z), 135134, 135136),
        (Expectation(z**4 * x**4 * y**2 * t**2, x, y, z, t), 8, 10),
        (Expectation((x + y + z + t) ** 4, x, y, z, t), 47, 49),
        (Expectation(z**14 + sp.tanh(z) ** 2, z), 135135, 135136),
    ):
        assert met(moment - low)
        assert met(high - moment)
        assert not met(low - moment)
        assert not met(moment - high)


def test_a_name_that_is_bound_twice_is_the_inner_one() -> None:
    for term in (
        Expectation(x * Expectation(z**4, z), z),
        Expectation(z**2, z) * Expectation(x + Expectation(h(z), z), z),
        Expectation(Expectation(sp.tanh(z) ** 2 * x, z), z),
        sp.Function("f", real=True)(),
    ):
        assert met(term)
        assert met(-term)


def test_as_many_values_as_there_are_variables_are_any_values() -> None:
    names = [any_value(variable, 0) for variable in sp.symbols("v0:18", real=True)]
    rest, first, last = sp.Function("k", real=True)(*names[:16]), h(names[16]), h(names[17])
    assert met(1 + sp.Abs(rest) + sp.Abs(first - last))
    assert not met(first - last - sp.Rational(1, 9) - sp.Abs(rest))


def test_assumptions_of_one_name_have_an_order() -> None:
    listed = [Assumption(Ground.HYPOTHESIS, "one name", Equation(a, value), "") for value in (b, ONE)]
    assert meanings_in(frozenset(listed)) == {a: ONE}
    # A definition comes first, whatever a hypothesis is called.
    defined = Assumption.definition(b, Equation(b, x), "a name")
    said = Assumption(Ground.HYPOTHESIS, "a", Equation(b, 1 + y**2), "")
    assert meanings_in(frozenset({said, defined})) == {b: x}


def test_what_is_not_negative_may_be_zero() -> None:
    """One value in eight."""
    zero = sp.Symbol("s", nonnegative=True)
    for name in (zero, bump(x)):
        assert 0.05 < np.mean(at_values(name, {x: np.asarray(0.3)}) == 0) < 0.25
    assert not np.any(at_values(p) == 0)


def test_a_function_declared_with_a_sign_has_it_as_a_slope_too() -> None:
    """A slope with a sign of its own is no slope of an oscillation."""
    assert isinstance(sigma_prime, UndefinedFunction)
    steep = sp.Function("steep", positive=True)
    assert values._slope_of(steep) == (steep, ())
    assert values._slope_of(sigma_second) == (sigma, (0, 0))
