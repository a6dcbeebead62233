"""The block deterministic equivalent: the map Gamma from (C, D) to (T, tau) and its derivative.

The readout sees the bulk W (p x d, neurons in k groups) through S = ridge + D + C o (W W^T), with C a k x k positive
semidefinite matrix acting block-wise and D diagonal by group. What the saddle point needs of it is

    tau_a = (1/p) tr_a S^{-1},     T_ab = (1/p) tr[P_a W W^T P_b S^{-1}],

and the overlap matrix K of the directions v (or v_1, ..., v_s) and theta_perp, which turns forces into overlaps,
(zeta, psi) = (alpha/beta) K (zeta force, psi force). An equivalent is anything that offers these with their
derivatives (`DeterministicEquivalent`); here are the isotropic bulk with one group, in closed form (Marchenko-Pastur),
and with any number of groups.

Packing: a pair (C, D) or (T, tau) is one vector, the upper triangle of the symmetric matrix row by row and then the
diagonal part; k groups take k(k+1)/2 + k entries.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EquivalentPoint:
    """An equivalent evaluated at one pair (C, D).

    values: (T, tau), packed. jacobian: d(T, tau)/d(C, D), packed; an off-diagonal entry of C moves both C_ab and C_ba.
    overlaps: what computes K and dK/d(C, D) when one of them is first asked for: most points are of no use but to
    Newton's method. lost: how many times more than one rounding of ROUNDING each the values lost, by elimination.
    """

    values: Array
    jacobian: Array
    overlaps: Callable[[], tuple[Array, Array]]
    lost: float = field(default=0.0, kw_only=True)

    @cached_property
    def _both(self) -> tuple[Array, Array]:
        return self.overlaps()

    @property
    def overlap(self) -> Array:
        """K, square: the directions along the spike first (one per row of Profile.along), then k for theta_perp.

        For rows of equal norm v_j of each group for every direction j of the spike, then the k groups of theta_perp.
        """
        return self._both[0]

    def overlap_jacobian(self) -> Array:
        """dK/d(C, D), of shape (entries, *K), entries packed as in `jacobian`."""
        return self._both[1]


class DeterministicEquivalent(Protocol):
    """A limiting bulk together with the ridge and beta."""

    @property
    def groups(self) -> int:
        """The number k of readout groups."""

    def largest(self) -> Array:
        """(T, tau) at C = D = 0, packed: an upper bound on the values at any (C, D).

        At ridge = 0, where there is none, the same at ridge = 1 gives the scale.
        """

    def at(self, conjugates: Array) -> EquivalentPoint:
        """Gamma at the packed pair (C, D)."""


@lru_cache(maxsize=64)
def upper_triangle(groups: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Row and column indices of the packed symmetric matrix."""
    rows, columns = np.triu_indices(groups)
    return rows, columns


def pack(matrix: Array, diagonal: Array) -> Array:
    """A symmetric k x k matrix and a vector of k entries as one packed vector."""
    rows, columns = upper_triangle(len(diagonal))
    return np.concatenate([matrix[rows, columns], diagonal])


def unpack(packed: Array) -> tuple[Array, Array]:
    """The inverse of `pack`."""
    groups = groups_of(len(packed))
    rows, columns = upper_triangle(groups)
    matrix = np.empty((groups, groups))
    matrix[rows, columns] = packed[: len(rows)]
    matrix[columns, rows] = packed[: len(rows)]
    return matrix, packed[len(rows) :].copy()


def groups_of(entries: int) -> int:
    """k from k(k+1)/2 + k."""
    return (math.isqrt(9 + 8 * entries) - 3) // 2


@lru_cache(maxsize=64)
def packed_directions(groups: int) -> tuple[Array, Array]:
    """The packed basis as stacked matrices (entries, k, k) and diagonals (entries, k)."""
    rows, columns = upper_triangle(groups)
    pairs = len(rows)
    matrices = np.zeros((pairs + groups, groups, groups))
    diagonals = np.zeros((pairs + groups, groups))
    index = np.arange(pairs)
    matrices[index, rows, columns] = 1.0
    matrices[index, columns, rows] = 1.0
    diagonals[pairs + np.arange(groups), np.arange(groups)] = 1.0
    return matrices, diagonals


def marchenko_pastur(conjugate: float, shift: float, beta: float, bulk: float) -> tuple[float, float]:
    """(T, tau) for one isotropic group, with shift = ridge + D > 0 and conjugate = C >= 0.

    tau is the positive root of A B beta tau^2 + (A + B - beta B) tau - 1 = 0 with A = ridge + D and B = bulk C (the
    Marchenko-Pastur law of ratio beta scaled by the bulk variance), and T = bulk tau/(1 + beta B tau). Not numbers
    where that root is none, as on the way of Newton's method it may be.
    """
    spread = bulk * conjugate
    linear = shift + (1.0 - beta) * spread
    quadratic = shift * spread * beta
    root = math.sqrt(linear * linear + 4.0 * quadratic) if linear * linear >= -4.0 * quadratic else math.nan
    # The form that adds numbers of the same sign.
    tau = 2.0 / (linear + root) if linear >= 0.0 else (root - linear) / (2.0 * quadratic)
    return bulk * tau / (1.0 + beta * spread * tau), tau


def _isotropic_overlaps(
    values: Array, jacobian: Array, beta: float, bulks: Array, directions: int
) -> tuple[Array, Array]:
    """K and its slopes, as K is linear in (T, tau): beta c_a tau_a along every direction and beta T across."""
    groups = len(bulks)
    rows, columns = upper_triangle(groups)
    packed = beta * np.vstack([values, jacobian.T])
    along, across = np.arange(groups * directions), groups * directions + np.arange(groups)
    overlap = np.zeros((len(packed), len(along) + groups, len(along) + groups))
    overlap[:, along, along] = np.repeat(bulks * packed[:, len(rows) :], directions, axis=1)
    overlap[:, across[rows], across[columns]] = packed[:, : len(rows)]
    overlap[:, across[columns], across[rows]] = packed[:, : len(rows)]
    return overlap[0], overlap[1:]


@dataclass(frozen=True, eq=False)
class OneGroup:
    """What equivalents of one group share: (T, tau) at C = D = 0 for rows of mean squared norm c, `bulk`."""

    ridge: float
    beta: float
    bulk: float

    @property
    def groups(self) -> int:
        """One readout group."""
        return 1

    def largest(self) -> Array:
        """(T, tau) at C = D = 0."""
        return np.array([self.bulk, 1.0]) / (self.ridge or 1.0)


@dataclass(frozen=True)
class IsotropicUniform(OneGroup):
    """One isotropic group: Gamma in closed form. `directions` of the spike are orthogonal and all alike."""

    directions: int = 1

    def at(self, conjugates: Array) -> EquivalentPoint:
        found, slopes = self.expanded(float(conjugates[0]), float(conjugates[1]))
        values, jacobian = np.array(found), np.array([slopes[:2], slopes[2:]])
        overlaps = partial(_isotropic_overlaps, values, jacobian, self.beta, np.array([self.bulk]), self.directions)
        return EquivalentPoint(values, jacobian, overlaps)

    def expanded(
        self, conjugate: float, diagonal: float
    ) -> tuple[tuple[float, float], tuple[float, float, float, float]]:
        """(T, tau) at (C, D) and its Jacobian row by row, as numbers."""
        shift, beta, bulk = self.ridge + diagonal, self.beta, self.bulk
        overlap, tau = marchenko_pastur(conjugate, shift, beta, bulk)
        spread = bulk * conjugate
        # Implicit differentiation of the quadratic in tau, whose slope at the root is that of its discriminant. The
        # equation itself turns (A beta tau^2 + (1 - beta) tau), a difference of large numbers, into tau/inner.
        inner = 1.0 + beta * spread * tau
        slope = math.sqrt((shift + (1.0 - beta) * spread) ** 2 + 4.0 * shift * spread * beta) if tau == tau else tau
        tau_shift = -tau * inner / slope
        tau_spread = -tau / (inner * slope)
        scale = bulk / inner**2
        first = scale * (tau_spread - beta * tau * tau) * bulk, scale * tau_shift
        return (overlap, tau), (*first, tau_spread * bulk, tau_shift)


class SeveralGroups:
    """What equivalents of any number of groups share: rows of mean squared norm c_a, `bulks`, in shares pi_a."""

    def __init__(self, ridge: float, beta: float, bulks: ArrayLike, fractions: ArrayLike) -> None:
        self.ridge = ridge
        self.beta = beta
        self.bulks = np.asarray(bulks, dtype=float)
        self.fractions = np.asarray(fractions, dtype=float)

    @property
    def groups(self) -> int:
        """How many."""
        return len(self.bulks)

    def largest(self) -> Array:
        """(T, tau) at C = D = 0, packed; at ridge = 0 that of 1/ridge times as much."""
        tau = self.fractions / (self.ridge or 1.0)
        return pack(np.diag(self.bulks * tau), tau)


class IsotropicGroups(SeveralGroups):
    """Any number of isotropic groups (Appendix D, without its traces of large matrices).

    tau_a = pi_a/(ridge + D_a + c_a M_aa),  M = C (1 + Theta C)^{-1},  Theta = diag(c_a beta tau_a),
    T = (1/beta) Theta (1 + C Theta)^{-1}.

    tau is found by Newton's method: the right-hand side is increasing and concave in tau, so the iterates decrease to
    the one solution from any point above it. The search starts where the last solution, as an exponential of (C, D),
    leads; a start that is not above the solution is harmless.
    """

    def __init__(self, ridge: float, beta: float, bulks: Array, fractions: Array, directions: int = 1) -> None:
        super().__init__(ridge, beta, bulks, fractions)
        self.directions = directions
        self._identity = np.eye(len(self.bulks))
        self._couplings = beta * np.outer(self.bulks, self.bulks)
        rows, columns = upper_triangle(len(self.bulks))
        self._twice = np.where(rows == columns, 1.0, 2.0)
        self._last: tuple[Array, EquivalentPoint] | None = None

    def at(self, conjugates: Array) -> EquivalentPoint:
        if self._last is not None and np.array_equal(conjugates, self._last[0]):
            return self._last[1]  # where a solution is asked for again, to the last digit
        found = self._solved(conjugates)
        jacobian = self._slopes(found)
        # The inverse of B comes to k^2 eps |B| |1/B|, and |1/B| <= 1; T is made of it by two products more, and V by
        # sums that cancel as far: 4 of these. ROUNDING is 24 eps.
        lost = 4.0 * self.groups**2 * math.sqrt(float(np.sum(found.product**2))) / 24.0
        values = pack(found.across, found.tau)
        overlaps = partial(_isotropic_overlaps, values, jacobian, self.beta, self.bulks, self.directions)
        point = EquivalentPoint(values, jacobian, overlaps, lost=lost)
        self._last = conjugates.copy(), point
        return point

    def _start(self, conjugates: Array, above: Array) -> Array:
        if self._last is None:
            return above
        there, point = self._last
        tau = point.values[-self.groups :]
        led = tau * np.exp((point.jacobian[-self.groups :] @ (conjugates - there)) / tau)
        # A start so far below has led nowhere, and the first step from it would overflow.
        return np.where(led > 1e-100 * above, np.minimum(led, above), above)

    def _solved(self, conjugates: Array) -> _Solved:
        matrix, diagonal = unpack(conjugates)
        # tau <= pi/(ridge + D). Where neither is there (a linear activation without a ridge) tau is of the order of
        # pi/(c C_aa), and this much above it squares do not overflow yet; elsewhere it changes nothing.
        shift, change = self.ridge + diagonal, math.inf
        above = self.fractions / np.maximum(shift, 1e-12 * self.bulks * matrix.diagonal())
        tau = self._start(conjugates, above)
        for _ in range(100):
            now = self._mixed(matrix, tau)
            mapped = self.fractions / (shift + self.bulks * now.mixed.diagonal())
            slopes = (mapped * mapped / self.fractions)[:, None] * self._couplings * now.mixed**2
            moved = tau - np.linalg.solve(self._identity - slopes, tau - mapped)
            size = float(np.abs(moved / tau - 1.0).max())
            # Newton's method has converged when a step is at rounding, or stops shrinking near it.
            if size < 1e-15:
                break
            if size < 1e-12 and size >= change:
                return self._mixed(matrix, moved)
            # A start below the solution, where the linearisation may point anywhere: begin again from above.
            tau = moved if moved.min() > 0.0 else above
            change = size
        return now

    def _mixed(self, matrix: Array, tau: Array) -> _Solved:
        """Everything at tau, through the symmetric B = 1 + sqrt(Theta) C sqrt(Theta)."""
        root = np.sqrt(self.bulks * self.beta * tau)
        product = root[:, None] * matrix * root
        return _Solved(tau, root, product, np.asarray(np.linalg.inv(self._identity + product)), self.beta)

    def _slopes(self, at: _Solved) -> Array:
        """d(T, tau)/d(C, D), by implicit differentiation of the equation for tau."""
        rows, columns = upper_triangle(self.groups)
        # A packed direction E of C has E_ab = E_ba = 1, or one 1 on the diagonal: (X E X')_ij by products of entries.
        inverse, across, twice = at.inverse, at.across, self._twice
        pairs = inverse[:, rows] * inverse[:, columns]
        force = np.concatenate([self.bulks[:, None] * (twice * pairs), self._identity], axis=1)
        system = np.diag(self.fractions / at.tau**2) - self._couplings * at.mixed**2
        d_tau = -np.linalg.solve(system, force)
        d_across = pairs.T @ (self.bulks[:, None] * d_tau)
        straight = across[rows[:, None], rows] * across[columns[:, None], columns]
        crossed = across[rows[:, None], columns] * across[columns[:, None], rows]
        d_across[:, : len(rows)] -= (0.5 * self.beta) * twice * (straight + crossed)
        return np.concatenate([d_across, d_tau])


@dataclass(frozen=True)
class _Solved:
    """tau with sqrt(Theta), sqrt(Theta) C sqrt(Theta) and the inverse of B there."""

    tau: Array
    root: Array
    product: Array
    symmetric: Array
    beta: float

    @cached_property
    def mixed(self) -> Array:
        """M = N C, with N = (1 + C Theta)^{-1}."""
        return np.asarray(self.symmetric @ self.product / (self.root[:, None] * self.root))

    @property
    def inverse(self) -> Array:
        """N."""
        return self.symmetric * self.root / self.root[:, None]

    @cached_property
    def across(self) -> Array:
        """T = (1/beta) Theta N, symmetric up to rounding."""
        across = self.root[:, None] * self.symmetric * self.root / self.beta
        return 0.5 * (across + across.T)


def isotropic(
    ridge: float, beta: float, bulks: tuple[float, ...], fractions: tuple[float, ...], directions: int = 1
) -> DeterministicEquivalent:
    """The isotropic equivalent for the given groups: closed form for one, Newton's method for more."""
    if len(bulks) == 1:
        return IsotropicUniform(ridge, beta, bulks[0], directions)
    return IsotropicGroups(ridge, beta, np.array(bulks), np.array(fractions), directions)
