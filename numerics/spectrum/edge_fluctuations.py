"""How far the extreme eigenvalues of one sample lie from an edge of the limiting spectrum.

Two things move them. At given kappa the largest eigenvalue is E + s TW with the Tracy-Widom law of real matrices and
s = (p a)^(-2/3), where the density ends like (a/pi) sqrt(E - x). And the edge of the sample's own kappa fluctuates by
O(n^(-1/2)): the averages C and D over n of them stand in F(x, z) = 0, whose Jacobian is singular at an edge, so that a
left null vector l gives dE = -l.F_(C,D) (dC, dD)/(l.F_z).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from giantsteps.numerics.spectrum.axis import Axis

# Mean and standard deviation of the Tracy-Widom law of real symmetric matrices.
TW_MEAN, TW_DEVIATION = -1.2065335745820, 1.2680340580
# Distances from the edge, relative, at which its square root and its null vector are read off: errors of this order
# and of its root.
_INSIDE, _OUTSIDE = 1e-6, 1e-7


@dataclass(frozen=True)
class EdgeLaw:
    """Mean and standard deviation of the extreme eigenvalue of a sample at an edge; `bias` points into the support.

    square_root: whether the density is a square root as far from the edge as the extreme eigenvalue lies, within a
    third; in a tail it is not, the law does not apply, and its numbers are nan.
    """

    edge: float
    bias: float
    tracy_widom: float
    own_kappa: float
    square_root: bool

    @property
    def mean(self) -> float:
        """The expected extreme eigenvalue."""
        return self.edge + self.bias

    @property
    def deviation(self) -> float:
        """Its standard deviation."""
        return math.hypot(self.tracy_widom, self.own_kappa)

    def score(self, value: float) -> float:
        """How many standard deviations a value is off."""
        return (value - self.mean) / self.deviation


def edge_law(axis: Axis, edge: float, samples: int, features: int, *, upper: bool) -> EdgeLaw:
    """The law of the largest (upper) or smallest eigenvalue at an edge, for n samples and p features."""
    outward = 1.0 if upper else -1.0
    equations = axis.equations
    height = axis.density(edge * (1.0 - outward * _INSIDE)) / math.sqrt(edge * _INSIDE)
    scale = (features * math.pi * height) ** (-2.0 / 3.0) if height > 0.0 else math.inf
    inside = edge + outward * TW_MEAN * scale
    known = 0.0 < inside < math.inf
    ratio = axis.density(inside) / (height * math.sqrt(abs(inside - edge))) if known else 0.0
    if abs(ratio - 1.0) > 1.0 / 3.0:
        return EdgeLaw(edge, math.nan, math.nan, math.nan, square_root=False)
    point = axis.at(edge * (1.0 + outward * _OUTSIDE))
    # With what is left of the imaginary part: where kappa has no weight, 1 + V may vanish for the real part alone.
    x, z = point.values, complex(point.z.real)
    table = equations.table(x)
    packed, moved = equations.conjugates(table, x)
    _, direct, through = equations.residual(packed, x, z)
    left = np.linalg.svd(direct + through @ moved)[0][:, -1].conj()
    pull = -(left @ through) / (left @ equations.along_z(x, z))
    # dE = pull.(dC, dD), an average over the samples of this function of kappa.
    values = (equations.ratio * (pull @ table.features) / equations.one(table, x)).real
    mean = float(table.weights @ values)
    spread = math.sqrt(float(table.weights @ (values - mean) ** 2) / samples)
    return EdgeLaw(edge, outward * TW_MEAN * scale, TW_DEVIATION * scale, spread, square_root=True)
