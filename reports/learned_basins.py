"""Which minimum of the training energy each simulated experiment with a learned bias ended in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from numerics.learned_bias import BiasMinimum, learned_bias
from numerics.model import Model

# A share of experiments that would not move a mean by what the protocol sees.
FEW = 0.01


@dataclass(frozen=True)
class Basins:
    """`gap`: how far the second lowest minimum is above the lowest, relative; `astray`: by dimension, the share of
    experiments whose bias is nearer to another minimum than to the lowest."""

    minima: tuple[BiasMinimum, ...]
    gap: float
    astray: Mapping[int, float]

    @property
    def sentence(self) -> str:
        """What it means for a comparison with the theory of the lowest minimum."""
        shares = ", ".join(f"{share:.0%} at d = {dimension}" for dimension, share in self.astray.items())
        places = " and ".join(f"{minimum.bias:.2f}" for minimum in self.minima)
        counted = (
            f"its training energy has minima at the biases {places}, and the second lowest is {self.gap:.1%} above the "
            f"lowest; {shares} of the experiments end in another one than the lowest."
        )
        if max(self.astray.values()) < FEW:
            return f"{counted} That is too few to explain the deviation."
        return (
            f"{counted} The theory is that of the lowest: it holds once the scatter of the difference, which vanishes "
            "with d, is below the gap, and these dimensions are short of that. So the rule for the draw is too weak "
            "here, the extrapolation in 1/d does not apply to such a mixture, and the refutation is left standing."
        )


def basins(model: Model, biases: Mapping[int, Sequence[float]]) -> Basins | None:
    """The basins of a model for samples of the learned bias by dimension; None where there is one minimum only."""
    found = learned_bias(model)
    if len(found.minima) < 2:
        return None
    places = np.array([minimum.bias for minimum in found.minima])
    lowest = int(np.argmin([minimum.energy for minimum in found.minima]))
    energies = sorted(minimum.energy for minimum in found.minima)
    astray = {
        d: float(np.mean(np.argmin(np.abs(np.subtract.outer(np.asarray(b), places)), axis=1) != lowest))
        for d, b in sorted(biases.items())
    }
    return Basins(found.minima, energies[1] / energies[0] - 1.0, astray)
