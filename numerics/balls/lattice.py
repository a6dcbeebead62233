"""Gaussian averages E[z^j f(w + s z)^l] at equally spaced places w at once: the values of f are shared by all places.

With places w_k = bias + k d and nodes z_i = i g/s of the trapezoidal rule, g = d/m for a whole m, every argument w_k +
s z_i = bias + (k m + i) g lies on one lattice, and all sums are one product of matrices. For d = 0 it is so with m = 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb, arb_mat

from giantsteps.derivations.activations.activation import Activation
from giantsteps.numerics.balls.arithmetic import program, rational_ball
from giantsteps.numerics.balls.averages import ORDERS, Averages, across, assembled, powers
from giantsteps.numerics.balls.growth_bounds import Line
from giantsteps.numerics.balls.pieces import Columns, piecewise
from giantsteps.numerics.balls.trapezoid import density

Ball = Any

# Of arguments: beyond them the values cost more than rules place by place would.
_MOST_VALUES = 6000


@dataclass(frozen=True)
class Sums:
    """Sums over nodes: of f times the columns of weights, of f^2 times them, and the errors of E z^j f^l by (j, l)."""

    plain: list[list[Ball]]
    squared: list[list[Ball]]
    errors: dict[tuple[int, int], Ball]


def sums(
    function: Activation,
    line: Line,
    step: Ball,
    first: int,
    last: int,
    bits: int,
    orders: Sequence[tuple[int, int]],
    columns: Columns,
) -> Sums | None:
    """At the places of kappa = k step, first <= k <= last; None for f analytic in a strip where they share too little.

    columns: of f and of f^2. The error of a column that is a polynomial in z follows from those of the powers of z,
    which are at most about 2**-bits, for the (j, l) in `orders`. Raises BallError as `piecewise` does.
    """
    scale, spacing = line.scale(), line.factor() * step
    bias, wide = rational_ball(line.bias), abs(spacing).upper()
    far = (abs(bias) + wide * max(abs(first), abs(last))).upper()
    rule = across(function, scale, Fraction(0), far, bits, orders)
    if rule is None:
        table = piecewise(function, scale, far, bits, orders)
        rows = [table.at(bias + k * spacing, columns) for k in range(first, last + 1)]
        return Sums([row for row, _ in rows], [row for _, row in rows], table.errors)
    # Without a slope all places are one, and the nodes are as far apart as they may be.
    m = 0 if wide == 0 else max(1, math.ceil(float(wide) / (float(scale) * rule.plan.width)))
    gap = spacing / m if m else scale * arb(rule.plan.width)
    h = abs(gap) / scale
    # Where the slope is zero or nearly, a step of the lattice is too small to reach the end, or not known to be one.
    if not h * _MOST_VALUES > rational_ball(rule.end):
        return None
    reach = math.ceil(float((rational_ball(rule.end) / h).upper())) + 1
    start, end = first * m - reach, last * m + reach
    if end - start > _MOST_VALUES:
        return None
    run = program(function.panels[0].branch).run
    values = [run(bias + i * gap)[0] for i in range(start, end + 1)]
    squares = [value * value for value in values]
    nodes = [i * gap / scale for i in range(-reach, reach + 1)]
    weights = [h * density(z) for z in nodes]
    right = arb_mat([[weight * factor for factor in columns(z)] for z, weight in zip(nodes, weights, strict=True)])
    found = []
    for of in (values, squares):
        left = arb_mat([of[k * m - reach - start : k * m + reach - start + 1] for k in range(first, last + 1)])
        found.append((left * right).tolist())
    errors = dict(zip(orders, rule.errors(h, rational_ball(rule.end)), strict=True))
    return Sums(found[0], found[1], errors)


def averages(
    function: Activation, line: Line, step: Ball, first: int, last: int, bits: int, count: int = len(ORDERS)
) -> list[Averages] | None:
    """The first `count` of `Averages` at the places, errors of about 2**-bits; None where they share too little."""
    orders = ORDERS[:count]
    found = sums(function, line, step, first, last, bits, orders, powers(max(j for j, _ in orders)))
    if found is None:
        return None
    return [assembled(*rows, found.errors) for rows in zip(found.plain, found.squared, strict=True)]
