"""The interface of a law of the bulk in balls, as the saddle point needs it, and the isotropic law.

With x = beta tau, g = C x and the matrix B of the rows the equations have T = tau tr B H, H = (1 + g B)^-1, and the
overlaps K of the signal. Beside (T, tau) a law may have unknowns b of its own, and as many equations more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.solution import Solution

Ball = Any
Matrix = Sequence[Sequence[Ball]]


class Law(Protocol):
    """A law of the rows: `names` of the unknowns b; `curved` where rows differ in norm, so that dmu0/dc joins."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def curved(self) -> bool: ...

    def equations(self, C: Ball, beta: Ball, box: Sequence[Ball]) -> tuple[Sequence[Ball], Matrix, Sequence[Ball]]:
        """What vanishes at (T, tau, *b) beside (ridge + D) tau + C T = 1; slopes in (T, tau, *b), row by row, and C."""

    def overlaps(self, C: Ball, beta: Ball, box: Sequence[Ball], moves: Matrix) -> tuple[Matrix, Sequence[Matrix]]:
        """K/beta on the slopes along the spike and across it, and how it moves with C and with D.

        moves: d(T, tau, *b)/d(C, D), row by row.
        """

    def start(self, model: Model, solution: Solution) -> list[tuple[float, float]]:
        """b in double precision, each with how large it counts."""


@dataclass(frozen=True)
class Isotropic:
    """Rows of equal norm c without a direction: T (1 + c g) = c tau, K = beta diag(c tau, T)."""

    bulk: Any
    names = ()
    curved = False

    def equations(self, C: Ball, beta: Ball, box: Sequence[Ball]) -> tuple[Sequence[Ball], Matrix, Sequence[Ball]]:
        """As for any law."""
        overlap, tau = box
        load = self.bulk * beta * tau
        held = 1 + C * load
        return [overlap * held - self.bulk * tau], [[held, self.bulk * (beta * C * overlap - 1)]], [overlap * load]

    def overlaps(self, C: Ball, beta: Ball, box: Sequence[Ball], moves: Matrix) -> tuple[Matrix, Sequence[Matrix]]:
        """As for any law."""
        by_pair = [((self.bulk * dtau, 0), (0, dT)) for dT, dtau in zip(*moves, strict=True)]
        return ((self.bulk * box[1], 0), (0, box[0])), by_pair

    def start(self, model: Model, solution: Solution) -> list[tuple[float, float]]:
        """No unknowns beside (T, tau)."""
        return []
