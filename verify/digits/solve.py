"""The public `solve`: in double precision by the solver, to any number of digits by the theorems, computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from giantsteps.numerics.accepts import accepts
from giantsteps.numerics.gaussian.callables import ByValues
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
    """The saddle point of a model: order parameters, test error (25) and training error.

    model: the problem, with its loss and its readout.
    digits: omit for double precision. 16 to 300: numbers of mpmath to so many digits, by the equations that the
        theorems conclude. Requires the square loss, one readout group (or two over isotropic rows, whose mean features
        do not coincide up to sign), one spike direction, rows of equal norm before the step and ridge > 0.

    Raises ModelError for what does not exist or is not supported, and PrecisionError where the digits are not reached.
    Never raises for lack of convergence: `converged` and `status` say so.

    >>> giantsteps.solve(model).test_error
    0.12586560853...
    >>> giantsteps.solve(model, digits=30).to_dict()["test_error"]
    '0.1258656085337792743506...'
    """
    if digits is not None:
        _check(model, digits)
    found = in_doubles(model)
    if digits is None:
        return found
    from giantsteps.verify.compiled.digits import solve_digits

    order = found.order_parameters
    start = {name: getattr(order, name) for name in ("m", "zeta", "psi", "q1", "q2", "V1", "V2")}
    if len(model.groups) == 1:
        start = {name: value.flat[0] for name, value in start.items()}
    step = None
    if (made := model.network_step) is not None:
        from giantsteps.numerics.certificates.network.rows import network_start
        from giantsteps.verify.compiled.labels import Step

        step = Step(*made.only, model.beta, model.groups[0].weight)
        _, _, start["b1"], start["b2"] = network_start(model, found)
    return _solution(model, solve_digits(model, digits, start, step), digits)


def _check(model: Model, digits: int) -> None:
    """Raises ModelError for what digits do not support."""
    most = 1 if model.network_step is not None else 2
    supported = {
        "the square loss": model.loss.name == "square",
        "one readout group, or two readout groups over isotropic rows": model.law is None and len(model.groups) <= most,
        "a spike of one direction": model.rank == 1,
        "rows of equal norm before the step": not model.gaussian_rows,
        "ridge > 0": model.ridge > 0.0,
        "formulas": not any(isinstance(f, ByValues) for f in (model.activation, model.target)),
    }
    missing = " and ".join(what for what, there in supported.items() if not there)
    if missing:
        raise ModelError(f"digits require {missing}: omit digits={digits}")
    if model.step is not None and model.step.several:
        raise ModelError(
            "digits after several gradient steps are not supported, since these reach a state known in double "
            f"precision only: for digits over the isotropic bulk give that state, spike={model.spike!r}, "
            f"bulk={model.bulk!r}, alignment={model.alignment!r}"
        )
    if len(model.groups) == 2:
        (u, b, c), (v, d, e) = zip(model.slopes, model.biases, model.bulks, strict=True)
        if (u, b, c) == (v, d, e) or ((u, b, c) == (-v, -d, e) and model.activation.parity in ("odd", "even")):
            raise ModelError(
                f"digits require two groups whose mean features do not coincide up to sign: omit digits={digits}"
            )
    if model.network_step is not None and model.slopes[0] == 0.0:
        raise ModelError(
            "digits of a network's own bulk require a step that makes a spike, E[sigma'] != 0, for example relu(z)"
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
