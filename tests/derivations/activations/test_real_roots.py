"""Real roots, square-root numbers among them, and the height of the strip without roots, against mpmath's solver."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.activations.real_roots import (
    common_divisor,
    isolate,
    real_roots,
    root_free_height,
    square_part,
    value_at,
)
from giantsteps.derivations.expressions.budget import TookTooLong, at_most


def polynomial(*coefficients: int) -> list[Fraction]:
    return [Fraction(c) for c in coefficients]


def test_rational_roots_are_found_exactly() -> None:
    # z^3 - z; (2z - 1)^2; (z-2)(z-3)
    assert isolate(polynomial(0, -1, 0, 1)) == [(-1, -1), (0, 0), (1, 1)]
    assert isolate(polynomial(1, -4, 4)) == [(Fraction(1, 2), Fraction(1, 2))]
    assert isolate(polynomial(6, -5, 1)) == [(2, 2), (3, 3)]
    assert isolate(polynomial(1, 0, 1)) == []
    assert isolate(polynomial(7)) == []


@seed(20265)
@settings(max_examples=120, deadline=None)
@given(st.lists(st.integers(-9, 9), min_size=2, max_size=8).filter(lambda c: c[-1] != 0))
def test_isolation_and_height_agree_with_a_numerical_solver(whole: list[int]) -> None:
    p = polynomial(*whole)
    brackets = isolate(p)
    for (_, high), (low, _) in pairwise(brackets):
        assert high <= low
    for low, high in brackets:
        assert (value_at(p, low) == 0) if low == high else True
    # distinct roots of the square-free part: multiple roots are hard for a numerical solver
    slope = [k * c for k, c in enumerate(p)][1:]
    if len(common_divisor(p, slope)) > 1:
        return
    with mpmath.workdps(30):
        roots = mpmath.polyroots(whole[::-1], maxsteps=300, extraprec=300)
    real = sorted(r.real for r in roots if abs(r.imag) < 1e-15)  # simple roots: the error is below 1e-25
    assert len(real) == len(brackets)
    for root, (low, high) in zip(real, brackets, strict=True):
        assert float(low) - 1e-12 <= root <= float(high) + 1e-12
    height = root_free_height(tuple(p))
    if real:
        assert height == 0
    else:
        nearest = min(abs(r.imag) for r in roots)
        # never above the truth: both are good to 15 digits
        assert float(nearest) * (1 - 1e-14) < float(height) < float(nearest) * (1 + 1e-15)


def test_a_limit_stops_the_search() -> None:
    with pytest.raises(TookTooLong), at_most(-1):
        isolate(polynomial(3, 1, 4, 1, 5, 9, 2, 6))


def surds(*coefficients: int) -> list[tuple[Fraction, Fraction, int] | None]:
    return [surd for _, surd in real_roots(tuple(polynomial(*coefficients)))]


def test_square_root_numbers_are_found_exactly() -> None:
    half = Fraction(1, 2)
    assert surds(-2, 0, 1) == [(0, -1, 2), (0, 1, 2)]
    assert surds(-1, -1, 1) == [(half, -half, 5), (half, half, 5)]
    assert surds(-7, 0, 4) == [(0, -half, 7), (0, half, 7)]
    assert surds(-72, 0, 1) == [(0, -6, 2), (0, 6, 2)]  # 72 = 6^2 * 2
    # (z^2 - 2)(z^3 + z + 1): the root of the cubic is none
    assert surds(-2, -2, 1, -1, 0, 1) == [(0, -1, 2), None, (0, 1, 2)]
    assert surds(-2, 0, 0, 0, 1) == [None, None]  # the fourth roots of 2
    assert surds(-(10**13) - 1, 0, 1) == [None, None]  # too large to be factored at once


def test_squared_factors_are_taken_out() -> None:
    # -3 (z + 1)^3 (z - 2)^2 / 2
    p = [Fraction(-3, 2) * c for c in (4, 8, 1, -5, -1, 1)]
    root, rest = square_part(p)
    assert root in ([-2, -1, 1], [2, 1, -1])
    assert rest == [Fraction(-3, 2), Fraction(-3, 2)]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("Abs(z**2 - 2)", ["-sqrt(2)", "sqrt(2)"]),
        ("Max(z**4 - 3*z**2 + 1, 0)", ["-sqrt(5)/2 - 1/2", "-sqrt(5)/2 + 1/2", "sqrt(5)/2 - 1/2", "sqrt(5)/2 + 1/2"]),
        ("Max(z**2 - 2, 0) + Max(z - sqrt(2), 0)", ["-sqrt(2)", "sqrt(2)"]),
        ("sign(z**2 - 2)*Abs(z**3 - 2*z)", ["0"]),  # |z| (z^2 - 2)
    ],
)
def test_breakpoints_are_shown_exactly(text: str, places: list[str]) -> None:
    assert [str(point.location) for point in activation(text).breakpoints] == places
