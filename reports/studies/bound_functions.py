"""Page: the bounds along the learning rate, and the functions along the spike that it chooses from.

Theory alone. Optima along the learning rate are found by a scan with every dip refined; those of both bounds are then
certified in ball arithmetic (`numerics.certificates.minima.optimum`) where activation and target allow it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.balls.arithmetic import BallError
from giantsteps.numerics.bounds.results import Minimum
from giantsteps.numerics.bounds.ridge import best_ridge, bounds, local_minima
from giantsteps.numerics.certificates.minima import optimum as certify_optimum
from giantsteps.numerics.certificates.minima.bound_track import LOWER, UPPER, Track
from giantsteps.numerics.certificates.minima.optimum import certify_minimum
from giantsteps.numerics.certificates.minima.spike_path import along_rate
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.network import Network
from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.figures.canvas import Figure
from giantsteps.reports.measurements.study import Study, Table

SHOWN = Model(activation("tanh"), activation("sin"), 1.0, 1.0, 0.1, spike=1.5, bulk=1.0, alignment=1.0)
# Large batches align the spike with the target; 1e6 stands for infinity, where c = 1 and gamma = 1 to six digits.
LARGE = 1e6
STEPS: tuple[tuple[str, Network], ...] = (
    ("erf/erf", Network(activation("erf"), activation("erf"), 2.0, 1.0, 0.1, alpha0=LARGE, eta=1.0)),
    ("tanh/sin", Network(activation("tanh"), activation("sin"), 2.0, 1.0, 0.1, alpha0=LARGE, eta=1.0)),
    ("tanh/sin, alpha0 = 8", Network(activation("tanh"), activation("sin"), 2.0, 1.0, 0.1, alpha0=8.0, eta=1.0)),
    ("erf/sign, alpha0 = 4", Network(activation("erf"), activation("sign"), 2.0, 1.0, 0.1, alpha0=4.0, eta=1.0)),
)
RATES = np.linspace(0.25, 12.0, 48)
RIDGE_RATES = (0.5, 1.5, 3.0, 5.0, 8.0, 12.0)
# The rates that the certificates cover.
RANGE = (Fraction(1), Fraction(8))
NOT_TRIED = certify_optimum.Optimum("estimated: no certificate was tried")


@dataclass(frozen=True)
class Optimum:
    """One problem: both bounds along RATES, their least values, and the least error over the ridge at a few rates.

    certificates: what is certain about the least upper bound and about the least lower bound.
    """

    name: str
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    best_lower: Minimum
    best_upper: Minimum
    over_ridge: tuple[float, ...]
    certificates: tuple[certify_optimum.Optimum, certify_optimum.Optimum] = (NOT_TRIED, NOT_TRIED)


def optima() -> tuple[Optimum, ...]:
    """Scan every problem along the learning rate."""
    found = []
    for name, network in STEPS:
        both = [bounds(_model(network, float(eta))) for eta in RATES]
        lower, upper = [b.lower for b in both], [b.upper for b in both]
        least = [best_ridge(_model(network, eta)).test_error for eta in RIDGE_RATES]
        best_lower, best_upper = _least(network, "lower", lower), _least(network, "upper", upper)
        found.append(
            Optimum(
                name, tuple(lower), tuple(upper), best_lower, best_upper, tuple(least),
                _certificates(network, best_upper.at, best_lower.at),
            )
        )  # fmt: skip
    return tuple(found)


def _model(network: Network, eta: float) -> Model:
    return replace(network, eta=eta).model("isotropic")


def _least(network: Network, which: str, values: Sequence[float]) -> Minimum:
    """The least of one bound along the rate: the dip of the scan refined, or an end of it."""
    k = int(np.argmin(values))
    if k in (0, len(values) - 1):
        return Minimum(float(RATES[k]), values[k])
    near = [float(RATES[k - 1]), float(RATES[k]), float(RATES[k + 1])]
    # Rounding of the least squares is a zero here: a dip may be as shallow as 1e-14.
    dips = local_minima(lambda eta: float(getattr(bounds(_model(network, eta)), which)), near, noise=0.0)
    return min(dips, key=lambda dip: dip.error) if dips else Minimum(near[1], values[k])


def _certificates(
    network: Network, upper: float, lower: float
) -> tuple[certify_optimum.Optimum, certify_optimum.Optimum]:
    try:
        path = along_rate(
            network.activation, network.target, alpha0=network.alpha0, beta=network.beta, noise=network.noise
        )
        track = Track(path, *RANGE)
    except BallError as reason:
        none = certify_optimum.Optimum(f"estimated: {reason}")
        return none, none
    return certify_minimum(track, UPPER, upper), certify_minimum(track, LOWER, lower)


def _certified(found: certify_optimum.Optimum) -> str:
    """One cell: the bracket and the intervals on which the bound is monotone and least, or why there is none."""
    if not found.certified:
        return found.status
    left, right = found.bracket
    least = f"least on [{found.least_on[0]:.4g}, {found.least_on[1]:.4g}]"
    if found.at_end:
        return f"at an end of what was scanned, eta = {left:.4g}; {least}"
    number = "one minimum" if found.single else "a minimum (flat to second order)"
    return (
        f"{number} within {right - left:.0e} of eta = {(left + right) / 2:.8g}; falls from {found.falls_from:.4g} "
        f"to it, rises from it to {found.rises_to:.4g}; {least}"
    )


def perfect_rate(beta: float) -> float:
    """Where erf learns erf: r^2 = 1 + 2c at c = 1, r = (eta/beta) h1 h1* with h1 = h1* = 2/sqrt(3 pi)."""
    return float(np.sqrt(3.0) * 3.0 * np.pi / 4.0 * beta)


def study() -> Study:
    """The page."""
    found = optima()
    return replace(page(found), figures=(bounds_drawn(found),))


def page(found: Sequence[Optimum]) -> Study:
    """The page from the scans: every number in the text is computed from them."""
    outside = sum(
        not low - 1e-9 <= error <= high + 1e-9
        for one in found
        for error, low, high in zip(one.over_ridge, _at(one.lower), _at(one.upper), strict=True)
    )
    count = sum(len(one.over_ridge) for one in found)
    perfect = found[0]
    rate = perfect_rate(STEPS[0][1].beta)
    lower, upper = bounds(SHOWN).lower, bounds(SHOWN).upper
    certain = [sum(one.certificates[which].certified for one in found) for which in range(2)]
    text = (
        "The least test error over the ridge lies between two distances of the target: to the line of $\\mu_0$ (upper "
        "bound) and to the span of $\\mu_0$ and $\\kappa \\mu_1$ (lower bound). For tanh/sin at r = "
        f"{SHOWN.spike:g}, c = {SHOWN.bulk:g}, gamma = 1 the distances are {upper:.5f} and {lower:.5f}.",
        f"Along the learning rate both bounds have an optimum (a scan of {len(RATES)} rates, the dip refined): "
        + "; ".join(
            f"{one.name}: upper bound {one.best_upper.error:.3g} at eta = {one.best_upper.at:.4g}, lower bound "
            f"{one.best_lower.error:.3g} at {one.best_lower.at:.4g}"
            for one in found
        )
        + ".",
        f"Of {len(found)} optima {certain[0]} of the upper bound and {certain[1]} of the lower bound are certified: "
        f"ball arithmetic encloses slopes and values for rates from {float(RANGE[0]):g} to {float(RANGE[1]):g}. A "
        "bracket of the second table holds a minimum, the bound is monotone on both sides up to the ends named, and "
        "on the interval named last no rate outside the bracket does as well.",
        f"For {perfect.name} with a large batch perfect learning is expected at eta = $3 \\sqrt{{3}} \\pi \\beta/4$ = "
        f"{rate:.4f}: there $\\mu_0$ is the target itself. The scan finds the least upper bound "
        f"{abs(perfect.best_upper.at - rate):.1g} away from it.",
        f"The least error over the ridge (alpha = {STEPS[0][1].alpha:g}, every dip of its scan refined) is outside the "
        f"bounds at {outside} of {count} points.",
    )
    table = Table(
        f"Least test error over the ridge, alpha = {STEPS[0][1].alpha:g}, beta = {STEPS[0][1].beta:g}, and the "
        "bounds there",
        ("problem", *(f"eta = {eta:g}" for eta in RIDGE_RATES)),
        tuple(
            (
                one.name,
                *(
                    f"{error:.4f} in [{low:.4f}, {high:.4f}]"
                    for error, low, high in zip(one.over_ridge, _at(one.lower), _at(one.upper), strict=True)
                ),
            )
            for one in found
        ),
    )
    certificates = Table(
        f"The learning rates of the least bounds on [{float(RANGE[0]):g}, {float(RANGE[1]):g}]",
        ("problem", "bound", "estimate", "what is certain"),
        tuple(
            (one.name, which, f"{best.at:.7g}", _certified(certificate))
            for one in found
            for which, best, certificate in (
                ("upper", one.best_upper, one.certificates[0]),
                ("lower", one.best_lower, one.certificates[1]),
            )
        ),
    )
    return Study("bound-functions", "What one step can learn: functions, bounds, optimum", text, (table, certificates))


def _at(values: Sequence[float]) -> list[float]:
    """A bound at RIDGE_RATES, which lie on the scan."""
    return [values[int(np.argmin(np.abs(RATES - eta)))] for eta in RIDGE_RATES]


def bounds_drawn(found: Sequence[Optimum]) -> Figure:
    """Both bounds along the learning rate, and the least error over the ridge between them."""
    canvas, *all_axes = draw.panels(len(found), size=(13.0, 3.5))
    for axes, one in zip(all_axes, found, strict=True):
        draw.line(axes, RATES, np.maximum(one.upper, 1e-9), 1, "upper bound")
        draw.line(axes, RATES, np.maximum(one.lower, 1e-9), 0, "lower bound")
        draw.line(axes, RIDGE_RATES, one.over_ridge, 2, "best ridge", marker="^", ms=5, lw=0)
        axes.set(yscale="log", xlabel=r"$\tilde\eta$", title=one.name)
        axes.set_ylim(bottom=max(1e-7, 0.3 * min(one.lower)))
    all_axes[0].set_ylabel("test error")
    draw.legend(all_axes[0])
    caption = (
        "Upper and lower bound after a gradient step of rate eta (Result 3.1, beta = 1; alpha0 infinite where not "
        f"given), and the least test error over the ridge at alpha = {STEPS[0][1].alpha:g}."
    )
    return draw.finished(canvas, "bounds_along_rate", "The bounds along the learning rate", caption)
