"""The points of a sweep that share their functions of kappa, solved together, as `onestep solve` prints them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numerics.model import Model


@dataclass(frozen=True, slots=True)
class SolvedPoint:
    """A converged point of a batch: the numbers of `numerics.batch.NUMBERS`, then those of `AT_WIDTH`."""

    model: Model
    numbers: list[float]
    width: int

    @property
    def converged(self) -> bool:
        """Always: what did not converge together is solved again alone."""
        return True

    def document(self) -> dict[str, Any]:
        """The JSON of one solution."""
        test, training, m, zeta, psi, q1, q2, overlap, tau, residual, estimate, wide, wide_training, _ = self.numbers
        return {
            "test_error": test,
            "training_error": training,
            "spike": self.model.spike,
            "bulk": self.model.bulks[0],
            "alignment": self.model.alignment,
            "order_parameters": {
                "m": [m],
                "zeta": [zeta],
                "psi": [psi],
                "q1": [[q1]],
                "q2": [q2],
                "V1": [[overlap]],
                "V2": [tau],
            },
            "residual": residual,
            "error_estimate": estimate,
            "converged": True,
            "status": "converged",
            "at_width": {"width": self.width, "test_error": wide, "training_error": wide_training},
        }


def solved_together(models: Sequence[Model], width: int) -> dict[int, SolvedPoint]:
    """The converged points among those that a batch can take, by their place in `models`."""
    from numerics.batch import solve_together

    found = solve_together(models, width)
    return {place: SolvedPoint(models[place], numbers, width) for place, numbers in found.items()}
