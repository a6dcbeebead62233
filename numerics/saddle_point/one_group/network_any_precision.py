"""The saddle point of the ridge readout on a network's own bulk at any precision; one group, any activation.

Unknowns are (T, tau, b1, b2) of `numerics.bulk.network`: with x = beta tau, C = (alpha/beta) E[mu1^2/(1+V)] and D
likewise,

    (ridge + D + C tr B H) tau = 1,   T = tau tr B H,   (b1, b2) as the resolvent has them,

by Newton's method from the solution in double precision; all else is linear. The resolvent is the code of the doubles
on other numbers; the law of the rows is not (`law_of_any_precision`). Slopes are complex steps, which lose nothing
however small the step is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import acb, arb, arb_mat, ctx

from giantsteps.numerics.balls.arithmetic import PrecisionError, rational_ball
from giantsteps.numerics.balls.rules import Rule
from giantsteps.numerics.bulk.network import NetworkBulk, signal_overlaps
from giantsteps.numerics.bulk.of_model import equivalent_of
from giantsteps.numerics.bulk.resolvent import Blocks, blocks
from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.models.solution import Solution
from giantsteps.numerics.saddle_point.one_group.law_of_any_precision import DigitsLaw, digits_law, distance_of_poles
from giantsteps.numerics.saddle_point.one_group.profile_of_any_precision import DigitsProfile, Solved, profile_on

Ball = Any
Objects = Any

_MOST_STEPS = 60


@dataclass(frozen=True)
class NetworkStart:
    """Where Newton's method begins, in double precision: T, tau, b1, b2; and how far away the poles of D are."""

    values: tuple[float, float, float, float]
    poles: float


def network_start(model: Model, solution: Solution) -> NetworkStart:
    """A solution in double precision with b1 and b2. Raises ModelError where the law is not built in any precision."""
    if model.gaussian_rows:
        raise ModelError("any precision is built for rows of equal length before the step: leave the digits away")
    if model.slopes[0] == 0.0:
        raise ModelError(
            "any precision of a network's own bulk is built for a step that makes a spike, E[sigma'] != 0, for example "
            "relu(z): leave the digits away"
        )
    order = solution.order_parameters
    bulk = equivalent_of(model, model.ridge)
    assert isinstance(bulk, NetworkBulk)
    point = bulk.at(np.array([order.conjugates.C[0, 0], order.conjugates.D[0]]))
    _, b1, b2 = (float(q) for q in point.solution)
    return NetworkStart((float(order.V1[0, 0]), float(order.V2[0]), b1, b2), distance_of_poles(b1, b2))


@dataclass(frozen=True, eq=False)
class _Equations:
    """The nonlinear equations on one table and one law."""

    model: Model
    law: DigitsLaw
    table: DigitsProfile

    @cached_property
    def features(self) -> tuple[Sequence[Ball], Sequence[Ball]]:
        """mu1^2 and mu2^2."""
        return [x * x for x in self.table.mu1], self.table.mu2_squared

    @property
    def ratio(self) -> Ball:
        return rational_ball(Fraction(self.model.alpha) / Fraction(self.model.beta))

    @property
    def beta(self) -> Ball:
        return rational_ball(Fraction(self.model.beta))

    @property
    def ridge(self) -> Ball:
        return rational_ball(Fraction(self.model.ridge))

    def shrunk(self, T: Ball, tau: Ball) -> list[Ball]:
        """1/(1+V) on the nodes."""
        first, second = self.features
        return [1 / (1 + T * a + tau * b) for a, b in zip(first, second, strict=True)]

    def conjugates(self, inverse: Sequence[Ball]) -> tuple[Ball, Ball]:
        """C and D."""
        first, second = (self.ratio * self.table.mean(f, inverse) for f in self.features)
        return first, second

    def curvature(self, squared: Sequence[Ball]) -> list[list[Ball]]:
        """(alpha/beta) E[f_i f_j/(1+V)^2] of mu1^2 and mu2^2."""
        f = self.features
        return [[self.ratio * self.table.mean(f[i], f[j], squared) for j in (0, 1)] for i in (0, 1)]

    def steps(self, C: Ball, shift: Ball, x: Ball, over: Objects) -> tuple[Blocks, list[list[Ball]]]:
        """The blocks, and the slopes of (x (shift + C tr B H), b1, b2, tr B H) in (x, S1, S2, C), by complex steps."""
        at = blocks(self.law, C * x, over[0, 0], over[1, 0])
        h = arb(2) ** (-2 * ctx.prec)
        columns = []
        for column in range(4):
            moved = [acb(q, h if column == i else 0) for i, q in enumerate((x, over[0, 0], over[1, 0], C))]
            x_, S1, S2, C_ = moved
            there = blocks(self.law, C_ * x_, S1, S2)
            columns.append([_part(q) / h for q in (x_ * (shift + C_ * there.filled), there.b1, there.b2, there.filled)])
        return at, [list(row) for row in zip(*columns, strict=True)]


def _part(number: Any) -> Ball:
    return number.imag.mid() if isinstance(number, acb) else arb(0)


def solved_on_network(model: Model, rule: Rule, start: NetworkStart, digits: int, share: float = 1.0) -> Solved:
    """All numbers on one rule along the spike and one of labels, `share` times as fine as the digits ask for."""
    law = digits_law(model, digits, share, start.poles, ctx.prec)
    equations = _Equations(model, law, profile_on(model, rule, law.spike, law.bulk, law.alignment))
    unknowns = [arb(value) for value in start.values]
    wanted = arb(10) ** -(digits // 2 + 7)
    for iteration in range(1, _MOST_STEPS + 1):
        step = _newton(equations, unknowns)
        unknowns = [(q - s).mid() for q, s in zip(unknowns, step, strict=True)]
        if not (unknowns[0] > 0 and unknowns[1] > 0):
            break
        if all(abs(s) < wanted * (abs(q) + scale) for s, q, scale in zip(step, unknowns, (0, 0, 1, 1), strict=True)):
            return _linear(equations, unknowns, iteration)
    raise PrecisionError("Newton's method did not converge from the solution in double precision")


def _newton(equations: _Equations, unknowns: list[Ball]) -> list[Ball]:
    T, tau, b1, b2 = unknowns
    beta, ridge, law = equations.beta, equations.ridge, equations.law
    inverse = equations.shrunk(T, tau)
    C, D = equations.conjugates(inverse)
    moved = [[-q for q in row] for row in equations.curvature([w * w for w in inverse])]
    over, x, shift = law.over(b1, b2), beta * tau, ridge + D
    at, by = equations.steps(C, shift, x, over)
    first = [(x * (shift + C * at.filled) - beta), T - tau * at.filled, b1 - at.b1, b2 - at.b2]

    def through(row: int) -> list[Ball]:
        """The slopes of one of the four in (T, tau, b1, b2), but for D in the first."""
        by_b = [by[row][1] * over[0, k] + by[row][2] * over[1, k] for k in (1, 2)]
        return [by[row][3] * moved[0][0], by[row][3] * moved[0][1] + by[row][0] * beta, *by_b]

    load, one, two, filled = (through(row) for row in range(4))
    load[0], load[1] = load[0] + x * moved[1][0], load[1] + x * moved[1][1]
    second = [-tau * q for q in filled]
    second[0], second[1] = second[0] + 1, second[1] - at.filled
    third, fourth = [-q for q in one], [-q for q in two]
    third[2], fourth[3] = third[2] + 1, fourth[3] + 1
    return _solution([load, second, third, fourth], first)


def _solution(matrix: list[list[Ball]], right: list[Ball]) -> list[Ball]:
    try:
        found = arb_mat([[q.mid() for q in row] for row in matrix]).solve(arb_mat([[q.mid()] for q in right]))
    except ZeroDivisionError:
        raise PrecisionError("the equations of the saddle point are singular at this precision") from None
    return [found[i, 0].mid() for i in range(len(right))]


def _slopes(equations: _Equations, C: Ball, shift: Ball, x: Ball, over: Objects) -> tuple[Objects, Objects]:
    """d(x, b1, b2)/d(C, D), (3, 2), and d(T, tau)/d(C, D), (2, 2)."""
    at, by = equations.steps(C, shift, x, over)
    by_b = [[by[row][1] * over[0, k] + by[row][2] * over[1, k] for k in (1, 2)] for row in range(4)]
    system = [[by[row][0], *by_b[row]] for row in range(3)]
    system[1][1], system[2][2] = system[1][1] - 1, system[2][2] - 1
    columns = []
    for by_pair in ([by[0][3], by[1][3], by[2][3]], [x, arb(0), arb(0)]):
        columns.append(_solution(system, [-q for q in by_pair]))
    moves = []
    for column, direct in zip(columns, (by[3][3], arb(0)), strict=True):
        filled = by[3][0] * column[0] + by_b[3][0] * column[1] + by_b[3][1] * column[2] + direct
        moves.append([(column[0] * at.filled + x * filled) / equations.beta, column[0] / equations.beta])
    return np.array(columns, dtype=object).T, np.array(moves, dtype=object).T


def _overlaps(equations: _Equations, C: Ball, x: Ball, over: Objects, slopes: Objects) -> tuple[Objects, Objects]:
    """K (3, 3) on (v, delta, theta_perp) and dK/d(C, D), (2, 3, 3)."""
    law, h = equations.law, arb(2) ** (-2 * ctx.prec)
    steps = [acb(x, h * slopes[0, e]) for e in (0, 1)]
    gains = [step * acb(C, h if e == 0 else 0) for e, step in enumerate(steps)]
    moved = [[acb(row[0], h * (row[1] * slopes[1, e] + row[2] * slopes[2, e])) for e in (0, 1)] for row in over]
    found = signal_overlaps(
        law, law.vectors, law.pulled, np.array(steps, dtype=object), np.array(gains, dtype=object),
        np.array(moved, dtype=object),
    )  # fmt: skip
    value = np.array([[found[i, j, 0].real.mid() for j in range(3)] for i in range(3)], dtype=object)
    moves = [[[found[i, j, e].imag.mid() / h for j in range(3)] for i in range(3)] for e in (0, 1)]
    return value, np.array(moves, dtype=object)


def _linear(equations: _Equations, unknowns: list[Ball], iterations: int) -> Solved:
    """All that follows once T, tau, b1 and b2 are known."""
    T, tau, b1, b2 = unknowns
    table, ratio, mean = equations.table, equations.ratio, equations.table.mean
    inverse = equations.shrunk(T, tau)
    squared = [w * w for w in inverse]
    C, D = equations.conjugates(inverse)
    shift, x, over = equations.ridge + D, equations.beta * tau, equations.law.over(b1, b2)
    slopes, gamma = _slopes(equations, C, shift, x, over)
    overlap, moves = _overlaps(equations, C, x, over, slopes)
    K = ratio * overlap
    functions, features = (table.mu0, table.along, table.norm_slope()), equations.features
    gram = np.array([[mean(f, g, inverse) for g in functions] for f in functions], dtype=object)
    pull = np.array([mean(f, table.y0, inverse) for f in functions], dtype=object)
    force = mean(table.mu1, table.y1, inverse)
    along = K[:2, :2] @ gram[1:]
    system = [list(gram[0]), *([along[i][j] + int(j == i + 1) for j in range(3)] for i in (0, 1))]
    given = K[:2, :2] @ pull[1:] + K[:2, 2] * force
    fit = np.array(_solution(system, [pull[0], *given]), dtype=object)
    left = pull - gram @ fit
    forces = np.array([left[1], left[2], force], dtype=object)
    psi = K[2] @ forces
    fixed = [
        y2 - 2 * y0 * yhat + yhat * yhat - 2 * y1 * psi * slope
        for y2, y0, y1, slope, yhat in zip(
            table.y2, table.y0, table.y1, table.mu1, _combined(fit, functions), strict=True
        )
    ]
    signal = [ratio**2 * (forces @ move @ forces) for move in moves]
    hats = [ratio * mean(f, squared, fixed) for f in features]
    curvature = np.array(equations.curvature(squared), dtype=object)
    right = [-(gamma[i][0] * hats[0] + gamma[i][1] * hats[1]) - signal[i] for i in (0, 1)]
    mixed = gamma @ curvature
    q1, q2 = _solution([[mixed[i][j] + int(i == j) for j in (0, 1)] for i in (0, 1)], right)
    error = [a + q1 * f + q2 * g for a, f, g in zip(fixed, *features, strict=True)]
    noise = rational_ball(Fraction(equations.model.noise)) * sum(table.weights, arb(0))
    values = (mean(error) - noise, mean(error, squared), fit[0], fit[1], psi, q1, q2, T, tau, fit[2])
    at = blocks(equations.law, C * x, over[0, 0], over[1, 0])
    gaps = (T - tau * at.filled, tau - 1 / (shift + C * at.filled), b1 - at.b1, b2 - at.b2)
    residual = max((abs(gap) / (1 + abs(q)) for gap, q in zip(gaps, unknowns, strict=True)), key=float)
    return Solved(tuple(value.mid() for value in values), residual.mid(), iterations)


def _combined(fit: Objects, functions: tuple[Sequence[Ball], ...]) -> list[Ball]:
    return [fit[0] * a + fit[1] * b + fit[2] * c for a, b, c in zip(*functions, strict=True)]
