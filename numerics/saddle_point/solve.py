"""The saddle point of any model: by its loss and its readout, in double precision or to any number of digits."""

from __future__ import annotations

from giantsteps.numerics.accepts import accepts
from giantsteps.numerics.models.given import model_of, whole_number, within_reach
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.solution import Solution
from giantsteps.numerics.saddle_point.ridge import solve as solve_ridge

FEWEST_DIGITS, MOST_DIGITS = 16, 300


@accepts(model=model_of, digits=whole_number("digits", 50, least=FEWEST_DIGITS, most=MOST_DIGITS, optional=True))
@within_reach
def solve(model: Model, *, digits: int | None = None) -> Solution:
    """Order parameters, test error (25) and training error of the model with its loss and its readout.

    With `digits` to so many of them, for the square loss, one readout group and a positive ridge. Raises ModelError for
    what does not exist or is not built, and PrecisionError where the digits are not reached. Never raises for lack of
    convergence: `converged` and `status` say so.
    """
    # Each solver is imported where it is asked for: a ridge readout in double precision waits for none of the others.
    if digits is not None:
        from giantsteps.numerics.saddle_point.one_group.any_precision import solve_to

        return solve_to(model, digits)
    if model.law is not None:
        from giantsteps.numerics.saddle_point.letters.density import solve_letters

        return solve_letters(model)
    if model.loss.name != "square":
        from giantsteps.numerics.saddle_point.any_loss.convex import solve as solve_convex

        return solve_convex(model)
    return solve_ridge(model)
