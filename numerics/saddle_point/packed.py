"""The unknowns of a saddle point, packed as they are solved for, as order parameters by group."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.bulk.equivalent import unpack
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.solution import Conjugates, OrderParameters

Array = NDArray[np.float64]


def by_direction(overlaps: Array, rank: int) -> Array:
    """Overlaps with the spike of k groups, packed group by group: (k,), or (k, s) for a spike of s > 1 directions."""
    return overlaps if rank == 1 else overlaps.reshape(-1, rank)


def unpacked(
    model: Model,
    values: Array,
    m: Array,
    overlaps: Array,
    q: Array,
    conjugates: Array,
    hats: Array,
    forces: Array,
    width: float = math.inf,
) -> OrderParameters:
    """The order parameters of (T, tau), m, (zeta, chi, psi), (Q, q2), (C, D), their hats and the overlaps' forces.

    At a finite width p q1 and q2 are without m_a^2 c_a/(pi_a p) and m_a^2/(pi_a p), as a simulation reports them.
    """
    groups, rank = len(m), model.rank
    spiked, functions = groups * rank, len(overlaps) - groups

    def split(packed: Array) -> tuple[Array, Array, Array]:
        """What belongs to zeta, psi and chi."""
        return by_direction(packed[:spiked], rank), packed[functions:], packed[spiked:functions]

    zeta, psi, chi = split(overlaps)
    (V1, V2), (q1, q2) = unpack(values), unpack(q)
    if math.isfinite(width):
        uniform = m**2 / (width * np.array(model.fractions))
        q1, q2 = q1 - np.diag(np.array(model.bulks) * uniform), q2 - uniform
    return OrderParameters(
        m=m,
        zeta=zeta,
        psi=psi,
        q1=q1,
        q2=q2,
        V1=V1,
        V2=V2,
        conjugates=Conjugates(*unpack(conjugates), *unpack(hats), *split(forces)),
        chi=chi,
    )
