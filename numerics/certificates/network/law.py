"""The law of a network's rows in the equations of the saddle point, in ball arithmetic: any activation.

The unknowns beside (T, tau) are b1 and b2 of `numerics.bulk.resolvent`, by averages over the labels; for an odd
activation b1 = 0 and is none. How the overlaps K move with C and D comes from numbers with a slope.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from flint import arb

from giantsteps.numerics.balls.arithmetic import BallError
from giantsteps.numerics.bulk.network import signal_overlaps
from giantsteps.numerics.bulk.resolvent import Frame, block_slopes, blocks
from giantsteps.numerics.certificates.laws import Matrix
from giantsteps.numerics.certificates.network.labels import LabelBalls
from giantsteps.numerics.certificates.network.rows import RowsLaw, SlopeBalls, network_start, rows_law
from giantsteps.numerics.certificates.slope import Moving, slope_of, value_of
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.solution import Solution

Ball = Any
_LABEL_POWERS = 8
# E[u^i Y^j/D] that the overlaps are made of, in the order of `numerics.bulk.network_constants`.
_PLACES = [(0, j) for j in range(1, 9)] + [(1, j) for j in range(2, 6)] + [(2, 1), (2, 2)]


@dataclass(frozen=True, eq=False)
class NetworkLaw:
    """The law of the rows, and the averages over labels."""

    rows: RowsLaw
    labels: LabelBalls
    curved = True

    @property
    def names(self) -> tuple[str, ...]:
        """b1 is an unknown where the rows are turned along the labels."""
        # A ball that holds 0 and is more than that is none.
        return ("b2",) if bool(value_of(self.rows.turn) == 0) else ("b1", "b2")

    def _averages(self, b: Sequence[Any], power: int) -> tuple[list[list[Any]], list[list[Any]]]:
        """E[u^i Y^j/D] and E[u^i Y^j/D^2] as `LabelBalls.over`, with slopes where b1 or b2 has one."""
        b1, b2 = b if len(b) == 2 else (arb(0), *b)
        if not (isinstance(b1, Moving) or isinstance(b2, Moving)):
            once, twice = self.labels.over(b1, b2, power)
            return once, twice
        once, twice, thrice = self.labels.over(value_of(b1), value_of(b2), power, 3)
        by_1, by_2 = slope_of(b1), slope_of(b2)

        def moving(rows: list[list[Ball]], higher: list[list[Ball]], k: int) -> list[list[Any]]:
            return [
                [Moving(ball, -k * (up[j + 1] * by_1 + up[j + 2] * by_2)) for j, ball in enumerate(row)]
                for row, up in zip(rows, higher, strict=True)
            ]

        return moving(once, twice, 1), moving(twice, thrice, 2)

    def equations(self, C: Any, beta: Any, box: Sequence[Any]) -> tuple[Sequence[Any], Matrix, Sequence[Any]]:
        """As for any law."""
        overlap, tau, *b = box
        x = beta * tau
        once, twice = self._averages(b, 2)
        S1, S2, fall = once[0][1], once[0][2], twice[0][2:5]
        at = blocks(self.rows, C * x, S1, S2)
        kept = (0, 1, 2) if len(b) == 2 else (0, 2)
        # tr B H and b as the averages have them, and their slopes in (g, *b).
        filled, *own = ((at.filled, at.b1, at.b2)[k] for k in kept)
        slopes = block_slopes(self.rows, C * x, S1, S2, at)
        found = [(by_g, -(p * fall[0] + q * fall[1]), -(p * fall[1] + q * fall[2])) for by_g, p, q in slopes]
        falls, *others = ([found[k][j] for j in kept] for k in kept)
        direct = [[arb(1), -filled - tau * C * beta * falls[0], *(-tau * q for q in falls[1:])]]
        for k, row in enumerate(others, start=1):
            direct.append([arb(0), -C * beta * row[0], *(int(j == k) - q for j, q in enumerate(row[1:], start=1))])
        values = [overlap - tau * filled, *(p - q for p, q in zip(b, own, strict=True))]
        return values, direct, [-tau * x * falls[0], *(-x * row[0] for row in others)]

    def overlaps(self, C: Any, beta: Any, box: Sequence[Any], moves: Matrix) -> tuple[Matrix, Sequence[Matrix]]:
        """As for any law: K by (zeta, chi, psi)."""
        _, tau, *b = box
        once, twice = self._averages(b, _LABEL_POWERS)
        _, by_tau, *by_1, by_2 = moves
        slopes = [*by_1, by_2] if by_1 else [(arb(0), arb(0)), by_2]
        over = [
            [Moving(once[i][j], -(twice[i][j + 1] * slopes[0][e] + twice[i][j + 2] * slopes[1][e])) for e in (0, 1)]
            for i, j in _PLACES
        ]
        steps = [Moving(tau, by_tau[e]) for e in (0, 1)]
        gains = [step * Moving(C, arb(1 - e)) * Moving(beta, arb(0)) for e, step in enumerate(steps)]
        law = _beside_slopes(self.rows)
        x, g, averages = (np.array(one, dtype=object) for one in (steps, gains, over))
        frame = Frame.of(law.vectors)
        K = signal_overlaps(law, x, g, frame, frame.sums @ averages)
        by_pair = [[[entry[e].slope for entry in row] for row in K] for e in (0, 1)]
        return [[entry[0].value for entry in row] for row in K], by_pair

    def start(self, model: Model, solution: Solution) -> list[tuple[float, float]]:
        """As for any law: b1 is of the size of the square root of b2, and may be small beside it."""
        _, _, b1, b2 = network_start(model, solution)
        return [(b1, max(abs(b1), 1e-3 * math.sqrt(b2))), (b2, b2)][-len(self.names) :]


def network_law(slope: SlopeBalls, labels: LabelBalls, e: Any, alpha0: Any) -> NetworkLaw:
    """The law at e = weight eta/beta and alpha0, balls or numbers with a slope. Raises BallError where it has none."""
    plain, tilted, _ = labels.moments(_LABEL_POWERS)
    rows = rows_law(slope, e, alpha0, plain[:5], tilted[:4])
    if value_of(rows.omega).contains(0) and value_of(rows.turn).contains(0):
        raise BallError("a network's own bulk with a linear activation is not supported")
    if value_of(rows.spike).contains(0):
        raise BallError("a gradient step without spike (E[sigma'] = 0) is not supported")
    return NetworkLaw(rows, labels)


def _beside_slopes(rows: RowsLaw) -> RowsLaw:
    """The law in the arithmetic of K, whose numbers have slopes in C and D: a law that moves has none of these, and its
    own slopes are those of its values. Its numbers are arrays, as an average is.
    """

    def of(number: Any) -> Any:
        return Moving(number, arb(0)) if isinstance(number, Moving) else number

    found = {}
    for one in fields(rows):
        number = getattr(rows, one.name)
        pair = np.array([number, number], dtype=object) if not isinstance(number, np.ndarray) else number
        found[one.name] = np.reshape([of(entry) for entry in pair.ravel()], pair.shape)
    return RowsLaw(**found)
