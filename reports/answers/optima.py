"""What `giantsteps bounds` says about the best learning rates and spikes: as JSON, and as lines for people."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from giantsteps.numerics.bounds.results import BestEta
    from giantsteps.numerics.certificates.minima.certified_minima import BestBound
    from giantsteps.numerics.models.model import Model
    from giantsteps.reports.command_line.request import Request


def best_eta_json(asked: Request, point: Mapping[str, float]) -> tuple[BestEta, dict[str, Any]]:
    """The rate of least test error at the ridge given; those of the least bounds under "upper_bound", "lower_bound".

    All have "certified" and "bracket" (null where nothing was certified), and "status" says why not. Raises ModelError
    where the gradient-step map does not exist.
    """
    from giantsteps.numerics.bounds.ridge import best_eta
    from giantsteps.numerics.certificates.minima.certified_minima import (
        NO_BRACKET,
        Dip,
        best_bounds_rate,
        certified_dip,
    )
    from giantsteps.numerics.models.model import UNIFORM, Model

    noise, beta, alpha0 = point.get("noise", 0.0), point["beta"], point["alpha0"]
    groups = asked.groups or UNIFORM
    rate = best_eta(
        asked.activation, asked.target, alpha=point["alpha"], beta=beta, alpha0=alpha0, ridge=point["ridge"],
        noise=noise, bulk_model=asked.bulk_model, gaussian_rows=asked.gaussian_rows, readout=groups,
    )  # fmt: skip

    def model(eta: float) -> Model:
        return Model.from_gradient_step(
            asked.activation, asked.target, alpha=point["alpha"], beta=beta, ridge=point["ridge"], alpha0=alpha0,
            eta=eta, noise=noise, bulk_model=asked.bulk_model, gaussian_rows=asked.gaussian_rows, readout=groups,
        )  # fmt: skip

    inside = any(minimum.at == rate.eta for minimum in rate.minima)
    at_end = Dip(False, NO_BRACKET, "estimated: the least error was found at an end of the scan")
    dip = certified_dip(model, rate.eta) if inside else at_end
    document: dict[str, Any] = {
        **rate.to_dict(),
        "certified": dip.certified,
        "bracket": list(dip.bracket) if dip.certified else None,
        "estimated_bracket": list(dip.bracket) if dip.bracketed and not dip.certified else None,
        "status": dip.status,
    }
    best = best_bounds_rate(
        asked.activation, asked.target, alpha0=alpha0, beta=beta, noise=noise, groups=groups,
        bulk_model=asked.bulk_model, gaussian_rows=asked.gaussian_rows,
    )  # fmt: skip
    return rate, document | {"upper_bound": bound_json(best.upper), "lower_bound": bound_json(best.lower)}


def best_spike_json(model: Model) -> dict[str, Any]:
    """The spikes of least upper and least lower bound at the model's bulk and alignment."""
    from giantsteps.numerics.certificates.minima.certified_minima import best_bounds_spike

    best = best_bounds_spike(model)
    return {
        "upper_bound": bound_json(best.upper, "spike"),
        "lower_bound": bound_json(best.lower, "spike"),
    }


def bound_json(best: BestBound, parameter: str = "eta") -> dict[str, Any]:
    """The place of the least value of one bound, and what of it is certain.

    monotone: it falls on [from, bracket], rises on [bracket, to]; least_on: outside the bracket it is larger there;
    tried: the interval on which a certificate was tried.
    """
    found = best.certificate
    return {
        parameter: best.at,
        "bound": best.bound,
        f"at_largest_{parameter}_tried": best.at_edge,
        "certified": found.certified,
        "bracket": list(found.bracket) if found.certified else None,
        "monotone": {"falls_from": found.falls_from, "rises_to": found.rises_to} if found.certified else None,
        "least_on": list(found.least_on) if found.certified else None,
        "one_minimum": found.single if found.certified else None,
        "at_end": found.at_end if found.certified else None,
        "varies_by_less_than": None if math.isnan(found.variation) else found.variation,
        "tried": list(best.tried),
        "status": found.status,
    }


def optimum_lines(best: Mapping[str, Any] | None) -> list[str]:
    """Three lines: the rates of least test error, upper bound and lower bound, each certified or estimated."""
    if best is None:
        return []
    first = f"certified local minimum in {_interval(best['bracket'])}" if best["certified"] else best["status"]
    if best["estimated_bracket"]:
        first += f"; by the error estimates a local minimum in {_interval(best['estimated_bracket'])}"
    start = f"least test error {best['test_error']:.8g} at eta = {best['eta']:.8g}"
    return [f"{start}: {first}", *bound_lines(best, "eta")]


def bound_lines(best: Mapping[str, Any] | None, parameter: str) -> list[str]:
    """One line for each bound."""
    if best is None:
        return []
    return [_bound_line(name, best[f"{name}_bound"], parameter) for name in ("upper", "lower")]


def _bound_line(name: str, bound: Mapping[str, Any], parameter: str) -> str:
    tried = _interval(bound["tried"])
    if bound["varies_by_less_than"] is not None:
        return f"least {name} bound {bound['bound']:.8g} at any {parameter}: certified {bound['status']} {tried}"
    start = f"least {name} bound {bound['bound']:.8g} at {parameter} = {bound[parameter]:.8g}"
    if not bound["certified"]:
        return f"{start}: {bound['status']} (scanned and refined on {tried})"
    (left, right), monotone = bound["bracket"], bound["monotone"]
    falls = f"decreasing on [{_above(monotone['falls_from'], 6)}, {_below(left, 6)}]"
    rises = f"increasing on [{_above(right, 6)}, {_below(monotone['rises_to'], 6)}]"
    least = f"least on [{_above(bound['least_on'][0], 6)}, {_below(bound['least_on'][1], 6)}]"
    if bound["at_end"]:
        side = falls if monotone["falls_from"] < left else rises
        return f"{start}: certified {side}, {least}: at the end of what was scanned"
    kind = "local minimum" if bound["one_minimum"] else "minimum, perhaps not the only one (too flat to tell)"
    return f"{start}: certified {kind} in {_interval(bound['bracket'])}; {falls}, {rises}; {least}"


def _interval(ends: list[float]) -> str:
    return f"[{_below(ends[0])}, {_above(ends[1])}]"


# What is printed is rounded so that it stays certain: brackets outwards, monotone intervals inwards.
def _below(x: float, digits: int = 10) -> str:
    return format(Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(Decimal(x)).normalize(), "f")


def _above(x: float, digits: int = 10) -> str:
    return format(Context(prec=digits, rounding=ROUND_CEILING).create_decimal(Decimal(x)).normalize(), "f")
