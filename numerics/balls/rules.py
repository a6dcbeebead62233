"""Expectations over kappa ~ N(0, 1) with enclosed errors: the trapezoidal rule on a rectangle, Gauss-Legendre panels.

A function along the spike is its balls on the nodes of one rule and a bound |F(x + iy)| <= A (1+|x|)^k that holds on
the real line and, F being analytic there, on the rectangle of the rule. Sums and products keep both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import add, mul
from typing import Any

from flint import arb, ctx

from giantsteps.numerics.balls.arithmetic import BallError, Combined, log_of, rational_ball
from giantsteps.numerics.balls.averages import Averages
from giantsteps.numerics.balls.gaussian_bounds import Envelope
from giantsteps.numerics.balls.pieces import GAIN, gauss_error, legendre
from giantsteps.numerics.balls.trapezoid import aliasing, density, lifted, nodes, rounded, sides, wanted, width

Ball = Any


@dataclass(frozen=True)
class Along(Combined):
    """A function of kappa: balls on the nodes, and a bound on the line and the rectangle of the rule.

    In sums and products a ball is a function that is constant.
    """

    values: tuple[Ball, ...]
    bound: Envelope

    def __add__(self, other: Any) -> Along:
        if isinstance(other, Along):
            return Along(tuple(map(add, self.values, other.values)), self.bound + other.bound)
        if isinstance(other, arb):
            return Along(tuple(value + other for value in self.values), self.bound + Envelope(abs(other).upper()))
        return NotImplemented

    def __neg__(self) -> Along:
        return Along(tuple(-value for value in self.values), self.bound)

    def __mul__(self, other: Any) -> Along:
        if isinstance(other, Along):
            return Along(tuple(map(mul, self.values, other.values)), self.bound * other.bound)
        return self.scaled(other) if isinstance(other, arb) else NotImplemented

    def scaled(self, factor: Ball) -> Along:
        """factor F, the factor a ball."""
        return Along(tuple(factor * value for value in self.values), self.bound.scaled(factor))


@dataclass(frozen=True)
class SpikeRule:
    """Nodes and weights (density included) of E over kappa, and what bounds the error of an integrand.

    step: of the nodes k step, |k| <= n, where they are equally spaced.
    """

    nodes: tuple[Ball, ...]
    weights: tuple[Ball, ...]
    cut: Ball
    end: Ball
    across: Ball
    sides: Ball
    step: Ball = None

    def expectation(self, function: Along) -> Ball:
        """A ball around E F(kappa), by the bound of F.

        The error is at most across E|A (1+|x|)^k| + sides A (1+end)^k + the tail beyond `cut`; the rules below say
        which factors they have.
        """
        bound = function.bound
        total = sum(map(mul, self.weights, function.values), arb(0))
        edge = bound.constant * (1 + self.end) ** bound.degree
        error = self.across * bound.mean() + self.sides * edge + bound.tail(self.cut)
        return total + arb(0, error.upper())


def trapezoidal(height: Ball, bits: int, size: Ball, most: int) -> SpikeRule:
    """The trapezoidal rule with errors of about 2**-bits of an integrand bounded by `size`.

    The error of `numerics.balls.trapezoid` on the rectangle, and the tail of what lies beyond L on the line.

    Raises BallError where more than `most` nodes are needed.
    """
    log_size = log_of(size * lifted(height))
    # Exactly representable steps, so that the nodes are exact.
    h = rational_ball(rounded(width(float(height), log_size, bits)))
    count = math.ceil(math.sqrt(2 * wanted(log_size, bits)) / float(h))
    if 2 * count > most:
        raise BallError(
            f"the rule along the spike would need {2 * count} nodes: the functions along it are analytic only within "
            f"{float(height):.2g} of the line, or grow fast off it"
        )
    end = (count + arb(1) / 2) * h
    found, weights = zip(*nodes(h, count), strict=True)
    lift = lifted(height)
    return SpikeRule(found, weights, end, end, aliasing(height, h) * lift, sides(end, h) * lift, h)


def panels(cuts: Sequence[Ball], height: Ball, bits: int, size: Ball, most: int) -> SpikeRule:
    """Gauss-Legendre panels on [-L, L] that end at the cuts: f has another analytic branch on either side of a cut.

    cuts: in increasing order.

    Proof. The half length of a panel is at most a, and so is the minor semi-axis of the ellipse of `gauss_error`. The
    ellipse reaches at most a beyond the panel, and M <= e^{a^2/2}/sqrt(2 pi) A (1 + L + a)^k. So `end` is L + a, and
    `cut` is L.

    Raises BallError where more than `most` nodes are needed.
    """
    lift = lifted(height)
    needed = wanted(log_of(size * lift), bits)
    length = math.ceil(4 * math.sqrt(2 * needed)) / 4
    order = math.ceil((needed + 6) / GAIN) + 2
    found = _composite([cut for cut in cuts if abs(cut) < length], length, 1.99 * float(height), order, most)
    if found is None:
        raise BallError(f"the rule along the spike would need more than {most} nodes")
    # The panels' half lengths add up to L.
    edge = gauss_error(order) * length * lift / (2 * arb.pi()).sqrt()
    inner, weights = zip(*found, strict=True)
    return SpikeRule(inner, weights, arb(length), arb(length) + height, arb(0), edge)


Rule = list[tuple[Ball, Ball]]


def _composite(cuts: Sequence[Ball], length: float, longest: float, order: int, most: int) -> Rule | None:
    """Nodes and weights, phi included, of panels no longer than `longest` on [-length, length] that end at the cuts.

    None where they are more than `most`.
    """
    ends = list(pairwise([arb(-length), *cuts, arb(length)]))
    pieces = [max(1, math.ceil(float((right - left).upper()) / longest)) for left, right in ends]
    if sum(pieces) * order > most:
        return None
    found = []
    for (left, right), count in zip(ends, pieces, strict=True):
        half = (right - left) / (2 * count)
        for piece in range(count):
            for node, weight in legendre(order, ctx.prec):
                x = left + (2 * piece + 1) * half + half * node
                found.append((x, half * weight * density(x)))
    return found


def on_nodes(at: Callable[[Sequence[Ball]], list[Averages]], places: Sequence[Ball], parity: str) -> list[Averages]:
    """The averages at all nodes; for a function of kappa with a parity one of each pair +-kappa is computed."""
    half = len(places) // 2
    paired = all(left == -right for left, right in zip(places[:half], reversed(places), strict=False))
    if not paired or parity not in ("odd", "even"):
        return at(places)
    upper = at(places[half:])
    sign = -1 if parity == "odd" else 1
    # z -> -z turns f(w + s z) into sign f(-w + s z), and z^j into (-1)^j z^j.
    signs = (sign, -sign, 1, sign, -1, -sign, 1, sign)
    lower = [
        Averages(*(None if ball is None else s * ball for s, ball in zip(signs, a, strict=True)))
        for a in upper[len(places) % 2 :]
    ]
    return lower[::-1] + upper
