"""The figures of the report, each one named function of its parameters and a seed.

`giantsteps report` draws them all; any one is redrawn with, for example,

    from giantsteps.reports.figures.figures import learning_curves_by_spike
    open("figure.svg", "w").write(learning_curves_by_spike(seed=1).svg)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bounds.ridge import best_ridge, lower_bound, upper_bound
from giantsteps.numerics.experiments.ridge import Estimate, simulate_ridges
from giantsteps.numerics.experiments.simulate import simulate
from giantsteps.numerics.gaussian.coefficients import conditional_coefficients, target_moments
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.figures.svg import svg_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

Array = NDArray[np.float64]

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


@dataclass(frozen=True)
class Figure:
    """A drawn figure: an SVG element, a caption that says exactly what is plotted, and what is plotted as CSV."""

    name: str
    title: str
    caption: str
    svg: str
    call: str
    data: str = ""


@dataclass(frozen=True)
class _Curve:
    label: str
    model: Callable[[float], Model]


def learning_curves_by_batch(
    batches: Sequence[float] = (0.5, 1.0, 2.0, 8.0),
    eta: float = 2.0,
    ridge: float = 0.1,
    dimension: int = 300,
    seeds: int = 5,
    seed: int = 1,
) -> Figure:
    """Test error against alpha after one gradient step on n0 = alpha0 d samples (Result 3.1 with Result 3.3)."""
    tanh, sine = activation("tanh"), activation("sin")

    def curve(alpha0: float) -> _Curve:
        step = partial(
            Model.from_gradient_step, tanh, sine, beta=1.0, ridge=ridge, alpha0=alpha0, eta=eta, bulk_model="isotropic"
        )  # fmt: skip
        return _Curve(rf"$\alpha_0 = {alpha0:g}$", lambda alpha: step(alpha=alpha))

    return _learning_curves(
        "learning_curves_by_batch",
        "Learning curves for several batch sizes",
        [curve(a) for a in batches],
        f"Student tanh, target sin, one gradient step of rescaled rate {eta:g} on n0 = alpha0 d samples, mapped to "
        f"spiked random features by Result 3.1; width beta = 1, ridge {ridge:g}.",
        dimension,
        seeds,
        seed,
    )


def _tanh_and_sine(spike: float, alignment: float, ridge: float) -> Callable[[float], Model]:
    """The model of the figures at an alpha: student tanh, target sin, bulk variance and beta one."""
    tanh, sine = activation("tanh"), activation("sin")
    return lambda alpha: Model(tanh, sine, alpha, 1.0, ridge, spike=spike, bulk=1.0, alignment=alignment)


def learning_curves_by_spike(
    spikes: Sequence[float] = (0.0, 0.5, 1.0, 2.0),
    alignment: float = 0.9,
    ridge: float = 0.1,
    dimension: int = 300,
    seeds: int = 5,
    seed: int = 2,
) -> Figure:
    """Test error against alpha for several spike strengths; r = 0 is plain random features."""
    return _learning_curves(
        "learning_curves_by_spike",
        "Learning curves for several spikes",
        [_Curve(f"$r = {r:g}$", _tanh_and_sine(r, alignment, ridge)) for r in spikes],
        f"Student tanh, target sin, alignment {alignment:g}, bulk variance 1, width beta = 1, ridge {ridge:g}; r "
        f"= 0 is plain random features.",
        dimension,
        seeds,
        seed,
    )


def learning_curves_by_alignment(
    alignments: Sequence[float] = (0.0, 0.5, 0.8, 1.0),
    spike: float = 1.5,
    ridge: float = 0.1,
    dimension: int = 300,
    seeds: int = 5,
    seed: int = 3,
) -> Figure:
    """Test error against alpha for several alignments of spike and target."""
    return _learning_curves(
        "learning_curves_by_alignment",
        "Learning curves for several alignments",
        [_Curve(rf"$\gamma = {g:g}$", _tanh_and_sine(spike, g, ridge)) for g in alignments],
        f"Student tanh, target sin, spike {spike:g}, bulk variance 1, width beta = 1, ridge {ridge:g}.",
        dimension,
        seeds,
        seed,
    )


def _learning_curves(
    name: str, title: str, curves: Sequence[_Curve], caption: str, dimension: int, seeds: int, seed: int
) -> Figure:
    canvas, axes = canvas_of()
    alphas = np.geomspace(0.2, 8.0, 41)
    # Ratios that round to themselves at the dimension, so that theory and simulation speak of the same problem.
    measured = [round(a * dimension) / dimension for a in np.geomspace(0.25, 6.0, 7)]
    for curve, style in zip(curves, STYLES, strict=False):
        points = [
            simulate(curve.model(alpha), dimension=dimension, seeds=seeds, seed=seed).test_error for alpha in measured
        ]
        _theory_and_points(axes, alphas, curve.model, measured, points, style, curve.label)
    axes.set(xscale="log", xlabel=r"samples per dimension $\alpha = n/d$", ylabel="test error", ylim=(0.0, None))
    plain_ticks(axes, (0.2, 0.5, 1.0, 2.0, 5.0))
    legend(axes)
    return finish(
        canvas,
        name,
        title,
        f"{caption} Lines: theory. Points: simulation of spiked random features at d = {dimension}, mean over {seeds} "
        "seeds with one standard error; no fit.",
        f"{name}(dimension={dimension}, seeds={seeds}, seed={seed})",
    )


def _theory_and_points(
    axes: Axes,
    line: Array,
    model: Callable[[float], Model],
    measured: Sequence[float] | Array,
    points: Sequence[Estimate],
    style: tuple[Any, ...],
    label: str,
) -> None:
    """Theory as a line, simulations as points with one standard error, in one style."""
    colour, marker, dash = style
    theory = [solve(model(float(x))) for x in line]
    axes.plot(line, [s.test_error if s.converged else np.nan for s in theory], color=colour, linestyle=dash, lw=1.8)
    axes.errorbar(
        measured, [p.mean for p in points], yerr=[p.standard_error for p in points], color=colour, marker=marker, ms=5,
        lw=0, elinewidth=1.2, capsize=2.5, label=label,
    )  # fmt: skip


def functions_along_the_spike(
    student: str = "tanh", target: str = "sin", spike: float = 0.9, bulk: float = 1.0
) -> Figure:
    """mu0, kappa mu1 and mu2 as functions of kappa = v.x, with the target at alignment 1 and its best approximation."""
    sigma, g = activation(student), activation(target)
    kappa = np.linspace(-4.0, 4.0, 401)
    mu0, mu1, mu2 = conditional_coefficients(sigma, spike, bulk, 0.0, kappa)
    y0 = target_moments(g, 1.0, kappa)[0]
    canvas, axes = canvas_of()
    lines = ((r"$\mu_0$", mu0), (r"$\kappa\,\mu_1$", kappa * mu1), (r"$\mu_2$", mu2))
    for (label, values), (colour, _, dash) in zip(lines, STYLES, strict=False):
        axes.plot(kappa, values, color=colour, linestyle=dash, lw=1.8, label=label)
    axes.plot(kappa, y0, color="#333333", lw=1.0, label="target")
    weights = np.exp(-(kappa**2) / 2.0)
    best = projection(np.stack([mu0, kappa * mu1]), np.asarray(y0), weights)
    axes.plot(kappa, best, color="#8B3A8B", linestyle=":", lw=2.2, label=r"best of $\mu_0$, $\kappa\,\mu_1$")
    axes.set(xlabel=r"projection on the spike $\kappa = v\cdot x$", ylabel="value")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=5, frameon=False, fontsize=9)
    return finish(
        canvas,
        "functions_along_the_spike",
        "What the readout can use along the spike",
        f"Student {student}, spike {spike:g}, bulk variance {bulk:g}: the mean of a feature given kappa (mu0), the "
        f"strength of its linear part (kappa mu1) and of its noise (mu2), with the target {target} at alignment 1 and "
        "its closest combination of mu0 and kappa mu1 under the normal law of kappa, whose distance is the lower bound "
        "on the test error.",
        f"functions_along_the_spike(student={student!r}, target={target!r}, spike={spike:g}, bulk={bulk:g})",
    )


def projection(functions: Array, target: Array, weights: Array) -> Array:
    """The weighted least-squares approximation of ``target`` by rows of ``functions``."""
    root = np.sqrt(weights)
    coefficients = np.linalg.lstsq((functions * root).T, target * root, rcond=None)[0]
    return np.asarray(coefficients @ functions)


def bounds_over_the_ridge(
    alphas: Sequence[float] = (0.5, 1.0, 2.0, 8.0),
    spike: float = 1.0,
    alignment: float = 0.9,
    dimension: int = 300,
    seeds: int = 5,
    seed: int = 4,
) -> Figure:
    """Test error against the ridge between the lower and the upper bound (Section 4.3)."""

    def model(alpha: float, ridge: float) -> Model:
        return _tanh_and_sine(spike, alignment, ridge)(alpha)

    canvas, axes = canvas_of()
    ridges = np.geomspace(1e-3, 1e3, 49)
    measured = np.geomspace(1e-3, 1.0, 7)
    for alpha, style in zip(alphas, STYLES, strict=False):
        runs = simulate_ridges(model(alpha, 1.0), measured.tolist(), dimension=dimension, seeds=seeds, seed=seed)
        points = [run.test_error for run in runs]
        _theory_and_points(axes, ridges, partial(model, alpha), measured, points, style, rf"$\alpha = {alpha:g}$")
    lower, upper = lower_bound(model(1.0, 1.0)), upper_bound(model(1.0, 1.0))
    axes.axhline(upper, color="#333333", lw=1.2, linestyle=(0, (6, 3)), label="upper bound")
    axes.axhline(lower, color="#333333", lw=1.2, linestyle=(0, (1, 1.5)), label="lower bound")
    axes.set(xscale="log", yscale="log", xlabel=r"ridge $\lambda$", ylabel="test error")
    _plain_scale(axes)
    legend(axes)
    return finish(
        canvas,
        "bounds_over_the_ridge",
        "Test error between its bounds",
        f"Student tanh, target sin, spike {spike:g}, bulk variance 1, alignment {alignment:g}, width beta = 1. Lines: "
        f"theory against the ridge. Points: simulation at d = {dimension}, mean over {seeds} seeds with one standard "
        "error. The least error over the ridge lies between the two bounds; every curve tends to the upper bound as "
        "the ridge grows.",
        f"bounds_over_the_ridge(dimension={dimension}, seeds={seeds}, seed={seed})",
    )


def bounds_over_the_spike(alpha: float = 2.0, alignment: float = 0.9, largest: float = 4.0, points: int = 40) -> Figure:
    """The bounds and the least test error over the ridge, against the spike strength."""
    canvas, axes = canvas_of()
    # r = 0 itself is another problem: an odd activation then has mu0 = 0, and the bounds jump.
    spikes = np.linspace(0.1, largest, points)
    models = [_tanh_and_sine(float(r), alignment, 1.0)(alpha) for r in spikes]
    sparse = models[:: max(1, points // 10)]
    axes.plot(spikes, [upper_bound(m) for m in models], color=STYLES[1][0], linestyle="--", lw=1.8, label="upper bound")
    axes.plot(spikes, [lower_bound(m) for m in models], color=STYLES[0][0], lw=1.8, label="lower bound")
    axes.plot(
        [m.spike for m in sparse],
        [best_ridge(m).test_error for m in sparse],
        color=STYLES[2][0],
        linestyle="-.",
        marker="^",
        ms=5,
        lw=1.4,
        label=rf"best ridge, $\alpha = {alpha:g}$",
    )
    axes.set(
        xlabel=r"spike strength $r$ (the rescaled learning rate, up to a factor)", ylabel="test error", yscale="log"
    )
    _plain_scale(axes)
    legend(axes)
    return finish(
        canvas,
        "bounds_over_the_spike",
        "The bounds against the spike strength",
        f"Student tanh, target sin, bulk variance 1, alignment {alignment:g}, width beta = 1. The least test error "
        f"over the ridge at alpha = {alpha:g} (theory, a scan over the ridge with every dip refined) between the upper "
        "and the lower bound, which depend on neither alpha nor beta. At fixed alpha0 and beta the spike is "
        "proportional to the learning rate.",
        f"bounds_over_the_spike(alpha={alpha:g}, alignment={alignment:g}, largest={largest:g}, points={points})",
    )


def canvas_of(columns: int = 1, rows: int = 1) -> tuple[Any, ...]:
    """A canvas with panels side by side, in rows: the canvas, then the axes of each, row by row."""
    # The object interface: no global state, no display, nothing to close.
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(6.6 + 3.0 * (columns - 1), 4.1 + 3.1 * (rows - 1)), layout="constrained")
    FigureCanvasSVG(canvas)
    panels = canvas.subplots(rows, columns, squeeze=False).ravel()
    for axes in panels:
        axes.grid(True, color="#dddddd", lw=0.6)
        axes.set_axisbelow(True)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    return canvas, *panels


def plain_ticks(axes: Axes, ticks: Sequence[float]) -> None:
    """These values of x and no others, as decimal numbers."""
    from matplotlib.ticker import FixedLocator, NullLocator

    axes.xaxis.set_major_locator(FixedLocator(list(ticks)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([f"{tick:g}" for tick in ticks])


def _plain_scale(axes: Axes) -> None:
    """Decimal numbers on a logarithmic scale of test errors."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def legend(axes: Axes) -> None:
    """The labels of the series in a box."""
    axes.legend(frameon=True, framealpha=0.9, edgecolor="#cccccc", fontsize=9)


def finish(canvas: Canvas, name: str, title: str, caption: str, call: str, module: str = "figures") -> Figure:
    """The drawing with its words, the call that draws it again (of a module of this floor) and its data."""
    svg = svg_of(canvas, name, f"{title}. {caption}")
    return Figure(name, title, caption, svg, f"{module}.{call}", data_of(canvas))


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
