"""Derivatives of what is defined, logarithms of products, limits under averages, exponentials that vanish, orders in d:
what the rules make, and what they refuse.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sympy as sp

from giantsteps.derivations.gradient_step.assumptions import exponent_of_sum, power_of_d
from giantsteps.derivations.kernel.algebra import differentiate, instantiate, rewrite, ring
from giantsteps.derivations.kernel.calculus import average_limit, logarithm, slope
from giantsteps.derivations.kernel.limits import limit_compose, limit_exponential, limit_rational
from giantsteps.derivations.kernel.search.assumptions import define
from giantsteps.derivations.kernel.search.steps import value
from giantsteps.derivations.kernel.statements import Condition, Demand, Equation, Ground, Refused, Tends
from giantsteps.derivations.kernel.terms import admit, defined_where, derivative, substitute
from giantsteps.derivations.kernel.theorem import Theorem, replay
from giantsteps.derivations.kernel.vacuity.established import established
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import loss, loss_prime, trace_exponent, trace_exponent_slope
from giantsteps.derivations.language.normal_probabilities import OwensT, SignProduct
from tests.shared.assumptions import taken

x, y, z, Q, P, c, rate, other = sp.symbols("x y z Q P c rate other", real=True)
p, q, d = sp.symbols("p q d", positive=True)
ONE, TWO, ZERO = sp.Integer(1), sp.Integer(2), sp.Integer(0)


def test_the_slope_of_what_is_defined_is_the_derivative_of_what_it_is() -> None:
    quantity = define(Q, c * x**2, "a quantity")
    found = slope((quantity,), x, rate, "dQ/dx")
    assert found.statement == Equation(rate, 2 * c * x)
    replay(found)


def test_a_definition_by_a_named_derivative_depends_on_what_the_function_does() -> None:
    function = define(trace_exponent(y), x**2 * y, "a function", y)
    at_zero = instantiate((differentiate((function,), y),), {y: ZERO})
    quantity = rewrite((define(Q, trace_exponent_slope(ZERO), "its slope"), at_zero))
    assert slope((quantity,), x, rate, "dQ/dx").statement == Equation(rate, 2 * x)


def pinned() -> Theorem:
    """Q = 3 x by way of the hypothesis x = 3, of which 6 would be another derivative than 3."""
    return rewrite((define(Q, x**2, "a quantity"), taken(x, sp.Integer(3))))


def by_another_name() -> Theorem:
    """Q = P where P depends on x under its own name."""
    half = define(P, x**2, "half of it")
    return rewrite((define(Q, 2 * x**2, "a quantity"), half), True)


def at_a_saddle() -> Theorem:
    """A second derivative where the first is taken to vanish."""
    quantity = define(Q, c * x**2, "a quantity")
    first = slope((quantity,), x, rate, "dQ/dx")
    shifted = ring((quantity, first, taken(rate, ZERO)), Equation(Q, c * x**2 + 2 * c * x), (ONE, -ONE, ONE))
    return slope((shifted,), x, other, "d2Q/dx2")


def where_a_jump_is_not_zero() -> Theorem:
    """Q = 5 x where f(x) is not zero, for x f(x) = 0: at x = 0 alone, where 5 would be another derivative than 1."""
    f, quantity = sp.Function("f", real=True), define(Q, x, "a quantity")
    nothing = taken(x * f(x), ZERO, x, ground=Ground.LEMMA)
    zero = ring((nothing,), Equation(x + 1 / f(x), 1 / f(x)), (1 / f(x),))
    return ring((quantity, zero), Equation(Q, 5 * x), (ONE, sp.Integer(-4)))


SLOPES: dict[str, Callable[[], Theorem]] = {
    "x has a value by hypothesis": lambda: slope((pinned(),), x, rate, "dQ/dx"),
    "another name depends on x": lambda: slope((by_another_name(),), x, rate, "dQ/dx"),
    "at the saddle point": at_a_saddle,
    "Q does not depend on x": lambda: slope((define(Q, c**2, "a quantity"),), x, rate, "dQ/dx"),
    "the name is taken": lambda: slope((define(Q, c * x**2, "a quantity"),), x, c, "dQ/dx"),
    "a condition that holds at one value": lambda: slope((where_a_jump_is_not_zero(),), x, rate, "dQ/dx"),
    "x is defined": lambda: slope((rewrite((define(Q, x**2, "a"), define(x, c, "b"))),), x, rate, "dQ/dx"),
    "no quantity": lambda: slope((taken(x**2, c),), x, rate, "dQ/dx"),
}


@pytest.mark.parametrize("attack", SLOPES.values(), ids=SLOPES.keys())
def test_no_slope_of_what_does_not_move_freely(attack: Callable[[], Theorem]) -> None:
    with pytest.raises(Refused):
        attack()


def test_the_logarithm_of_a_product() -> None:
    found = logarithm((), p / q**2, ((p, ONE), (q, sp.Integer(-2))))
    assert found.statement == Equation(sp.log(p / q**2), sp.log(p) - 2 * sp.log(q))
    assert not found.conditions
    undecided = logarithm((), p * x, ((p, ONE), (x, ONE)))
    assert Condition(x, Demand.NONNEGATIVE) in undecided.conditions
    assert Condition(x) in undecided.conditions


LOGARITHMS: dict[str, Callable[[], Theorem]] = {
    "another product": lambda: logarithm((), p * q, ((p, ONE), (q, TWO))),
    "a negative factor": lambda: logarithm((), p * q, ((-p, ONE), (-q, ONE))),
    "a power that is no number": lambda: logarithm((), p**x, ((p, x),)),  # type: ignore[arg-type]
    "nothing said": lambda: logarithm((), p, ((p, ONE),)),
}


@pytest.mark.parametrize("attack", LOGARITHMS.values(), ids=LOGARITHMS.keys())
def test_no_logarithm_of_another_product(attack: Callable[[], Theorem]) -> None:
    with pytest.raises(Refused):
        attack()


def test_a_limit_that_holds_everywhere_passes_under_an_average() -> None:
    pointwise = limit_rational((), z**2 * d / (d + 1), z**2, d)
    found = average_limit((pointwise,), (z,))
    assert found.statement == Tends(Expectation(z**2 * d / (d + 1), z), Expectation(z**2, z), d)
    assert all(condition.term != z for condition in found.conditions)
    replay(found)


AVERAGES: dict[str, Callable[[], Theorem]] = {
    "no limit": lambda: average_limit((define(Q, z**2, "a quantity"),), (z,)),
    "over the variable of the limit": lambda: average_limit((limit_rational((), x / d, ZERO, d),), (d,)),
    "at one value alone": lambda: average_limit(
        (rewrite((limit_rational((), x * z + 1 / d, x * z, d), taken(x, z))),), (z,)
    ),
    "where a condition speaks of it": lambda: average_limit((limit_rational((), 1 / (z * d), ZERO, d),), (z,)),
}


@pytest.mark.parametrize("attack", AVERAGES.values(), ids=AVERAGES.keys())
def test_no_limit_of_averages_that_holds_at_one_value_alone(attack: Callable[[], Theorem]) -> None:
    with pytest.raises(Refused):
        attack()


def test_the_derivative_of_a_function_has_a_meaning_already() -> None:
    with pytest.raises(Refused, match="defined twice"):
        define(loss_prime(x), sp.Integer(7), "another slope", x)


def test_what_is_defined_by_a_derivative_is_not_held_constant_in_what_it_varies_with() -> None:
    curve = define(loss(x), d * x**2, "a function", x)
    name = define(c, loss_prime(ONE), "its slope at one")
    at_one = instantiate((differentiate((curve,), x),), {x: ONE})
    held = limit_rational((), c / d, ZERO, d)
    with pytest.raises(Refused, match="held constant"):
        established(rewrite((rewrite((held, name)), at_one)))


STEP = sp.Rational(1, 10**10)
# The truncation error of a central difference is some STEP^2 and rounding 1e-40/STEP, at forty digits.
TOLERANCE = 1e-18


@pytest.mark.parametrize(
    "term",
    [sp.exp(2 * x), sp.erf(x / 3), sp.sin(x**2), sp.cos(3 * x), sp.atan(x**2), sp.tanh(x / 2), sp.log(1 + x**2),
     OwensT(x, y), OwensT(y, x), OwensT(2 * x, x**2 / 3)],
    ids=str,
)  # fmt: skip
def test_a_derivative_is_the_slope(term: sp.Expr) -> None:
    for place in (sp.Rational(3, 10), sp.Rational(-7, 10)):
        at = {y: sp.Rational(2, 5)}
        up, down = (sp.N(term.subs(at).subs(x, place + h), 40) for h in (STEP, -STEP))
        found = sp.N(derivative(term, x).subs(at).subs(x, place), 40)
        assert abs(found - (up - down) / (2 * STEP)) < TOLERANCE


def test_the_product_of_signs_has_no_slope_and_asks_for_a_correlation() -> None:
    product = SignProduct(x + 1, y, x)
    assert admit(product) == product
    assert defined_where(product) == {Condition(1 - x**2, Demand.NONNEGATIVE)}
    with pytest.raises(Refused):
        derivative(product, x)


def test_an_exponential_vanishes_at_a_positive_rate() -> None:
    assert limit_exponential((), p / 2, d).statement == Tends(sp.exp(-p * d / 2), ZERO, d)
    for decay in (x, -p, p - q, ZERO, p * d, 1 / d):
        with pytest.raises(Refused):
            limit_exponential((), decay, d)


def test_a_logarithm_is_continuous_where_its_argument_is_positive() -> None:
    vanishing = limit_exponential((), p, d)
    assert limit_compose((vanishing,), sp.log(q + x), (x,)).statement.value == sp.log(q)
    for context in (sp.log(x), sp.log(x - 1), sp.log(y + x)):
        with pytest.raises(Refused):
            limit_compose((vanishing,), context, (x,))


@pytest.mark.parametrize(("larger", "smaller"), [(1 + p, p), (p, p), (p / 2, p / 3), (ZERO, -q)])
def test_the_larger_exponent_is_that_of_the_sum(larger: sp.Expr, smaller: sp.Expr) -> None:
    first, second = sp.symbols("first second", positive=True)
    sizes = (power_of_d(first, larger, "one term"), power_of_d(second, smaller, "another"))
    theorem = exponent_of_sum(rate, (first, second), "a sum", *sizes)
    replay(theorem)
    assert value(theorem) == sp.expand(larger)
    if larger != smaller:
        with pytest.raises(Refused):
            exponent_of_sum(rate, (second, first), "a sum whose first term is the smaller one", *sizes)


def test_a_new_name_for_what_is_bound_captures_nothing() -> None:
    """E_w[E_x[w x (x + y)]] at y = x + z, where w is the name that x gets elsewhere: here it gets another one."""
    (w,) = substitute(Expectation(x * y, x), {y: x}).variables
    assert w != x
    outer = substitute(Expectation(Expectation(w * x * (x + y), x), w), {y: x + z})
    (inner,) = outer.integrand.variables
    assert len({inner, w, x}) == 3
    assert outer.integrand.integrand == w * inner * (inner + x + z)
    assert substitute(Expectation(x * y, x), {y: x}) == substitute(Expectation(x * y, x), {y: x})
