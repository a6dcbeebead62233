"""The ridge readout solved: order parameters, test and training error of a model (Result 3.3 of arXiv 2402.04980)."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache, partial

import numpy as np

from giantsteps.numerics.bulk.equivalent import unpack
from giantsteps.numerics.bulk.of_model import equivalent_of
from giantsteps.numerics.gaussian.quadrature import ROUNDING
from giantsteps.numerics.models.given import square_only
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.solution import Conjugates, OrderParameters, Solution, by_direction
from giantsteps.numerics.saddle_point.finite_width import at_width
from giantsteps.numerics.saddle_point.level import (
    MOST_REFINEMENTS,
    QUADRATURE_GOAL,
    QUADRATURE_LIMIT,
    UNDECIDED,
    Bulk,
    Level,
    check_tails,
    extra_reach,
    settled,
    solve_on,
)
from giantsteps.numerics.saddle_point.map_uncertainty import SMALL, neighbours, relative_uncertainty, rounding_growth
from giantsteps.numerics.saddle_point.profile import profile


def solve(model: Model, *, refine: int = 0, bulk: Bulk | None = None) -> Solution:
    """The saddle point, test error (25) and training error of a ridge readout.

    The rules of quadrature are refined until the test error stays put; `refine` asks for that many steps more.
    `bulk` gives another deterministic equivalent at a ridge (`numerics.bulk.atoms`) in place of the model's own.
    ridge = 0 is the limit from above. Raises ModelError where that limit diverges (the interpolation threshold) or is
    out of reach of double precision, and for another loss than the square one. Never raises for lack of convergence:
    `converged` and `status` say so.
    """
    square_only(model, "the ridge readout")
    with np.errstate(all="ignore"):  # what goes wrong becomes NaN, and the residual with it
        return _solve(model, refine, bulk)


def _solve(model: Model, refine: int, bulk: Bulk | None) -> Solution:
    extra = extra_reach(model.ridge)
    # One equivalent for all rules: it begins where it ended.
    known = cache(partial(equivalent_of, model) if bulk is None else bulk)
    coarse = solve_on(profile(model, refine, refine, extra), model, bulk=known, rough=True)
    scale = abs(coarse.test_error) + 1.0
    iterations, moved = coarse.iterations, math.inf
    for level in range(refine + 1, refine + 1 + MOST_REFINEMENTS):
        # The inner integrals are checked where they are made, and bring what is left of their error along.
        table = profile(model, level, refine, extra)
        fine = solve_on(table, model, coarse.state.values, known)
        iterations += fine.iterations
        before, moved = moved, abs(fine.test_error - coarse.test_error)
        done = settled(moved, before, scale, fine.rounding) and table.unresolved <= QUADRATURE_GOAL
        if done or table.unresolved == 1.0 or not fine.converged or table.exhausted:
            break
        coarse = fine
    moved += table.unresolved * scale
    uncertain = relative_uncertainty(model)
    mapped = _moved_by_the_map(model, fine, uncertain, refine, extra, bulk) if uncertain > SMALL else 0.0
    moved += mapped
    fine = replace(fine, rounding=fine.rounding * rounding_growth(uncertain))
    if fine.regime.unit == 0.0:
        check_tails(table, fine)
    left = fine.left()
    converged, status = judged(fine, left, moved, scale)
    return Solution(
        model=model,
        test_error=fine.test_error,
        training_error=fine.training_error,
        order_parameters=_order_parameters(fine, model.rank),
        residual=left,
        error_estimate=moved + fine.rounding,
        converged=converged,
        status=status,
        iterations=iterations,
        bulk=bulk,
        map_error=mapped,
        widened=at_width,
    )


def _moved_by_the_map(
    model: Model, level: Level, uncertain: float, refine: int, extra: float, bulk: Bulk | None
) -> float:
    """How far the test error moves as spike, bulk and alignment take the ends of what they may be; added up."""
    if model.network_step is not None:
        return level.rounding * uncertain / ROUNDING
    moved = 0.0
    start = level.state.values
    here = solve_on(profile(model, refine, refine, extra), model, start, bulk).test_error
    for other in neighbours(model):
        moved += abs(solve_on(profile(other, refine, refine, extra), other, start, bulk).test_error - here)
    return moved


def judged(level: Level, left: float, moved: float, scale: float) -> tuple[bool, str]:
    """Whether a solution is one, and the sentence that says what it is worth."""
    if not level.converged or not left <= QUADRATURE_LIMIT:
        why = f"a residual of {left:.2e} is left" if level.converged else "Newton's method found no solution"
        return False, f"not converged: {why}; a larger ridge makes the problem better conditioned"
    if not moved <= QUADRATURE_LIMIT * scale:
        return False, (
            f"not converged in the quadrature: finer rules still move the test error by {moved:.1e}; "
            "the activation or the target varies too fast for rules in double precision"
        )
    if math.isinf(level.rounding):
        return False, f"not converged in double precision: {UNDECIDED}"
    if not level.rounding <= QUADRATURE_LIMIT * scale:
        return False, (
            f"not converged in double precision: rounding moves the test error by about {level.rounding:.1e}; "
            "a larger ridge makes the problem better conditioned"
        )
    if moved > QUADRATURE_GOAL * scale and moved >= level.rounding:
        return True, f"converged, but the quadrature limits the test error to about {moved:.1e}"
    if level.rounding > QUADRATURE_GOAL * scale:
        return True, f"converged, but double precision limits the test error to about {level.rounding:.1e}"
    return True, "converged"


def _order_parameters(level: Level, rank: int) -> OrderParameters:
    state, unit = level.state, level.regime.unit
    groups = len(state.m)
    functions, spiked = len(state.overlaps) - groups, groups * rank
    # Without ridge and below the threshold V is 1/ridge times the solved values, and the conjugates vanish like ridge.
    values = state.values if unit == 1.0 else np.where(state.values == 0.0, 0.0, np.copysign(math.inf, state.values))
    overlap, tau = unpack(values)
    q1, q2 = unpack(state.q)
    c, d = unpack(unit * state.conjugates)
    c_hat, d_hat = unpack(unit * state.hats)
    forces = unit * state.forces
    return OrderParameters(
        m=state.m,
        zeta=by_direction(state.overlaps[:spiked], rank),
        psi=state.overlaps[functions:],
        q1=q1,
        q2=q2,
        V1=overlap,
        V2=tau,
        conjugates=Conjugates(
            c, d, c_hat, d_hat, by_direction(forces[:spiked], rank), forces[functions:], forces[spiked:functions]
        ),
        chi=state.overlaps[spiked:functions],
    )
