"""Page: initial rows with a mutual overlap, where the mapping of Result 3.1 breaks, and what replaces it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy.special import chdtrc, ndtr

from giantsteps.numerics.bulk.overlapping_rows import stepped
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.overlapping import solve_overlapping
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.command_line.console import estimate_text
from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.measurements.experiments import Data, Experiment, Measurement, at_dimensions, line_of
from giantsteps.reports.measurements.study import OURS, Statement, Study, Table, command, stated
from giantsteps.verify.checks.finite_size import normal_deviate

SLUG = "initial_overlap"
RUNS = ((200, 40), (400, 24), (800, 12))
OVERLAPS = (0.0, 0.01, 0.03, 0.1, 0.2, 0.4, 0.6)
CASES: dict[str, Network] = {
    "tanh/tanh": Network("tanh", "tanh", 1.5, 1.0, 0.1, alpha0=2.0, eta=2.0),
    "erf/sign": Network("erf", "sign", 2.0, 0.8, 0.1, alpha0=4.0, eta=1.5),
}
# What is observed: in words, and over a panel.
OBSERVED = {
    "test_error": ("the test error", "test error"), "spike": ("r", "$r$"), "alignment": ("gamma", r"$\gamma$"),
    "bulk": ("c", "$c$"),
}  # fmt: skip
LEVEL = 4.0  # normal deviate beyond which a map is said to have failed; the page says how often chance does that


def experiments_of(case: str, overlap: float) -> tuple[Experiment, ...]:
    """One network at one overlap, at all dimensions."""
    network, stream = replace(CASES[case], overlap=overlap), OVERLAPS.index(overlap)
    return at_dimensions(f"{case}, overlap {overlap:g}", network, RUNS, observables=tuple(OBSERVED), stream=stream)


EXPERIMENTS = tuple(one for case in CASES for overlap in OVERLAPS for one in experiments_of(case, overlap))


@dataclass(frozen=True)
class Row:
    """One observable of one network at one overlap: extrapolated measurement with the degrees of freedom of its error,
    Result 3.1, and the map with overlap."""

    case: str
    overlap: float
    observable: str
    measured: float
    error: float
    printed: float
    ours: float
    freedom: int

    @property
    def z_printed(self) -> float:
        """The standard normal deviate of the measurement from Result 3.1."""
        return normal_deviate((self.measured - self.printed) / self.error, self.freedom)

    @property
    def z_ours(self) -> float:
        """The same for the map with overlap."""
        return normal_deviate((self.measured - self.ours) / self.error, self.freedom)


@cache
def with_overlap(network: Network) -> dict[str, float]:
    """What is observed, by the map with overlap."""
    after = stepped(network)
    numbers = {name: float(getattr(after, name)) for name in ("spike", "alignment", "bulk")}
    return numbers | {"test_error": solve_overlapping(network).test_error}


def rows_of(data: Data) -> tuple[Row, ...]:
    """Measurements extrapolated to infinite dimension (a line in 1/d), beside both maps."""
    rows = []
    for case, network in CASES.items():
        model = network.model("isotropic")
        printed = {name: getattr(solve(model) if name == "test_error" else model, name) for name in OBSERVED}
        for overlap in OVERLAPS:
            ours = with_overlap(replace(network, overlap=overlap))
            for name in OBSERVED:
                fit = line_of(data, experiments_of(case, overlap), name)
                measured = (fit.intercept, fit.standard_error)
                rows.append(Row(case, overlap, name, *measured, printed[name], ours[name], fit.degrees_of_freedom))
    return tuple(rows)


def page(data: Data) -> Study:
    """The page from the samples."""
    return page_of(rows_of(data))


def page_of(rows: Sequence[Row]) -> Study:
    """The page from its rows."""
    text = (
        "Result 3.1 assumes initial rows with overlaps $w_i \\cdot w_j$ of order $d^{-1/2}$. Here the rows have a "
        "common part: $w_i = \\sqrt{\\rho} e + \\sqrt{1-\\rho} u_i$ with one unit vector e and rows u_i uniform on the "
        "sphere orthogonal to it, so that the mean overlap is rho and every row keeps unit length. The networks take "
        f"one gradient step; r, c, gamma and the test error are measured at d = {', '.join(str(d) for d, _ in RUNS)} "
        "and extrapolated to infinite dimension by a line in 1/d. The deviate z is the deviation over its standard "
        "error, transformed by Student's law to a standard normal one if the map is right. A map is called refuted "
        f"if |z| > {LEVEL:g}: if it were right, this would happen in one or more of {len(rows)} "
        f"comparisons with probability {200.0 * len(rows) * float(ndtr(-LEVEL)):.1g} % at most.",
        "With overlap three things change. The network before the step is not small: it computes a function F(e.x), "
        "and the residual of the step is y - F instead of y. The common part of the rows adds to the spike. Only the "
        "share $1 - \\rho$ of each row is bulk. With these changes the computation of Result 3.1 gives a new map (this "
        "suite's, not the paper's).",
        "For the test error the rows of the bulk are also not isotropic. If the activation is curved at the common "
        "part of a neuron's input, the step multiplies every row by the same random matrix, $u_i \\to (1 + "
        "(\\eta/\\beta) M) u_i$, M the average of $(y - F) K x x^\\top$ over the batch, with K(e.x) the mean second "
        "derivative. The rows have no bulk along e before the step, but some after it. The test error is computed with "
        "that covariance, but with rows of equal norm.",
    )
    mapped = [row for row in rows if row.observable != "test_error"]
    failed, largest = sum(abs(row.z_ours) > LEVEL for row in mapped), max(abs(row.z_ours) for row in mapped)
    statements = (
        *(_breaking(case, rows) for case in CASES),
        Statement(
            "the map with overlap gives r, c and gamma", OURS, failed == 0,
            f"refuted at {failed} of {len(mapped)} comparisons, the largest deviate is {largest:.1f}",
        ),
        _follows([row for row in rows if row.observable == "test_error"]),
    )  # fmt: skip
    tables = (stated(statements), *(_table(case, rows) for case in CASES))
    return Study(SLUG, "Initial rows that overlap", text, tables, (_figure(rows),), command(SLUG))


def _breaking(case: str, rows: Sequence[Row]) -> Statement:
    """The least overlap at which each number of Result 3.1 is refuted, and how far it is off at the largest."""
    parts, whole = [], True
    for name, (words, _) in OBSERVED.items():
        own = [row for row in rows if row.case == case and row.observable == name]
        refuted = [row.overlap for row in own if abs(row.z_printed) > LEVEL]
        at = f"refuted from overlap {min(refuted):g} on" if refuted else "refuted nowhere"
        whole = whole and not refuted
        off = own[-1].printed / own[-1].measured - 1.0
        parts.append(f"{words} {at} (off by {100 * off:+.0f} % at {own[-1].overlap:g})")
    return Statement(f"{case}: rows that overlap change nothing of Result 3.1", OURS, whole, "; ".join(parts))


def _follows(errors: Sequence[Row]) -> Statement:
    """Whether the test errors agree with the map with overlap: those of a network together, as single ones see little.

    Its overlaps have independent draws, but both networks have the same ones: so each sum of squares is judged by
    itself, and the smaller probability counts as often as there are networks (Bonferroni).
    """
    worst = max(abs(row.ours / row.measured - 1.0) for row in errors)
    squares = {case: [row.z_ours**2 for row in errors if row.case == case] for case in CASES}
    probability = min(1.0, len(CASES) * min(float(chdtrc(len(found), sum(found))) for found in squares.values()))
    sums = " and ".join(f"{sum(found):.1f} ({case}, {len(found)} deviates)" for case, found in squares.items())
    # What the fluctuations of the rows' norms change in the test errors without overlap, where they are known.
    norms = max(
        abs(solve_overlapping(network).test_error / solve(network.model("network")).test_error - 1.0)
        for network in CASES.values()
    )
    return Statement(
        "the test error follows the map with overlap", OURS, probability > 1e-3,
        f"off by at most {100 * worst:.1f} %; the squares of its deviates sum to {sums}, probability "
        f"{probability:.2g} (seen: above 0.001); without overlap the fluctuations of the norms, which it leaves out, "
        f"move it by {100 * norms:.1g} % at most",
    )  # fmt: skip


def _setting(case: str) -> str:
    one = CASES[case]
    return (
        f"{case}, alpha0 = {one.alpha0:g}, eta = {one.eta:g}, beta = {one.beta:g}, alpha = {one.alpha:g}, ridge = "
        f"{one.ridge:g}"
    )


def _table(case: str, rows: Sequence[Row]) -> Table:
    return Table.of(
        f"{_setting(case)}: measured, extrapolated to infinite d",
        "overlap | number | measured | Result 3.1 | z | with overlap | z",
        (
            f"{row.overlap:g} | {OBSERVED[row.observable][0].removeprefix('the ')} | "
            f"{estimate_text(row.measured, row.error)} | {row.printed:.4f} | {row.z_printed:+.1f} | {row.ours:.4f} | "
            f"{row.z_ours:+.1f}"
            for row in rows
            if row.case == case
        ),
    )


def _figure(rows: Sequence[Row]) -> draw.Figure:
    """r, gamma, c and the test error against the overlap for the first network."""
    case, network = next(iter(CASES.items()))
    canvas, *all_axes = draw.panels(4)
    grid = np.linspace(0.0, 0.7, 11)
    along = [with_overlap(replace(network, overlap=float(x))) for x in grid]
    curves = {name: [one[name] for one in along] for name in along[0]}
    for axes, (name, curve) in zip(all_axes, curves.items(), strict=True):
        own = [row for row in rows if row.case == case and row.observable == name]
        axes.axhline(own[0].printed, color=draw.STYLES[1][0], linestyle="--", lw=1.4, label="Result 3.1")
        draw.line(axes, grid, curve, 0, "with overlap", lw=1.8)
        axes.errorbar(
            [row.overlap for row in own], [row.measured for row in own], yerr=[row.error for row in own],
            color=draw.DARK, marker="o", ms=4, lw=0, elinewidth=1.2, capsize=2.5, label="measured",
        )  # fmt: skip
        axes.set(xlabel=r"overlap $\rho$", title=OBSERVED[name][1])
    draw.legend(all_axes[0])
    title = "The mapping of the gradient step against the overlap of the initial rows"
    caption = (
        f"{_setting(case)}. Points: networks, extrapolated to infinite dimension, one standard error. Dashed: Result "
        "3.1, which neglects the overlap. Solid: the map with overlap."
    )
    return draw.finished(canvas, SLUG, title, caption)


STUDY = Measurement(SLUG, 72, EXPERIMENTS, page)
