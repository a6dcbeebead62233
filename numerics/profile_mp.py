"""Rules for E over kappa at any precision, and the functions of the ridge saddle point on their nodes (one group)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

from flint import arb, ctx

from numerics.averages_mp import Average, averages
from numerics.balls import rational_ball
from numerics.coefficients_mp import PrecisionError
from numerics.model import Model

Ball = Any
Rule = list[tuple[Ball, Ball]]

_GUARD_DIGITS = 12
_MOST_NODES = 60_000


def trapezoid(step: float, bits: int) -> Rule:
    """The trapezoidal rule of a given step, tails below 2**-bits. Raises PrecisionError for too many nodes."""
    count = math.ceil(math.sqrt(2 * math.log(2) * bits) / step)
    if 2 * count > _MOST_NODES:
        raise PrecisionError(f"the rule along the spike would need {2 * count} nodes at this precision")
    h = arb(step)
    return [(k * h, h * _density(k * h)) for k in range(-count, count + 1)]


def panels(jumps: Sequence[Ball], digits: int, share: float) -> Rule:
    """Panels between the jumps and the ends, of length at most 3/4, with about digits nodes times `share`."""
    length = math.ceil(math.sqrt(2 * math.log(10) * (digits + _GUARD_DIGITS)))
    ends = sorted([arb(-length), *jumps, arb(length)], key=float)
    rule = []
    nodes = _legendre(math.ceil(share * (0.75 * digits + 12)), ctx.prec)
    for left, right in pairwise(ends):
        pieces = max(1, math.ceil(float(right - left) / 0.75))
        half = (right - left) / (2 * pieces)
        for piece in range(pieces):
            for node, weight in nodes:
                x = (left + (2 * piece + 1) * half + half * node).mid()
                rule.append((x, half * weight * _density(x)))
    return rule


@lru_cache(maxsize=8)
def _legendre(order: int, bits: int) -> tuple[tuple[Ball, Ball], ...]:
    assert bits == ctx.prec
    return tuple(arb.legendre_p_root(order, k, weight=True) for k in range(order))


def _density(x: Ball) -> Ball:
    return (-(x * x) / 2).exp() / (2 * arb.pi()).sqrt()


@dataclass(frozen=True)
class ProfileMp:
    """Weights of a rule for E over kappa, and on its nodes mu0, mu1, kappa mu1, mu2^2, y0, y1, and y2 with noise."""

    model: Model
    weights: list[Ball]
    mu0: list[Ball]
    mu1: list[Ball]
    along: list[Ball]
    mu2_squared: list[Ball]
    y0: list[Ball]
    y1: list[Ball]
    y2: list[Ball]

    def mean(self, *factors: Sequence[Ball]) -> Ball:
        """E of a product over kappa."""
        products = list(self.weights)
        for factor in factors:
            products = [a * b for a, b in zip(products, factor, strict=True)]
        return sum(products, arb(0)).mid()


def profile_mp(model: Model, rule: Rule) -> ProfileMp:
    """The functions on the nodes of a rule; every double of the model is the binary rational that it is."""
    c, gamma = Fraction(model.bulks[0]), Fraction(model.alignment)
    rho = 1 - gamma * gamma
    nodes = [x for x, _ in rule]
    bias = Fraction(model.biases[0])
    paired = bias == 0 and all((x + y).contains(0) for x, y in zip(nodes, reversed(nodes), strict=True))
    student = _on_nodes(
        averages(model.activation, c), nodes, Fraction(model.slopes[0]), bias, model.activation.parity if paired else ""
    )
    target = _on_nodes(averages(model.target, rho), nodes, gamma, Fraction(0), model.target.parity if paired else "")
    noise, root, bulk = rational_ball(Fraction(model.noise)), rational_ball(rho).sqrt(), rational_ball(c)
    mu1 = [a.slope for a in student]
    return ProfileMp(
        model,
        [w.mid() for _, w in rule],
        [a.mean for a in student],
        mu1,
        [(x * slope).mid() for x, slope in zip(nodes, mu1, strict=True)],
        [(a.square - a.mean * a.mean - bulk * a.slope * a.slope).mid() for a in student],
        [a.mean for a in target],
        # E z g = s d/dx E g (Stein)
        [(root * a.slope).mid() for a in target],
        [(a.square + noise).mid() for a in target],
    )


def _on_nodes(
    at: Callable[[Ball], Average], nodes: Sequence[Ball], slope: Fraction, bias: Fraction, parity: str
) -> list[Average]:
    factor, shift = rational_ball(slope), rational_ball(bias)
    if slope == 0:
        return [at(shift)] * len(nodes)
    if parity not in ("odd", "even"):
        return [at((factor * x + shift).mid()) for x in nodes]
    half = len(nodes) // 2
    upper = [at((factor * x).mid()) for x in nodes[half:]]
    sign = -1 if parity == "odd" else 1
    lower = [Average(sign * a.mean, -sign * a.slope, a.square) for a in upper[len(nodes) % 2 :]]
    return lower[::-1] + upper
