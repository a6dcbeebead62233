"""Derivatives of a deterministic equivalent by differences of its own values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# The eighth-order central difference.
STENCIL = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}


def differences(at: Callable[[Array], Any], conjugates: Array, h: float) -> Iterator[tuple[Array, Array]]:
    """For each conjugate the slopes of the values and of the overlap matrix: h^8 of the ninth derivatives, 1e-16/h."""
    for row in np.eye(len(conjugates)):
        moved = {n: at(conjugates + n * h * row) for m in STENCIL for n in (m, -m)}
        yield (
            sum(w * (moved[n].values - moved[-n].values) / h for n, w in STENCIL.items()),
            sum(w * (moved[n].overlap - moved[-n].overlap) / h for n, w in STENCIL.items()),
        )
