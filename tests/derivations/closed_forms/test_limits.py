"""Limits, growth bounds and signs of closed forms: every rule with a formula that it passes and one that it must not.

Whether an activation is what it would learn, by its closed form, stands here too.
"""

from __future__ import annotations

import math

import pytest
import sympy as sp

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.closed_forms.heat_equation import InitialValue, x
from giantsteps.derivations.language.normal_probabilities import OwensT, SignProduct
from giantsteps.derivations.language.symbols import c, kappa
from giantsteps.verify.closed_forms.class_algebra import vanishes_in_class
from giantsteps.verify.closed_forms.limits import UndecidedError, check_growth, check_positive, limit
from giantsteps.verify.closed_forms.proof import settle_heat
from giantsteps.verify.closed_forms.self_learning import proportional_spike
from giantsteps.verify.protocol.claim import Domain, Range
from giantsteps.verify.protocol.evidence import Outcome

s, t = sp.symbols("s t", positive=True)
HALF, ROOT = sp.Rational(1, 2), sp.sqrt(c)
FAR, NEAR = s / ROOT, (s - 1) / sp.sqrt(c + HALF)


@pytest.mark.parametrize(
    ("formula", "wanted"),
    [
        # T keeps the order of its arguments, vanishes far out, and is a normal probability along a steep line.
        (OwensT(s + c, t + 2 * c), OwensT(s, t)),
        (OwensT(FAR, t), 0),
        (OwensT(s, t / ROOT), (1 - sp.erf(s / sp.sqrt(2))) / 4),
        (OwensT(s, -t / ROOT), -(1 - sp.erf(s / sp.sqrt(2))) / 4),
        # Of a sign that is certain the product is what the other has left, whichever of both it is.
        (SignProduct(FAR, NEAR, ROOT), sp.erf(s - 1)),
        (SignProduct(NEAR, FAR, ROOT), sp.erf(s - 1)),
        (SignProduct(FAR, -FAR, ROOT), -1),
        (SignProduct(s + c, NEAR, HALF + c), SignProduct(s, sp.sqrt(2) * (s - 1), HALF)),
        (sp.exp(-s / c) / c**3, 0),
        (sp.erf(-FAR), -1),
        (s + ROOT * sp.exp(s), s),
        (sp.cos(s + c) * sp.exp(t * (1 + c)), sp.cos(s) * sp.exp(t)),
        ((s + c) ** 2 / (2 + c), s**2 / 2),
    ],
)
def test_the_limit_of_each_function(formula: sp.Expr, wanted: sp.Expr) -> None:
    assert sp.expand(limit(formula) - wanted) == 0


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        (sp.sin(FAR), "oscillation"),
        (FAR, "negative power"),
        (sp.exp(s / c), "grows"),
        (1 / sp.erf(c + 1), "a power of erf"),
        (SignProduct(s, s, 1 - c), "correlation"),
        (sp.sqrt(c - 1) * s, "not a positive number"),
        (sp.erf(s / (s - 1) / c), "not evident"),
    ],
)
def test_what_has_no_evident_limit(formula: sp.Expr, reason: str) -> None:
    with pytest.raises(UndecidedError, match=reason):
        limit(formula)


# Bounded by A exp(B x^2) as c -> 0: a square times a negative number over c, what is regular, and bounded functions.
BOUNDED = (
    sp.exp(-2 * (x - 3) ** 2 / c),
    sp.exp(-(x**2 + 1) / c) / 7,
    sp.exp(x**2 + sp.I * x / c),
    x**3 * sp.erf(x / ROOT) * sp.cos(x / c),
    OwensT(x / ROOT, c + 1),
    sp.erf(x / ROOT + sp.I * s),
    ROOT * x,
)
UNBOUNDED = (
    (sp.exp(-(3 * x**2 - 1) / c), "not evidently bounded"),
    (sp.exp(x**2 / c), "not evidently bounded"),
    (sp.exp(x / c), "not evidently bounded|no quadratic"),
    (sp.exp(-(x**2) / c**2), "uncovered singularity"),
    (sp.exp(-(x**4)), "no quadratic"),
    (OwensT(x, x), "depends on x"),
    (OwensT(x, sp.I * s), "not evidently real"),
    (OwensT(sp.I * x, s), "unbounded imaginary part"),
    (sp.erf(x + sp.I / ROOT), "unbounded imaginary part"),
    (sp.cos(sp.I * x), "growth|real"),
    (sp.cos((1 + 2 * sp.I) * x), "not evidently real"),
    (1 / x, "growth of"),
    (x * c**-HALF, "negative power"),
)


@pytest.mark.parametrize("formula", BOUNDED)
def test_what_is_bounded_by_an_exponential_of_the_square(formula: sp.Expr) -> None:
    check_growth(formula)


@pytest.mark.parametrize(("formula", "reason"), UNBOUNDED)
def test_what_is_not_evidently_bounded_says_why(formula: sp.Expr, reason: str) -> None:
    with pytest.raises(UndecidedError, match=reason):
        check_growth(formula)


def test_correlations_and_radicands_are_judged_up_to_the_end_of_the_range() -> None:
    # c itself is a correlation up to 1 and no further; 2 - c is positive up to 2.
    product, root = SignProduct(x, x, c), sp.sqrt(2 - c)
    check_positive(product, sp.Integer(1))
    check_positive(root, sp.Integer(2))
    for formula, below in ((product, sp.Rational(6, 5)), (product, sp.oo), (root, sp.Rational(9, 4)), (root, sp.oo)):
        with pytest.raises(UndecidedError, match=r"below 1|not positive|not evident"):
            check_positive(formula, below)


def test_functions_of_two_arguments_are_equal_where_both_are() -> None:
    one = OwensT(x, HALF + c)
    for equal in (OwensT(-x, HALF + c), -OwensT(x, -HALF - c), OwensT((x**2 - x) / (x - 1), (1 + 2 * c) / 2)):
        assert vanishes_in_class(one - equal)
    for other in (OwensT(2 * x, HALF + c), OwensT(x, HALF), -one, OwensT(HALF + c, x)):
        assert not vanishes_in_class(one - other)


def test_products_of_roots_constants_and_functions_are_compared_factor_by_factor() -> None:
    assert vanishes_in_class(sp.sqrt(1 + 2 * c) * sp.sqrt(1 + 4 * c) - sp.sqrt(1 + 6 * c + 8 * c**2))
    assert vanishes_in_class(sp.exp(x) * sp.exp(-(x**2) / c) - sp.exp((c * x - x**2) / c))
    assert vanishes_in_class(sp.erf((x - c) / sp.sqrt(1 + c)) + sp.erf((c - x) / sp.sqrt(1 + c)))
    assert not vanishes_in_class(sp.sqrt(1 + 2 * c) - 1 - c)
    phase = sp.exp(sp.I * x * c)
    assert vanishes_in_class(sp.cos(x * c) ** 2 - (phase**2 + 2 + phase**-2) / 4)
    assert vanishes_in_class(sp.sin(x * c) * sp.erf(x) - (phase - 1 / phase) / (2 * sp.I) * sp.erf(x))
    for wrong in (sp.sin(x * c), 3 * sp.cos(x * c), sp.cos(x * c) * sp.erf(x), sp.cos(x)):
        assert not vanishes_in_class(sp.cos(x * c) - wrong)
    # Roots and logarithms of what is not real have branches.
    for wrong in (
        sp.sqrt(sp.exp(6 * sp.I * x)) - sp.exp(3 * sp.I * x),
        sp.log(sp.exp(sp.I * x)) - sp.I * x,
        sp.sqrt((sp.exp(sp.I * c) + 1) ** 4) - (sp.exp(sp.I * c) + 1) ** 2,
    ):
        assert not vanishes_in_class(wrong)
    # A constant in an argument that cancels is no new function.
    assert vanishes_in_class(sp.erf((x + 1) ** 2 - x**2 - 2 * x) - sp.erf(1))
    assert not vanishes_in_class(sp.erf((x + 1) ** 2 - x**2 - 2 * x) - sp.erf(2))


def test_an_initial_value_that_no_rule_gives_is_refuted_by_numbers_alone_where_it_is_real() -> None:
    # No rule knows that sin(y)/y tends to 1; of what is imaginary no number is taken.
    domain = Domain((Range(s, 0.5, 2.0),))
    quotient = sp.sin(x * ROOT) / (x * ROOT)
    for formula, value, outcome in (
        (quotient, sp.Integer(1), Outcome.UNDECIDED),
        (quotient, sp.Integer(2), Outcome.REFUTES),
        (sp.I * quotient, sp.Integer(2), Outcome.UNDECIDED),
    ):
        assert settle_heat(InitialValue("the initial value", formula, s, value), domain).outcome is outcome


def test_an_error_function_learns_itself_at_one_spike() -> None:
    # E erf(r kappa + sqrt(c) z) = erf(r kappa/sqrt(1 + 2 c)): at r^2 = 1 + 2 c it is the target.
    erf = activation("erf(z)")
    assert proportional_spike(erf, erf, math.sqrt(3.0), 1.0) == (3, 1)
    assert proportional_spike(erf, erf, math.sqrt(2.0), 0.5) == (2, 1)
    assert proportional_spike(erf, erf, math.sqrt(2.0), 1.0) is None
    assert proportional_spike(erf, activation("sign(z)"), math.sqrt(3.0), 1.0) is None
    assert proportional_spike(erf, erf, 0.0, 1.0) is None
    assert kappa not in sp.sympify(proportional_spike(erf, activation("2*erf(z)"), math.sqrt(3.0), 1.0)[1]).free_symbols
