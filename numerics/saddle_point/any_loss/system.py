"""The equations of a convex readout on one rule, with their exact Jacobian.

They are the stationary points of

    Phi = (alpha/beta) E[e(yhat, P, q, V)] - C.q/2 + o.K(C, D)^-1 o/2 + sum_a m_a^2/(2 p tau_a),   V = Gamma(C, D),

with e of `numerics.saddle_point.any_loss.envelope` and the overlaps o = (zeta, chi, psi); the last term is kept at a
finite width p only. Q, C and V stand for packed pairs (Q, q2), (C, D) and (T, tau). Where functions mu0_a coincide or
vanish Phi does not depend on some combination of the m_a: the equations are asked for the others only.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.bulk.equivalent import DeterministicEquivalent, EquivalentPoint
from giantsteps.numerics.gaussian.least_squares import RANK_TOLERANCE
from giantsteps.numerics.models.losses import Loss
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.any_loss.envelope import Output, Sampler, sampler
from giantsteps.numerics.saddle_point.equations import multiplicity
from giantsteps.numerics.saddle_point.profile import Profile

Array = NDArray[np.float64]

# Relative step of the differences in C that give the second derivatives of Gamma: they enter the Jacobian only.
_STEP = 1e-6
# Places and weights of differences in units of the step.
Differences = Sequence[tuple[int, float]]
_FORWARD = ((1, 1.0), (0, -1.0))
_LEAST_V = 1e-200
_NOTHING = 1e-200


@dataclass(frozen=True)
class System:
    """One rule. Unknowns x: (T, tau), m, overlaps (zeta, chi, psi), (Q, q2).

    smoothing: variance of a Gaussian that is added to every output. The readout of least loss with it is a convex
    problem too, and one whose averages are smooth; the system itself has none.
    """

    table: Profile
    model: Model
    equivalent: DeterministicEquivalent
    loss: Loss
    refine: int
    width: float | None = None
    smoothing: float = 0.0

    @property
    def ratio(self) -> float:
        """alpha/beta."""
        return self.model.alpha / self.model.beta

    @cached_property
    def cuts(self) -> list[int]:
        """Where the four kinds of unknowns end."""
        pair, k = len(self.table.features), self.table.groups
        return [pair, pair + k, pair + 2 * k + len(self.table.along)]

    def split(self, x: Array) -> list[Array]:
        """(T, tau), m, overlaps, (Q, q2)."""
        first, second, third = self.cuts
        return [x[:first], x[first:second], x[second:third], x[third:]]

    @cached_property
    def place(self) -> Array:
        """gamma.kappa at the nodes, (n,)."""
        return np.asarray(np.asarray(self.model.alignments) @ self.table.nodes)

    @cached_property
    def means(self) -> Array:
        """Orthonormal combinations (k, r) of the m_a on which the prediction depends."""
        table = self.table
        if self.width is not None:
            return np.eye(table.groups)
        root = np.sqrt(table.weights)
        combinations, singular, _ = np.linalg.svd(root * table.mu0, full_matrices=False)
        size = math.sqrt(float(np.max(table.squares @ table.weights)))
        kept = singular > RANK_TOLERANCE * max(size, float(singular[0]))
        return np.asarray(combinations[:, kept])

    def output(self, x: Array) -> Output:
        """yhat, P, q and V along the spike."""
        table = self.table
        values, m, overlaps, q = self.split(x)
        count = len(table.along)
        return Output(
            m @ table.mu0 + overlaps[:count] @ table.along,
            overlaps[count:] @ table.mu1,
            q @ table.multiplied_features + self.smoothing,
            # Far along the spike the features of a saturating activation vanish.
            np.maximum(values @ table.multiplied_features, _LEAST_V),
        )

    def admissible(self, x: Array, at: Output) -> bool:
        """Whether V >= 0 and q >= P^2 everywhere; `at` is the output at x."""
        values = self.split(x)[0]
        own = at.variance - at.across**2
        positive = np.all(values[-self.table.groups :] > 0.0) and np.all(values @ self.table.multiplied_features >= 0.0)
        return bool(np.all(np.isfinite(x)) and positive and np.all(own >= -1e-12 * at.variance))

    def sampler(self, x: Array) -> Sampler:
        """The averages on a rule made for the output at x."""
        return sampler(self.loss, self.model, self.place, self.table.weights, self.output(x), self.refine)

    @cached_property
    def _sizes(self) -> tuple[Array, Array]:
        """E of what the unknowns multiply in V and q, and the norms of the functions in yhat and P."""
        table, w = self.table, self.table.weights
        along = np.concatenate([self._functions[0], table.mu1])
        # A function that vanishes, such as mu1 of an even activation without a spike, leaves its unknown unseen.
        least = 1e-20 * float(np.max(table.squares @ w))
        return np.maximum(np.abs(table.multiplied_features) @ w, least), np.sqrt(np.maximum(along**2 @ w, least))

    def scales(self, at: Output) -> Array:
        """What each unknown, as `narrowed`, would be if it alone made the whole output, or the whole V."""
        (means, norms), w = self._sizes, self.table.weights
        # Of an iterate out of reach rounding may leave less than nothing.
        size = max(float(w @ (at.variance + at.yhat**2)), _NOTHING)
        return np.concatenate([float(w @ at.V) / means, math.sqrt(size) / norms, size / means])

    def at(self, x: Array, averages: Sampler, curved: bool = True) -> Linearised:
        """Everything at x: the equations and, unless not `curved`, their Jacobian."""
        output = self.output(x)
        envelope = averages.envelope(output)
        functions = self._functions
        w, ratio = self.table.weights, self.ratio
        positions, size = self._positions
        slope, curvature = ratio * self.pulled(w * envelope.slope), np.full((size, size), math.nan)
        for i in range(4):
            for j in range(i, 4) if curved else ():
                block = ratio * ((functions[i] * (w * envelope.curvature[i, j])) @ functions[j].T)
                curvature[positions[i], positions[j]] = block
                curvature[positions[j], positions[i]] = block.T
        return Linearised(self, x, output, averages, slope, curvature)

    def pulled(self, slopes: Sequence[Array] | Array) -> Array:
        """Slopes in the unknowns as `narrowed` from weighted ones in yhat, P, q and V."""
        found = np.empty(self._positions[1])
        for position, functions, slope in zip(self._positions[0], self._functions, slopes, strict=True):
            found[position] = functions @ slope
        return found

    @cached_property
    def _functions(self) -> tuple[Array, Array, Array, Array]:
        """What the unknowns multiply in yhat, P, q and V; the m_a through `means`."""
        table = self.table
        both = np.concatenate([self.means.T @ table.mu0, table.along])
        return both, table.mu1, table.multiplied_features, table.multiplied_features

    @cached_property
    def _positions(self) -> tuple[list[slice], int]:
        """Places of these unknowns in the order V, m, zeta and chi, psi, Q, and their number."""
        pair, r = len(self.table.features), self.means.shape[1]
        count, k = len(self.table.along), self.table.groups
        ends = [0, pair, pair + r + count, pair + r + count + k, 2 * pair + r + count + k]
        V, yhat, psi, q = (slice(start, end) for start, end in itertools.pairwise(ends))
        return [yhat, psi, q, V], ends[-1]

    def narrowed(self, x: Array) -> Array:
        """The unknowns with the m_a in the coordinates of `means`."""
        values, m, overlaps, q = self.split(x)
        return np.concatenate([values, self.means.T @ m, overlaps, q])

    def widened(self, x: Array) -> Array:
        """The inverse of `narrowed`."""
        pair, r = len(self.table.features), self.means.shape[1]
        return np.concatenate([x[:pair], self.means @ x[pair : pair + r], x[pair + r :]])

    def least_means(self, x: Array) -> Array:
        """x with the m_a of least sum_a m_a^2/tau_a among those that predict the same."""
        k, basis = self.table.groups, self.means
        if self.width is not None or basis.shape[1] == k:
            return x
        values, m, overlaps, q = self.split(x)
        tau = values[-k:]
        # m = tau B c with B'm given.
        weighted = tau[:, None] * basis
        m = weighted @ np.linalg.solve(basis.T @ weighted, basis.T @ m) if basis.shape[1] else np.zeros(k)
        return np.concatenate([values, m, overlaps, q])

    def smoothed(self, variance: float, equivalent: DeterministicEquivalent) -> System:
        """The same with a Gaussian of this variance in the output, and another ridge in the equivalent."""
        return replace(self, smoothing=variance, equivalent=equivalent)


@dataclass(frozen=True)
class Linearised:
    """The equations at x. slope and curvature: those of (alpha/beta) E e in the unknowns (V, m, overlaps, Q)."""

    system: System
    x: Array
    output: Output
    averages: Sampler
    slope: Array
    curvature: Array

    @cached_property
    def _ends(self) -> tuple[int, int]:
        pair = len(self.system.table.features)
        return pair, pair + self.system.means.shape[1]

    @cached_property
    def _multiplicity(self) -> Array:
        return multiplicity(self.system.table.groups)

    @cached_property
    def conjugates(self) -> Array:
        """(C, D), packed."""
        pair = self._ends[0]
        return 2.0 * self.slope[-pair:] / self._multiplicity

    @cached_property
    def hats(self) -> Array:
        """Their hats, packed."""
        pair = self._ends[0]
        return -2.0 * self.slope[:pair] / self._multiplicity

    @property
    def _pulls(self) -> Array:
        """Slopes in the overlaps, -(alpha/beta) times the forces."""
        pair, start = self._ends
        return self.slope[start:-pair]

    @property
    def forces(self) -> Array:
        """The forces of zeta, chi and psi."""
        return -self._pulls / self.system.ratio

    @cached_property
    def point(self) -> EquivalentPoint:
        """The equivalent at (C, D)."""
        return self.system.equivalent.at(self.conjugates)

    @cached_property
    def _turned(self) -> Array:
        """How the images of the overlaps turn with (C, D), up to the sign; (pair, s)."""
        return np.asarray(self.point.overlap_jacobian() @ self._pulls)

    def _variance(self, point: EquivalentPoint) -> Array:
        """(Q, q2) at fixed hats, forces and m."""
        pulls, groups, width = self._pulls, self.system.table.groups, self.system.width
        signal = (self._turned if point is self.point else point.overlap_jacobian() @ pulls) @ pulls
        if width is not None:
            values, m, _, _ = self.system.split(self.x)
            signal = signal + (m**2 / (width * values[-groups:] ** 2)) @ point.jacobian[-groups:]
        return np.asarray(-point.jacobian @ self.hats - signal / self._multiplicity)

    @cached_property
    def image(self) -> Array:
        """F(x) but for m, which is moved by what is left of its equation: see `residual`."""
        overlaps = -self.point.overlap @ self._pulls
        return np.concatenate([self.point.values, overlaps, self._variance(self.point)])

    @cached_property
    def gap(self) -> Array:
        """The equations, x - F(x), and the slope of Phi in the m_a; as `narrowed`."""
        system, (pair, start) = self.system, self._ends
        values, m, overlaps, q = system.split(self.x)
        stationary = self.slope[pair:start]
        if system.width is not None:
            stationary = stationary + m / (system.width * values[-system.table.groups :])
        image = np.split(self.image, [pair, pair + len(overlaps)])
        return np.concatenate([values - image[0], stationary, overlaps - image[1], q - image[2]])

    @property
    def residual(self) -> float:
        """max over all unknowns of |x - F(x)|/(1 + |x|), infinite out of reach; m moves by a Newton step in m alone."""
        (pair, start), system = self._ends, self.system
        gap = self.gap.copy()
        stiff = self.curvature[pair:start, pair:start]
        if system.width is not None:
            stiff = stiff + np.diag(1.0 / (system.width * system.split(self.x)[0][-system.table.groups :]))
        if not (np.all(np.isfinite(gap)) and np.all(np.isfinite(stiff))):
            return math.inf
        if start > pair:
            gap[pair:start] = np.linalg.lstsq(stiff, gap[pair:start], rcond=1e-13)[0]
        return float(np.max(np.abs(gap) / (1.0 + np.abs(system.narrowed(self.x)))))

    @property
    def condition(self) -> float:
        """How far the unknowns move, as shares of 1 + size, per relative error of every term: |J^-1| |J| |x|."""
        jacobian, x = self.jacobian, np.abs(self.system.narrowed(self.x))
        if not np.all(np.isfinite(jacobian)):
            return math.inf
        try:
            moved = np.abs(np.linalg.inv(jacobian)) @ (np.abs(jacobian) @ x)
        except np.linalg.LinAlgError:
            return math.inf
        return float(np.max(moved / (1.0 + x)))

    @property
    def jacobian(self) -> Array:
        """The slope of `gap` in the unknowns as `narrowed`."""
        return self.jacobian_by(_FORWARD, _STEP)

    def jacobian_by(self, differences: Differences, step: float) -> Array:
        """The same, with the second derivatives of Gamma by these differences, `step` beside the size of C and D."""
        system, (pair, start), point = self.system, self._ends, self.point
        size, mult = len(self.slope), self._multiplicity[:, None]
        V, m, o, q = slice(0, pair), slice(pair, start), slice(start, size - pair), slice(size - pair, size)
        d_conjugates = 2.0 * self.curvature[q] / mult
        d_hats = -2.0 * self.curvature[V] / mult
        turned = self._turned
        jacobian = np.eye(size)
        jacobian[V] -= point.jacobian @ d_conjugates
        jacobian[m] = self.curvature[m]
        jacobian[o] += point.overlap @ self.curvature[o] + turned.T @ d_conjugates
        jacobian[q] += point.jacobian @ d_hats + 2.0 * (turned @ self.curvature[o]) / mult
        jacobian[q] -= self._variance_slope(differences, step) @ d_conjugates
        if system.width is not None:
            values, means, _, _ = system.split(self.x)
            k, tau = system.table.groups, values[-system.table.groups :]
            stiffness = 1.0 / (system.width * tau)
            jacobian[m, m] += np.diag(stiffness)
            jacobian[m, pair - k : pair] -= np.diag(means * stiffness / tau)
            rows = point.jacobian[-k:].T / mult
            jacobian[q, m] += 2.0 * rows * (means * stiffness / tau)
            jacobian[q, pair - k : pair] -= 2.0 * rows * (means**2 * stiffness / tau**2)
        return jacobian

    def _variance_slope(self, differences: Differences, share: float) -> Array:
        """d(Q, q2)/d(C, D) at fixed hats, forces and m, by differences."""
        C, base = self.conjugates, self.image[-len(self.conjugates) :]
        ridge = float(np.min(1.0 / np.maximum(self.system.equivalent.largest()[-self.system.table.groups :], 1e-300)))
        columns = []
        for i, value in enumerate(C):
            step = share * (abs(value) + 1e-3 * ridge)
            column = np.zeros_like(base)
            for place, weight in differences:
                moved = C.copy()
                moved[i] += place * step
                column = column + weight * (self._variance(self.system.equivalent.at(moved)) if place else base)
            columns.append(column / step)
        return np.array(columns).T
