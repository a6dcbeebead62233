"""The points of a sweep that share their functions of kappa, solved together, as `onestep solve` prints them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from onestep.numerics.models.documents import ORDER_PARAMETERS, point_document
from onestep.numerics.models.model import Model
from onestep.numerics.models.width_documents import with_warnings
from onestep.numerics.saddle_point.one_group.batch import AT_WIDTH, NUMBERS, solve_together


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

    def to_dict(self, width: int) -> dict[str, Any]:
        """The JSON of one solution, as `Solution.to_dict`, for the width that it was solved at."""
        assert width == self.width, "a point is solved together with others for one width"
        found = dict(zip(_NAMES, self.numbers, strict=True))
        order: dict[str, Any] = {name: [found[name]] for name in ORDER_PARAMETERS}
        for matrix in ("q1", "V1"):
            order[matrix] = [order[matrix]]
        document = point_document(self.model, found, order, True, "converged")
        there = {name: found[f"{name}_at_width"] for name in ("test_error", "training_error")}
        document["at_width"] = {"width": width, **there}
        return with_warnings(document, self.model)


_NAMES = (*NUMBERS, *AT_WIDTH)


def solved_together(models: Sequence[Model], width: int) -> dict[int, SolvedPoint]:
    """The converged points among those that a batch can take, by their place in `models`."""
    found = solve_together(models, width)
    return {place: SolvedPoint(models[place], numbers, width) for place, numbers in found.items()}
