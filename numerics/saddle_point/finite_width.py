"""The known correction of order 1/p: the cost of a uniform readout at finite width.

A readout whose groups have the sums m_a sqrt(p) costs at least sum_a m_a^2/tau_a, beside a data term of p times
an O(1) amount. The limit drops it (m is not regularised at leading order, equation (105)). That is O(1/p) where the
functions mu0_a are well separated; where they are nearly collinear or nearly zero (a weak spike) the data hold m only
weakly, m is large, and the limit is reached late: a line in 1/d does not describe the way there. With the term kept,

    E[mu0_a (y0 - yhat)/(1+V)] = (beta/(alpha p tau_a)) m_a

and, from its derivatives in C and D, q2 and Q gain -sum_a m_a^2/(p tau_a^2) dtau_a/d(C, D), of which m_a^2/(pi_a p) and
c_a m_a^2/(pi_a p) is the part of the uniform readout itself. Everything else is as in the limit, at the limit's V.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from giantsteps.numerics.models.parameters import checked_number
from giantsteps.numerics.models.solution import Solution
from giantsteps.numerics.saddle_point.level import QUADRATURE_LIMIT, Bulk, refined, unpacked
from giantsteps.numerics.saddle_point.map_uncertainty import relative_uncertainty, rounding_growth


def checked_width(width: float) -> float:
    """The width as a number of neurons. Raises ModelError for less than one."""
    return checked_number("width", width, lambda p: p >= 1.0, "a number of neurons >= 1", "1000")


def at_width(solution: Solution, width: float, bulk: Bulk | None = None) -> Solution:
    """The solution with m, zeta, psi, q1, q2 and both errors at finite width p, to the order described above.

    q1 and q2 are without m_a^2 c_a/(pi_a p) and m_a^2/(pi_a p), as a simulation reports them; as width grows
    everything tends to the solution itself. The rules are refined until the test error stays put, and error_estimate,
    `converged` and `status` speak of that; V, conjugates and residual are those of the limit. A solution that has not
    converged comes back as it is. `bulk` gives another equivalent at a ridge, by default that of the solution.

    Raises ModelError for a width below one.
    """
    p = checked_width(width)
    if not solution.converged:
        return solution
    model = solution.model
    with np.errstate(all="ignore"):  # what goes wrong becomes NaN, and does not converge
        found = refined(model, 0, solution.bulk if bulk is None else bulk, p)
    state, level, limit = found.level.state, found.level, solution.order_parameters
    driven = state.conjugates, state.hats, state.forces
    order = unpacked(model, state.values, state.m, state.overlaps, state.q, *driven, width=p)
    growth = rounding_growth(relative_uncertainty(model))
    estimate = found.moved + level.rounding * growth + solution.map_error
    converged = bool(level.converged and estimate <= 2.0 * QUADRATURE_LIMIT * (1.0 + abs(level.test_error)))
    status = f"converged at width {p:g}" if converged else (
        f"not converged at width {p:g}: finer rules and rounding move the test error by {estimate:.1e}"
    )  # fmt: skip
    return replace(
        solution,
        width=p,
        test_error=level.test_error,
        training_error=level.training_error,
        order_parameters=replace(order, V1=limit.V1, V2=limit.V2, conjugates=limit.conjugates),
        error_estimate=estimate,
        converged=converged,
        status=status,
    )
