"""How fast and how accurate, by the stored run of `benchmarks.run` (benchmarks/speed/speed.json)."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.measurements.study import Study, Table

DATA = Path(__file__).parent.parent.parent / "benchmarks" / "speed" / "speed.json"

Data = Mapping[str, Any]

# Residuals that a solution may have, where the baseline stops at 1e-4.
RESIDUAL = 1e-12
# From this dimension on the time of an experiment is that of its matrix products; below, drawing numbers weighs in.
AT_SCALE = 2000

# One point with a convex loss, tanh student and sign target.
CONVEX_MILLISECONDS = {"logistic": 50.0, "hinge": 30.0, "huber:1": 10.0}


@dataclass(frozen=True)
class Bar:
    """A measured number beside what was promised: `least` says that it has to reach `limit`, else to stay under it."""

    what: str
    value: float
    limit: float
    unit: str
    least: bool = False

    @property
    def met(self) -> bool:
        """Whether the promise is kept."""
        return self.value >= self.limit if self.least else self.value <= self.limit

    def __str__(self) -> str:
        promised = f"at {'least' if self.least else 'most'} {_number(self.limit)} {self.unit}"
        return f"{self.what} | {_number(self.value)} {self.unit} | {promised} | {'met' if self.met else 'missed'}"


def bars(data: Data) -> tuple[Bar, ...]:
    """All promises, from the stored measurement."""
    plain, single, batch = data["baseline"], data["single"], data["batch"]
    breakpoints, commands = data["batch with breakpoints"], data["commands"]
    simulated = [row for row in data["by dimension"] if row["dimension"] >= AT_SCALE]
    memory = data["by points"]
    flat = memory[-1]["peak_bytes_per_point"] / memory[-2]["peak_bytes_per_point"]
    convex = data["convex"].values()
    worst = max(entry["residual"] for entry in (single, batch, breakpoints, data["four groups"]))
    return (
        Bar("one point, against the baseline", plain["seconds"] / single["seconds"], 2_000, "times faster", True),
        Bar(
            "a point of a batch, against the baseline",
            plain["seconds"] / batch["seconds_per_point"],
            200_000,
            "times faster",
            True,
        ),
        Bar("one point", 1e3 * single["seconds"], 0.5, "ms"),
        Bar("one point with four readout groups", 1e3 * data["four groups"]["seconds"], 5.0, "ms"),
        *(
            Bar(f"a convex loss, {name}: one point", 1e3 * data["convex"][name]["seconds"], most, "ms")
            for name, most in CONVEX_MILLISECONDS.items()
        ),
        Bar("a convex loss, error of the order parameters", max(row["parameter_error"] for row in convex), 1e-10, ""),
        Bar("a point of a batch, analytic", 1e6 * batch["seconds_per_point"], 4.0, "microseconds"),
        Bar("a point of a batch, with breakpoints", 1e6 * breakpoints["seconds_per_point"], 20.0, "microseconds"),
        Bar("largest residual", worst, RESIDUAL, ""),
        Bar("points of the batches that did not converge", _failed(batch) + _failed(breakpoints), 0, ""),
        Bar("a convex loss, points that did not converge", sum(map(_failed, convex)), 0, ""),
        Bar("memory per point, ten times the points", flat, 1.1, "times as much"),
        Bar(f"an experiment, d >= {AT_SCALE}", max(row["ratio"] for row in simulated), 1.5, "times the bare products"),
        Bar("50 digits", _at(data["by digits"], "digits", 50)["seconds"], 2.0, "s"),
        Bar("`giantsteps --help`", commands["help"]["seconds"], 0.2, "s"),
        Bar("`giantsteps solve`, one point", commands["solve one point"]["seconds"], 1.0, "s"),
        Bar("`giantsteps solve --json`, 400 x 250 points", commands["solve 400 x 250 points"]["seconds"], 8.0, "s"),
    )


def _failed(batch: Mapping[str, Any]) -> int:
    return int(batch["points"] - batch["converged"])


def _at(rows: Sequence[Mapping[str, Any]], name: str, value: int) -> Mapping[str, Any]:
    return next(row for row in rows if row[name] == value)


def _number(value: float) -> str:
    """Three digits, thousands apart."""
    if value == 0.0:
        return "0"
    if abs(value) >= 100.0:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:.3g}"


def study() -> Study | None:
    """The page; None where nothing is stored."""
    return page(json.loads(DATA.read_text(encoding="utf-8"))) if DATA.is_file() else None


def page(data: Data) -> Study:
    """The page from one run."""
    plain, single, batch, where = data["baseline"], data["single"], data["batch"], data["measured on"]
    kept = bars(data)
    missed = [bar.what for bar in kept if not bar.met]
    verdict = "All are kept." if not missed else f"Not kept: {'; '.join(missed)}."
    largest = max(data["by dimension"], key=lambda row: row["dimension"])
    many = data["many ridges"]
    text = (
        "The baseline is written here after the paper's description: all thirteen order parameters iterated with "
        f"damping 1/2 until none moves by more than {plain['stop']:g}, coefficients by a 19-node Gauss-Hermite rule, "
        "`scipy.integrate.quad` over $\\kappa$ in $[-10, 10]$ at its defaults inside every update, traces from the "
        "eigenvalues of one sample at d = 2000, which are not part of its time. It needs "
        f"{plain['updates']} updates and ends with a relative error of {plain['error']:.1e} in the test error.",
        f"One point by Newton's method takes {_number(plain['seconds'] / single['seconds'])} times less, at a residual "
        f"of at most {single['residual']:.0e} and an error of {_error(single['error'])}; a point of a batch of "
        f"{batch['points']:,} takes {_number(plain['seconds'] / batch['seconds_per_point'])} times less, residual at "
        f"most {batch['residual']:.0e}, error at most {_error(batch['error'])} at {batch['compared']} points compared. "
        "Errors are relative, against 30 digits by the equations in their spectral form.",
        f"An experiment at d = {largest['dimension']} takes {largest['ratio']:.2f} times its bare matrix products and "
        f"Cholesky factor, and holds {largest['peak_bytes'] / 2**20:.0f} MiB. {many['ridges']} ridges on one draw at "
        f"d = {many['dimension']} take {many['seconds'] / many['one_ridge_seconds']:.1f} times as long as one.",
        "Times are processor seconds of one thread, the best of several runs; ratios depend little on the machine, "
        f"times do. This run: {where['cores']} cores, Python {where['python']}, NumPy {where['numpy']}. {verdict}",
    )
    promises = Table.of(
        "What is promised and what was measured in one run", "what | measured | promised | ", map(str, kept)
    )
    experiments = Table.of(
        "One finite-size experiment, n = 1.5 d, p = d, beside the bare matrix products and Cholesky factor",
        "d | experiment | bare | ratio | memory",
        (
            f"{row['dimension']} | {_time(row['seconds'])} | {_time(row['bare_seconds'])} | {row['ratio']:.2f} | "
            f"{row['peak_bytes'] / 2**20:.0f} MiB"
            for row in data["by dimension"]
        ),
    )
    tables = (promises, _side_by_side(data), experiments)
    return Study("speed", "Speed and accuracy", text, tables, (_solver_figure(data), _cost_figure(data)), "make bench")


def _side_by_side(data: Data) -> Table:
    """Time beside accuracy."""
    plain = data["baseline"]
    rows = [f"baseline | {_time(plain['seconds'])} | stops at {plain['stop']:g} | {_error(plain['error'])}"]
    for name, label in _NAMES.items():
        entry = data[name]
        seconds = entry.get("seconds", entry.get("seconds_per_point"))
        error = _error(entry["error"]) if "error" in entry else "-"
        rows.append(f"{label} | {_time(seconds)} | residual {entry['residual']:.0e} | {error}")
    rows += [f"{row['digits']} digits | {_time(row['seconds'])} | - | {row['check']}" for row in data["by digits"]]
    heads = "solver | time per point | stopped at | relative error"
    return Table.of("Time for one point beside what it is worth", heads, rows)


_NAMES = {
    "single": "one point, tanh and sin",
    "batch": "batch, tanh and sin",
    "batch with breakpoints": "batch, relu and sign",
    "four groups": "one point, four readout groups",
}


def _error(error: float) -> str:
    """A relative error in double precision, at least its spacing: a zero would be luck."""
    return f"{max(error, sys.float_info.epsilon):.0e}"


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= 0.5 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} microseconds"


def _solver_figure(data: Data) -> draw.Figure:
    """Time per point against points, nodes and groups."""
    canvas, *all_axes = draw.panels(3)
    single = data["single"]["seconds"]
    panels = (
        ("points", "seconds_per_point", single, "points of a batch", "time per point, relative to a point alone"),
        ("nodes", "seconds_per_point", None, "nodes along the spike", "time per point, relative to the coarsest rule"),
        ("groups", "seconds", None, "readout groups k", "time of one point, relative to k = 1"),
    )
    for style, (axes, (what, seconds, unit, x, y)) in enumerate(zip(all_axes, panels, strict=True)):
        rows = data[f"by {what}"]
        _line(axes, [r[what] for r in rows], [r[seconds] / (unit or rows[0][seconds]) for r in rows], style)
        axes.set(xlabel=x, ylabel=y)
    caption = (
        "Time of one solution against the number of points in a batch, the number of nodes of the coarsest rule, and "
        "the number of readout groups. tanh student, sin target; all axes logarithmic."
    )
    return draw.finished(canvas, "speed_of_the_solver", "The time of a solution", caption)


def _cost_figure(data: Data) -> draw.Figure:
    """Digits, and the simulation against dimension."""
    canvas, digits, simulated = draw.panels(2, size=(9.0, 3.6))
    rows, single = data["by digits"], data["single"]["seconds"]
    _line(digits, [r["digits"] for r in rows], [r["seconds"] / single for r in rows], 3)
    digits.set(xlabel="digits", ylabel="time, relative to double precision")
    rows = data["by dimension"]
    d, unit = [r["dimension"] for r in rows], rows[0]["bare_seconds"]
    _line(simulated, d, [r["seconds"] / unit for r in rows], 0, "the experiment")
    _line(simulated, d, [r["bare_seconds"] / unit for r in rows], 1, "bare products and Cholesky")
    simulated.set(xlabel="dimension d", ylabel=f"time, relative to bare products at d = {d[0]}")
    draw.legend(simulated)
    caption = (
        "Left: the saddle point in multiple precision. Right: one finite-size experiment (n = 1.5 d, p = d, one ridge) "
        "and the matrix products and Cholesky factor that it requires. All axes logarithmic."
    )
    return draw.finished(canvas, "cost_of_digits_and_dimension", "The cost of digits and of dimension", caption)


def _line(axes: Any, x: Sequence[float], y: Sequence[float], style: int, label: str = "") -> None:
    """A line on logarithmic axes, with a tick where it was measured."""
    draw.line(axes, x, y, style, label, marker=draw.STYLES[style][1], ms=4.5, lw=1.6)
    axes.set(xscale="log", yscale="log")
    axes.set_xticks(x, [f"{place:,}" if place < 10_000 else f"$10^{len(str(place)) - 1}$" for place in x])
    axes.minorticks_off()
    draw.plain_scale(axes)
