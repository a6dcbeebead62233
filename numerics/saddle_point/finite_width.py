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

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import numpy as np

from giantsteps.numerics.bulk.equivalent import DeterministicEquivalent, unpack
from giantsteps.numerics.bulk.of_model import equivalent_of
from giantsteps.numerics.gaussian.quadrature import ROUNDING
from giantsteps.numerics.models.parameters import checked_number
from giantsteps.numerics.models.solution import Solution, by_direction
from giantsteps.numerics.saddle_point.equations import LinearPart, linear_part, nonlinear_part
from giantsteps.numerics.saddle_point.level import (
    MOST_REFINEMENTS,
    QUADRATURE_GOAL,
    QUADRATURE_LIMIT,
    extra_reach,
    regime_of,
    settled,
)
from giantsteps.numerics.saddle_point.map_uncertainty import relative_uncertainty, rounding_growth
from giantsteps.numerics.saddle_point.profile import Profile, profile


def checked_width(width: float) -> float:
    """The width as a number of neurons. Raises ModelError for less than one."""
    return checked_number("width", width, lambda p: p >= 1.0, "a number of neurons >= 1", "1000")


def at_width(
    solution: Solution, width: float, bulk: Callable[[float], DeterministicEquivalent] | None = None
) -> Solution:
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
    with np.errstate(all="ignore"):  # what goes wrong becomes NaN, and does not converge
        return _refined(solution, p, solution.bulk if bulk is None else bulk)


def _refined(solution: Solution, width: float, bulk: Callable[[float], DeterministicEquivalent] | None) -> Solution:
    model = solution.model
    extra, start, last, moved = extra_reach(model.ridge), None, math.inf, math.inf
    known = cache(partial(equivalent_of, model) if bulk is None else bulk)
    for level in range(1 + MOST_REFINEMENTS):
        table = profile(model, level, 0, extra)
        regime = regime_of(table, model)
        solved = nonlinear_part(table, known(regime.ridge), model.alpha / model.beta, start, regime.unit)
        found = linear_part(table, solved, model.alpha / model.beta, model.noise, regime.unit, width)
        scale, rounding = 1.0 + abs(found.test_error), ROUNDING * found.rounding
        before, moved = moved, abs(found.test_error - last)
        done = settled(moved, before, scale, rounding) and table.unresolved <= QUADRATURE_GOAL
        if done or table.unresolved == 1.0 or not solved.converged or table.exhausted:
            break
        start, last = solved.values, found.test_error
    growth = rounding_growth(relative_uncertainty(model))
    estimate = moved + table.unresolved * scale + rounding * growth + solution.map_error
    converged = bool(solved.converged and estimate <= 2.0 * QUADRATURE_LIMIT * scale)
    status = f"converged at width {width:g}" if converged else (
        f"not converged at width {width:g}: finer rules and rounding move the test error by {estimate:.1e}"
    )  # fmt: skip
    return _with(solution, table, found, width, estimate, converged, status)


def _with(
    solution: Solution,
    table: Profile,
    found: LinearPart,
    width: float,
    estimate: float,
    converged: bool,
    status: str,
) -> Solution:
    """The solution with what the linear part gives at this width."""
    model, groups = solution.model, table.groups
    functions, spiked = len(found.overlaps) - groups, groups * model.rank
    q1, q2 = unpack(found.q)
    uniform = found.m**2 / (width * np.array(model.fractions))
    return replace(
        solution,
        width=width,
        test_error=found.test_error,
        training_error=found.training_error,
        order_parameters=replace(
            solution.order_parameters,
            m=found.m,
            zeta=by_direction(found.overlaps[:spiked], model.rank),
            chi=found.overlaps[spiked:functions],
            psi=found.overlaps[functions:],
            q1=q1 - np.diag(np.array(model.bulks) * uniform),
            q2=q2 - uniform,
        ),
        error_estimate=estimate,
        converged=converged,
        status=status,
    )
