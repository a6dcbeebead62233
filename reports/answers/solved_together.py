"""The points of a sweep that share their functions of kappa, solved together, as `onestep solve` prints them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onestep.numerics.models.model import Model


@dataclass(frozen=True, slots=True)
class SolvedPoint:
    """A converged point of a batch: NUMBERS and AT_WIDTH of `numerics.saddle_point.one_group.batch`."""

    model: Model
    numbers: list[float]
    width: int

    @property
    def converged(self) -> bool:
        """Always: what did not converge together is solved again alone."""
        return True

    def document(self) -> dict[str, Any]:
        """The JSON of one solution."""
        from onestep.numerics.models.documents import ORDER_PARAMETERS, point_document
        from onestep.numerics.saddle_point.one_group.batch import NUMBERS

        found = dict(zip(NUMBERS, self.numbers[: len(NUMBERS)], strict=True))
        test, training, _ = self.numbers[len(NUMBERS) :]
        order: dict[str, Any] = {name: [found[name]] for name in ORDER_PARAMETERS}
        order |= {name: [order[name]] for name in ("q1", "V1")}
        document = point_document(self.model, found, order, True, "converged")
        return document | {"at_width": {"width": self.width, "test_error": test, "training_error": training}}


def solved_together(models: Sequence[Model], width: int) -> dict[int, SolvedPoint]:
    """The converged points among those that a batch can take, by their place in `models`."""
    from onestep.numerics.saddle_point.one_group.batch import solve_together

    found = solve_together(models, width)
    return {place: SolvedPoint(models[place], numbers, width) for place, numbers in found.items()}
