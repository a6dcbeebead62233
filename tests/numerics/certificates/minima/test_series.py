"""The error of a series, term by term: no entry within its own error moves S, S' or S'' by more, and hardly by less."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import arb, arb_poly

from giantsteps.numerics.balls.arithmetic import precision
from giantsteps.numerics.balls.chebyshev import Interpolated
from giantsteps.numerics.certificates.minima import bound_series
from giantsteps.numerics.certificates.minima.bound_series import Dependent, Series, series

Coefficients = tuple[float, ...]
# Of an entry: a force by its place, an entry of the Gram matrix by its two; and the order of the derivative.
Place = tuple[tuple[int, ...], int]


def entry(coefficients: Coefficients, errors: tuple[float, float, float]) -> Interpolated:
    low, high = Fraction(-1), Fraction(1)
    return Interpolated(low, high, arb_poly(list(coefficients)), tuple(map(arb, errors)))  # type: ignore[arg-type]


def errors_of(force: list[Coefficients], gram: list[Coefficients], errors: dict[Place, float]) -> list[float]:
    n = len(force)
    places = [(i, j) for i in range(n) for j in range(i, n)]

    def own(place: tuple[int, ...]) -> tuple[float, float, float]:
        return errors.get((place, 0), 0.0), errors.get((place, 1), 0.0), errors.get((place, 2), 0.0)

    with precision(192):
        found = series(
            [entry(p, own((i,))) for i, p in enumerate(force)],
            [entry(p, own(place)) for p, place in zip(gram, places, strict=True)],
        )
        return [float(error) for error in found.errors]


def moved(force: list[Coefficients], gram: list[Coefficients], errors: dict[Place, float]) -> list[float]:
    """The most that errors of these sizes, each of either sign, move (S, S', S'') by on a few points."""
    n, worst = len(force), np.zeros(3)
    places = [(i, j) for i in range(n) for j in range(i, n)]

    def values(x: float, signs: dict[Place, float]) -> Any:
        F, A = np.zeros((3, n)), np.zeros((3, n, n))
        for order in range(3):
            for i, p in enumerate(force):
                F[order, i] = np.polynomial.Polynomial(p).deriv(order)(x) + signs.get(((i,), order), 0.0)
            for (i, j), p in zip(places, gram, strict=True):
                A[order, i, j] = A[order, j, i] = np.polynomial.Polynomial(p).deriv(order)(x) + signs.get(
                    ((i, j), order), 0.0
                )
        a = np.linalg.solve(A[0], F[0])
        bend = F[1] - A[1] @ a
        curved = 2.0 * a @ F[2] - a @ A[2] @ a + 2.0 * bend @ np.linalg.solve(A[0], bend)
        return np.array([a @ F[0], 2.0 * a @ F[1] - a @ A[1] @ a, curved])

    for x in (-1.0, -0.4, 0.0, 0.4, 1.0):
        exact = values(x, {})
        for signs in product((-1.0, 1.0), repeat=len(errors)):
            off = dict(zip(errors, (s * e for s, e in zip(signs, errors.values(), strict=True)), strict=True))
            worst = np.maximum(worst, np.abs(values(x, off) - exact))
    return list(worst)


ONE, NONE = (1.0,), (0.0,)
# Force, Gram matrix, errors: in each another term of the error is the largest, or the only one.
CASES: dict[str, tuple[list[Coefficients], list[Coefficients], dict[Place, float]]] = {
    "force": ([(2.0,)], [ONE], {((0,), 0): 1e-6}),
    "force alone": ([NONE], [ONE], {((0,), 0): 0.3}),
    "gram": ([(2.0,)], [ONE], {((0, 0), 0): 1e-6}),
    "far from it": ([(2.0,)], [ONE], {((0, 0), 0): 0.2}),
    "gram across": ([ONE, NONE], [ONE, NONE, ONE], {((0, 1), 0): 0.2}),
    "forces of other sizes": ([(2.0,), (5.0,)], [(4.0,), (0.5,), (0.25,)], {((0,), 0): 1e-7, ((1,), 0): 1e-7}),
    "gram of other sizes": ([(2.0,), (0.3,)], [(4.0,), (0.5,), (0.25,)], {((0, 1), 0): 1e-7, ((1, 1), 0): 1e-8}),
    "a slope": ([(2.0,)], [ONE], {((0,), 1): 1e-6}),
    "a slope of the gram": ([(2.0,)], [ONE], {((0, 0), 1): 1e-6}),
    "force of a steep one": ([(0.0, 3.0)], [ONE], {((0,), 0): 1e-6}),
    "force over a steep gram": ([NONE], [(1.0, 0.3)], {((0,), 0): 0.1}),
    "force beside slopes of the gram": ([NONE], [ONE], {((0,), 0): 0.3, ((0, 0), 1): 0.5}),
    "slopes of a gram at a force": ([(2.0,)], [ONE], {((0, 0), 1): 0.4}),
    "slopes beside slopes": ([(0.0, 3.0)], [ONE], {((0,), 1): 1e-6}),
    "a curvature": ([(2.0,)], [ONE], {((0,), 2): 1e-6}),
    "a curvature of the gram": ([(2.0,)], [ONE], {((0, 0), 2): 1e-6}),
    "both": ([(2.0,), (0.3,)], [(4.0,), (0.5,), (0.25,)], {((0,), 1): 1e-4, ((1,), 2): 1e-4, ((0, 1), 1): 1e-4}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_no_entry_within_its_error_moves_a_series_by_more(case: str) -> None:
    force, gram, errors = CASES[case]
    said, known = errors_of(force, gram, errors), moved(force, gram, errors)
    for bound, worst in zip(said, known, strict=True):
        assert bound >= worst * (1.0 - 1e-9)
        # A polynomial is bounded to a factor of the root of two, products of three of them and of row sums to this.
        assert bound <= 12.0 * worst + 1e-12


def test_a_polynomial_is_bounded_between_the_points() -> None:
    # T_d has 1/sqrt(2) at each of 2 d points.
    for p, largest in (((0.0, 1.0), 1.0), ((-1.0, 0.0, 2.0), 1.0), ((0.0, -3.0, 0.0, 4.0), 1.0), ((0.7,), 0.7)):
        with precision(100):
            found = bound_series._largest(arb_poly(list(p)))
        assert largest * (1.0 - 1e-15) <= float(found) < 1.4143 * largest


def inverse_size(error: float) -> float:
    with precision(100):
        entries = bound_series._Entries([], [[arb_poly([1])]], [], [[arb(error)]])
        identity: Any = [np.array([[arb(1)]], dtype=object)] * 2
        return float(bound_series._inverse_size(entries, identity, 1))


def test_the_inverse_is_bounded_for_every_matrix_within_the_errors() -> None:
    for error in (0.0, 0.1, 0.35):
        assert 1.0 / (1.0 - error) <= inverse_size(error) <= 2.0 * 2.0**0.5 / (1.0 - error)
    # Half of what the series of Neumann would allow, the root of two for the bound of a polynomial.
    with pytest.raises(Dependent):
        inverse_size(0.36)


def test_a_series_over_an_interval_holds_its_errors_and_its_scale() -> None:
    # S = 3 + 2 x + x^2/2 on [2, 10], where x = (t - 6)/4.
    with precision(100):
        polynomials = arb_poly([3, 2, 0.5]), arb_poly([2, 1]), arb_poly([1])
        one = Series(Fraction(2), Fraction(10), polynomials, (arb(0.25), arb(0.5), arb(0.75)))
        for low, high, ends in ((8, 8, (0.5, 0.5)), (4, 10, (-0.5, 1.0))):
            value, slope, curvature = one.over(Fraction(low), Fraction(high))
            for x in ends:
                for sign in (-1.0, 1.0):
                    assert value.contains(3.0 + 2.0 * x + 0.5 * x * x + 0.25 * sign)
                    assert slope.contains((2.0 + x + 0.5 * sign) / 4.0)
                    assert curvature.contains((1.0 + 0.75 * sign) / 16.0)
        at = one.over(Fraction(8), Fraction(8))
        assert [float(ball.rad()) for ball in at] == pytest.approx([0.25, 0.5 / 4.0, 0.75 / 16.0], rel=1e-6)
        both = one + Series(Fraction(2), Fraction(10), polynomials, (arb(1), arb(2), arb(4)))
        assert [float(error) for error in both.errors] == [1.25, 2.5, 4.75]
        assert float(both.over(Fraction(8), Fraction(8))[0].mid()) == 2.0 * (3.0 + 1.0 + 0.125)
