"""E f, d/dx E f and E f^2 of f(x + s z), z ~ N(0, 1), at many points x and any precision, by arb's midpoints.

Where f is analytic in a strip: the trapezoidal rule on one grid of t = x + s z for all x, so that f is evaluated once
per node. Where f is a polynomial between breakpoints: its expansion in truncated powers, each smoothed in closed form.
These are numbers, not enclosures: flint's balls are used for their speed, and their radii are dropped.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, repeat
from operator import mul
from typing import Any, NamedTuple

from flint import arb, arb_mat, ctx

from onestep.derivations.activations.activation import Activation
from onestep.derivations.activations.strip_growth import strip_growth
from onestep.derivations.expressions.normal_form import as_polynomial
from onestep.numerics.balls.arithmetic import PrecisionError, program, rational_ball

Ball = Any


class Average(NamedTuple):
    """E f(x + s z), its derivative in x, and E f(x + s z)^2."""

    mean: Ball
    slope: Ball
    square: Ball


def averages(function: Activation, variance: Fraction) -> Callable[[Ball], Average]:
    """The averages as a function of x, at flint's precision now.

    Raises PrecisionError for a function that is neither analytic in a strip nor piecewise polynomial.
    """
    if variance == 0:
        code = program(function.expression)

        def exact(x: Ball) -> Average:
            value = code.run(x)[0]
            return Average(value, arb(0), value * value)

        return exact
    pieces = [as_polynomial(panel.branch) for panel in function.panels]
    cuts = [panel.right.place.rational() for panel in function.panels if panel.right is not None]
    if all(piece is not None for piece in pieces) and all(cut is not None for cut in cuts):
        polynomials = [list(piece or ()) for piece in pieces]
        places = [cut for cut in cuts if cut is not None]
        squares = [_times(p, p) for p in polynomials]
        whole, squared = _truncated(polynomials, places, variance), _truncated(squares, places, variance)
        return lambda x: Average(*whole(x), squared(x)[0])
    if function.strip is None:
        raise PrecisionError(
            f"{function} is neither analytic in a strip around the line nor a polynomial between rational breakpoints: "
            "any precision is built for these, for example tanh(z) or relu(z)"
        )
    return _Grid(function, variance).at


def _times(p: list[Fraction], q: list[Fraction]) -> list[Fraction]:
    result = [Fraction(0)] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            result[i + j] += a * b
    return result


# ---- piecewise polynomials ------------------------------------------------------------------------------------------


def _truncated(
    pieces: list[list[Fraction]], places: list[Fraction], variance: Fraction
) -> Callable[[Ball], tuple[Ball, Ball]]:
    """P_c f and its derivative for f = p_0 + sum_b sum_k J_bk (t - b)_+^k/k!, J_bk the jump of the k-th derivative.

    G_k = P_c (t - b)_+^k/k! has G_k' = G_{k-1}, G_0 = Phi((x-b)/s), G_{-1} the density of N(b, c), and by parts
    k G_k = (x - b) G_{k-1} + c G_{k-2}. The leftmost piece is P_c of a polynomial: sum_m c^m p_0^(2m)/(2^m m!).
    """
    root = rational_ball(variance).sqrt()
    degree = max(len(piece) for piece in pieces) - 1
    heat = [Fraction(0)] * (degree + 1)
    weight, derived = Fraction(1), list(pieces[0])
    for m in range(degree // 2 + 1):
        for k, a in enumerate(derived):
            heat[k] += weight * a
        derived = _derivative(_derivative(derived))
        weight *= variance / (2 * (m + 1))
    smooth = [rational_ball(a) for a in heat]
    jumps = []
    for place, before, after in zip(places, pieces, pieces[1:], strict=False):
        row = []
        left, right = list(before), list(after)
        for _ in range(degree + 1):
            row.append(rational_ball(_at(right, place) - _at(left, place)))
            left, right = _derivative(left), _derivative(right)
        jumps.append((rational_ball(place), row))
    c = rational_ball(variance)
    norm = 1 / (2 * arb.pi() * c).sqrt()

    def at(x: Ball) -> tuple[Ball, Ball]:
        mean, slope = arb(0), arb(0)
        for k in range(degree, -1, -1):
            slope = slope * x + mean
            mean = mean * x + smooth[k]
        for place, row in jumps:
            u = x - place
            before, now = norm * (-(u * u) / (2 * c)).exp(), (-(u / (root * arb(2).sqrt()))).erfc() / 2
            for k, jump in enumerate(row):
                mean, slope = mean + jump * now, slope + jump * before
                before, now = now, (u * now + c * before) / (k + 1)
        return mean.mid(), slope.mid()

    return at


def _derivative(p: list[Fraction]) -> list[Fraction]:
    return [k * a for k, a in enumerate(p)][1:]


def _at(p: list[Fraction], x: Fraction) -> Fraction:
    return sum((a * x**k for k, a in enumerate(p)), Fraction(0))


# ---- analytic functions ---------------------------------------------------------------------------------------------

_MOST_NODES = 100_000
_BLOCK = 32


@dataclass
class _Grid:
    """f and f^2 at t = j h, remembered, and the rule E F = sum_j h F(jh) density of N(x, c) at jh.

    The step is proven: with |f| <= A (1+|t|)^k on |Im t| <= y the rule errs by at most 2 M/(e^{2 pi y/h} - 1), and M
    carries A^2 e^{y^2/(2c)}. So h = 2 pi y over that logarithm plus the accuracy, for the y that makes it widest.
    """

    function: Activation
    variance: Fraction

    def __post_init__(self) -> None:
        self._accuracy = (ctx.prec - 8) * math.log(2)
        self._code = program(self.function.expression)
        self._known: dict[int, Any] = {}
        self._c = rational_ball(self.variance)
        step = max(self._widths(), default=0.0)
        if step == 0.0:
            raise PrecisionError(f"{self.function} grows too fast off the line for a rule of any precision")
        self._h = arb(step)
        self._count = math.ceil(math.sqrt(2 * self._accuracy * float(self.variance)) / step) + 1
        if self._count > _MOST_NODES:
            raise PrecisionError(f"{self.function} would need more than {_MOST_NODES} nodes at this precision")
        # density(t + h)/density(t) = r e^{-h^2/c} from node to node: its powers at x, the rest once for all x.
        bend = (-(self._h * self._h) / self._c).exp()
        self._bends = list(accumulate(accumulate(repeat(bend, 2 * self._count + _BLOCK), mul, initial=arb(1)), mul))
        self._bends.insert(0, arb(1))
        self._norm = self._h / (2 * arb.pi() * self._c).sqrt()

    def _widths(self) -> list[float]:
        """Steps that are accurate enough, one for each height in the strip at which f is bounded."""
        strip = self.function.strip
        assert strip is not None
        if isinstance(strip, float):
            heights = [Fraction(n, 4) for n in range(1, 80)]
        else:
            heights = [strip * Fraction(n, 100) for n in (60, 80, 90, 95, 97, 98, 99)]
        found = []
        for height in heights:
            growth = strip_growth(self.function.panels[0].branch, height)
            if growth is None or growth.rate > 0 or growth.quadratic > 0:
                continue
            # Where the function is small everywhere the accuracy is relative to its bound.
            size = max(0.0, 2.0 * _log(growth.constant))
            cost = size + float(height) ** 2 / (2.0 * float(self.variance)) + self._accuracy
            # Powers of t up to the ends of the line.
            cost += 2.0 * float(growth.degree) * math.log(1000.0)
            found.append(2.0 * math.pi * float(height) / cost)
        return found

    def _matrix(self, block: int) -> Any:
        """f, t f and f^2, with what the weights share, on the nodes around a block of centres; rows are nodes."""
        known = self._known.get(block)
        if known is None:
            rows = []
            first = block * _BLOCK - self._count
            for j in range(2 * self._count + _BLOCK):
                t = (first + j) * self._h
                value = self._code.run(t)[0].mid()
                weighted = self._bends[j] * value
                rows.append([weighted.mid(), (weighted * t).mid(), (weighted * value).mid()])
            known = self._known[block] = arb_mat(rows)
        return known

    def at(self, x: Ball) -> Average:
        block = math.floor(float(x) / float(self._h) / _BLOCK)
        first = (block * _BLOCK - self._count) * self._h - x
        start = (-(first * first) / (2 * self._c)).exp().mid()
        ratio = (-(2 * first * self._h + self._h * self._h) / (2 * self._c)).exp().mid()
        count = 2 * self._count + _BLOCK
        weights = arb_mat(1, count, list(accumulate(repeat(ratio, count - 1), mul, initial=start)))
        sums = weights * self._matrix(block)
        mean, moment, square = (self._norm * sums[0, i] for i in range(3))
        return Average(mean.mid(), ((moment - x * mean) / self._c).mid(), square.mid())


def _log(q: Fraction) -> float:
    return math.log(q.numerator) - math.log(q.denominator)
