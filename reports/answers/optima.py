"""What `giantsteps bounds` says about the best learning rates and spikes: as JSON, and as lines for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from giantsteps.numerics.bounds.best_rate import BestBound
    from giantsteps.numerics.bounds.results import Best
    from giantsteps.numerics.models.model import Model

# The ends of the bracket of a test error are this share of the rate away: the dip is then about 1e-6 deep, far above
# error estimates of converged solutions.
_HALF_WIDTH = 1e-3
# A bound that varies by less than this on the scan has no minimum worth a name.
_FLAT = 1e-7

LOCAL = "local minimum, not certified"
AT_END = "least at an end of the scan, not certified"


def best_eta_json(model: Model) -> tuple[Best, dict[str, Any]]:
    """The rate of least test error at the model's ridge; those of the least bounds: "upper_bound", "lower_bound".

    None is certified: "certified" is False, and "status" says what was found. "estimated_bracket" holds a local minimum
    of the test error, by the error estimates of solutions at its ends and inside; null where they do not show one.
    Raises ModelError where the gradient-step map does not exist.
    """
    from giantsteps.numerics.bounds.best import best

    rate = best(model, over=("eta",))
    eta, inside = rate.values["eta"], not rate.at_end
    document: dict[str, Any] = {
        "eta": eta,
        "test_error": rate.test_error,
        **(model if rate.model is None else rate.model).spiked(),
        "at_largest_eta_tried": eta == rate.scanned["eta"][1],
        "minima": [{**place, "test_error": error} for place, error in rate.minima],
        "certified": False,
        "bracket": None,
        "estimated_bracket": _bracket(model, eta) if inside else None,
        "tried": list(rate.scanned["eta"]),
        "status": LOCAL if inside else AT_END,
    }
    return rate, document | best_bounds_json(model, "eta")


def _bracket(model: Model, at: float) -> list[float] | None:
    """at (1 -+ 1e-3), where the test errors exceed that at `at` by more than both error estimates; else None."""
    from giantsteps.numerics.saddle_point.ridge import solve

    places = [at * (1.0 - _HALF_WIDTH), at, at * (1.0 + _HALF_WIDTH)]
    left, middle, right = found = [solve(model.changed(eta=x)) for x in places]
    slack = 2.0 * max(one.error_estimate for one in found)
    deep = min(left.test_error, right.test_error) - middle.test_error > slack
    return [places[0], places[2]] if deep and all(one.converged for one in found) else None


def best_bounds_json(model: Model, parameter: str) -> dict[str, Any]:
    """The rates "eta" or spikes "spike" of least upper and least lower bound."""
    from giantsteps.numerics.bounds.best_rate import best_bounds

    best = best_bounds(model, parameter)
    return {"upper_bound": bound_json(best.upper, parameter), "lower_bound": bound_json(best.lower, parameter)}


def bound_json(best: BestBound, parameter: str) -> dict[str, Any]:
    """The place of the least value of one bound on the interval "tried"; what only a certificate says is null."""
    flat = best.spread < _FLAT
    status = LOCAL
    if flat:
        status = f"flat: the bound varies by {best.spread:.1e} on the scan, not certified"
    elif best.at_end:
        status = AT_END
    return {
        parameter: best.at,
        "bound": best.bound,
        f"at_largest_{parameter}_tried": best.at == best.scanned[1],
        "certified": False,
        **dict.fromkeys(("bracket", "monotone", "least_on", "one_minimum", "at_end", "varies_by_less_than")),
        "tried": list(best.scanned),
        "status": status,
    }


def optimum_lines(best: Mapping[str, Any] | None) -> list[str]:
    """Three lines: the rates of least test error, upper bound and lower bound."""
    if best is None:
        return []
    # The error is flat at its minimum: digits of the rate beyond the fourth depend on rounding.
    line = f"least test error {best['test_error']:.8g} at eta = {best['eta']:.4g}: {best['status']}"
    if best["estimated_bracket"]:
        line += f"; by the error estimates in {_interval(best['estimated_bracket'], 5)}"
    elif best["status"] == AT_END:
        line += f" (scanned and refined on {_interval(best['tried'])})"
    return [line, *bound_lines(best, "eta")]


def bound_lines(best: Mapping[str, Any] | None, parameter: str) -> list[str]:
    """One line for each bound."""
    bounds = {} if best is None else {name: best[f"{name}_bound"] for name in ("upper", "lower")}
    return [
        f"least {name} bound {bound['bound']:.8g} at {parameter} = {bound[parameter]:.8g}: {bound['status']} "
        f"(scanned and refined on {_interval(bound['tried'])})"
        for name, bound in bounds.items()
    ]


def _interval(ends: list[float], digits: int = 10) -> str:
    return f"[{ends[0]:.{digits}g}, {ends[1]:.{digits}g}]"
