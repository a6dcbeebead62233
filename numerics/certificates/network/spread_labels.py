"""Averages over labels with noise, Y = g(u) - m + s e: one grid of Y for all of them, with derived errors.

With rho_i(Y) = E[u^i phi((Y - g(u) + m)/s)/s] the averages are E[u^i F(Y)] = int F rho_i. Below the height P of the
zeros of D the function F is analytic and bounded, and the density around each label is entire, so that the trapezoidal
rule of step h errs by at most aliasing(y/s, h/s) e^{y^2/(2 s^2)} |F| for any height y < P (`balls.trapezoid`), whatever
u is. What the grid leaves out needs no bound of g: with F = 1 the whole sum of h rho_0 is 1, that of h rho_2 is E u^2 =
1, each up to its own aliasing, and |rho_1|^2 <= rho_0 rho_2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import acb, arb

from giantsteps.derivations.activations.activation import Activation
from giantsteps.numerics.balls.arithmetic import BallError, Program, location_ball, program, rational_ball
from giantsteps.numerics.balls.trapezoid import aliasing, density, lifted, rounded

Ball = Any

_MOST_NODES = 1500
_MOST_EVALUATIONS = 40_000
# Of the height of the zeros of D: how far the rule goes off the line.
_SHARE = Fraction(3, 4)


@dataclass(frozen=True)
class SpreadLabels:
    """h rho_i on the nodes k h, what their sums miss of those of all nodes, i = 0, 1, 2, and how high off the line."""

    tall: Ball
    step: Ball
    scale: Ball
    nodes: tuple[Ball, ...]
    weights: tuple[tuple[Ball, ...], ...]
    missing: tuple[Ball, ...]

    def over(self, b1: Ball, b2: Ball, orders: int = 2) -> list[list[Ball]]:
        """E[u^i/D^k] and E[u^i Y/D^k], k = 1, .., orders, for exact b1 and b2."""
        sizes = sizes_of(b1, b2, orders)
        # No higher than planned, nor than keeps away from the zeros.
        height = self.tall.min(_height(b1, b2) * rational_ball(_SHARE))
        y = height / self.scale
        # At this height |D| >= b2 (P - y)^2, and |Y| <= |Y - zero| + |zero|, once and for each zero.
        gap = _height(b1, b2) * (1 - rational_ball(_SHARE))
        share = 1 / (b2 * gap * gap)
        zero = (1 / b2).sqrt()
        along = (1 / (b2 * gap)) + share * zero
        off = [f * share**k for k in range(orders) for f in (share, along)]
        factor = aliasing(y, self.step / self.scale) * lifted(y)
        shares = [1 / (1 + y * (b1 + b2 * y)) for y in self.nodes]
        values = [shares, [f * y for f, y in zip(shares, self.nodes, strict=True)]]
        for k in range(2, 2 * orders):
            values.append([f * g for f, g in zip(values[k - 2], shares, strict=True)])
        return [
            [
                sum((w * f for w, f in zip(weights, row, strict=True)), arb(0))
                + arb(0, (size * missing + factor * bound).upper())
                for row, size, bound in zip(values, sizes, off, strict=True)
            ]
            for weights, missing in zip(self.weights, self.missing, strict=True)
        ]


def sizes_of(b1: Ball, b2: Ball, orders: int = 2) -> list[Ball]:
    """Upper bounds of 1/D^k and |Y|/D^k on the line, k = 1, .., orders."""
    lowest = 1 - b1 * b1 / (4 * b2)
    first = 1 / lowest
    second = 1 / (2 * (b2 * lowest).sqrt()) + abs(b1) / (2 * b2 * lowest)
    return [f * first**k for k in range(orders) for f in (first, second)]


def _height(b1: Ball, b2: Ball) -> Ball:
    """How far the zeros of D are off the line."""
    return (4 * b2 - b1 * b1).sqrt() / (2 * b2)


def panels_of(target: Activation, length: int) -> list[tuple[Program, Ball, Ball]]:
    """The branches of the target and their ends in u, within |u| <= length. Raises BallError for one beyond it."""
    cuts = [location_ball(panel.right.place) for panel in target.panels if panel.right is not None]
    ends = [arb(-length), *cuts, arb(length)]
    found = []
    for panel, left, right in zip(target.panels, ends, ends[1:], strict=False):
        if not left < right:
            raise BallError("a breakpoint of the target lies beyond what is integrated over")
        found.append((program(panel.branch), left, right))
    return found


def average(
    panels: list[tuple[Program, Ball, Ball]], i: int, function: Callable[[Ball, Ball], Ball], size: Ball, bits: int
) -> Ball:
    """E[u^i F(g(u))] to about 2**-bits, |F| <= size on the line, by adaptive integrals on the panels of g.

    `function` takes g and e to F(g) exp(e), complex off the line. Raises BallError where integrals do not end.
    """
    length = panels[-1][2]
    # E[u^2; |u| > L] = 2 (L phi(L) + P(u > L)) <= 2 (L + 1) phi(L), which bounds those of 1 and |u|, too. Breakpoints
    # lie within their balls: the sliver between, by its width and the bound.
    slack = sum((arb(left.rad()) + arb(right.rad()) for _, left, right in panels), arb(0)) * length**2
    total, tolerance = arb(0, (size * (2 * (length + 1) * density(length) + slack)).upper()), arb(2) ** -bits
    for code, left, right in panels:

        def integrand(u: Ball, analytic: bool, code: Program = code) -> Ball:
            return acb(u**i * function(code.run(u, analytic)[0], -u * u / 2))

        whole = acb.integral(
            integrand, left.mid(), right.mid(), abs_tol=tolerance, rel_tol=tolerance, eval_limit=_MOST_EVALUATIONS
        )
        total += whole.real * density(arb(0))
    if not total.is_finite():
        raise BallError("the averages over labels were not enclosed at this precision")
    return total


def spread_labels(target: Activation, centre: Ball, noise: Fraction, b1: Ball, b2: Ball, bits: int) -> SpreadLabels:
    """The grid whose errors are about 2**-bits for such b1 and b2. Raises BallError where it would be too large."""
    scale = rational_ball(noise).sqrt()
    wanted = (bits + 16) * math.log(2.0)
    # Higher up the Gaussian grows faster than the aliasing falls.
    tall = min(float(_SHARE) * float(_height(b1, b2)), float(scale) * math.sqrt(2.0 * wanted))
    step = rounded(2.0 * math.pi * tall / (wanted + (tall / float(scale)) ** 2 / 2.0))
    length = math.ceil(math.sqrt(2.0 * wanted))
    panels = panels_of(target, length)
    lowest, highest = _range(panels, centre)
    low, high = (
        round((end + side * float(scale) * length) / float(step)) for end, side in ((lowest, -1), (highest, 1))
    )
    if high - low > _MOST_NODES:
        raise BallError(f"the labels need {high - low} nodes: their noise is small compared with their range")
    h = rational_ball(step)
    nodes = tuple(k * h for k in range(low, high + 1))
    top = h / scale * density(arb(0))

    def weight(i: int, place: Ball) -> Ball:
        """h rho_i."""

        def around(g: Ball, exponent: Ball) -> Ball:
            x = (place - g) / scale
            return top * (exponent - x * x / 2).exp()

        return average(panels, i, around, top, bits + 16)

    weights = tuple(tuple(weight(i, node + centre) for node in nodes) for i in range(3))
    y = arb(tall) / scale
    factor = aliasing(y, h / scale) * lifted(y)
    whole, _, square = ((1 + factor - sum(row, arb(0))).upper().max(arb(0)) for row in weights)
    missing = (whole, (whole * square).sqrt().upper(), square)
    return SpreadLabels(arb(tall), h, scale, nodes, weights, missing)


def _range(panels: list[tuple[Program, Ball, Ball]], centre: Ball) -> tuple[float, float]:
    """About the least and the largest label without noise: what lies beyond them is bounded by what is missing."""
    found = []
    for code, left, right in panels:
        places = [left.mid() + (right.mid() - left.mid()) * k / 64 for k in range(65)]
        found += [float(code.run(u)[0] - centre) for u in places]
    return min(found), max(found)
