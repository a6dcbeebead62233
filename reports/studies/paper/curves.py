"""Learning curves as the paper draws them: networks as points, both theories as lines, their difference beside them."""

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
# How the two theories are drawn, and the key of these styles.
ISOTROPIC, OWN = {"ls": "-", "lw": 1.6}, {"ls": "--", "lw": 1.0}
THEORIES = {"theory, isotropic bulk": ISOTROPIC, "theory, network's own bulk": OWN}
DIFFERENCE = "difference from isotropic theory, %"

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


def learning(axes: Axes, curves: Sequence[Curve], data: Data, aside: Axes | None = None) -> list[Any]:
    """Networks as points with one standard error, both theories as lines; returns the points, for a legend.

    `aside` shows networks and own theory minus the isotropic theory, in per cent of the isotropic theory. Its points
    stand a little sideways of their alpha.
    """
    shown = []
    for style, curve in enumerate(curves):
        found, own = [one.measured(data) for one in curve.experiments], curve.own(SPARSE)
        x = np.array([one.subject.alpha for one in curve.experiments])
        draw.line(axes, ALPHAS, curve.isotropic(ALPHAS), style, f"_isotropic theory, {curve.name}", **ISOTROPIC)
        draw.line(axes, SPARSE, own, style, f"_own theory, {curve.name}", **OWN)
        shown.append(draw.points(axes, x, found, style, f"_networks, {curve.name}", size=4.0))
        if aside is not None:
            gap = 100.0 * (own / curve.isotropic(SPARSE) - 1.0)
            draw.line(aside, SPARSE, gap, style, f"_own minus isotropic, {curve.name}", **OWN)
            off = per_cent(found, curve.isotropic(x))
            drawn = draw.points(aside, x, off, style, f"_networks minus isotropic, {curve.name}", size=4.0)
            draw.keep_apart(aside, drawn.get_children(), style, len(curves))
    for one in filter(None, (axes, aside)):
        one.set(xscale="log", xlabel=r"samples per dimension $\alpha = n/d$")
        draw.ticks(one, (0.5, 1.0, 2.0, 5.0))
    axes.set(ylabel="test error", ylim=(0.0, None))
    if aside is not None:
        aside.axhline(0.0, color=draw.DARK, lw=1.0, label="_isotropic theory")
        aside.set(ylabel=DIFFERENCE)
    return shown


def key(axes: Axes, curves: Sequence[Curve], shown: Sequence[Any], *, more: int = 0, **options: Any) -> None:
    """The legend: the points of the curves, then the first `more` labelled lines of the panel."""
    lines = [line for line in axes.get_lines() if not str(line.get_label()).startswith("_")][:more]
    labels = [curve.label for curve in curves] + [str(line.get_label()) for line in lines]
    axes.legend([*shown, *lines], labels, **({"frameon": True, "framealpha": 0.9, "fontsize": 8.5} | options))
