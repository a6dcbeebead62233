"""Learning curves as the paper draws them: networks as points, both theories as lines, what they differ by beneath."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.one_group.batch import solve_batch
from giantsteps.numerics.saddle_point.solve import solve
from giantsteps.reports.figures.figures import plain_ticks
from giantsteps.reports.measurements.drawing import STYLES
from giantsteps.reports.measurements.experiments import Data, Measured

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

ALPHAS = np.geomspace(0.25, 6.0, 31)
# Every second of them, where the network's own theory is solved.
SPARSE = ALPHAS[::2]
DARK = "#333333"


@dataclass(frozen=True)
class Curve:
    """One learning curve: its label in the legend, its name in the data, its networks by the names of experiments."""

    label: str
    name: str
    networks: Mapping[str, Network]

    @property
    def first(self) -> Network:
        """That with the least data."""
        return next(iter(self.networks.values()))

    @property
    def alphas(self) -> Array:
        """Where networks were simulated."""
        return np.array([network.alpha for network in self.networks.values()])

    def isotropic(self, alphas: Array) -> Array:
        """The paper's theory of the same step."""
        return np.asarray(solve_batch(self.first.model("isotropic"), alpha=alphas).test_error)

    def own(self, alphas: Array) -> Array:
        """The theory of the rows as the step leaves them."""
        model = self.first.model("network")
        return np.array([solve(model.changed(alpha=float(alpha))).test_error for alpha in alphas])

    def measured(self, data: Data) -> list[Measured]:
        """The networks."""
        return [Measured.of(data[name]["test_error"]) for name in self.networks]


def draw(axes: Axes, curves: Sequence[Curve], data: Data, beneath: Axes | None = None, first: int = 0) -> list[Any]:
    """Points with one standard error, the isotropic theory whole, the network's own dashed; the points, for a legend.

    `beneath` shows measured minus isotropic theory and own minus isotropic theory, both in per cent of the isotropic.
    Styles begin at the number `first`.
    """
    shown = []
    for curve, (colour, marker, _) in zip(curves, STYLES[first:], strict=False):
        found, own = curve.measured(data), curve.own(SPARSE)
        mean, error = (np.array([getattr(one, name) for one in found]) for name in ("mean", "error"))
        style: dict[str, Any] = {
            "color": colour, "marker": marker, "ms": 4, "lw": 0, "elinewidth": 1.1, "capsize": 2,
        }  # fmt: skip
        axes.plot(ALPHAS, curve.isotropic(ALPHAS), color=colour, lw=1.6, label=f"_isotropic theory, {curve.name}")
        axes.plot(SPARSE, own, color=colour, lw=1.0, ls="--", label=f"_own theory, {curve.name}")
        shown.append(axes.errorbar(curve.alphas, mean, yerr=error, label=f"_networks, {curve.name}", **style))
        if beneath is not None:
            plain = curve.isotropic(curve.alphas)
            off, bars = 100.0 * (mean / plain - 1.0), 100.0 * error / plain
            gap = 100.0 * (own / curve.isotropic(SPARSE) - 1.0)
            beneath.plot(SPARSE, gap, color=colour, lw=1.0, ls="--", label=f"_own less isotropic, {curve.name}")
            beneath.errorbar(curve.alphas, off, yerr=bars, label=f"_networks less isotropic, {curve.name}", **style)
    for one in (axes, beneath):
        if one is not None:
            one.set(xscale="log", xlabel=r"samples per dimension $\alpha = n/d$")
            plain_ticks(one, (0.5, 1.0, 2.0, 5.0))
    axes.set(ylabel="test error", ylim=(0.0, None))
    if beneath is not None:
        beneath.axhline(0.0, color=DARK, lw=1.0, label="_isotropic theory")
        beneath.set(ylabel="less isotropic theory, %")
    return shown


def key(axes: Axes, curves: Sequence[Curve], shown: Sequence[Any], *, more: int = 0, **options: Any) -> None:
    """The legend: the points of the curves, then the first `more` labelled lines of the panel."""
    lines = [line for line in axes.get_lines() if not str(line.get_label()).startswith("_")][:more]
    labels = [curve.label for curve in curves] + [str(line.get_label()) for line in lines]
    axes.legend([*shown, *lines], labels, **({"frameon": True, "framealpha": 0.9, "fontsize": 8.5} | options))
