"""The saddle point of the ridge readout in ball arithmetic, one group, ridge > 0 (Result 3.3 of arXiv 2402.04980).

For positive T and tau the nonlinear part, in the notation of `numerics.saddle_point.equations`, is equivalent to

    h1 = (ridge + D) tau + C T - 1 = 0,      h2 = T + c beta C T tau - c tau = 0,

C = (alpha/beta) E[mu1^2/(1+V)] and D = (alpha/beta) E[mu2^2/(1+V)]: h2 is T = c tau/(1 + c beta C tau), and with it
C T = tau c C/(1 + c beta C tau), so that h1 is the equation of tau. Everything else is linear.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from flint import arb

from giantsteps.numerics.balls.arithmetic import BallError
from giantsteps.numerics.balls.rules import SpikeRule
from giantsteps.numerics.certificates.functions import Functions, Problem, over_variance
from giantsteps.numerics.certificates.newton import Box, System
from giantsteps.numerics.certificates.slope import expectation, value_of

Ball = Any


def nonlinear_system(problem: Problem, table: Functions, rule: SpikeRule, inverse: Ball) -> System:
    """h and its slopes at boxes of (T, tau); `inverse` bounds 1/|1 + V| on the rectangle for all of them."""
    ratio, beta, c, ridge = _constants(problem)
    features = (table.mu1 * table.mu1, table.mu2_squared)

    def averages(box: Box) -> tuple[Any, Any, Any]:
        weight = over_variance(table, box[0], box[1], inverse)
        first, second = (ratio * expectation(rule, f * weight) for f in features)
        return first, second, weight

    def values(box: Box) -> Sequence[Ball]:
        (overlap, tau), (first, second, _) = box, averages(box)
        return (ridge + second) * tau + first * overlap - 1, overlap + c * beta * first * overlap * tau - c * tau

    def slopes(box: Box) -> Sequence[Sequence[Ball]]:
        (overlap, tau), (first, second, weight) = box, averages(box)
        squared = weight * weight
        c_overlap = -ratio * rule.expectation(features[0] * features[0] * squared)
        c_tau = -ratio * rule.expectation(features[0] * features[1] * squared)
        d_tau = -ratio * rule.expectation(features[1] * features[1] * squared)
        return (
            (c_tau * tau + c_overlap * overlap + first, ridge + second + d_tau * tau + c_tau * overlap),
            (1 + c * beta * tau * (first + overlap * c_overlap), c * beta * overlap * (first + tau * c_tau) - c),
        )

    return System(values, slopes)


def _constants(problem: Problem) -> tuple[Any, Any, Any, Any]:
    return problem.alpha / problem.beta, problem.beta, problem.bulk, problem.ridge


@dataclass(frozen=True)
class Enclosed:
    """Balls of all order parameters and of both errors."""

    m: Ball
    zeta: Ball
    psi: Ball
    q1: Ball
    q2: Ball
    V1: Ball
    V2: Ball
    test_error: Ball
    training_error: Ball


def fixed_error(table: Functions, noise: Any, m: Any, zeta: Any, psi: Any) -> Any:
    """The part of e2 without q1 and q2: y2 - 2 y0 yhat + yhat^2 - 2 psi mu1 y1, label noise included."""
    prediction = table.mu0 * m + table.along * zeta
    cross = table.y0 * arb(2) - prediction
    return table.y2 + noise - prediction * cross - table.y1 * table.mu1 * (2 * psi)


def enclosed(problem: Problem, table: Functions, rule: SpikeRule, inverse: Ball, box: Box) -> Enclosed:
    """All that follows linearly from (T, tau) in the box.

    q1 and q2 come from the derivatives of (T, tau) in (C, D), by implicit differentiation of h1 and h2, and from the
    signal parts: with zt = zeta/(alpha c tau) and pt = E[mu1 y1/(1+V)]

        (q1, q2) = -dGamma [Ch, Dh] - (alpha^2/beta) (c zt^2 dtau + pt^2 dT) in (C, D).

    Raises BallError where a linear system is not shown to be regular.
    """
    ratio, beta, c, ridge = _constants(problem)
    alpha, noise = problem.alpha, problem.noise
    overlap, tau = box
    weight = over_variance(table, overlap, tau, inverse)
    squared = weight * weight
    mean = partial(expectation, rule)
    features = (table.mu1 * table.mu1, table.mu2_squared)
    m, zeta = _prediction(problem, table, rule, weight, alpha * c * tau)
    pt, zt = mean(table.mu1 * table.y1 * weight), zeta / (alpha * c * tau)
    psi = alpha * overlap * pt

    first, second = (ratio * mean(f * weight) for f in features)
    by_pair = ((first, ridge + second), (1 + c * beta * first * tau, c * beta * first * overlap - c))
    by_hats = ((overlap, tau), (c * beta * overlap * tau, arb(0)))
    # dGamma, rows (T, tau), columns (C, D).
    columns = [solve_two(by_pair, [-row[j] for row in by_hats]) for j in (0, 1)]
    gamma = [[column[i] for column in columns] for i in (0, 1)]

    fixed = fixed_error(table, noise, m, zeta, psi)
    hats = [ratio * mean(f * fixed * squared) for f in features]
    cross = mean(features[0] * features[1] * squared)
    curvature = [
        [ratio * mean(features[0] * features[0] * squared), ratio * cross],
        [ratio * cross, ratio * mean(features[1] * features[1] * squared)],
    ]
    signal = [alpha * alpha / beta * (c * zt * zt * gamma[1][j] + pt * pt * gamma[0][j]) for j in (0, 1)]
    q1, q2 = solve_two(*equations_of_squares(gamma, hats, curvature, signal))
    error = fixed + features[0] * q1 + features[1] * q2
    return Enclosed(
        m=m,
        zeta=zeta,
        psi=psi,
        q1=q1,
        q2=q2,
        V1=overlap,
        V2=tau,
        test_error=mean(error) - noise,
        training_error=mean(error * squared),
    )


def equations_of_squares(
    gamma: Sequence[Sequence[Ball]], hats: Sequence[Ball], curvature: Sequence[Sequence[Ball]], signal: Sequence[Ball]
) -> tuple[list[list[Ball]], list[Ball]]:
    """Matrix and right side of the two linear equations of (q1, q2): (1 + dGamma K) q = -dGamma h - signal.

    dGamma = `gamma`, d(T, tau)/d(C, D); h = `hats`, the conjugates at q = 0, and K = `curvature`, how they fall with q.
    """
    matrix = [
        [arb(int(i == j)) + gamma[i][0] * curvature[0][j] + gamma[i][1] * curvature[1][j] for j in (0, 1)]
        for i in (0, 1)
    ]
    return matrix, [-(gamma[i][0] * hats[0] + gamma[i][1] * hats[1]) - signal[i] for i in (0, 1)]


def _prediction(problem: Problem, table: Functions, rule: SpikeRule, weight: Any, pull: Any) -> tuple[Any, Any]:
    """m and zeta: E[mu0 (y0 - yhat)/(1+V)] = 0 and zeta = pull E[kappa mu1 (y0 - yhat)/(1+V)].

    Where mu0 = 0 identically (an odd activation without a spike) any m gives the same yhat, and m is 0.
    """
    mean = partial(expectation, rule)
    zz = mean(table.along * table.along * weight)
    zy = mean(table.along * table.y0 * weight)
    if problem.along.slope == 0 and problem.symmetric and problem.student.parity == "odd":
        return arb(0), pull * zy / (1 + pull * zz)
    mm, mz = mean(table.mu0 * table.mu0 * weight), mean(table.mu0 * table.along * weight)
    my = mean(table.mu0 * table.y0 * weight)
    m, zeta = solve_two(((mm, mz), (pull * mz, 1 + pull * zz)), (my, pull * zy))
    return m, zeta


def solve_two(matrix: Sequence[Sequence[Any]], right: Sequence[Any]) -> tuple[Any, Any]:
    """Two linear equations by Cramer's rule. Raises BallError where the determinant may be zero."""
    (a, b), (d, e) = matrix
    determinant = a * e - b * d
    if value_of(determinant).contains(0):
        raise BallError("a linear system of the saddle point is not shown to be regular at this precision")
    return (right[0] * e - b * right[1]) / determinant, (a * right[1] - d * right[0]) / determinant
