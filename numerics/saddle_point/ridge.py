"""The ridge readout solved: order parameters, test and training error of a model (Result 3.3 of arXiv 2402.04980)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from giantsteps.numerics.gaussian.quadrature import ROUNDING
from giantsteps.numerics.models.given import square_only
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.solution import OrderParameters, Solution
from giantsteps.numerics.saddle_point.finite_width import at_width
from giantsteps.numerics.saddle_point.level import (
    QUADRATURE_GOAL,
    QUADRATURE_LIMIT,
    UNDECIDED,
    Bulk,
    Level,
    refined,
    solve_on,
    unpacked,
)
from giantsteps.numerics.saddle_point.map_uncertainty import SMALL, neighbours, relative_uncertainty, rounding_growth
from giantsteps.numerics.saddle_point.profile import profile
from giantsteps.numerics.saddle_point.ridgeless import check_tails, extra_reach


def solve(model: Model, *, refine: int = 0, bulk: Bulk | None = None) -> Solution:
    """The saddle point, test error (25) and training error of a ridge readout.

    The rules of quadrature are refined until the test error stays put; `refine` asks for that many steps more.
    `bulk` gives another deterministic equivalent at a ridge (`numerics.bulk.given_bulk`) in place of the model's own.
    ridge = 0 is the limit from above. Raises ModelError where that limit diverges (the interpolation threshold) or is
    out of reach of double precision, and for another loss than the square one. Never raises for lack of convergence:
    `converged` and `status` say so.
    """
    square_only(model, "the ridge readout")
    with np.errstate(all="ignore"):  # what goes wrong becomes NaN, and the residual with it
        return _solve(model, refine, bulk)


def _solve(model: Model, refine: int, bulk: Bulk | None) -> Solution:
    found = refined(model, refine, bulk)
    fine, moved, scale = found.level, found.moved, abs(found.level.test_error) + 1.0
    uncertain = relative_uncertainty(model)
    mapped = _moved_by_the_map(model, fine, uncertain, refine, bulk) if uncertain > SMALL else 0.0
    moved += mapped
    fine = replace(fine, rounding=fine.rounding * rounding_growth(uncertain))
    if fine.regime.unit == 0.0:
        check_tails(found.table, fine.state.values)
    left = fine.left()
    converged, status = judged(fine, left, moved, mapped, scale)
    return Solution(
        model=model,
        test_error=fine.test_error,
        training_error=fine.training_error,
        order_parameters=_order_parameters(model, fine),
        residual=left,
        error_estimate=moved + fine.rounding,
        converged=converged,
        status=status,
        iterations=found.iterations,
        refine=found.refine,
        bulk=bulk,
        map_error=mapped,
        widened=at_width,
    )


def _moved_by_the_map(model: Model, level: Level, uncertain: float, refine: int, bulk: Bulk | None) -> float:
    """How far the test error moves as spike, bulk and alignment take the ends of what they may be; added up."""
    if model.network_step is not None:
        return level.rounding * uncertain / ROUNDING
    moved, start, extra = 0.0, level.state.values, extra_reach(model.ridge)
    here = solve_on(profile(model, refine, refine, extra), model, start, bulk).test_error
    for other in neighbours(model):
        moved += abs(solve_on(profile(other, refine, refine, extra), other, start, bulk).test_error - here)
    return moved


def judged(level: Level, left: float, moved: float, mapped: float, scale: float) -> tuple[bool, str]:
    """Whether a solution is one, and the sentence that says what it is worth; `mapped` is part of `moved`."""
    if not level.converged or not left <= QUADRATURE_LIMIT:
        why = f"a residual of {left:.2e} is left" if level.converged else "Newton's method found no solution"
        return False, f"not converged: {why}; a larger ridge makes the problem better conditioned"
    if not moved <= QUADRATURE_LIMIT * scale:
        if mapped > 0.5 * moved:
            return False, (
                "not converged: the errors of spike, bulk, alignment and the law of the bulk move the test error by "
                f"{mapped:.1e}; a smaller eta or fewer gradient steps have smaller errors"
            )
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


def _order_parameters(model: Model, level: Level) -> OrderParameters:
    state, unit = level.state, level.regime.unit
    # Without ridge and below the threshold V is 1/ridge times the solved values, and the conjugates vanish like ridge.
    values = state.values if unit == 1.0 else np.where(state.values == 0.0, 0.0, np.copysign(math.inf, state.values))
    driven = unit * state.conjugates, unit * state.hats, unit * state.forces
    return unpacked(model, values, state.m, state.overlaps, state.q, *driven)
