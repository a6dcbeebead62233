"""The functions along the spike to any precision: of what is analytic around the line, and of polynomials in pieces.

E f, E z f, E z^2 f and E f^2 of f(a + s z) at many places a. With x = a + s z an analytic f is summed by the
trapezoidal rule over x, so that f is evaluated once for all places; polynomials between cuts by their moments.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import pairwise
from operator import add, mul
from typing import Any, NamedTuple

from flint import arb, arb_mat, ctx

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.activations.strip_growth import strip_growth
from giantsteps.derivations.expressions import tree
from giantsteps.derivations.expressions.calculus import derivative
from giantsteps.derivations.expressions.exact import PrecisionError, rational_ball
from giantsteps.derivations.expressions.normal_form import as_polynomial
from giantsteps.verify.compiled.balls import Ball, BallRule, geometric

_FUNCTIONS: dict[str, Callable[[Ball], Ball]] = {
    "sigmoid": lambda u: 1 / (1 + (-u).exp()),
    "softplus": lambda u: u.exp().log1p(),
    "Abs": abs,
}
_BLOCK = 64  # places whose rows of the density stand in one matrix
_NEITHER = (
    "digits require functions that are analytic around the line, or polynomials between breakpoints, for example "
    "tanh(z) or relu(z); {} is neither"
)
_SIGNS = {"even": 1, "odd": -1}
_LOG2, _LOG10 = math.log(2.0), math.log(10.0)


class Averages(NamedTuple):
    """E f, E z f, E z^2 f and E f^2, by place."""

    mean: list[Ball]
    first: list[Ball]
    second: list[Ball]
    square: list[Ball]


def evaluated(expression: tree.Expression, x: Ball) -> Ball:
    """The value of an analytic expression."""
    match expression:
        case tree.Variable():
            return x
        case tree.Number(value):
            return rational_ball(value)
        case tree.Constant(name):
            return arb.pi() if name == "pi" else arb(1).exp()
        case tree.Sum(terms):
            return reduce(add, (evaluated(term, x) for term in terms))
        case tree.Product(factors):
            return reduce(mul, (evaluated(factor, x) for factor in factors))
        case tree.Power(base, tree.Number(value)) if value.denominator == 1:
            return evaluated(base, x) ** int(value)
        case tree.Power(base, exponent):
            return evaluated(base, x) ** evaluated(exponent, x)
        case tree.Quotient(above, below):
            return evaluated(above, x) / evaluated(below, x)
        case tree.Call(name, argument):
            u = evaluated(argument, x)
            return _FUNCTIONS[name](u) if name in _FUNCTIONS else getattr(u, name)()
    raise PrecisionError(f"{expression} is not analytic here")


def reach(functions: Sequence[Activation], scale: float, bits: int, power: int = 2) -> float:
    """Beyond it the density times this power of the functions, z^4 and more is below 2^-bits."""
    degree, rate, quadratic = (
        max(0.0, *(float(getattr(f.growth, name)) for f in functions)) for name in ("degree", "rate", "quadratic")
    )
    far = math.sqrt(2.0 * _LOG2 * bits)
    for _ in range(6):
        # Places a reach away from the middle are seen as well, hence twice the scale.
        x = 2.0 * scale * far
        growth = (power * degree + 4.0) * math.log1p(x) + power * (rate * x + quadratic * x * x / 2.0)
        far = math.sqrt(2.0 * (_LOG2 * bits + growth))
    return far


def grid(step: float, far: float) -> BallRule:
    """The trapezoidal rule for a standard normal variable."""
    h, count = rational_ball(step), math.ceil(far / step)
    nodes = [h * k for k in range(-count, count + 1)]
    factor = h / (2 * arb.pi()).sqrt()
    return BallRule(nodes, [(factor * (-x * x / 2).exp()).mid() for x in nodes], mirrored=True)


def panels(cuts: Sequence[Ball], digits: float, share: float, far: float) -> BallRule:
    """Gauss-Legendre panels at most one wide for a standard normal variable, cut where what is averaged jumps; share 1
    is as fine as the digits ask for, and more is coarser.
    """
    order = math.ceil((0.7 * digits + 12.0) / share)
    inner = sorted((cut.mid() for cut in cuts if abs(cut) < far), key=float)
    edges: list[Ball] = [-rational_ball(far)]
    for end in (*inner, rational_ball(far)):
        start, count = edges[-1], max(1, math.ceil(float(end - edges[-1])))
        edges += [start + (end - start) * (k + 1) / count for k in range(count)]
    nodes, weights = list[Ball](), list[Ball]()
    root = (2 * arb.pi()).sqrt()
    for low, high in pairwise(edges):
        middle, half = (low + high) / 2, (high - low) / 2
        for x, w in _legendre(order, ctx.prec):
            nodes.append((middle + half * x).mid())
            weights.append((half * w * (-nodes[-1] * nodes[-1] / 2).exp() / root).mid())
    return BallRule(nodes, weights)


@lru_cache(maxsize=16)
def _legendre(order: int, bits: int) -> list[tuple[Ball, Ball]]:
    assert bits == ctx.prec
    return [arb.legendre_p_root(order, k, weight=True) for k in range(order)]


def cuts_of(function: Activation) -> list[Ball]:
    """The breakpoints."""
    ends = (point.location.enclosure(ctx.prec + 8) for point in function.breakpoints)
    return [rational_ball((low + high) / 2) for low, high in ends]


def averages(function: Activation, slope: Ball, bias: Ball, scale: Ball, rule: BallRule, digits: float) -> Averages:
    """At the places slope kappa + bias on the nodes of a rule. ``digits``: how fine the sum over x is.

    Raises PrecisionError for a function that is neither analytic in a strip nor a polynomial between breakpoints.
    """
    pieces = [as_polynomial(panel.branch) for panel in function.panels]
    at = [slope * x + bias for x in rule.nodes]
    if scale == 0:
        values = on_line(function, at)
        none = [arb(0)] * len(values)
        return Averages(values, none, none, [x * x for x in values])
    if all(piece is not None for piece in pieces):
        return _of_polynomials(function, [piece or [] for piece in pieces], at, scale)
    if len(pieces) > 1:
        raise PrecisionError(_NEITHER.format(function))
    if not rule.mirrored or function.parity not in _SIGNS or bias != 0:
        return _of_analytic(function, [slope * x for x in rule.nodes], bias, scale, digits)
    half = [slope * x for x in rule.nodes[len(rule.nodes) // 2 :]]
    of, sign = _of_analytic(function, half, bias, scale, digits), _SIGNS[function.parity]
    signs = (sign, -sign, sign, 1)
    return Averages(*([s * x for x in column[:0:-1]] + column for s, column in zip(signs, of, strict=True)))


def on_line(function: Activation, at: Sequence[Ball], differentiated: bool = False) -> list[Ball]:
    """The function, or its derivative, at places between its breakpoints."""
    cuts = cuts_of(function)
    branches = [panel.branch for panel in function.panels]
    if differentiated:
        branches = [derivative(branch) for branch in branches]
    return [evaluated(branches[sum(bool(x > cut) for cut in cuts)], x).mid() for x in at]


def normal_rule(function: Activation, digits: float, share: float, power: int) -> BallRule:
    """A rule for averages of this power of a function over a standard normal variable; share 1 is the finest."""
    far = reach((function,), 1.0, ctx.prec, power)
    if function.breakpoints:
        return panels(cuts_of(function), digits, share, far)
    return grid(share * _step(function, 1.0, digits, power), far)


def _of_polynomials(function: Activation, pieces: Sequence[Sequence[Fraction]], at: list[Ball], s: Ball) -> Averages:
    """By the moments of x = a + s z between cuts: E[x^n; x > b] = a E[x^(n-1);] + (n-1) s^2 E[x^(n-2);] + s b^(n-1)
    phi((b - a)/s)."""
    cuts = cuts_of(function)
    balls = [[list(map(rational_ball, c)) for c in (piece, _product(piece, piece))] for piece in pieces]
    top = max(len(square) for _, square in balls) + 2
    rows = []
    for a in at:
        above = [_moments(a, s, b, top) for b in cuts]
        whole = [arb(1), a]
        for n in range(2, top):
            whole.append(a * whole[-1] + (n - 1) * s * s * whole[-2])
        found = [arb(0)] * 4
        for lower, upper, (piece, square) in zip([whole, *above], [*above, [arb(0)] * top], balls, strict=True):
            of = [x - y for x, y in zip(lower, upper, strict=True)]
            for k, (c, power) in enumerate(((piece, 0), (piece, 1), (piece, 2), (square, 0))):
                found[k] += sum(map(mul, c, of[power:]), arb(0))
        rows.append(found)
    return _centred(rows, at, s)


def _moments(a: Ball, s: Ball, b: Ball, top: int) -> list[Ball]:
    z = (b - a) / s
    edge = s * (-z * z / 2).exp() / (2 * arb.pi()).sqrt()
    found = [(z / arb(2).sqrt()).erfc() / 2]
    found.append(a * found[0] + edge)
    for n in range(2, top):
        found.append(a * found[-1] + (n - 1) * s * s * found[-2] + b ** (n - 1) * edge)
    return found


def _product(p: Sequence[Fraction], q: Sequence[Fraction]) -> list[Fraction]:
    found = [Fraction(0)] * max(1, len(p) + len(q) - 1)
    for i, x in enumerate(p):
        for k, y in enumerate(q):
            found[i + k] += x * y
    return found


def _centred(rows: Sequence[Sequence[Ball]], at: Sequence[Ball], s: Ball) -> Averages:
    """From E f, E x f, E x^2 f and E f^2, with z = (x - a)/s."""
    columns = [
        (f.mid(), ((xf - a * f) / s).mid(), ((xxf - 2 * a * xf + a * a * f) / (s * s)).mid(), ff.mid())
        for (f, xf, xxf, ff), a in zip(rows, at, strict=True)
    ]
    return Averages(*map(list, zip(*columns, strict=True)))


def _of_analytic(f: Activation, at: Sequence[Ball], bias: Ball, s: Ball, digits: float) -> Averages:
    """At the places a + bias. With x - bias = u = j h the density is a power of one number for each place times what
    does not know both: exp(-u^2/(2 s^2)) exp(a h/s^2)^j exp(-a^2/(2 s^2)).
    """
    h = rational_ball(_step(f, float(s), digits))
    far = math.ceil(reach((f,), float(s), ctx.prec) * float(s / h))
    count = math.ceil(max(abs(float(a / h)) for a in at)) + far
    weighted = []
    for u in (h * k for k in range(-count, count + 1)):
        value, mass = evaluated(f.expression, bias + u), (-((u / s) ** 2) / 2).exp()
        weighted.append([mass * value, u * mass * value, u * u * mass * value, mass * value * value])
    factor = h / (s * (2 * arb.pi()).sqrt())
    rows: list[Sequence[Any]] = []
    for begin in range(0, len(at), _BLOCK):
        block = at[begin : begin + _BLOCK]
        ends = [float(a / h) for a in block]
        first, last = max(-count, math.floor(min(ends)) - far), min(count, math.ceil(max(ends)) + far)
        powers = []
        for a in block:
            start = factor * ((a * h * first - a * a / 2) / (s * s)).exp()
            powers.append(geometric(start, (a * h / (s * s)).exp(), last - first + 1))
        product = arb_mat(powers) * arb_mat(weighted[first + count : last + count + 1])
        rows += [[product[i, k] for k in range(4)] for i in range(len(block))]
    return _centred(rows, at, s)


def _step(f: Activation, s: float, digits: float, power: int = 2) -> float:
    """The trapezoidal rule of step h errs by |f(x + iy)|^power exp(y^2/(2 s^2) - 2 pi y/h), for any y in the strip."""
    steps = []
    for k in range(1, 33):
        y = Fraction(k, 8) if k <= 16 else Fraction(k - 12, 2)
        bound = strip_growth(f.panels[0].branch, y)
        if bound is not None:
            size = float(y) ** 2 / (2.0 * s * s) + power * math.log(max(1.0, float(bound.constant)))
            steps.append(2.0 * math.pi * float(y) / (_LOG10 * digits + size))
    if not steps:
        raise PrecisionError(_NEITHER.format(f))
    return max(steps)
