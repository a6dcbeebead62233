"""The zero test of rational functions: every zero found is one, and its near neighbours are none."""

from __future__ import annotations

import random

import pytest
import sympy as sp

from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.symbols import c, kappa, r
from giantsteps.verify.checks.rational_zero import rational_zero

a = sp.Symbol("a", real=True)
R = sp.Symbol("R", real=True)
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
    (1 + sp.I) ** 2 - 2 * sp.I,
    sp.sqrt(1 + 1 / a**2) ** 3 * a**2 - sp.sqrt(1 + 1 / a**2) * (a**2 + 1),
    (f + mean) ** 2 / (f**2 - mean**2) - (f + mean) / (f - mean),
    c**a * (r - c) - r * c**a + c * c**a,
]


@pytest.mark.parametrize("zero", ZEROS)
def test_a_zero_is_found_and_a_changed_term_is_none(zero: sp.Expr) -> None:
    assert rational_zero(zero)
    for term in zero.args:
        assert not rational_zero(zero + term / 1000)
        assert not rational_zero(zero - 2 * term)


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
    ],
)
def test_what_is_no_zero_or_not_defined_is_not_found(open_: sp.Expr) -> None:
    assert not rational_zero(open_)


def test_what_is_zero_over_zero_by_the_relations_is_not_found() -> None:
    twice = sp.Symbol("S", real=True)
    ratio = (twice**2 - 4 - 4 * c) / (R**2 - 1 - c)
    assert not rational_zero(ratio, {R: 1 + c, twice: 4 + 4 * c})
    assert rational_zero(ratio, {twice: 4 + 4 * c})


def test_symbols_stand_for_square_roots() -> None:
    assert rational_zero(1 / R - R / (1 + c), {R: 1 + c})
    assert not rational_zero(1 / R - R / (1 + c))
    assert not rational_zero(1 / R - R / (1 + 2 * c), {R: 1 + c})


@pytest.mark.parametrize("seed", range(20))
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
    assert rational_zero(whole - joined)
    wrong = whole - joined + sp.Rational(1, 100) * rng.choice((r, c, f, 1)) / q1
    assert not rational_zero(wrong)
    value = wrong.subs({mean: 0.3, f: 0.7, r: 0.9, c: 1.3})
    assert abs(complex(value)) > 1e-6


def test_what_is_decided_not_to_be_zero_and_what_is_left_open() -> None:
    for decided in (r - c, sp.sqrt(c) - c, 1 / (r + c) - 1 / r, sp.sqrt(r) + sp.sqrt(c), sp.Integer(1)):
        assert rational_zero(decided) is False
    related = (
        f - mean,  # a function may be anything
        sp.sqrt(1 + r) - c,
        sp.sqrt(r) + sp.root(r, 4) - c,  # one root is a power of the other
        sp.exp(r) - c,
        sp.pi - r,
    )
    assert [found for found in related if rational_zero(found) is False] == []
    assert rational_zero(R - 1 - c, {R: (1 + c) ** 2}) is None  # zero, if the root is positive
