"""Expectations over kappa ~ N(0, 1) with enclosed errors: the trapezoidal rule on a rectangle, Gauss-Legendre panels.

A function along the spike is its balls on the nodes of one rule and a bound |F(x + iy)| <= A (1+|x|)^k that holds on
the real line and, F being analytic there, on the rectangle of the rule. Sums and products keep both.

Rules for E over kappa at any precision, and the functions of the ridge saddle point on their nodes (one group).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from operator import add, mul
from typing import Any

from flint import arb, ctx

from onestep.numerics.balls.arithmetic import BallError, PrecisionError, rational_ball
from onestep.numerics.balls.averages_mp import Average, averages
from onestep.numerics.balls.growth_bounds import Bound
from onestep.numerics.models.model import Model

Ball = Any


@dataclass(frozen=True)
class Along:
    """A function of kappa: balls on the nodes, and a bound on the line and the rectangle of the rule."""

    values: tuple[Ball, ...]
    bound: Bound

    def __add__(self, other: Along) -> Along:
        return Along(tuple(map(add, self.values, other.values)), self.bound + other.bound)

    def __sub__(self, other: Along) -> Along:
        return self + other.scaled(arb(-1))

    def __mul__(self, other: Along) -> Along:
        return Along(tuple(map(mul, self.values, other.values)), self.bound * other.bound)

    def scaled(self, factor: Ball) -> Along:
        """factor F, the factor a ball."""
        return Along(tuple(factor * value for value in self.values), self.bound.scaled(factor))


@dataclass(frozen=True)
class SpikeRule:
    """Nodes and weights (density included) of E over kappa, and what bounds the error of an integrand."""

    nodes: tuple[Ball, ...]
    weights: tuple[Ball, ...]
    cut: Ball
    end: Ball
    across: Ball
    sides: Ball

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

    Proof. Let f be real on the real axis and analytic on the rectangle |Re| <= L, |Im| <= a, with L = (n + 1/2) h. By
    residues h sum_{|k|<=n} f(kh) = (1/2i) oint f(z) cot(pi z/h) dz. In the upper half cot w = -i(1 + 2e/(1-e)) with
    e = e^{2iw}; the 1 gives half of the integral over [-L, L], so that the sum differs from the integral by at most
    the integrals of |f| |e/(1-e)| over the other three sides, in both halves. On the top |e| = e^{-2 pi a/h}; on the
    sides e = -e^{-2 pi y/h}, so |e/(1-e)| <= e^{-2 pi y/h}, of integral at most h/(2 pi). With f = phi F, |F| <= A
    (1+|x|)^k and |phi(x + iy)| = phi(x) e^{y^2/2}, this is 2 e^{a^2/2} A E(1+|x|)^k/(e^{2 pi a/h} - 1)
    + 4 (h/2 pi) e^{a^2/2} phi(L) A (1+L)^k; what lies beyond L on the line is bounded by its tail.

    Raises BallError where more than `most` nodes are needed.
    """
    lift = (height * height / 2).exp()
    needed = float((size * lift).upper().log()) + bits * math.log(2)
    # Exactly representable steps, so that the nodes are exact.
    h = _dyadic(2 * math.pi * float(height) / needed)
    count = math.ceil(math.sqrt(2 * needed) / float(h))
    if 2 * count > most:
        raise BallError(
            f"the rule along the spike would need {2 * count} nodes: the functions along it are analytic only within "
            f"{float(height):.2g} of the line, or grow fast off it"
        )
    end = (count + arb(1) / 2) * h
    nodes = tuple(k * h for k in range(-count, count + 1))
    across = 2 * lift / ((2 * arb.pi() * height / h).exp() - 1)
    sides = 4 * h / (2 * arb.pi()) * lift * _density(end)
    return SpikeRule(nodes, tuple(h * _density(x) for x in nodes), end, end, across, sides)


def panels(cuts: Sequence[Ball], height: Ball, bits: int, size: Ball, most: int) -> SpikeRule:
    """Gauss-Legendre panels on [-L, L] that end at the cuts: f has another analytic branch on either side of a cut.

    Proof. On a panel of half length s let f be analytic and bounded by M within the ellipse of foci at the ends of the
    panel and semi-axes s (rho +- 1/rho)/2. Its Chebyshev coefficients are at most 2 M rho^-j, so that a polynomial of
    degree 2N - 1 is within 2 M rho^{-2N}/(1 - 1/rho) of f on the panel. The N-node rule integrates it, and has positive
    weights of sum 2s: its error is at most 8 s M rho^{-2N}/(1 - 1/rho). Here s (rho - 1/rho)/2 <= a, the ellipse
    reaches at most a beyond the panel, and M <= e^{a^2/2}/sqrt(2 pi) A (1 + L + a)^k. So `end` is L + a, and `cut`
    is L.

    Raises BallError where more than `most` nodes are needed.
    """
    lift = (height * height / 2).exp()
    needed = float((size * lift).upper().log()) + bits * math.log(2)
    length = math.ceil(4 * math.sqrt(2 * needed)) / 4
    # rho = 1 + sqrt 2 where s = a: (rho - 1/rho)/2 = 1.
    rho = 1 + arb(2).sqrt()
    order = math.ceil((needed + 6) / (2 * math.log(float(rho)))) + 2
    ends = sorted([arb(-length), *(cut for cut in cuts if abs(cut) < length), arb(length)], key=float)
    nodes, weights, total = [], [], arb(0)
    for left, right in pairwise(ends):
        pieces = max(1, math.ceil(float((right - left).upper()) / (1.99 * float(height))))
        if pieces * order * len(ends) > most:
            raise BallError(f"the rule along the spike would need more than {most} nodes")
        half = (right - left) / (2 * pieces)
        total += half * pieces
        for piece in range(pieces):
            middle = left + (2 * piece + 1) * half
            for node, weight in _legendre(order, ctx.prec):
                x = middle + half * node
                nodes.append(x)
                weights.append(half * weight * _density(x))
    sides = 8 * total * rho ** (-2 * order) / (1 - 1 / rho) * lift / (2 * arb.pi()).sqrt()
    return SpikeRule(tuple(nodes), tuple(weights), arb(length), arb(length) + height, arb(0), sides)


def _dyadic(step: float) -> Ball:
    """The step rounded down to sixteen binary digits."""
    exponent = math.frexp(step)[1]
    return arb(math.floor(math.ldexp(step, 16 - exponent))) * arb(2) ** (exponent - 16)


def _density(x: Ball) -> Ball:
    return (-(x * x) / 2).exp() / (2 * arb.pi()).sqrt()


@lru_cache(maxsize=32)
def _legendre(order: int, bits: int) -> tuple[tuple[Ball, Ball], ...]:
    """Nodes and weights of the Gauss-Legendre rule on [-1, 1] as balls at the current precision `bits`."""
    assert bits == ctx.prec
    return tuple(arb.legendre_p_root(order, k, weight=True) for k in range(order))


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


def panels_of_digits(jumps: Sequence[Ball], digits: int, share: float) -> Rule:
    """Panels between the jumps and the ends, of length at most 3/4, with about digits nodes times `share`."""
    length = math.ceil(math.sqrt(2 * math.log(10) * (digits + _GUARD_DIGITS)))
    ends = sorted([arb(-length), *jumps, arb(length)], key=float)
    rule = []
    nodes = _legendre_of_digits(math.ceil(share * (0.75 * digits + 12)), ctx.prec)
    for left, right in pairwise(ends):
        pieces = max(1, math.ceil(float(right - left) / 0.75))
        half = (right - left) / (2 * pieces)
        for piece in range(pieces):
            for node, weight in nodes:
                x = (left + (2 * piece + 1) * half + half * node).mid()
                rule.append((x, half * weight * _density(x)))
    return rule


@lru_cache(maxsize=8)
def _legendre_of_digits(order: int, bits: int) -> tuple[tuple[Ball, Ball], ...]:
    assert bits == ctx.prec
    return tuple(arb.legendre_p_root(order, k, weight=True) for k in range(order))


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
