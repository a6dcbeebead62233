"""The saddle point of the ridge readout in ball arithmetic, one group, ridge > 0 (Result 3.3 of arXiv 2402.04980).

For positive T and tau the nonlinear part, in the notation of `numerics.saddle_point.equations`, is equivalent to

    (ridge + D + C tr B H) tau = 1,   T = tau tr B H,   b as the law of the bulk has it (`laws`),

C = (alpha/beta) E[mu1^2/(1+V)] and D = (alpha/beta) E[mu2^2/(1+V)]. Everything else is linear.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

from flint import arb, arb_mat

from giantsteps.numerics.balls.arithmetic import BallError, precision
from giantsteps.numerics.balls.rules import SpikeRule
from giantsteps.numerics.certificates.functions import Functions, Problem, over_variance
from giantsteps.numerics.certificates.newton import Box, System
from giantsteps.numerics.certificates.slope import Moving, expectation, slope_of, value_of

Ball = Any


def _equations(problem: Problem, C: Ball, D: Ball, box: Box) -> tuple[list[Ball], list[list[Ball]], list[list[Ball]]]:
    """What vanishes at (T, tau, *b) for these C and D, and its slopes in (T, tau, *b) and in (C, D), row by row."""
    beta, shift = problem.beta, problem.ridge + D
    overlap, tau, *b = box
    x = beta * tau
    (filled, *own), (falls, *slopes) = problem.law.traced(C * x, b)
    values = [shift * tau + C * overlap - 1, overlap - tau * filled, *(p - q for p, q in zip(b, own, strict=True))]
    direct = [
        [C, shift, *([arb(0)] * len(b))],
        [arb(1), -filled - tau * C * beta * falls[0], *(-tau * q for q in falls[1:])],
    ]
    for k, row in enumerate(slopes, start=1):
        direct.append([arb(0), -C * beta * row[0], *(int(j == k) - q for j, q in enumerate(row[1:], start=1))])
    by_pair = [[overlap, tau], [-tau * x * falls[0], arb(0)], *([-x * row[0], arb(0)] for row in slopes)]
    return values, direct, by_pair


def nonlinear_system(problem: Problem, table: Functions, rule: SpikeRule, inverse: Ball) -> System:
    """The equations and their slopes at boxes of (T, tau, *b); `inverse` bounds 1/|1 + V| on the rectangle for all."""
    ratio = problem.alpha / problem.beta
    features = (table.mu1 * table.mu1, table.mu2_squared)

    def conjugates(box: Box) -> tuple[Any, Any, Any]:
        weight = over_variance(table, box[0], box[1], inverse)
        first, second = (ratio * expectation(rule, f * weight) for f in features)
        return first, second, weight

    def values(box: Box) -> Sequence[Ball]:
        C, D, _ = conjugates(box)
        return _equations(problem, C, D, box)[0]

    def slopes(box: Box) -> Sequence[Sequence[Ball]]:
        C, D, weight = conjugates(box)
        squared = weight * weight
        moved = _symmetric(2, lambda i, j: -ratio * rule.expectation(features[i] * features[j] * squared))
        _, direct, by_pair = _equations(problem, C, D, box)
        for row, by in zip(direct, by_pair, strict=True):
            row[:2] = [q + _dot(by, column) for q, column in zip(row, moved, strict=False)]
        return direct

    return System(values, slopes)


@dataclass(frozen=True)
class Enclosed:
    """Balls of all order parameters and of both errors; chi where the rows of the bulk differ in norm."""

    m: Ball
    zeta: Ball
    psi: Ball
    q1: Ball
    q2: Ball
    V1: Ball
    V2: Ball
    test_error: Ball
    training_error: Ball
    chi: Ball = None

    def named(self) -> dict[str, Ball]:
        """All balls by their names."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: ball for name, ball in found.items() if ball is not None}

    def texts(self, bits: int, most: int, more: bool = False) -> dict[str, str]:
        """name -> [mid +/- rad], at most so many digits, every one certain to one unit unless `more` are printed."""
        with precision(bits):
            return {name: str(ball.str(most, more=more)) for name, ball in self.named().items()}


def fixed_error(table: Functions, noise: Any, prediction: Any, psi: Any) -> Any:
    """The part of e2 without q1 and q2: y2 - 2 y0 yhat + yhat^2 - 2 psi mu1 y1, label noise included."""
    cross = table.y0 * arb(2) - prediction
    return table.y2 + noise - prediction * cross - table.y1 * table.mu1 * (2 * psi)


def enclosed(problem: Problem, table: Functions, rule: SpikeRule, inverse: Ball, box: Box) -> Enclosed:
    """All that follows linearly from the unknowns in the box, with slopes where the problem or the box has them.

    With r the residual of the prediction, F = E[(kappa mu1, dmu0/dc) r/(1+V)], E[mu1 y1/(1+V)], and K the overlaps of
    the law: E[mu0 r/(1+V)] = 0 and (zeta, chi, psi) = (alpha/beta) K F. q1 and q2 come from the derivatives of (T, tau)
    in (C, D): (1 + dGamma K') q = -dGamma h - (alpha/beta)^2 F.(dK) F, h the conjugates at q = 0 and K' how they fall.

    Raises BallError where a linear system is not shown to be regular.
    """
    ratio, beta, law = problem.alpha / problem.beta, problem.beta, problem.law
    overlap, tau, *b = box
    weight, mean = over_variance(table, overlap, tau, inverse), partial(expectation, rule)
    squared = weight * weight
    features = (table.mu1 * table.mu1, table.mu2_squared)
    C, D = (ratio * mean(f * weight) for f in features)
    _, direct, by_pair = _equations(problem, C, D, box)
    # d(T, tau, *b)/d(C, D) by implicit differentiation, row by row.
    moves = list(zip(*(_solution(direct, [-row[k] for row in by_pair]) for k in (0, 1)), strict=True))
    gamma = moves[:2]
    K, moved = law.overlaps(C, beta * tau, b, [[beta * q for q in moves[1]], *moves[2:]])

    functions = [f for f in (table.mu0, table.along, table.curved) if f is not None]
    count = len(functions)
    gram = _symmetric(count, lambda i, j: mean(functions[i] * functions[j] * weight))
    pull = [mean(f * table.y0 * weight) for f in functions]
    force = mean(table.mu1 * table.y1 * weight)
    system, right = [gram[0]], [pull[0]]
    for i, row in enumerate(K[:-1], start=1):
        *own, last = (ratio * q for q in row)
        system.append([_dot(own, [g[k] for g in gram[1:]]) + int(k == i) for k in range(count)])
        right.append(_dot(own, pull[1:]) + last * force)
    # Where mu0 = 0 identically (an odd activation without a spike) any m gives the same prediction, and m is 0.
    silent = int(problem.along.slope == 0 and problem.symmetric and problem.student.parity == "odd")
    fit = [arb(0)] * silent + _solution([row[silent:] for row in system[silent:]], right[silent:])
    forces = [*(pull[i] - _dot(gram[i], fit) for i in range(1, count)), force]
    psi = ratio * _dot(K[-1], forces)
    prediction = sum((f * x for f, x in zip(functions[1:], fit[1:], strict=True)), functions[0] * fit[0])
    fixed = fixed_error(table, problem.noise, prediction, psi)

    signal = [ratio * ratio * _dot(forces, [_dot(row, forces) for row in by]) for by in moved]
    hats = [ratio * mean(f * fixed * squared) for f in features]
    curvature = _symmetric(2, lambda i, j: ratio * mean(features[i] * features[j] * squared))
    matrix = [[_dot(gamma[i], curvature[j]) + int(i == j) for j in (0, 1)] for i in (0, 1)]
    q1, q2 = _solution(matrix, [-_dot(gamma[i], hats) - signal[i] for i in (0, 1)])
    error = fixed + features[0] * q1 + features[1] * q2
    return Enclosed(
        m=fit[0], zeta=fit[1], psi=psi, q1=q1, q2=q2, V1=overlap, V2=tau,
        test_error=mean(error) - problem.noise, training_error=mean(error * squared), chi=fit[2] if count > 2 else None,
    )  # fmt: skip


def _dot(first: Sequence[Any], second: Sequence[Any]) -> Any:
    return sum((x * y for x, y in zip(first, second, strict=True)), arb(0))


def _symmetric(count: int, entry: Any) -> list[list[Any]]:
    found = {(i, j): entry(i, j) for i in range(count) for j in range(i + 1)}
    return [[found[max(i, j), min(i, j)] for j in range(count)] for i in range(count)]


def _solution(matrix: Sequence[Sequence[Any]], right: Sequence[Any]) -> list[Any]:
    """Of linear equations, whose slopes solve them too: A x' = b' - A' x. Raises BallError where A may be singular."""
    plain = [[value_of(q) for q in row] for row in matrix]
    found = solved(plain, [value_of(q) for q in right])
    if not any(isinstance(q, Moving) for row in (*matrix, right) for q in row):
        return found
    moved = [slope_of(b) - _dot([slope_of(q) for q in row], found) for row, b in zip(matrix, right, strict=True)]
    return [Moving(x, slope) for x, slope in zip(found, solved(plain, moved), strict=True)]


def solved(matrix: Sequence[Sequence[Ball]], right: Sequence[Ball]) -> list[Ball]:
    """The solution of linear equations in balls. Raises BallError where the matrix may be singular."""
    try:
        found = arb_mat([list(row) for row in matrix]).solve(arb_mat([[q] for q in right]), algorithm="precond")
    except ZeroDivisionError:
        raise BallError("a linear system of the saddle point is not shown to be regular at this precision") from None
    return [found[i, 0] for i in range(len(right))]
