"""Results drawn for a notebook: `result.plot()` of a solution, a batch, bounds, a spectrum, a simulation, a comparison.

Each is drawn into Matplotlib axes; what is fixed stands in the title.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.bounds.results import Bounds
from giantsteps.numerics.experiments.ridge import Simulation
from giantsteps.numerics.gaussian.coefficients import conditional_coefficients, conditional_moments_of, target_moments
from giantsteps.numerics.models.notebook import Shown
from giantsteps.numerics.models.solution import Solution
from giantsteps.numerics.saddle_point.one_group.batch import NUMBERS, BatchSolution
from giantsteps.numerics.spectrum.density import Spectrum
from giantsteps.numerics.sweeps.sweep import Axis
from giantsteps.reports.figures.sweep_plot import cells, name_coordinate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

# Curves beyond these are no longer told apart: a heat map is drawn instead.
MOST_CURVES = 8
BLUE, ORANGE, DARK = "#0072B2", "#D55E00", "#333333"
# Along the spike: four standard deviations of kappa.
_REACH = 4.0
_TITLE_WIDTH = 72


def draw(result: Shown, axes: Axes | None = None, **choices: Any) -> Axes:
    """Draw a result into axes, new ones of pyplot where none are given; the axes. Raises ValueError."""
    axes = drawn_into(axes)
    into(result, axes, **choices)
    return axes


def drawn_into(axes: Axes | None) -> Axes:
    """The axes given, or new ones of pyplot, which a notebook shows."""
    if axes is None:
        from matplotlib import pyplot

        axes = pyplot.subplots(layout="constrained")[1]
    return axes


@singledispatch
def into(result: Shown, axes: Axes, **choices: Any) -> None:
    """Draw one kind of result."""
    raise ValueError(f"a {type(result).__name__} has no drawing; to_frame() and to_dict() give its numbers")


def titled(axes: Axes, title: str, **labels: str) -> None:
    """The title over the axes, in lines, and the labels of the coordinates."""
    axes.set_title(fill(title, _TITLE_WIDTH), fontsize="small")
    axes.set(**labels)


def learned_along(result: Solution, kappa: Array, across: Array | float = 0.0) -> Array:
    """The mean of the output at kappa = v.x, and `across` the spike at u = theta_perp.x, of the shape of kappa:

    m.mu0 + (zeta kappa + psi u).mu1 + chi.(dmu0/dc),   dmu0/dc = E[sigma'']/2, where rows differ in norm.
    """
    model, order = result.model, result.order_parameters
    learned, places = np.zeros(kappa.size), kappa.ravel()
    groups = zip(model.groups, model.bulks, order.m, np.ravel(order.zeta), np.ravel(order.psi), strict=True)
    for k, (group, bulk, m, zeta, psi) in enumerate(groups):
        at = (model.activation, model.spike * group.weight, float(bulk), group.bias, places)
        mu0, mu1, _ = conditional_coefficients(*at)
        learned += m * mu0 + (zeta * places + psi * np.ravel(across)) * mu1
        if order.chi.size and order.chi[k]:  # `curvature` is c E[sigma'']
            learned += order.chi[k] * conditional_moments_of(*at).curvature / (2.0 * float(bulk))
    return learned.reshape(kappa.shape)


@into.register(Solution)
def _solution(result: Solution, axes: Axes) -> None:
    """The function of kappa = v.x that the network has learned beside the target's mean."""
    model = result.model
    if model.law is not None or model.rank > 1 or not result.converged:
        raise ValueError(
            "a solution is drawn where it converged, for readout groups and a spike of one direction; the others have "
            "to_dict()"
        )
    kappa = np.linspace(-_REACH, _REACH, 201)
    axes.plot(kappa, learned_along(result, kappa), color=BLUE, label="learned along the spike")
    target = target_moments(model.target, model.alignment, kappa)[0]
    axes.plot(kappa, target, color=DARK, lw=1.0, ls="--", label="mean of the target there")
    titled(axes, result._title(), xlabel=r"projection on the spike $\kappa$", ylabel="value")
    axes.legend(frameon=False)


@into.register(BatchSolution)
def _batch(result: BatchSolution, axes: Axes, quantity: str = "test_error", kind: str | None = None) -> None:
    """One number over one or two swept parameters: "curves" of the second, one for each value of the first, or a "map".

    `quantity` is the name of one of the numbers of the batch. Points that did not converge stay blank.
    """
    if quantity not in NUMBERS:
        raise ValueError(f"quantity was given {quantity!r}; one of {', '.join(NUMBERS)} is accepted")
    values = np.where(result.converged, getattr(result, quantity), np.nan).squeeze()
    swept = [_along(result, axis) for axis, size in enumerate(result.shape) if size > 1]
    if len(swept) not in (1, 2):
        raise ValueError(f"one or two swept parameters are drawn, and this grid has the shape {result.shape}")
    kind = kind or ("curves" if len(swept) == 1 or len(swept[0].values) <= MOST_CURVES else "map")
    if kind not in ("curves", "map") or (kind == "map" and len(swept) == 1):
        raise ValueError(f'kind was given {kind!r}; "curves" is accepted, and "map" for two swept parameters')
    label = quantity.replace("_", " ")
    if kind == "map":
        _map(axes, values, swept, label)
    elif len(swept) == 1:
        axes.plot(swept[0].values, values, color=BLUE, marker="o", ms=3)
    else:
        _curves(axes, values, swept)
    name_coordinate(axes, "x", swept[-1])
    titled(axes, result._title(), ylabel=swept[0].name if kind == "map" else label)


def _along(result: BatchSolution, axis: int) -> Axis:
    """The parameter that varies along one axis of the grid and along no other; its place where there is none."""
    rows = tuple(0 if k != axis else slice(None) for k in range(len(result.shape)))
    for name, values in result.swept.items():
        line = values[rows]
        shape = [1] * axis + [-1] + [1] * (len(result.shape) - axis - 1)
        if np.ptp(line) > 0.0 and np.array_equal(values, np.broadcast_to(line.reshape(shape), result.shape)):
            return Axis(name, tuple(map(float, line)))
    return Axis("point", tuple(map(float, range(result.shape[axis]))))


def _curves(axes: Axes, values: Array, swept: Sequence[Axis]) -> None:
    import matplotlib

    curves, along = swept
    if len(curves.values) > MOST_CURVES:
        raise ValueError(f'{len(curves.values)} curves are more than {MOST_CURVES}: use kind="map"')
    shades = matplotlib.colormaps["viridis"](np.linspace(0.0, 0.85, len(curves.values)))
    for value, row, shade in zip(curves.values, values, shades, strict=True):
        axes.plot(along.values, row, color=shade, marker="o", ms=3, label=f"{curves.name} = {value:g}")
    axes.legend(frameon=False)


def _map(axes: Axes, values: Array, swept: Sequence[Axis], label: str) -> None:
    rows, columns = swept
    mesh = cells(axes, columns.values, rows.values, values)
    name_coordinate(axes, "y", rows)
    axes.figure.colorbar(mesh, ax=axes, label=label)


@into.register(Bounds)
def _bounds(result: Bounds, axes: Axes) -> None:
    """Both bounds, and between them the local minima of the test error over the ridge."""
    axes.axhline(result.upper, color=DARK, ls="--", label=f"upper bound {result.upper:.6g}")
    axes.axhline(result.lower, color=DARK, ls=":", label=f"lower bound {result.lower:.6g}")
    if result.search is not None:
        minima = result.best_ridge().minima
        at, errors = [place["ridge"] for place, _ in minima], [error for _, error in minima]
        axes.plot(at, errors, "o", color=BLUE, label="minima at a ridge")
        if minima:
            axes.set_xscale("log")
    titled(axes, result._title(), xlabel=r"ridge $\lambda$", ylabel="test error")
    axes.legend(frameon=False)


@into.register(Spectrum)
def _spectrum(result: Spectrum, axes: Axes) -> None:
    """The density over the eigenvalue, isolated eigenvalues as lines; atom and outliers of size p are in the title."""
    for low, high in result.edges:
        here = (result.x >= low) & (result.x <= high)
        axes.plot(result.x[here], result.density[here], color=BLUE)
    for value in result.detached:
        axes.axvline(value, color=ORANGE, lw=1.2)
    # A density may grow without bound towards an edge at zero, and have a tail without end: the picture ends where all
    # but its top and a part in ten thousand are seen.
    if result.density.size:
        axes.set_ylim(0.0, 1.2 * float(np.quantile(result.density, 0.9)))
        reached = float(np.max(result.x[result.cumulative < 1.0 - 1e-4], initial=0.0))
        axes.set_xlim(0.0, 1.04 * max(reached, *result.detached, *(high for _, high in result.edges if high < np.inf)))
    many = len(result.outliers)
    beside = f"; {many} outlier{'s' * (many != 1)} of size p" if many else ""
    titled(axes, result._title() + beside, xlabel="eigenvalue", ylabel="density")


@into.register(Simulation)
def _simulation(result: Simulation, axes: Axes) -> None:
    """Test and training errors of the experiments, with mean and standard error."""
    for place, (name, colour) in enumerate((("test_error", BLUE), ("training_error", ORANGE))):
        values, found = result.values(name), result.estimates[name]
        axes.plot([place] * len(values), values, "_", color=colour, ms=14)
        error = found.standard_error if np.isfinite(found.standard_error) else 0.0
        axes.errorbar([place + 0.2], [found.mean], [error], fmt="o", color=DARK, capsize=3)
    axes.set_xticks([0, 1], ["test error", "training error"])
    axes.set_xlim(-0.5, 1.7)
    titled(axes, result._title(), ylabel="error")
