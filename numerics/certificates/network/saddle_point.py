"""The saddle point on a network's own bulk in ball arithmetic: any activation, ridge > 0.

Unknowns are (T, tau, b1, b2) of `numerics.bulk.network`; for an odd activation b1 = 0 and is none. With x = beta tau,
g = C x and the blocks of the resolvent at g,

    (ridge + D + C tr B H) tau = 1,   T = tau tr B H,   b1 and b2 as the blocks have them.

Everything else is linear; how the overlaps K move with C and D comes from numbers with a slope.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from flint import arb, arb_mat

from giantsteps.numerics.balls.arithmetic import BallError, rational_ball
from giantsteps.numerics.balls.rules import Along, SpikeRule
from giantsteps.numerics.bulk.network import signal_overlaps
from giantsteps.numerics.bulk.resolvent import Blocks, block_slopes, blocks
from giantsteps.numerics.certificates.functions import Functions, Problem, over_variance
from giantsteps.numerics.certificates.network.labels import LabelBalls
from giantsteps.numerics.certificates.network.rows import RowsLaw, rows_law, slope_balls
from giantsteps.numerics.certificates.newton import Box, System
from giantsteps.numerics.certificates.problems import line_of
from giantsteps.numerics.certificates.saddle_point import Enclosed, equations_of_squares
from giantsteps.numerics.certificates.slope import Moving, expectation, slope_of, value_of
from giantsteps.numerics.models.model import Model

Ball = Any
Objects = Any
_LABEL_POWERS = 8


@dataclass(frozen=True, eq=False)
class NetworkProblem:
    """The model's exact numbers, with the law of its rows and the averages over its labels."""

    problem: Problem
    law: RowsLaw
    labels: LabelBalls

    @property
    def turned(self) -> bool:
        """Whether the rows are turned along the labels, so that b1 is an unknown."""
        # A ball that holds 0 and is more than that is none.
        return not bool(value_of(self.law.turn) == 0)


def network_problem(model: Model, bits: int, **moved: Any) -> NetworkProblem:
    """In balls of about 2**-bits; `moved` has other values of numbers that no average over labels depends on (alpha,
    beta, ridge, alpha0, eta), balls or numbers with a slope. Raises BallError where a constant has none.
    """
    step, weight = model.network_step, rational_ball(Fraction(model.groups[0].weight))
    assert step is not None
    numbers = {name: rational_ball(Fraction(getattr(model, name))) for name in ("alpha", "beta", "ridge", "noise")}
    numbers |= {name: rational_ball(Fraction(getattr(step, name))) for name in ("alpha0", "eta")} | moved
    slope = slope_balls(model.activation, bits)
    labels = LabelBalls(model.target, weight * slope.mean, bits, Fraction(model.noise))
    plain, tilted, _ = labels.moments(_LABEL_POWERS)
    alpha0, e = numbers.pop("alpha0"), weight * numbers.pop("eta") / numbers["beta"]
    law = rows_law(slope, e, alpha0, plain[:5], tilted[:4])
    if value_of(law.omega).contains(0) and value_of(law.turn).contains(0):
        raise BallError("the rows of a linear activation need no averages over labels, which is not built")
    if value_of(law.spike).contains(0):
        raise BallError("the step makes no spike (E[sigma'] = 0), which is not built")
    problem = Problem(
        student=model.activation,
        target=model.target,
        along=line_of(law.spike, Fraction(model.biases[0]), law.bulk),
        teacher=line_of(law.alignment, Fraction(0), 1 - law.alignment * law.alignment),
        bulk=law.bulk,
        **numbers,
    )
    return NetworkProblem(problem, law, labels)


@dataclass(frozen=True, eq=False)
class _At:
    """The blocks at a box, and the slopes of filled, b1 and b2 in (g, b1, b2)."""

    blocks: Blocks
    slopes: tuple[tuple[Ball, Ball, Ball], ...]


def _label_averages(network: NetworkProblem, b1: Any, b2: Any, power: int) -> tuple[list[list[Any]], list[list[Any]]]:
    """E[u^i Y^j/D] and E[u^i Y^j/D^2] as `LabelBalls.over`, with slopes where b1 or b2 has one."""
    if not (isinstance(b1, Moving) or isinstance(b2, Moving)):
        once, twice = network.labels.over(b1, b2, power)
        return once, twice
    once, twice, thrice = network.labels.over(value_of(b1), value_of(b2), power, 3)
    by_1, by_2 = slope_of(b1), slope_of(b2)

    def moving(rows: list[list[Ball]], higher: list[list[Ball]], k: int) -> list[list[Any]]:
        return [
            [Moving(ball, -k * (up[j + 1] * by_1 + up[j + 2] * by_2)) for j, ball in enumerate(row)]
            for row, up in zip(rows, higher, strict=True)
        ]

    return moving(once, twice, 1), moving(twice, thrice, 2)


def _linearised(network: NetworkProblem, g: Any, b1: Any, b2: Any) -> _At:
    once, twice = _label_averages(network, b1, b2, 2)
    S1, S2, fall = once[0][1], once[0][2], twice[0][2:5]
    at = blocks(network.law, g, S1, S2)
    found = []
    for by_g, by_1, by_2 in block_slopes(network.law, g, S1, S2, at):
        found.append((by_g, -(by_1 * fall[0] + by_2 * fall[1]), -(by_1 * fall[1] + by_2 * fall[2])))
    return _At(at, tuple(found))


def _whole(network: NetworkProblem, box: Box) -> Box:
    """(T, tau, b1, b2) of a box in which b1 may be left away."""
    return box if network.turned else (box[0], box[1], arb(0), box[2])


def _kept(network: NetworkProblem, row: Sequence[Ball]) -> list[Ball]:
    """Of four entries those of the unknowns."""
    return [value for k, value in enumerate(row) if network.turned or k != 2]


def nonlinear_system(network: NetworkProblem, table: Functions, rule: SpikeRule, inverse: Ball) -> System:
    """The equations and their slopes at boxes of the unknowns; `inverse` bounds 1/|1 + V| on the rectangle."""
    problem = network.problem
    ratio, beta, ridge = problem.alpha / problem.beta, problem.beta, problem.ridge
    features = (table.mu1 * table.mu1, table.mu2_squared)

    def conjugates(T: Ball, tau: Ball) -> tuple[Any, Any, Along]:
        weight = over_variance(table, T, tau, inverse)
        first, second = (ratio * expectation(rule, f * weight) for f in features)
        return first, second, weight

    def values(box: Box) -> Sequence[Ball]:
        T, tau, b1, b2 = _whole(network, box)
        C, D, _ = conjugates(T, tau)
        at = _linearised(network, C * beta * tau, b1, b2).blocks
        found = [(ridge + D + C * at.filled) * tau - 1, T - tau * at.filled, b1 - at.b1, b2 - at.b2]
        return _kept(network, found)

    def slopes(box: Box) -> Sequence[Sequence[Ball]]:
        T, tau, b1, b2 = _whole(network, box)
        C, D, weight = conjugates(T, tau)
        squared = weight * weight
        moved = [[-ratio * rule.expectation(f * g * squared) for g in features] for f in features]
        x = beta * tau
        here = _linearised(network, C * x, b1, b2)
        # g as it moves with T and tau.
        by_pair = (x * moved[0][0], x * moved[0][1] + C * beta)
        filled, one, two = ([q[0] * by_pair[0], q[0] * by_pair[1], q[1], q[2]] for q in here.slopes)
        load = [C * q for q in filled]
        for k in (0, 1):
            load[k] = load[k] + moved[1][k] + moved[0][k] * here.blocks.filled
        rows = [
            [tau * q for q in load],
            [-tau * q for q in filled],
            [-q for q in one],
            [-q for q in two],
        ]
        rows[0][1] = rows[0][1] + ridge + D + C * here.blocks.filled
        rows[1][0], rows[1][1] = rows[1][0] + 1, rows[1][1] - here.blocks.filled
        rows[2][2], rows[3][3] = rows[2][2] + 1, rows[3][3] + 1
        return _kept(network, [_kept(network, row) for row in rows])

    return System(values, slopes)


@dataclass(frozen=True)
class NetworkEnclosed(Enclosed):
    """With chi."""

    chi: Ball


def enclosed(
    network: NetworkProblem, table: Functions, curved: Any, rule: SpikeRule, inverse: Ball, box: Box
) -> NetworkEnclosed:
    """All that follows linearly from the unknowns in the box; `curved` is dmu0/dc. With slopes where the problem or the
    box has them.

    Raises BallError where a linear system is not shown to be regular.
    """
    problem, law = network.problem, network.law
    T, tau, b1, b2 = _whole(network, box)
    ratio, beta, ridge = problem.alpha / problem.beta, problem.beta, problem.ridge
    weight, mean = over_variance(table, T, tau, inverse), partial(expectation, rule)
    squared = weight * weight
    features = (table.mu1 * table.mu1, table.mu2_squared)
    C, D = (ratio * mean(f * weight) for f in features)
    x, shift = beta * tau, ridge + D
    slopes, gamma = _moves(network, C, shift, x, b1, b2)
    once, twice = _label_averages(network, b1, b2, _LABEL_POWERS)
    places = [(0, j) for j in range(1, 9)] + [(1, j) for j in range(2, 6)] + [(2, 1), (2, 2)]
    over = [
        [Moving(once[i][j], -(twice[i][j + 1] * slopes[1][e] + twice[i][j + 2] * slopes[2][e])) for e in (0, 1)]
        for i, j in places
    ]
    steps = [Moving(x, slopes[0][e]) for e in (0, 1)]
    gains = [step * Moving(C, arb(1 - e)) for e, step in enumerate(steps)]
    law = _beside_slopes(law)
    overlap = signal_overlaps(
        law, law.vectors, law.pulled, np.array(steps, dtype=object), np.array(gains, dtype=object),
        np.array(over, dtype=object),
    )  # fmt: skip
    K = [[ratio * overlap[i, j, 0].value for j in range(3)] for i in range(3)]

    functions = (table.mu0, table.along, curved)
    gram = [[mean(f * g * weight) for g in functions] for f in functions]
    pull = [mean(f * table.y0 * weight) for f in functions]
    force = mean(table.mu1 * table.y1 * weight)
    system, right = [list(gram[0])], [pull[0]]
    for i in (0, 1):
        row = [sum((K[i][j] * gram[1 + j][k] for j in (0, 1)), arb(0)) for k in range(3)]
        row[1 + i] = row[1 + i] + 1
        system.append(row)
        right.append(sum((K[i][j] * pull[1 + j] for j in (0, 1)), arb(0)) + K[i][2] * force)
    fit = _solution(system, right)
    left = [pull[i] - sum((gram[i][j] * fit[j] for j in range(3)), arb(0)) for i in range(3)]
    forces = [left[1], left[2], force]
    psi = sum((K[2][j] * forces[j] for j in range(3)), arb(0))
    prediction = table.mu0 * fit[0] + table.along * fit[1] + curved * fit[2]
    cross = table.y0 * arb(2) - prediction
    fixed = table.y2 + problem.noise - prediction * cross - table.y1 * table.mu1 * (2 * psi)

    both = [(i, j, forces[i] * forces[j]) for i, j in product(range(3), repeat=2)]
    signal = [ratio * ratio * sum((force * overlap[i, j, e].slope for i, j, force in both), arb(0)) for e in (0, 1)]
    hats = [ratio * mean(f * fixed * squared) for f in features]
    curvature = [[ratio * mean(f * g * squared) for g in features] for f in features]
    q1, q2 = _solution(*equations_of_squares(gamma, hats, curvature, signal))
    error = fixed + features[0] * q1 + features[1] * q2
    return NetworkEnclosed(
        m=fit[0], zeta=fit[1], psi=psi, q1=q1, q2=q2, V1=T, V2=tau,
        test_error=mean(error) - problem.noise, training_error=mean(error * squared), chi=fit[2],
    )  # fmt: skip


def _beside_slopes(law: RowsLaw) -> RowsLaw:
    """The law in the arithmetic of K, whose numbers have slopes in C and D: a law that moves has none of these, and its
    own slopes are those of its values. Its numbers are arrays, as an average is.
    """

    def of(number: Any) -> Any:
        return Moving(number, arb(0)) if isinstance(number, Moving) else number

    found = {}
    for one in fields(law):
        number = getattr(law, one.name)
        rows = np.array([number, number], dtype=object) if not isinstance(number, np.ndarray) else number
        found[one.name] = np.reshape([of(entry) for entry in rows.ravel()], rows.shape)
    return RowsLaw(**found)


def _moves(
    network: NetworkProblem, C: Ball, shift: Ball, x: Ball, b1: Ball, b2: Ball
) -> tuple[list[list[Ball]], list[list[Ball]]]:
    """d(x, b1, b2)/d(C, D) by implicit differentiation, and d(T, tau)/d(C, D), as rows."""
    here = _linearised(network, C * x, b1, b2)
    filled, one, two = here.slopes
    load = here.blocks.filled
    system = [
        [shift + C * load + C * C * x * filled[0], C * x * filled[1], C * x * filled[2]],
        [C * one[0], one[1] - 1, one[2]],
        [C * two[0], two[1], two[2] - 1],
    ]
    by_pair = ([x * load + C * x * x * filled[0], x * one[0], x * two[0]], [x, arb(0), arb(0)])
    beta = network.problem.beta
    columns, moves = [], []
    for direct, right in enumerate(by_pair):
        column = _solution(system, [-q for q in right])
        gain = C * column[0] + (x if direct == 0 else 0)
        change = filled[0] * gain + filled[1] * column[1] + filled[2] * column[2]
        columns.append(column)
        moves.append([(column[0] * load + x * change) / beta, column[0] / beta])
    return [list(row) for row in zip(*columns, strict=True)], [list(row) for row in zip(*moves, strict=True)]


def _solution(matrix: Sequence[Sequence[Any]], right: Sequence[Any]) -> list[Any]:
    """Of linear equations, whose slopes solve them too: A x' = b' - A' x. Raises BallError where A may be singular."""
    plain = [[value_of(q) for q in row] for row in matrix]
    found = _of_balls(plain, [value_of(q) for q in right])
    if not any(isinstance(q, Moving) for row in (*matrix, right) for q in row):
        return found
    moved = [
        slope_of(b) - sum((slope_of(q) * x for q, x in zip(row, found, strict=True)), arb(0))
        for row, b in zip(matrix, right, strict=True)
    ]
    return [Moving(x, slope) for x, slope in zip(found, _of_balls(plain, moved), strict=True)]


def _of_balls(matrix: Sequence[Sequence[Ball]], right: Sequence[Ball]) -> list[Ball]:
    try:
        found = arb_mat([list(row) for row in matrix]).solve(arb_mat([[q] for q in right]), algorithm="precond")
    except ZeroDivisionError:
        raise BallError("a linear system of the saddle point is not shown to be regular at this precision") from None
    return [found[i, 0] for i in range(len(right))]
