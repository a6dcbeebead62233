"""Sturm isolation of real roots and the height of the strip without roots, against mpmath's polynomial solver."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from giantsteps.derivations.activations.real_roots import (
    common_divisor,
    isolate,
    root_free_height,
    roots_above,
    shifted,
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
    height = root_free_height(p)
    if real:
        assert height == 0
    else:
        nearest = min(abs(r.imag) for r in roots)
        # never above the truth; 20 bisections below it, plus the power of two that starts them
        assert float(nearest) * (1 - 1e-5) < float(height) <= float(nearest)


def test_roots_above_a_line_are_counted() -> None:
    # z^4 + 5 z^2 + 4 = (z^2+1)(z^2+4): roots at +-i, +-2i
    p = polynomial(4, 0, 5, 0, 1)
    assert [roots_above(p, Fraction(h, 5)) for h in (2, 8, 12)] == [2, 1, 0]
    assert roots_above(p, Fraction(1)) is None  # a root on the line
    assert roots_above(p, Fraction(1, 2)) is None  # 2i and -i mirror each other in it
    # the search is not misled by that: the nearest roots are +-i
    assert 1 - 1e-5 < float(root_free_height(p)) < 1


def test_shift_into_the_complex_plane() -> None:
    # (w + 2i)^2 = w^2 - 4 + 4 i w
    real, imaginary = shifted(polynomial(0, 0, 1), Fraction(2))
    assert real[:3] == [-4, 0, 1]
    assert imaginary[:2] == [0, 4]


def test_a_limit_stops_the_search() -> None:
    with pytest.raises(TookTooLong), at_most(-1):
        isolate(polynomial(3, 1, 4, 1, 5, 9, 2, 6))
