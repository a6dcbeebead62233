"""A certified lower bound of |1 + V| on a rectangle around the spike, V = T mu1^2 + tau mu2^2.

1/(1 + V) is the only factor of the integrands with poles. V is real on the line, so |1 + V| takes equal values at
conjugate points, and the upper half of the rectangle is enough; where sigma has a parity V is even, and the right half
of that. It is cut into cells around places of the line, and in each V is a Taylor polynomial with a remainder
(`Student`), of real numbers alone. A cell is covered by boxes, each with the mean-value form V(centre) + V'(box) (box -
centre); a box that does not show |1 + V| > 1/8 is halved along its longer side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

from flint import acb, arb, arb_poly, arb_series

from giantsteps.derivations.activations.activation import Activation
from giantsteps.numerics.balls.arithmetic import BallError, rational_ball, series_terms
from giantsteps.numerics.balls.averages import polynomial_smoothing
from giantsteps.numerics.balls.gaussian_bounds import involutions, mean_power
from giantsteps.numerics.balls.growth_bounds import Line, polynomial_growth
from giantsteps.numerics.balls.integrals import hermites
from giantsteps.numerics.balls.lattice import Sums, sums

Ball = Any

_FLOOR = arb(1) / 8
_MOST_HALVINGS = 8
_MOST_BOXES = 1500
_MOST_CELLS = 4000
# Of the averages whose Taylor coefficients these are; the polynomials lose little of them.
_BITS = 40
_MOST_TERMS = 64
# Of V off the line, so that 1/8 is told from 0.
_REMAINDER = 1.0 / 64


@dataclass(frozen=True)
class Cell:
    """1 + V and its derivative around a place of kappa, polynomials in u = slope (kappa - place)/s."""

    place: Fraction
    value: Any
    slope: Any


@dataclass(frozen=True)
class Student:
    """1 + V on cells |Re kappa - place| <= half, |Im kappa| <= height: a polynomial and at most `remainder` more.

    With f_n = E[He_n(z) f(w + s z)], by Stein's lemma E f(w + s u + s z) = sum_n f_n u^n/n!, and E z f = sum_n f_{n+1}
    u^n/n!. By Cauchy and Schwarz |f_n| <= sqrt(n!) |f|, |f|^2 = E f(w + s z)^2: both series are known from their first
    N terms to |f| sum_{n >= N} |u|^n sqrt(n+1)/sqrt(n!), for every f of finite |f|, breakpoints or not. The same for
    f^2 in place of f gives E f^2, so mu1 = E z f/s, mu2^2 = E f^2 - (E f)^2 - (E z f)^2, and V.
    """

    cells: tuple[Cell, ...]
    half: Fraction
    height: Fraction
    scale: Ball
    remainder: Ball

    def distance(self) -> float:
        """About how far off the line a zero of 1 + V is at the least: the smallest (1 + V)/|V'| at the places.

        Only a guess at which heights are worth a try.
        """
        smallest = math.inf
        for cell in self.cells:
            steep = abs(float(cell.slope[0])) * float(self.scale)
            if steep > 0.0:
                smallest = min(smallest, float(cell.value[0]) / steep)
        return smallest

    def around(self, cell: Cell, centre: Ball, offset: Ball) -> tuple[Ball, Ball]:
        """1 + V at place + centre, and over place + centre + offset by the mean-value form."""
        u, du = centre * self.scale, offset * self.scale
        error = acb(arb(0, self.remainder), arb(0, self.remainder))
        at_centre = cell.value(u)
        return at_centre + error, at_centre + cell.slope(u + du) * du + error


def student(
    function: Activation, line: Line, overlap: Ball, tau: Ball, height: Fraction, end: Fraction, symmetric: bool
) -> Student | None:
    """On |Re kappa| <= end, or its right half, up to a height; None where that takes too many terms.

    overlap, tau: T and tau, balls or wider. Raises BallError for functions of neither kind of `balls.averages`.
    """
    growth = polynomial_growth(function.growth)
    if growth is None:
        raise BallError(f"no bound by a power was found for {function} off the real line")
    s = line.scale()
    scale = line.factor() / s
    half = Fraction(1, 4)
    while float(abs(scale)) * half > 0.5:
        half /= 2
    # Along a flat spike cells may be wide: close places have no nodes in common but very many.
    while half < end and float(abs(scale)) * half <= 1.0 / 16:
        half *= 2
    radius = (abs(scale) * rational_ball(height * height + half * half).sqrt()).upper()
    count = math.ceil(end / (2 * half))
    if count > _MOST_CELLS:
        return None
    # The last place of wide cells is beyond the end.
    widest = abs(line.slope) * 2 * half * count + abs(line.bias)
    stretch = (1 + rational_ball(widest)) * s.upper().max(arb(1))
    sizes = tuple(
        growth.constant**power * stretch ** (growth.degree * power) * mean_power(2 * growth.degree * power).sqrt()
        for power in (1, 2)
    )
    for terms in range(6, _MOST_TERMS + 1, 2):
        remainder = _remainder(radius, terms, sizes, overlap / (s * s), tau)
        if remainder is not None and remainder < _REMAINDER:
            break
    else:
        return None
    first = 0 if symmetric else -count
    found = _taylor(function, line, 2 * half, first, count, terms)
    cells = []
    for k, (mean, along, square) in zip(range(first, count + 1), found, strict=True):
        value = 1 + along * along * (overlap / (s * s)) + (square - mean * mean - along * along) * tau
        cells.append(Cell(2 * half * k, value, value.derivative()))
    return Student(tuple(cells), half, height, scale, remainder)


def _remainder(radius: Ball, terms: int, sizes: tuple[Ball, ...], overlap: Ball, tau: Ball) -> Ball | None:
    """Of V on |u| <= radius, each series having so many terms; None where they do not fall yet.

    A product differs from that of the polynomials by R (2 F + R), F the size of the function and R of the remainder.
    """
    ratio = radius * arb(terms + 2).sqrt() / (terms + 1)
    if not ratio < 0.75:
        return None
    sizes_of = [radius**n * arb(n + 1).sqrt() / arb(math.factorial(n)).sqrt() for n in range(terms + 1)]
    tail = sizes_of[terms] / (1 - ratio)
    whole = sum(sizes_of[:terms], arb(0)) + tail
    small = sizes[0] * tail
    product = small * (2 * sizes[0] * whole + small)
    return ((abs(overlap) + 2 * abs(tau)) * product + abs(tau) * sizes[1] * tail).upper()


def _taylor(
    function: Activation, line: Line, step: Fraction, first: int, last: int, terms: int
) -> list[tuple[Any, Any, Any]]:
    """E f, E z f and E f^2 as polynomials in u of so many terms around every place k step."""
    closed = polynomial_smoothing(function, line.scale())
    if closed is not None:
        places = [line.argument(rational_ball(k * step)) for k in range(first, last + 1)]
        with series_terms(terms):
            found = [closed.at(arb_series([place, line.scale()])) for place in places]
        # Of a constant the averages are numbers.
        return [tuple(arb_poly(p.coeffs() if isinstance(p, arb_series) else [p]) for p in (a.mean, a.first, a.square))
                for a in found]  # fmt: skip
    orders = [(j, 1) for j in range(terms + 1)] + [(j, 2) for j in range(terms)]

    def table_of(line: Line, first: int, last: int) -> Sums | None:
        return sums(function, line, rational_ball(step), first, last, _BITS, orders, lambda z: hermites(z, terms))

    tables = [table_of(line, first, last)]
    if tables == [None] and line.scales is None:
        # So flat that nodes in common would be very many, and so that cells are wide and places few: one by one.
        places = [Line(Fraction(0), line.bias + line.slope * k * step, line.variance) for k in range(first, last + 1)]
        tables = [table_of(place, 0, 0) for place in places]
    return [row for table in tables for row in _rows(function, table, terms)]


def _rows(function: Activation, table: Sums | None, terms: int) -> list[tuple[Any, Any, Any]]:
    """The polynomials of a table of sums. Raises BallError where there is none."""
    if table is None:
        raise BallError(f"the functions along the spike are too flat, or those across it too steep, for {function}")
    # He_n is bounded by the sum of its |coefficients| times the largest of the powers of z.
    plain, squared = (
        [involutions(n) * reduce(arb.max, (table.errors[j, power] for j in range(n + 1))) for n in range(count)]
        for power, count in ((1, terms + 1), (2, terms))
    )
    factorials = [arb(math.factorial(n)) for n in range(terms)]
    result = []
    for row, squares in zip(table.plain, table.squared, strict=True):
        f = [value + arb(0, error.upper()) for value, error in zip(row, plain, strict=True)]
        ff = [value + arb(0, error.upper()) for value, error in zip(squares, squared, strict=False)]
        result.append(tuple(
            arb_poly([value / factorial for value, factorial in zip(column, factorials, strict=False)])
            for column in (f, f[1:], ff)
        ))  # fmt: skip
    return result


def inverse_bound(student: Student, height: Fraction, end: Fraction, symmetric: bool) -> Ball | None:
    """An upper bound of 1/|1 + V|, at least 1, on |Re| <= end, |Im| <= height <= student.height; None if none found."""
    lowest = arb(1)
    boxes = 0
    for cell in student.cells:
        left = max(-student.half, -cell.place if symmetric else -end - cell.place)
        pending = [(left, min(student.half, end - cell.place), Fraction(0), height, 0)]
        while pending:
            boxes += 1
            left, right, bottom, top, halvings = pending.pop()
            if left >= right:
                continue
            centre = acb(rational_ball((left + right) / 2), rational_ball((bottom + top) / 2))
            offset = acb(
                arb(0, rational_ball((right - left) / 2).upper()), arb(0, rational_ball((top - bottom) / 2).upper())
            )
            at_centre, around = student.around(cell, centre, offset)
            size = around.abs_lower()
            if size > _FLOOR:
                lowest = lowest.min(size)
            elif halvings == _MOST_HALVINGS or boxes > _MOST_BOXES or at_centre.abs_upper() < _FLOOR:
                return None
            elif right - left > top - bottom:
                middle = (left + right) / 2
                pending.append((left, middle, bottom, top, halvings + 1))
                pending.append((middle, right, bottom, top, halvings + 1))
            else:
                middle = (bottom + top) / 2
                pending.append((left, right, bottom, middle, halvings + 1))
                pending.append((left, right, middle, top, halvings + 1))
    return (1 / lowest).upper()
