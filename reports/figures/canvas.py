"""What every figure is made of: a canvas of panels, lines of theory, points of measurement, and what becomes of it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from giantsteps.reports.figures.svg import svg_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from giantsteps.numerics.experiments.ridge import Estimate

# Okabe and Ito's palette, the colours that stay apart for colour-blind readers and dark enough on white; each with
# its own marker and dash.
STYLES = (
    ("#0072B2", "o", "-"),
    ("#D55E00", "s", "--"),
    ("#00785A", "^", "-."),
    ("#8B3A8B", "D", (0, (5, 1, 1, 1, 1, 1))),
    ("#333333", "v", ":"),
    ("#8A6D00", "P", "-"),
)
DARK = "#333333"


@dataclass(frozen=True)
class Figure:
    """A drawn figure: an SVG element, a caption that says exactly what is plotted, and what is plotted as CSV."""

    name: str
    title: str
    caption: str
    svg: str
    data: str = ""


def panels(
    count: int = 1, *, size: tuple[float, float] | None = None, share_y: bool = False, ylabel: str = ""
) -> tuple[Any, ...]:
    """A canvas with panels, two in a row: the canvas, then the axes of each, row by row; size in inches.

    More panels in a row would be illegible on a page. `ylabel` is the label of the first panel of each row.
    """
    # The object interface: no global state, no display, nothing to close.
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    columns, rows = min(count, 2), math.ceil(count / 2)
    canvas = Canvas(figsize=size or (3.6 + 3.0 * columns, 1.0 + 3.1 * rows), layout="constrained")
    FigureCanvasSVG(canvas)
    grid = canvas.subplots(rows, columns, squeeze=False).ravel()
    found = grid[:count]
    for axes in grid[count:]:
        axes.remove()
    for axes in found:
        if share_y and axes is not found[0]:
            axes.sharey(found[0])
        axes.grid(True, color="#dddddd", lw=0.6)
        axes.set_axisbelow(True)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    for axes in found[::columns]:
        axes.set_ylabel(ylabel)
    return canvas, *found


def line(axes: Axes, x: Any, y: Any, style: int, label: str = "", **options: Any) -> None:
    """A line in the colour and dash of a style."""
    colour, _, dash = STYLES[style % len(STYLES)]
    axes.plot(x, y, label=label or None, **({"color": colour, "ls": dash, "lw": 1.7} | options))


def points(
    axes: Axes, x: Sequence[float] | NDArray[np.float64], found: Sequence[Estimate], style: int, label: str = "",
    size: float = 4.5,
) -> Any:  # fmt: skip
    """Measurements with bars of one standard error; what is drawn, for a legend."""
    colour, marker, _ = STYLES[style % len(STYLES)]
    return axes.errorbar(
        list(x), [m.mean for m in found], yerr=[m.standard_error for m in found], color=colour, marker=marker, ms=size,
        lw=0, elinewidth=1.2, capsize=2.5, label=label or None,
    )  # fmt: skip


def keep_apart(axes: Axes, drawn: Sequence[Any], style: int, styles: int) -> None:
    """Move what was drawn of one of several series a little sideways of its data, so that error bars stay apart."""
    from matplotlib.transforms import ScaledTranslation

    shift = (style - (styles - 1) / 2.0) * 3.0 / 72.0  # inches
    for artist in drawn:
        artist.set_transform(axes.transData + ScaledTranslation(shift, 0.0, axes.figure.dpi_scale_trans))


def legend(axes: Axes, **options: Any) -> None:
    """The labels of the series in a small box inside the panel."""
    axes.legend(**({"frameon": True, "framealpha": 0.9, "edgecolor": "#cccccc", "fontsize": 8.5} | options))


def legend_outside(canvas: Canvas, axes: Axes, **options: Any) -> None:
    """The labels of the series of one panel, for all of them, beneath the panels."""
    usual: dict[str, Any] = {"loc": "outside lower center", "ncols": 4, "frameon": False, "fontsize": 9}
    canvas.legend(*axes.get_legend_handles_labels(), **(usual | options))


def style_key(canvas: Canvas, styles: Mapping[str, Mapping[str, Any]]) -> None:
    """What each style of line or mark means in every colour, beneath the panels."""
    from matplotlib.lines import Line2D

    lines = [Line2D([], [], **({"color": DARK} | dict(style)), label=label) for label, style in styles.items()]
    canvas.legend(handles=lines, loc="outside lower center", ncols=3, frameon=False, fontsize=9)


def ticks(axes: Axes, at: Sequence[float]) -> None:
    """These values of x and no others, as decimal numbers."""
    from matplotlib.ticker import FixedLocator, NullLocator

    axes.xaxis.set_major_locator(FixedLocator(list(at)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([f"{tick:g}" for tick in at])


def plain_scale(axes: Axes) -> None:
    """Decimal numbers on a logarithmic scale of y."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def finished(canvas: Canvas, name: str, title: str, caption: str) -> Figure:
    """The drawing with its words and its data."""
    return Figure(name, title, caption, svg_of(canvas, name, f"{title}. {caption}"), data_of(canvas))


def data_of(canvas: Canvas) -> str:
    """Every point of every line that is drawn, as CSV: panel, series, x, y, and the standard error of a measurement.

    What is below the rounding error of the panel's height is written as 0: its digits would be those of a processor.
    """
    from matplotlib.container import ErrorbarContainer

    rows = ["panel,series,x,y,standard_error"]
    for panel, axes in enumerate(canvas.axes, 1):
        measured = [one for one in axes.containers if isinstance(one, ErrorbarContainer)]
        bars = {one.lines[0]: one for one in measured}
        caps = {cap for one in measured for cap in one.lines[1]}
        nothing = np.finfo(float).eps * np.ptp(axes.get_ylim()) if axes.get_yscale() == "linear" else 0.0
        for number, line in enumerate((one for one in axes.lines if one not in caps), 1):
            label = str(bars.get(line, line).get_label()).lstrip("_")
            plain = not label or re.fullmatch(r"child\d+|nolegend_|None", label)
            name = f"line {number}" if plain else label.replace('"', "'")
            error = _half_heights(bars[line]) if line in bars else []
            for k, (x, y) in enumerate(np.asarray(line.get_xydata(), float)):
                seen = f"{error[k]:.9g}" if k < len(error) else ""
                y = 0.0 if abs(y) < nothing else y
                rows.append(f'{panel},"{name}",{x:.9g},{y:.9g},{seen}')
    return "\n".join(rows) + "\n"


def _half_heights(bars: Any) -> list[float]:
    """Half the heights of vertical bars; none where there are only others."""
    if not getattr(bars, "has_yerr", False):
        return []
    return [float(segment[-1][1] - segment[0][1]) / 2.0 for segment in bars.lines[2][-1].get_segments()]


def standalone(figure: Figure) -> str:
    """The figure as a file of its own: an SVG document has to name its vocabulary."""
    return figure.svg.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1) + "\n"
