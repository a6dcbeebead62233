"""Bounds A (1 + |x|)^k of functions, and of their Gaussian averages at complex arguments."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

from flint import acb, arb

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.activations.growth import Growth
from giantsteps.derivations.activations.strip_growth import strip_growth
from giantsteps.numerics.balls.arithmetic import BallError, Program, location_ball, log_of, program, rational_ball
from giantsteps.numerics.balls.gaussian_bounds import Envelope, mean_power

Ball = Any

# How much larger than on the line a function may be around a cell before the cell is halved.
_LARGER = 1000
_MOST_CELLS = 2000


@dataclass(frozen=True)
class Line:
    """The argument slope kappa + bias + sqrt(variance) z of a function.

    Exact rational numbers; or slope and scale are the balls `slopes` and `scales`, `slope` is at least the size of the
    former, and `variance` not zero. rates: at which both move with a parameter.
    """

    slope: Fraction
    bias: Fraction
    variance: Fraction
    slopes: Ball = None
    scales: Ball = None
    rates: tuple[Ball, Ball] | None = None

    def scale(self) -> Ball:
        """sqrt(variance) at the current precision, or the ball of the scale whatever the precision."""
        return rational_ball(self.variance).sqrt() if self.scales is None else self.scales

    def factor(self) -> Ball:
        """The slope as a ball."""
        return rational_ball(self.slope) if self.slopes is None else self.slopes

    def argument(self, kappa: Ball) -> Ball:
        """slope kappa + bias."""
        return self.factor() * kappa + rational_ball(self.bias)


def polynomial_growth(growth: Growth | None) -> Envelope | None:
    """A growth bound as one in powers of 1 + |x|, None where the function may grow faster."""
    if growth is None or growth.rate > 0 or growth.quadratic > 0:
        return None
    return Envelope(rational_ball(growth.constant).upper(), math.ceil(growth.degree))


def uncertified(function: Activation) -> str:
    """Why averages of f are not enclosed, in words that follow its name; empty where nothing is known against it."""
    if polynomial_growth(function.growth) is None and _strip_bound(function, Fraction(0)) is None:
        return "is not bounded by a power of z, as far as is known"
    roots = [place for place in function.breakpoints if place.root]
    return f"has a {roots[0]}" if roots else ""


def in_z(bound: Envelope, stretch: Ball, y: Ball, orders: Sequence[tuple[int, int]]) -> tuple[Envelope, ...]:
    """Bounds of z^j f(w + s z)^l on |Im z| <= y for the (j, l) in `orders`, with x = Re z.

    Where |f| <= A (1+|Re|)^k they are A^l ((1+X) max(1, s))^{kl} (1+y)^j (1+|x|)^{j+kl}, by |Re w| <= X and 1 + |Re w +
    s x| <= (1+X) max(1, s) (1+|x|). stretch: (1+X) max(1, s).
    """
    size = bound.scaled(stretch**bound.degree)
    powers = (Envelope(arb(1)), size, size * size)
    return tuple(powers[power].scaled((1 + y) ** order, order) for order, power in orders)


@dataclass(frozen=True)
class Cell:
    """A piece [left, right] of the line, the branch of f on it, and a bound of the branch on a box around it."""

    left: Ball
    right: Ball
    code: Program
    bound: Ball

    def half(self) -> Ball:
        """Half the length."""
        return (self.right - self.left) / 2


def cells(
    function: Activation, on_line: Envelope, reach: Ball, longest: Ball, box: Callable[[Ball], tuple[Ball, Ball]]
) -> list[Cell]:
    """Cells between the breakpoints that fill [-reach, reach], left to right, of half lengths of at most `longest`.

    box: half length -> (u, v) of the box |Re x - centre| <= u, |Im x| <= v. Balls of the branch over sixteen parts of
    it, the `analytic` flag set, show that the branch is analytic on the box, and bound it: a step of a program is one
    function on all parts that do not touch its cuts and poles, and not finite on the others. A cell whose ball is not
    finite, or far above the bound on the line, is halved. Raises BallError where this does not end, as at a root.
    """
    edge = rational_ball(Fraction(math.ceil(float(reach.upper())) + 1))
    found: list[Cell] = []
    for panel in function.panels:
        left, right = -edge, edge
        if panel.left is not None:
            left = left.max(location_ball(panel.left.place))
        if panel.right is not None:
            right = right.min(location_ball(panel.right.place))
        if left >= right:
            continue
        code, pending = program(panel.branch), [(left, right)]
        while pending:
            left, right = pending.pop()
            half, centre = (right - left) / 2, (left + right) / 2
            u, v = (side.upper() / 4 for side in box(half))
            parts = (acb(centre + i * u + arb(0, u), j * v + arb(0, v)) for i in (-3, -1, 1, 3) for j in (-3, -1, 1, 3))
            bound = reduce(arb.max, (acb(code.run(part, True)[0]).abs_upper() for part in parts))
            most = _LARGER * on_line.constant * (1 + abs(centre) + half) ** on_line.degree
            if 0 < half <= longest and bound <= most:
                found.append(Cell(left, right, code, bound))
            elif not half > longest / 2**40 or len(found) + len(pending) > _MOST_CELLS:
                raise BallError(f"{function} was not shown to be analytic up to its breakpoints, or it varies too fast")
            else:
                pending += [(centre.mid(), right), (left, centre.mid())]
    return found


def _strip_bound(function: Activation, height: Fraction) -> Envelope | None:
    """A bound of every branch of f on the strip |Im| <= height; None where one has none."""
    found = [polynomial_growth(strip_growth(panel.branch, height)) for panel in function.panels]
    known = [bound for bound in found if bound is not None]
    if len(known) < len(found):
        return None
    return Envelope(reduce(arb.max, (bound.constant for bound in known)), max(bound.degree for bound in known))


def branch_bound(function: Activation, height: Fraction, reach: Fraction) -> Envelope | None:
    """A bound of f on the line, and of each branch no further than `height` from its piece of [-reach, reach]."""
    on_strip, on_line = _strip_bound(function, height), polynomial_growth(function.growth)
    if on_strip is not None or on_line is None:
        return on_strip
    lift = rational_ball(height)
    try:
        found = cells(function, on_line, rational_ball(reach), arb(1), lambda half: (half + lift, lift))
    except BallError:
        return None
    nearest = [(abs((cell.left + cell.right) / 2) - cell.half() - lift).max(arb(0)) for cell in found]
    sizes = [cell.bound / (1 + near) ** on_line.degree for cell, near in zip(found, nearest, strict=True)]
    return Envelope(reduce(arb.max, sizes, on_line.constant).upper(), on_line.degree)


def average_bound(
    function: Activation,
    slope: Fraction,
    bias: Fraction,
    scale: Ball,
    height: Fraction,
    order: int,
    power: int,
    reach: Fraction = Fraction(0),
) -> Envelope | None:
    """A bound of |E[z^j f(w + s z)^l]|, w = slope kappa + bias, for |Im kappa| <= height; j = order, l = power.

    At s = 0, where f has breakpoints or no bound on a strip: on the line, and no further than `height` from the pieces
    of |Re kappa| <= reach between breakpoints, branch by branch (`branch_bound`).

    Two proofs, the smaller bound is taken. Let |f(x)| <= A (1+|x|)^k on the line, Y = |slope| height.

    1. The average is the integral of f(t)^l ((t-w)/s)^j times the density of N(w, s^2) at t, an entire function of w.
       With t = Re w + s z the density is at most e^{Y^2/(2 s^2)} times its value at Im w = 0, and |(t-w)/s| <= |z| +
       Y/s.
    2. Where |f| <= A (1+|Re|)^k on the strip |Im| <= Y, it bounds f(w + s z) directly, and no exponential is needed.

    In both 1 + |x + s z| <= (1+|x|) max(1, s) (1+|z|), and 1 + |slope x + bias| <= (1+|bias|) max(1, |slope|) (1+|x|).
    In both |z|^j may be (1+|z|)^j. None where f grows faster than a power, as far as is known.
    """
    lift, low = abs(slope) * height, scale.lower()
    stretch = (1 + rational_ball(abs(bias))) * rational_ball(max(Fraction(1), abs(slope)))
    stretch *= scale.upper().max(arb(1))
    found: list[Envelope] = []

    def spread(bound: Envelope, moved: Ball) -> None:
        """(1+|z|)^j A^l (1 + |w + s z|)^(k l) averaged over z, as a bound in kappa."""
        degree = bound.degree * power
        constant = moved * bound.constant**power * stretch**degree * mean_power(degree + order)
        found.append(Envelope(constant.upper(), degree))

    if low > 0:
        on_line = polynomial_growth(function.growth)
        if on_line is not None:
            y = rational_ball(lift) / low
            spread(on_line, (y * y / 2).exp() * (1 + y) ** order)
    if len(function.panels) == 1 or scale == 0:
        exact = scale == 0
        on_strip = (
            branch_bound(function, lift, abs(slope) * reach + abs(bias)) if exact else _strip_bound(function, lift)
        )
        if on_strip is not None:
            spread(on_strip, arb(1))
    return min(found, key=lambda bound: (bound.degree, log_of(bound.constant)), default=None)
