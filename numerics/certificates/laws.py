"""What the saddle point asks of the law of the bulk, in balls; and the isotropic one.

With x = beta tau, g = C x and the matrix B of the rows the equations have tr B H, H = (1 + g B)^-1, and the overlaps K
of the signal. Beside (T, tau) a law may have unknowns b of its own: tr B H and b follow from (g, b).
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

    def traced(self, g: Ball, b: Sequence[Ball]) -> tuple[Sequence[Ball], Matrix]:
        """tr B H and b as the equations have them, and their slopes in (g, *b), row by row."""

    def overlaps(self, C: Ball, x: Ball, b: Sequence[Ball], moves: Matrix) -> tuple[Matrix, Sequence[Matrix]]:
        """K on the slopes along the spike and across it, and how it moves with C and with D.

        moves: d(x, *b)/d(C, D), row by row.
        """

    def start(self, model: Model, solution: Solution) -> list[tuple[float, float]]:
        """b in double precision, each with how large it counts."""


@dataclass(frozen=True)
class Isotropic:
    """Rows of equal norm c without a direction: tr B H = c/(1 + g c), K = diag(c x, x tr B H)."""

    bulk: Any
    names = ()
    curved = False

    def traced(self, g: Ball, b: Sequence[Ball]) -> tuple[Sequence[Ball], Matrix]:
        """As for any law."""
        filled = self.bulk / (1 + g * self.bulk)
        return (filled,), ((-(filled * filled),),)

    def overlaps(self, C: Ball, x: Ball, b: Sequence[Ball], moves: Matrix) -> tuple[Matrix, Sequence[Matrix]]:
        """As for any law."""
        (filled,), ((falls,),) = self.traced(C * x, b)
        slopes = [
            ((self.bulk * dx, 0), (0, dx * filled + x * falls * (C * dx + x * (1 - k))))
            for k, dx in enumerate(moves[0])
        ]
        return ((self.bulk * x, 0), (0, x * filled)), slopes

    def start(self, model: Model, solution: Solution) -> list[tuple[float, float]]:
        """No unknowns beside (T, tau)."""
        return []
