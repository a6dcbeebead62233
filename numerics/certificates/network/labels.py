"""Averages over labels in ball arithmetic, Y = g(u) - m + sqrt(noise) e: E[u^i Y^j], and E[u^i Y^j/D^k] of D = 1 + b1 Y
+ b2 Y^2 > 0, k = 1, 2.

Two powers of Y are enough at the midpoint of (b1, b2): with Y^2 = (D - 1 - b1 Y)/b2 the rest follows,

    E[u^i Y^(j+2)/D^k] = (E[u^i Y^j/D^(k-1)] - E[u^i Y^j/D^k] - b1 E[u^i Y^(j+1)/D^k])/b2.

In a box they move by their slopes times its radii, and on the line D >= 1 - b1^2/(4 b2), |Y|/D and Y^2/D are bounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

from flint import acb, arb, ctx

from onestep.derivations.activations.activation import Activation
from onestep.numerics.balls.arithmetic import BallError, Program, rational_ball
from onestep.numerics.balls.integrals import Moment, expectations
from onestep.numerics.balls.trapezoid import density
from onestep.numerics.certificates.network.spread_labels import SpreadLabels, panels_of, sizes_of, spread_labels

Ball = Any

_MOST_EVALUATIONS = 40_000
_HERMITES = {0: (1,), 1: (0, 1), 2: (1, 0, 1)}


@dataclass(frozen=True, eq=False)
class LabelBalls:
    """The labels g(u) - centre + sqrt(noise) e of the batch, e ~ N(0, 1), averages to about 2**-bits."""

    target: Activation
    centre: Ball
    bits: int
    noise: Fraction = Fraction(0)
    _spread: list[SpreadLabels] = field(default_factory=list)
    _known: dict[tuple[Ball, Ball], list[list[Ball]]] = field(default_factory=dict)

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

    def over(self, b1: Ball, b2: Ball, power: int) -> tuple[list[list[Ball]], list[list[Ball]]]:
        """E[u^i Y^j/D] and E[u^i Y^j/D^2] over the box (b1, b2), [i][j] for j up to `power` and `power` + 2.

        Raises BallError where D is not shown to be positive.
        """
        lowest = 1 - b1 * b1 / (4 * b2)
        if not (b2 > 0 and lowest > 0):
            raise BallError("1 + b1 Y + b2 Y^2 is not shown to be positive on the line")
        place = b1.mid(), b2.mid()
        if place not in self._known:
            self._known[place] = self._base(*place)
        base = self._known[place]
        s0 = (1 / lowest).upper()
        # |Y| <= |Y + b1/(2 b2)| + |b1/(2 b2)|, and D = lowest + b2 (Y + b1/(2 b2))^2.
        s1 = (1 / (2 * (b2 * lowest).sqrt()) + abs(b1) / (2 * b2 * lowest)).upper()
        s2 = ((1 + s0 + abs(b1) * s1) / b2).upper()
        d1, d2 = arb(b1.rad()), arb(b2.rad())
        # Slopes of E[Y^j/D^k]: -k Y^(j+1)/D^(k+1) and -k Y^(j+2)/D^(k+1); E|u|^i <= 1.
        moved = [
            [(s0 * s1) * d1 + (s1 * s1) * d2, (s1 * s1) * d1 + (s1 * s2) * d2],
            [2 * (s0 * s0 * s1 * d1 + s0 * s1 * s1 * d2), 2 * (s0 * s1 * s1 * d1 + s1 * s1 * s1 * d2)],
        ]
        plain = self.moments(power)
        once, twice = [], []
        for i in range(3):
            first = [base[i][j] + arb(0, moved[0][j].upper()) for j in (0, 1)]
            for j in range(power - 1):
                first.append((plain[i][j] - first[j] - b1 * first[j + 1]) / b2)
            second = [base[i][j + 2] + arb(0, moved[1][j].upper()) for j in (0, 1)]
            for j in range(power + 1):
                second.append((first[j] - second[j] - b1 * second[j + 1]) / b2)
            once.append(first)
            twice.append(second)
        return once, twice

    def _base(self, b1: Ball, b2: Ball) -> list[list[Ball]]:
        if self.noise == 0:
            return _base(self.target, self.centre, b1, b2, self.bits)
        if not self._spread:
            self._spread.append(spread_labels(self.target, self.centre, self.noise, b1, b2, self.bits))
        return self._spread[0].over(b1, b2)


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


def _base(target: Activation, centre: Ball, b1: Ball, b2: Ball, bits: int) -> list[list[Ball]]:
    """E[u^i/D], E[u^i Y/D], E[u^i/D^2] and E[u^i Y/D^2] at exact b1 and b2, by panels between the breakpoints of g."""
    length = math.ceil(math.sqrt(2.0 * math.log(2.0) * (bits + 8)))
    sizes = sizes_of(b1, b2)
    # E[u^2; |u| > L] = 2 (L phi(L) + P(u > L)) <= 2 (L + 1) phi(L), which bounds those of 1 and |u|, too.
    tail = 2 * (length + 1) * density(arb(length))
    found = [[arb(0, (tail * size).upper()) for size in sizes] for _ in range(3)]
    tolerance = arb(2) ** -(bits + 8)
    for code, left, right in panels_of(target, length):
        for i, which in product(range(3), range(4)):
            whole = acb.integral(
                _integrand(code, centre, b1, b2, i, which), left.mid(), right.mid(),
                abs_tol=tolerance, rel_tol=tolerance, eval_limit=_MOST_EVALUATIONS,
            ).real / (2 * arb.pi()).sqrt()  # fmt: skip
            # The breakpoint lies within its ball: the sliver between, by its width and the bound.
            slack = sizes[which] * (arb(left.rad()) + arb(right.rad())) * length**2
            found[i][which] += whole + arb(0, slack.upper())
    if not all(ball.is_finite() for row in found for ball in row):
        raise BallError("the averages over labels were not enclosed at this precision")
    assert ctx.prec >= bits
    return found


def _integrand(code: Program, centre: Ball, b1: Ball, b2: Ball, i: int, which: int) -> Callable[[Ball, bool], Ball]:
    """u^i times 1/D, Y/D, 1/D^2 or Y/D^2, times e^(-u^2/2); not finite where it is not shown to be analytic."""

    def integrand(u: Ball, analytic: bool) -> Ball:
        y = code.run(u, analytic)[0] - centre
        share = 1 / (1 + y * (b1 + b2 * y))
        value = share * share if which >= 2 else share
        value = value * y if which % 2 else value
        return acb(value * u**i * (-u * u / 2).exp())

    return integrand
