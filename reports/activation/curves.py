"""What an activation can learn at a given spike, as curves along kappa: a plot of characters, or a figure in a file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import Activation
from giantsteps.numerics.gaussian.least_squares import least_norm
from giantsteps.reports.figures import canvas as figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

_REACH = 3.0
_POINTS = 301


@dataclass(frozen=True)
class Curves:
    """Functions of kappa on a common grid: the target, mu0, kappa mu1, mu2 and the two projections of the target.

    `on_mean` is the projection of the target on span{mu0}, `on_both` on span{mu0, kappa mu1}, in L^2 of a standard
    normal kappa.
    """

    spike: float
    bulk: float
    kappa: Array
    target: Array
    mu0: Array
    slope: Array
    mu2: Array
    on_mean: Array
    on_both: Array


def curves(activation: Activation, target: Activation, spike: float, bulk: float, refine: int) -> Curves:
    """The curves at alignment 1; `refine` as the bounds needed it.

    Raises ModelError or ExpressionError where a second moment is infinite or double precision overflows.
    """
    from giantsteps.numerics.gaussian.coefficients import conditional_coefficients
    from giantsteps.numerics.gaussian.evaluate import compile_numpy
    from giantsteps.numerics.models.model import Model
    from giantsteps.numerics.saddle_point.profile import profile

    # The even rule would fold the part of the target of the other parity away: it stays in the plot, not in the fit.
    model = Model(activation, target, alpha=1.0, beta=1.0, ridge=1.0, spike=spike, bulk=bulk, alignment=1.0)
    table = profile(model, refine)
    size = float(np.sqrt(np.sum(table.weights * (table.mu0**2 + table.mu1**2 + table.mu2_squared))))
    kappa = np.linspace(-_REACH, _REACH, _POINTS)
    at = conditional_coefficients(activation, spike, bulk, 0.0, kappa)
    projections = []
    for fitted, drawn in (
        (table.mu0, at.mu0[None]),
        (np.concatenate([table.mu0, table.kappa * table.mu1]), np.stack([at.mu0, kappa * at.mu1])),
    ):
        root = np.sqrt(table.weights)
        weights = least_norm((fitted * root).T, root * table.y0, size)
        projections.append(weights @ drawn)
    return Curves(
        spike, bulk, kappa, compile_numpy(target.expression)(kappa), at.mu0, kappa * at.mu1, at.mu2, *projections
    )


# Of characters; and of a row: what lies in the middle between two is drawn in the upper one, however it is rounded.
_COLUMNS, _ROWS, _ROUNDING = 61, 12, 1e-9


def block_plot(found: Curves) -> str:
    """The target (o), its projection on mu0 (*) and on mu0 and kappa mu1 (+) in a frame of characters, 72 wide."""
    columns = np.linspace(-_REACH, _REACH, _COLUMNS)
    rows = [np.interp(columns, found.kappa, f) for f in (found.on_mean, found.on_both, found.target)]
    low, high = window(found)
    grid = [[" "] * _COLUMNS for _ in range(_ROWS)]
    for mark, values in zip("*+o", rows, strict=True):
        for column, value in enumerate(values):
            row = math.floor((high - value) / (high - low) * (_ROWS - 1) + 0.5 - _ROUNDING)
            if 0 <= row < _ROWS:
                grid[row][column] = mark
    labels = {0: f"{high:.3g}", _ROWS - 1: f"{low:.3g}"}
    lines = [f"{labels.get(row, ''):>9} |{''.join(line)}".rstrip() for row, line in enumerate(grid)]
    axis = " " * 10 + "+" + "-" * _COLUMNS
    scale = " " * 11 + f"{-_REACH:<30.3g}{0:^1}{_REACH:>30.3g}"
    title = "Along kappa: o target, * its projection on mu0, + on mu0 and kappa mu1"
    return "\n".join([title, *lines, axis, scale])


def window(found: Curves) -> tuple[float, float]:
    """The heights to draw: all curves, but no more than half the range of the target above and below it."""
    curves_ = (found.target, found.on_mean, found.on_both)
    low, high = float(np.min(curves_)), float(np.max(curves_))
    least, most = float(np.min(found.target)), float(np.max(found.target))
    size = max(abs(low), abs(high))
    if most - least > 1e-12 * size:
        low, high = max(low, least - 0.5 * (most - least)), min(high, most + 0.5 * (most - least))
    if high - low <= 1e-12 * size:
        low, high = (low - 1.0, high + 1.0) if size == 0.0 else (low - 0.5 * size, high + 0.5 * size)
    return low, high


def in_proportion(lines: tuple[tuple[str, Array], ...]) -> list[tuple[str, Array]]:
    """Functions with their labels, scaled by powers of ten, which the labels tell, to the size of the first one.

    A steep activation has kappa mu1 or mu2 far above mu0: on one axis mu0 would be a flat line.
    """
    sizes = [float(np.max(np.abs(values))) for _, values in lines]
    scaled = []
    for (label, values), size in zip(lines, sizes, strict=True):
        far = size > 0.0 and sizes[0] > 0.0 and not 0.05 * sizes[0] < size < 12.0 * sizes[0]
        power = round(math.log10(size / sizes[0])) if far else 0
        if power:
            label += f" / $10^{{{power}}}$" if power > 0 else rf" $\times\,10^{{{-power}}}$"
        scaled.append((label, values * 10.0**-power))
    return scaled


def draw(found: Curves, title: str) -> Figure:
    """The figure: the functions of the activation on the left, the target and its projections on the right."""
    canvas, left, right = figures.panels(2, size=(9.0, 3.6))
    style = 0
    shown = (
        (left, in_proportion(((r"$\mu_0$", found.mu0), (r"$\kappa\,\mu_1$", found.slope), (r"$\mu_2$", found.mu2)))),
        (
            right,
            [("target", found.target), (r"on $\mu_0$", found.on_mean), (r"on $\mu_0$, $\kappa\,\mu_1$", found.on_both)],
        ),
    )
    for axes, lines in shown:
        for label, values in lines:
            figures.line(axes, found.kappa, values, style, label, lw=1.6)
            style += 1
        axes.set_xlabel(r"projection on the spike $\kappa$")
        axes.legend(fontsize=8)
    left.set_title(f"{_short(title)}: r = {found.spike:g}, c = {found.bulk:g}", fontsize=9, parse_math=False)
    low, high = window(found)
    right.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
    right.set_title("target and its projections", fontsize=9)
    return canvas  # type: ignore[no-any-return]


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
