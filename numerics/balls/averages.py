"""Enclosures of the Gaussian averages M_jl(w) = E[z^j f(w + s z)^l], z ~ N(0, 1), at real and complex w.

mu0 = M_01, sqrt(c) mu1 = M_11, mu2^2 = M_02 - M_01^2 - M_11^2, and the same for a target. Their derivatives in w need
no derivative of f (Stein): d M_01 = M_11/s, d M_11 = (M_21 - M_01)/s, d M_02 = M_12/s.

Three kinds of f. f a polynomial between rational breakpoints: closed forms in erfc, entire in w. f analytic in a strip
with a bound by a power there: the trapezoidal rule in z, with the bounds of `Across` in the error of
`numerics.balls.trapezoid`. Otherwise f analytic between breakpoints, w real: `numerics.balls.pieces`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import add, mul, sub
from typing import Any, NamedTuple, Protocol

from flint import acb, arb

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.activations.strip_growth import strip_growth
from giantsteps.derivations.expressions.normal_form import as_polynomial
from giantsteps.numerics.balls.arithmetic import BallError, Program, program, rational_ball
from giantsteps.numerics.balls.gaussian_bounds import Envelope, cut_off
from giantsteps.numerics.balls.growth_bounds import Line, in_z, polynomial_growth
from giantsteps.numerics.balls.pieces import Pieces, piecewise
from giantsteps.numerics.balls.trapezoid import Plan, density, heights, nodes, plan, rounded

Ball = Any

_MOST_NODES = 4000


class Averages(NamedTuple):
    """M_01, M_11, M_02, and where they are known M_21, M_12, M_31, M_22 and M_41 (else None)."""

    mean: Ball
    first: Ball
    square: Ball
    second: Ball = None
    first_square: Ball = None
    third: Ball = None
    second_square: Ball = None
    fourth: Ball = None


class Smoothing(Protocol):
    """What gives the averages at w = slope kappa + bias."""

    def at(self, w: Ball) -> Averages:
        """The averages at a ball w."""


def smoothing(function: Activation, line: Line, lift: Fraction, reach: Fraction, bits: int) -> Smoothing:
    """The averages of f for |Im w| <= lift and |Re w| <= reach, errors of about 2**-bits at the current precision.

    Raises BallError for a function of neither kind.
    """
    if line.variance == 0:
        return Exact(function)
    closed = polynomial_smoothing(function, line.scale())
    if closed is not None:
        return closed
    scale = line.scale()
    rule = across(function, scale, lift, rational_ball(reach), bits, ORDERS)
    if rule is None:
        return _Pieced(piecewise(function, scale, rational_ball(reach), bits, ORDERS))
    step = rounded(rule.plan.width)
    count = math.ceil(rule.end / step)
    if count > _MOST_NODES:
        raise BallError(f"the rule across the spike needs more than {_MOST_NODES} nodes for {function}")
    h = rational_ball(step)
    return _Analytic(
        program(function.panels[0].branch), scale, nodes(h, count), rule.errors(h, rational_ball(rule.end))
    )


def polynomial_smoothing(function: Activation, scale: Ball) -> Smoothing | None:
    """The closed forms for a polynomial with rational coefficients between rational breakpoints; None for others."""
    pieces = [as_polynomial(panel.branch) for panel in function.panels]
    cuts = [panel.right.place.rational() for panel in function.panels if panel.right is not None]
    if any(piece is None for piece in pieces) or any(cut is None for cut in cuts):
        return None
    return _Polynomials(
        tuple(tuple(map(rational_ball, piece or (Fraction(0),))) for piece in pieces),
        tuple(rational_ball(cut) for cut in cuts if cut is not None),
        scale,
    )


@dataclass(frozen=True)
class Exact:
    """variance = 0: f(w), 0 and f(w)^2, by the branch at w."""

    function: Activation

    def at(self, w: Ball) -> Averages:
        value = program(self.function.expression).run(w)[0]
        return Averages(value, arb(0), value * value)


@dataclass(frozen=True)
class _Polynomials:
    """f = sum_k p_k x^k between rational cuts: sums of I_m(t) = E[z^m; z > t] at t = (cut - w)/s,

        I_0 = erfc(t/sqrt 2)/2,   I_1 = phi(t),   I_m = (m-1) I_{m-2} + t^{m-1} phi(t)

    (by parts), entire in t.
    """

    pieces: tuple[tuple[Ball, ...], ...]
    cuts: tuple[Ball, ...]
    scale: Ball

    def at(self, w: Ball) -> Averages:
        degree = max(len(piece) for piece in self.pieces) - 1
        top = max(2 * degree + 2, degree + 4)
        everywhere = [arb(math.prod(range(1, m, 2)) if m % 2 == 0 else 0) for m in range(top + 1)]
        above = [everywhere] + [_above((cut - w) / self.scale, top) for cut in self.cuts]
        above.append([arb(0)] * (top + 1))
        totals = [arb(0) for _ in ORDERS]
        for piece, left, right in zip(self.pieces, above, above[1:], strict=False):
            if piece == (0,):
                continue
            inside = list(map(sub, left, right))
            values = self._shifted(piece, w)
            powers = {1: values, 2: _product(values, values)}
            totals = [
                sum(map(mul, powers[power], inside[order:]), total)
                for total, (order, power) in zip(totals, ORDERS, strict=True)
            ]
        return Averages(*totals)

    def _shifted(self, piece: tuple[Ball, ...], w: Ball) -> list[Ball]:
        """The coefficients in z of the polynomial at w + s z, by Horner's rule."""
        result: list[Ball] = [piece[-1]]
        for coefficient in reversed(piece[:-1]):
            result = _product(result, [w, self.scale])
            result[0] = result[0] + coefficient
        return result


def _above(t: Ball, top: int) -> list[Ball]:
    found = [(t / arb(2).sqrt()).erfc() / 2, density(t)]
    power = found[1]
    for m in range(2, top + 1):
        power = power * t
        found.append((m - 1) * found[m - 2] + power)
    return found


def _product(p: Sequence[Ball], q: Sequence[Ball]) -> list[Ball]:
    result: list[Ball] = [arb(0)] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            result[i + j] = result[i + j] + a * b
    return result


# (j, l) of the averages in the order of `Averages`.
ORDERS = ((0, 1), (1, 1), (0, 2), (2, 1), (1, 2), (3, 1), (2, 2), (4, 1))


@dataclass(frozen=True)
class Across:
    """The trapezoidal rule in z for E z^j f(w + s z)^l: a plan, and where its tails are below 2**-bits.

    Let f be analytic on |Im| <= Y + s y with |f| <= A (1+|Re|)^k there, |Im w| <= Y, |Re w| <= X. Then z -> z^j f(w +
    s z)^l is analytic on |Im z| <= y, and bounded there by `in_z`.
    Plan and tails are those of f over its unit, min(1, A) on the line: small functions are known as well as large ones.
    """

    plan: Plan
    tails: tuple[Envelope, ...]
    end: Fraction
    units: tuple[Ball, ...]

    def errors(self, step: Ball, end: Ball) -> tuple[Ball, ...]:
        """Bounds of the errors of the sums of this step over |z| <= end, one for each order."""
        return tuple(
            (unit * error).upper()
            for unit, error in zip(self.units, self.plan.errors(step, self.tails, end), strict=True)
        )


def across(
    function: Activation, scale: Ball, lift: Fraction, reach: Ball, bits: int, orders: Sequence[tuple[int, int]]
) -> Across | None:
    """The rule for w with |Im w| <= lift and |Re w| <= reach; None where no bound by a power in a strip is known."""
    if function.strip is None:
        return None
    branch, strip = function.panels[0].branch, function.strip
    on_line = polynomial_growth(strip_growth(branch, lift))
    stretch = (1 + reach) * scale.upper().max(arb(1))
    unit = arb(1) if on_line is None else on_line.constant.min(arb(1))

    def bounds(height: Fraction) -> tuple[Envelope, ...] | None:
        bound = polynomial_growth(strip_growth(branch, lift + height))
        if bound is None:
            return None
        return in_z(bound.scaled(1 / unit), stretch, rational_ball(height) / scale, orders)

    room = strip if isinstance(strip, float) else strip - lift
    found = plan(heights(room, scale, bits), bounds, scale, bits + 2) if room > 0 else None
    tails = bounds(Fraction(0))
    if found is None or tails is None:
        return None
    # Far below the error of the rule itself: nodes are cheap there.
    return Across(found, tails, cut_off(tails, bits + 12), tuple(unit**power for _, power in orders))


@dataclass(frozen=True)
class _Analytic:
    code: Program
    scale: Ball
    nodes: tuple[tuple[Ball, Ball], ...]
    errors: tuple[Ball, ...]

    def at(self, w: Ball) -> Averages:
        """Whoever asks keeps |Im w| and |Re w| within what the rule was made for."""
        run, scale, complex_ = self.code.run, self.scale, isinstance(w, acb)
        totals = [arb(0) for _ in ORDERS]
        for z, weight in self.nodes:
            # Off the line: not finite where f is not shown to be analytic.
            value = run(w + scale * z, complex_)[0]
            weighted = weight * value
            shifted, squared = z * weighted, weighted * value
            along, twice = z * squared, z * shifted
            thrice = z * twice
            terms = (weighted, shifted, squared, twice, along, thrice, z * along, z * thrice)
            totals = list(map(add, totals, terms))
        kind = acb if complex_ else arb
        return Averages(*(t + _around_zero(kind, error) for t, error in zip(totals, self.errors, strict=True)))


@dataclass(frozen=True)
class _Pieced:
    rule: Pieces

    def at(self, w: Ball) -> Averages:
        """For real w within what the rule was made for."""
        return assembled(*self.rule.at(w, powers(4)), self.rule.errors)


def powers(most: int) -> Callable[[Ball], list[Ball]]:
    """z -> 1, z, .., z^most."""
    return lambda z: [z**j for j in range(most + 1)]


def assembled(plain: Sequence[Ball], squared: Sequence[Ball], errors: dict[tuple[int, int], Ball]) -> Averages:
    """Averages from the sums of f z^j and of f^2 z^j, and the errors by (j, l) in the order of ORDERS."""
    rows = {1: plain, 2: squared}
    return Averages(*(rows[power][j] + arb(0, error) for (j, power), error in errors.items()))


def _around_zero(kind: type, radius: Ball) -> Ball:
    ball = arb(0, radius)
    return acb(ball, ball) if kind is acb else ball
