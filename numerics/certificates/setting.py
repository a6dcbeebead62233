"""The setting of a certificate: the problem in balls, the rectangle around the spike, the rule, and functions on it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from giantsteps.numerics.balls.arithmetic import BallError, precision, rational_ball
from giantsteps.numerics.balls.rules import Along, SpikeRule, panels, trapezoidal
from giantsteps.numerics.certificates.functions import Functions, Problem, bounds, functions
from giantsteps.numerics.certificates.newton import Box
from giantsteps.numerics.certificates.saddle_point import fixed_error
from giantsteps.numerics.certificates.strip import inverse_bound, student
from giantsteps.numerics.models.solution import Solution

Ball = Any

_HEIGHTS = tuple(Fraction(n, 100) for n in (100, 80, 64, 50, 40, 32, 25, 20, 16, 12, 10, 8, 6, 5, 4, 3, 2, 1))
# Of the distance to the nearest zero of 1 + V as it is guessed: how high a rectangle is tried first.
_SHARE = 0.6
_MOST_NODES = 40_000
_STRIP_BITS = 64


@dataclass(frozen=True)
class Setting:
    """A rule along the spike, and 1/|1 + V| <= `inverse` on the rectangle of this height and reach."""

    rule: SpikeRule
    inverse: Ball
    height: Fraction
    reach: Fraction
    bits: int

    def functions(self, problem: Problem) -> Functions:
        """The functions along the spike of the problem, or of one whose numbers are within its own."""
        return functions(problem, self.rule, self.height, self.reach, self.bits + 8)


def setting(problem: Problem, solution: Solution, box: Box, bits: int) -> Setting:
    """The rectangle and the rule along the spike, for all (T, tau) in the box."""
    reach = Fraction(math.ceil(math.sqrt(2 * (bits * math.log(2) + 90))) + 2)
    widest, inverse = _rectangle(problem, box, reach)
    order = solution.order_parameters
    overlaps = tuple(arb(float(x)) for x in (order.m[0], order.zeta[0], order.psi[0]))
    height, size = _height(problem, widest, reach, overlaps, inverse, bits)
    cuts = []
    if problem.teacher.variance == 0:
        places = [panel.right.place.rational() for panel in problem.target.panels if panel.right is not None]
        if any(place is None for place in places):
            raise BallError("at alignment 1 the breakpoints of the target have to be rational")
        # Sorted as exact numbers: doubles do not tell close ones apart.
        cuts = list(map(rational_ball, sorted((place or Fraction(0)) / problem.teacher.slope for place in places)))
    a = rational_ball(height)
    rule = panels(cuts, a, bits, size, _MOST_NODES) if cuts else trapezoidal(a, bits, size, _MOST_NODES)
    if not rule.end < rational_ball(reach):
        raise BallError("the rule along the spike is longer than the rectangle on which |1 + V| was bounded")
    return Setting(rule, inverse, height, reach, bits)


def _height(
    problem: Problem, widest: Fraction, reach: Fraction, overlaps: tuple[Ball, ...], inverse: Ball, bits: int
) -> tuple[Fraction, Ball]:
    """The height that allows the widest step, 2 pi a over the logarithm of size/accuracy, and the size there."""
    best: tuple[float, Fraction, Ball] | None = None
    for n in range(24):
        height = widest * Fraction(7, 10) ** n
        with precision(_STRIP_BITS):
            size = _largest(problem, height, reach, overlaps, inverse)
        if size is None:
            continue
        step = float(height) / (float(size.log()) + bits * math.log(2))
        if best is not None and step < best[0]:
            break
        best = (step, height, size)
    if best is None:
        raise BallError(f"no bound by a power was found for {problem.target} off the real line")
    return best[1:]


def _rectangle(problem: Problem, box: Box, reach: Fraction) -> tuple[Fraction, Ball]:
    """The largest height tried on which |1 + V| is bounded below, and the bound of its inverse."""
    overlap, tau = box
    with precision(_STRIP_BITS):
        for height in _HEIGHTS:
            around = student(problem.student, problem.along, overlap, tau, height, reach, problem.symmetric)
            if around is None:
                continue
            furthest = max(float(_HEIGHTS[-1]), _SHARE * around.distance())
            for lower in (h for h in _HEIGHTS if h <= height and h <= furthest):
                found = inverse_bound(around, lower, reach, problem.symmetric)
                if found is not None:
                    return lower, found
            break
    raise BallError("1 + V was not shown to be free of zeros around the spike")


def _largest(
    problem: Problem, height: Fraction, reach: Fraction, overlaps: tuple[Ball, ...], inverse: Ball
) -> Ball | None:
    """About the mean of the largest integrand's bound, for the choice of the rule only; None without a bound."""
    try:
        table = bounds(problem, height, reach)
    except BallError:
        return None
    m, zeta, psi = overlaps
    fixed = fixed_error(table, problem.noise, table.mu0 * m + table.along * zeta, psi)
    features = table.mu1 * table.mu1 + table.mu2_squared
    weight = Along((), features.bound).scaled(inverse * inverse)
    return ((fixed + features) * weight).bound.mean() + 1
