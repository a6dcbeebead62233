"""The equations of the ridge saddle point for arrays of points: one group, shapes (., P).

Those of `numerics.saddle_point.equations` for k = 1, with the isotropic bulk; what another bulk has of its own are the
methods `gamma` and `means` of its points (`numerics.saddle_point.one_group.network_equations`). Integrals over kappa
are matrix products of a table of the functions of kappa (`numerics.saddle_point.profile`) with 1/(1+V) on the nodes,
for a part of the points at a time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.gaussian.least_squares import RANK_TOLERANCE
from giantsteps.numerics.saddle_point.equations import MOST_ITERATIONS, fit_rounding, in_all
from giantsteps.numerics.saddle_point.profile import OneGroupTable

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Index = NDArray[np.intp]

# Entries of one array of (nodes, points): few, for the two at work together to stay in the cache of a core.
_CHUNK = 1 << 16
# Points leave Newton's iteration in herds, when this share of them is left: to pick points out takes time, too.
_FEW_LEFT = 0.7


@dataclass(frozen=True)
class Points:
    """Parameters of some points, ratio = alpha/beta; at a finite `width` the means have their cost."""

    ratio: Array
    beta: Array
    ridge: Array
    noise: Array
    bulk: float
    width: float = math.inf

    def at(self, index: Index | slice) -> Self:
        """Some of the points."""
        numbers = {name: getattr(self, name)[index] for name in ("ratio", "beta", "ridge", "noise")}
        return replace(self, **numbers)

    def largest(self) -> Array:
        """(T, tau) at C = D = 0, above every solution; shape (2, P)."""
        tau = 1.0 / self.ridge
        return np.stack([self.bulk * tau, tau])

    def lost(self, gamma: Gamma) -> Array | float:
        """How many roundings of (T, tau), the image `gamma`, are lost beside those of an operation."""
        return 0.0

    def cost(self, values: Array) -> Array:
        """What a uniform readout costs at the width, zero in the limit."""
        return np.asarray(1.0 / (self.ratio * self.width * values[1]))

    def spent(self, m: Array, gamma: Gamma) -> Array:
        """How that cost moves with -tau, the signal's share of it."""
        return np.asarray(m * m / (self.width * gamma.value[1] * gamma.value[1]))

    def gamma(self, conjugates: Array, near: Array) -> Gamma:
        """Gamma at (C, D), (2, P), where (T, tau) are about `near`."""
        return _gamma(conjugates, self)

    def means(self, table: OneGroupTable, values: Array, gamma: Gamma, inverse: Array) -> Means:
        """m and the overlaps from 1/(1+V) on the nodes; `gamma` is the image of `values`."""
        return _means(table, self, values, gamma, inverse)


class Workspace:
    """Memory for arrays of (n, P), taken once."""

    def __init__(self) -> None:
        self._memory = np.empty((2, 0))

    def two(self, nodes: int, points: int) -> tuple[Array, Array]:
        """Two arrays of shape (nodes, points)."""
        if self._memory.shape[1] < nodes * points:
            self._memory = np.empty((2, nodes * points))
        first, second = self._memory[:, : nodes * points]
        return first.reshape(nodes, points), second.reshape(nodes, points)


def in_parts(table: OneGroupTable, count: int) -> list[slice]:
    """The points in parts whose arrays over the nodes stay in the cache."""
    size = max(16, _CHUNK // len(table.rows))
    return [slice(start, start + size) for start in range(0, count, size)]


def newton(table: OneGroupTable, points: Points, start: Array, enough: float, workspace: Workspace) -> Array:
    """Lock-step Newton for x = F(x) until a step is `enough`; (2, P)."""
    values, active, some, x = start, None, points, start
    for _ in range(MOST_ITERATIONS):
        gamma, slope = _linearised(table, some, x, workspace)
        step = solve_pairs(slope, x - gamma.value)
        size = np.maximum(*np.abs(step / x))
        moved = x - step
        below = np.minimum(*moved) <= 0.0
        if below.any():
            # A start below the solution, where the linearisation may point anywhere: begin again from above.
            moved = np.where(below, some.largest(), moved)
        if active is None:
            values = moved
        else:
            values[:, active] = moved
        going = np.flatnonzero((size > enough) & np.isfinite(size))
        if not len(going):
            break
        x = moved
        if len(going) < _FEW_LEFT * len(size):
            active = going if active is None else active[going]
            some, x = some.at(going), moved.take(going, axis=1)
    return values


@dataclass(frozen=True)
class Gamma:
    """(T, tau) = Gamma(C, D), shape (2, P), and its derivatives d value[i]/d conjugate[j] = slope[i][j], each (P,)."""

    value: Array
    slope: tuple[tuple[Array, Array], tuple[Array, Array]]


Pairs = tuple[tuple[Array, Array], tuple[Array, Array]]


def _map(
    table: OneGroupTable, points: Points, values: Array, workspace: Workspace
) -> tuple[Gamma, Pairs, Array, Array]:
    """Gamma at (C, D), 1 - dF/dx, and 1/(1+V) with its square on the nodes, (n, P), which the next call overwrites."""
    inverse, square = _inverse(table, values, workspace)
    gamma = points.gamma(points.ratio * (table.conjugates @ inverse), values)
    return gamma, _one_minus(gamma, points.ratio * (table.curvature @ square)), inverse, square


def _inverse(table: OneGroupTable, values: Array, workspace: Workspace) -> tuple[Array, Array]:
    """1/(1+V) and its square on the nodes, (n, P)."""
    inverse, square = workspace.two(len(table.rows), values.shape[1])
    np.matmul(table.rows, np.concatenate([values, np.ones((1, values.shape[1]))]), out=inverse)
    np.reciprocal(inverse, out=inverse)
    np.multiply(inverse, inverse, out=square)
    return inverse, square


def _linearised(table: OneGroupTable, points: Points, values: Array, workspace: Workspace) -> tuple[Gamma, Pairs]:
    """Gamma at (C, D) and 1 - dF/dx; the arrays over the nodes are made for a part of the points at a time."""
    conjugates, bend = np.empty((2, values.shape[1])), np.empty((3, values.shape[1]))
    for part in in_parts(table, values.shape[1]):
        inverse, square = _inverse(table, values[:, part], workspace)
        conjugates[:, part] = table.conjugates @ inverse
        bend[:, part] = table.curvature @ square
    gamma = points.gamma(points.ratio * conjugates, values)
    return gamma, _one_minus(gamma, points.ratio * bend)


def _one_minus(gamma: Gamma, bend: Array) -> Pairs:
    """1 - dF/dx = 1 + dGamma bend, bend a symmetric 2 x 2 matrix given by three entries."""
    (a, b), (c, d) = gamma.slope
    return (
        (1.0 + a * bend[0] + b * bend[1], a * bend[1] + b * bend[2]),
        (c * bend[0] + d * bend[1], 1.0 + c * bend[1] + d * bend[2]),
    )


def _gamma(conjugates: Array, points: Points) -> Gamma:
    """The closed form of `deterministic_equivalent.IsotropicUniform`, for arrays."""
    beta, shift, spread = points.beta, points.ridge + conjugates[1], points.bulk * conjugates[0]
    linear = shift + (1.0 - beta) * spread
    quadratic = shift * spread * beta
    root = np.sqrt(linear * linear + 4.0 * quadratic)
    tau = np.where(linear >= 0.0, 2.0 / (linear + root), (root - linear) / (2.0 * quadratic))
    inner = 1.0 + beta * spread * tau
    tau_shift, tau_spread = -tau * inner / root, -tau / (inner * root)
    scale = points.bulk / (inner * inner)
    value = np.stack([points.bulk * tau / inner, tau])
    slope = (
        (scale * (tau_spread - beta * tau * tau) * points.bulk, scale * tau_shift),
        (tau_spread * points.bulk, tau_shift),
    )
    return Gamma(value, slope)


def applied(matrix: Pairs, vector: Array | tuple[Array, Array]) -> Array:
    """The product of 2 x 2 matrices and vectors; (2, P)."""
    (a, b), (c, d) = matrix
    return np.stack([a * vector[0] + b * vector[1], c * vector[0] + d * vector[1]])


def solve_pairs(matrix: Pairs, right: Array | tuple[Array, Array]) -> Array:
    """Solutions of 2 x 2 systems, by Cramer's rule; (2, P)."""
    (a, b), (c, d) = matrix
    x, y = right
    return np.stack([d * x - b * y, a * y - c * x]) / (a * d - b * c)


@dataclass(frozen=True)
class Means:
    """m, the overlaps zeta (and chi, where norms vary), (1, P) or (2, P), psi; and what follows from them alone.

    signal: the derivatives of (alpha/beta)^2 f.K f at fixed forces f in C and D, (2, P), with the cost of a uniform
    readout at finite width. images: what the equations of m and the overlaps make of them, one after another. share:
    the activation's size over mu0's. known: what the errors of the forces move the norm of yhat and E[2 psi y1 mu1] by,
    per eps.
    """

    m: Array
    overlaps: Array
    psi: Array
    signal: Array
    images: Array
    share: Array
    known: tuple[Array, Array]


def _means(table: OneGroupTable, points: Points, values: Array, gamma: Gamma, inverse: Array) -> Means:
    moments = table.moments @ inverse
    g00, g01, g11, f0, f1, force = moments
    pull = points.ratio * points.beta
    stiffness = pull * points.bulk * values[1]
    held = 1.0 + stiffness * g11
    grip = stiffness / held
    present, share = presence(table, points, g00, inverse)
    free = g00 + points.cost(values) - g01 * grip * g01
    m = np.where(present, (f0 - g01 * grip * f1) / free, 0.0)
    left = f1 - g01 * m
    # The force is left - g11 zeta, which may be a small difference of large numbers.
    zeta, zeta_force = grip * left, left / held
    # How far zeta and psi are known, per eps. The normal equations of m and zeta lose what mu0 and kappa mu1 have in
    # common, where `point` projects; ROUNDING is 24 eps.
    known = table.force_scatter @ inverse * np.stack([grip, pull * values[0]])
    share += np.where(present, g00 / free / 24.0, 0.0)
    pull = pull * points.ratio
    along, across = pull * points.bulk * zeta_force * zeta_force, pull * force * force
    (a, b), (c, d) = gamma.slope
    along += points.spent(m, gamma)
    images = np.stack(
        [
            m + np.where(present, (f0 - g00 * m - g01 * zeta) / g00, 0.0),
            zeta + (stiffness * zeta_force - zeta) / (1.0 + stiffness * g11),
        ]
    )
    return Means(
        m=m,
        overlaps=zeta[None],
        psi=points.ratio * points.beta * values[0] * force,
        signal=np.stack([c * along + a * across, d * along + b * across]),
        images=images,
        share=share,
        known=(known[0] * table.line_norm, abs(float(table.expected[3])) * known[1]),
    )


def presence(table: OneGroupTable, points: Points, square: Array, inverse: Array) -> tuple[Flags, Array]:
    """Where mu0 is more than rounding, E[mu0^2/(1+V)] = square, and the activation's size over mu0's."""
    size = table.sizes @ inverse
    present = square > RANK_TOLERANCE**2 * size
    return present, np.where(present, np.sqrt(size / square), table.lost if math.isinf(points.width) else 0.0)


@dataclass(frozen=True)
class _Errors:
    """The test error, with q, E of e2 at q = 0 over (1+V)^2 times mu1^2, mu2^2, 1, and what it was made from.

    magnitude: the sum of the sizes of the terms that the test error is the sum of. positive: of those without q that
    are squares. moved: how far the rounding of the fit moves these.
    """

    test: Array
    q: Array
    fixed: Array
    features: Array
    magnitude: Array
    positive: Array
    moved: Array


def _errors(
    table: OneGroupTable, points: Points, means: Means, gamma: Gamma, slope: Pairs, inverse: Array, square: Array
) -> _Errors:
    """The test error and all that leads to it; overwrites `inverse`."""
    deviation = np.matmul(table.lines, np.stack([means.m, *means.overlaps, np.ones_like(means.m)]), out=inverse)
    # E of (yhat - y0)^2, as the square it is, and of that times mu1^2, mu2^2, 1 over (1+V)^2.
    np.multiply(deviation, deviation, out=deviation)
    squared = table.whole[0] @ deviation
    deviation *= square
    products = table.squares @ square
    fixed = table.weighted_rows @ deviation
    fixed += products[1::3]
    fixed -= (2.0 * means.psi) * products[::3]
    fixed += points.noise * products[2::3]
    q = solve_pairs(slope, -applied(gamma.slope, points.ratio * fixed[:2]) - means.signal)
    _, mu1, mu2, cross, rest = table.expected
    fitted, quadratic = squared + rest, mu1 * q[0] + mu2 * q[1]
    across = (2.0 * cross) * means.psi
    magnitude = fitted + points.noise + np.abs(across) + np.abs(quadratic)
    moved = fit_rounding(squared, table.terms(means.m, *means.overlaps), means.share)
    moved += 2.0 * (np.sqrt(squared) * means.known[0] + means.known[1])
    test = fitted - across + quadratic
    return _Errors(test, q, fixed, products[2::3], magnitude, fitted + points.noise, moved)


def test_errors(table: OneGroupTable, points: Points, values: Array, workspace: Workspace) -> Array:
    """The test error alone."""
    gamma, slope, inverse, square = _map(table, points, values, workspace)
    means = points.means(table, values, gamma, inverse)
    return _errors(table, points, means, gamma, slope, inverse, square).test


def both_errors(table: OneGroupTable, points: Points, values: Array, workspace: Workspace) -> Array:
    """Test and training error and the rounding of the first per eps; (3, P)."""
    gamma, slope, inverse, square = _map(table, points, values, workspace)
    means = points.means(table, values, gamma, inverse)
    conjugates = table.conjugates @ inverse
    found = _errors(table, points, means, gamma, slope, inverse, square)
    rounding = _rounding(table, points.lost(gamma), found, slope, values, conjugates, square)
    return np.stack([found.test, _training(found), rounding])


def _training(found: _Errors) -> Array:
    return np.asarray(found.fixed[2] + found.q[0] * found.features[0] + found.q[1] * found.features[1])


def linear(table: OneGroupTable, points: Points, values: Array, workspace: Workspace) -> Array:
    """All that follows linearly, the residual over all unknowns, the rounding of the test error per eps; (11, P).

    Where norms vary chi is the last row of twelve.
    """
    gamma, slope, inverse, square = _map(table, points, values, workspace)
    means = points.means(table, values, gamma, inverse)
    conjugates = table.conjugates @ inverse
    found = _errors(table, points, means, gamma, slope, inverse, square)
    bend = points.ratio * (table.curvature @ square)
    hats = points.ratio * found.fixed[:2] + applied(((bend[0], bend[1]), (bend[1], bend[2])), found.q)
    training = _training(found)
    zeta, *chi = means.overlaps
    unknowns = np.stack([means.m, zeta, *chi, *values, *found.q])
    images = np.stack([*means.images, *gamma.value, *(-applied(gamma.slope, hats) - means.signal)])
    np.abs(np.subtract(images, unknowns, out=images), out=images)
    images /= 1.0 + np.abs(unknowns)
    rounding = _rounding(table, points.lost(gamma), found, slope, values, conjugates, square)
    return np.stack(
        [found.test, training, means.m, zeta, means.psi, *found.q, *values, images.max(axis=0), rounding, *chi]
    )


def _rounding(
    table: OneGroupTable,
    lost: Array | float,
    found: _Errors,
    slope: Pairs,
    values: Array,
    conjugates: Array,
    square: Array,
) -> Array:
    """The rounding of the test error per eps, as in `saddle_point.LinearPart`."""
    condition = np.abs(solve_pairs(slope, values) / values).max(axis=0)
    condition = condition * (1.0 + lost + _roughness(table, values, conjugates, square))
    return np.asarray(in_all(found.magnitude, condition, found.moved, found.positive))


def _roughness(table: OneGroupTable, values: Array, conjugates: Array, square: Array) -> Array:
    """The relative rounding of C and D through that of the functions they are integrals of, per eps; (P,)."""
    moved = table.roughness @ square
    moved = np.stack([moved[0] * values[0] + moved[1] * values[1], moved[2] * values[0] + moved[3] * values[1]])
    return np.asarray((moved / np.where(conjugates > 0.0, conjugates, np.inf)).max(axis=0))
