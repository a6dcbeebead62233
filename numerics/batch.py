"""Many ridge problems at once: one group, shared activation, target, spike, bulk and alignment.

Points differ in alpha, beta, ridge and label noise. Newton's method runs on all of them in lock step; points that have
converged leave. The equations are those of `numerics.saddle_point` for k = 1, written for arrays; what a point needs
of the functions of kappa is tabulated once (`numerics.profile`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics.least_squares import RANK_TOLERANCE
from numerics.model import Model, ModelError
from numerics.profile import Profile, profile
from numerics.ridge import QUADRATURE_GOAL, QUADRATURE_LIMIT, RESIDUAL_GOAL
from numerics.saddle_point import MOST_ITERATIONS

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

# Entries of one array of (points, nodes): small enough to stay in the cache of a core.
_CHUNK = 1 << 15
_MOST_REFINEMENTS = 5


@dataclass(frozen=True)
class BatchSolution:
    """One entry per point: errors and order parameters as in `Solution` and `OrderParameters` for one group.

    A point that is not accepted or did not converge has converged False, its reason in `status`, and no effect on
    the others; its numbers are not to be used.
    """

    test_error: Array
    training_error: Array
    m: Array
    zeta: Array
    psi: Array
    q1: Array
    q2: Array
    V1: Array
    V2: Array
    residual: Array
    error_estimate: Array
    converged: Flags
    status: tuple[str, ...]


@dataclass
class _Points:
    """Parameters of some points, and their pair (T, tau)."""

    ratio: Array
    beta: Array
    ridge: Array
    noise: Array
    values: Array

    def at(self, index: NDArray[np.intp] | slice) -> _Points:
        return _Points(*(getattr(self, name)[index] for name in ("ratio", "beta", "ridge", "noise", "values")))


@dataclass(frozen=True)
class _Gamma:
    """(T, tau) = Gamma(C, D) and its derivatives, one row per point; `value` (P, 2), `slope` (P, 2, 2)."""

    value: Array
    slope: Array


@dataclass(frozen=True)
class _Table:
    """What one group needs of a profile, stacked for matrix products; features = (mu1^2, mu2^2)."""

    profile: Profile
    features: Array
    conjugates: Array
    curvature: Array
    moments: Array

    @classmethod
    def of(cls, table: Profile) -> _Table:
        w, k, y0, y1 = table.weights, table.kappa, table.y0, table.y1
        mu0, mu1, mu2 = table.mu0[0], table.mu1[0], table.mu2_squared[0]
        one = mu1 * mu1
        moments = np.stack([mu0 * mu0, k * mu0 * mu1, (k * mu1) ** 2, mu0 * y0, k * mu1 * y0, mu1 * y1])
        return cls(
            profile=table,
            features=np.stack([one, mu2]),
            conjugates=np.ascontiguousarray((w * np.stack([one, mu2])).T),
            curvature=np.ascontiguousarray((w * np.stack([one * one, one * mu2, mu2 * mu2])).T),
            moments=np.ascontiguousarray((w * moments).T),
        )


def solve_batch(
    model: Model, *, alpha: ArrayLike, beta: ArrayLike, ridge: ArrayLike, noise: ArrayLike = 0.0, refine: int = 0
) -> BatchSolution:
    """The saddle point at every point of alpha, beta, ridge, noise (broadcast together, flattened in C order).

    Everything else is the model's. Raises ModelError for more than one readout group; a point out of range (ridge
    has to be > 0 here) is marked, not raised.
    """
    if model.unequal_norms:
        raise ModelError("a batch takes an isotropic bulk of rows of equal norm: solve models of a network one by one")
    if len(model.groups) != 1:
        raise ModelError("a batch takes one readout group: solve models with several groups one by one")
    columns = [np.ravel(x) for x in np.broadcast_arrays(*(np.asarray(x, float) for x in (alpha, beta, ridge, noise)))]
    accepted = np.isfinite(columns).all(axis=0) & (np.array(columns[:3]) > 0.0).all(axis=0) & (columns[3] >= 0.0)
    safe = [np.where(accepted, column, 1.0) for column in columns]
    a, b, r, d = safe
    points = _Points(a / b, b, r, d, np.stack([model.bulks[0] / r, 1.0 / r], axis=1))
    extra = 10.0 * np.ceil(max(0.0, -float(np.log(np.min(r, initial=1.0))) - 10.0) / 10.0)
    result = _solved_in_chunks(_Table.of(profile(model, refine, refine, extra)), points, model)
    moved = np.full(len(a), np.inf)
    pending = np.arange(len(a))
    for level in range(refine + 1, refine + 1 + _MOST_REFINEMENTS):
        table = _Table.of(profile(model, level, refine, extra))
        start = points.at(pending)
        start.values = result[pending, 7:9]
        finer = _solved_in_chunks(table, start, model)
        moved[pending] = np.abs(finer[:, 0] - result[pending, 0])
        result[pending] = finer
        pending = pending[moved[pending] > QUADRATURE_GOAL * (1.0 + np.abs(finer[:, 0]))]
        if not len(pending):
            break
    moved += table.profile.unresolved * (1.0 + np.abs(result[:, 0]))
    return _judged(result, moved, accepted)


def _solved_in_chunks(table: _Table, points: _Points, model: Model) -> Array:
    """Rows (test error, training error, m, zeta, psi, q1, q2, V1, V2, residual), one per point."""
    size = max(1, _CHUNK // table.features.shape[1])
    rows = np.empty((len(points.beta), 10))
    for i in range(0, len(rows), size):
        rows[i : i + size] = _solved(table, points.at(slice(i, i + size)), model.bulks[0])
    return rows


def _solved(table: _Table, points: _Points, bulk: float) -> Array:
    with np.errstate(all="ignore"):  # a point that goes wrong becomes NaN, and is marked by its residual
        _newton(table, points, bulk)
        return _linear(table, points, bulk)


def _newton(table: _Table, points: _Points, bulk: float) -> None:
    """Lock-step Newton for x = F(x) from above, in place."""
    active = np.arange(len(points.beta))
    previous = np.full(len(active), np.inf)
    for _ in range(MOST_ITERATIONS):
        some = points.at(active)
        x = some.values
        _, gamma, slope = _map(table, some, bulk)
        gap = x - gamma.value
        size = np.max(np.abs(gap) / np.abs(x), axis=1)
        going = ~((size < 1e-15) | ((size < 1e-13) & (size >= previous)))
        going &= np.isfinite(size)
        if not np.any(going):
            return
        active, previous = active[going], size[going]
        points.values[active] = x[going] - _solve_pairs(slope[going], gap[going])


def _map(table: _Table, points: _Points, bulk: float) -> tuple[Array, _Gamma, Array]:
    """1/(1+V) on the nodes (P, n), Gamma at (C, D), and 1 - dF/dx (P, 2, 2)."""
    inverse = 1.0 / (1.0 + points.values @ table.features)
    conjugates = points.ratio[:, None] * (inverse @ table.conjugates)
    gamma = _gamma(conjugates, points, bulk)
    second = points.ratio[:, None] * ((inverse * inverse) @ table.curvature)
    bend = second[:, [0, 1, 1, 2]].reshape(-1, 2, 2)
    return inverse, gamma, np.eye(2) + gamma.slope @ bend


def _gamma(conjugates: Array, points: _Points, bulk: float) -> _Gamma:
    """The closed form of `deterministic_equivalent.IsotropicUniform`, for arrays."""
    beta, shift, spread = points.beta, points.ridge + conjugates[:, 1], bulk * conjugates[:, 0]
    linear = shift + (1.0 - beta) * spread
    quadratic = shift * spread * beta
    root = np.sqrt(linear * linear + 4.0 * quadratic)
    tau = np.where(linear >= 0.0, 2.0 / (linear + root), (root - linear) / (2.0 * quadratic))
    inner = 1.0 + beta * spread * tau
    tau_shift, tau_spread = -tau * inner / root, -tau / (inner * root)
    scale = bulk / inner**2
    value = np.stack([bulk * tau / inner, tau], axis=1)
    slope = np.empty((len(tau), 2, 2))
    slope[:, 0, 0] = scale * (tau_spread - beta * tau * tau) * bulk
    slope[:, 0, 1] = scale * tau_shift
    slope[:, 1, 0] = tau_spread * bulk
    slope[:, 1, 1] = tau_shift
    return _Gamma(value, slope)


def _solve_pairs(matrix: Array, right: Array) -> Array:
    """Solutions of 2 x 2 systems, by Cramer's rule."""
    a, b, c, d = matrix[:, 0, 0], matrix[:, 0, 1], matrix[:, 1, 0], matrix[:, 1, 1]
    determinant = a * d - b * c
    x, y = right[:, 0], right[:, 1]
    return np.stack([(d * x - b * y) / determinant, (a * y - c * x) / determinant], axis=1)


def _linear(table: _Table, points: _Points, bulk: float) -> Array:
    """All that follows linearly, and the residual over all unknowns."""
    x = points.values
    inverse, gamma, slope = _map(table, points, bulk)
    g00, g01, g11, f0, f1, force = (inverse @ table.moments).T
    stiffness = points.ratio * points.beta * bulk * x[:, 1]
    grip = stiffness / (1.0 + stiffness * g11)
    whole = g00 + inverse @ (table.profile.weights * (table.features[0] + table.features[1]))
    m = np.where(g00 > RANK_TOLERANCE**2 * whole, (f0 - g01 * grip * f1) / (g00 - g01 * grip * g01), 0.0)
    zeta = grip * (f1 - g01 * m)
    zeta_force = f1 - g01 * m - g11 * zeta
    psi = points.ratio * points.beta * x[:, 0] * force
    fixed = _fixed_error(table.profile, m, zeta, psi, points.noise)
    squared = inverse * inverse
    ratio = points.ratio[:, None]
    base = ratio * ((squared * fixed) @ table.conjugates)
    pull = (points.ratio**2 * points.beta)[:, None]
    signal = pull * (zeta_force**2 * bulk * gamma.slope[:, 1].T + force**2 * gamma.slope[:, 0].T).T
    q = _solve_pairs(slope, -_apply(gamma.slope, base) - signal)
    error = fixed + q @ table.features
    hats = ratio * ((squared * error) @ table.conjugates)
    test = error @ table.profile.weights - points.noise
    training = (squared * error) @ table.profile.weights
    image_m = m + np.where(g00 > RANK_TOLERANCE**2 * whole, (f0 - g00 * m - g01 * zeta) / g00, 0.0)
    image_zeta = zeta + (stiffness * zeta_force - zeta) / (1.0 + stiffness * g11)
    image_q = -_apply(gamma.slope, hats) - signal
    pairs = [(m, image_m), (zeta, image_zeta), (x, gamma.value), (q, image_q)]
    residual = np.max([_gap(unknown, image) for unknown, image in pairs], axis=0)
    return np.column_stack([test, training, m, zeta, psi, q, x, residual])


def _fixed_error(table: Profile, m: Array, zeta: Array, psi: Array, noise: Array) -> Array:
    prediction = np.outer(m, table.mu0[0])
    prediction += np.outer(zeta, table.kappa * table.mu1[0])
    prediction -= table.y0
    np.square(prediction, out=prediction)
    prediction += table.spread + table.y1 * table.y1
    prediction -= np.outer(2.0 * psi, table.y1 * table.mu1[0])
    prediction += noise[:, None]
    return prediction


def _apply(matrices: Array, vectors: Array) -> Array:
    return np.asarray(np.einsum("pij,pj->pi", matrices, vectors))


def _gap(unknown: Array, image: Array) -> Array:
    gap = np.abs(unknown - image) / (1.0 + np.abs(unknown))
    return gap if gap.ndim == 1 else np.max(gap, axis=1)


def _judged(rows: Array, moved: Array, accepted: Flags) -> BatchSolution:
    residual, scale = rows[:, 9], 1.0 + np.abs(rows[:, 0])
    solved = (residual <= RESIDUAL_GOAL) & np.isfinite(rows).all(axis=1)
    resolved = moved <= QUADRATURE_LIMIT * scale
    reasons = (
        "not accepted: alpha, beta and ridge have to be > 0 and finite in a batch, noise >= 0",
        "not converged: the residual is too large; a larger ridge makes the problem better conditioned",
        "not converged in the quadrature: doubling the rule along the spike still moves the test error",
        "converged",
    )
    codes = np.where(~accepted, 0, np.where(~solved, 1, np.where(~resolved, 2, 3)))
    test, training, m, zeta, psi, q1, q2, overlap, tau = rows[:, :9].T
    return BatchSolution(
        test_error=test,
        training_error=training,
        m=m,
        zeta=zeta,
        psi=psi,
        q1=q1,
        q2=q2,
        V1=overlap,
        V2=tau,
        residual=residual,
        error_estimate=moved,
        converged=codes == 3,
        status=tuple(reasons[code] for code in codes),
    )
