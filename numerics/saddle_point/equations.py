"""The saddle point of the ridge readout, any number of groups (Result 3.3 and Appendix D of arXiv 2402.04980).

Only the pair (T, tau) solves nonlinear equations, x = F(x) with F = Gamma o (C, D),

    C_ab = (alpha/beta) E[mu1_a mu1_b/(1+V)],  D_a = (alpha/beta) E[mu2_a^2/(1+V)],
    V(kappa) = sum_ab mu1_a mu1_b T_ab + sum_a mu2_a^2 tau_a.

F is increasing and concave, in the Loewner order for several groups: S^-1 is a matrix harmonic mean of terms linear in
(T, tau). So there is one solution for ridge > 0 (claims one-solution.* of the ledger), and Newton's method decreases to
it from any point x >= F(x), such as Gamma(0, 0). All else is linear.

The functions here take a table of the functions of kappa and an equivalent; `numerics.saddle_point.ridge.solve` takes a
model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.bulk.equivalent import (
    DeterministicEquivalent,
    EquivalentPoint,
    groups_of,
    unpack,
    upper_triangle,
)
from giantsteps.numerics.gaussian.least_squares import RANK_TOLERANCE, least_norm
from giantsteps.numerics.gaussian.quadrature import ROUNDING
from giantsteps.numerics.saddle_point.profile import Number, Profile

Array = NDArray[np.float64]

MOST_ITERATIONS = 80
_TINY = 1e-300
_NEAR = 1e-5  # of a gap: two steps of Newton's method from rounding


@dataclass(frozen=True)
class NonlinearPart:
    """The solved pair (T, tau), packed, with the equivalent there and the slope of F.

    inverse is 1/(1+V) on the nodes; slope = dF/dx. gap: |x - F(x)| over the size of x, what Newton's method left.
    """

    values: Array
    conjugates: Array
    point: EquivalentPoint
    inverse: Array
    slope: Array
    iterations: int
    converged: bool
    gap: float


def at_rounding(gap: float, previous: float) -> bool:
    """Whether Newton's method has ended. Near the solution a step squares the gap |x - F(x)|: one that does not halve
    it is at the rounding of F, and what the gap moves the test error by is part of `LinearPart.rounding`.
    """
    return gap < 1e-15 or (gap < _NEAR and gap >= 0.5 * previous)


def nonlinear_part(
    table: Profile, equivalent: DeterministicEquivalent, ratio: float, start: Array | None = None, unit: float = 1.0
) -> NonlinearPart:
    """Solve x = Gamma(C(x), D(x)) by Newton's method; ratio = alpha/beta, and unit stands for the 1 in 1 + V.

    A start that is not above the solution is harmless: a step leads above it, or to something negative, and then the
    search begins again higher up.
    """
    above = equivalent.largest()
    values = above if start is None else start
    identity = np.eye(len(values))
    previous = math.inf
    converged = False
    for iteration in range(1, MOST_ITERATIONS + 1):  # noqa: B007  (the count is returned)
        inverse, conjugates, point, slope = _evaluate(table, equivalent, ratio, values, unit)
        gap = values - point.values
        sizes = _magnitude(values)
        size = float((np.abs(gap) / sizes).max()) if sizes.min() > 0.0 else math.inf
        # It may end at a T that is none.
        ended = at_rounding(size, previous)
        converged = ended and bool(unpack(values)[0].diagonal().min() > 0.0)
        if converged:
            break
        previous = size
        moved = values - _solution(identity - slope, gap, sizes)
        if moved[-equivalent.groups :].min() > 0.0 and not ended:
            values = moved
        else:
            values, above = above, 10.0 * above
    return NonlinearPart(values, conjugates, point, inverse, slope, iteration, converged, size)


def _solution(matrix: Array, right: Array, sizes: Array) -> Array:
    """x with matrix x = right; two unknowns by Cramer's rule, faster than LAPACK; NaN if singular.

    `sizes` are about those of the unknowns, which differ by many powers of ten: elimination may not mix them.
    """
    if len(right) == 2:
        (a, b), (c, d) = matrix.tolist()
        x, y = right.tolist()
        determinant = a * d - b * c
        if determinant != 0.0:
            return np.array([(d * x - b * y) / determinant, (a * y - c * x) / determinant])
        return np.full(2, math.nan)
    try:
        sizes = np.where(sizes > 0.0, sizes, 1.0)
        balanced = np.linalg.solve(matrix * sizes / sizes[:, None], right / sizes)
        return np.asarray(sizes * balanced, dtype=float)
    except np.linalg.LinAlgError:
        return np.full(len(right), math.nan)


def _magnitude(values: Array) -> Array:
    """sqrt(T_aa T_bb) beside T_ab and tau_a beside itself: an off-diagonal T_ab may be zero."""
    if len(values) == 2:
        return np.abs(values)
    rows, columns = upper_triangle(groups_of(len(values)))
    sizes = np.abs(values)
    root = np.sqrt(sizes[: len(rows)][rows == columns])
    return np.concatenate([root[rows] * root[columns], sizes[len(rows) :]])


def _evaluate(
    table: Profile, equivalent: DeterministicEquivalent, ratio: float, values: Array, unit: float
) -> tuple[Array, Array, EquivalentPoint, Array]:
    """1/(unit + V), (C, D), Gamma there, and dF/dx at x = (T, tau)."""
    inverse = 1.0 / (unit + values @ table.multiplied_features)
    conjugates = ratio * (table.weighted_features @ inverse)
    point = equivalent.at(conjugates)
    curvature = ratio * (table.weighted_features * (inverse * inverse)) @ table.multiplied_features.T
    return inverse, conjugates, point, -point.jacobian @ curvature


@dataclass(frozen=True)
class LinearPart:
    """All that follows linearly from the nonlinear part; q packed as (Q, q2), forces as (zeta, psi) of 2k entries.

    rounding: about how far the test error moves per rounding of one operation. That is the largest relative change of
    (T, tau), and so of q, when operations and tabulated functions in F change by one part, and x - F(x) by the gap that
    is left, times the sizes of the terms that the test error is the sum of; and what moves the fit (`fit_rounding`).
    Infinite where the fit is `undecided`.
    """

    m: Array
    overlaps: Array
    forces: Array
    q: Array
    hats: Array
    test_error: float
    training_error: float
    rounding: float


def linear_part(
    table: Profile,
    solved: NonlinearPart,
    ratio: float,
    noise: float,
    unit: float = 1.0,
    width: float = math.inf,
    rough: bool = False,
) -> LinearPart:
    """m, (zeta, psi), (Q, q2) and the errors, given the nonlinear part.

    At a finite `width` the means have their cost (`numerics.saddle_point.finite_width`). `rough`: the rounding is not
    asked for, and NaN.
    """
    weights = table.weights * solved.inverse
    overlap = ratio * solved.point.overlap
    psi_force = table.mu1 @ (weights * table.y1)
    tau = solved.values[-table.groups :]
    count = len(table.along)
    if math.isfinite(width):
        given = overlap[:count, count:] @ psi_force
        m, zeta = held_fit(table.mu0, table.along, weights, table.y0, ratio * width * tau, overlap, given)
        zeta_force = _zeta_force(table, weights, m, zeta)
    else:
        m, zeta, zeta_force = fit_with_force(table, weights, overlap, psi_force, tau)
    forces = np.concatenate([zeta_force, psi_force])
    # zeta from the fit, not through its force, which may be a small difference of large terms.
    overlaps = np.concatenate([zeta, (overlap @ forces)[count:]])
    fixed = _fixed_error(table, table.y0 - _prediction(table, m, zeta), overlaps[count:], noise)
    squared = weights * solved.inverse
    signal = _signal(table.groups, ratio, forces, solved.point)
    if math.isfinite(width):
        signal = signal + (m**2 / (width * tau**2)) @ solved.point.jacobian[-table.groups :] / multiplicity(
            table.groups
        )
    right = -solved.point.jacobian @ (ratio * (table.features @ (squared * fixed))) - signal
    matrix = np.eye(len(right)) - solved.slope
    sizes = _magnitude(solved.values)
    q = _solution(matrix, right, sizes)
    quadratic = q @ table.multiplied_features
    error = fixed + quadratic
    rounding = math.nan
    if not rough:
        cross = 2.0 * float(table.weights @ (table.y1 * (overlaps[count:] @ table.mu1)))
        condition = _condition(matrix, sizes) * (
            1.0 + solved.point.lost + _roughness(table, weights, squared, solved.values) + solved.gap / ROUNDING
        )
        whole, parts = float(table.weights @ fixed), float(table.weights @ np.abs(quadratic))
        fitted = _fit_rounding(table, weights, m, zeta, overlap)
        magnitude = whole + parts + cross + abs(cross)
        # The roundings of k groups add up: two that mirror each other were 1.03 times the estimate for one.
        rounding = len(m) * in_all(magnitude, condition, fitted, whole + cross)
        rounding = math.inf if not math.isfinite(width) and undecided(table, weights) else rounding
    return LinearPart(
        m=m,
        overlaps=overlaps,
        forces=forces,
        q=q,
        hats=ratio * (table.features @ (squared * error)),
        test_error=float(table.weights @ error) - noise,
        training_error=unit**2 * float(squared @ error),
        rounding=rounding,
    )


def _fit_rounding(table: Profile, weights: Array, m: Array, zeta: Array, overlap: Array) -> float:
    """`fit_rounding` of yhat = sum_a m_a mu0_a + sum_i zeta_i along_i, and that of the forces."""
    left = float(table.weights @ (table.y0 - _prediction(table, m, zeta)) ** 2)
    present = _present(table, weights)
    shares = np.sqrt(table.squares @ weights)[present] / np.sqrt(table.mu0**2 @ weights)[present]
    terms = float(np.concatenate([np.abs(m), np.abs(zeta), [1.0]]) @ table.reaches)
    return fit_rounding(left, terms, float(shares.max(initial=0.0))) + _force_rounding(table, weights, overlap, left)


def fit_rounding(left: Number, terms: Number, share: Number) -> Number:
    """How far E[(y0 - yhat)^2] = `left` moves per rounding of the functions that yhat is made of.

    A function of the rows is an average of the activation, and is known to eps of the activation's size. `terms` is the
    sum of these sizes times their coefficients, the norm of what is left off by terms eps: 2 sqrt(left) terms eps and
    the square of it. The coefficient of a mean that is `share` times smaller than the activation moves by share eps.
    """
    moved: Number = 2.0 * (left**0.5 * terms + left * share) + ROUNDING * terms**2
    return moved


def _force_rounding(table: Profile, weights: Array, overlap: Array, left: float) -> float:
    """How far the errors of the forces, averages of mu1 over 1/(1+V), move E[(y0 - yhat)^2] - 2 psi E[y1 mu1].

    Where the features saturate V vanishes, and mu1 with it but for rounding, which weighs as much as all the rest.
    """
    count, spiked = len(table.along), table.groups * table.rank
    known = table.force_scatter @ weights
    along = np.concatenate([known[:spiked], np.zeros(count - spiked)])
    stiff = overlap[:count, :count]
    gram = (table.along * weights) @ table.along.T
    zeta = np.abs(np.linalg.solve(np.eye(count) + stiff @ gram, stiff @ along))
    psi = np.abs(overlap[count:, count:]) @ known[spiked:]
    across = np.abs(table.mu1 * table.y1) @ table.weights
    return 2.0 * float(math.sqrt(left) * (zeta @ table.along_norms) + psi @ across)


def in_all(magnitude: Number, condition: Number, fitted: Number, fixed: Number) -> Number:
    """The `rounding` of a `LinearPart`: what moves the sum `fixed` of the positive terms without q, moves q with it."""
    return magnitude * (condition + fitted / (fixed + _TINY))


def undecided(table: Profile, weights: Array) -> bool:
    """Whether a function mu0_a that is not zero is lost in the rounding of the activation.

    Without a spike mu0_a is a number, and one below rounding is taken for zero: that of an activation without mean.
    With one, E sigma(r kappa + sqrt(c) z) vanishes nowhere else than for sigma = 0; and however small it is, in the
    limit of infinite width m_a may be any size, so that the fit of y0 makes use of it.
    """
    return bool(np.any(table.losable & ~_present(table, weights)))


def _roughness(table: Profile, weights: Array, squared: Array, values: Array) -> float:
    """The relative rounding of C and D, per eps, through that of the functions they are integrals of.

    sqrt(c_a) mu1_a and mu2_a come to eps times the size of the activation, which moves V where they are small beside
    it: for one group by 2 eps size (|mu1| T/sqrt(c) + mu2 tau). For several directions of the spike mu2_a^2 comes to
    eps times the square of that size: it is interpolated.
    """
    overlap, tau = unpack(values)
    size, mu1 = np.sqrt(table.squares), np.abs(table.mu1)
    mu2 = np.sqrt(np.maximum(table.mu2_squared, 0.0)) if table.rank == 1 else 0.5 * size
    moved = 2.0 * (table.scatter * (np.abs(overlap) @ mu1) + size * (tau[:, None] * mu2)).sum(axis=0)
    functions = np.concatenate([table.mu1**2, table.mu2_squared])
    conjugates = functions @ weights
    return float(((functions @ (squared * moved)) / np.where(conjugates > 0.0, conjugates, math.inf)).max())


def _condition(matrix: Array, sizes: Array) -> float:
    """The largest change of an unknown x over its size, for a change of F by as much as all sizes: |(1 - dF/dx)^-1|."""
    if not np.isfinite(matrix).all():
        return math.inf
    try:
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return math.inf
    return float((np.abs(inverse) @ sizes / np.where(sizes > 0.0, sizes, math.inf)).max())


def fit_with_force(
    table: Profile, weights: Array, overlap: Array, psi_force: Array, tau: Array
) -> tuple[Array, Array, Array]:
    """(m, zeta) and zeta_force = E[along (y0 - yhat)/(1+V)].

    They solve E[mu0_a (y0 - yhat)/(1+V)] = 0 and zeta = A zeta_force + B psi_force, A and B blocks of K.

    This is the least-squares problem min E[(y0 - yhat)^2/(1+V)] + zeta' A^-1 zeta'. Its Gram matrix in m is singular
    when functions mu0_a coincide up to sign or vanish: then the m of least sum_a m_a^2/tau_a is taken, which gives
    m = 0 where mu0 = 0 (the term of order 1/p that the limit drops would choose it).
    """
    along = table.along
    count = len(along)
    root = np.sqrt(weights)
    if not (np.isfinite(root).all() and np.isfinite(overlap).all()):
        return np.full(table.groups, math.nan), np.full(count, math.nan), np.full(count, math.nan)
    vectors, roots = _square_root(overlap[:count, :count])
    factor = vectors * roots
    given = overlap[:count, count:] @ psi_force
    y = np.concatenate([root * (table.y0 - given @ along), np.zeros(count)])
    spike = np.vstack([(root * along).T @ factor, np.eye(count)])
    basis, triangle = np.linalg.qr(spike)
    means = np.zeros((len(y), table.groups))
    means[:-count] = (root * np.where(_present(table, weights)[:, None], table.mu0, 0.0)).T * np.sqrt(tau)
    free = means - basis @ (basis.T @ means)
    scaled = least_norm(free, y, _size(table, weights, tau))
    held = np.linalg.solve(triangle, basis.T @ (y - means @ scaled))
    m, zeta = np.sqrt(tau) * scaled, given + factor @ held
    # held = F^T force with A = F F^T. Where A is stiff the force is a small difference of large terms, and held is not.
    direct = vectors.T @ _zeta_force(table, weights, m, zeta)
    stiff = roots * np.sqrt(np.sum(((root * along).T @ vectors) ** 2, axis=0)) > 1.0
    return m, zeta, vectors @ np.where(stiff, held / np.where(stiff, roots, 1.0), direct)


def held_fit(
    mu0: Array, along: Array, weights: Array, y0: Array, stiffness: Array, overlap: Array, given: Array
) -> tuple[Array, Array]:
    """m and zeta (k,): E[mu0 (y0 - yhat)/(1+V)] = m/stiffness and zeta = A E[along (y0 - yhat)/(1+V)] + given.

    Least squares with |m|^2/stiffness beside the squares, whose columns never coincide.
    """
    groups, count = len(mu0), len(along)
    root = np.sqrt(weights)
    stiff = np.sqrt(stiffness)
    if not (np.isfinite(root).all() and np.isfinite(overlap).all() and np.isfinite(stiff).all()):
        return np.full(groups, math.nan), np.full(count, math.nan)
    # zeta = given + F c with A = F F^T and |c|^2 beside the squares: A is singular where a group's rows have one norm.
    vectors, roots = _square_root(overlap[:count, :count])
    factor = vectors * roots
    functions = np.concatenate([stiff[:, None] * mu0, factor.T @ along])
    basis, triangle = np.linalg.qr(np.vstack([(root * functions).T, np.eye(groups + count)]))
    both = np.linalg.solve(triangle, basis[: len(root)].T @ (root * (y0 - given @ along)))
    return stiff * both[:groups], given + factor @ both[groups:]


def _square_root(matrix: Array) -> tuple[Array, Array]:
    """Eigenvectors U and roots s of a positive semidefinite matrix: U diag(s) is a root of it, with columns of zeros
    where no neuron has an overlap."""
    values, vectors = np.linalg.eigh(matrix)
    return vectors, np.sqrt(np.maximum(values, 0.0))


def _present(table: Profile, weights: Array) -> NDArray[np.bool_]:
    """Which functions mu0_a are more than rounding relative to the whole activation of their group."""
    return np.asarray(table.mu0**2 @ weights > RANK_TOLERANCE**2 * (table.squares @ weights))


def _size(table: Profile, weights: Array, tau: Array) -> float:
    """The size that mu0 sqrt(tau/(1+V)) would have if it were the whole activation."""
    return math.sqrt(float(tau.max()) * float((table.squares @ weights).sum()))


def _prediction(table: Profile, m: Array, zeta: Array) -> Array:
    """yhat = sum_a mu0_a m_a + kappa sum_a mu1_a zeta_a, and chi dmu0/dc where norms vary: zeta brings chi along."""
    return m @ table.mu0 + zeta @ table.along


def _zeta_force(table: Profile, weights: Array, m: Array, zeta: Array) -> Array:
    return table.along @ (weights * (table.y0 - _prediction(table, m, zeta)))


def _fixed_error(table: Profile, deviation: Array, psi: Array, noise: float) -> Array:
    """The part of e2 without Q and q2, written as a sum of squares before the one cross term; deviation: y0 - yhat."""
    return deviation**2 + table.spread + noise + table.y1 * (table.y1 - 2.0 * (psi @ table.mu1))


def _signal(groups: int, ratio: float, forces: Array, point: EquivalentPoint) -> Array:
    """Derivatives of (alpha/beta)^2 f.K f at fixed forces f, in the directions (E_ab + E_ba)/2 of C and D_a."""
    signal: Array = ratio**2 * (point.overlap_jacobian() @ forces @ forces)
    return signal / multiplicity(groups)


@dataclass(frozen=True)
class State:
    """All unknowns of the saddle point on one rule."""

    values: Array
    conjugates: Array
    m: Array
    overlaps: Array
    forces: Array
    q: Array
    hats: Array


def residual(
    table: Profile, equivalent: DeterministicEquivalent, ratio: float, noise: float, state: State, unit: float = 1.0
) -> float:
    """max over all unknowns of |x - F(x)|/(1 + |x|), every F recomputed from the unknowns themselves.

    The equation for zeta_a is solved for zeta_a. That of m_a reads m_a = m_a + E[mu0_a (y0 - yhat)/(1+V)]/(|mu0_a|
    max_b |mu0_b|), norms with weight 1/(1+V): for one group, equation (18); for more, it does not ask a mean that is
    small beside the others for digits that the prediction does not depend on. Where large means cancel in yhat, what is
    left of the equation for zeta_a is no gap as far as it is the rounding of its terms (`fit_rounding` has its effect).
    """
    inverse = 1.0 / (unit + state.values @ table.multiplied_features)
    conjugates = ratio * (table.weighted_features @ inverse)
    point = equivalent.at(conjugates)
    there = point if np.array_equal(conjugates, state.conjugates) else equivalent.at(state.conjugates)
    weights, count = table.weights * inverse, len(table.along)
    zeta = state.overlaps[:count]
    deviation = table.y0 - _prediction(table, state.m, zeta)
    left = weights * deviation
    forces = np.concatenate([table.along @ left, table.mu1 @ (weights * table.y1)])
    overlaps = ratio * point.overlap @ forces
    own = 1.0 + ratio * point.overlap.diagonal()[:count] * (table.along**2 @ weights)
    terms = (np.abs(table.along) * weights) @ (np.abs(state.m) @ np.abs(table.mu0))
    rounding = np.finfo(float).eps * ratio * np.abs(point.overlap[:count, :count]) @ terms
    gap = overlaps[:count] - zeta
    overlaps[:count] = zeta + np.sign(gap) * np.maximum(np.abs(gap) - rounding, 0.0) / own
    norms, present = np.sqrt(table.mu0**2 @ weights), _present(table, weights)
    m = np.where(present, state.m + table.mu0 @ left / np.where(present, norms * norms.max(), 1.0), 0.0)
    error = _fixed_error(table, deviation, state.overlaps[count:], noise) + state.q @ table.multiplied_features
    hats = ratio * (table.features @ (weights * inverse * error))
    q = -point.jacobian @ state.hats - _signal(table.groups, ratio, state.forces, there)
    unknowns = (state.values, state.conjugates, state.m, state.overlaps, state.forces, state.hats, state.q)
    found = np.concatenate(unknowns)
    images = np.concatenate([there.values, conjugates, m, overlaps, forces, hats, q])
    return float((np.abs(found - images) / (1.0 + np.abs(found))).max())


@lru_cache(maxsize=64)
def multiplicity(groups: int) -> Array:
    """How often an entry of the packed vector occurs in (C, D): 2 off the diagonal of the matrix, 1 elsewhere."""
    rows, columns = upper_triangle(groups)
    return np.concatenate([np.where(rows == columns, 1.0, 2.0), np.ones(groups)])
