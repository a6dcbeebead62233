"""The phase diagram of a sweep, drawn from its result file: one swept parameter a curve, two a heat map."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from giantsteps.reports.command_line.problems import InputProblem
from giantsteps.reports.figures.files import SUFFIXES, matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from giantsteps.numerics.sweeps.sweep import Axis, Sweep

MOST_PANELS = 9
_SIZE = (4.6, 3.6)  # inches of one panel
_LETTERS = 60  # of a line over one panel
_FEW_DECADES = 30.0


def check_plot(sweep: Sweep, path: Path) -> None:
    """Raises InputProblem where the diagram could not be drawn: better before a long sweep than after it."""
    matplotlib()
    if path.suffix not in SUFFIXES or not path.absolute().parent.is_dir():
        raise InputProblem(
            f"--plot was given {str(path)[:80]!a}; a file ending in {', '.join(SUFFIXES)} in a directory that is there "
            "is accepted, for example --plot diagram.svg"
        )
    axes = _drawn_axes(sweep)
    if not axes:
        raise InputProblem('--plot needs a swept parameter, for example alpha = "log:0.1:10:200"')
    if len(axes) > 3 or (len(axes) == 3 and len(axes[0].values) > MOST_PANELS):
        raise InputProblem(
            f"--plot draws one or two swept parameters, and a third one of at most {MOST_PANELS} values as panels; the "
            f"sweep has {', '.join(f'{axis.name} of {len(axis.values)} values' for axis in axes)}: omit --plot, "
            "or fix one, for example beta = 1"
        )


def draw(sweep: Sweep, results: Path) -> Figure:
    """Test errors against the swept parameters; points that failed or are not there yet stay blank."""
    from matplotlib.figure import Figure

    axes = _drawn_axes(sweep)
    panels = axes[0].values if len(axes) == 3 else (None,)
    rows = math.ceil(len(panels) / 3)
    across = math.ceil(len(panels) / rows)
    figure = Figure(figsize=(_SIZE[0] * across, _SIZE[1] * rows), layout="constrained")
    drawn = figure.subplots(rows, across, squeeze=False).ravel()
    for axis in drawn[len(panels) :]:
        axis.set_axis_off()
    if len(axes) == 1:
        _curve(drawn[0], sweep, axes[0], results)
    else:
        _maps(figure, drawn, sweep, axes, results)
    said = filter(None, (fixed_sentence(sweep), apart_sentence(sweep, results)))
    figure.suptitle("\n".join(fill(line, _LETTERS * across) for line in said), fontsize="small", parse_math=False)
    return figure


def fixed_sentence(sweep: Sweep) -> str:
    """The sentence over a diagram: the functions, and the parameters that have one value at all points."""
    fixed = (f"{axis.name}={axis.values[0]:g}" for axis in sweep.axes if len(axis.values) == 1)
    return ", ".join([f"{sweep.activation} learns {sweep.target}", *fixed])


def apart_sentence(sweep: Sweep, results: Path) -> str | None:
    """The sentence over a diagram whose limits are far from their values at the sweep's width; None where none is."""
    import numpy as np

    from giantsteps.numerics.models.documents import APART, apart_points

    if sweep.kind == "simulation":
        return None
    limit, wide = _read(sweep, results, "test_error"), _read(sweep, results, "test_error_at_width")
    known = np.isfinite(limit) & np.isfinite(wide)
    count = int(np.sum(np.abs(wide - limit)[known] > APART * np.abs(limit)[known]))
    return apart_points(sweep.width, count, len(sweep))


def _drawn_axes(sweep: Sweep) -> list[Axis]:
    """The axes of the diagram; of three, the one with the fewest values comes first: its values become panels."""
    axes = [axis for axis in sweep.swept if len(axis.values) > 1]
    if sweep.mode == "zip":
        return axes[:1]
    if len(axes) == 3:
        panels = min(axes, key=lambda axis: len(axis.values))
        return [panels, *(axis for axis in axes if axis is not panels)]
    return axes


def _read(sweep: Sweep, results: Path, column: str) -> NDArray[Any]:
    """One column of the result file by point; NaN where a point failed or is missing."""
    import numpy as np

    values = np.full(len(sweep), np.nan)
    file = sqlite3.connect(f"{results.absolute().as_uri()}?mode=ro", uri=True)
    try:
        for point, value in file.execute(f"SELECT point, {column} FROM points WHERE converged"):
            values[point] = np.nan if value is None else value
    finally:
        file.close()
    return values


def _curve(axis: Axes, sweep: Sweep, swept: Axis, results: Path) -> None:
    if sweep.kind != "simulation":
        axis.plot(swept.values, _read(sweep, results, "test_error"), color="#0072B2", label="test error, theory")
        if apart_sentence(sweep, results):
            wide = _read(sweep, results, "test_error_at_width")
            axis.plot(swept.values, wide, color="#0072B2", ls="--", label=f"theory at width {sweep.width}")
    if sweep.simulated:
        mean = _read(sweep, results, "simulated_test_error")
        error = _read(sweep, results, "simulated_test_error_standard_error")
        assert sweep.experiment is not None
        label = f"simulation, d = {sweep.experiment.dimension}, {sweep.experiment.seeds} seeds"
        axis.errorbar(swept.values, mean, error, fmt="o", markersize=4, color="#D55E00", capsize=2, label=label)
    name_coordinate(axis, "x", swept)
    others = [other.name for other in sweep.swept if other is not swept and len(other.values) > 1]
    if others:
        axis.set_xlabel(f"{swept.name} ({', '.join(others)} with it)")
    axis.set_ylabel("test error")
    axis.legend(frameon=False)


def _maps(figure: Any, drawn: Any, sweep: Sweep, axes: list[Axis], results: Path) -> None:
    """One heat map per panel, all on one colour scale."""
    import numpy as np
    from matplotlib.colors import LogNorm, Normalize

    column = "simulated_test_error" if sweep.kind == "simulation" else "test_error"
    order = [axis.name for axis in sweep.swept if len(axis.values) > 1]
    values = _read(sweep, results, column).reshape([len(a.values) for a in sweep.swept if len(a.values) > 1])
    # Dimensions in the order of `axes`, then the larger of the last two ones across the page.
    values = np.transpose(values, [order.index(axis.name) for axis in axes])
    cube = values if len(axes) == 3 else values[None]
    first, second = axes[-2:]
    finite = cube[np.isfinite(cube)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    norm = LogNorm(low, high) if high > 5.0 * low > 0.0 else Normalize(low, high)
    mesh = None
    for k, table in enumerate(cube):
        axis = drawn[k]
        mesh = cells(axis, first.values, second.values, table.T, norm=norm)
        name_coordinate(axis, "x", first)
        name_coordinate(axis, "y", second)
        if len(axes) == 3:
            axis.set_title(f"{axes[0].name} = {axes[0].values[k]:g}")
    figure.colorbar(mesh, ax=list(drawn), label="test error" + (", simulated" if sweep.kind == "simulation" else ""))


def geometric(values: Sequence[float] | NDArray[Any]) -> bool:
    """Whether values are spaced by a ratio, from their first and last steps."""
    ordered = sorted(map(float, values))
    if len(ordered) < 3 or ordered[0] <= 0.0:
        return False
    ratios = (ordered[1] / ordered[0], ordered[-1] / ordered[-2])
    return min(ratios) > 1.0 and math.isclose(*ratios, rel_tol=1e-6)


def name_coordinate(axis: Axes, which: str, swept: Axis) -> None:
    """Name a coordinate; logarithmic where its values are spaced so."""
    if geometric(swept.values):
        (axis.set_xscale if which == "x" else axis.set_yscale)("log")
        low, high = min(swept.values), max(swept.values)
        if 5.0 * low <= high < _FEW_DECADES * low:
            from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

            # 1, 2, 5, 10 ...: matplotlib names every multiple of so short an axis, one upon the other. Over a factor of
            # five there are two of them at least.
            along = axis.xaxis if which == "x" else axis.yaxis
            along.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            along.set_major_formatter(StrMethodFormatter("{x:g}"))
            along.set_minor_formatter(NullFormatter())
    (axis.set_xlabel if which == "x" else axis.set_ylabel)(swept.name)


def cells(axes: Axes, x: Sequence[float], y: Sequence[float], table: NDArray[Any], **options: Any) -> Any:
    """A heat map of a table (y, x), a cell around each point: half way to its neighbours, on the scale they are on."""
    import numpy as np

    # Cells have to follow one another; a list may be given in any order.
    by_x, by_y = np.argsort(x), np.argsort(y)
    shown = np.ma.masked_invalid(table[np.ix_(by_y, by_x)])
    return axes.pcolormesh(_edges(np.array(x)[by_x]), _edges(np.array(y)[by_y]), shown, rasterized=True, **options)


def _edges(values: NDArray[Any]) -> NDArray[Any]:
    """The ends of the cells around increasing values, one more than there are values."""
    import numpy as np

    places = np.log(values) if (by_ratio := geometric(values)) else values
    steps = np.diff(places) / 2.0
    edges = np.concatenate([[places[0] - steps[0]], places[1:] - steps, [places[-1] + steps[-1]]])
    return np.exp(edges) if by_ratio else edges
