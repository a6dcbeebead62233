"""A certified lower bound of |1 + V| on a rectangle around the spike, V = T mu1^2 + tau mu2^2.

1/(1 + V) is the only factor of the integrands with poles. V is real on the line, so |1 + V| takes equal values at
conjugate points, and the upper half of the rectangle is enough; where sigma has a parity V is even, and the right half
of that. It is covered by boxes, each with the mean-value form V(box) in V(centre) + V'(box) (box - centre); a box that
does not show |1 + V| > 1/8 is halved along its longer side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import acb, arb

from onestep.numerics.balls.arithmetic import rational_ball
from onestep.numerics.balls.averages import Smoothing
from onestep.numerics.balls.growth_bounds import Line

Ball = Any

_FLOOR = arb(1) / 8
_MOST_HALVINGS = 8
_MOST_BOXES = 1500


@dataclass(frozen=True)
class Student:
    """The student's averages off the line, and the argument they are taken at."""

    smoothing: Smoothing
    line: Line

    def around(self, centre: Ball, offset: Ball, overlap: Ball, tau: Ball) -> tuple[Ball, Ball]:
        """1 + V at the centre, and over centre + offset by the mean-value form.

        With f~ = f - a - b z for any numbers a, b (here such that f~ is small): mu2^2 is the same for f~, mu1 = (M~_11
        + b)/s, and by Stein d mu1 = (M~_21 - M~_01)/s^2 and d mu2^2 = (M~_12 - 2 M~_11 M~_21)/s in the argument.
        """
        scale, slope = self.line.scale(), self.line.factor()
        mean, first, square = self.smoothing.at(self.line.argument(centre))[:3]
        at_centre = 1 + overlap * (first / scale) * (first / scale) + tau * (square - mean * mean - first * first)
        minus = arb(mean.real.mid()), arb(first.real.mid())
        found = self.smoothing.at(self.line.argument(centre + offset), minus)
        mu1 = (found.first + minus[1]) / scale
        steep = 2 * overlap * mu1 * (found.second - found.mean) / (scale * scale)
        steep += tau * (found.first_square - 2 * found.first * found.second) / scale
        return at_centre, at_centre + slope * steep * offset

    def distance(self, overlap: Ball, tau: Ball, end: Fraction, symmetric: bool) -> float:
        """About how far off the line a zero of 1 + V is at the least: the smallest (1 + V)/|V'| on a grid of the line.

        Only a guess at which heights are worth a try.
        """
        smallest = math.inf
        for k in range(0 if symmetric else math.floor(-2 * end), math.floor(2 * end) + 1):
            value, following = (
                self.around(arb(k) / 2, offset, overlap, tau)[1].mid() for offset in (arb(0), arb(1) / 1024)
            )
            steep = abs(float(following - value)) * 1024
            if steep > 0.0:
                smallest = min(smallest, float(value) / steep)
        return smallest


def inverse_bound(
    student: Student, overlap: Ball, tau: Ball, height: Fraction, end: Fraction, symmetric: bool
) -> Ball | None:
    """An upper bound of 1/|1 + V|, at least 1, on |Re| <= end, |Im| <= height; None where none was found."""
    low = Fraction(0) if symmetric else -end
    width = Fraction(1, 2)
    pending: list[tuple[Fraction, Fraction, Fraction, Fraction, int]] = []
    start = low
    while start < end:
        pending.append((start, min(start + width, end), Fraction(0), height, 0))
        start += width
    lowest = arb(1)
    for _ in range(_MOST_BOXES):
        if not pending:
            return (1 / lowest).upper()
        left, right, bottom, top, halvings = pending.pop()
        centre = acb(rational_ball((left + right) / 2), rational_ball((bottom + top) / 2))
        offset = acb(
            arb(0, rational_ball((right - left) / 2).upper()), arb(0, rational_ball((top - bottom) / 2).upper())
        )
        at_centre, around = student.around(centre, offset, overlap, tau)
        size = around.abs_lower()
        if size > _FLOOR:
            lowest = lowest.min(size)
        elif halvings == _MOST_HALVINGS or at_centre.abs_upper() < _FLOOR:
            return None
        elif right - left > top - bottom:
            middle = (left + right) / 2
            pending.append((left, middle, bottom, top, halvings + 1))
            pending.append((middle, right, bottom, top, halvings + 1))
        else:
            middle = (bottom + top) / 2
            pending.append((left, right, bottom, middle, halvings + 1))
            pending.append((left, right, middle, top, halvings + 1))
    return None
