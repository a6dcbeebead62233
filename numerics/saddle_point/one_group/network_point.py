"""The ridge saddle point of one group with a network's own bulk: the equations of `numerics.saddle_point.equations` in
scalars.

As in `one_group.point`, with a second function beside kappa mu1, that of the rows' norm, and with a map Gamma that has
no closed form: (x, b1, b2) of `numerics.bulk.network` are found together with (T, tau), by one Newton step of each at a
time, so that averages over labels are taken once for every step. The fit is the least-squares problem of
`equations.fit_with_force`, by orthogonal columns.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.bulk.equivalent import IsotropicUniform
from giantsteps.numerics.bulk.network import NetworkBulk, relative
from giantsteps.numerics.gaussian.least_squares import RANK_TOLERANCE
from giantsteps.numerics.gaussian.quadrature import ROUNDING
from giantsteps.numerics.saddle_point.equations import (
    MOST_ITERATIONS,
    LinearPart,
    NonlinearPart,
    at_rounding,
    nonlinear_part,
)
from giantsteps.numerics.saddle_point.one_group.point import (
    Pair,
    Problem,
    errors,
    isotropic_values,
    one_minus,
    solve_pair,
)
from giantsteps.numerics.saddle_point.profile import OneGroupTable

Array = NDArray[np.float64]

# A step of this size squares to less than rounding: where it was made, the next one is rounding if it is as small as
# any that counts as such.
_FULL, _SMALL = 1e-8, 1e-13
# Of the start: few digits of the other bulk's solution are right.
_ROUGHLY = 0.01


def solve_nonlinear(
    table: OneGroupTable, bulk: NetworkBulk, ratio: float, start: Array | None = None, unit: float = 1.0
) -> NonlinearPart:
    """x = F(x) as `equations.nonlinear_part`, which takes over, from above, where two steps at once lead nowhere."""
    found = _together(table, bulk, ratio, start, unit)
    return nonlinear_part(table.profile, bulk, ratio, None, unit) if found is None else found


def _together(
    table: OneGroupTable, bulk: NetworkBulk, ratio: float, start: Array | None, unit: float
) -> NonlinearPart | None:
    """Newton's method for (T, tau) and (x, b1, b2); none where it leaves the region of solutions or finds none.

    It begins at the solution for the isotropic bulk, or at a start that is beside a solution which `bulk` has kept.
    """
    if start is None:
        alike = Problem(IsotropicUniform(bulk.ridge, bulk.beta, bulk.bulk), ratio, 0.0, unit)
        overlap, tau = isotropic_values(table, alike, _ROUGHLY)
    else:
        overlap, tau = start.tolist()
    place: list[float] = []
    previous = math.inf
    for iteration in range(1, MOST_ITERATIONS + 1):
        if not (overlap > 0.0 and tau > 0.0):
            return None
        inverse = 1.0 / (table.rows @ np.array([overlap, tau, unit]))
        C, D = (ratio * (table.conjugates @ inverse)).tolist()
        place = place or bulk.begun(C, D, near=start is not None)
        if not bulk.inside(bulk.ridge + D, place):
            return None
        bend = (ratio * (table.curvature @ (inverse * inverse))).tolist()
        step = bulk.step(C, D, place)
        gaps = overlap - step.values[0], tau - step.values[1]
        size = max(abs(gaps[0]) / overlap, abs(gaps[1]) / tau, relative(step.move, place))
        matrix = one_minus(step.jacobian, bend)
        if at_rounding(size, previous) or (size < _SMALL and previous < _FULL):
            conjugates, slope = np.array([C, D]), np.eye(2) - np.array(matrix).reshape(2, 2)
            point = bulk.kept(conjugates, step, place)
            return NonlinearPart(np.array([overlap, tau]), conjugates, point, inverse, slope, iteration, True, size)
        previous = size
        first, second = solve_pair(matrix, *gaps)
        overlap, tau = overlap - first, tau - second
        # C and D decrease in T and tau.
        by_C, by_D = bend[0] * first + bend[1] * second, bend[1] * first + bend[2] * second
        moves = zip(place, step.move, step.slopes, strict=True)
        place = [at + move + p * by_C + q * by_D for at, move, (p, q) in moves]
    return None


def solve_linear(
    table: OneGroupTable, solved: NonlinearPart, ratio: float, noise: float, unit: float, rough: bool
) -> LinearPart:
    """m, (zeta, chi, psi), (Q, q2) and the errors as `equations.linear_part`."""
    inverse, square = solved.inverse, solved.inverse * solved.inverse
    overlap: list[list[float]] = (ratio * solved.point.overlap).tolist()
    moments: list[float] = (table.moments @ inverse).tolist()
    psi_force = moments[-1]
    m, zeta, chi, zeta_force, chi_force, share = _fit(table, inverse, overlap, psi_force, moments[0])
    forces = np.array([zeta_force, chi_force, psi_force])
    psi = float(np.dot(overlap[2], forces))
    by_C, by_D = (ratio**2 * (solved.point.overlap_jacobian() @ forces @ forces)).tolist()
    (a, b), (c, d) = solved.point.jacobian.tolist()
    first, second = solved.values.tolist()
    bend = (ratio * (table.curvature @ square)).tolist()
    q, hats, *found = errors(
        table, (ratio, noise, unit), (first, second),
        (inverse, square, solved.conjugates.tolist(), (first, second), (a, b, c, d), bend),
        (m, zeta, chi), psi, (by_C, by_D),
        known=None if rough else (share, *_known(table, inverse, overlap, moments)),
        lost=solved.point.lost + solved.gap / ROUNDING,
    )  # fmt: skip
    return LinearPart(np.array([m]), np.array([zeta, chi, psi]), forces, np.array(q), np.array(hats), *found)


def _fit(
    table: OneGroupTable, inverse: Array, overlap: list[list[float]], psi_force: float, norm: float
) -> tuple[float, float, float, float, float, float]:
    """m, zeta, chi, the forces of the last two, and how many times smaller than the activation mu0 is: infinitely where
    the fit is `equations.undecided`. As `equations.fit_with_force`, with the columns of the spike first; `norm` is
    E[mu0^2/(1+V)].
    """
    (a, b, given), (_, d, pulled) = overlap[0], overlap[1]
    given, pulled = given * psi_force, pulled * psi_force
    nothing = (math.nan,) * 6
    if not math.isfinite(a + b + d + given + pulled):
        return nothing
    vectors, roots = _square_root(a, b, d)
    (c, s), (r1, r2) = vectors, roots
    mix = np.array([
        [0.0, r1 * c, r1 * s, 0.0], [0.0, -r2 * s, r2 * c, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, -given, -pulled, 1.0],
    ])  # fmt: skip
    nodes = len(inverse)
    columns = np.zeros((4, nodes + 2))
    np.matmul(mix, table.roots * np.sqrt(inverse), out=columns[:, :nodes])
    columns[0, nodes] = columns[1, nodes + 1] = 1.0
    # Gram and Schmidt, each column from what the ones before it leave of it: y among them, that is as good as
    # reflections, in a third of the time.
    triangle = []
    for k in range(3):
        column = columns[k]
        products = columns[k:] @ column
        # A column of zeros has no direction, and takes nothing from the others.
        products /= math.sqrt(products[0]) or math.inf
        triangle.append(products.tolist())
        columns[k + 1 :] -= np.multiply.outer(products[1:] / (products[0] or math.inf), column)
    (n1, t, p1, y1), (n2, p2, y2), (free, y3) = triangle
    if not math.isfinite(y1 + y2):
        return nothing
    size = float(table.sizes @ inverse)
    held = norm > RANK_TOLERANCE**2 * size
    scaled = y3 / free if held and abs(free) > 0.01 * RANK_TOLERANCE * math.sqrt(size) else 0.0
    h2 = (y2 - p2 * scaled) / n2
    h1 = (y1 - p1 * scaled - t * h2) / n1
    zeta, chi = given + c * r1 * h1 - s * r2 * h2, pulled + s * r1 * h1 + c * r2 * h2
    left = table.profile.weights * inverse * (table.lines @ np.array([scaled, zeta, chi, 1.0]))
    _, x, y, _ = (-(left @ table.lines)).tolist()
    # Where a direction is stiff its force is a small difference of large terms, and h is not. A column's own 1 is in n.
    first = h1 / r1 if n1 * n1 > 2.0 else c * x + s * y
    second = h2 / r2 if t * t + n2 * n2 > 2.0 else c * y - s * x
    share = math.sqrt(size / norm) if held else table.lost
    return scaled, zeta, chi, c * first - s * second, s * first + c * second, share


def _square_root(a: float, b: float, d: float) -> tuple[Pair, Pair]:
    """cos and sin of the first eigenvector of [[a, b], [b, d]], and the roots of both eigenvalues, none negative."""
    if b == 0.0:
        return (1.0, 0.0), (math.sqrt(max(a, 0.0)), math.sqrt(max(d, 0.0)))
    # Jacobi's rotation.
    slant = 0.5 * (d - a) / b
    t = math.copysign(1.0, slant) / (abs(slant) + math.hypot(1.0, slant))
    c = 1.0 / math.hypot(1.0, t)
    return (c, -t * c), (math.sqrt(max(a - t * b, 0.0)), math.sqrt(max(d + t * b, 0.0)))


def _known(table: OneGroupTable, inverse: Array, overlap: list[list[float]], moments: list[float]) -> Pair:
    """As `equations._force_rounding`: the force of chi is taken to be known."""
    known, across = (table.force_scatter @ inverse).tolist()
    (a, b, _), (e, d, _) = overlap[0], overlap[1]
    g11, g12, g22 = moments[3:6]
    # 1 + A G.
    held = 1.0 + a * g11 + b * g12, a * g12 + b * g22, e * g11 + d * g12, 1.0 + e * g12 + d * g22
    zeta, chi = solve_pair(held, a * known, e * known)
    first, second = table.profile.along_norms.tolist()
    size = float(np.abs(table.whole[3]).sum())
    return abs(zeta) * first + abs(chi) * second, abs(overlap[2][2]) * float(across) * size
