"""S = F.A^-1 F of one block with two derivatives on a segment of a path, as polynomials with errors.

A is the Gram matrix of the features of a block, F their correlations with g: the squared distance of g to their span is
E[g^2] - S. Entries of F and A are polynomials with errors (`numerics.balls.chebyshev`) in x of [-1, 1]. Take any
polynomials alpha near a = A^-1 F and B near A^-1, and with rho = F - A alpha, delta = A^-1 rho

    S   = 2 alpha.F - alpha.A alpha + rho.delta,
    S'  = 2 a.F' - a.A' a = 2 alpha.F' - alpha.A' alpha + 2 delta.(F' - A' alpha) - delta.A' delta,
    S'' = 2 a.F'' - a.A'' a + 2 R(F' - A' a),    R(f) = f.A^-1 f,

the first part of S'' like S', and R like S. What is left of alpha.F and the like are polynomials, so that an interval
loses nothing by dependency; the rest is small, |delta| <= |B| |rho|/(1 - q) in the largest component, where q < 1
bounds the rows of 1 - B A. The largest value of a polynomial of degree d is at most the largest at the zeros of T_M
over cos(pi d/2M) (Ehlich and Zeller).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from flint import arb, arb_mat, arb_poly, ctx

from giantsteps.numerics.balls.arithmetic import BallError, rational_ball
from giantsteps.numerics.balls.chebyshev import Interpolated, Jet, largest, nodes, through

Ball = Any
Polynomial = Any

# Bits by which a feature may be shorter outside the span of those before it.
_MOST_LOST = 100


class Dependent(BallError):
    """The Gram matrix was not shown to be regular."""

    def __init__(self) -> None:
        super().__init__("the functions that span the bound are too close to dependent there")


@dataclass(frozen=True)
class Series:
    """S, dS/dx, d^2S/dx^2 on [low, high]: polynomials in x of [-1, 1], each with an error that holds on all of it."""

    low: Fraction
    high: Fraction
    polynomials: tuple[Polynomial, Polynomial, Polynomial]
    errors: Jet

    def over(self, a: Fraction, b: Fraction) -> Jet:
        """Balls of S, S' and S'' over [a, b] inside [low, high]; a = b gives them at a point."""
        half = rational_ball((self.high - self.low) / 2)
        middle = rational_ball(((a + b) - (self.low + self.high)) / (self.high - self.low))
        width = rational_ball((b - a) / (self.high - self.low))
        value, slope, curvature = (
            _range(polynomial, middle, width) + arb(0, error)
            for polynomial, error in zip(self.polynomials, self.errors, strict=True)
        )
        return value, slope / half, curvature / (half * half)

    def __add__(self, other: Series) -> Series:
        value, slope, curvature = (a + b for a, b in zip(self.polynomials, other.polynomials, strict=True))
        errors = [(a + b).upper() for a, b in zip(self.errors, other.errors, strict=True)]
        return Series(self.low, self.high, (value, slope, curvature), (errors[0], errors[1], errors[2]))


@dataclass(frozen=True)
class _Entries:
    """F and A, or one of their derivatives in x: polynomials, and their errors."""

    force: list[Polynomial]
    gram: list[list[Polynomial]]
    force_error: list[Ball]
    gram_error: list[list[Ball]]


@dataclass(frozen=True)
class _Approximate:
    """Polynomials alpha near A^-1 f, bounds of |alpha_i| and of |f - A alpha|_i, and one of |A^-1 (f - A alpha)|."""

    alpha: list[Polynomial]
    sizes: list[Ball]
    residual: list[Ball]
    rest: Ball


def series(force: Sequence[Interpolated], gram: Sequence[Interpolated]) -> Series:
    """The series of one block from its entries, the upper triangle of the Gram matrix row by row.

    Raises Dependent where the Gram matrix is not shown to be regular on the whole segment.
    """
    n = len(force)
    first, second, third = _entries(force, gram, n)
    points = max(polynomial.degree() for polynomial in (*first.force, *(p for row in first.gram for p in row))) + 1
    inverse = _inverse(first, max(points, 2), n)
    bound = _inverse_size(first, inverse, n)
    a = _approximate(first, inverse, bound, n)
    value, value_error = _square(first, a, n)
    slope, slope_error = _derivative(second, a, n)
    straight, straight_error = _derivative(third, a, n)
    # f = F' - A' a
    bend = [
        p - sum((q * x for q, x in zip(row, a.alpha, strict=True)), arb_poly([0]))
        for p, row in zip(second.force, second.gram, strict=True)
    ]
    bend_error = []
    for i in range(n):
        error = second.force_error[i]
        for j in range(n):
            error += second.gram_error[i][j] * (a.sizes[j] + a.rest) + _largest(second.gram[i][j]) * a.rest
        bend_error.append(error)
    turned = _Entries(bend, first.gram, bend_error, first.gram_error)
    square, square_error = _square(turned, _approximate(turned, inverse, bound, n), n)
    errors = [error.upper() for error in (value_error, slope_error, straight_error + 2 * square_error)]
    return Series(force[0].low, force[0].high, (value, slope, straight + 2 * square), (errors[0], errors[1], errors[2]))


def _approximate(entries: _Entries, inverse: Sequence[Any], bound: Ball, n: int) -> _Approximate:
    points = nodes(len(inverse), ctx.prec)
    solutions = [
        matrix * arb_mat([[p(x).mid()] for p in entries.force]) for matrix, x in zip(inverse, points, strict=True)
    ]
    alpha = [through([solution[i, 0].mid() for solution in solutions]) for i in range(n)]
    sizes = [_largest(p) for p in alpha]
    residual = _residual(entries, alpha, sizes, n)
    return _Approximate(alpha, sizes, residual, bound * largest(residual))


def _square(entries: _Entries, a: _Approximate, n: int) -> tuple[Polynomial, Ball]:
    """f.A^-1 f = 2 alpha.f - alpha.A alpha + rho.delta."""
    return _quadratic(entries, a.alpha, n), _known(entries, a, n) + a.rest * sum(a.residual, arb(0))


def _derivative(entries: _Entries, a: _Approximate, n: int) -> tuple[Polynomial, Ball]:
    """2 a.F' - a.A' a from entries of derivatives, a = alpha + delta."""
    bend = _residual(entries, a.alpha, a.sizes, n)
    steep = sum(
        (
            _largest(p) + e
            for row, errors in zip(entries.gram, entries.gram_error, strict=True)
            for p, e in zip(row, errors, strict=True)
        ),
        arb(0),
    )
    error = _known(entries, a, n) + 2 * a.rest * sum(bend, arb(0)) + a.rest * a.rest * steep
    return _quadratic(entries, a.alpha, n), error


def _known(entries: _Entries, a: _Approximate, n: int) -> Ball:
    """What the errors of the entries make of 2 alpha.F - alpha.A alpha."""
    total = sum((2 * s * e for s, e in zip(a.sizes, entries.force_error, strict=True)), arb(0))
    return total + sum((a.sizes[i] * a.sizes[j] * entries.gram_error[i][j] for i in range(n) for j in range(n)), arb(0))


def _quadratic(entries: _Entries, alpha: list[Polynomial], n: int) -> Polynomial:
    """2 alpha.F - alpha.A alpha."""
    total = arb_poly([0])
    for i in range(n):
        inner = 2 * entries.force[i]
        for j in range(n):
            inner = inner - entries.gram[i][j] * alpha[j]
        total += alpha[i] * inner
    return total


def _residual(entries: _Entries, alpha: list[Polynomial], sizes: list[Ball], n: int) -> list[Ball]:
    """Bounds of the components of F - A alpha, errors included."""
    found = []
    for i in range(n):
        polynomial, error = entries.force[i], entries.force_error[i]
        for j in range(n):
            polynomial = polynomial - entries.gram[i][j] * alpha[j]
            error = error + entries.gram_error[i][j] * sizes[j]
        found.append((_largest(polynomial) + error).upper())
    return found


def _inverse(entries: _Entries, count: int, n: int) -> list[Any]:
    """About A^-1 at the Chebyshev points."""
    found = []
    for x in nodes(count, ctx.prec):
        gram = arb_mat([[p(x).mid() for p in row] for row in entries.gram])
        try:
            inverse = gram.inv()
        except ZeroDivisionError:
            raise Dependent from None
        found.append(arb_mat([[inverse[i, j].mid() for j in range(n)] for i in range(n)]))
    return found


def _inverse_size(entries: _Entries, inverse: Sequence[Any], n: int) -> Ball:
    """A bound of the largest row sum of A^-1."""
    B = [[through([matrix[i, j] for matrix in inverse]) for j in range(n)] for i in range(n)]
    sizes = [[_largest(entry) for entry in row] for row in B]
    worst = arb(0)
    for i in range(n):
        total = arb(0)
        for j in range(n):
            entry = arb_poly([1 if i == j else 0])
            for k in range(n):
                entry = entry - B[i][k] * entries.gram[k][j]
                total = total + sizes[i][k] * entries.gram_error[k][j]
            total = total + _largest(entry)
        worst = worst.max(total)
    if not worst < arb(1) / 2:
        raise Dependent
    rows = [sum(row, arb(0)) for row in sizes]
    return (largest(rows) / (1 - worst)).upper()


def _entries(force: Sequence[Interpolated], gram: Sequence[Interpolated], n: int) -> list[_Entries]:
    """F and A and two derivatives of them, for combinations of the features that are orthonormal near the middle."""
    square = _matrix(gram, n)
    basis = regular_basis(arb_mat([[entry.polynomial(arb(0)) for entry in row] for row in square]))
    F = [_sum([basis[i, k] * force[k].polynomial for k in range(n)]) for i in range(n)]
    half = [[_sum([basis[i, k] * square[k][j].polynomial for k in range(n)]) for j in range(n)] for i in range(n)]
    A = [[_sum([half[i][k] * basis[j, k] for k in range(n)]) for j in range(n)] for i in range(n)]
    size = [[abs(basis[i, k]) for k in range(n)] for i in range(n)]
    found = []
    for order in range(3):
        forces = [sum((size[i][k] * force[k].errors[order] for k in range(n)), arb(0)) for i in range(n)]
        grams = [
            [
                sum((size[i][k] * size[j][m] * square[k][m].errors[order] for k in range(n) for m in range(n)), arb(0))
                for j in range(n)
            ]
            for i in range(n)
        ]
        found.append(_Entries(F, A, forces, grams))
        F = [p.derivative() for p in F]
        A = [[p.derivative() for p in row] for row in A]
    return found


def _sum(polynomials: Sequence[Polynomial]) -> Polynomial:
    return sum(polynomials, arb_poly([0]))


def _matrix(gram: Sequence[Interpolated], n: int) -> list[list[Interpolated]]:
    rows: list[list[Any]] = [[None] * n for _ in range(n)]
    entries = iter(gram)
    for i in range(n):
        for j in range(i, n):
            rows[i][j] = rows[j][i] = next(entries)
    return rows


def regular_basis(gram: Any) -> Any:
    """A fixed matrix B with B A B^T near the identity, from the midpoints of A. Raises Dependent."""
    n = gram.nrows()
    scale = [gram[i, i].mid() for i in range(n)]
    if not all(entry > 0 for entry in scale):
        raise Dependent
    # Gram and Schmidt in the precision in force: doubles would lose what nearly dependent features differ by.
    rows: list[list[Ball]] = []
    for i in range(n):
        row = [arb(1) if j == i else arb(0) for j in range(n)]
        for other in rows:
            overlap = _product(row, gram, other, n)
            row = [x - overlap * y for x, y in zip(row, other, strict=True)]
        square = _product(row, gram, row, n).mid()
        if not square > scale[i] * arb(2) ** -_MOST_LOST:
            raise Dependent
        rows.append([(x / square.sqrt()).mid() for x in row])
    return arb_mat(rows)


def _product(x: list[Ball], gram: Any, y: list[Ball], n: int) -> Ball:
    return sum((x[i] * gram[i, j].mid() * y[j] for i in range(n) for j in range(n)), arb(0)).mid()


def _largest(polynomial: Polynomial) -> Ball:
    """An upper bound of |p| on [-1, 1], from its values at twice as many Chebyshev points as its degree."""
    degree = max(1, polynomial.degree())
    places = _powers(2 * degree, degree, ctx.prec)
    column = arb_mat([[c] for c in polynomial.coeffs()] + [[arb(0)]] * (degree + 1 - len(polynomial.coeffs())))
    values = places * column
    return (largest(abs(values[i, 0]) for i in range(2 * degree)) * arb(2).sqrt()).upper()


@lru_cache(maxsize=64)
def _powers(count: int, degree: int, bits: int) -> Any:
    """x_i^k at the Chebyshev points."""
    rows = []
    for x in nodes(count, bits):
        row = [arb(1)]
        for _ in range(degree):
            row.append(row[-1] * x)
        rows.append(row)
    return arb_mat(rows)


def _range(polynomial: Polynomial, middle: Ball, width: Ball) -> Ball:
    """A ball of p over middle +- width."""
    coefficients = polynomial(arb_poly([middle, width])).coeffs()
    if not coefficients:
        return arb(0)
    return coefficients[0] + arb(0, sum((abs(c) for c in coefficients[1:]), arb(0)).upper())
