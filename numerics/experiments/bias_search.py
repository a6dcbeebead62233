"""The bias of least training energy on one training set, on an interval of the line: a scan, and every dip refined."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from giantsteps.numerics.bounds.learned_bias import Interval

# Points of the scan of the whole line; the theory's energies have dips several times wider than its steps.
_SCAN = 17


@dataclass(frozen=True, eq=False)
class Fitted:
    """A readout (p,), the losses per training sample, and the training energy per neuron, least over readouts."""

    a: np.ndarray
    training: float
    energy: float


def best_bias(fit: Callable[[float], Fitted], reach: float, interval: Interval, share: float) -> tuple[float, Fitted]:
    """The bias of least energy in an interval within `reach` of zero, and the fit there.

    Every dip of the scan is refined to a share of the reach. Where the energy falls up to an end of the interval the
    bias is that end, to the same accuracy.
    """
    from scipy.optimize import minimize_scalar

    low, high = max(interval[0], -reach), min(interval[1], reach)
    grid = [low, *(float(b) for b in np.linspace(-reach, reach, _SCAN) if low < b < high), high]
    energies = np.array([fit(b).energy for b in grid])
    inner = np.arange(1, len(grid) - 1)
    dips = inner[(energies[inner] <= energies[inner - 1]) & (energies[inner] <= energies[inner + 1])]
    lowest = int(np.argmin(energies))
    places = [grid[lowest]]
    for dip in sorted({lowest, *(int(dip) for dip in dips)}):
        bracket = (grid[max(dip - 1, 0)], grid[min(dip + 1, len(grid) - 1)])
        found = minimize_scalar(
            lambda b: fit(float(b)).energy, bounds=bracket, method="bounded", options={"xatol": share * reach}
        )
        places.append(float(found.x))
    fitted = [(b, fit(b)) for b in places]
    return min(fitted, key=lambda pair: pair[1].energy)
