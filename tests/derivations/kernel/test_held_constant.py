"""What assumptions together fix at one value of a limit's variable, while it was held constant: refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sympy as sp

from giantsteps.derivations.kernel.algebra import assume, congruence, differentiate, instantiate, order, rewrite, ring
from giantsteps.derivations.kernel.averages import average, linear, moment
from giantsteps.derivations.kernel.calculus import slope
from giantsteps.derivations.kernel.inequalities import largest
from giantsteps.derivations.kernel.limits import limit_compose, limit_order, limit_rational, limit_unique, name_limit
from giantsteps.derivations.kernel.search.assumptions import define
from giantsteps.derivations.kernel.statements import Assumption, AtLeast, Equation, Ground, Refused, Tends, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.kernel.vacuity.established import established
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import DERIVATIVES, sigma
from tests.derivations.kernel.test_falsehoods import (
    ONE,
    ZERO,
    Bound,
    Q,
    a,
    b,
    c,
    d,
    f,
    hole,
    m,
    no_limit,
    p,
    rate,
    second,
    t,
    taken,
    tends,
    x,
    y,
    z,
)

w, R = sp.symbols("w R", real=True)
HALF = sp.Rational(1, 2)
CHAINS: dict[str, Callable[[], tuple[tuple[Theorem, ...], tuple[sp.Expr, ...]]]] = {
    "two names, neither solved for": lambda: (
        (define(y, a - d + b, ""), taken(y - x, ZERO), taken(x - b, ZERO)), (-ONE, ONE, ONE)
    ),
    "the same by the model": lambda: (
        (define(y, a - d + b, ""), taken(y - x, ZERO, Ground.MODEL), taken(x - b, ZERO, Ground.MODEL)), (-ONE, ONE, ONE)
    ),
    "twice a name is zero": lambda: (
        (define(y, a - d + b, ""), taken(y, b + t), taken(2 * t, ZERO)), (-ONE, ONE, HALF)
    ),
    "two values of one name": lambda: ((define(y, a - d, ""), taken(y, t), taken(y, -t)), (-ONE, HALF, HALF)),
    "a slope": lambda: (
        (slope((define(Q, (a - d) ** 2 / 2, ""),), a, rate, "dQ/da"), taken(rate - x, ZERO), taken(2 * x, ZERO)),
        (-ONE, ONE, HALF),
    ),
    "a limit in something else": lambda: (
        (
            name_limit((limit_rational((), a - d + 1 / m, a - d, m),), Q, "a limit"),
            taken(Q - x, ZERO), taken(2 * x, ZERO),
        ),
        (-ONE, ONE, HALF),
    ),
    "two names, each by way of another": lambda: (
        (define(y, a - d + b, ""), taken(y, x), define(w, x + b, ""), taken(w, 2 * b)), (-ONE, ONE, -ONE, ONE)
    ),
    "twice the sum of two": lambda: (
        (define(y, a - d, ""), define(w, x + t, ""), taken(y, w), define(Q, x + t, ""), taken(Q, ZERO)),
        (-ONE, ONE, ONE, -ONE, ONE),
    ),
    "three names": lambda: (
        (define(y, a - d + b, ""), taken(y, x), define(w, x + t, ""), define(Q, w - t, ""), taken(Q, b)),
        (-ONE, ONE, -ONE, -ONE, ONE),
    ),
    "a slope, further on": lambda: (
        (
            define(y, a - d, ""), taken(y, x), slope((define(Q, x**2 / 2 + b * x, ""),), x, rate, ""), taken(rate, b),
        ),
        (-ONE, ONE, -ONE, ONE),
    ),
    "a factor that is never zero": lambda: (
        (define(y, a - d, ""), taken(y, x), taken(x * sp.exp(t), ZERO)), (-ONE, ONE, sp.exp(-t))
    ),
    "a function that is zero everywhere": lambda: (
        (
            define(y, a - d, ""), taken(y, f(x)),
            instantiate((taken(f(t), ZERO, Ground.HYPOTHESIS, t),), {t: x}),
        ),
        (-ONE, ONE, ONE),
    ),
    "a saddle point at one value": lambda: (
        saddle((a - d) * t + x * t - x**2 / 2 - t**2 / 2), (-ONE, ONE, -ONE, ONE)
    ),
    "beside a factor that is not zero": lambda: ((define(y, p * (a - d), ""), taken(y, ZERO)), (-1 / p, 1 / p)),
}  # fmt: skip


def saddle(quantity: sp.Expr) -> tuple[Theorem, ...]:
    """The slopes of a quantity in x and t, and that they are zero."""
    meant = define(Q, quantity, "")
    by_x, by_t = slope((meant,), x, rate, ""), slope((meant,), t, w, "")
    return by_x, taken(rate, ZERO), by_t, taken(w, ZERO)


def one_is_zero(premises: tuple[Theorem, ...], factors: tuple[sp.Expr, ...]) -> Theorem:
    """a/d -> 0 for a constant a, that is d."""
    moving = ring(premises, Equation(a, d), factors)
    return limit_unique((rewrite((tends(a / d + 1 / d, ZERO), moving)), tends(1 + 1 / d, ONE)))


def nothing_is_above_one() -> Theorem:
    """b - d >= 0 for a constant b, by y := b - d + x, y >= t and t >= x."""
    more, less = (
        assume((), Assumption(Ground.HYPOTHESIS, f"{left} above {right}", AtLeast(left, right), ""))
        for left, right in ((y, t), (t, x))
    )
    bound = rewrite((more, define(y, b - d + x, "")))
    lower = order((bound, less), AtLeast(b / d, ONE), (1 / d, 1 / d))
    return limit_order((lower, tends(b / d, ZERO)), d)


SIGNED: dict[str, tuple[sp.Expr, tuple[sp.Expr, sp.Expr], tuple[Callable[[], Theorem], ...]]] = {
    "a name that is positive": (p, (p, ONE), ()),
    "a square": (x**2, (ONE, x), ()),
    "an exponential": (sp.exp(x), (sp.exp(x), ONE), ()),
    "the average of a square": (
        Expectation(f(z) ** 2, z), (ONE, ZERO),
        (lambda: average((order((), AtLeast(f(z) ** 2, ZERO), (), ((ONE, f(z)),)),), (z,)),),
    ),
    "the value of a root": (x, (ONE, w), (lambda: of_the_root(),)),
}  # fmt: skip


def of_the_root() -> Theorem:
    """w^2 = x for w := sqrt(x)."""
    return ring((define(w, sp.sqrt(x), ""),), Equation(w**2, x), (w + sp.sqrt(x),))


def constant_at_least_one(right: sp.Expr, square: tuple[sp.Expr, sp.Expr], more: tuple[Theorem, ...]) -> Theorem:
    """0 >= 1 of a/d >= 1 for a constant a, by y := a - d and y = ``right``, which is not negative."""
    weight, base = square
    signs = [-1 / d if isinstance(theorem.statement, Equation) else 1 / d for theorem in more]
    premises = (define(y, a - d, ""), taken(y, right), *more)
    low = order(premises, AtLeast(a / d, ONE), (-1 / d, 1 / d, *signs), ((weight / d, base),))
    return limit_order((low, tends(a / d, ZERO)), d)


def below_five(meant: Theorem) -> Theorem:
    """0 >= 1 of 5/d >= 1 where f(d) = 5 - d is not negative."""
    root = sp.sqrt(f(d))
    assumed = Assumption(Ground.LEMMA, "for a test", AtLeast(5 / d + root, 1 + root), "", frozenset({d}))
    low = order((assume((), assumed), instantiate((meant,), {x: d})), AtLeast(5 / d, ONE), (ONE, ZERO))
    return limit_order((low, tends(5 / d, ZERO)), d)


def where_a_sum_is_not_zero() -> Theorem:
    """0 >= 1 of 5/d >= 1 where 5 - d + |5 - d| is not zero."""
    total = 5 - d + sp.sqrt(d**2 - 10 * d + 25)
    square = ring((), Equation(total * total, 2 * (5 - d) * total))
    same = ring((congruence((square,), hole / total, hole),), Equation(total, 2 * (5 - d)), (ONE,))
    half = 1 / (2 * d)
    low = order((define(p, total, ""), same), AtLeast(5 / d, ONE), (-half, -half), ((p * half, ONE),))
    return limit_order((low, tends(5 / d, ZERO)), d)


def tends_and_is_one(first: sp.Expr, value: Theorem) -> Theorem:
    """1 = 0 of what tends to zero, by assumption, and is one."""
    assumed = assume((), Assumption(Ground.HYPOTHESIS, "it vanishes", Tends(first, ZERO, d), ""))
    both = limit_compose((assumed, tends(1 / d, ZERO)), hole + second, (hole, second))
    return limit_unique((rewrite((both, value)), tends(1 + 1 / d, ONE)))


def share_is_one(named: bool) -> Theorem:
    """a/d -> 1 for a constant a."""
    told = assume((), Assumption(Ground.HYPOTHESIS, "a share", Tends(y if named else a / d, ONE, d), ""))
    limit = rewrite((told, define(y, a / d, ""))) if named else told
    return limit_unique((limit, tends(a / d, ZERO)))


@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
def test_what_is_fixed_at_one_value_is_not_held_constant(
    chain: Callable[[], tuple[tuple[Theorem, ...], tuple[sp.Expr, ...]]],
) -> None:
    premises, factors = chain()
    with pytest.raises(Refused, match=r"constant|may not tend"):
        established(one_is_zero(premises, factors))


def test_a_bound_by_way_of_another_name_is_not_held_constant() -> None:
    with pytest.raises(Refused, match=r"constant|never"):
        established(nothing_is_above_one())


@pytest.mark.parametrize("named", [False, True])
def test_a_limit_of_what_is_held_constant_is_not_assumed(named: bool) -> None:
    with pytest.raises(Refused, match="tends"):
        established(share_is_one(named))


@pytest.mark.parametrize("right", SIGNED)
def test_what_leaves_its_sign_is_not_held_along(right: str) -> None:
    value, square, more = SIGNED[right]
    with pytest.raises(Refused, match=r"constant|negative|as it has to be"):
        established(constant_at_least_one(value, square, tuple(make() for make in more)))


def test_conditions_hold_from_some_value_of_the_variable_on() -> None:
    with pytest.raises(Refused, match="as it has to be"):
        established(below_five(define(f(x), 5 - x, "", x)))
    with pytest.raises(Refused, match="as it has to be"):
        established(where_a_sum_is_not_zero())


def test_what_is_said_to_tend_somewhere_has_no_other_value() -> None:
    h = sp.Function("h", real=True)
    by_name = ring((taken(f(a), h(a, d)), taken(f(a), ONE)), Equation(h(a, d), ONE), (-ONE, ONE))
    for first, value in ((x, taken(x, ONE)), (h(a, d), by_name)):
        with pytest.raises(Refused, match="at most"):
            established(tends_and_is_one(first, value))


def test_what_has_a_name_of_its_own_moves_along() -> None:
    """x/d -> -1 for a constant b, where y := b - d has to be x, and nothing else is said of x."""
    there = ring((define(y, b - d, ""), taken(y, x)), Equation(b - d, x), (-ONE, ONE))
    assert rewrite((tends((b - d) / d, -ONE), there)).statement == Tends(x / d, -ONE, d)


def under_a_root(term: sp.Expr) -> Theorem:
    """A term is not negative where it stands under a root."""
    root = sp.sqrt(term)
    return order((), AtLeast(term + root, root), (), ((ONE, root),))


def at_least(left: sp.Expr, right: sp.Expr, universal: sp.Symbol | None = None) -> Theorem:
    every = frozenset() if universal is None else frozenset({universal})
    return assume((), Assumption(Ground.HYPOTHESIS, f"{left} and {right}", AtLeast(left, right), "a test", every))


def largest_of_two() -> Theorem:
    """5/d >= 1 where the larger of 5 - d and 0 is not zero."""
    larger = sp.Max(5 - d, 0)
    is_one = congruence((largest((), (5 - d, ZERO)),), hole / larger, hole)
    same = ring((is_one,), Equation(larger, 5 - d), (ONE,))
    return order((largest((), (5 - d, ZERO), 1), same), AtLeast(5 / d, ONE), (1 / d, -1 / d))


# Bounds that hold at small values of the variable alone: its limit is zero, and so would be what is below it.
BOUNDED: dict[str, Callable[[], Theorem]] = {
    "nothing is held constant": lambda: order(
        (define(w, 5 / d, ""), at_least(w, ONE)), AtLeast(5 / d, ONE), (-ONE, ONE)
    ),
    "a function for all": lambda: order(
        (under_a_root(f(d)), instantiate((taken(f(x), 5 - x, Ground.HYPOTHESIS, x),), {x: d})),
        AtLeast(5 / d, ONE), (1 / d, -1 / d),
    ),
    "a function of the variable": lambda: order(
        (under_a_root(f(d)), taken(f(d), 5 - d)), AtLeast(5 / d, ONE), (1 / d, -1 / d)
    ),
    "the larger of two": largest_of_two,
    "a name in a condition": lambda: order(
        (at_least(1 / d, t), under_a_root(t - 1)), AtLeast(1 / d, ONE), (ONE, ONE)
    ),
    "a name for all": lambda: order(
        (
            instantiate((at_least(x**2 + w**2, x, x),), {x: HALF}),
            ring((define(w, 5 / d, ""),), Equation(w**2, 25 / d**2), (w + 5 / d,)),
        ),
        AtLeast(25 / d**2, sp.Rational(1, 4)), (ONE, -ONE),
    ),
}  # fmt: skip


def in_the_limit(bounded: Callable[[], Theorem]) -> Theorem:
    theorem = bounded()
    return limit_order((theorem, tends(sides(theorem.statement)[0], ZERO)), d)


@pytest.mark.parametrize("bounded", BOUNDED.values(), ids=BOUNDED)
def test_a_bound_of_small_values_has_no_limit(bounded: Callable[[], Theorem]) -> None:
    with pytest.raises(Refused):
        established(in_the_limit(bounded))


def test_conditions_that_exclude_each_other_are_refused() -> None:
    pair = (under_a_root(b - 1), under_a_root(-b - 1))
    with pytest.raises(Refused, match="no values are found"):
        established(order(pair, AtLeast(ZERO, sp.Integer(2)), (ONE, ONE)))


def saddle_without_curvature() -> Theorem:
    """(b - c) x + a + 1/d = 0, which b = c turns into a = -1/d."""
    potential = define(Q, (b - c) * x**2 / 2 + a * x + x / d, "")
    given = (slope((potential,), x, rate, ""), taken(rate, ZERO), taken(b, c))
    equation = ring(given, Equation(a + 1 / d, ZERO), (-ONE, ONE, -x))
    tending = limit_compose((tends(a + 1 / d, a), tends(1 / d, ZERO)), hole + second, (hole, second))
    return limit_unique((rewrite((tending, equation)), tends(1 / d, ZERO)))


def test_a_saddle_point_is_not_found_by_a_coefficient_that_an_assumption_makes_zero() -> None:
    with pytest.raises(Refused):
        established(saddle_without_curvature())


def at_saddle(of: sp.Symbol, rest: sp.Expr, quantity: sp.Symbol, name: sp.Symbol) -> tuple[Theorem, ...]:
    """of + rest = 0 at a saddle point, by the slope of a quantity and what it is."""
    return slope((define(quantity, of**2 / 2 + of * rest, ""),), of, name, "dQ/dx"), taken(name, ZERO)


less, none = sp.Symbol("n", negative=True), sp.Symbol("q", nonnegative=True)
_under = sp.Symbol("r", negative=True)  # it comes after p, which is what is solved for
_small, _bump = 1 / d - 5 / d**2, sp.Function("h", nonnegative=True)
_moving = at_saddle(t, _small, R, w)
_mean = Expectation(_bump(z), z)
_first = (c * d, -c * d)
# Saddle points that are there at small values of d alone, by a sign or a condition: 5 c/d >= c as a sum of multiples of
# their slopes and of squares.
Saddle = tuple[tuple[Theorem, ...], tuple[sp.Expr, ...], tuple[tuple[sp.Expr, sp.Expr], ...]]
SADDLES: dict[str, Callable[[], Saddle]] = {
    "a positive name": lambda: (at_saddle(p, _small, Q, rate), _first, ((c * d * p, ONE),)),
    "a negative name": lambda: (at_saddle(less, -_small, Q, rate), (-c * d, c * d), ((-c * d * less, ONE),)),
    "a name that is not negative": lambda: (at_saddle(none, _small, Q, rate), _first, ((c * d * none, ONE),)),
    "by way of another one": lambda: (
        (*at_saddle(p, -t, Q, rate), *at_saddle(t, _small, R, w)), (*_first, *_first), ((c * d * p, ONE),)
    ),
    "a value that an assumption bounds": lambda: (
        (*at_saddle(p, _small - a, Q, rate), at_least(ZERO, a)), (*_first, c * d), ((c * d * p, ONE),)
    ),
    "a value that a negative name bounds": lambda: (
        at_saddle(p, _small - _under, Q, rate), _first, ((c * d * p, ONE), (-c * d * _under, ONE))
    ),
    "a value that a condition bounds": lambda: (
        (*at_saddle(p, _small - a, Q, rate), under_a_root(-a)), (*_first, c * d), ((c * d * p, ONE),)
    ),
    "a value that another name takes": lambda: (
        (*at_saddle(p, _small - a, Q, rate), taken(none, -a)), (*_first, -c * d),
        ((c * d * p, ONE), (c * d * none, ONE)),
    ),
    "two values against each other": lambda: (
        (*at_saddle(p, _small - a + b, Q, rate), *at_saddle(m, a - b, R, w)), (*_first, *_first),
        ((c * d * p, ONE), (c * d * m, ONE)),
    ),
    "an average that is zero": lambda: (
        (*at_saddle(p, (_small - _mean) / d, Q, rate), taken(_mean, ZERO)), (c * d**2, -c * d**2, -c * d),
        ((c * d**2 * p, ONE),),
    ),
    "a condition on two": lambda: (
        (*at_saddle(x, _small, Q, rate), *at_saddle(t, -_small, R, w), under_a_root(x - t)),
        (c * d / 2, -c * d / 2, -c * d / 2, c * d / 2, c * d / 2), (),
    ),
    "a condition on what is left": lambda: (
        (*at_saddle(x, _small - 1, Q, rate), under_a_root(x - 1)), (*_first, c * d), ()
    ),
    "a pole": lambda: (
        (slope((define(Q, p**2 / 2 + sp.log(p) / d - 4 * p / d, ""),), p, rate, ""), taken(rate, ZERO)),
        (c * d * p, -c * d * p), ((c * d, p - 2 / d), (c / d, ONE)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("made", SADDLES.values(), ids=SADDLES)
def test_a_saddle_point_keeps_signs_and_conditions_far_out(made: Callable[[], Saddle]) -> None:
    premises, multipliers, squares = made()
    low = order(premises, AtLeast(5 * c / d, c), multipliers, squares)
    with pytest.raises(Refused, match=r"saddle point|smooth|as it has to be|wrong sign"):
        established(limit_order((low, tends(5 * c / d, ZERO)), d))


def falling_average(shift: sp.Expr) -> tuple[Theorem, ...]:
    """E[f(z + shift)] = 5 - shift, where f(x) = 5 - x for all x."""
    told = instantiate((taken(f(x), 5 - x, Ground.HYPOTHESIS, x),), {x: z + shift})
    averaged = average((told,), (z,))
    right = sides(averaged.statement)[1]
    return averaged, linear((), right, ((5 - shift, ONE), (-ONE, z))), moment((), z, 1)


@pytest.mark.parametrize("named", [False, True])
def test_a_condition_sees_what_is_said_of_a_function_within_an_average(named: bool) -> None:
    mean = Expectation(f(z + d), z)
    assumed = taken(p, mean) if named else under_a_root(mean)
    signs = (-1 / d, ((p / d, ONE),)) if named else (1 / d, ())
    premises = (assumed, *falling_average(d))
    low = order(premises, AtLeast(5 / d, ONE), (signs[0], -1 / d, -1 / d, 1 / d), signs[1])
    with pytest.raises(Refused, match=r"as it has to be|constant|never"):
        established(limit_order((low, tends(5 / d, ZERO)), d))


def of_slope(right: sp.Expr, at: sp.Expr) -> Theorem:
    """What the slope of sigma is at a value, where sigma(x) is a term for all x."""
    told = taken(sigma(x), right, Ground.HYPOTHESIS, x)
    return instantiate((differentiate((told,), x),), {x: at})


_slope, _zero_mean, _sign = DERIVATIVES[sigma], Expectation(z, z), sp.Function("h", real=True)
_below = sp.Function("h", negative=True)
_third = at_saddle(b, -x / d, sp.Symbol("Q_3", real=True), sp.Symbol("q_3", real=True))
_far, _along = (c * (d**2 + 1), -c * (d**2 + 1)), 1 / (d**2 * x**2 + 1)
# What is at least a constant by premises that hold at small values of d alone, though it vanishes as d grows.
LOST: dict[str, Callable[[], Bound]] = {
    "a name that lifts to a bound": lambda: (
        at_saddle(p, 1 / m - 5 / d, Q, rate), (c * m, -c * m), ((c * p * m, ONE),), 5 * c * m / d, c
    ),
    "a part that leads on the way": lambda: (
        (*at_saddle(p, x / d - 5 / d**3, Q, rate), *at_saddle(x, b / d - 1 / d, R, w), *_third),
        (*_far, -c * d, c * d, c, -c), ((_far[0] * p, ONE),), 5 * c / d + 5 * c / d**3, c,
    ),
    "a value by a name that moves": lambda: (
        (*at_saddle(p, d * x * _along - 1 / sp.sqrt(d), Q, rate), *at_saddle(x, -1 / d, R, w)),
        (c, -c, c * d * (d * x - 1) * _along / 2, -c * d * (d * x - 1) * _along / 2), ((c * p, ONE),),
        c / sp.sqrt(d), c / 2,
    ),
    "a coefficient that is an average of zero": lambda: (
        (*at_saddle_of(_zero_mean * x**2 / 2 + x * _small), moment((), z, 1)), (*_first, c * d * x), (), 5 * c / d, c
    ),
    "the slope of a function that an assumption gives": lambda: (
        (*at_saddle_of(_slope(a) * x**2 / 2 + x * _small), of_slope(ONE, a)), (*_first, c * d * x), (), 5 * c / d, c
    ),
    "a slope in a condition": lambda: (
        (under_a_root(_slope(d)), of_slope(5 * x - x**2 / 2, d)), (1 / d, -1 / d), (), 5 / d, ONE
    ),
    "a function below zero": lambda: (
        at_saddle(p, -_below(a) - 5 / d, Q, rate), (ONE, -ONE), ((p, ONE),), 5 / d, -_below(a)
    ),
    "a function that jumps": lambda: (
        (
            *at_saddle(x, _sign(t - 1) * _small - 1, Q, rate), *at_saddle(t, -x, R, w),
            instantiate((taken(_sign(y) * sp.Abs(y), y, Ground.HYPOTHESIS, y),), {y: t - 1}),
            instantiate((taken(_sign(y) ** 2, ONE, Ground.HYPOTHESIS, y),), {y: t - 1}),
        ),
        (*(2 * (c * d * _sign(t - 1), -c * d * _sign(t - 1))), -c * d * _sign(t - 1), c * d * (sp.Abs(t - 1) + _small)),
        ((c * d * sp.Abs(t - 1), ONE),), 5 * c / d, c,
    ),
    "a condition that squares meet at zero": lambda: (
        (*at_saddle(p, _small - b**2, Q, rate), under_a_root(-(b**2) - t**2)),
        (*_first, c * d), ((c * d * p, ONE), (c * d, t)), 5 * c / d, c,
    ),
}  # fmt: skip


def at_saddle_of(potential: sp.Expr) -> tuple[Theorem, ...]:
    return slope((define(Q, potential, ""),), x, rate, "dQ/dx"), taken(rate, ZERO)


@pytest.mark.parametrize("made", LOST.values(), ids=LOST)
def test_what_holds_at_small_values_alone_has_no_limit(made: Callable[[], Bound]) -> None:
    no_limit(made)
