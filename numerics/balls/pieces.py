"""Gaussian averages E[z^j f(w + s z)^l] at real w of f analytic between breakpoints: Gauss-Legendre panels in w + s z.

Panels end at the breakpoints, and the values of f on them serve all places w. With x = w + s z, z = (x - w)/s,

    E[z^j f(w + s z)^l] = sum over panels of int f(x)^l z^j phi(z) dx/s + E[z^j f(w + s z)^l; x outside of the panels].

1. A panel of half length a and centre c. `gauss_error` requires that the integrand is analytic, and bounded, on the
   ellipse with foci at the ends and semi-axes sqrt(2) a and a, which lies in the box |Re x - c| <= sqrt(2) a, |Im x| <=
   a. Balls of the branch over this box (`growth_bounds.cells`) show that it is analytic there, and |f| <= F.
   With t = Re z, y = a/s and r = |t| + y we have |Im z| <= y, |z| <= r and r^2 <= 2 t^2 + 2 y^2, so that

       sqrt(2 pi) |z^j phi(z)| <= r^j e^{(y^2 - t^2)/2} <= r^j e^{-r^2/4} e^{y^2} <= (2j/e)^{j/2} e^{y^2},

   since r^j e^{-r^2/4} is largest at r^2 = 2j. The rule errs by at most gauss_error(N) y F^l (2j/e)^{j/2} e^{y^2} over
   sqrt(2 pi), at every real w.
2. The panels used at a place hold all x with |z| <= L. On the line |f(x)| <= A (1+|x|)^k, by rules on the expression
   (`derivations.activations.growth`), and |w| <= X. Then |z^j f(w + s z)^l| is bounded by an `Envelope` in z (`in_z`),
   and `Envelope.tail` bounds the average over |z| > L.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from flint import arb, arb_mat, ctx

from giantsteps.derivations.activations.activation import Activation
from giantsteps.numerics.balls.arithmetic import BallError, log_of, rational_ball
from giantsteps.numerics.balls.gaussian_bounds import cut_off
from giantsteps.numerics.balls.growth_bounds import Cell, cells, in_z, polynomial_growth

Ball = Any
# z -> the factors beside f or f^2 and the density, one for each column.
Columns = Callable[[Ball], Sequence[Ball]]

# Half lengths of panels in units of s: wider ones take fewer nodes, until e^{y^2} outgrows the gain.
_LONGEST = 4
# At one place: with so many a certificate takes about a minute.
_MOST_NODES = 10_000
# About how much a node more takes off the logarithm of `gauss_error`.
GAIN = 2 * math.log(1 + math.sqrt(2))


@lru_cache(maxsize=32)
def legendre(order: int, bits: int) -> tuple[tuple[Ball, Ball], ...]:
    """Nodes and weights of the Gauss-Legendre rule on [-1, 1] as balls at the current precision `bits`."""
    assert bits == ctx.prec
    return tuple(arb.legendre_p_root(order, k, weight=True) for k in range(order))


def gauss_error(order: int) -> Ball:
    """8 rho^{-2N}/(1 - 1/rho), rho = 1 + sqrt(2): a bound of the error of the N-node rule over half length and size.

    Proof. On a panel of half length a let g be analytic and bounded by M within the ellipse with foci at the ends and
    semi-axes a (rho +- 1/rho)/2, which are sqrt(2) a and a. Its Chebyshev coefficients are at most 2 M rho^-j, so that
    a polynomial of degree 2N - 1 is within 2 M rho^{-2N}/(1 - 1/rho) of g on the panel. The rule integrates the
    polynomial exactly, and has positive weights of sum 2a: its error is at most 8 a M rho^{-2N}/(1 - 1/rho).
    """
    rho = 1 + arb(2).sqrt()
    return 8 * rho ** (-2 * order) / (1 - 1 / rho)


@dataclass(frozen=True)
class Pieces:
    """The rule for |w| <= reach: panels with nodes x, weights times f(x), and f(x); `errors` of E z^j f^l by (j, l)."""

    panels: tuple[tuple[Cell, list[tuple[Ball, Ball, Ball]]], ...]
    scale: Ball
    end: Ball
    errors: dict[tuple[int, int], Ball]
    reach: Ball

    def at(self, w: Ball, columns: Columns) -> tuple[list[Ball], list[Ball]]:
        """Sums of f and of f^2 times the columns at a real w. Raises BallError beyond `reach` or of too many nodes."""
        if not abs(w) <= self.reach:
            raise BallError("an average was asked for beyond the places of its rule")
        low, high = w - self.scale * self.end, w + self.scale * self.end
        used = [row for panel, table in self.panels if not (panel.right < low or panel.left > high) for row in table]
        if len(used) > _MOST_NODES:
            raise BallError(f"an average needs more than {_MOST_NODES} nodes: the function varies too fast")
        places = [(x - w) / self.scale for x, _, _ in used]
        plain = [weighted * (-(z * z) / 2).exp() for z, (_, weighted, _) in zip(places, used, strict=True)]
        squared = [p * value for p, (_, _, value) in zip(plain, used, strict=True)]
        found = (arb_mat([plain, squared]) * arb_mat([columns(z) for z in places])).tolist()
        return found[0], found[1]


def piecewise(function: Activation, scale: Ball, reach: Ball, bits: int, orders: Sequence[tuple[int, int]]) -> Pieces:
    """The rule for |w| <= reach, errors of about 2**-bits (of those of f^l over min(1, A)^l).

    Raises BallError where f has no bound by a power, or is not shown to be analytic around panels up to breakpoints.
    """
    on_line = polynomial_growth(function.growth)
    if on_line is None:
        raise BallError(f"no bound by a power was found for {function}")
    # Places are known up to rounding.
    reach = (reach + 1).upper()
    unit = on_line.constant.min(arb(1))
    stretch = (1 + reach) * scale.upper().max(arb(1))
    tails = in_z(on_line.scaled(1 / unit), stretch, arb(0), orders)
    end = rational_ball(cut_off(tails, bits + 12))
    root_of_2 = arb(2).sqrt()
    found = cells(function, on_line, reach + scale * end, _LONGEST * scale, lambda half: (root_of_2 * half, half))
    rows = [(panel, (panel.half() / scale).upper()) for panel in found]
    sizes = [
        sum((y * (y * y).exp() * (panel.bound / unit) ** power for panel, y in rows), arb(0)) * _largest(order)
        for order, power in orders
    ]
    order = max(4, math.ceil((max(map(log_of, sizes)) + bits * math.log(2) + 4) / GAIN))
    factor, root = gauss_error(order), (2 * arb.pi()).sqrt()
    errors = {
        one: (unit ** one[1] * (factor * size / root + tail.tail(end))).upper()
        for one, size, tail in zip(orders, sizes, tails, strict=True)
    }
    rule = legendre(order, ctx.prec)
    tables = tuple((panel, _table(panel, rule, scale * root)) for panel in found)
    return Pieces(tables, scale, end, errors, reach)


def _table(panel: Cell, rule: tuple[tuple[Ball, Ball], ...], norm: Ball) -> list[tuple[Ball, Ball, Ball]]:
    centre, half = (panel.left + panel.right) / 2, panel.half()
    places = [(centre + half * node, half * weight / norm) for node, weight in rule]
    values = [panel.code.run(x)[0] for x, _ in places]
    return [(x, weight * value, value) for (x, weight), value in zip(places, values, strict=True)]


def _largest(j: int) -> Ball:
    """(2j/e)^{j/2}, 1 at j = 0."""
    return (j * (arb(2 * j).log() - 1) / 2).exp() if j else arb(1)
