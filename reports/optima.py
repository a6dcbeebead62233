"""What `onestep bounds --optimise-eta` says about the best learning rates: as JSON, and as lines for people."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numerics.bounds import BestEta
    from numerics.certified_minima import BestBound
    from reports.cli_options import Request


def best_eta_json(asked: Request, point: Mapping[str, float]) -> tuple[BestEta, dict[str, Any]]:
    """The rate of least test error at the ridge given, with the rate of least upper bound under "upper_bound".

    Both have "certified" and "bracket" (null where nothing was certified), and "status" says why not. Raises
    ModelError where the gradient-step map does not exist.
    """
    from numerics.bounds import best_eta
    from numerics.certified_minima import Dip, best_bound_rate, certified_dip
    from numerics.model import Model

    noise, beta, alpha0 = point.get("noise", 0.0), point["beta"], point["alpha0"]
    rate = best_eta(
        asked.activation, asked.target, alpha=point["alpha"], beta=beta, alpha0=alpha0, ridge=point["ridge"],
        noise=noise, bulk_model=asked.bulk_model,
    )  # fmt: skip

    def model(eta: float) -> Model:
        return Model.from_gradient_step(
            asked.activation, asked.target, alpha=point["alpha"], beta=beta, ridge=point["ridge"], alpha0=alpha0,
            eta=eta, noise=noise, bulk_model=asked.bulk_model,
        )  # fmt: skip

    inside = any(minimum.at == rate.eta for minimum in rate.minima)
    at_end = Dip(False, (rate.eta, rate.eta), "estimated: the least error was found at an end of the scan")
    dip = certified_dip(model, rate.eta) if inside else at_end
    document: dict[str, Any] = {
        "eta": rate.eta,
        "test_error": rate.test_error,
        "spike": rate.model.spike,
        "bulk": rate.model.bulk,
        "alignment": rate.model.alignment,
        "at_largest_eta_tried": rate.at_edge,
        "minima": [{"eta": minimum.at, "test_error": minimum.error} for minimum in rate.minima],
        "certified": dip.certified,
        "bracket": list(dip.bracket) if dip.certified else None,
        "status": dip.status,
    }
    bound = best_bound_rate(asked.activation, asked.target, alpha0=alpha0, beta=beta, noise=noise)
    return rate, document | {"upper_bound": bound_json(bound)}


def bound_json(best: BestBound) -> dict[str, Any]:
    """The rate of least upper bound; monotone: falls on [from, bracket], rises on [bracket, to]."""
    found = best.certificate
    return {
        "eta": best.at,
        "bound": best.bound,
        "certified": found.certified,
        "bracket": list(found.bracket) if found.certified else None,
        "monotone": {"falls_from": found.falls_from, "rises_to": found.rises_to} if found.certified else None,
        "status": found.status,
    }


def optimum_lines(best: Mapping[str, Any] | None) -> list[str]:
    """Two lines: the rate of least test error and the rate of least upper bound, each certified or estimated."""
    if best is None:
        return []
    start = f"least test error {best['test_error']:.8g} at eta = {best['eta']:.8g}"
    first = f"certified local minimum in {_interval(best['bracket'])}" if best["certified"] else best["status"]
    bound = best["upper_bound"]
    second = f"least upper bound {bound['bound']:.8g} at eta = {bound['eta']:.8g}"
    if not bound["certified"]:
        return [f"{start}: {first}", f"{second}: {bound['status']}"]
    (left, right), monotone = bound["bracket"], bound["monotone"]
    told = (
        f"certified local minimum in {_interval(bound['bracket'])}; decreasing on "
        f"[{_above(monotone['falls_from'], 6)}, {_below(left, 6)}], increasing on "
        f"[{_above(right, 6)}, {_below(monotone['rises_to'], 6)}]"
    )
    return [f"{start}: {first}", f"{second}: {told}"]


def _interval(ends: list[float]) -> str:
    return f"[{_below(ends[0])}, {_above(ends[1])}]"


# What is printed is rounded so that it stays certain: brackets outwards, monotone intervals inwards.
def _below(x: float, digits: int = 10) -> str:
    return format(Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(Decimal(x)).normalize(), "f")


def _above(x: float, digits: int = 10) -> str:
    return format(Context(prec=digits, rounding=ROUND_CEILING).create_decimal(Decimal(x)).normalize(), "f")
