"""The points of a sweep that share their functions of kappa, solved together, as `giantsteps solve` prints them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from giantsteps.numerics.models.documents import point_document, with_warnings
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.one_group.batch import solve_together


@dataclass(frozen=True, slots=True)
class SolvedPoint:
    """A converged point of a batch: NUMBERS, at the width AT_WIDTH, and chi where rows differ in norm
    (`numerics.saddle_point.one_group.batch`).
    """

    model: Model
    numbers: list[float]

    @property
    def converged(self) -> bool:
        """Always: what did not converge together is solved again alone."""
        return True

    @property
    def test_error(self) -> float:
        """The limit of the test error."""
        return self.numbers[0]

    @property
    def training_error(self) -> float:
        """The limit of the training error."""
        return self.numbers[1]

    def to_dict(self, width: int) -> dict[str, Any]:
        """The JSON of one solution, as `Solution.to_dict` for the width at which it was solved."""
        test, training, m, zeta, psi, q1, q2, V1, V2, *more = self.numbers
        residual, estimate, wide_test, wide_training, _, *chi = more
        numbers = {"test_error": test, "training_error": training, "residual": residual, "error_estimate": estimate}
        order = {"m": [m], "zeta": [zeta], "psi": [psi], "q1": [[q1]], "q2": [q2], "V1": [[V1]], "V2": [V2]}
        if chi:
            order["chi"] = chi
        document = point_document(self.model, numbers, order, True, "converged")
        document["at_width"] = {"width": width, "test_error": wide_test, "training_error": wide_training}
        return with_warnings(document, self.model)


def solved_together(models: Sequence[Model], width: int) -> dict[int, SolvedPoint]:
    """The converged points among those that a batch can take, by their place in `models`."""
    found = solve_together(models, width)
    return {place: SolvedPoint(models[place], numbers) for place, numbers in found.items()}
