"""Page: the bounds along the learning rate, and the functions along the spike that it chooses from.

Theory alone. Optima along the learning rate are found by a scan with every dip refined: local minima, not certified.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from giantsteps.numerics.bounds.best import best
from giantsteps.numerics.bounds.results import Minimum
from giantsteps.numerics.bounds.ridge import bounds, local_minima
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.network import Network
from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.measurements.study import Study, Table

SHOWN = Model("tanh", "sin", 1.0, 1.0, 0.1, spike=1.5, bulk=1.0, alignment=1.0)
# Large batches align the spike with the target; 1e6 stands for infinity, where c = 1 and gamma = 1 to six digits.
LARGE, ALPHA = 1e6, 2.0
STEPS: dict[str, Network] = {
    "erf/erf": Network("erf", "erf", ALPHA, 1.0, 0.1, alpha0=LARGE, eta=1.0),
    "tanh/sin": Network("tanh", "sin", ALPHA, 1.0, 0.1, alpha0=LARGE, eta=1.0),
    "tanh/sin, alpha0 = 8": Network("tanh", "sin", ALPHA, 1.0, 0.1, alpha0=8.0, eta=1.0),
    "erf/sign, alpha0 = 4": Network("erf", "sign", ALPHA, 1.0, 0.1, alpha0=4.0, eta=1.0),
}
RATES = np.linspace(0.25, 12.0, 48)
RIDGE_RATES = (0.5, 1.5, 3.0, 5.0, 8.0, 12.0)


@dataclass(frozen=True)
class Optimum:
    """One problem: both bounds along RATES, their least values, and the least error over the ridge at RIDGE_RATES."""

    name: str
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    best_lower: Minimum
    best_upper: Minimum
    over_ridge: tuple[float, ...]

    @property
    def between(self) -> list[tuple[float, float, float]]:
        """The least error over the ridge with both bounds, at RIDGE_RATES, which lie on the scan."""
        places = [int(np.argmin(np.abs(RATES - eta))) for eta in RIDGE_RATES]
        return [(error, self.lower[k], self.upper[k]) for error, k in zip(self.over_ridge, places, strict=True)]


def optimum_of(name: str) -> Optimum:
    """Scan a problem along the learning rate."""
    network = STEPS[name]
    both = [bounds(_model(network, float(eta))) for eta in RATES]
    lower, upper = tuple(b.lower for b in both), tuple(b.upper for b in both)
    least = tuple(best(_model(network, eta), over="ridge").test_error for eta in RIDGE_RATES)
    return Optimum(name, lower, upper, _least(network, "lower", lower), _least(network, "upper", upper), least)


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


def perfect_rate(beta: float) -> float:
    """Where erf learns erf: r^2 = 1 + 2c at c = 1, r = (eta/beta) h1 h1* with h1 = h1* = 2/sqrt(3 pi)."""
    return float(np.sqrt(3.0) * 3.0 * np.pi / 4.0 * beta)


def study() -> Study:
    """The page."""
    return page([optimum_of(name) for name in STEPS])


def page(found: Sequence[Optimum]) -> Study:
    """The page from the scans."""
    places = [place for one in found for place in one.between]
    outside = sum(not low - 1e-9 <= error <= high + 1e-9 for error, low, high in places)
    rate, shown = perfect_rate(1.0), bounds(SHOWN)
    text = (
        "The least test error over the ridge lies between two distances of the target: to the line of $\\mu_0$ (upper "
        "bound) and to the span of $\\mu_0$ and $\\kappa \\mu_1$ (lower bound). For tanh/sin at r = "
        f"{SHOWN.spike:g}, c = {SHOWN.bulk:g}, gamma = 1 the distances are {shown.upper:.5f} and {shown.lower:.5f}.",
        "Along the learning rate both bounds have a local minimum, which is not certified.",
        f"For {found[0].name} with a large batch perfect learning is expected at eta = $3 \\sqrt{{3}} \\pi \\beta/4$ = "
        f"{rate:.4f}: there $\\mu_0$ is the target itself. The scan finds the least upper bound "
        f"{abs(found[0].best_upper.at - rate):.1g} away from it.",
        f"The least error over the ridge (alpha = {ALPHA:g}, every dip of its scan refined) is outside the bounds at "
        f"{outside} of {len(places)} points.",
    )
    table = Table.of(
        f"Least test error over the ridge, alpha = {ALPHA:g}, beta = 1, and the bounds there",
        f"problem | {' | '.join(f'eta = {eta:g}' for eta in RIDGE_RATES)}",
        (
            f"{one.name} | {' | '.join(f'{error:.4f} in [{low:.4f}, {high:.4f}]' for error, low, high in one.between)}"
            for one in found
        ),
    )
    optima = Table.of(
        f"Local minima of both bounds along the learning rate: a scan of {len(RATES)} rates, the dip refined",
        "problem | upper bound | at eta | lower bound | at eta",
        (
            f"{one.name} | {one.best_upper.error:.3g} | {one.best_upper.at:.4g} | {one.best_lower.error:.3g} | "
            f"{one.best_lower.at:.4g}"
            for one in found
        ),
    )
    title = "What one step can learn: functions, bounds, optimum"
    return Study("bound-functions", title, text, (optima, table), (_figure(found),))


def _figure(found: Sequence[Optimum]) -> draw.Figure:
    """Both bounds along the learning rate, and the least error over the ridge between them."""
    canvas, *all_axes = draw.panels(len(found), ylabel="test error")
    for axes, one in zip(all_axes, found, strict=True):
        draw.line(axes, RATES, np.maximum(one.upper, 1e-9), 1, "upper bound")
        draw.line(axes, RATES, np.maximum(one.lower, 1e-9), 0, "lower bound")
        draw.line(axes, RIDGE_RATES, one.over_ridge, 2, "best ridge", marker="^", ms=5, lw=0)
        axes.set(yscale="log", xlabel=r"rescaled learning rate $\tilde\eta$", title=one.name)
        axes.set_ylim(bottom=max(1e-7, 0.3 * min(one.lower)))
    draw.legend(all_axes[0])
    caption = (
        "Upper and lower bound after a gradient step with learning rate eta (Result 3.1, beta = 1; alpha0 is infinite "
        f"unless given), and the least test error over all ridges at alpha = {ALPHA:g}."
    )
    return draw.finished(canvas, "bounds_along_rate", "The bounds along the learning rate", caption)
