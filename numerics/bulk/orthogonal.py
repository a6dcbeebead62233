"""A bulk of orthogonal rows, W W^T = diag(c_a): the special case of Appendix D.3, equations (158)-(160), width p <= d.

S = ridge + D + C o (W Pi W^T) is diagonal but for the direction that Pi removes. With theta_a = beta c_a tau_a

    tau_a = pi_a/(ridge + D_a + c_a C_aa),   T = diag(c_a tau_a),
    K along the spike = (diag(theta)^-1 - C)^-1,   K along theta_perp = diag(theta),

the former by Sherman-Morrison for the k columns W_a v, which in a diagonal S is not small.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.bulk.equivalent import (
    DeterministicEquivalent,
    EquivalentPoint,
    SeveralGroups,
    pack,
    packed_directions,
    unpack,
)
from giantsteps.numerics.models.model import Model, ModelError

Array = NDArray[np.float64]


class OrthogonalGroups(SeveralGroups):
    """The equivalent of orthogonal rows at a ridge > 0, for k groups: `numerics.bulk.equivalent`."""

    def at(self, conjugates: Array) -> EquivalentPoint:
        bulks, fractions = self.bulks, self.fractions
        C, D = unpack(conjugates)
        tau = fractions / (self.ridge + D + bulks * np.diag(C))
        matrices, diagonals = packed_directions(self.groups)
        # One row per entry of (C, D): how tau moves.
        moves = -(tau**2) / fractions * (diagonals + bulks * np.diagonal(matrices, axis1=1, axis2=2))
        jacobian = np.array([pack(np.diag(bulks * move), move) for move in moves]).T
        theta = self.beta * bulks * tau
        along = np.asarray(np.linalg.inv(np.diag(1.0 / theta) - C), dtype=np.float64)
        overlap, slopes = self._pair(along, np.diag(theta)), []
        for matrix, move in zip(matrices, moves, strict=True):
            shift = np.diag(self.beta * bulks * move)
            inner = np.diag(1.0 / theta) @ shift @ np.diag(1.0 / theta) + matrix
            slopes.append(self._pair(along @ inner @ along, shift))
        return EquivalentPoint(pack(np.diag(bulks * tau), tau), jacobian, lambda: (overlap, np.array(slopes)))

    def _pair(self, along: Array, across: Array) -> Array:
        k = self.groups
        whole = np.zeros((2 * k, 2 * k))
        whole[:k, :k], whole[k:, k:] = along, across
        return whole


def orthogonal(model: Model, ridge: float) -> DeterministicEquivalent:
    """The equivalent of a model's groups with orthogonal rows. Raises ModelError for p > d and unsupported models."""
    if model.beta > 1.0 or model.rank > 1 or model.unequal_norms or ridge == 0.0:
        raise ModelError(
            "orthogonal rows need beta <= 1, one direction of the spike, rows of equal norm and a positive ridge, for "
            "example beta = 1"
        )
    return OrthogonalGroups(ridge, model.beta, model.bulks, model.fractions)
