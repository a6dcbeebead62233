"""Learning curves as the paper draws them: networks as points, both theories as lines, what they differ by beneath."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.one_group.batch import solve_batch
from giantsteps.numerics.saddle_point.solve import solve
from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.measurements.experiments import Data, Experiment, Measured

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

ALPHAS = np.geomspace(0.25, 6.0, 31)
# Every second of them, where the network's own theory is solved.
SPARSE = ALPHAS[::2]


_LETTERS = {"alpha0": r"\alpha_0", "beta": r"\beta", "gamma": r"\gamma"}


@dataclass(frozen=True)
class Curve:
    """One learning curve: its name, a letter and its value, and its networks from the least data on."""

    name: str
    experiments: tuple[Experiment, ...]

    @property
    def label(self) -> str:
        """The name as LaTeX, for the legend."""
        letter, _, value = self.name.partition(" = ")
        return f"${_LETTERS.get(letter, letter)} = {value}$"

    @property
    def first(self) -> Network:
        """That with the least data."""
        network = self.experiments[0].subject
        assert isinstance(network, Network)
        return network

    def isotropic(self, alphas: Array) -> Array:
        """The paper's theory of the same step."""
        return np.asarray(solve_batch(self.first.model("isotropic"), alpha=alphas).test_error)

    def own(self, alphas: Array) -> Array:
        """The theory of the rows as the step leaves them."""
        model = self.first.model("network")
        return np.array([solve(model.changed(alpha=float(alpha))).test_error for alpha in alphas])


def per_cent(found: Sequence[Measured], theory: Array) -> list[Measured]:
    """Measurements less a theory, in per cent of it."""
    return [
        Measured(scale * one.mean - 100.0, scale * one.error, scale * one.spread)
        for scale, one in zip(100.0 / theory, found, strict=True)
    ]


def learning(axes: Axes, curves: Sequence[Curve], data: Data, beneath: Axes | None = None) -> list[Any]:
    """Points with one standard error, the isotropic theory whole, the network's own dashed; the points, for a legend.

    `beneath` shows measured minus isotropic theory and own minus isotropic theory, both in per cent of the isotropic.
    """
    shown = []
    for style, curve in enumerate(curves):
        found, own = [one.measured(data) for one in curve.experiments], curve.own(SPARSE)
        x = np.array([one.subject.alpha for one in curve.experiments])
        draw.line(axes, ALPHAS, curve.isotropic(ALPHAS), style, f"_isotropic theory, {curve.name}", ls="-", lw=1.6)
        draw.line(axes, SPARSE, own, style, f"_own theory, {curve.name}", ls="--", lw=1.0)
        shown.append(draw.points(axes, x, found, style, f"_networks, {curve.name}", size=4.0))
        if beneath is not None:
            gap = 100.0 * (own / curve.isotropic(SPARSE) - 1.0)
            draw.line(beneath, SPARSE, gap, style, f"_own less isotropic, {curve.name}", ls="--", lw=1.0)
            off = per_cent(found, curve.isotropic(x))
            draw.points(beneath, x, off, style, f"_networks less isotropic, {curve.name}", size=4.0)
    for one in filter(None, (axes, beneath)):
        one.set(xscale="log", xlabel=r"samples per dimension $\alpha = n/d$")
        draw.ticks(one, (0.5, 1.0, 2.0, 5.0))
    axes.set(ylabel="test error", ylim=(0.0, None))
    if beneath is not None:
        beneath.axhline(0.0, color=draw.DARK, lw=1.0, label="_isotropic theory")
        beneath.set(ylabel="less isotropic theory, %")
    return shown


def key(axes: Axes, curves: Sequence[Curve], shown: Sequence[Any], *, more: int = 0, **options: Any) -> None:
    """The legend: the points of the curves, then the first `more` labelled lines of the panel."""
    lines = [line for line in axes.get_lines() if not str(line.get_label()).startswith("_")][:more]
    labels = [curve.label for curve in curves] + [str(line.get_label()) for line in lines]
    axes.legend([*shown, *lines], labels, **({"frameon": True, "framealpha": 0.9, "fontsize": 8.5} | options))
