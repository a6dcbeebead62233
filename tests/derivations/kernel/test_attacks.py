"""Attacks on every rule of the kernel: each asks for a conclusion that does not follow, and is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sympy as sp

from giantsteps.derivations.kernel import calculus, inequalities, limits  # noqa: F401  (their rules are listed, too)
from giantsteps.derivations.kernel.algebra import assume, congruence, differentiate, instantiate, order, rewrite, ring
from giantsteps.derivations.kernel.averages import (
    SAME,
    average,
    dilate,
    independent,
    iterated,
    linear,
    moment,
    rotate,
    stein,
    translate,
)
from giantsteps.derivations.kernel.limits import limit_average, limit_compose, limit_rational, limit_unique, name_limit
from giantsteps.derivations.kernel.search.assumptions import define
from giantsteps.derivations.kernel.statements import AtLeast, Condition, Demand, Equation, Ground, Refused, Tends
from giantsteps.derivations.kernel.theorem import RULES, Theorem
from giantsteps.derivations.kernel.vacuity.established import established
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import g, sigma, sigma_check, sigma_prime, sigma_second
from tests.shared.assumptions import above, said, taken

a, b, x, y, z, t = sp.symbols("a b x y z t", real=True)
p, n, d, m, c = sp.symbols("p n d m c", positive=True)
w = sp.Symbol("w", nonnegative=True)
hole = sp.Symbol("hole", real=True)
f = sp.Function("f", real=True)
whole, negative = sp.Symbol("k", integer=True), sp.Symbol("k", nonpositive=True)
ZERO, ONE, TWO = sp.Integer(0), sp.Integer(1), sp.Integer(2)


def tends(expression: sp.Expr, value: sp.Expr) -> Theorem:
    return limit_rational((), expression, value, d)


def infinite_average() -> Theorem:
    """By Stein's lemma, E[z^2 exp(z^2)] = -E[exp(z^2)]."""
    f = z * sp.exp(z**2)
    return stein((), Expectation(z * f, z), z, f)


def vanishing_factor() -> Theorem:
    """E[a z^2] = 0 where a = 0, so E[z^2] = E[a z^2]/a = 0."""
    none = average((congruence((define(a, ZERO, ""),), hole * z**2, hole),), (z,))
    return rewrite((linear((), Expectation(z**2, z), ((1 / a, a * z**2),)), none))


def vanishing_value() -> Theorem:
    """x (y + t) = x y + x t at x = 1/a, y = a b, t = a c, where a = 0: b + c = 0."""
    split = ring((), Equation(x * (y + t), x * y + x * t))
    at = instantiate((split,), {x: 1 / a, y: a * b, t: a * c})
    return rewrite((at, ring((define(a, ZERO, ""),), Equation(a * b + a * c, ZERO), (b + c,))))


def jump() -> Theorem:
    """0^(x^2) is one at zero and zero elsewhere, so its average at 1/d does not tend to that at zero."""
    at_limit = limit_average((tends(1 / d, ZERO),), Expectation(z**2 * f(hole), z), (hole,))
    spot = define(f(x), sp.Pow(0, x**2), "", x)
    return rewrite((at_limit, instantiate((spot,), {x: 1 / d})))


def modelled(left: sp.Expr, right: sp.Expr) -> Theorem:
    return taken(left, right, ground=Ground.MODEL)


# What each rule has to refuse: a name for the attack, and what it tries.
ATTACKS: dict[str, dict[str, Callable[[], Theorem]]] = {
    "assume": {
        "what a rule's lemma says of some functions, for all": lambda: assume((), SAME),
        "a slope that a function has already": lambda: define(sigma_prime(x), x, "", x),
        "another slope than that of the name": lambda: established(define(sigma_check(x), x**2, "", x)),
        "a name that SymPy knows to be whole": lambda: define(whole, sp.Rational(1, 2), ""),
        "a name that SymPy knows to be negative": lambda: define(negative, ONE, ""),
        "a function of nothing by itself": lambda: define(f(), f() + 1, ""),
        "a negative number for a positive name": lambda: established(define(c, -ONE, "")),
        "a function that SymPy evaluates": lambda: define(a, sp.sign(x), ""),
        "zero to a power that may be zero": lambda: define(f(x), sp.Pow(0, x**2), "", x),
        "a logarithm of what is negative": lambda: established(define(y, sp.log(-ONE - p, evaluate=False), "")),
        "a limit without knowing that it exists": lambda: said(Tends(d, a, d), ground=Ground.DEFINITION),
        "a limit that depends on its variable, assumed": lambda: said(Tends(a / d, 1 / d, d)),
        "a function that stands for any value": lambda: taken(f(a), ZERO, f),  # type: ignore[arg-type]
        "a limit for all values of what moves": lambda: established(rewrite(
            (instantiate((said(Tends(f(x) / d, ZERO, d), x),), {x: y}), define(y, d**2, ""))
        )),
        "the same by a lemma": lambda: established(rewrite(
            (instantiate((said(Tends(x / d, ZERO, d), ground=Ground.LEMMA),), {x: y}), define(y, d**2, ""))
        )),
        "a name for itself": lambda: define(a, a + 1, ""),
        "a name for all values of a symbol": lambda: define(c, x, "", x),
        "a function of one symbol twice": lambda: define(f(x, x), x, "", x),
        "a function of a constant": lambda: define(f(ZERO), ONE, ""),
        "a term": lambda: define(a + b, ONE, ""),
        "a negative number under a positive name, then 1/sqrt of it": lambda: ring(
            (define(c, -p, ""),), Equation(sp.sqrt(-p), a), (ONE,)
        ),
        "an inequality": lambda: said(AtLeast(a, b), ground=Ground.DEFINITION),
        "two meanings": lambda: ring((define(a, ONE, ""), define(a, TWO, "")), Equation(ONE, TWO), (-ONE, ONE)),
        "a circle": lambda: ring((define(a, b, ""), define(b, a + 1, "")), Equation(ZERO, ONE), (ONE, ONE)),
        "a floating-point number": lambda: define(a, sp.Float(0.5), ""),
        "infinity": lambda: define(a, sp.oo, ""),
        "an integral": lambda: define(a, sp.Integral(f(x), x), ""),
    },
    "ring": {
        "an average over a positive variable": lambda: ring(
            (moment((), p, 1),), Equation(ONE, ZERO), (1 / Expectation(p, p),)
        ),
        "one is two": lambda: ring((), Equation(ONE, TWO)),
        "what is the same on both sides": lambda: ring((), Equation(a + b, b + a)),
        "a sign": lambda: ring((), Equation((a - b) ** 2, a**2 + 2 * a * b + b**2)),
        "one is zero, by dividing by a - b where a = b": lambda: ring(
            (taken(a, b),), Equation(ONE, ZERO), (1 / (a - b),)
        ),
        "the same, hidden in a square": lambda: ring((taken(a, b),), Equation(ONE, ZERO), ((a + b) / (a**2 - b**2),)),
        "a division by what is zero where both its parts are": lambda: ring(
            (taken(w + a**2, ZERO),), Equation(ONE, ZERO), (1 / (w + a**2),)
        ),
        "a wrong cofactor": lambda: ring((taken(a, b),), Equation(a**2, b**2), (a - b,)),
        "too few cofactors": lambda: ring((taken(a, b),), Equation(a**2, b**2)),
        "a root is its negative": lambda: ring((), Equation(sp.sqrt(p + 1), -sp.sqrt(p + 1))),
        "the root of a square": lambda: ring((), Equation(sp.sqrt(x**2 + 2 * x + 1), x + 1)),
        "the root of something negative": lambda: established(ring(
            (), Equation((sp.sqrt(-1 - p) + 1) ** 2, 2 * sp.sqrt(-1 - p) - p)
        )),
        "a denominator that is zero by algebra": lambda: ring(
            (), Equation(1 / ((a + b) ** 2 - a**2 - 2 * a * b - b**2), a)
        ),
        "averages of different functions": lambda: ring((), Equation(Expectation(sigma(z), z), Expectation(g(z), z))),
        "a limit among the premises": lambda: ring((tends(1 / d, ZERO),), Equation(1 / d, ZERO), (ONE,)),
    },
    "instantiate": {
        "a function, and so forget that it was constant": lambda: rewrite(
            (
                instantiate((tends(f(a) / d, ZERO),), {f: ONE}),
                instantiate((define(f(x), x * d, "", x),), {x: a}),
            )
        ),
        "a quotient by zero that cancels": lambda: established(vanishing_value()),
        "a symbol that a hypothesis speaks of": lambda: instantiate((taken(a, ONE),), {a: TWO}),
        "a symbol that a definition speaks of": lambda: instantiate((define(a, b, ""),), {b: TWO}),
        "a negative value for a positive symbol": lambda: instantiate(
            (ring((), Equation((p + 1) ** 2, p**2 + 2 * p + 1)),), {p: -ONE}
        ),
        "an undecided value for a positive symbol": lambda: instantiate(
            (ring((), Equation((p + 1) ** 2, p**2 + 2 * p + 1)),), {p: x}
        ),
        "zero where nothing may be divided": lambda: instantiate(
            (ring((), Equation((x**2 - x) / x**2, (x - 1) / x)),), {x: ZERO}
        ),
        "the variable of a limit": lambda: instantiate((tends(a / d, ZERO),), {d: ONE}),
        "what grows for what was constant": lambda: instantiate((tends(a / d, ZERO),), {a: d}),
    },
    "rewrite": {
        "what was constant by what a model lets grow": lambda: established(rewrite(
            (tends(n / (n + d), ZERO), modelled(n, a**2 * d))
        )),
        "the same, with the model solved for a product": lambda: established(rewrite(
            (tends(n / (n + d), ZERO), ring((modelled(n / d, m),), Equation(n, m * d), (d,)))
        )),
        "what was constant by a slope that grows": lambda: established(rewrite(
            (
                tends(sigma_prime(a) / d, ZERO),
                instantiate((differentiate((define(sigma(x), x * d, "", x),), x),), {x: a}),
            )
        )),
        "what grows by its value": lambda: established(rewrite((tends(1 / d, ZERO), define(d, sp.Integer(5), "")))),
        "what is not there": lambda: rewrite((taken(a, b), taken(x, y))),
        "under an average, by a hypothesis on its variable": lambda: rewrite(
            (taken(Expectation(f(z), z), a), taken(f(z), g(z)))
        ),
        "the variable of an average": lambda: rewrite((taken(Expectation(f(z), z), a), taken(z, ZERO, z))),
        "what was constant by what grows": lambda: established(
            rewrite((tends(n / (n + d), ZERO), define(n, a**2 * d, "")))
        ),
        "the same, hidden in a factor": lambda: established(
            rewrite((tends(n * (d - 1) / d**2, ZERO), define(n, m * d, "")))
        ),
        "a limit that depends on its variable": lambda: rewrite((tends(a / d + b, b), taken(b, d))),
    },
    "congruence": {
        "a factor that is zero, cancelled": lambda: instantiate(
            (congruence((ring((), Equation(a * (x + y), a * x + a * y)),), hole / a, hole),), {a: ZERO}
        ),
        "a place under an average": lambda: congruence((taken(a, b),), Expectation(f(z) * hole, z), hole),
        "a context without the place": lambda: congruence((taken(a, b),), x, hole),
        "a division by zero": lambda: congruence((taken(a, ZERO),), 1 / hole, hole),
    },
    "differentiate": {
        "a power that may not exist": lambda: differentiate((define(f(x), x**y, "", x),), x),
        "in a symbol that a hypothesis speaks of": lambda: differentiate((taken(x**2, x),), x),
        "in a symbol that a definition speaks of": lambda: differentiate((define(a, x**2, ""),), x),
        "a function whose derivative has no name": lambda: differentiate((taken(f(x), x, x),), x),
        "a limit": lambda: differentiate((tends(x / d, ZERO),), x),
    },
    "order": {
        "a negative weight": lambda: order((), AtLeast(-(a**2), ZERO), (), ((-ONE, a),)),
        "a weight without a sign": lambda: order((), AtLeast(b * a**2, ZERO), (), ((b, a),)),
        "a square that is not there": lambda: order((), AtLeast(a**2 + b, ZERO), (), ((ONE, a),)),
        "an inequality turned round": lambda: order(
            (order((), AtLeast(a**2, ZERO), (), ((ONE, a),)),), AtLeast(-(a**2), ZERO), (-ONE,)
        ),
        "a limit for an inequality": lambda: order((tends(a / d, ZERO),), AtLeast(a / d, ZERO), (ONE,)),
        "a base that is not real": lambda: order((), AtLeast(-ONE - p, ZERO), (), ((ONE, sp.sqrt(-1 - p)),)),
    },
    "average": {
        "a variable with a sign": lambda: average((order((), AtLeast(p, ZERO), (), ((p, ONE),)),), (p,)),
        "one of two": lambda: average((order((), AtLeast(p * z**2, ZERO), (), ((p, z),)),), (z, p)),
        "one variable twice": lambda: average((ring((), Equation(z**2 - 1, (z - 1) * (z + 1))),), (z, z)),
        "a variable that is a term": lambda: average((define(f(x), x + 1, "", x),), (f(x),)),
        "what a hypothesis says of the variable": lambda: average((taken(f(z), a),), (z,)),
        "a limit": lambda: average((tends(f(z) / d, ZERO),), (z,)),
        "what holds where nothing is divided by zero": lambda: average(
            (ring((), Equation((z**2 - z) / z**2, (z - 1) / z)),), (z,)
        ),
    },
    "linear": {
        "a factor that is zero": lambda: established(vanishing_factor()),
        "a coefficient that is averaged over": lambda: linear((), Expectation(z * f(z), z), ((z, f(z)),)),
        "parts that do not add up": lambda: linear((), Expectation(f(z) + g(z), z), ((ONE, f(z)), (TWO, g(z)))),
        "no average": lambda: linear((), a + b, ((ONE, a), (ONE, b))),
        "parts without an average": lambda: linear((), Expectation(z, z), ((ONE, (z**2 + 1) / z), (-ONE, 1 / z))),
    },
    "independent": {
        "a factor over what may be zero": lambda: independent((), Expectation(z * t, z, t), z**2 * t, 1 / z),
        "factors of one variable": lambda: independent((), Expectation(f(z) * g(z), z), f(z), g(z)),
        "factors that share a variable": lambda: independent((), Expectation(f(z) * g(z + t), z, t), f(z), g(z + t)),
        "a sum": lambda: independent((), Expectation(f(z) + g(t), z, t), f(z), g(t)),
    },
    "moment": {
        "order zero": lambda: moment((), z, 0),
        "a negative order": lambda: moment((), z, -2),
        "an order that is no number": lambda: moment((), z, sp.Rational(1, 2)),
    },
    "stein": {
        "a quotient by the variable": lambda: stein((), Expectation(sp.exp(z), z), z, sp.exp(z) / z),
        "an average that is infinite": lambda: established(infinite_average()),
        "a factor that is not there": lambda: stein((), Expectation(f(z), z), z, f(z)),
        "a variable that is not averaged over": lambda: stein((), Expectation(t * sigma(z), z), t, sigma(z)),
        "a function whose derivative has no name": lambda: stein((), Expectation(z * f(z), z), z, f(z)),
        "the second derivative of one that has but two": lambda: stein(
            (), Expectation(z * sigma_second(z), z), z, sigma_second(z)
        ),
    },
    "rotate": {
        "a stretch": lambda: rotate((), Expectation(f(z), z), (z,), ((TWO,),)),
        "an average that does not exist": lambda: established(rotate((), Expectation(z**-2, z), (t,), ((ONE,),))),
        "a shear": lambda: rotate((), Expectation(f(z) * g(t), z, t), (z, t), ((ONE, ZERO), (ONE, ZERO))),
        "a matrix of another size": lambda: rotate((), Expectation(f(z) * g(t), z, t), (z,), ((ONE,), (ONE,))),
        "a name that is free in the average": lambda: rotate((), Expectation(f(z) * t, z), (t,), ((ONE,),)),
        "an angle that depends on the variable": lambda: rotate(
            (), Expectation(f(z) * g(t), z, t), (z, t), ((sp.cos(z), sp.sin(z)), (-sp.sin(z), sp.cos(z)))
        ),
        "an angle that depends on a new variable": lambda: rotate(
            (), Expectation(z, z), (t, x), ((2 * t / (1 + t**2), (1 - t**2) / (1 + t**2)),)
        ),
    },
    "translate": {
        "a shift that depends on the variable": lambda: translate((), Expectation(f(z), z), z, z),
        "a shift by another variable": lambda: translate((), Expectation(f(z) * g(t), z, t), z, t),
        "a variable that is not averaged over": lambda: translate((), Expectation(f(z) * t, z), t, a),
        "no average": lambda: translate((), f(z), z, a),
        "no shift": lambda: translate((), Expectation(f(z), z), z, ZERO),
        "a shift that is no number": lambda: translate((), Expectation(f(z), z), z, sp.oo),
    },
    "dilate": {
        "a factor that depends on the variable": lambda: dilate((), Expectation(f(z), z), z, sp.exp(z)),
        "a factor by another variable": lambda: dilate((), Expectation(f(z) * g(t), z, t), z, sp.exp(t)),
        "a factor by another variable, at which the average exists": lambda: dilate(
            (), Expectation(f(z) * g(t), z, t), z, 1 + t**2
        ),
        "a reflection": lambda: dilate((), Expectation(f(z), z), z, -TWO),
        "zero": lambda: dilate((), Expectation(f(z), z), z, ZERO),
        "a factor that is zero by its meaning": lambda: established(rewrite(
            (dilate((), Expectation(f(z), z), z, a), define(a, ZERO, ""))
        )),
        "no stretch": lambda: dilate((), Expectation(f(z), z), z, ONE),
        "a variable that is not averaged over": lambda: dilate((), Expectation(f(z) * t, z), t, TWO),
        "no average": lambda: dilate((), f(z), z, TWO),
        "an average that is infinite": lambda: established(dilate((), Expectation(sp.exp(z**2), z), z, ONE / 2)),
    },
    "limit_rational": {
        "a name that is defined": lambda: established(rewrite((tends(1 / d, ZERO), define(d, ONE, "")))),
        "a wrong value": lambda: tends((d + 1) / d, ZERO),
        "what grows": lambda: tends(d**2 / (d + 1), ZERO),
        "a value that depends on the variable": lambda: tends(1 / d + 1 / d**2, 1 / d),
        "what does not vary": lambda: tends(a, a),
        "a function of the variable": lambda: tends(f(d) / d, ZERO),
        "an exponential of the variable": lambda: tends(sp.exp(d) / d**9, ZERO),
    },
    "limit_compose": {
        "a division by what is zero": lambda: established(rewrite(
            (
                instantiate((limit_compose((tends(x + x / d, x),), hole / a, (hole,)),), {x: a * b}),
                ring((define(a, ZERO, ""),), Equation(a * b + a * b / d, ZERO), (b + b / d,)),
            )
        )),
        "a denominator that vanishes": lambda: limit_compose((tends(1 / d, ZERO),), 1 / hole, (hole,)),
        "a denominator that vanishes by algebra": lambda: limit_compose(
            (tends(1 / d, ZERO),), 1 / (hole + (a + b) ** 2 - a**2 - 2 * a * b - b**2), (hole,)
        ),
        "a root of what may be negative": lambda: limit_compose((tends(a / d + b, b),), sp.sqrt(hole), (hole,)),
        "a function that may jump": lambda: limit_compose((tends(1 / d, ZERO),), f(hole), (hole,)),
        "the variable in the context": lambda: limit_compose((tends(1 / d, ZERO),), d * hole, (hole,)),
        "one hole for two limits": lambda: limit_compose(
            (tends(1 / d, ZERO), tends(a / d + 1, ONE)), hole, (hole, hole)
        ),
        "an equation": lambda: limit_compose((taken(a, b),), hole, (hole,)),
    },
    "limit_average": {
        "a function that jumps": jump,
        "a function that may jump where its argument stands still": lambda: limit_average(
            (tends(1 / d, ZERO),), Expectation(z**2 * f(hole * z), z), (hole,)
        ),
        "a denominator that vanishes on the way": lambda: limit_average(
            (tends(-1 / d, ZERO),), Expectation(1 / (1 + hole * z**2), z), (hole,)
        ),
        "a limit that speaks of the variable": lambda: limit_average(
            (tends(z / d, ZERO),), Expectation(f(z + hole), z), (hole,)
        ),
        "a sign": lambda: limit_average((tends(1 / d, ZERO),), Expectation(sp.sign(hole * z) * z, z), (hole,)),
        "a denominator that vanishes": lambda: limit_average(
            (tends(1 / d, ZERO),), Expectation(f(z) / (hole + z * hole), z), (hole,)
        ),
        "no average": lambda: limit_average((tends(1 / d, ZERO),), hole, (hole,)),
    },
    "iterated": {
        "over nothing": lambda: iterated((), Expectation(z * t, z, t), ()),
        "over all": lambda: iterated((), Expectation(z * t, z, t), (z, t)),
        "over what is not averaged": lambda: iterated((), Expectation(z * t, z, t), (x,)),
        "no average": lambda: iterated((), x, (x,)),
    },
    "limit_order": {
        "the other way round": lambda: order(
            (limits.limit_order((above(a, 1 / d), tends(1 / d, ZERO)), d),), AtLeast(ZERO, a), (ONE,)
        ),
        "a limit of another term": lambda: limits.limit_order((above(a, b), tends(1 / d, ZERO)), d),
        "a side that varies": lambda: limits.limit_order((above(1 / d, b / d), tends(1 / d, ZERO)), d),
        "a side that is defined by the variable": lambda: established(rewrite(
            (limits.limit_order((above(1 / d, c), tends(1 / d, ZERO)), d), define(c, 1 / (2 * d), "")),
        )),
        "limits in two variables": lambda: limits.limit_order(
            (above(1 / d, 1 / n), tends(1 / d, ZERO), limit_rational((), 1 / n, ZERO, n)), d
        ),
        "no limit": lambda: limits.limit_order((above(a, b),), d),
        "an equation": lambda: limits.limit_order((taken(1 / d, b), tends(1 / d, ZERO)), d),
    },
    "squeeze": {
        "bounds of two limits": lambda: limits.squeeze(
            (above(1 / d, a), above(a, -1 / d - 1), tends(1 / d, ZERO), tends(-1 / d - 1, -ONE))
        ),
        "no lower bound": lambda: limits.squeeze((above(1 / d, a), above(1 / d, a), tends(1 / d, ZERO))),
        "bounds of two terms": lambda: limits.squeeze((above(1 / d, a), above(b, ZERO), tends(1 / d, ZERO))),
        "a constant bound elsewhere": lambda: limits.squeeze((above(1 / d, a), above(a, -ONE), tends(1 / d, ZERO))),
        "a limit of something else": lambda: limits.squeeze((above(1 / d, a), above(a, ZERO), tends(2 / d, ZERO))),
        "no limit": lambda: limits.squeeze((above(ZERO, a), above(a, ZERO))),
        "two variables": lambda: limits.squeeze(
            (above(1 / d, a), above(a, -1 / n), tends(1 / d, ZERO), limit_rational((), -1 / n, ZERO, n))
        ),
    },
    "limit_unique": {
        "two limits of different terms": lambda: limit_unique((tends(1 / d, ZERO), tends(1 / d + 1, ONE))),
        "one limit twice": lambda: limit_unique((tends(1 / d, ZERO), tends(1 / d, ZERO))),
        "equations": lambda: limit_unique((taken(a, b), taken(a, c))),
        "limits that hold each other constant": lambda: established(limit_unique(
            (
                tends(n / (n + d), ZERO),
                rewrite(
                    (
                        tends(m * d / (m * d + d), m / (m + 1)),
                        congruence((define(n, m * d, ""),), hole / (hole + d), hole),
                    ),
                    True,
                ),
            )
        )),
    },
    "name_limit": {
        "a name that stands in the limit": lambda: name_limit((tends(a / d + b, b),), b, ""),
        "a name that is defined already": lambda: name_limit(
            (rewrite((tends(a / d + 1, ONE), define(b, a / d + 1, "")), True),), b, ""
        ),
        "an equation": lambda: name_limit((taken(a, b),), c, ""),
        "two values": lambda: ring(
            (name_limit((tends(1 / d, ZERO),), a, ""), name_limit((tends(1 / d + 1, ONE),), a, "")),
            Equation(ZERO, ONE),
            (-ONE, ONE),
        ),
    },
}


# In test_calculus, test_inequalities, test_slopes and test_same_slope.
ELSEWHERE = {
    "slope", "logarithm", "average_limit", "taylor", "limit_exponential",
    "multiply", "antisymmetric", "largest", "root_of_zero", "equal_roots", "same_slope", "specialise",
}  # fmt: skip


def test_every_rule_has_its_attacks() -> None:
    assert set(ATTACKS) | ELSEWHERE == set(RULES)
    assert not set(ATTACKS) & ELSEWHERE
    assert all(len(attacks) >= 3 for attacks in ATTACKS.values())


@pytest.mark.parametrize(
    ("rule", "attack"), [(rule, attack) for rule, attacks in ATTACKS.items() for attack in attacks]
)
def test_an_attack_is_refused(rule: str, attack: str) -> None:
    with pytest.raises(Refused):
        ATTACKS[rule][attack]()


def test_a_name_has_the_sign_of_its_meaning_or_says_so() -> None:
    assert not define(c, p + w, "").conditions
    assert {k.demand for k in define(c, x, "").conditions} == {Demand.NONNEGATIVE, Demand.NONZERO}
    assert {k.demand for k in define(w, x, "").conditions} == {Demand.NONNEGATIVE}
    named = name_limit((tends(x / d + y, y),), c, "").conditions
    assert {k.demand for k in named} == {*Demand} - {Demand.APART, Demand.EXISTS}


def test_what_cancels_stays_a_condition() -> None:
    """SymPy cancels equal factors before a rule looks: what was divided by is on record all the same."""
    split = ring((), Equation(a * (x + y), a * x + a * y))
    made = (
        linear((), Expectation(z**2, z), ((1 / a, a * z**2),)),
        independent((), Expectation(z * t, z, t), a * z, t / a),
        instantiate((ring((), Equation(x * (y + t), x * y + x * t)),), {x: 1 / a, y: a * b, t: a * c}),
        congruence((split,), hole / a, hole),
        congruence((define(x, 1 / a, ""),), a * hole, hole),
        limit_compose((tends(x / d + y, y),), hole / a, (hole,)),
        limit_average((tends(1 / d, ZERO),), Expectation(sigma(z + hole) / a, z), (hole,)),
    )
    for theorem in made:
        assert Condition(a) in theorem.conditions
    cancelled = instantiate((taken(f(x * y), g(x * y), x, y),), {x: 1 / a, y: a})
    assert Condition(a) in cancelled.conditions
    assert cancelled.statement == Equation(f(ONE), g(ONE))
    assert Condition(a) in tends(1 / (a * d + 1), ZERO).conditions
    assert Condition(a, Demand.NONNEGATIVE) in define(x, sp.log(a), "").conditions
    assert Condition(a) in ring((), Equation(sp.log(a) * (x + 1), x * sp.log(a) + sp.log(a))).conditions
