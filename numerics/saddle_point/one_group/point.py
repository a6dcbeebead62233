"""The ridge saddle point of one group with the isotropic bulk: the equations of `numerics.saddle_point.equations` in
scalars.

With two unknowns and closed forms for all else the time of a solution is that of its calls of NumPy, and here there are
few: products of a table (`numerics.saddle_point.profile`) with 1/(1+V). That is why these equations stand beside those
for arrays (`batch_equations`), by which one point takes six times as long. A network's own bulk has scalar equations of
its own (`network_point`); several groups, several directions of the spike and other bulks take the general path.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.bulk.equivalent import IsotropicUniform
from giantsteps.numerics.gaussian.least_squares import RANK_TOLERANCE
from giantsteps.numerics.gaussian.quadrature import ROUNDING
from giantsteps.numerics.saddle_point.equations import MOST_ITERATIONS, at_rounding, fit_rounding, in_all
from giantsteps.numerics.saddle_point.profile import OneGroupTable

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Problem:
    """The parameters of one point; `unit` stands for the 1 in 1 + V."""

    equivalent: IsotropicUniform
    ratio: float
    noise: float
    unit: float

    @property
    def along(self) -> float:
        """zeta over its force at tau = 1."""
        return self.ratio * self.equivalent.beta * self.equivalent.bulk

    @property
    def across(self) -> float:
        """psi over its force at T = 1."""
        return self.ratio * self.equivalent.beta


@dataclass(frozen=True, slots=True)
class OneGroupState:
    """All unknowns, as scalars and pairs, and the errors; rounding as in `saddle_point.LinearPart`."""

    values: tuple[float, float]
    conjugates: tuple[float, float]
    m: float
    zeta: float
    psi: float
    zeta_force: float
    psi_force: float
    q: tuple[float, float]
    hats: tuple[float, float]
    test_error: float
    training_error: float
    rounding: float
    iterations: int
    converged: bool


Pair = tuple[float, float]
Square = tuple[float, float, float, float]
# 1/(1+V) and its square on the nodes; (C, D); (T, tau) = Gamma(C, D); its Jacobian; -d(C, D)/d(T, tau), three entries.
Point = tuple[Array, Array, list[float], Pair, Square, list[float]]


def _at(table: OneGroupTable, problem: Problem, overlap: float, tau: float) -> Point:
    inverse = 1.0 / (table.rows @ np.array([overlap, tau, problem.unit]))
    square = inverse * inverse
    conjugates = (problem.ratio * (table.conjugates @ inverse)).tolist()
    values, jacobian = problem.equivalent.expanded(*conjugates)
    return inverse, square, conjugates, values, jacobian, (problem.ratio * (table.curvature @ square)).tolist()


def one_minus(jacobian: Square, bend: list[float]) -> Square:
    """1 - dF/dx = 1 + dGamma bend, row by row."""
    a, b, c, d = jacobian
    return (
        1.0 + a * bend[0] + b * bend[1],
        a * bend[1] + b * bend[2],
        c * bend[0] + d * bend[1],
        1.0 + c * bend[1] + d * bend[2],
    )


def solve_pair(matrix: Square, x: float, y: float) -> Pair:
    """By Cramer's rule; not numbers where the matrix is singular."""
    a, b, c, d = matrix
    determinant = a * d - b * c
    if determinant == 0.0:
        return math.nan, math.nan
    return (d * x - b * y) / determinant, (a * y - c * x) / determinant


def solve_one_group(table: OneGroupTable, problem: Problem, start: Pair | None = None) -> OneGroupState:
    """Newton's method for (T, tau) as in `saddle_point.nonlinear_part`, then all that follows linearly."""
    return _followed(table, problem, *_newton(table, problem, start))


def isotropic_values(table: OneGroupTable, problem: Problem, enough: float) -> Pair:
    """(T, tau), to the share `enough` of them."""
    return _newton(table, problem, None, enough)[0]


def _newton(
    table: OneGroupTable, problem: Problem, start: Pair | None, enough: float = 0.0
) -> tuple[Pair, Point, int, bool, float]:
    largest = tuple(problem.equivalent.largest().tolist())
    overlap, tau = largest if start is None else start
    higher, previous, converged = 1.0, math.inf, False
    for iteration in range(1, MOST_ITERATIONS + 1):  # noqa: B007  (the count is returned)
        point = _at(table, problem, overlap, tau)
        image, jacobian, bend = point[3:]
        gaps = overlap - image[0], tau - image[1]
        size = max(abs(gaps[0]) / abs(overlap), abs(gaps[1]) / abs(tau)) if overlap and tau else math.inf
        # There is a solution of negative T, too.
        ended = size < enough or at_rounding(size, previous)
        converged = ended and overlap > 0.0
        if converged:
            break
        previous = size
        steps = solve_pair(one_minus(jacobian, bend), *gaps)
        if tau - steps[1] > 0.0 and not ended:
            overlap, tau = overlap - steps[0], tau - steps[1]
        else:
            # A step from below led to something negative or nowhere: begin again, higher each time.
            overlap, tau, higher = higher * largest[0], higher * largest[1], 10.0 * higher
    return (overlap, tau), point, iteration, converged, size


def _followed(
    table: OneGroupTable,
    problem: Problem,
    values: Pair,
    point: Point,
    iterations: int,
    converged: bool,
    gap: float,
) -> OneGroupState:
    """The linear part: m, zeta, psi, q and the errors."""
    inverse, _, conjugates, _, jacobian, _ = point
    stiffness = problem.along * values[1]
    m, zeta, zeta_force, share = _fit(table, inverse, stiffness)
    psi_force = float(table.whole[3] @ inverse)
    psi = problem.across * values[0] * psi_force
    along, across = (table.force_scatter @ inverse).tolist()
    along *= stiffness / (1.0 + stiffness * float(table.gram[1] @ inverse)) * table.line_norm
    known = share, along, across * problem.across * values[0] * abs(float(table.expected[3]))
    signal = _signal(problem, zeta_force, psi_force, jacobian)
    given = problem.ratio, problem.noise, problem.unit
    found = errors(table, given, values, point, (m, zeta), psi, signal, known, gap / ROUNDING)
    pair = conjugates[0], conjugates[1]
    return OneGroupState(values, pair, m, zeta, psi, zeta_force, psi_force, *found, iterations, converged)


def errors(
    table: OneGroupTable,
    given: tuple[float, float, float],
    values: Pair,
    point: Point,
    fitted: tuple[float, ...],
    psi: float,
    signal: Pair,
    known: tuple[float, float, float] | None,
    lost: float,
) -> tuple[Pair, Pair, float, float, float]:
    """q, its hats, test and training error and the rounding of the first, from the means `fitted`, m and the overlaps.

    `given` are ratio, noise and unit; `point` is at (T, tau) = `values`. `signal` and `known` are as in
    `batch_equations.Means`, the latter behind its share; without it rounding is not asked for. `lost`: how many
    roundings are lost in (T, tau) beside its own.
    """
    (ratio, noise, unit), (_, square, conjugates, _, jacobian, bend) = given, point
    # yhat - y0, whose square is formed before it is averaged.
    deviation = table.lines @ np.array([*fitted, 1.0])
    deviation *= deviation
    fixed = deviation + (table.rest[0] + noise - 2.0 * psi * table.rest[1])
    first, second, training = (table.weighted_rows @ (square * fixed)).tolist()
    first, second = ratio * first, ratio * second
    a, b, c, d = jacobian
    matrix = one_minus(jacobian, bend)
    q = solve_pair(matrix, -a * first - b * second - signal[0], -c * first - d * second - signal[1])
    means = (table.conjugates @ square).tolist()
    whole = float(table.whole[0] @ fixed)
    features = q[0] * float(table.expected[1]) + q[1] * float(table.expected[2])
    rounding = math.nan
    if known is not None:
        share, along, across = known
        cross = 2.0 * psi * float(table.expected[3])
        left = float(table.whole[0] @ deviation)
        moved = fit_rounding(left, table.terms(*fitted), share) + 2.0 * (along * math.sqrt(left) + across)
        condition = _condition(matrix, values) * (1.0 + lost + _roughness(table, ratio, values, square, conjugates))
        rounding = in_all(whole + cross + abs(cross) + abs(features), condition, moved, whole + cross)
    hats = first + bend[0] * q[0] + bend[1] * q[1], second + bend[1] * q[0] + bend[2] * q[1]
    return q, hats, whole + features - noise, unit**2 * (training + q[0] * means[0] + q[1] * means[1]), rounding


def _condition(matrix: Square, sizes: Pair) -> float:
    """As `equations._condition`."""
    a, b, c, d = matrix
    determinant = abs(a * d - b * c)
    x, y = sizes
    if not (determinant > 0.0 and x and y):
        return math.inf
    return max((abs(d) * x + abs(b) * y) / x, (abs(c) * x + abs(a) * y) / y) / determinant


def _roughness(table: OneGroupTable, ratio: float, values: Pair, square: Array, conjugates: list[float]) -> float:
    """The relative rounding of C and D through that of the functions they are integrals of, per eps."""
    a, b, c, d = (table.roughness @ square).tolist()
    moved = a * values[0] + b * values[1], c * values[0] + d * values[1]
    return ratio * max(x / y if y > 0.0 else 0.0 for x, y in zip(moved, conjugates, strict=True))


def _fit(table: OneGroupTable, inverse: Array, stiffness: float) -> Square:
    """(m, zeta) of `equations.fit`: its factorisations are two projections here. The force zeta/stiffness, and how many
    times smaller than the activation mu0 is: infinitely where the fit is `equations.undecided`.

    The force is E[kappa mu1 (y0 - yhat)/(1+V)], which may be a small difference of large terms.
    """
    root = np.sqrt(inverse)
    mean, line, y = table.roots * root
    # The direction (sqrt(stiffness) line, 1), whose last entry stands for the row that the regularisation adds.
    factor = math.sqrt(stiffness)
    length = math.sqrt(stiffness * float(line @ line) + 1.0)
    spike = (factor / length) * line
    share = float(spike @ mean)
    free = mean - share * spike
    square = float(free @ free) + (share / length) ** 2
    size = float(table.sizes @ inverse)
    norm = float(mean @ mean)
    held = norm > RANK_TOLERANCE**2 * size
    present = held and square > (0.01 * RANK_TOLERANCE) ** 2 * size
    m = float(free @ y) / square if present else 0.0
    force = float(line @ (y - m * mean)) / length**2
    share = math.sqrt(size / norm) if held else table.lost
    return m, stiffness * force, force, share


def _signal(problem: Problem, zeta_force: float, psi_force: float, jacobian: Square) -> Pair:
    """Derivatives of (alpha/beta)^2 f.K f at fixed forces f in C and D."""
    a, b, c, d = jacobian
    pull = problem.ratio * problem.across
    along = pull * problem.equivalent.bulk * zeta_force * zeta_force
    across = pull * psi_force * psi_force
    return along * c + across * a, along * d + across * b


def one_group_residual(table: OneGroupTable, problem: Problem, state: OneGroupState) -> float:
    """`saddle_point.residual` for one group: max of |x - F(x)|/(1 + |x|), every F recomputed from the unknowns."""
    inverse, square, conjugates, image, jacobian, _ = _at(table, problem, *state.values)
    there, jacobian_there = problem.equivalent.expanded(*state.conjugates)
    weights = table.profile.weights * inverse
    deviation = table.lines @ np.array([state.m, state.zeta, 1.0])
    left = weights * deviation
    mean_force, zeta_force = (-(left @ table.lines[:, :2])).tolist()
    psi_force = float(table.whole[3] @ inverse)
    mean, line = (table.gram @ inverse).tolist()
    m = 0.0
    if mean > RANK_TOLERANCE**2 * float(table.sizes @ inverse):
        m = state.m + mean_force / mean
    stiffness = problem.along * image[1]
    zeta = state.zeta + (stiffness * zeta_force - state.zeta) / (1.0 + stiffness * line)
    fixed = deviation * deviation + (table.rest[0] + problem.noise - 2.0 * state.psi * table.rest[1])
    error = fixed + table.rows @ np.array([*state.q, 0.0])
    hats = (problem.ratio * (table.conjugates @ (square * error))).tolist()
    signal = _signal(problem, state.zeta_force, state.psi_force, jacobian_there)
    a, b, c, d = jacobian
    pairs = (
        (state.values[0], there[0]),
        (state.values[1], there[1]),
        (state.conjugates[0], conjugates[0]),
        (state.conjugates[1], conjugates[1]),
        (state.m, m),
        (state.zeta, zeta),
        (state.psi, problem.across * image[0] * psi_force),
        (state.zeta_force, zeta_force),
        (state.psi_force, psi_force),
        (state.hats[0], hats[0]),
        (state.hats[1], hats[1]),
        (state.q[0], -a * state.hats[0] - b * state.hats[1] - signal[0]),
        (state.q[1], -c * state.hats[0] - d * state.hats[1] - signal[1]),
    )
    worst = 0.0
    for unknown, found in pairs:
        gap = abs(unknown - found) / (1.0 + abs(unknown))
        if math.isnan(gap):
            return gap
        worst = max(worst, gap)
    return worst
