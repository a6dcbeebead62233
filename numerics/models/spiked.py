"""The spike of a model: its directions, their alignments with the target, and its strength in each readout group."""

from __future__ import annotations

import math

from giantsteps.numerics.models.parameters import ROUNDED_NORM, ModelError
from giantsteps.numerics.models.problem import Problem


class Spiked(Problem):
    """A problem whose features have a spike of one or several directions."""

    spike: float
    alignment: float
    further_alignments: tuple[float, ...]

    @property
    def rank(self) -> int:
        """The number s of directions of the spike."""
        return 1 + len(self.further_alignments)

    @property
    def alignments(self) -> tuple[float, ...]:
        """theta.v_j for each direction of the spike."""
        return (self.alignment, *self.further_alignments)

    @property
    def remainder(self) -> float:
        """1 - |gamma|^2, the squared length of the target direction outside the spike."""
        if self.rank == 1:
            # (1 - g)(1 + g) keeps the digits when the alignment is close to 1.
            return (1.0 - self.alignment) * (1.0 + self.alignment)
        left = 1.0 - math.fsum(x * x for x in self.alignments)
        return left if left > ROUNDED_NORM else 0.0

    @property
    def spikes(self) -> tuple[tuple[float, ...], ...]:
        """u_a r, the vector of R^s that multiplies kappa in each group."""
        return tuple(tuple(u * self.spike for u in group.weights) for group in self.groups)

    @property
    def slopes(self) -> tuple[float, ...]:
        """u_a r, the factor of kappa in each group. Raises ModelError for a spike of several directions."""
        if self.rank > 1:
            raise ModelError(
                f"a spike of one direction is required, and this spike has {self.rank}: give one number per group and "
                "one alignment, for example readout=(ReadoutGroup(1.0, 0.5), ReadoutGroup(-1.0, 0.5)), "
                "alignment=0.8"
            )
        return tuple(slope for (slope,) in self.spikes)
