"""The one finite-size correction that is known beforehand: what a uniform readout costs at finite width.

A readout whose groups have the sums m_a sqrt(p) costs at least sum_a m_a^2/tau_a, beside a data term of p times
an O(1) amount. The limit drops it (m is not regularised at leading order, equation (105)). That is O(1/p) where the
functions mu0_a are well separated; where they are nearly collinear or nearly zero (a weak spike) the data hold m only
weakly, m is large, and the limit is reached late: a line in 1/d does not describe the way there. With the term kept,

    E[mu0_a (y0 - yhat)/(1+V)] = (beta/(alpha p tau_a)) m_a

and, from its derivatives in C and D, q2 and Q gain -sum_a m_a^2/(p tau_a^2) dtau_a/d(C, D), of which m_a^2/(pi_a p) and
c_a m_a^2/(pi_a p) is the part of the uniform readout itself. Everything else is as in the limit, at the limit's V.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from numerics.bulk_model import equivalent_of
from numerics.deterministic_equivalent import DeterministicEquivalent, pack, unpack
from numerics.profile import profile
from numerics.saddle_point import multiplicity, nonlinear_part
from numerics.solution import Solution, by_direction

Array = NDArray[np.float64]

# Doublings of the quadrature rules: comparisons with simulations need no more than 1e-6.
_REFINE = 1
# Stands for the limit ridge -> 0, where V may be infinite.
_LEAST_RIDGE = 1e-9


def at_width(
    solution: Solution, width: int, bulk: Callable[[float], DeterministicEquivalent] | None = None
) -> Solution:
    """The solution with m, zeta, psi, q1, q2 and both errors at finite width p, to the order described above.

    q1 and q2 are without m_a^2 c_a/(pi_a p) and m_a^2/(pi_a p), as a simulation reports them; as width grows
    everything tends to the solution itself. The rest of the solution (V, conjugates, residual) is left as it was, and
    so is a solution that has not converged. `bulk` gives another equivalent at a ridge, as for `numerics.ridge.solve`.
    """
    if not solution.converged:
        return solution
    model, order = solution.model, solution.order_parameters
    table = profile(model, _REFINE, _REFINE)
    ratio = model.alpha / model.beta
    ridge = max(model.ridge, _LEAST_RIDGE)
    equivalent = equivalent_of(model, ridge) if bulk is None else bulk(ridge)
    start = pack(order.V1, order.V2) if model.ridge > 0.0 else None
    solved = nonlinear_part(table, equivalent, ratio, start)
    point, groups = solved.point, table.groups
    spiked = groups * model.rank
    tau = unpack(solved.values)[1]
    weights = table.weights * solved.inverse
    overlap = ratio * point.overlap
    psi_force = table.mu1 @ (weights * table.y1)
    count = len(table.along)
    given = overlap[:count, count:] @ psi_force
    m, zeta = means(table.mu0, table.along, weights, table.y0, ratio * width * tau, overlap, given)
    deviation = table.y0 - m @ table.mu0 - zeta @ table.along
    forces = np.concatenate([table.along @ (weights * deviation), psi_force])
    psi = (overlap @ forces)[count:]
    fixed = deviation**2 + table.spread + model.noise + table.y1 * (table.y1 - 2.0 * (psi @ table.mu1))
    squared = weights * solved.inverse
    signal = ratio**2 * np.einsum("i,dij,j->d", forces, point.overlap_jacobian(), forces)
    cost = (m**2 / (width * tau**2)) @ point.jacobian[-groups:]
    right = -point.jacobian @ (ratio * (table.features @ (squared * fixed))) - (signal + cost) / multiplicity(groups)
    packed = np.linalg.solve(np.eye(len(right)) - solved.slope, right)
    error = fixed + packed @ table.multiplied_features
    q1, q2 = unpack(packed)
    uniform = m**2 / (width * np.array(model.fractions))
    return replace(
        solution,
        test_error=float(table.weights @ error) - model.noise,
        training_error=float(squared @ error),
        order_parameters=replace(
            order,
            m=m,
            zeta=by_direction(zeta[:spiked], model.rank),
            chi=zeta[spiked:],
            psi=psi,
            q1=q1 - np.diag(np.array(model.bulks) * uniform),
            q2=q2 - uniform,
        ),
    )


def means(
    mu0: Array, along: Array, weights: Array, y0: Array, stiffness: Array, overlap: Array, given: Array
) -> tuple[Array, Array]:
    """m and zeta (k,): E[mu0 (y0 - yhat)/(1+V)] = m/stiffness and zeta = A E[along (y0 - yhat)/(1+V)] + given."""
    groups, count = len(mu0), len(along)
    # zeta = given + F c with A = F F^T and |c|^2 beside the squares: A is singular where a group's rows have one norm.
    values, vectors = np.linalg.eigh(overlap[:count, :count])
    factor = vectors * np.sqrt(np.maximum(values, 0.0))
    functions = np.concatenate([mu0, factor.T @ along])
    gram = (functions * weights) @ functions.T
    gram[:groups, :groups] += np.diag(1.0 / stiffness)
    gram[groups:, groups:] += np.eye(count)
    both = np.linalg.solve(gram, (functions * weights) @ (y0 - given @ along))
    return both[:groups], given + factor @ both[groups:]
