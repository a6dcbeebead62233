"""The zero test of fractions: every zero found is one, and its near neighbours are none."""

from __future__ import annotations

import random

import pytest
import sympy as sp

from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.symbols import c, kappa, r
from giantsteps.verify.checks.checker import vanishes, zero_as_fraction

a, w = sp.Symbol("a", real=True), sp.Symbol("w")
f = sp.Function("f")(kappa)
mean = Expectation(f**2, kappa)
ROOT = sp.sqrt(1 + sp.sqrt(c))

ZEROS = [
    (r + c) ** 2 - r**2 - 2 * r * c - c**2,
    1 / (1 + c) - 1 + c / (1 + c),
    sp.sqrt(c) * sp.sqrt(2) / sp.sqrt(2 * c) - 1,
    1 / (1 + sp.sqrt(c)) - (1 - sp.sqrt(c)) / (1 - c),
    ROOT**3 - ROOT - sp.sqrt(c) * ROOT,
    1 / (ROOT - 1) - (ROOT + 1) / sp.sqrt(c),
    (1 + c) ** sp.Rational(4, 3) / (1 + c) ** sp.Rational(1, 3) - 1 - c,
    sp.sqrt(1 + 1 / a**2) ** 3 * a**2 - sp.sqrt(1 + 1 / a**2) * (a**2 + 1),
    (f + mean) ** 2 / (f**2 - mean**2) - (f + mean) / (f - mean),
    c**a * (r - c) - r * c**a + c * c**a,
]


@pytest.mark.parametrize("zero", ZEROS)
def test_a_zero_is_found_and_a_changed_term_is_none(zero: sp.Expr) -> None:
    assert zero_as_fraction(zero)
    for term in zero.args:
        assert not zero_as_fraction(zero + term / 1000)
        assert not zero_as_fraction(zero - 2 * term)


@pytest.mark.parametrize(
    "open_",
    [
        sp.sqrt(a**2) - a,  # zero for half of all a
        sp.sqrt(c) - c,
        (r + c) ** 2 * sp.Float("0.5") - (r**2 + 2 * r * c + c**2) / 2,  # floats are not exact
        sp.oo,
        sp.nan,
        sp.zoo,
        1 / ((r + c) ** 2 - r**2 - 2 * r * c - c**2),  # the denominator is zero
        # The root of a square that is not real may be of either sign.
        sp.Pow((1 + 2 * sp.I) ** 4, sp.Rational(1, 2), evaluate=False) - (1 + 2 * sp.I) ** 2,
        sp.sqrt(sp.log(-c) ** 4) - sp.log(-c) ** 2,
        sp.sqrt((a + sp.I) ** 4) - (a + sp.I) ** 2,
        sp.sqrt(w**4) - w**2,
    ],
)
def test_what_is_no_zero_or_not_defined_is_not_found(open_: sp.Expr) -> None:
    assert not zero_as_fraction(open_)


@pytest.mark.parametrize("seed", range(8))
def test_drawn_fractions_are_zero_exactly_where_numbers_say_so(seed: int) -> None:
    """Sums of drawn fractions less the same sum over one denominator; then one coefficient is changed."""
    rng = random.Random(seed)

    def polynomial() -> sp.Expr:
        leaves = (r, c, sp.sqrt(c), sp.sqrt(1 + r), f, mean)
        return sp.Add(*(rng.randint(-3, 3) * rng.choice(leaves) * rng.choice(leaves) for _ in range(3))) + 7

    parts = [(polynomial(), polynomial()) for _ in range(3)]
    whole = sp.Add(*(p / q for p, q in parts))
    (p1, q1), (p2, q2), (p3, q3) = parts
    joined = (p1 * q2 * q3 + p2 * q1 * q3 + p3 * q1 * q2) / (q1 * q2 * q3)
    assert zero_as_fraction(whole - joined)
    wrong = whole - joined + sp.Rational(1, 100) * rng.choice((r, c, f, 1)) / q1
    assert not zero_as_fraction(wrong)


def test_no_rewriting_turns_what_is_somewhere_not_zero_into_zero() -> None:
    for wrong in (r - c, sp.sqrt(c) - c, sp.exp(r) - c, sp.pi - r, sp.sqrt(r) + sp.root(r, 4) - c, f - mean):
        assert vanishes(wrong) is None
