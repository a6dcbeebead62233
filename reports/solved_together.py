"""The points of a sweep that share their functions of kappa, solved together, as `onestep solve` prints them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numerics.model import Model


@dataclass(frozen=True, slots=True)
class SolvedPoint:
    """A converged point of a batch: the numbers of `numerics.batch.NUMBERS`."""

    model: Model
    numbers: list[float]

    @property
    def converged(self) -> bool:
        """Always: what did not converge together is solved again alone."""
        return True

    def document(self) -> dict[str, Any]:
        """The JSON of one solution."""
        from numerics.batch import NUMBERS
        from numerics.documents import ORDER_PARAMETERS, point_document

        found = dict(zip(NUMBERS, self.numbers, strict=True))
        order: dict[str, Any] = {name: [found[name]] for name in ORDER_PARAMETERS}
        order |= {name: [order[name]] for name in ("q1", "V1")}
        return point_document(self.model, found, order, True, "converged")


def solved_together(models: Sequence[Model]) -> dict[int, SolvedPoint]:
    """The converged points among those that a batch can take, by their place in `models`."""
    from numerics.batch import solve_together

    return {place: SolvedPoint(models[place], numbers) for place, numbers in solve_together(models).items()}
