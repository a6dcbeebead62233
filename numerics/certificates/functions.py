"""mu0, mu1, mu2^2, y0, y1, y2 as functions of kappa: enclosed on the nodes of a rule, bounded around the line."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from onestep.derivations.activations.activation import Activation
from onestep.numerics.balls.arithmetic import BallError, rational_ball
from onestep.numerics.balls.averages import smoothing
from onestep.numerics.balls.gaussian_bounds import Envelope
from onestep.numerics.balls.growth_bounds import Line, average_bound
from onestep.numerics.balls.rules import Along, SpikeRule, on_nodes

Ball = Any


@dataclass(frozen=True)
class Problem:
    """The exact rational numbers of a model of one group, ridge > 0: every double is the rational number that it is."""

    student: Activation
    target: Activation
    along: Line
    teacher: Line
    alpha: Fraction
    beta: Fraction
    ridge: Fraction
    noise: Fraction

    @property
    def symmetric(self) -> bool:
        """Whether mu0 has a parity, so that V is even."""
        return self.along.bias == 0 and self.student.parity in ("odd", "even")


@dataclass(frozen=True)
class Functions:
    """mu0, mu1, kappa mu1, mu2^2, y0, y1, and y2 with label noise."""

    mu0: Along
    mu1: Along
    along: Along
    mu2_squared: Along
    y0: Along
    y1: Along
    y2: Along


def bounds(problem: Problem, height: Fraction) -> Functions:
    """The functions without values: their bounds on |Im kappa| <= height."""
    nothing: tuple[Ball, ...] = ()
    return _combined(
        problem,
        _identity(nothing, height),
        _bounded((nothing,) * 3, problem.student, problem.along, height),
        _bounded((nothing,) * 3, problem.target, problem.teacher, height),
    )


def _identity(nodes: tuple[Ball, ...], height: Fraction) -> Along:
    """kappa: |x + iy| <= max(1, height) (1 + |x|)."""
    return Along(nodes, Envelope(rational_ball(max(Fraction(1), height)).upper(), 1))


# (j, l) of E f, E z f and E f^2.
_ORDERS = ((0, 1), (1, 1), (0, 2))


def _bounded(
    values: tuple[tuple[Ball, ...], ...], function: Activation, line: Line, height: Fraction
) -> tuple[Along, Along, Along]:
    found = [average_bound(function, line.slope, line.bias, line.scale(), height, *orders) for orders in _ORDERS]
    known = [bound for bound in found if bound is not None]
    if len(known) < len(found):
        raise BallError(f"no bound by a power was found for {function} off the real line")
    mean, first, square = (Along(column, bound) for column, bound in zip(values, known, strict=True))
    return mean, first, square


def functions(problem: Problem, rule: SpikeRule, height: Fraction, reach: Fraction, bits: int) -> Functions:
    """The functions on the nodes of a rule, to about 2**-bits; `reach` bounds the nodes."""
    student, teacher = (
        _bounded(_on_nodes(function, line, rule, reach, bits), function, line, height)
        for function, line in ((problem.student, problem.along), (problem.target, problem.teacher))
    )
    return _combined(problem, _identity(rule.nodes, height), student, teacher)


def _on_nodes(
    function: Activation, line: Line, rule: SpikeRule, reach: Fraction, bits: int
) -> tuple[tuple[Ball, ...], tuple[Ball, ...], tuple[Ball, ...]]:
    # Node by node in z, not on the grid of `numerics.balls.smoothed`: that is the way of the digits that check these.
    widest = abs(line.slope) * reach + abs(line.bias)
    inner = smoothing(function, line, Fraction(0), widest, bits)
    parity = function.parity if line.bias == 0 else ""
    found = on_nodes(lambda nodes: [inner.at(line.argument(kappa)) for kappa in nodes], rule.nodes, parity)
    return tuple(a.mean for a in found), tuple(a.first for a in found), tuple(a.square for a in found)


def _combined(
    problem: Problem, identity: Along, student: tuple[Along, Along, Along], teacher: tuple[Along, Along, Along]
) -> Functions:
    mean, first, square = student
    mu1 = first.scaled(1 / problem.along.scale())
    y2 = teacher[2]
    noise = rational_ball(problem.noise)
    noisy = Along(tuple(value + noise for value in y2.values), y2.bound + Envelope(noise.upper()))
    return Functions(
        mu0=mean,
        mu1=mu1,
        along=identity * mu1,
        mu2_squared=square - mean * mean - first * first,
        y0=teacher[0],
        y1=teacher[1],
        y2=noisy,
    )


def over_variance(table: Functions, overlap: Ball, tau: Ball, inverse: Ball) -> Along:
    """1/(1 + V), V = T mu1^2 + tau mu2^2; `inverse` bounds it off the line, and 1 on it, T and tau being positive."""
    variance = table.mu1 * table.mu1.scaled(overlap) + table.mu2_squared.scaled(tau)
    return Along(tuple(1 / (1 + v) for v in variance.values), Envelope(inverse.max(arb(1))))
