"""Averages over labels in ball arithmetic, Y = g(u) - m + sqrt(noise) e: E[u^i Y^j], and E[u^i Y^j/D^k] of D = 1 + b1 Y
+ b2 Y^2 > 0, k = 1, 2, 3.

Two powers of Y are enough at the midpoint of (b1, b2): with Y^2 = (D - 1 - b1 Y)/b2 the rest follows,

    E[u^i Y^(j+2)/D^k] = (E[u^i Y^j/D^(k-1)] - E[u^i Y^j/D^k] - b1 E[u^i Y^(j+1)/D^k])/b2.

In a box D moves by a share of itself: on the line D >= 1 - b1^2/(4 b2), |Y|/D and Y^2/D are bounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

from flint import arb

from giantsteps.derivations.activations.activation import Activation
from giantsteps.numerics.balls.arithmetic import BallError, rational_ball
from giantsteps.numerics.balls.integrals import Moment, expectations
from giantsteps.numerics.certificates.network.spread_labels import (
    SpreadLabels,
    average,
    panels_of,
    sizes_of,
    spread_labels,
)

Ball = Any

_HERMITES = {0: (1,), 1: (0, 1), 2: (1, 0, 1)}


@dataclass(frozen=True, eq=False)
class LabelBalls:
    """The labels g(u) - centre + sqrt(noise) e of the batch, e ~ N(0, 1), averages to about 2**-bits."""

    target: Activation
    centre: Ball
    bits: int
    noise: Fraction = Fraction(0)
    _spread: list[SpreadLabels] = field(default_factory=list)
    _known: dict[tuple[Ball, Ball, int], list[list[Ball]]] = field(default_factory=dict)

    def moments(self, power: int) -> tuple[list[Ball], list[Ball], list[Ball]]:
        """E[u^i Y^j] for i = 0, 1, 2 and j = 0, .., power."""
        plain = _target_moments(self.target, power, self.bits)
        # E (sqrt(noise) e - centre)^k: odd powers of e have no mean.
        noise = rational_ball(self.noise)
        shift = [
            sum(
                (
                    math.comb(k, 2 * n) * math.prod(range(1, 2 * n, 2)) * noise**n * (-self.centre) ** (k - 2 * n)
                    for n in range(k // 2 + 1)
                ),
                arb(0),
            )
            for k in range(power + 1)
        ]
        found = []
        for i in range(3):
            row = []
            for j in range(power + 1):
                terms = [math.comb(j, n) * plain[i][n] * shift[j - n] for n in range(j + 1)]
                row.append(sum(terms, arb(0)))
            found.append(row)
        return found[0], found[1], found[2]

    def over(self, b1: Ball, b2: Ball, power: int, orders: int = 2) -> tuple[list[list[Ball]], ...]:
        """E[u^i Y^j/D^k] over the box (b1, b2), [k - 1][i][j] for k = 1, .., orders and j up to power + 2 (k - 1).

        At the midpoint first. With |D(b) - D(middle)| <= share D(middle) on the line the rest of the box moves an
        average by at most (1 - share)^-k - 1 times that of the absolute value, which Cauchy's inequality bounds.
        `power` is even. Raises BallError where D is not shown to be positive.
        """
        middle = b1.mid(), b2.mid()
        lowest = 1 - middle[0] * middle[0] / (4 * middle[1])
        if not (middle[1] > 0 and lowest > 0):
            raise BallError("1 + b1 Y + b2 Y^2 is not shown to be positive on the line")
        # |Y| <= |Y + b1/(2 b2)| + |b1/(2 b2)|, and D = lowest + b2 (Y + b1/(2 b2))^2; Y^2 = (D - 1 - b1 Y)/b2.
        s0, s1 = (size.upper() for size in sizes_of(*middle)[:2])
        s2 = ((1 + s0 + abs(middle[0]) * s1) / middle[1]).upper()
        share = (s1 * arb(b1.rad()) + s2 * arb(b2.rad())).upper()
        if not share < 1:
            raise BallError("1 + b1 Y + b2 Y^2 is not shown to be positive on the line")
        found = self._at(*middle, power, orders)
        if share == 0:
            return found
        return tuple(_widened(rows, (1 - share) ** -(k + 1) - 1) for k, rows in enumerate(found))

    def _at(self, b1: Ball, b2: Ball, power: int, orders: int) -> tuple[list[list[Ball]], ...]:
        """The averages at exact b1 and b2."""
        if (b1, b2, orders) not in self._known:
            self._known[b1, b2, orders] = self._base(b1, b2, orders)
        base = self._known[b1, b2, orders]
        found = [list(rows) for rows in self.moments(power)]
        tables = []
        for k in range(orders):
            table = []
            for i in range(3):
                row = [base[i][2 * k], base[i][2 * k + 1]]
                for j in range(power + 2 * k - 1):
                    row.append((found[i][j] - row[j] - b1 * row[j + 1]) / b2)
                table.append(row)
            tables.append(table)
            found = table
        return tuple(tables)

    def _base(self, b1: Ball, b2: Ball, orders: int) -> list[list[Ball]]:
        if self.noise == 0:
            return _base(self.target, self.centre, b1, b2, self.bits, orders)
        if not self._spread:
            self._spread.append(spread_labels(self.target, self.centre, self.noise, b1, b2, self.bits))
        return self._spread[0].over(b1, b2, orders)


def _widened(rows: list[list[Ball]], moved: Ball) -> list[list[Ball]]:
    """Averages of u^i Y^j, each by `moved` times a bound of the average of its absolute value."""
    plain, _, twice = rows

    def size(i: int, j: int) -> Ball:
        # |u|^i |Y|^j = (|u|^i |Y|^n) |Y|^l or (|Y|^n)(u^2 |Y|^l) under the root, n + l = 2 j both even.
        low, high = (j, j) if j % 2 == 0 else (j - 1, j + 1)
        first, second = (plain, twice)[i // 2], (plain, twice)[(i + 1) // 2]
        return abs(first[low] * second[high]).sqrt().upper()

    return [[ball + arb(0, (moved * size(i, j)).upper()) for j, ball in enumerate(row)] for i, row in enumerate(rows)]


@lru_cache(maxsize=16)
def _target_moments(target: Activation, power: int, bits: int) -> list[list[Ball]]:
    """E[u^i g^j]."""
    wanted = [Moment(i, j) for i in range(3) for j in range(1, power + 1)]
    balls = expectations(target, tuple(wanted), bits=bits)
    found = {(moment.hermite, moment.sigma): ball for moment, ball in zip(wanted, balls, strict=True)}
    for i in range(3):
        found[i, 0] = arb(1 if i == 0 else 0)
    return [
        [sum((weight * found[order, j] for order, weight in enumerate(_HERMITES[i])), arb(0)) for j in range(power + 1)]
        for i in range(3)
    ]


def _base(target: Activation, centre: Ball, b1: Ball, b2: Ball, bits: int, orders: int) -> list[list[Ball]]:
    """E[u^i/D^k] and E[u^i Y/D^k], k = 1, .., orders, at exact b1 and b2, by panels between the breakpoints of g."""
    panels = panels_of(target, math.ceil(math.sqrt(2.0 * math.log(2.0) * (bits + 8))))

    def share(k: int, odd: int) -> Callable[[Ball, Ball], Ball]:
        def of(g: Ball, exponent: Ball) -> Ball:
            y = g - centre
            return (1 / (1 + y * (b1 + b2 * y))) ** k * y**odd * exponent.exp()

        return of

    functions = [share(k, odd) for k in range(1, orders + 1) for odd in (0, 1)]
    sizes = sizes_of(b1, b2, orders)
    return [[average(panels, i, f, size, bits + 8) for f, size in zip(functions, sizes, strict=True)] for i in range(3)]
