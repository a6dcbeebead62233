"""Square-root numbers among the roots of polynomials, found exactly."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest

from giantsteps.derivations.activations import real_roots
from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.activations.quadratic_roots import surd


def polynomial(*coefficients: int) -> list[Fraction]:
    """From the constant upwards."""
    return [Fraction(k) for k in coefficients]


def product(p: list[Fraction], q: list[Fraction]) -> list[Fraction]:
    result = [Fraction(0)] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            result[i + j] += a * b
    return result


def surds(p: list[Fraction]) -> list[tuple[Fraction, Fraction, int] | None]:
    return [surd(p, bracket) for bracket in real_roots.isolate(p) if bracket[0] < bracket[1]]


def test_roots_of_quadratics() -> None:
    assert surds(polynomial(-2, 0, 1)) == [(0, -1, 2), (0, 1, 2)]
    half, fifth = Fraction(1, 2), Fraction(1, 2)
    assert surds(polynomial(-1, -1, 1)) == [(half, -fifth, 5), (half, fifth, 5)]
    assert surds(polynomial(-7, 0, 4)) == [(0, -half, 7), (0, half, 7)]
    assert surds(polynomial(-72, 0, 1)) == [(0, -6, 2), (0, 6, 2)]  # 72 = 6^2 * 2


def test_every_root_of_a_product_of_quadratics_is_found_and_is_a_root() -> None:
    generator = random.Random(11)
    for _ in range(20):
        factors = [polynomial(generator.randint(-9, -1), generator.randint(-5, 5), generator.randint(1, 6))
                   for _ in range(3)]  # fmt: skip
        p = product(product(factors[0], factors[1]), product(factors[2], polynomial(1, 1, 0, 1)))
        irrational = [bracket for bracket in real_roots.isolate(p) if bracket[0] < bracket[1]]
        found = [(bracket, surd(p, bracket)) for bracket in irrational]
        # one root, that of z^3 + z + 1, is of degree three; the others are square-root numbers
        assert sum(root is None for _, root in found) == 1
        for (low, high), root in found:
            if root is not None:
                centre, factor, radicand = root
                assert low < centre + factor * Fraction(math.sqrt(radicand)) < high
                assert all(radicand % n**2 for n in range(2, math.isqrt(radicand) + 1))
                # (z - centre)^2 = factor^2 radicand divides p
                minimal = [centre**2 - factor**2 * radicand, -2 * centre, Fraction(1)]
                assert real_roots.divides(minimal, p)


def test_other_roots_are_left_alone() -> None:
    assert surds(polynomial(-1, -1, 0, 1)) == [None]
    assert surds(polynomial(-2, 0, 0, 0, 1)) == [None, None]  # the fourth roots of 2
    assert surds(polynomial(-(10**13) - 1, 0, 1)) == [None, None]  # too large to be factored at once


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
