"""What the figures of the studies share: a canvas of panels, and the marks of theory and measurement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from giantsteps.reports.figures.figures import STYLES, Figure, data_of
from giantsteps.reports.figures.svg import svg_of
from giantsteps.reports.measurements.experiments import Measured
from giantsteps.reports.measurements.study import command

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

__all__ = ["STYLES", "finished", "legend", "panels", "points"]


def panels(count: int = 1, *, width: float = 0.0, height: float = 4.0, share_y: bool = False) -> tuple[Canvas, Any]:
    """A canvas with `count` panels side by side, and its list of axes."""
    # The object interface: no global state, no display, nothing to close.
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(width or (6.6 if count == 1 else 4.6 * count), height), layout="constrained")
    FigureCanvasSVG(canvas)
    axes = [canvas.add_subplot(1, count, 1)]
    axes += [canvas.add_subplot(1, count, k + 1, sharey=axes[0] if share_y else None) for k in range(1, count)]
    for one in axes:
        one.grid(True, color="#dddddd", lw=0.6)
        one.set_axisbelow(True)
        for side in ("top", "right"):
            one.spines[side].set_visible(False)
    return canvas, axes


def points(axes: Axes, x: Sequence[float], found: Sequence[Measured], style: int, label: str = "") -> None:
    """Measurements with bars of one standard error."""
    colour, marker, _ = STYLES[style]
    axes.errorbar(
        list(x), [m.mean for m in found], yerr=[m.error for m in found], color=colour, marker=marker, ms=4.5, lw=0,
        elinewidth=1.2, capsize=2.5, label=label or None,
    )  # fmt: skip


def legend(axes: Axes, **options: Any) -> None:
    """A small legend inside the panel."""
    axes.legend(**({"frameon": True, "framealpha": 0.9, "edgecolor": "#cccccc", "fontsize": 8.5} | options))


def finished(canvas: Canvas, name: str, title: str, caption: str, call: str = "") -> Figure:
    """The figure as a page takes it; without a call of its own it is the one figure of the study of its name."""
    svg = svg_of(canvas, name, f"{title}. {caption}")
    return Figure(name, title, caption, svg, call or command(name), data_of(canvas))
