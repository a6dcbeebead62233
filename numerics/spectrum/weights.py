"""The spectrum of the weights themselves: quantiles of the limiting law of the eigenvalues of W W^T, W (p, d).

The spike moves one eigenvalue of p. The others have the law of the bulk rows, which follows from the equations of the
features (`numerics.spectrum.point`) at C = 1, D = 0: tau(z) = (1/p) tr (W W^T - z)^-1.
"""

from __future__ import annotations

import math

import numpy as np

from giantsteps.numerics.bulk.equivalent import pack, unpack
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.spectrum.axis import Axis
from giantsteps.numerics.spectrum.density import equations_of
from giantsteps.numerics.spectrum.network import NetworkEquations
from giantsteps.numerics.spectrum.panels import Complex, Table
from giantsteps.numerics.spectrum.point import Equations


class _OfWeights(Equations):
    """The equations at C_ab = 1 and D_a = 0, whatever the features are: no sample counts."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.ratio = 0.0

    def conjugates(self, table: Table, x: Complex) -> tuple[Complex, Complex]:
        """(C, D) packed, and its derivative in x."""
        k = self.groups
        return pack(np.ones((k, k)), np.zeros(k)).astype(complex), np.zeros((len(x), len(x)), dtype=complex)

    def below(self, table: Table, x: Complex, z: complex) -> float:
        """The share of eigenvalues below a real z: -Im/pi of (1/p) ln det S alone."""
        return super().below(table, x, z) - float(np.sum(unpack(x)[0]).imag) / math.pi


class _OfNetworkWeights(_OfWeights, NetworkEquations):
    """The same for a network's own rows."""


def weight_quantiles(model: Model, shares: tuple[float, ...]) -> tuple[float, ...]:
    """The eigenvalues of W W^T with these shares of the positive ones below them.

    Raises ModelError as `spectrum`, and SpectrumError where a point is not reached.
    """
    from scipy.optimize import brentq

    axis = Axis(equations_of(model, _OfWeights, _OfNetworkWeights))
    atom = max(0.0, 1.0 - 1.0 / model.beta)
    start = math.log(float(np.dot(model.fractions, model.bulks)) / (1.0 - atom))

    def quantile(share: float) -> float:
        def off(place: float) -> float:
            return axis.below(math.exp(place)) - atom - share * (1.0 - atom)

        step = -1.0 if off(start) > 0.0 else 1.0
        end = start + step
        while off(end) * step < 0.0:
            end += step
        return math.exp(float(brentq(off, start, end, xtol=1e-10)))

    return tuple(map(quantile, shares))
