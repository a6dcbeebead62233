"""The difference of the isotropic test error from the network's own, over the plane of batch and learning rate.

All errors are at a finite width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.models.documents import WIDTH
from giantsteps.numerics.models.network import Network
from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.measurements.study import Table
from giantsteps.reports.studies.networks.learning_rate import errors

Array = NDArray[np.float64]

ACTIVATIONS = ("tanh", "relu", "gelu")
TARGET, ALPHA, BETA, RIDGE, NOISE = "sin", 2.0, 1.0, 0.05, 0.1
BATCHES = tuple(float(f"{x:.3g}") for x in np.geomspace(0.5, 20.0, 8))
ETAS = tuple(float(f"{x:.3g}") for x in np.geomspace(0.5, 12.0, 8))


@dataclass(frozen=True)
class Plane:
    """Test errors of one activation over batches (rows) and rates (columns), by both theories, and without a step."""

    student: str
    isotropic: Array
    network: Array
    plain: float

    @property
    def missed(self) -> Array:
        """The isotropic test error above that of the network's own theory, relative."""
        return np.asarray(self.isotropic / self.network - 1.0)

    @property
    def hurt(self) -> Array:
        """Where the step leaves more test error than no step, by the network's own theory."""
        return np.asarray(self.network > self.plain)


def plane_of(student: str, batches: Sequence[float] = BATCHES, etas: Sequence[float] = ETAS) -> Plane:
    """One activation."""
    networks = [Network(student, TARGET, ALPHA, BETA, RIDGE, alpha0, 1.0, NOISE) for alpha0 in batches]
    isotropic, own = (
        np.array([errors(network, theory, etas, WIDTH) for network in networks]) for theory in ("isotropic", "network")
    )
    return Plane(student, isotropic, own, errors(networks[0], "isotropic", [0.0], WIDTH)[0])


def text() -> str:
    """What is asked."""
    return (
        f"How large is the error of the isotropic theory at width {WIDTH}? The last table is for networks learning "
        f"{TARGET} with alpha = {ALPHA:g}, beta = {BETA:g}, ridge {RIDGE:g} and noise {NOISE:g}, over alpha0 = "
        f"{BATCHES[0]:g} to {BATCHES[-1]:g} and eta = {ETAS[0]:g} to {ETAS[-1]:g}."
    )


def _place(plane: Plane, k: int) -> str:
    row, column = divmod(k, plane.missed.shape[1])
    return f"{plane.missed[row, column]:+.0%} (alpha0 {BATCHES[row]:g}, eta {ETAS[column]:g})"


def table(found: Sequence[Plane]) -> Table:
    """The extremes and the corners, and where the step hurts."""
    corners = [(row, column) for row in (0, -1) for column in (0, -1)]
    heads = " | ".join(f"alpha0 {BATCHES[row]:g}, eta {ETAS[column]:g}" for row, column in corners)

    def row(one: Plane) -> str:
        ends = [_place(one, int(extreme(one.missed))) for extreme in (np.argmin, np.argmax)]
        cells = [*ends, *(f"{one.missed[corner]:+.1%}" for corner in corners), f"{one.hurt.mean():.0%} of the plane"]
        return " | ".join([one.student, *cells])

    return Table.of(
        "Difference of the isotropic theory, relative to the test error: the extremes, and the corners of the plane",
        f"activation | least | largest | {heads} | the step hurts on",
        map(row, found),
    )


def figure(found: Sequence[Plane]) -> draw.Figure:
    """The planes side by side, with the line beyond which the step hurts."""
    canvas, *all_axes = draw.panels(len(found), ylabel="alpha0")
    largest = 100.0 * max(float(np.max(np.abs(plane.missed))) for plane in found)
    for axes, plane in zip(all_axes, found, strict=True):
        image = axes.pcolormesh(
            ETAS, BATCHES, 100.0 * plane.missed, cmap="RdBu_r", vmin=-largest, vmax=largest, shading="nearest"
        )
        if plane.hurt.any() and not plane.hurt.all():
            axes.contour(ETAS, BATCHES, plane.network - plane.plain, levels=[0.0], colors="black", linewidths=1.2)
        axes.set(xscale="log", yscale="log", xlabel="learning rate eta")
        axes.set_title(plane.student, fontsize=9)
        axes.grid(False)
    canvas.colorbar(image, ax=all_axes, label="isotropic above own theory, %")
    caption = (
        f"Target {TARGET}: test error of the isotropic theory above that of the network's own theory, against learning "
        "rate and batch. On the black line the step does not change the test error. At larger learning rates and "
        "smaller batches it raises it."
    )
    return draw.finished(canvas, "missed_plane", "What the isotropic theory misses", caption)
