"""Gaussian averages at many real places w at once: E f, E z f, E f^2 and E z^2 f of f(w + s z), z ~ N(0, 1), as balls.

Two kinds of f, as in `numerics.balls.averages`: polynomials between rational breakpoints by the closed forms there, and
f analytic in a strip by the trapezoidal rule on one grid of u = w + s z that all w and s share, so that f is evaluated
once at each of its nodes. Their midpoints are the averages of the saddle point at any precision.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate, repeat
from operator import mul
from typing import Any

from flint import arb, arb_mat

from giantsteps.derivations.activations.activation import Activation
from giantsteps.numerics.balls.arithmetic import BallError, Program, program, rational_ball
from giantsteps.numerics.balls.averages import ORDERS, Averages, Exact, across, polynomial_smoothing
from giantsteps.numerics.balls.trapezoid import rounded

Ball = Any
Column = tuple[Ball, Ball, Ball]

# Nodes of places that share a matrix.
_BLOCK = 32
_MOST_NODES = 200_000
# Rows of all matrices of one call: four balls each, half a kilobyte.
_MOST_ROWS = 2_000_000


def derivatives(average: Averages, scale: Ball) -> Column:
    """h_n(w) = d^n/dw^n E f(w + s z) = E[He_n(z) f(w + s z)]/s^n, n = 0, 1, 2 (Stein's lemma)."""
    return average.mean, average.first / scale, (average.second - average.mean) / (scale * scale)


@dataclass
class Smoother:
    """The averages of one function with errors of about 2**-bits, at the precision it was made for."""

    function: Activation
    bits: int
    _grids: dict[Fraction, _Grid] = field(default_factory=dict)

    def at(self, places: Sequence[Ball], scale: Ball) -> list[Averages]:
        """The averages at each place w, for one scale s >= 0. Raises BallError for functions of neither kind."""
        if scale == 0:
            exact = Exact(self.function)
            return [exact.at(place) for place in places]
        closed = polynomial_smoothing(self.function, scale)
        if closed is not None:
            return [closed.at(place) for place in places]
        return self._by_rule(places, scale)

    def _by_rule(self, places: Sequence[Ball], scale: Ball) -> list[Averages]:
        """Sums over u = (i + m) h around the middle i h of a block of places, with delta = i h - w:

        the density at u is phi(m h/s)/s times e^{-delta^2/(2 s^2)} beta^m, beta = e^{-delta h/s^2}, and u - w = delta +
        m h. The former is in a matrix with f, f m, f^2 and f m^2, once for all places of a block.
        """
        size = max((abs(place).upper() for place in places), key=float)
        rule = across(self.function, scale, Fraction(0), size, self.bits, ORDERS[:4])
        step = rounded(rule.plan.width * float(scale), 3)
        h, variance = rational_ball(step), scale * scale
        # One for the place in its block, one for the sum beyond the end as an integral.
        count = math.ceil(float(rule.end) * float(scale.upper()) / float(step)) + 2
        if 2 * count > _MOST_NODES:
            raise BallError(f"the rule across the spike needs {2 * count} nodes for {self.function}")
        blocks = [_BLOCK * round(float(place) / float(step) / _BLOCK) for place in places]
        if 2 * count * len(set(blocks)) > _MOST_ROWS:
            raise BallError(f"the rule across the spike needs {2 * count} nodes at {len(set(blocks))} places")
        errors = [arb(0, error) for error in rule.errors(h / scale, rational_ball(rule.end))]
        grid = self._grids.setdefault(step, _Grid(program(self.function.panels[0].branch), step))
        half, unit = count + _BLOCK // 2, h / (scale * (2 * arb.pi()).sqrt())
        common = [unit * (-(m * h) * (m * h) / (2 * variance)).exp() for m in range(-half, half + 1)]
        matrices: dict[int, Any] = {}
        found = []
        for place, middle in zip(places, blocks, strict=True):
            if middle not in matrices:
                matrices[middle] = _matrix(common, grid.around(middle, half))
            delta = middle * h - place
            start = ((half * h - delta / 2) * delta / variance).exp()
            ratio = (-delta * h / variance).exp()
            row = list(accumulate(repeat(ratio, 2 * half), mul, initial=start))
            sums = arb_mat(1, 2 * half + 1, row) * matrices[middle]
            mean, first, square, second = (sums[0, i] for i in range(4))
            second = (delta * delta * mean + 2 * delta * h * first + h * h * second) / variance
            first = (delta * mean + h * first) / scale
            found.append(Averages(mean + errors[0], first + errors[1], square + errors[2], second + errors[3]))
        return found


def _matrix(common: Sequence[Ball], values: Sequence[Ball]) -> Any:
    rows, half = [], len(common) // 2
    for m, weight, value in zip(range(-half, half + 1), common, values, strict=True):
        plain = weight * value
        rows.append([plain, plain * m, plain * value, plain * (m * m)])
    return arb_mat(rows)


@dataclass
class _Grid:
    """f(i h) for a growing range of i around 0."""

    code: Program
    step: Fraction
    _reach: int = -1
    _values: list[Ball] = field(default_factory=list)

    def around(self, centre: int, half: int) -> list[Ball]:
        """f(i h) for |i - centre| <= half."""
        if abs(centre) + half > self._reach:
            self._extend(abs(centre) + 2 * half)
        start = centre - half + self._reach
        return self._values[start : start + 2 * half + 1]

    def _extend(self, reach: int) -> None:
        h = rational_ball(self.step)
        right = [self.code.run(i * h)[0] for i in range(self._reach + 1, reach + 1)]
        left = [self.code.run(-i * h)[0] for i in range(max(1, self._reach + 1), reach + 1)]
        self._values = [*reversed(left), *self._values, *right]
        self._reach = reach
