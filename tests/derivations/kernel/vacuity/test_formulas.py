"""What formulas of functions and of names change: averages that widen, that do not exist, slopes that are none."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sympy as sp

from giantsteps.derivations.kernel.algebra import differentiate, instantiate, order, rewrite, ring
from giantsteps.derivations.kernel.averages import average, linear, stein
from giantsteps.derivations.kernel.calculus import average_limit, same_slope
from giantsteps.derivations.kernel.conditions import far_out
from giantsteps.derivations.kernel.inequalities import multiply, specialise
from giantsteps.derivations.kernel.limits import (
    limit_average,
    limit_compose,
    limit_order,
    limit_rational,
    limit_unique,
    taylor,
)
from giantsteps.derivations.kernel.search.assumptions import define
from giantsteps.derivations.kernel.statements import (
    Assumption,
    AtLeast,
    Condition,
    Demand,
    Equation,
    Ground,
    Refused,
    Tends,
)
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.kernel.vacuity.conditions import can_hold, stays
from giantsteps.derivations.kernel.vacuity.established import asked_by, established
from giantsteps.derivations.kernel.vacuity.existence import averages_exist
from giantsteps.derivations.kernel.vacuity.formulas import formulas_of, in_full, needed
from giantsteps.derivations.kernel.vacuity.growth import averages_exist_where
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sigma, sigma_prime
from giantsteps.derivations.language.normal_probabilities import OwensT
from tests.shared.assumptions import said, taken

x, y, z, t, hole = sp.symbols("x y z t hole", real=True)
c, d, m = sp.symbols("c d m", positive=True)
s = sp.Symbol("s", nonnegative=True)
f, h, k = (sp.Function(name, real=True) for name in "fhk")
ZERO, ONE, HALF = sp.Integer(0), sp.Integer(1), sp.Rational(1, 2)
STEP = sp.erf(z)
# Beyond what an average over a normal variable bears together with its weight.
STEEP = sp.exp(x**2 / 2)
# E of it is 1/sqrt(2) for every positive hole, and 0 for none.
WIDENS = hole * sp.exp((HALF - hole**2) * z**2)
SHRINKS = limit_rational((), 1 / d, ZERO, d)


def _named() -> Theorem:
    return rewrite((SHRINKS, define(m, 1 / d, "what vanishes")), True)


def a_name_that_vanishes_within() -> Theorem:
    return limit_average((_named(),), Expectation(WIDENS, z), (hole,))


def a_name_that_vanishes_outside() -> Theorem:
    return average_limit((limit_compose((_named(),), WIDENS, (hole,)),), (z,))


def a_name_that_is_said_to_vanish() -> Theorem:
    return limit_average((said(Tends(m, ZERO, d)),), Expectation(WIDENS, z), (hole,))


def a_function_that_is_said_to_vanish() -> Theorem:
    return limit_average((said(Tends(f(m), ZERO, d)),), Expectation(WIDENS, z), (hole,))


def a_formula_that_widens() -> Theorem:
    shape = instantiate((define(k(x, y), WIDENS.xreplace({z: x, hole: y}), "a shape", x, y),), {x: z, y: 1 / d})
    return average_limit((rewrite((limit_compose((SHRINKS,), WIDENS, (hole,)), shape), True),), (z,))


def a_formula_that_widens_and_comes_late() -> Theorem:
    shape = instantiate((define(f(x), STEEP, "a shape", x),), {x: z * (1 - 1 / d**2)})
    return rewrite((limit_average((SHRINKS,), Expectation(hole * f(z * (1 - hole**2)), z), (hole,)), shape))


def a_variable_bound_twice() -> Theorem:
    """The inner average is 2 exp(t^2/2)."""
    inner = (1 + z**2) * Expectation(sp.exp(z * t / 2 + 3 * z**2 / 8), z) * sp.erf(t)
    return stein((), Expectation(t * inner, z, t), t, inner)


def _by_parts(formula: Theorem) -> Theorem:
    """Of a function with sigma'(x) = x sigma(x), by what Stein's lemma says of z sigma(z) erf(z): 0 = E[positive]."""
    rate = ring((differentiate((formula,), x), formula), Equation(sigma_prime(x), x * sigma(x)), (ONE, -x))
    parts = stein((), Expectation(z * sigma(z) * STEP, z), z, sigma(z) * STEP)
    return rewrite((parts, instantiate((rate,), {x: z})))


def a_lemma_that_names_no_universal_symbol() -> Theorem:
    return _by_parts(taken(sigma(x), STEEP, ground=Ground.LEMMA))


def a_formula_on_the_left() -> Theorem:
    return _by_parts(ring((taken(STEEP, sigma(x), x),), Equation(sigma(x), STEEP), (-ONE,)))


def a_formula_for_one_more_symbol() -> Theorem:
    return _by_parts(taken(sigma(x), STEEP, x, y))


def a_formula_by_way_of_another() -> Theorem:
    return _by_parts(rewrite((taken(sigma(x), f(x), x), taken(f(x), STEEP, x))))


def a_formula_by_way_of_two_others() -> Theorem:
    links = (taken(sigma(x), f(x), x), taken(f(x), h(x), x), taken(h(x), STEEP, x))
    return _by_parts(rewrite((rewrite(links[:2]), links[2])))


def a_formula_for_arguments_of_one_sign() -> Theorem:
    formula, square = define(sigma(s), sp.exp(s / 2), "where it is not negative", s), z**2 - 2 * z + 1
    rate = ring((differentiate((formula,), s), formula), Equation(sigma_prime(s), sigma(s) / 2), (ONE, -HALF))
    rate = specialise((rate, order((), AtLeast(square, ZERO), (), ((ONE, z - 1),))), s)
    parts = sigma(square) * sp.exp(z) * STEP
    return rewrite((stein((), Expectation(z * parts, z), z, parts), rate))


def a_formula_that_comes_late() -> Theorem:
    """0 = E[exp(-z^2/2)], up to a factor: the average by Stein's lemma of what is no function yet."""
    bell = 2 / sp.sqrt(sp.pi) * sp.exp(-(z**2))
    parts = stein((), Expectation(z * sigma(z) * STEP, z), z, sigma(z) * STEP)
    right = linear((), parts.statement.right, ((ONE, sigma_prime(z) * STEP), (ONE, sigma(z) * bell)))
    terms = ((ONE, z * sigma(z) * STEP), (-ONE, sigma_prime(z) * STEP), (-ONE, sigma(z) * bell))
    whole = Expectation(sp.Add(*(factor * term for factor, term in terms)), z)
    nothing = ring((linear((), whole, terms), parts, right), Equation(whole, ZERO), (ONE, ONE, ONE))
    formula = define(sigma(x), STEEP, "a formula", x)
    at = tuple(instantiate((theorem,), {x: z}) for theorem in (formula, differentiate((formula,), x)))
    inside = Equation(whole.integrand, -2 / sp.sqrt(sp.pi) * sp.exp(-(z**2) / 2))
    something = average((ring(at, inside, (z * STEP - bell, -STEP)),), (z,))
    return ring((nothing, something), Equation(something.statement.right, ZERO), (ONE, -ONE))


def _not_negative(term: sp.Expr) -> Theorem:
    """term >= 0, on condition that its root is real."""
    root = sp.sqrt(term)
    return order((order((), AtLeast(term + root, root), (), ((ONE, root),)),), AtLeast(term, ZERO), (ONE,))


def owens_function_stays_up() -> Theorem:
    low = sp.Rational(1, 20)
    bound = order((_not_negative(OwensT(d, c) - low),), AtLeast(OwensT(d, c), low), (ONE,))
    return limit_order((bound, said(Tends(OwensT(d, c), ZERO, d), ground=Ground.LEMMA)), d)


def a_slope_by_way_of_another() -> Theorem:
    formula = rewrite((define(sigma(x), f(x), "by another", x), define(f(x), sp.Abs(x), "with a kink", x)))
    return rewrite((taylor((), sigma, 1, ONE, d), instantiate((formula,), {x: 1 / d})))


def _below_one_half(formula: Theorem, q: sp.Expr) -> Theorem:
    """1 - 2 q >= 0 of sigma(x) = exp(q x^2), by Stein's lemma: (1 - 2 q) E[z^2 sigma] = E[sigma]."""
    rate = Equation(sigma_prime(x), 2 * q * x * sigma(x))
    slope = ring((differentiate((formula,), x), formula), rate, (ONE, -2 * q * x))
    parts = rewrite((stein((), Expectation(z**2 * sigma(z), z), z, z * sigma(z)), instantiate((slope,), {x: z})))
    split = linear((), parts.statement.right, ((ONE, sigma(z)), (2 * q, z**2 * sigma(z))))
    mean, square = Expectation(sigma(z), z), Expectation(z**2 * sigma(z), z)
    equation = ring((parts, split), Equation((1 - 2 * q) * square, mean), (ONE, ONE))
    above = order((instantiate((formula,), {x: z}),), AtLeast(sigma(z), ZERO), (ONE,), ((sp.exp(q * z**2), ONE),))
    both = (average((above,), (z,)), average((order((above,), AtLeast(z**2 * sigma(z), ZERO), (z**2,)),), (z,)))
    low = AtLeast(1 - 2 * q + 1 / square, 1 / square)
    low = order((multiply(both), equation), low, (1 / square**2, 1 / square))
    return order((low,), AtLeast(1 - 2 * q, ZERO), (ONE,))


def a_formula_with_a_name_that_a_model_makes_large() -> Theorem:
    formula = define(sigma(x), sp.exp(y * x**2), "a formula", x)
    return rewrite((_below_one_half(formula, y), taken(y, ONE, ground=Ground.MODEL)))


def a_formula_with_a_definition_for_a_name() -> Theorem:
    formula = define(sigma(x), sp.exp(y * x**2), "a formula", x)
    return rewrite((_below_one_half(formula, y), define(y, ONE, "a number")))


FALSEHOODS: tuple[Callable[[], Theorem], ...] = (
    a_name_that_vanishes_within, a_name_that_vanishes_outside, a_name_that_is_said_to_vanish,
    a_function_that_is_said_to_vanish, a_formula_that_widens, a_formula_that_widens_and_comes_late,
    a_variable_bound_twice, a_lemma_that_names_no_universal_symbol, a_formula_on_the_left,
    a_formula_for_one_more_symbol, a_formula_by_way_of_another, a_formula_by_way_of_two_others,
    a_formula_for_arguments_of_one_sign, a_formula_that_comes_late, owens_function_stays_up, a_slope_by_way_of_another,
    a_formula_with_a_name_that_a_model_makes_large, a_formula_with_a_definition_for_a_name,
)  # fmt: skip


@pytest.mark.parametrize("falsehood", FALSEHOODS, ids=lambda made: made.__name__)
def test_what_a_formula_makes_false_is_refused(falsehood: Callable[[], Theorem]) -> None:
    with pytest.raises(Refused):
        established(falsehood())


def test_a_variable_bound_again_counts_as_another() -> None:
    """As with another letter: E[E_x[exp(zx/2 + x^2/8)]^2] is there, and not with 3/8 in place of 1/8 and t outside."""
    for inner in (z, x):
        averages_exist_where(Expectation(Expectation(sp.exp(inner * t / 2 + inner**2 / 8), inner), z, t))
        with pytest.raises(Refused):
            averages_exist_where(Expectation(t * Expectation(sp.exp(inner * t / 2 + 3 * inner**2 / 8), inner), z, t))


def test_what_is_bounded_adds_no_rate_to_what_is_linear() -> None:
    for exponent in (x * sp.erf(z) * sp.cos(x), z * sp.atan(x), sp.tanh(x * z), z * sp.erf(f(z))):
        averages_exist_where(Expectation(sp.exp(3 * exponent), x, z))
    for exponent in (x**2 * sp.erf(z), -(x**2) * sp.erf(z), x * z * sp.cos(z), x**3 * sp.erf(z)):
        with pytest.raises(Refused):
            averages_exist_where(Expectation(sp.exp(3 * exponent), x, z))


def test_what_leads_in_an_average_is_asked_too() -> None:
    """E[5 + d - d exp(z)] = 5 - 0.65 d is not negative up to d = 7 alone."""
    mean, low = Expectation(5 + d - d * sp.exp(z), z), 1 - Expectation(sp.exp(z), z)
    parts = linear((), mean, ((5 + d, ONE), (-d, sp.exp(z))))
    above = AtLeast(5 * c / d + c, c * Expectation(sp.exp(z), z))
    bound = order((_not_negative(mean), parts), above, (c / d, -c / d))
    limit = limit_order((bound, limit_rational((), 5 * c / d + c, c, d)), d)
    assert Condition(low, Demand.NONNEGATIVE) in asked_by(limit)


def test_what_leads_stands_in_for_no_condition() -> None:
    """E[d^2/(d + z^2)] - E[d^2/(d + 2 z^2)] tends to 1, though what leads in both is d: the condition stays."""
    mean = sp.Rational(3, 2) - Expectation(d**2 / (d + z**2), z) + Expectation(d**2 / (d + 2 * z**2), z)
    condition = Condition(mean, Demand.NONNEGATIVE)
    assert condition in far_out(condition, d, frozenset())


def test_names_of_limits_and_slopes_stand_for_what_they_are() -> None:
    named = Condition(-1 - x**2, Demand.IS, y)
    can_hold(frozenset({named}), frozenset())
    with pytest.raises(Refused, match="never"):
        can_hold(frozenset({named, Condition(y, Demand.NONNEGATIVE)}), frozenset())


def test_a_limit_that_has_a_name_is_no_formula() -> None:
    limit = Assumption(Ground.DEFINITION, "m", Tends(f(d), m, d), "t")
    assert f not in formulas_of(frozenset({limit}), True)


def test_functions_that_are_said_by_way_of_each_other_have_no_formula() -> None:
    """f is g' and g is f + x, of which one at most is put in: else there is no end to it."""
    links = (taken(f(x), sigma_prime(x), x), taken(sigma(x), f(x) + x, x), taken(f(x), STEEP, x))
    for listed in (links[:2], links):
        assumptions = frozenset().union(*(link.assumptions for link in listed))
        in_full(sigma(z) + sigma_prime(t) + f(y), formulas_of(assumptions, True))
    slope = define(f(x), sigma_prime(x) - y, "a slope, but for a constant", x)
    of_slope = taken(sigma_prime(x), k(x, y), x), define(k(x, y), f(x) + y, "and back", x, y)
    assumptions = frozenset().union(*(link.assumptions for link in (slope, *of_slope)))
    in_full(sigma_prime(z) + f(z), formulas_of(assumptions, True))


@pytest.mark.parametrize("anew", [True, False])
def test_a_formula_speaks_of_no_variable_averaged_over_but_by_its_arguments(anew: bool) -> None:
    """f(x) = x + y under averages over y: the y of the formula stays free, in an average within another one too."""
    by = {f: ((x,), x + y), h: ((x,), Expectation(x * f(z), z))}
    whole = in_full(Expectation(y * f(y), y), by, anew)
    (own,) = whole.variables
    assert own != y
    assert whole.integrand == own * (own + y)
    whole = in_full(Expectation(h(z), z), by, anew)
    (outer,), (inner,) = whole.variables, whole.integrand.variables
    assert outer != inner
    assert whole.integrand.integrand.expand() == outer * inner + outer * y


def test_what_is_known_of_an_average_depends_on_the_formulas() -> None:
    """One average, by formulas of one function that differ: it exists by one and by no other one."""
    bell, steep = (define(k(x, y), sp.exp(sign * x**2), "a bell or not", x, y) for sign in (-1, 1))
    average_of = Expectation(k(z, t), z)
    assert not averages_exist(average_of, needed(average_of, bell.assumptions))
    with pytest.raises(Refused, match="too fast"):
        averages_exist(average_of, needed(average_of, steep.assumptions))


def test_a_formula_that_narrows_is_averaged() -> None:
    mild = define(k(x, y), sp.exp(-((x * y) ** 2)), "a bell", x, y)
    bell = limit_compose((SHRINKS,), sp.exp(-((z * hole) ** 2)), (hole,))
    named = rewrite((bell, instantiate((mild,), {x: z, y: 1 / d})), True)
    assert average_limit((named,), (z,)).statement.value == 1


@pytest.mark.parametrize("factor", range(1, 13))
def test_of_two_formulas_the_first_by_its_text_counts(factor: int) -> None:
    # Sets come in an order of their own in every process, which twelve pairs hardly meet by chance.
    both = (factor * x, (factor + 1) * x)
    lemmas = (taken(f(x), formula, x, ground=Ground.LEMMA) for formula in both)
    told = formulas_of(frozenset().union(*(lemma.assumptions for lemma in lemmas)))
    assert told[f] == ((x,), min(both, key=sp.srepr))


def test_where_an_average_exists_is_asked_by_way_of_a_formula() -> None:
    formula = define(sigma(x), sp.exp(y * x**2), "a formula", x)
    assert Condition(HALF - y, Demand.NONNEGATIVE) in asked_by(_below_one_half(formula, y))


def without_trace(rate: sp.Expr) -> Theorem:
    """t (t + rate) = t^2 + t rate, by way of E[exp(rate z^2)], of which nothing is seen in it."""
    weight = sp.exp(rate * z**2)
    split = linear((), Expectation(2 * weight, z), ((sp.Integer(2), weight),))
    return ring((split,), Equation(t * (t + rate), t**2 + t * rate), (ZERO,))


def test_where_an_average_exists_is_asked_of_the_values_that_symbols_take() -> None:
    assert Condition(HALF - y, Demand.NONNEGATIVE) in asked_by(without_trace(y))
    assert asked_by(instantiate((without_trace(y),), {y: -ONE})) == frozenset()
    with pytest.raises(Refused, match="may not exist"):
        established(instantiate((without_trace(y),), {y: ONE}))
    sign = order((), AtLeast(x**2, ZERO), (), ((ONE, x),))
    assert Condition(HALF - x**2, Demand.NONNEGATIVE) in asked_by(specialise((without_trace(s), sign), s))


def under_an_average(rate: sp.Expr) -> Theorem:
    """2 E[t (t + rate)] = E[...] by an equation that need not hold for all y."""
    inside = t * (t + rate)
    return rewrite((linear((), Expectation(2 * inside, y), ((sp.Integer(2), inside),)), without_trace(rate)))


def test_an_average_exists_for_all_values_that_are_averaged_over() -> None:
    for made in (lambda rate: average((without_trace(rate),), (y,)), under_an_average):
        established(made(-(y**2)))
        with pytest.raises(Refused, match="for all values"):
            established(made(y))


def test_a_slope_that_two_sides_have_in_common_exists() -> None:
    side = Expectation(sp.sqrt(sp.exp(-(z**2)) + x**2), z)
    start = ring((taken(y, t),), Equation(side.subs(x, 0) + y, side.subs(x, 0) + t), (ONE,))
    theorem = same_slope((start,), side + y, side + t, x, ZERO)
    with pytest.raises(Refused, match="may grow too fast"):
        established(theorem)


def test_a_variable_grows_however_deep_in_a_proof_its_limit_is() -> None:
    """y = t of two limits of one term, two steps further down, beside d := 3."""
    at = tuple(said(Tends(f(d), value, d)) for value in (y, t))
    equal = ring((ring((limit_unique(at),), Equation(y + 1, t + 1), (ONE,)),), Equation(y, t), (ONE,))
    established(equal)
    with pytest.raises(Refused, match="grows, and is a name"):
        established(ring((equal, define(d, sp.Integer(3), "a number")), Equation(y + d, t + 3), (ONE, ONE)))


def test_a_condition_on_what_moves_with_a_variable_is_asked_far_out() -> None:
    moving = define(t, 5 - d, "what moves").assumptions
    with pytest.raises(Refused, match="as d grows"):
        stays(Condition(t - y, Demand.NONNEGATIVE), d, moving)
    assert stays(Condition(y, Demand.NONNEGATIVE), d, moving) == frozenset()
