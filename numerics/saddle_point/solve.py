"""The saddle point of any model in double precision: by its loss and its readout."""

from __future__ import annotations

from dataclasses import replace

from giantsteps.numerics.accepts import accepts
from giantsteps.numerics.models.given import model_of, within_reach
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.solution import Derivative, Solution
from giantsteps.numerics.saddle_point.ridge import solve as solve_ridge


@accepts(model=model_of)
@within_reach
def solve(model: Model) -> Solution:
    """Order parameters, test error (25) and training error of the model with its loss and its readout.

    Raises ModelError for what does not exist or is not supported. Never raises for lack of convergence: `converged` and
    `status` say so.
    """
    return replace(_solved(model), differentiated=_gradient)


def _gradient(solution: Solution, names: tuple[str, ...]) -> dict[str, Derivative]:
    from giantsteps.numerics.saddle_point.gradient import gradient

    return gradient(solution, names)


def _solved(model: Model) -> Solution:
    # Each solver is imported where it is asked for: a ridge readout in double precision waits for none of the others.
    if model.law is not None:
        from giantsteps.numerics.saddle_point.letters.density import solve_letters

        return solve_letters(model)
    if model.loss.name != "square":
        from giantsteps.numerics.saddle_point.any_loss.convex import solve as solve_convex

        return solve_convex(model)
    return solve_ridge(model)
