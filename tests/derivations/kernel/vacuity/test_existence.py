"""Averages that do not exist, or not for all that a proof makes of them, prove nothing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
import sympy as sp

from giantsteps.derivations.kernel.algebra import congruence, differentiate, instantiate, order, rewrite, ring
from giantsteps.derivations.kernel.averages import average, linear, stein
from giantsteps.derivations.kernel.calculus import average_limit, same_slope, slope
from giantsteps.derivations.kernel.inequalities import antisymmetric, largest, multiply, root_of_zero
from giantsteps.derivations.kernel.limits import (
    limit_average,
    limit_compose,
    limit_order,
    limit_rational,
    limit_unique,
    name_limit,
    taylor,
)
from giantsteps.derivations.kernel.search.assumptions import define
from giantsteps.derivations.kernel.statements import AtLeast, Condition, Demand, Equation, Ground, Refused, Tends
from giantsteps.derivations.kernel.terms import any_value, derivative
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.kernel.vacuity import existence
from giantsteps.derivations.kernel.vacuity.established import asked_by, established
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sigma, sigma_prime, weight_energy
from tests.shared.assumptions import above, said, taken

x, y, z, t, hole = sp.symbols("x y z t hole", real=True)
d, n, p = sp.symbols("d n p", positive=True)
c = sp.Symbol("c", real=True)
Q, rate = sp.symbols("Q rate", real=True)
h = sp.Function("h", real=True)
ZERO, ONE, HALF = sp.Integer(0), sp.Integer(1), sp.Rational(1, 2)


def below_one_half(q: sp.Expr, weight: sp.Expr = ONE) -> Theorem:
    """1 - 2 q >= 0 by Stein's lemma where weight exp(q z^2) has an average: (1 - 2 q) E[z^2 exp] = E[exp], A S = M, so
    A = (S/M) A^2.
    """
    bell, left = weight * sp.exp(q * z**2), 1 - 2 * q
    parts = stein((), Expectation(z**2 * bell, z), z, z * bell)
    split = linear((), parts.statement.right, ((ONE, bell), (2 * q, z**2 * bell)))
    mean, square = Expectation(bell, z), Expectation(z**2 * bell, z)
    equation = ring((parts, split), Equation(left * square, mean), (ONE, ONE))
    return order((equation,), AtLeast(left, ZERO), (-left / mean,), ((square / mean, left),))


def in_the_limit(q: sp.Expr, variable: sp.Symbol, value: sp.Expr) -> Theorem:
    low = below_one_half(q)
    return limit_order((low, limit_rational((), low.statement.left, value, variable)), variable)


def a_limit_whose_variable_takes_a_value() -> Theorem:
    """1 - 2 (3/4 - 1/d) >= 0 for d < 4 alone: -1/2 >= 0."""
    return in_the_limit(sp.Rational(3, 4) - 1 / d, d, -HALF)


def two_variables_of_which_one_comes_first() -> Theorem:
    """1 - 2 (3/4 - d/(4 n)) >= 0 for n < d alone."""
    low = in_the_limit(sp.Rational(3, 4) - d / (4 * n), n, -HALF)
    other = order((), AtLeast(1 / d + 1, ZERO), (), ((1 / d + 1, ONE),))
    beside = limit_order((other, limit_rational((), 1 / d + 1, ONE, d)), d)
    return order((low, beside), low.statement, (ONE, ZERO))


def the_end_of_an_interval() -> Theorem:
    """sqrt(p) E[exp((1/2 - p) z^2)] is 1/sqrt(2) for all p > 0, and has no value at zero."""
    bell = sp.exp((HALF - p) * z**2)
    left = sp.sqrt(p) * Expectation(bell, z)
    parts = stein((), Expectation(z**2 * bell, z), z, z * bell)
    split = linear((), parts.statement.right, ((ONE, bell), (1 - 2 * p, z**2 * bell)))
    minus = linear((), Expectation(derivative(bell, p), z), ((-ONE, z**2 * bell),))
    half = 1 / (2 * sp.sqrt(p))
    still = ring((parts, split, minus), Equation(derivative(left, p), ZERO), (-half, -half, sp.sqrt(p)))
    return same_slope((still,), left, ZERO, p, ZERO)


def what_grows_beside_what_narrows() -> Theorem:
    """E[d/(1 + d^2 exp(-2 z^2))] grows like d^(1/4), of an integrand that tends to zero for all z."""
    return average_limit((limit_rational((), d / (1 + d**2 * sp.exp(-2 * z**2)), ZERO, d),), (z,))


def kinked(kink: Theorem) -> Theorem:
    """sigma'(0) = -sigma'(0) and sigma'(0)^2 = 1 of sigma(x) = sqrt(x^2 + x^4), by Taylor's formula to both sides."""
    at = {v: instantiate((kink,), {x: v}) for v in (1 / d, -1 / d, ZERO)}
    up, down = (rewrite((rewrite((taylor((), sigma, 1, sign, d), at[sign / d])), at[ZERO])) for sign in (ONE, -ONE))
    same = limit_unique((up, down))
    square = limit_compose((up,), hole**2, (hole,))
    one = limit_unique((square, limit_rational((), 1 + 1 / d**2, ONE, d)))
    return ring((same, one), Equation(ONE, ZERO), (sigma_prime(ZERO) / 2, -ONE))


ROOT = sp.sqrt(x**2 + x**4)


def a_kink() -> Theorem:
    return kinked(define(sigma(x), ROOT, "has a kink at zero", x))


def a_kink_where_a_name_is_zero() -> Theorem:
    formula = define(sigma(x), sp.sqrt(x**2 + x**4 + y), "has a kink at zero", x)
    return kinked(rewrite((formula, define(y, ZERO, "a number"))))


def a_kink_by_way_of_a_function_of_two() -> Theorem:
    formula = instantiate((define(weight_energy(x, t), ROOT + t, "has a kink", x, t),), {t: ZERO})
    return kinked(rewrite((define(sigma(x), weight_energy(x, ZERO), "the same", x), formula)))


def grows_in_the_mean(scale: sp.Expr) -> sp.Expr:
    return scale / (1 + scale**2 * sp.exp(-2 * z**2))


def a_formula_that_moves() -> Theorem:
    """What grows beside what narrows, hidden in a formula: h(x) = n/(1 + n^2 exp(-2 x^2)) with n := d."""
    named = define(h(x), grows_in_the_mean(n).xreplace({z: x}), "by way of n", x)
    of_d = instantiate((rewrite((named, define(n, d, "moves"))),), {x: z})
    return average_limit((rewrite((limit_rational((), grows_in_the_mean(d), ZERO, d), of_d), True),), (z,))


def a_function_that_is_held_to_one() -> Theorem:
    """The same beside h(z/d)^2 = 1."""
    whole = grows_in_the_mean(d)
    one = instantiate((taken(h(x) ** 2, ONE, x),), {x: z / d})
    both = ring((one,), Equation(whole, whole * h(z / d) ** 2), (-whole,))
    return average_limit(
        (
            rewrite(
                (limit_rational((), whole, ZERO, d), both),
            ),
        ),
        (z,),
    )


def a_function_by_another_name_of_one_that_is_held() -> Theorem:
    """The same beside h = k with k^2 = 1."""
    whole, k = grows_in_the_mean(d), sp.Function("k", real=True)
    one = ring((taken(h(x), k(x), x), taken(k(x) ** 2, ONE, x)), Equation(h(x) ** 2, ONE), (h(x) + k(x), ONE))
    both = ring((instantiate((one,), {x: z / d}),), Equation(whole, whole * h(z / d) ** 2), (-whole,))
    return average_limit(
        (
            rewrite(
                (limit_rational((), whole, ZERO, d), both),
            ),
        ),
        (z,),
    )


def a_function_that_is_held_in_an_exponential() -> Theorem:
    """E[d (1 + z^2)/(1 + d^2 exp(-2 z^2))], in which exp(h(p)) = p stands for the numerator."""
    top, below = d * (1 + z**2), 1 + d**2 * sp.exp(-2 * z**2)
    at = instantiate((taken(sp.exp(h(p)), p, p),), {p: top})
    both = ring((at,), Equation(top / below, sp.exp(h(top)) / below), (-1 / below,))
    return average_limit(
        (
            rewrite(
                (limit_rational((), top / below, ZERO, d), both),
            ),
        ),
        (z,),
    )


def parts_of_which_a_function_keeps_each_small() -> Theorem:
    """E[d/(1 + d^2 exp(-2 z^2))] in two parts, one small for large h, one for small h."""
    whole, share = grows_in_the_mean(d), h(z / d) ** 2 / (1 + h(z / d) ** 2)
    parts = whole * share + whole / (1 + h(z / d) ** 2)
    both = ring((), Equation(whole, parts))
    limit = average_limit(
        (
            rewrite(
                (limit_rational((), whole, ZERO, d), both),
            ),
        ),
        (z,),
    )
    return rewrite((limit, average((both,), (z,))), True)


def a_limit_beside_a_function_that_is_above_zero() -> Theorem:
    """The same beside k(z/d) -> k(0), for a function k above zero."""
    k = sp.Function("k", positive=True)
    near = instantiate((said(Tends(k(z / d), k(ZERO), d), z),), {z: z})
    whole = limit_compose((near, limit_rational((), grows_in_the_mean(d), ZERO, d)), hole * x, (hole, x))
    return average_limit((whole,), (z,))


def a_power_that_grows_by_its_exponent() -> Theorem:
    """E[(1 + d^6 exp(-z^2))^y/(1 + d^7 exp(-2 z^2))] with y := 1, which is constant."""
    top = 1 + d**6 * sp.exp(-(z**2))
    still = name_limit((limit_rational((), y + 1 / d, y, d),), rate, "y, held constant")
    power = congruence((define(y, ONE, "a number"),), top**hole, hole)
    power = ring((power, still), Equation(top**y, top), (ONE, ZERO))
    plain = limit_rational((), top / (1 + d**7 * sp.exp(-2 * z**2)), ZERO, d)
    return average_limit((rewrite((plain, power), True),), (z,))


def a_ceiling_of_what_grows() -> Theorem:
    steps = sp.ceiling(sp.exp(z**2))
    return linear((), Expectation(2 * steps, z), ((sp.Integer(2), steps),))


def an_exponent_in_a_formula() -> Theorem:
    power = define(h(x), (sp.exp(-(x**2)) + sp.exp(-2 * x**2)) ** y, "a power", x)
    twice = linear((), Expectation(2 * h(z), z), ((sp.Integer(2), h(z)),))
    return ring((twice, power, define(y, -ONE, "a number")), twice.statement, (ONE, ZERO, ZERO))  # type: ignore[arg-type]


def an_exponent_that_is_the_name_of_a_limit() -> Theorem:
    named = name_limit((limit_rational((), 1 / d - 1, -ONE, d),), y, "minus one")
    power = (sp.exp(-(z**2)) + sp.exp(-2 * z**2)) ** y
    twice = linear((), Expectation(2 * power, z), ((sp.Integer(2), power),))
    return ring((twice, named), twice.statement, (ONE, ZERO))  # type: ignore[arg-type]


def an_exponent_that_gets_a_meaning_later() -> Theorem:
    """Of a y that takes the value 3/4 before y := -5 joins."""
    bad = instantiate((below_one_half(y, 2**y),), {y: sp.Rational(3, 4)})
    return order((bad, define(y, sp.Integer(-5), "a number")), bad.statement, (ONE, ZERO))


def a_name_of_a_formula_that_takes_a_value_before() -> Theorem:
    """-1 >= 0 of sigma >= 1 with sigma' = (3/2) x sigma, and c := -1 in it, before sigma(x) = exp(c x^2) joins."""
    parts = stein((), Expectation(z**2 * sigma(z), z), z, z * sigma(z))
    slopes = taken(sigma_prime(x), sp.Rational(3, 2) * x * sigma(x), x)
    parts = rewrite((parts, instantiate((slopes,), {x: z})))
    split = linear((), parts.statement.right, ((ONE, sigma(z)), (sp.Rational(3, 2), z**2 * sigma(z))))
    low = instantiate((above(sigma(x), ONE, x),), {x: z})
    one = average((low,), (z,))
    two = average((order((low,), AtLeast(z**2 * sigma(z), ZERO), (z**2,), ((ONE, z),)),), (z,))
    bad = instantiate((order((parts, split, one, two), AtLeast(-ONE, ZERO), (ONE, ONE, ONE, HALF)),), {c: -ONE})
    formula = define(sigma(x), sp.exp(c * x**2), "a formula", x)
    value = taken(c, sp.Rational(3, 4), ground=Ground.MODEL)
    return order((bad, formula, value), bad.statement, (ONE, ZERO, ZERO))


def a_divisor_that_is_zero_where_it_is_defined() -> Theorem:
    zero = (x**2 + x) / x - x - 1
    return congruence((ring((), Equation(zero, ZERO)),), hole / zero, hole)


def an_average_within_that_does_not_exist() -> Theorem:
    inner = Expectation(sp.exp(t * z**2), z)
    return limit_average((limit_rational((), 1 / d, ZERO, d),), Expectation(sp.exp(-hole * inner), t), (hole,))


def square_is_zero() -> Theorem:
    """y^2 = 0 by y^2 = Max(0, 2 h(y) - 1) and 1 - 2 h(y) >= 0, where exp(h(y) z^2) has an average: at y = 0 alone, if
    h is (1 + y^2)/2 but at zero.
    """
    q = sp.Function("h", real=True)(y)
    most = sp.Max(0, 2 * q - 1)
    product = multiply((below_one_half(q), largest((), (ZERO, 2 * q - 1), 0)))
    low = order((product, largest((), (ZERO, 2 * q - 1))), AtLeast(-(most**2), ZERO), (ONE, -ONE))
    zero = antisymmetric((low, order((), AtLeast(ZERO, -(most**2)), (), ((ONE, most),))))
    none = root_of_zero((ring((zero,), Equation(most**2, ZERO), (-ONE,)),), most, 2)
    return ring((none, taken(y**2, most, y)), Equation(y**2, ZERO), (ONE, ONE))


def a_derivative_at_one_point() -> Theorem:
    return differentiate((differentiate((square_is_zero(),), y),), y)


def a_slope_at_one_point() -> Theorem:
    quantity = ring((define(Q, y**2, "a square"), square_is_zero()), Equation(Q, ZERO), (ONE, ONE))
    return slope((quantity,), y, rate, "dQ/dy")


FALSEHOODS: tuple[Callable[[], Theorem], ...] = (
    a_limit_whose_variable_takes_a_value, two_variables_of_which_one_comes_first, the_end_of_an_interval,
    what_grows_beside_what_narrows, a_formula_that_moves, a_function_that_is_held_to_one,
    a_function_by_another_name_of_one_that_is_held, a_function_that_is_held_in_an_exponential,
    parts_of_which_a_function_keeps_each_small, a_limit_beside_a_function_that_is_above_zero,
    a_power_that_grows_by_its_exponent, a_kink, a_kink_where_a_name_is_zero, a_kink_by_way_of_a_function_of_two,
    a_ceiling_of_what_grows, an_exponent_in_a_formula, an_exponent_that_is_the_name_of_a_limit,
    an_exponent_that_gets_a_meaning_later,
    a_name_of_a_formula_that_takes_a_value_before, a_divisor_that_is_zero_where_it_is_defined,
    an_average_within_that_does_not_exist, a_derivative_at_one_point, a_slope_at_one_point,
)  # fmt: skip


@pytest.mark.parametrize("falsehood", FALSEHOODS, ids=lambda made: made.__name__)
def test_what_averages_that_do_not_exist_prove_is_refused(falsehood: Callable[[], Theorem]) -> None:
    with pytest.raises(Refused):
        established(falsehood())


def test_after_a_limit_its_variable_takes_no_value() -> None:
    with pytest.raises(Refused, match="held constant"):
        instantiate((a_limit_whose_variable_takes_a_value(),), {d: ONE})


def without_trace(bell: sp.Expr, of: sp.Symbol) -> Theorem:
    """of (of + t) = of^2 + of t, by way of an average of which nothing is seen in it."""
    split = linear((), Expectation(2 * bell, z), ((sp.Integer(2), bell),))
    return ring((split,), Equation(of * (of + t), of**2 + of * t), (ZERO,))


def test_a_derivative_is_taken_where_averages_exist_all_around() -> None:
    theorem = established(differentiate((without_trace(sp.exp(c * z**2), c),), c))
    assert Condition(HALF - c, Demand.NONNEGATIVE) in asked_by(theorem)
    for sign in ({"positive": True}, {"nonnegative": True}, {"negative": True}):
        signed = sp.Symbol("s", **sign)
        bell = sp.exp((signed if signed.is_negative else -signed) * z**4)
        assert not asked_by(established(differentiate((without_trace(bell, signed),), signed)))


def test_what_stands_for_any_value_is_no_term() -> None:
    with pytest.raises(Refused, match="is no term"):
        ring((), Equation((any_value(x, 0) + 1) * t, any_value(x, 0) * t + t))
    assert any_value(x, 0) is any_value(x, 0)
    assert any_value(x, 0) != any_value(x, 1)


def beside_a_limit(bell: sp.Expr) -> Theorem:
    """c^2 + c t + 1/d -> c^2 + c t, by way of an average of which nothing is seen in it."""
    whole = c * (c + t)
    return rewrite((limit_rational((), whole + 1 / d, whole, d), without_trace(bell, c)))


def test_below_and_above_a_value_that_is_not_negative_averages_exist() -> None:
    """E[exp(-(s - 1) z^4)] exists at s = 1 and above, and at no s below."""
    s = sp.Symbol("s", nonnegative=True)
    for low, exists in ((ONE, False), (ZERO, True)):
        at = instantiate((differentiate((without_trace(sp.exp(-(s - low) * z**4), s),), s),), {s: low})
        with nullcontext() if exists else pytest.raises(Refused, match="grows too fast"):
            established(at)


def test_what_is_averaged_over_twice_takes_two_values() -> None:
    """E[exp((x - y) z^2/4)] does not exist for all x and y, though it does for x = y."""
    once = average((without_trace(sp.exp((x - y) * z**2 / 4), c),), (x,))
    with pytest.raises(Refused, match="for all values"):
        established(average((instantiate((once,), {y: x}),), (x,)))


def test_a_limit_under_an_average_is_taken_where_averages_exist_for_all_values() -> None:
    established(average_limit((beside_a_limit(sp.exp(-(x**2) * z**2)),), (x,)))
    with pytest.raises(Refused, match="for all values"):
        established(average_limit((beside_a_limit(sp.exp(x * z**2)),), (x,)))


def test_what_an_average_asks_far_out_is_asked() -> None:
    established(beside_a_limit(sp.exp(-d * z**2)))
    with pytest.raises(Refused, match="as d grows"):
        established(beside_a_limit(sp.exp(sp.exp(d) * z**2)))


@pytest.mark.parametrize(("moves", "allowed"), [(x, True), (sp.Abs(x), True), (sp.ceiling(x), False)])
def test_a_slope_is_taken_where_what_moves_along_does_not_jump(moves: sp.Expr, allowed: bool) -> None:
    """Of Q := x^2, by way of E[exp(-y^2 z^2)] with y := w/4 and w by way of x."""
    w = sp.Symbol("w", real=True)
    names = (define(y, w / 4, "a name"), define(w, moves, "what moves"))
    listed = (define(Q, x**2, "a square"), without_trace(sp.exp(-(y**2) * z**2), c), *names)
    equation = ring(listed, Equation(Q, x**2), (ONE, ZERO, ZERO, ZERO))
    if allowed:
        established(slope((equation,), x, rate, "dQ/dx"))
    else:
        with pytest.raises(Refused, match="no derivative"):
            slope((equation,), x, rate, "dQ/dx")


def test_what_a_function_is_at_best_leaves_the_rest_of_a_condition() -> None:
    """E[exp((x + h^2) z^2)] exists for no function h where x is a half or more, but with x - h, or x h in place."""
    asked = Condition(HALF - x, Demand.NONNEGATIVE)
    for power, left in ((x + h(y) ** 2, True), (x - h(y), False), (x * h(y), False)):
        theorem = average((without_trace(sp.exp(power * z**2), c),), (y,))
        assert (asked in asked_by(theorem)) is left
    inner = Expectation(sp.exp((x + h(y) ** 2) * z**2), z)
    assert asked in asked_by(linear((), Expectation(2 * inner, y), ((sp.Integer(2), inner),)))
    s = sp.Symbol("s", nonnegative=True)
    bell = sp.exp(sp.sqrt(s + sp.exp(h(t))) * z**2)
    split = linear((), Expectation(2 * bell, z, t), ((sp.Integer(2), bell),))
    assert Condition(HALF - sp.sqrt(s), Demand.NONNEGATIVE) in asked_by(split)


def test_one_function_that_is_held_is_enough_in_an_exponent() -> None:
    """exp(k(z) h(d z)) with something said of h, and nothing of k; of a function of h the lemma asks what it asks."""
    k = sp.Function("k", real=True)
    for exponent, fine in ((k(z) * h(d * z), False), (k(h(d * z)), True), (k(d * z), True)):
        limit = SimpleNamespace(
            statement=Tends(Expectation(sp.exp(exponent), z), ONE, d), conditions=frozenset(), rule="average_limit"
        )
        asked = (limit, frozenset(), frozenset({d}), frozenset({h}))
        if fine:
            existence._dominated.__wrapped__(*asked)
        else:
            with pytest.raises(Refused, match="may not stay bounded"):
                existence._dominated.__wrapped__(*asked)


def test_parity_and_a_value_at_one_place_hold_no_function() -> None:
    """E[d sigma(z/d)] -> E[z sigma'(0)] = 0, for a function that is zero at zero, and for an odd one."""
    expansion = taylor((), sigma, 1, z, d)
    for assumed in (taken(sigma(ZERO), ZERO), instantiate((taken(sigma(-x), -sigma(x), x),), {x: ZERO})):
        left, right = assumed.statement.left, assumed.statement.right  # type: ignore[union-attr]
        zero = assumed if right == ZERO else ring((assumed,), Equation(left, ZERO), (HALF,))
        assert left == sigma(ZERO)
        established(average_limit((rewrite((expansion, zero)),), (z,)))
