"""What one readout group needs of a profile, stacked for matrix products with 1/(1+V) on the nodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from numerics.profile import Profile

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class OneGroupTable:
    """One rule along the spike, ready for products with arrays of shape (n,) or (n, P).

    `rows` (n, 3) are mu1^2, mu2^2, 1, so that unit + V = rows @ (T, tau, unit); `lines` (n, 3) are mu0, kappa mu1,
    -y0, so that yhat - y0 = lines @ (m, zeta, 1). The weight of the rule is in all others.
    """

    profile: Profile

    @cached_property
    def rows(self) -> Array:
        table = self.profile
        return np.stack([table.mu1[0] ** 2, table.mu2_squared[0], np.ones(len(table.weights))], axis=1)

    @cached_property
    def lines(self) -> Array:
        table = self.profile
        return np.stack([table.mu0[0], table.kappa * table.mu1[0], -table.y0], axis=1)

    @cached_property
    def rest(self) -> Array:
        """y1^2 + spread and y1 mu1, without weight; (2, n)."""
        table = self.profile
        return np.stack([table.y1**2 + table.spread, table.y1 * table.mu1[0]])

    @cached_property
    def whole(self) -> Array:
        """Weights of E[1], E[mu1^2], E[mu2^2], E[y1 mu1], E[y1^2 + spread]; shape (5, n)."""
        rest, cross = self.rest
        weighted: Array = np.stack([np.ones(len(rest)), *self.rows.T[:2], cross, rest]) * self.profile.weights
        return weighted

    @cached_property
    def expected(self) -> Array:
        """The five expectations of `whole`."""
        return np.asarray(self.whole.sum(axis=1))

    @cached_property
    def conjugates(self) -> Array:
        """C and D up to the ratio, of 1/(1+V); (2, n)."""
        return np.ascontiguousarray(self.whole[1:3])

    @cached_property
    def curvature(self) -> Array:
        """Their derivatives in (T, tau) up to the sign, of 1/(1+V)^2: mu1^4, mu1^2 mu2^2, mu2^4; (3, n)."""
        first, second = self.rows.T[:2]
        return np.stack([first * first, first * second, second * second]) * self.profile.weights

    @cached_property
    def roughness(self) -> Array:
        """Rounding of C and D through that of the tabulated functions, per eps and unit of T and tau, of 1/(1+V)^2.

        mu1 and mu2 come to eps times the size of the activation, so that V moves by 2 eps size (|mu1| T + mu2 tau);
        (4, n): C by T, C by tau, D by T, D by tau.
        """
        table = self.profile
        size = 2.0 * np.sqrt(np.maximum(table.squares[0], 0.0))
        moved = np.stack([size * np.abs(table.mu1[0]), size * np.sqrt(np.maximum(table.mu2_squared[0], 0.0))])
        return np.concatenate([row * moved for row in self.conjugates])

    @cached_property
    def moments(self) -> Array:
        """E of mu0^2, kappa mu0 mu1, (kappa mu1)^2, mu0 y0, kappa mu1 y0, mu1 y1, of 1/(1+V); (6, n)."""
        mean, line, minus = self.lines.T
        products = [mean * mean, mean * line, line * line, -mean * minus, -line * minus]
        return np.concatenate([np.stack(products) * self.profile.weights, self.whole[3:4]])

    @cached_property
    def gram(self) -> Array:
        """E of mu0^2 and (kappa mu1)^2, of 1/(1+V); (2, n)."""
        return np.ascontiguousarray(self.moments[[0, 2]])

    @cached_property
    def squares(self) -> Array:
        """Products of mu1^2, mu2^2, 1 with mu1 y1, y1^2 + spread, 1, of 1/(1+V)^2; (9, n)."""
        pieces = self.whole[[3, 4, 0]]
        return np.concatenate([row * pieces for row in self.rows.T])

    @cached_property
    def weighted_rows(self) -> Array:
        """rows as weights, mu1^2, mu2^2, 1; (3, n)."""
        return np.ascontiguousarray(self.whole[[1, 2, 0]])

    @cached_property
    def sizes(self) -> Array:
        """Weights of E[mu0^2 + mu1^2 + mu2^2], of 1/(1+V); (n,)."""
        return np.asarray(self.profile.weights * self.profile.squares[0])

    @cached_property
    def roots(self) -> Array:
        """Square roots of the weights times mu0, kappa mu1, y0; (3, n)."""
        return np.ascontiguousarray((np.sqrt(self.profile.weights)[:, None] * self.lines * [1.0, 1.0, -1.0]).T)
