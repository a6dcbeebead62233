"""The terms of a network's own bulk in the equations of a batch (`one_group.batch_equations`).

The map Gamma and the overlaps K of (v, delta, theta_perp) come from functions of one variable (`network_gains`), and
yhat has a second function beside its mean, dmu0/dc with the coefficient chi. With G = E[f f'/(1+V)] of f = (kappa mu1,
dmu0/dc), h = E[f mu0/(1+V)], A and b blocks of (alpha/beta) K and pt the force of psi, z = (zeta, chi) solves

    z = A zt + b pt,   zt = E[f (y0 - yhat)/(1+V)] = (1 + G A)^-1 (E[f y0/(1+V)] - G b pt - m h),

and m one equation more. Rows and columns of two are written out: P of them at once have no solver that is as fast.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from giantsteps.numerics.bulk.network_gains import Gains, Resolved
from giantsteps.numerics.saddle_point.one_group.batch_equations import (
    Array,
    Flags,
    Gamma,
    Means,
    Pairs,
    Points,
    applied,
    presence,
    solve_pairs,
)
from giantsteps.numerics.saddle_point.profile import OneGroupTable


@dataclass(frozen=True)
class NetworkGamma(Gamma):
    """Gamma at C, and what its overlaps are made of."""

    at: Resolved
    conjugate: Array


@dataclass(frozen=True, kw_only=True)
class NetworkPoints(Points):
    """Points of one law of rows."""

    gains: Gains

    def lost(self, gamma: Gamma) -> Array:
        """How many roundings of (T, tau), the image `gamma`, are lost beside those of an operation; (P,)."""
        assert isinstance(gamma, NetworkGamma)
        return self.gains.lost(gamma.at.gain)

    def gamma(self, conjugates: Array, near: Array) -> NetworkGamma:
        """Gamma at (C, D), from (T, tau) `near`."""
        C, shift = conjugates[0], self.ridge + conjugates[1]
        at = self.gains.resolved(C, shift, self.beta, near[1])
        return NetworkGamma(value=at.values, slope=at.jacobian, at=at, conjugate=C)

    def overlaps(self, gamma: NetworkGamma) -> tuple[Array, Array]:
        """(alpha/beta) K, (3, 3, P), and its slopes in C and D, (2, 3, 3, P)."""
        overlap, slopes = self.gains.signals(gamma.conjugate, gamma.at)
        return self.ratio * overlap, self.ratio * slopes

    def means(self, table: OneGroupTable, values: Array, gamma: Gamma, inverse: Array) -> Means:
        """m, (zeta, chi) and psi; `gamma` is the image of `values`."""
        assert isinstance(gamma, NetworkGamma)
        overlap, turned = self.overlaps(gamma)
        g00, h1, h2, g11, g12, g22, f0, f1, f2, force = table.moments @ inverse
        h, G = (h1, h2), ((g11, g12), (g12, g22))
        A = ((overlap[0, 0], overlap[0, 1]), (overlap[0, 1], overlap[1, 1]))
        given = overlap[0, 2] * force, overlap[1, 2] * force
        present, share = presence(table, self, g00, inverse)
        # 1 + G A, and its transpose 1 + A G.
        (a, b), (c, d) = _product(G, A)
        held = (1.0 + a, b), (c, 1.0 + d)
        pulled = applied(G, given)
        plain = solve_pairs(held, (f1 - pulled[0], f2 - pulled[1]))
        along = solve_pairs(held, h)
        free = g00 + self.cost(values) - _dot(h, applied(A, along))
        m = np.where(present, (f0 - _dot(h, given) - _dot(h, applied(A, plain))) / free, 0.0)
        forces = np.stack([plain[0] - m * along[0], plain[1] - m * along[1], force])
        brought = applied(A, (forces[0], forces[1]))
        zeta, chi = given[0] + brought[0], given[1] + brought[1]
        share = share + np.where(present, g00 / free / 24.0, 0.0)
        signal = self.ratio * np.einsum("ip,cijp,jp->cp", forces, turned, forces)
        (_, _), (c, d) = gamma.slope
        signal += self.spent(m, gamma) * np.stack([c, d])
        return Means(
            m=m,
            overlaps=np.stack([zeta, chi]),
            psi=np.asarray(overlap[2, 0] * forces[0] + overlap[2, 1] * forces[1] + overlap[2, 2] * force),
            signal=signal,
            images=_images(m, (zeta, chi), (f0, f1, f2), g00, h, G, A, given, present),
            share=share,
            known=_known(table, inverse, overlap, A, held),
        )


Two = tuple[Array, Array] | Array


def _dot(x: Two, y: Two) -> Array:
    return x[0] * y[0] + x[1] * y[1]


def _product(left: Pairs, right: Pairs) -> Pairs:
    columns = tuple((right[0][j], right[1][j]) for j in (0, 1))
    first, second = ((_dot(row, columns[0]), _dot(row, columns[1])) for row in left)
    return first, second


def _images(
    m: Array,
    z: Two,
    fitted: tuple[Array, Array, Array],
    square: Array,
    h: Two,
    gram: Pairs,
    overlap: Pairs,
    given: Two,
    present: Flags,
) -> Array:
    """What the equations of m and z make of them, as `equations.residual` has it; (3, P).

    What is left of the one for z is no gap as far as it is the rounding of its terms, where large means cancel.
    """
    pulled = applied(gram, z)
    forces = fitted[1] - m * h[0] - pulled[0], fitted[2] - m * h[1] - pulled[1]
    brought = applied(overlap, forces)
    images = [m + np.where(present, (fitted[0] - square * m - _dot(h, z)) / square, 0.0)]
    terms = [np.abs(m) * np.sqrt(square * gram[i][i]) for i in (0, 1)]
    for i in (0, 1):
        gap = given[i] + brought[i] - z[i]
        rounding = np.finfo(float).eps * (np.abs(overlap[i][0]) * terms[0] + np.abs(overlap[i][1]) * terms[1])
        own = 1.0 + overlap[i][i] * gram[i][i]
        images.append(z[i] + np.sign(gap) * np.maximum(np.abs(gap) - rounding, 0.0) / own)
    return np.stack(images)


def _known(table: OneGroupTable, inverse: Array, overlap: Array, along: Pairs, held: Pairs) -> tuple[Array, Array]:
    """`Means.known`, as `equations._force_rounding` has it: the force of chi is taken to be known."""
    spiked, across = table.force_scatter @ inverse
    (a, b), (c, d) = held
    zeta = solve_pairs(((a, c), (b, d)), (along[0][0] * spiked, along[1][0] * spiked))
    norms = table.profile.along_norms
    size = float(np.abs(table.profile.mu1[0] * table.profile.y1) @ table.profile.weights)
    return np.abs(zeta[0]) * norms[0] + np.abs(zeta[1]) * norms[1], np.abs(overlap[2, 2]) * across * size
