"""Enclosures of the Gaussian averages M_jl(w) = E[z^j f(w + s z)^l], z ~ N(0, 1), at real and complex w.

mu0 = M_01, sqrt(c) mu1 = M_11, mu2^2 = M_02 - M_01^2 - M_11^2, and the same for a target. Their derivatives in w need
no derivative of f (Stein): d M_01 = M_11/s, d M_11 = (M_21 - M_01)/s, d M_02 = M_12/s.

Two kinds of f, each with its own proof. f analytic in a strip: the trapezoidal rule in z, whose error is bounded in
`_Rule`. f a polynomial between rational breakpoints: closed forms in erfc, entire in w.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest
from typing import Any, NamedTuple, Protocol

from flint import acb, arb

from onestep.derivations.activations.activation import Activation
from onestep.derivations.activations.strip_growth import strip_growth
from onestep.derivations.expressions.normal_form import as_polynomial
from onestep.numerics.balls.arithmetic import BallError, Program, program, rational_ball
from onestep.numerics.balls.gaussian_bounds import Envelope
from onestep.numerics.balls.growth_bounds import Bound, Line, mean_power, polynomial_growth, rational_upper

Ball = Any

_MOST_NODES = 4000


Linear = tuple[Ball, Ball]


class Averages(NamedTuple):
    """M_01, M_11, M_02, and where all five were asked for M_21 and M_12 (else None)."""

    mean: Ball
    first: Ball
    square: Ball
    second: Ball = None
    first_square: Ball = None


class Smoothing(Protocol):
    """What gives the averages at w = slope kappa + bias."""

    def at(self, w: Ball, minus: Linear | None = None) -> Averages:
        """The averages at a ball w; with `minus` = (a, b) all five, of f(w + s z) - a - b z in place of f."""


def smoothing(function: Activation, line: Line, lift: Fraction, reach: Fraction, bits: int) -> Smoothing:
    """The averages of f for |Im w| <= lift and |Re w| <= reach, errors of about 2**-bits at the current precision.

    Raises BallError for a function of neither kind.
    """
    if line.variance == 0:
        return _Exact(function)
    closed = polynomial_smoothing(function, line.scale())
    if closed is not None:
        return closed
    if len(function.panels) > 1:
        raise BallError(f"{function} has breakpoints and is not a polynomial with rational coefficients between them")
    return _Analytic(program(function.panels[0].branch), line.scale(), _rule(function, line, lift, reach, bits))


def polynomial_smoothing(function: Activation, scale: Ball) -> Smoothing | None:
    """The closed forms for a polynomial with rational coefficients between rational breakpoints; None for others."""
    pieces = [as_polynomial(panel.branch) for panel in function.panels]
    cuts = [panel.right.place.rational() for panel in function.panels if panel.right is not None]
    if any(piece is None for piece in pieces) or any(cut is None for cut in cuts):
        return None
    known = tuple(cut for cut in cuts if cut is not None)
    return _Polynomials(tuple(tuple(piece or ()) for piece in pieces), known, scale)


@dataclass(frozen=True)
class _Exact:
    """variance = 0: f(w), 0 and f(w)^2, by the branch at w."""

    function: Activation

    def at(self, w: Ball, minus: Linear | None = None) -> Averages:
        if minus is not None:
            raise BallError("the variance across the spike must be positive here")
        value = program(self.function.expression).run(w)[0]
        return Averages(value, arb(0), value * value)


@dataclass(frozen=True)
class _Polynomials:
    """f = sum_k p_k x^k between rational cuts: sums of I_m(t) = E[z^m; z > t] at t = (cut - w)/s,

        I_0 = erfc(t/sqrt 2)/2,   I_1 = phi(t),   I_m = (m-1) I_{m-2} + t^{m-1} phi(t)

    (by parts), entire in t.
    """

    pieces: tuple[tuple[Fraction, ...], ...]
    cuts: tuple[Fraction, ...]
    scale: Ball

    def at(self, w: Ball, minus: Linear | None = None) -> Averages:
        top = 2 * max(1, max(len(piece) for piece in self.pieces) - 1) + 2
        everywhere = [arb(math.prod(range(1, m, 2)) if m % 2 == 0 else 0) for m in range(top + 1)]
        above = [everywhere] + [self._above((rational_ball(cut) - w) / self.scale, top) for cut in self.cuts]
        above.append([arb(0)] * (top + 1))
        totals = [arb(0) for _ in range(5)]
        for piece, left, right in zip(self.pieces, above, above[1:], strict=False):
            inside = [a - b for a, b in zip(left, right, strict=True)]
            values = self._shifted(piece, w)
            if minus is not None:
                values = [value - part for value, part in zip_longest(values, minus, fillvalue=arb(0))]
            squares = _product(values, values)
            wanted = ((values, 0), (values, 1), (squares, 0), (values, 2), (squares, 1))
            for i, (coefficients, order) in enumerate(wanted[: 3 if minus is None else 5]):
                for m, coefficient in enumerate(coefficients):
                    totals[i] = totals[i] + coefficient * inside[m + order]
        return Averages(*totals[:3]) if minus is None else Averages(*totals)

    def _above(self, t: Ball, top: int) -> list[Ball]:
        density = (-(t * t) / 2).exp() / (2 * arb.pi()).sqrt()
        found = [(t / arb(2).sqrt()).erfc() / 2, density]
        power = density
        for m in range(2, top + 1):
            power = power * t
            found.append((m - 1) * found[m - 2] + power)
        return found

    def _shifted(self, piece: tuple[Fraction, ...], w: Ball) -> list[Ball]:
        """The coefficients in z of the polynomial at w + s z, by Horner's rule."""
        result: list[Ball] = [arb(0)]
        for coefficient in reversed(piece):
            result = _product(result, [w, self.scale])
            result[0] = result[0] + rational_ball(coefficient)
        return result[: len(piece)] or [arb(0)]


def _product(p: Sequence[Ball], q: Sequence[Ball]) -> list[Ball]:
    result: list[Ball] = [arb(0)] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            result[i + j] = result[i + j] + a * b
    return result


@dataclass(frozen=True)
class _Rule:
    """The trapezoidal rule of step h in z: nodes |z| <= end, weights h phi(z), errors in the order of `_ORDERS`.

    Let f be analytic on |Im| <= Y + s y with |f| <= A (1+|Re|)^k there, |Im w| <= Y, |Re w| <= X. Then z -> z^j f(w +
    s z)^l phi(z) is analytic on |Im z| <= y, and the infinite rule errs by at most 2 M/(e^{2 pi y/h} - 1), M a bound of
    its integral along lines of that strip: |phi(z + iy)| = phi(z) e^{y^2/2}, |z + iy| <= (1+y)(1+|z|), and as in
    `average_bound` M = e^{y^2/2} (1+y)^j A^l ((1+X) max(1, s))^{kl} E(1+|z|)^{j+kl}. The nodes left out add the tail.
    """

    nodes: tuple[tuple[Ball, Ball], ...]
    errors: tuple[Ball, ...]


# (j, l) of the averages, and of 1, z, z^2, z^3.
_ORDERS = ((0, 1), (1, 1), (0, 2), (2, 1), (1, 2), (0, 0), (1, 0), (2, 0), (3, 0))


def _rule(function: Activation, line: Line, lift: Fraction, reach: Fraction, bits: int) -> _Rule:
    strip, branch = function.strip, function.panels[0].branch
    stretch = rational_upper(line.scale())
    if strip is None:
        raise BallError(f"{function} is not known to be analytic in a strip")
    if isinstance(strip, float):
        heights = [Fraction(n, 2) for n in (1, 2, 3, 4, 6, 8, 12, 16, 24)]
    else:
        heights = [(strip - lift) / stretch * Fraction(n, 100) for n in (50, 70, 80, 90, 95)]
        # Where the strip is wide beside the scale of z the Gaussian limits the height.
        heights += [Fraction(n) for n in (2, 4, 6, 8, 12, 16) if n < heights[0]]
    best: tuple[float, Fraction, list[Ball]] | None = None
    for height in heights:
        bound = polynomial_growth(strip_growth(branch, lift + stretch * height)) if height > 0 else None
        if bound is None:
            continue
        y = rational_ball(height)
        lift_factor = (y * y / 2).exp()
        lines = [lift_factor * (1 + y) ** j * _constant(bound, line, reach, j, power) for j, power in _ORDERS]
        needed = max(float(m.upper().log()) for m in lines) + (bits + 2) * math.log(2)
        width = 2 * math.pi * float(height) / needed
        if best is None or width > best[0]:
            best = (width, height, lines)
    if best is None:
        raise BallError(f"no bound by a power was found for {function} in a strip of half width {float(lift):.3g}")
    step = Fraction(math.floor(best[0] * 2**40), 2**40)
    h = rational_ball(step)
    factor = 2 / ((2 * arb.pi() * rational_ball(best[1]) / h).exp() - 1)
    on_line = polynomial_growth(strip_growth(branch, lift))
    if on_line is None:
        raise BallError(f"no bound by a power was found for {function}")
    # Far below the error of the rule itself: nodes are cheap there.
    goal = arb(2) ** -(bits + 12)
    envelopes = [
        Envelope(_constant(on_line, line, reach, 0, power, mean=False), j + on_line.degree * power, arb(0), arb(0))
        for j, power in _ORDERS
    ]
    count = math.ceil(math.sqrt(2 * math.log(2) * bits) / step)
    while not all(envelope.tail(count * h) < goal for envelope in envelopes):
        count += max(1, count // 50)
        if count > _MOST_NODES:
            raise BallError(f"the rule across the spike needs more than {_MOST_NODES} nodes for {function}")
    weight = h / (2 * arb.pi()).sqrt()
    nodes = tuple((k * h, weight * (-(k * h) * (k * h) / 2).exp()) for k in range(-count, count + 1))
    tails = [envelope.tail(count * h) for envelope in envelopes]
    return _Rule(nodes, tuple((factor * m + tail).upper() for m, tail in zip(best[2], tails, strict=True)))


def _constant(bound: Bound, line: Line, reach: Fraction, order: int, power: int, mean: bool = True) -> Ball:
    degree = bound.degree * power
    size = (1 + rational_ball(reach)) * line.scale().max(arb(1))
    constant = bound.constant**power * size**degree
    return (constant * mean_power(degree + order) if mean else constant).upper()


@dataclass(frozen=True)
class _Analytic:
    code: Program
    scale: Ball
    rule: _Rule

    def at(self, w: Ball, minus: Linear | None = None) -> Averages:
        """Whoever asks keeps |Im w| and |Re w| within what the rule was made for."""
        run, scale, complex_ = self.code.run, self.scale, isinstance(w, acb)
        mean, first, square, second, first_square = (arb(0) for _ in range(5))
        for z, weight in self.rule.nodes:
            # Off the line: not finite where f is not shown to be analytic.
            value = run(w + scale * z, complex_)[0]
            if minus is not None:
                value = value - minus[0] - minus[1] * z
            weighted = weight * value
            shifted = z * weighted
            mean, first, square = mean + weighted, first + shifted, square + weighted * value
            if minus is not None:
                second, first_square = second + z * shifted, first_square + shifted * value
        kind = acb if complex_ else arb
        errors = self.rule.errors[:5] if minus is None else self._errors(minus)
        sums = (mean, first, square, second, first_square)
        found = [total + _around_zero(kind, error) for total, error in zip(sums, errors, strict=True)]
        return Averages(*found[:3]) if minus is None else Averages(*found)

    def _errors(self, minus: Linear) -> tuple[Ball, ...]:
        """The errors for f - a - b z: the rule is linear, and (f - a - b z)^2 is expanded."""
        f, zf, ff, zzf, zff, *powers = self.rule.errors
        a, b = abs(minus[0]), abs(minus[1])
        linear = [g + a * powers[j] + b * powers[j + 1] for j, g in enumerate((f, zf, zzf))]
        squares = [
            g + 2 * a * first + 2 * b * second + a * a * powers[j] + 2 * a * b * powers[j + 1] + b * b * powers[j + 2]
            for j, (g, first, second) in enumerate(((ff, f, zf), (zff, zf, zzf)))
        ]
        return linear[0].upper(), linear[1].upper(), squares[0].upper(), linear[2].upper(), squares[1].upper()


def _around_zero(kind: type, radius: Ball) -> Ball:
    ball = arb(0, radius)
    return acb(ball, ball) if kind is acb else ball
