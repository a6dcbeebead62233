"""What has one slope and one value is one function: on an interval, if nothing assumed speaks of the variable."""

from __future__ import annotations

import pytest
import sympy as sp

from onestep.derivations.kernel.algebra import assume, ring
from onestep.derivations.kernel.calculus import same_slope
from onestep.derivations.kernel.statements import Assumption, Equation, Ground, Refused
from onestep.derivations.kernel.terms import derivative, substitute
from onestep.derivations.kernel.theorem import Theorem, replay
from onestep.derivations.language.expectation import Expectation
from onestep.derivations.language.named_functions import sigma

x, u = sp.symbols("x u", real=True)
p = sp.Symbol("p", positive=True)
q = sp.Symbol("q", real=True, nonzero=True)
n = sp.Symbol("n", negative=True)
ZERO, ONE = sp.Integer(0), sp.Integer(1)


def said(left: sp.Expr, right: sp.Expr, *universal: sp.Symbol, ground: Ground = Ground.LEMMA) -> Theorem:
    return assume((), Assumption(ground, "for a test", Equation(left, right), "none", frozenset(universal)))


def joined(left: sp.Expr, right: sp.Expr, x: sp.Symbol, start: sp.Expr) -> Theorem:
    """left = right by slopes and values that are taken for granted."""
    at = {x: start}
    rates = said(derivative(left, x), derivative(right, x), x)
    return same_slope((rates, said(substitute(left, at), substitute(right, at))), left, right, x, start)


def test_two_ways_to_write_a_function() -> None:
    left, right = 1 / (1 + p), 1 - p / (1 + p)
    rates = ring((), Equation(derivative(left, p), derivative(right, p)))
    theorem = same_slope((rates, said(ONE, ONE)), left, right, p, ZERO)
    assert theorem.statement == Equation(left, right)
    replay(theorem)


def test_under_an_average_it_names_its_lemmas() -> None:
    left, right = Expectation(sp.log(1 + p * u**2), u), Expectation(sp.log(1 + p * u**2), u) + p - p**2 / p
    assert {"derivative under an average", "dominated convergence"} <= {
        leaf.name for leaf in joined(left, sp.Add(right, ZERO), p, ZERO).assumptions
    }


@pytest.mark.parametrize(
    ("left", "right", "variable", "start"),
    [
        (q**2, q**2 + q - q, q, ONE),  # two intervals
        (1 / x, 1 / x, x, ONE),  # a hole
        (p**2, p**2, p, -ONE),  # a start that is no value
        (p**2, p**2, p, p),
        (sigma(p), sigma(p), p, ZERO),  # which may jump at zero
        (n**2, n**2, n, ZERO),
        (sp.sqrt(p - 1), sp.sqrt(p - 1), p, ONE),  # not real everywhere
    ],
    ids=str,
)
def test_no_interval_is_refused(left: sp.Expr, right: sp.Expr, variable: sp.Symbol, start: sp.Expr) -> None:
    with pytest.raises(Refused):
        joined(left, right, variable, start)


def test_other_slopes_and_values_are_refused() -> None:
    left, right = 1 / (1 + p), 1 - p / (1 + p)
    rates = ring((), Equation(derivative(left, p), derivative(right, p)))
    one = said(ONE, ONE)
    for wrong in ((rates, said(ONE, ZERO)), (one, one), (said(-ONE / (1 + p) ** 2, ZERO, p), one)):
        with pytest.raises(Refused):
            same_slope(wrong, left, right, p, ZERO)
    with pytest.raises(Refused):
        same_slope((rates, one), left, right + 1, p, ZERO)


def test_what_holds_at_one_value_is_no_slope() -> None:
    left, right = p**2, 3 * p - 2
    rates = said(derivative(left, p), derivative(right, p), ground=Ground.HYPOTHESIS)
    with pytest.raises(Refused, match="speaks of"):
        same_slope((rates, said(ONE, ONE)), left, right, p, ONE)
