"""Rules of inequalities: what they make, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sympy as sp

from giantsteps.derivations.kernel.algebra import order, ring
from giantsteps.derivations.kernel.inequalities import (
    antisymmetric,
    equal_roots,
    largest,
    multiply,
    root_of_zero,
    specialise,
)
from giantsteps.derivations.kernel.limits import limit_rational
from giantsteps.derivations.kernel.search.assumptions import define
from giantsteps.derivations.kernel.statements import AtLeast, Condition, Demand, Equation, Refused
from giantsteps.derivations.kernel.terms import nonnegative, positive
from giantsteps.derivations.kernel.theorem import Theorem, replay
from giantsteps.derivations.kernel.vacuity.established import established
from tests.shared.assumptions import above, taken

a, b, c, e, x = sp.symbols("a b c e x", real=True)
p, q, d = sp.symbols("p q d", positive=True)
h = sp.Symbol("h", nonnegative=True)
ZERO, ONE = sp.Integer(0), sp.Integer(1)


def at_least(left: sp.Expr, right: sp.Expr = ZERO) -> Theorem:
    return above(left, right)


def equal(left: sp.Expr, right: sp.Expr = ZERO) -> Theorem:
    return taken(left, right)


VANISHING = limit_rational((), a / d, ZERO, d)
# (1 + h)^2 >= 1 + 2 h for all h >= 0, and sqrt(h) sqrt(h) = h.
BERNOULLI = order((), AtLeast((1 + h) ** 2, 1 + 2 * h), (), ((ONE, h),))
ROOT = ring((), Equation((sp.sqrt(h) + 1) ** 2, h + 2 * sp.sqrt(h) + 1))


def test_what_the_rules_make() -> None:
    made = {
        multiply((at_least(a, b), at_least(c, e))): AtLeast((a - b) * (c - e), ZERO),
        antisymmetric((at_least(a, b), at_least(b, a))): Equation(a, b),
        largest((), (a, b, ONE)): Equation((sp.Max(1, a, b) - a) * (sp.Max(1, a, b) - b) * (sp.Max(1, a, b) - 1), ZERO),
        largest((), (a, b, ONE), 1): AtLeast(sp.Max(1, a, b), b),
        root_of_zero((equal((a - b) ** 3),), a - b, 3): Equation(a - b, ZERO),
        equal_roots((), Equation(sp.sqrt(1 - (p / (p + q)) ** 2), sp.sqrt(q * (2 * p + q)) / (p + q)), 2): Equation(
            sp.sqrt(1 - (p / (p + q)) ** 2), sp.sqrt(q * (2 * p + q)) / (p + q)
        ),
        equal_roots((equal(p**3, q**3),), Equation(p, q), 3): Equation(p, q),
        specialise((BERNOULLI, at_least(a - b)), h): AtLeast((1 + a - b) ** 2, 1 + 2 * (a - b)),
    }
    for theorem, statement in made.items():
        assert replay(theorem).statement == statement


def test_the_largest_of_terms_has_the_sign_of_any() -> None:
    assert positive(sp.Max(1, a, b))
    assert nonnegative(sp.Max(a, h, evaluate=False))
    assert not positive(sp.Max(a, h, evaluate=False))
    assert not nonnegative(sp.Max(a, b))


def test_a_special_case_holds_where_its_sign_does() -> None:
    sign = order((equal(a / b, ONE),), AtLeast(a - b, ZERO), (b,))
    special = specialise((ROOT, sign), h)
    assert special.assumptions == sign.assumptions
    assert Condition(b) in special.conditions
    # A root of it needs its sign anew: the term may stand for something else later.
    assert Condition(a - b, Demand.NONNEGATIVE) in special.conditions


ATTACKS: dict[str, dict[str, Callable[[], Theorem]]] = {
    "multiply": {
        "an equation": lambda: multiply((at_least(a), equal(b))),
        "a limit": lambda: multiply((at_least(a), VANISHING)),
        "a term that is no product": lambda: multiply((VANISHING, VANISHING)),
    },
    "antisymmetric": {
        "one inequality twice": lambda: antisymmetric((at_least(a, b), at_least(a, b))),
        "other terms": lambda: antisymmetric((at_least(a, b), at_least(b, c))),
        "what is the same on both sides": lambda: antisymmetric((at_least(a, a), at_least(a, a))),
        "an equation": lambda: antisymmetric((at_least(a, b), equal(b, a))),
    },
    "largest": {
        "of nothing": lambda: largest((), ()),
        "of one": lambda: largest((), (a,), 0),
        "of what is known to be the largest": lambda: largest((), (h, ZERO), 1),
        "a place that is not there": lambda: largest((), (a, b), 2),
        "a place from behind": lambda: largest((), (a, b), -1),
        "a complex number": lambda: largest((), (a, sp.sqrt(-1 - p)), 1),
        "infinity": lambda: largest((), (a, sp.oo, b), 0),
        "a floating-point number": lambda: largest((), (a, sp.Float(0.5)), 1),
    },
    "root_of_zero": {
        "an inequality": lambda: root_of_zero((at_least(a**2),), a, 2),
        "another base": lambda: root_of_zero((equal(a**2 * b),), a, 2),
        "another power": lambda: root_of_zero((equal(a**2),), a, 3),
        "the zeroth power": lambda: root_of_zero((equal(a**2, a**2),), a, 0),
        "a power that is no number": lambda: root_of_zero((equal(a**2),), a, sp.Rational(1, 2)),
        "a sum of powers": lambda: root_of_zero((equal(a**2 + b**2),), a + b, 2),
    },
    "equal_roots": {
        "a number and its negative": lambda: equal_roots((equal(a**2, b**2),), Equation(a, b), 2),
        "a root and a negative number": lambda: equal_roots((), Equation(sp.sqrt(p**2 + 2 * p * q + q**2), -p - q), 2),
        "a root and what may be negative": lambda: equal_roots((), Equation(sp.sqrt((a + b) ** 2), a + b), 2),
        "an odd root of what may be negative": lambda: equal_roots(
            (), Equation(sp.root(a + b, 3, evaluate=False), sp.root(a + b + p, 3)), 3
        ),
        "powers that differ": lambda: equal_roots((), Equation(sp.sqrt(1 + p), 1 + p), 2),
        "the zeroth power": lambda: equal_roots((), Equation(p, q), 0),
        "a power that is no number": lambda: equal_roots((), Equation(p, q), sp.Rational(1, 2)),
        "what is the same on both sides": lambda: equal_roots((), Equation(p, p), 2),
        "an inequality": lambda: equal_roots((at_least(p**2, q**2),), Equation(p, q), 2),
        "the premise the other way round": lambda: equal_roots((equal(q**2, p**2 + p),), Equation(p, q), 2),
    },
    "specialise": {
        "a term without a sign": lambda: specialise((BERNOULLI, at_least(a, b)), h),
        "a term that may not be negative, turned round": lambda: specialise((BERNOULLI, at_least(ZERO, a)), h),
        "a sign that is an equation": lambda: specialise((BERNOULLI, equal(a)), h),
        "a symbol that has to be positive": lambda: specialise(
            (order((), AtLeast(p + a**2, ZERO), (), ((p, ONE), (ONE, a))), at_least(b)), p
        ),
        "a symbol without a sign": lambda: specialise((at_least(a**2), at_least(b)), a),
        "a symbol that a hypothesis speaks of": lambda: specialise((at_least(h, ONE), at_least(a)), h),
        "a symbol that a definition speaks of": lambda: specialise((define(x, h + 1, ""), at_least(a)), h),
        "a limit": lambda: specialise((limit_rational((), h / d, ZERO, d), at_least(a)), h),
        "what may be negative as a term": lambda: established(specialise((BERNOULLI, at_least(sp.sqrt(-1 - p))), h)),
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "attack"), [(rule, attack) for rule, attacks in ATTACKS.items() for attack in attacks]
)
def test_an_attack_is_refused(rule: str, attack: str) -> None:
    with pytest.raises(Refused):
        ATTACKS[rule][attack]()
