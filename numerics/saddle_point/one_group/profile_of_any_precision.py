"""The functions along the spike as numbers of any precision, and what a solution on one rule is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from giantsteps.derivations.activations.activation import Activation
from giantsteps.numerics.balls.arithmetic import BallError, PrecisionError, rational_ball
from giantsteps.numerics.balls.averages import Averages
from giantsteps.numerics.balls.rules import Rule, on_nodes
from giantsteps.numerics.balls.smoothed import Smoother, derivatives
from giantsteps.numerics.models.model import Model

Ball = Any


@dataclass(frozen=True)
class Solved:
    """test error, training error, m, zeta, psi, q1, q2, V1, V2, and chi where rows differ in norm; the largest relative
    gap of the nonlinear equations.
    """

    values: tuple[Ball, ...]
    residual: Ball
    iterations: int


@dataclass(frozen=True, eq=False)
class DigitsProfile:
    """Weights of a rule for E over kappa, and on its nodes mu0, mu1, kappa mu1, mu2^2, y0, y1, and y2 with noise.

    `student`: its averages across the spike at the scale sqrt(c), `scale`.
    """

    model: Model
    weights: list[Ball]
    mu0: list[Ball]
    mu1: list[Ball]
    along: list[Ball]
    mu2_squared: list[Ball]
    y0: list[Ball]
    y1: list[Ball]
    y2: list[Ball]
    student: list[Averages]
    scale: Ball

    def norm_slope(self) -> list[Ball]:
        """dmu0/dc, half the second derivative of mu0 in its argument."""
        return [(derivatives(a, self.scale)[2] / 2).mid() for a in self.student]

    def mean(self, *factors: Sequence[Ball]) -> Ball:
        """E of a product over kappa."""
        products = list(self.weights)
        for factor in factors:
            products = [a * b for a, b in zip(products, factor, strict=True)]
        return sum(products, arb(0)).mid()


def profile_on(model: Model, rule: Rule, spike: Ball, bulk: Ball, alignment: Ball) -> DigitsProfile:
    """The functions on the nodes of a rule, for a map (r, c, gamma): midpoints of balls.

    Raises PrecisionError for functions that are neither analytic in a strip nor piecewise polynomials.
    """
    nodes = [x.mid() for x, _ in rule]
    scale, bias = bulk.sqrt(), Fraction(model.biases[0])
    student = _averages(model.activation, nodes, spike, bias, scale)
    target = _averages(model.target, nodes, alignment, Fraction(0), (1 - alignment * alignment).sqrt())
    noise = rational_ball(Fraction(model.noise))
    mu1 = [(a.first / scale).mid() for a in student]
    return DigitsProfile(
        model,
        [w.mid() for _, w in rule],
        [a.mean.mid() for a in student],
        mu1,
        [(x * slope).mid() for x, slope in zip(nodes, mu1, strict=True)],
        [(a.square - a.mean * a.mean - a.first * a.first).mid() for a in student],
        [a.mean.mid() for a in target],
        [a.first.mid() for a in target],
        [(a.square + noise).mid() for a in target],
        student,
        scale,
    )


def _averages(function: Activation, nodes: Sequence[Ball], slope: Ball, bias: Fraction, scale: Ball) -> list[Averages]:
    """The averages at slope kappa + bias, to a few bits less than the precision in force."""
    shift, smoother = rational_ball(bias), Smoother(function, ctx.prec - 8)
    try:
        if slope == 0:
            return smoother.at([shift], scale) * len(nodes)
        return on_nodes(
            lambda places: smoother.at([(slope * x + shift).mid() for x in places], scale),
            nodes,
            function.parity if bias == 0 else "",
        )
    except BallError as reason:
        raise PrecisionError(
            f"{reason}; any precision is built for functions that are analytic in a strip around the line and grow "
            "like a power there, and for polynomials between rational breakpoints, for example tanh(z) or relu(z)"
        ) from None
