"""Page: where on a plane of samples and ridge one gradient step helps, cell by cell.

The question has two answers of one sign each, and a line between them. The sign of every cell is that in its middle, in
double precision; where the error estimates leave it open the cell is drawn as uncertain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.one_group.batch import solve_batch
from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.measurements.study import Study, Table

SLUG = "step_helps"
STUDENT, TARGET, BETA, ETA, NOISE = "tanh", "sin", 1.0, 3.0, 0.1
BATCHES = (0.25, 0.5, 1.0)
ALPHAS, RIDGES, COLUMNS, ROWS = (0.1, 10.0), (0.01, 10.0), 400, 250

_COLOURS = ("#0072B2", "#ffffff", "#D55E00")


def middles(ends: tuple[float, float], count: int) -> NDArray[np.float64]:
    """Of so many cells between the ends, all equally wide on the logarithmic scale: their geometric means."""
    edges = np.geomspace(*ends, count + 1)
    return np.sqrt(edges[:-1] * edges[1:])


@cache
def models(alpha0: float) -> tuple[Model, ...]:
    """After the step and without one, spike, bulk and alignment the doubles that Result 3.1 gives; alpha, ridge any."""
    return tuple(
        Model.from_gradient_step(
            STUDENT, TARGET, alpha=1.0, beta=BETA, ridge=0.1, alpha0=alpha0, eta=eta, noise=NOISE,
            bulk_model="isotropic",
        ).as_given()
        for eta in (ETA, 0.0)
    )  # fmt: skip


@dataclass(frozen=True)
class Panel:
    """Signs of the test error after the step less that without it, 0 where they are uncertain, (ROWS, COLUMNS)."""

    alpha0: float
    signs: NDArray[np.int8]

    def share(self, sign: int) -> float:
        """Of the area: every cell is as large as any other on the logarithmic scale."""
        return float(np.mean(self.signs == sign))

    def middle(self, sign: int) -> str:
        """The geometric mean of alpha and ridge over the cells of a sign."""
        rows, columns = np.nonzero(self.signs == sign)
        ridge, alpha = (
            float(np.exp(np.mean(np.log(places[index]))))
            for places, index in ((middles(RIDGES, ROWS), rows), (middles(ALPHAS, COLUMNS), columns))
        )
        return f"alpha = {alpha:.2g} and ridge {ridge:.2g}"


def panel_of(alpha0: float, columns: int = COLUMNS, rows: int = ROWS) -> Panel:
    """Both models solved in the middle of every cell."""
    alpha, ridge = np.meshgrid(middles(ALPHAS, columns), middles(RIDGES, rows))
    after, before = (solve_batch(one, alpha=alpha, ridge=ridge) for one in models(alpha0))
    difference = after.test_error - before.test_error
    known = after.converged & before.converged & (abs(difference) > after.error_estimate + before.error_estimate)
    return Panel(alpha0, np.where(known, np.sign(difference), 0.0).astype(np.int8))


def study() -> Study:
    """The page."""
    return page([panel_of(alpha0) for alpha0 in BATCHES])


def page(found: Sequence[Panel]) -> Study:
    """The page from its panels."""
    closing = "On no cell of these planes the step does harm."
    if hurts := [panel for panel in found if panel.share(1) > 0.0 < panel.share(-1)]:
        first, last = hurts[0], found[-1]
        closing = (
            f"The harmful part is {_percent(first.share(1))} of the area at alpha0 = {first.alpha0:g} and "
            f"{_percent(last.share(1))} at {last.alpha0:g}. At alpha0 = {first.alpha0:g} its middle is at "
            f"{first.middle(1)}, that of the helpful part at {first.middle(-1)}: a step on few samples adds noise to "
            "the bulk, and the ridge decides how much of it the readout fits."
        )
    text = (
        f"A gradient step on few samples may raise the test error. For which alpha and ridge, if {STUDENT} learns "
        f"{TARGET} (beta = {BETA:g}, eta = {ETA:g}, label noise {NOISE:g}), alpha is from {ALPHAS[0]:g} to "
        f"{ALPHAS[1]:g} and the ridge from {RIDGES[0]:g} to {RIDGES[1]:g}? The table answers by the isotropic theory.",
        closing,
        f"Each plane has {COLUMNS} by {ROWS} cells, solved at their centres in double precision, not certified. A cell "
        "is uncertain if its two test errors differ by less than their error estimates.",
    )
    shares = (" | ".join(f"{100.0 * panel.share(sign):.2f} %" for sign in (-1, 1, 0)) for panel in found)
    table = Table.of(
        "Shares of the area of the plane",
        "alpha0 | step helps | step hurts | uncertain",
        (f"{panel.alpha0:g} | {share}" for panel, share in zip(found, shares, strict=True)),
    )
    return Study(SLUG, "Where one step helps", text, (table,), (_figure(found),))


def _percent(share: float) -> str:
    return f"{100.0 * share:.2f} per cent"


def _figure(found: Sequence[Panel]) -> draw.Figure:
    """The planes side by side."""
    from matplotlib.colors import ListedColormap

    canvas, *all_axes = draw.panels(len(found), ylabel="ridge")
    for axes, panel in zip(all_axes, found, strict=True):
        axes.imshow(
            panel.signs, cmap=ListedColormap(_COLOURS), vmin=-1, vmax=1, origin="lower", aspect="auto",
            extent=(*np.log10(ALPHAS), *np.log10(RIDGES)), interpolation="nearest",
        )  # fmt: skip
        for axis, ends in ((axes.xaxis, ALPHAS), (axes.yaxis, RIDGES)):
            ticks = np.arange(np.log10(ends[0]), np.log10(ends[1]) + 0.5)
            axis.set_ticks(ticks, [f"{10.0**tick:g}" for tick in ticks])
        axes.set_title(f"alpha0 = {panel.alpha0:g}", fontsize=9)
        axes.set_xlabel("samples per dimension alpha")
        axes.grid(False)
    caption = (
        f"One gradient step (eta = {ETA:g}) lowers the test error in the blue cells and raises it in the orange cells. "
        f"{STUDENT} learns {TARGET}, isotropic bulk, both axes logarithmic, {COLUMNS} by {ROWS} cells."
    )
    return draw.finished(canvas, SLUG, "Where one step helps", caption)
