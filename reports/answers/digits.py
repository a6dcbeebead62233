"""The public `solve`: in double precision by the solver, to any number of digits by the theorems, computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from giantsteps.numerics.accepts import accepts
from giantsteps.numerics.models.given import model_of, whole_number, within_reach
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.parameters import ModelError
from giantsteps.numerics.models.solution import Solution
from giantsteps.numerics.saddle_point.solve import solve as in_doubles

if TYPE_CHECKING:
    from giantsteps.verify.compiled.digits import Digits

FEWEST_DIGITS, MOST_DIGITS = 16, 300


@accepts(model=model_of, digits=whole_number("digits", 50, least=FEWEST_DIGITS, most=MOST_DIGITS, optional=True))
@within_reach
def solve(model: Model, *, digits: int | None = None) -> Solution:
    """Order parameters, test error (25) and training error of the model with its loss and its readout.

    With `digits` to so many of them, as numbers of mpmath, by the equations that the theorems conclude: for the square
    loss, one or two readout groups, one spike direction and ridge > 0. Raises ModelError for what does not exist or is
    not supported, and PrecisionError where the digits are not reached. Never raises for lack of convergence:
    `converged` and `status` say so.
    """
    if digits is not None:
        _check(model)
    found = in_doubles(model)
    if digits is None:
        return found
    from giantsteps.verify.compiled.digits import solve_digits

    order = found.order_parameters
    start = {name: getattr(order, name) for name in ("m", "zeta", "psi", "q1", "q2", "V1", "V2")}
    if len(model.groups) == 1:
        start = {name: value.flat[0] for name, value in start.items()}
    return _solution(model, solve_digits(model, digits, start), digits)


def _check(model: Model) -> None:
    """Raises ModelError for what digits do not support."""
    from giantsteps.numerics.models.documents import described

    if (
        model.law is not None or len(model.groups) > 2 or model.rank > 1 or model.gaussian_rows or model.ridge == 0.0
        or model.loss.name != "square"
    ):  # fmt: skip
        raise ModelError(
            "digits require the square loss, one or two readout groups, a spike of one direction, rows of equal norm "
            f"before the step and ridge > 0, and here {described(model)}: omit the digits"
        )


def _solution(model: Model, found: Digits, digits: int) -> Solution:
    import numpy as np
    from mpmath import mp

    from giantsteps.derivations.expressions.exact import working_digits
    from giantsteps.numerics.models.solution import Conjugates, OrderParameters

    def numbers(value: Any) -> Any:
        return [numbers(one) for one in value] if isinstance(value, list) else +mp.make_mpf(value.mid()._mpf_)

    with working_digits(digits):
        values = {role: numbers(value) for role, value in found.values.items()}
        shapes = {"q1": (-1, len(model.groups)), "V1": (-1, len(model.groups))}
        shaped = {
            name: np.array(values.get(name, []), dtype=object).reshape(shapes.get(name, -1))
            for name in ("m", "zeta", "psi", "q1", "q2", "V1", "V2", "chi")
        }
        none = np.zeros(0)
        return Solution(
            model=model,
            test_error=values["test_error"],
            training_error=values["training_error"],
            order_parameters=OrderParameters(conjugates=Conjugates(none, none, none, none, none, none), **shaped),
            residual=numbers(found.residual),
            error_estimate=numbers(found.error_estimate),
            converged=True,
            status="converged",
            iterations=found.steps,
            digits=digits,
        )
