"""What the kernel decides of signs, and what it leaves on record where it does not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sympy as sp

from giantsteps.derivations.kernel.algebra import (
    EXCHANGE,
    assume,
    congruence,
    differentiate,
    instantiate,
    order,
    rewrite,
    ring,
)
from giantsteps.derivations.kernel.averages import average, dilate, linear, moment, rotate
from giantsteps.derivations.kernel.calculus import same_slope
from giantsteps.derivations.kernel.conditions import meanings_of
from giantsteps.derivations.kernel.limits import (
    limit_compose,
    limit_exponential,
    limit_order,
    limit_rational,
    name_limit,
    squeeze,
)
from giantsteps.derivations.kernel.rational import vanishing
from giantsteps.derivations.kernel.search.assumptions import define
from giantsteps.derivations.kernel.statements import Assumption, AtLeast, Condition, Demand, Equation, Ground, Refused
from giantsteps.derivations.kernel.terms import negative, nonnegative, nonzero, positive
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.kernel.vacuity.established import established
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import DERIVATIVES, sigma
from giantsteps.derivations.language.points import above_somewhere, nonzero_somewhere
from tests.derivations.kernel.test_falsehoods import Bound, no_limit
from tests.derivations.kernel.test_held_constant import (
    Q,
    a,
    at_saddle,
    at_saddle_of,
    b,
    c,
    rate,
    t,
    taken,
    tends,
    under_a_root,
    y,
    z,
)

x, u = sp.symbols("x u", real=True)
p, q = sp.symbols("p q", positive=True)
n, m = sp.symbols("n m", negative=True)
h = sp.Symbol("h", nonnegative=True)
k = sp.Symbol("k", real=True, nonzero=True)
d = sp.Symbol("d", positive=True)
hole = sp.Symbol("hole", real=True)
f = sp.Function("f", real=True)
ZERO, ONE = sp.Integer(0), sp.Integer(1)


@pytest.mark.parametrize("term", [-n, n * m, -2 * n * p, p - n, sp.sqrt(-n)], ids=str)
def test_what_is_above_zero(term: sp.Expr) -> None:
    assert positive(term)
    assert nonnegative(term)
    assert nonzero(term)


BELOW = [
    -p, n, n * p, n - p, (n - p) * q, -p * (q - n) / (1 + h), -sp.sqrt(p * q) * (1 - n), -sp.exp(x) - h, -p**x,
    n * (p - sp.Rational(1, 3) * n), -(p - n) * Expectation(f(z) ** 2 + 1, z), -sp.Abs(x) - sp.pi * p, -sp.E - k**2,
]  # fmt: skip


@pytest.mark.parametrize("term", BELOW, ids=str)
def test_what_is_below_zero(term: sp.Expr) -> None:
    """Multiplied out it has no other sign, and no point has another."""
    assert negative(term)
    assert nonzero(term)
    assert not above_somewhere(term)


EITHER = [
    x, -x, k, f(x), -f(x), p - q, q - p, x * p - 1, sp.log(p), sp.sin(x), sp.cos(x) - x, sp.tanh(u), sp.erf(-u),
    sp.atan(x) * k, (p - q) ** 3, sp.sqrt(p) - q, x * Expectation(sp.exp(z), z), Expectation(f(z) * z - p, z) + 1,
]  # fmt: skip


@pytest.mark.parametrize("term", [-term for term in BELOW] + EITHER, ids=str)
def test_a_point_tells_what_is_not_below_zero(term: sp.Expr) -> None:
    """Where it has either sign, it or its opposite is above zero at one point at least."""
    assert above_somewhere(term) or above_somewhere(-term)
    assert not negative(term)
    assert not positive(sp.expand(-term))


def test_of_what_has_no_value_at_a_point_nothing_is_said() -> None:
    unknown = (
        sp.sqrt(n), sp.log(n), sp.Max(x, p), Expectation(sp.Max(z, p), z), n ** sp.Rational(1, 3),
        p + 1 / (d - sp.Dummy("d", positive=True)),
    )  # fmt: skip
    assert [term for term in unknown if above_somewhere(term)] == []
    # A sum of several is that of their values: each is above zero at all points, and one of opposite terms at none.
    assert above_somewhere(p, q)
    assert not above_somewhere(p, -p)


def test_a_zero_is_nowhere_found_to_be_none() -> None:
    """What is zero as a fraction of atoms, by what roots, exponentials and equal arguments obey, or divides by zero."""
    f = sp.Function("f", real=True)
    square, zero = (x + u) ** 2, (x + u) ** 2 - x**2 - 2 * x * u - u**2
    roots = sp.sqrt(p + q) ** 3 - p * sp.sqrt(p + q) - q * sp.sqrt(p + q)
    exponentials = sp.exp(x) * sp.exp(-u) - sp.exp(x - u, evaluate=False)
    alike = f(square) - f(square.expand())
    averaged = Expectation(f(square), u) - Expectation(f(square.expand()), u)
    for term in (zero, roots, exponentials, alike, averaged, 1 / zero + x, sp.Max(x, u) - 9, sp.sqrt(n)):
        assert term != 0
        assert not nonzero_somewhere(term)
    assert vanishing(averaged, (averaged,)) == frozenset()
    with pytest.raises(Refused, match="a denominator is zero"):
        vanishing(1 / zero + x, (x,))
    for term in (x - u, f(x) + p**2, Expectation(p * u**2, u)):
        assert nonzero_somewhere(term)
        assert vanishing(term, (term,)) is None


@pytest.mark.parametrize("term", [n, 2 * n, n * p, -n * m, n + p, -p, -n * x, -n + x, -x, sp.Integer(-2)], ids=str)
def test_what_is_not_decidedly_above_zero(term: sp.Expr) -> None:
    assert not positive(term)
    assert not nonnegative(term)


def test_a_pair_of_factors_below_zero_keeps_the_sign_of_the_rest() -> None:
    assert nonnegative(-n * h)
    assert not positive(-n * h)
    assert not nonnegative(n * h)


def test_what_stands_for_a_symbol_below_zero_is_below_zero() -> None:
    assumed = Assumption(Ground.LEMMA, "for a test", Equation(f(n), n), "none", frozenset({n}))
    theorem = assume((), assumed)
    assert instantiate((theorem,), {n: -p}).statement == Equation(f(-p), -p)
    for wrong in (p, sp.Integer(1), x, sp.Integer(0), -h, m + p):
        with pytest.raises(Refused):
            instantiate((theorem,), {n: wrong})


def test_a_name_below_zero_leaves_a_condition_on_what_it_means() -> None:
    assert not define(n, -p, "").conditions
    assert Condition(-x, Demand.NONNEGATIVE) in define(n, x, "").conditions
    assert Condition(x) in define(n, x, "").conditions
    with pytest.raises(Refused):
        established(define(n, p, ""))


def test_what_a_function_is_defined_for_is_no_name_that_it_rests_on() -> None:
    meanings = meanings_of(define(f(x), x * p + Expectation(u**2, u), "", x).assumptions)
    assert x not in meanings[f]
    assert p in meanings[f]


def cancelled(factor: sp.Expr) -> Theorem:
    """f(u) = u, by what divides both sides for all x, and leaves no trace in them."""
    assumed = Assumption(Ground.LEMMA, "for a test", Equation(factor * f(u), factor * u), "none", frozenset({x, u}))
    return congruence((assume((), assumed),), hole / factor, hole)


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
        established(limit_order((low, tends(left, ZERO), tends(right, c)), d))


def by_lemma(left: sp.Expr, right: sp.Expr = ZERO, *universal: sp.Symbol) -> Theorem:
    return taken(left, right, Ground.LEMMA, *universal)


def at_least(left: sp.Expr, right: sp.Expr, *universal: sp.Symbol) -> Theorem:
    assumed = Assumption(Ground.LEMMA, f"{left} and {right}", AtLeast(left, right), "for a test", frozenset(universal))
    return assume((), assumed)


# What is zero, though no normal form says so, and the theorem that it is.
HIDDEN: dict[str, tuple[sp.Expr, Callable[[sp.Expr], Theorem]]] = {
    "an identity of sine and cosine": (
        sp.sin(b) ** 2 + sp.cos(b) ** 2 - 1, lambda term: same_slope((), term, ZERO, b, ZERO)
    ),
    "two names of a larger one": (sp.Abs(b) - sp.Max(b, -b), by_lemma),
    "a multiple of such a one": (t * (sp.Abs(b) - sp.Max(b, -b)), by_lemma),
    "an average that symmetry makes zero": (Expectation(z * f(z**2), z), by_lemma),
    "the same in a denominator": (Expectation(z / (1 + f(z**2) ** 2), z), by_lemma),
    "the average of a difference": (Expectation(f(z) - f(-z), z), by_lemma),
    "an average over another variable": (Expectation(u * f(z), u, z), by_lemma),
    "Stein's lemma": (Expectation(DERIVATIVES[sigma](z) - z * sigma(z), z), by_lemma),
    "a rotation": (Expectation(f((3 * z + 4 * u) / 5), u, z) - Expectation(f(z), z), by_lemma),
    "a function that a lemma makes zero": (f(a), lambda _: instantiate((by_lemma(f(x), ZERO, x),), {x: a})),
    "the average of such a one": (Expectation(f(z), z), by_lemma),
    "a slope that a lemma makes zero": (
        DERIVATIVES[sigma](a), lambda _: instantiate((by_lemma(DERIVATIVES[sigma](x), ZERO, x),), {x: a})
    ),
}  # fmt: skip
SMALL = 1 / d - 5 / d**2


def as_coefficient(term: sp.Expr, zero: Theorem) -> Theorem:
    """0 >= c by T x + 1/d - 5/d^2 = 0 for T = 0: so at small values of d alone."""
    premises = (*at_saddle_of(term * x**2 / 2 + x * SMALL), zero)
    low = order(premises, AtLeast(5 * c / d, c), (c * d, -c * d, c * d * x))
    return limit_order((low, tends(5 * c / d, ZERO)), d)


def as_value(term: sp.Expr, zero: Theorem) -> Theorem:
    """0 >= c by p = T^2 - 1/d + 5/d^2 for T = 0."""
    premises = (*at_saddle(p, SMALL - term**2, Q, rate), zero)
    low = order(premises, AtLeast(5 * c / d, c), (c * d, -c * d, -c * d * term), ((c * d * p, ONE),))
    return limit_order((low, tends(5 * c / d, ZERO)), d)


@pytest.mark.parametrize("falsehood", [as_coefficient, as_value])
@pytest.mark.parametrize("hidden", HIDDEN)
def test_what_is_zero_unseen_is_not_free(hidden: str, falsehood: Callable[[sp.Expr, Theorem], Theorem]) -> None:
    term, zero = HIDDEN[hidden]
    known = zero(term)
    with pytest.raises(Refused):
        established(falsehood(term, known))


FALLS = by_lemma(f(x), 5 - x, x)
_MEAN, _AVERAGE, _POWER = Expectation(f(z), z), Expectation(1 / (d * f(z) ** 2 + 1), z), d ** sp.Rational(3, 4)
_AT_LEAST, _TWICE = 1 / (2 + 2 * sp.sqrt(p)), c * (2 + 2 * sp.sqrt(d))
# f^2 >= z^2 makes E[1/(1 + d f^2)] of the order of 1/sqrt(d) at most, and f = z so large.
_KNOWN, _JUMP = Expectation(sp.erf(b * z) ** 2, z), sp.ceiling(sp.Abs(b))
_SLOW = instantiate((at_least(Expectation(1 / (p * f(z) ** 2 + 1), z), _AT_LEAST, p),), {p: d})
_WIDE = 1 + 2 * b**2
# Bounds from below that hold at small values of d alone, as in `LOST`.
BEYOND: dict[str, Callable[[], Bound]] = {
    "a condition on a function that a lemma gives": lambda: (
        (under_a_root(f(d)), instantiate((FALLS,), {x: d})), (1 / d, -1 / d), (), 5 / d, ONE
    ),
    "the same, for what is not zero": lambda: (
        (
            at_least(f(d), ZERO),
            congruence((instantiate((by_lemma(f(x) ** 2, 2 * (5 - x) * f(x), x),), {x: d}),), hole / f(d), hole),
        ),
        (1 / (2 * d), -1 / (2 * d)), (), 5 / d, ONE,
    ),
    "a condition on an average whose first part is zero": lambda: (
        (
            under_a_root(Expectation(d**2 * z + 5 - d, z)),
            linear((), Expectation(d**2 * z + 5 - d, z), ((d**2, z), (5 - d, ONE))), moment((), z, 1),
        ),
        (1 / d, -1 / d, -d), (), 5 / d, ONE,
    ),
    "a condition that makes a function zero": lambda: (
        (*at_saddle(p, SMALL - f(a) ** 2, Q, rate), under_a_root(-(f(a) ** 2) - b**2)),
        (c * d, -c * d, c * d), ((c * d * p, ONE), (c * d, b)), 5 * c / d, c,
    ),
    "a condition that makes an average zero": lambda: (
        (*at_saddle(p, SMALL - _MEAN**2, Q, rate), under_a_root(-(_MEAN**2) - b**2)),
        (c * d, -c * d, c * d), ((c * d * p, ONE), (c * d, b)), 5 * c / d, c,
    ),
    "a condition that an exponential meets at zero": lambda: (
        (
            *at_saddle(p, SMALL - b**2, Q, rate), under_a_root(1 - sp.exp(b**2)),
            instantiate((at_least(sp.exp(x), 1 + x, x),), {x: b**2}),
        ),
        (c * d, -c * d, c * d, c * d), ((c * d * p, ONE),), 5 * c / d, c,
    ),
    "a condition that an average meets at one": lambda: (
        (*at_saddle(p, SMALL - (_MEAN - 1) ** 2, Q, rate), under_a_root(2 * _MEAN - 1 - _MEAN**2 - b**2)),
        (c * d, -c * d, c * d), ((c * d * p, ONE), (c * d, b)), 5 * c / d, c,
    ),
    "a condition that the average of a known function meets at zero": lambda: (
        (
            *at_saddle(p, SMALL - b**2, Q, rate), under_a_root(1 - sp.exp(_KNOWN)),
            instantiate((at_least(sp.exp(x), 1 + x, x),), {x: _KNOWN}), at_least(_KNOWN, b**2 / _WIDE),
        ),
        (c * d, -c * d, *(3 * (c * d * _WIDE,))), ((c * d * p, ONE),), 5 * c / d, c,
    ),
    "a condition that a function that jumps meets at zero": lambda: (
        (
            *at_saddle(p, SMALL - b**2, Q, rate), under_a_root(ONE / 2 - _JUMP), at_least(b**2 * (_JUMP - 1), ZERO)
        ),
        (c * d, -c * d, 2 * c * d * b**2, 2 * c * d), ((c * d * p, ONE),), 5 * c / d, c,
    ),
    "a condition on the average of a known function of what grows": lambda: (
        (
            under_a_root(ONE / 2 - Expectation(sp.erf(d * z) ** 2, z)),
            instantiate((at_least(Expectation(sp.erf(p * z) ** 2, z), 1 - 5 / p, p),), {p: d}),
        ),
        (ONE, ONE), (), 5 / d, ONE / 2,
    ),
    "conditions that a function meets at one value": lambda: (
        (under_a_root(sp.expand(-((f(d) - p) ** 2))), under_a_root(sp.expand(-((f(d) - 1 / d) ** 2)))),
        (2 * c, 2 * c), ((c, 2 * f(d) - p - 1 / d), (c, 1 / d)), 2 * c * p / d, c * p**2,
    ),
    "the same, by a name for the function": lambda: (
        (under_a_root(sp.expand(-((y - p) ** 2) - (y - 1 / d) ** 2)), taken(y, f(d))),
        (2 * c, ZERO), ((c, 2 * y - p - 1 / d), (c, 1 / d)), 2 * c * p / d, c * p**2,
    ),
    "a value by a function that moves": lambda: (
        (*at_saddle(p, -f(c), Q, rate), taken(f(c), 5 - d)),
        (c / d, -c / d, -c / d), ((c * p / d, ONE),), 5 * c / d, c,
    ),
    "an average of another order": lambda: (
        (*at_saddle(p, _AVERAGE - 1 / _POWER, Q, rate), _SLOW),
        (_TWICE, -_TWICE, _TWICE), ((_TWICE * p, ONE),), _TWICE / _POWER, c,
    ),
    "the same in a condition": lambda: (
        (under_a_root(1 / _POWER - _AVERAGE), _SLOW), (_TWICE, _TWICE), (), _TWICE / _POWER, c
    ),
}  # fmt: skip


@pytest.mark.parametrize("made", BEYOND.values(), ids=BEYOND)
def test_what_conditions_and_lemmas_bind_is_not_free(made: Callable[[], Bound]) -> None:
    no_limit(made)


def test_an_exponential_is_not_weighed_against_a_power() -> None:
    """5 exp(-d) >= 1/d holds at small values of d alone."""
    grows = instantiate((at_least(sp.exp(x / 2), x / 2, x),), {x: d})
    low = order(
        (*at_saddle(p, 1 / d - 5 * sp.exp(-d), Q, rate), grows),
        AtLeast(10 * c * sp.exp(-d / 2), c), (c * d, -c * d, 10 * c * sp.exp(-d)), ((c * d * p, ONE),),
    )  # fmt: skip
    to_zero = limit_compose((limit_exponential((), ONE / 2, d),), 10 * c * hole, (hole,))
    with pytest.raises(Refused, match="not rational"):
        established(limit_order((low, to_zero), d))


@pytest.mark.parametrize(
    "premises",
    [
        at_saddle(p, SMALL - Expectation(f(z) ** 2, z), Q, rate),
        at_saddle(p, SMALL - 1 + Expectation(f(z) ** 2, z), Q, rate),
    ],
    ids=["an average of a square", "small enough a function"],
)
def test_functions_of_which_nothing_is_said_are_chosen(premises: tuple[Theorem, ...]) -> None:
    low = order(premises, AtLeast(5 / d, 1 / d), (ZERO,) * len(premises), ((4 / d, ONE),))
    assert limit_order((low, tends(5 / d, ZERO), tends(1 / d, ZERO)), d).assumptions == low.assumptions


def test_what_is_shown_not_to_be_negative_is_no_condition_of_a_name() -> None:
    """E[f^2] - E[f]^2 is not negative, by the average of (f - x)^2 at x = E[f]."""
    spread = Expectation(f(z) ** 2, z) - Expectation(f(z), z) ** 2
    square = average((order((), AtLeast((f(z) - x) ** 2, ZERO), (), ((ONE, f(z) - x),)),), (z,))
    parts = ((ONE, f(z) ** 2), (-2 * x, f(z)), (x**2, ONE))
    for_all = rewrite((square, linear((), Expectation((f(z) - x) ** 2, z), parts)))
    shown = order((instantiate((for_all,), {x: Expectation(f(z), z)}),), AtLeast(spread, ZERO), (ONE,))
    limit = tends(spread + 1 / d, spread)
    asked = Condition(spread, Demand.NONNEGATIVE)
    assert asked in name_limit((limit,), h, "a limit").conditions
    assert asked not in name_limit((limit, shown), h, "a limit").conditions
    for other in (square, order((), AtLeast(spread + x**2, spread), (), ((ONE, x),)), limit):
        with pytest.raises(Refused, match="shown beside"):
            name_limit((limit, other), h, "a limit")


def test_what_leads_keeps_its_sign_where_roots_are_taken_of_fractions() -> None:
    """-d (x/u)^(3/2) - y^2 is not negative: for no d, whatever the signs of x and u."""
    power = (x / u) ** sp.Rational(3, 2)
    low = order((under_a_root(-d * power - y**2),), AtLeast(1 / d, power), (1 / d,), ((1 / d, ONE), (1 / d, y)))
    at_end = limit_order((low, tends(1 / d, ZERO)), d)
    for value in (ONE, -ONE):
        with pytest.raises(Refused):
            established(instantiate((at_end,), dict.fromkeys((x, u), value)))


def test_what_leads_in_a_condition_is_held_constant() -> None:
    """f(y d - 1) -> 0 where y is not zero, for f that is zero but at zero: not for y = 1/d."""
    there = y * d - 1
    zero = instantiate((by_lemma(x * f(x), ZERO, x),), {x: there})
    zero = ring((zero,), Equation(f(there) + 1 / there, 1 / there), (1 / there,))
    above = order((zero,), AtLeast(1 / d, f(there)), (-ONE,), ((1 / d, ONE),))
    below = order((zero,), AtLeast(f(there), -1 / d), (ONE,), ((1 / d, ONE),))
    limit = squeeze((above, below, tends(1 / d, ZERO), tends(-1 / d, ZERO)))
    assert {Condition(y), Condition(y, Demand.CONSTANT, d)} <= limit.conditions
    with pytest.raises(Refused, match="held constant"):
        established(rewrite((limit, define(y, 1 / d, ""))))
