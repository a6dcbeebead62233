"""Page: initial rows with a mutual overlap, where the mapping of Result 3.1 breaks, and what replaces it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.special import chdtrc, ndtr, ndtri, stdtr

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bulk.overlapping_rows import stepped, turned_bulk
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.overlapping import solve_overlapping
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.command_line.console import estimate_text
from giantsteps.reports.figures.figures import Figure
from giantsteps.reports.measurements.drawing import STYLES, finished, legend, panels
from giantsteps.reports.measurements.experiments import Data, at_sizes, studied
from giantsteps.reports.measurements.study import Study, Table, command
from giantsteps.verify.checks.finite_size import fit_line

SLUG, SEED = "initial_overlap", 72
RUNS = ((200, 40), (400, 24), (800, 12))
OVERLAPS = (0.0, 0.01, 0.03, 0.1, 0.2, 0.4, 0.6)
CASES: tuple[tuple[str, Network], ...] = (
    ("tanh/tanh", Network(activation("tanh"), activation("tanh"), 1.5, 1.0, 0.1, alpha0=2.0, eta=2.0)),
    ("erf/sign", Network(activation("erf"), activation("sign"), 2.0, 0.8, 0.1, alpha0=4.0, eta=1.5)),
)
OBSERVED = ("test_error", "spike", "alignment", "bulk")


def name_of(case: str, overlap: float, dimension: int) -> str:
    """The key of one experiment."""
    return f"{case}, overlap {overlap:g}, d = {dimension}"


EXPERIMENTS = tuple(
    experiment
    for case, network in CASES
    for k, overlap in enumerate(OVERLAPS)
    for experiment in at_sizes(
        RUNS, partial(name_of, case, overlap), replace(network, overlap=overlap), observables=OBSERVED, stream=k
    )
)


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
    def off_printed(self) -> float:
        """How far Result 3.1 (and its test error) is above the measurement, as a share of it."""
        return self.printed / self.measured - 1.0

    @property
    def off_ours(self) -> float:
        """The same for the map with overlap."""
        return self.ours / self.measured - 1.0

    @property
    def z_printed(self) -> float:
        """The standard normal deviate of the measurement from Result 3.1."""
        return normal_deviate((self.measured - self.printed) / self.error, self.freedom)

    @property
    def z_ours(self) -> float:
        """The same for the map with overlap."""
        return normal_deviate((self.measured - self.ours) / self.error, self.freedom)


def normal_deviate(t: float, freedom: int) -> float:
    """The standard normal deviate that is exceeded as rarely as t under Student's law: standard errors are estimated
    from few seeds, and t itself exceeds 4 twice as often as a normal deviate at 73 degrees of freedom."""
    # Below 1e-300 the deviate has no value in double precision.
    return math.copysign(abs(float(ndtri(max(float(stdtr(freedom, -abs(t))), 1e-300)))), t)


def share_along(network: Network) -> float:
    """e.B e / c, the variance of the bulk after the step along the common direction e as a share of its mean c:

        e.B e = (1-rho) (E[e~ (y-F) K u t]^2 + E[(e~ (y-F) K t)^2]/alpha0) + E[omega (y-F)^2 (H - (1-rho) K^2) t^2],

    from B of `numerics.bulk.overlapping_bulk`: of e~ M e only the parts along theta and across both are left, since the
    rows have no part along e before the step. Raises ModelError where there is no step.
    """
    law = turned_bulk(network)
    s = law.samples
    turned = float(s.weights @ (s.turn * s.u * s.t)) ** 2 + float(s.weights @ (s.turn * s.t) ** 2) / law.batch_ratio
    return ((1.0 - law.overlap) * turned + float(s.weights @ (s.noise * s.t**2))) / law.bulk


def rows_of(data: Data) -> tuple[Row, ...]:
    """Measurements extrapolated to infinite dimension (a line in 1/d), beside both maps."""
    rows = []
    for case, network in CASES:
        model = network.model("isotropic")
        usual = _numbers(solve(model).test_error, model.spike, model.alignment, model.bulk)
        for overlap in OVERLAPS:
            apart = replace(network, overlap=overlap)
            after = stepped(apart)
            ours = _numbers(solve_overlapping(apart).test_error, after.spike, after.alignment, after.bulk)
            for name in OBSERVED:
                samples = [data[name_of(case, overlap, dimension)][name] for dimension, _ in RUNS]
                fit = fit_line([dimension for dimension, _ in RUNS], samples, [0.0] * len(RUNS))
                rows.append(Row(case, overlap, name, fit.intercept, fit.standard_error, usual[name], ours[name],
                                fit.degrees_of_freedom))  # fmt: skip
    return tuple(rows)


def _numbers(test_error: float, spike: float, alignment: float, bulk: float) -> dict[str, float]:
    return {"test_error": test_error, "spike": spike, "alignment": alignment, "bulk": bulk}


def study() -> Study | None:
    """The page."""
    return studied(SLUG, EXPERIMENTS, rows_of, page, drawn)


LEVEL = 4.0  # normal deviate beyond which a map is said to have failed; the page says how often chance does that


def page(rows: Sequence[Row]) -> Study:
    """The page from its rows: every number in the text is computed from them."""
    mapped = [row for row in rows if row.observable != "test_error"]
    errors = [row for row in rows if row.observable == "test_error"]
    first = " ".join(_breaking(case, rows) for case, _ in CASES)
    worst_map = max(mapped, key=lambda row: abs(row.z_ours))
    held = (
        f"It holds at all {len(mapped)} comparisons of r, c and gamma: the largest deviate is "
        f"{abs(worst_map.z_ours):.1f}"
        if abs(worst_map.z_ours) <= LEVEL
        else f"It fails at {sum(abs(row.z_ours) > LEVEL for row in mapped)} of {len(mapped)} comparisons of r, c and "
        f"gamma, with deviates up to {abs(worst_map.z_ours):.1f}"
    )
    largest = max(OVERLAPS)
    last = [row for row in errors if row.overlap == largest]
    text = (
        "Result 3.1 takes initial rows whose overlaps $w_i \\cdot w_j$ are of order $d^{-1/2}$. Here they have a "
        "common part: $w_i = \\sqrt{\\rho} e + \\sqrt{1-\\rho} u_i$ with one unit vector e and rows u_i uniform on the "
        "sphere orthogonal to it, so that the mean overlap is rho and every row keeps unit length. The networks take "
        f"one gradient step; r, c, gamma and the test error are measured at d = {_list(d for d, _ in RUNS)} and "
        "extrapolated to infinite dimension by a line in 1/d. A deviate z is standard normal where a map is right: the "
        "deviation over its standard error, turned by Student's law with the degrees of freedom of that error. A map "
        f"is called refuted where z exceeds {LEVEL:g} in size: were it right, one or more of {len(rows)} comparisons "
        f"would do so with probability {200.0 * len(rows) * float(ndtr(-LEVEL)):.1g} % at most.",
        first,
        "Why it breaks: with overlap the network before the step is not small, it computes a function F(e.x), and the "
        "residual of the step is y - F instead of y; the common part of the rows adds to the spike; and of each row "
        "only the share $1 - \\rho$ is bulk. Done with these three, the computation of Result 3.1 gives a map of its "
        f"own (this suite's, not the paper's). {held}.",
        "The test error takes one thing more: the rows of the bulk are not isotropic. Where the activation is curved "
        "at the common part of a neuron's input, the step turns every row by the same random matrix, $u_i \\to (1 + "
        "(\\eta/\\beta) M) u_i$, M the average of $(y - F) K x x^\\top$ over the batch, with K(e.x) the mean second "
        f"derivative. And the rows have no bulk along e before the step, but some after it: {_along()}. The test error "
        "is computed with that covariance, but with rows of one norm: without overlap the fluctuations of the norms "
        f"move it by {100 * _norms():.1g} % at most. "
        + " ".join(_test_error(row) for row in last)
        + f" {_rest(errors)}",
    )
    return Study(
        "initial-overlap",
        "Initial rows that overlap",
        text,
        tuple(_table(case, rows) for case, _ in CASES),
        (),
        command(SLUG, "simulate"),
    )


def _norms() -> float:
    """What the fluctuations of the rows' norms change in the test errors without overlap, where they are known."""
    changes = []
    for _, network in CASES:
        own = solve(network.model("network")).test_error
        changes.append(abs(solve_overlapping(network).test_error / own - 1.0))
    return max(changes)


def _breaking(case: str, rows: Sequence[Row]) -> str:
    """The least overlap at which each number of Result 3.1 is refuted, and how far it is off at the largest."""
    parts = []
    for name in OBSERVED:
        own = [row for row in rows if row.case == case and row.observable == name]
        refuted = [row.overlap for row in own if abs(row.z_printed) > LEVEL]
        at = f"from overlap {min(refuted):g} on" if refuted else "nowhere"
        parts.append(f"{_NAMES[name]} {at} (off by {100 * own[-1].off_printed:+.0f} % at {own[-1].overlap:g})")
    return f"{case}: Result 3.1 is refuted in {'; '.join(parts)}."


def _test_error(row: Row) -> str:
    return (
        f"At overlap {row.overlap:g} {row.case} measures {row.measured:.4f} +- {row.error:.4f}: Result 3.1 says "
        f"{row.printed:.4f}, the map with overlap {row.ours:.4f}."
    )


def _along() -> str:
    """The variance of the bulk along e at each overlap; at overlap 0 there is no e."""
    overlaps = [overlap for overlap in OVERLAPS if overlap > 0.0]
    shares = " and ".join(
        f"{_listed(f'{share_along(replace(network, overlap=overlap)):.2f}' for overlap in overlaps)} ({case})"
        for case, network in CASES
    )
    places = _listed(f"{overlap:g}" for overlap in overlaps)
    return f"at the overlaps {places} its variance there is, as a share of the mean c over all directions, {shares}"


def _listed(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}"


def _rest(errors: Sequence[Row]) -> str:
    """Whether the test errors agree with the map with overlap: those of a network together, as single ones see little.

    Its overlaps have independent draws, but both networks have the same ones: so each sum of squares is judged by
    itself, and the smaller probability counts as often as there are networks (Bonferroni).
    """
    worst = max(errors, key=lambda row: abs(row.off_ours))
    deviates = {case: [row.z_ours for row in errors if row.case == case] for case, _ in CASES}
    totals = {case: sum(z**2 for z in found) for case, found in deviates.items()}
    smallest = min(float(chdtrc(len(deviates[case]), total)) for case, total in totals.items())
    probability = min(1.0, len(CASES) * smallest)
    sums = " and ".join(f"{total:.1f} ({case}, {len(deviates[case])} deviates)" for case, total in totals.items())
    start = (
        f"Over all overlaps the latter is off by at most {100 * abs(worst.off_ours):.1f} %, and the squares of its "
        f"deviates sum to {sums}"
    )
    if probability > 1e-3:
        return f"{start}, as they would if it were right (probability {probability:.2g})."
    return (
        f"{start}, which would be met with probability {probability:.0e} if it were right: it is closer, not exact. "
        "Its rows are of equal norm, as the paper's, and those of a network are not."
    )


_NAMES = {"test_error": "the test error", "spike": "r", "alignment": "gamma", "bulk": "c"}
_MARKS = {"test_error": "test error", "spike": "$r$", "alignment": r"$\gamma$", "bulk": "$c$"}


def _list(numbers: Iterable[int]) -> str:
    return ", ".join(str(number) for number in numbers)


def _table(case: str, rows: Sequence[Row]) -> Table:
    network = dict(CASES)[case]
    return Table(
        f"{case}, alpha0 = {network.alpha0:g}, eta = {network.eta:g}, beta = {network.beta:g}, alpha = "
        f"{network.alpha:g}, ridge = {network.ridge:g}: measured, extrapolated to infinite d",
        ("overlap", "number", "measured", "Result 3.1", "z", "with overlap", "z"),
        tuple(
            (
                f"{row.overlap:g}",
                _NAMES[row.observable].removeprefix("the "),
                estimate_text(row.measured, row.error),
                f"{row.printed:.4f}",
                f"{row.z_printed:+.1f}",
                f"{row.ours:.4f}",
                f"{row.z_ours:+.1f}",
            )
            for row in rows
            if row.case == case
        ),
    )


def drawn(rows: Sequence[Row]) -> Figure:
    """r, gamma, c and the test error against the overlap for the first network."""
    case, network = CASES[0]
    canvas, all_axes = panels(4, width=13.0, height=3.4)
    grid = np.linspace(0.0, 0.7, 11)
    apart = [replace(network, overlap=float(x)) for x in grid]
    afters = [stepped(one) for one in apart]
    curves = {
        "spike": [after.spike for after in afters],
        "alignment": [after.alignment for after in afters],
        "bulk": [after.bulk for after in afters],
        "test_error": [solve_overlapping(one).test_error for one in apart],
    }
    for axes, (name, curve) in zip(all_axes, curves.items(), strict=True):
        own = [row for row in rows if row.case == case and row.observable == name]
        axes.axhline(own[0].printed, color=STYLES[1][0], linestyle="--", lw=1.4, label="Result 3.1")
        axes.plot(grid, curve, color=STYLES[0][0], lw=1.8, label="with overlap")
        axes.errorbar(
            [row.overlap for row in own], [row.measured for row in own], yerr=[row.error for row in own],
            color="#333333", marker="o", ms=4, lw=0, elinewidth=1.2, capsize=2.5, label="measured",
        )  # fmt: skip
        axes.set(xlabel=r"overlap $\rho$", title=_MARKS[name])
    legend(all_axes[0])
    title = "The mapping of the gradient step against the overlap of the initial rows"
    caption = (
        f"{case}, alpha0 = {network.alpha0:g}, eta = {network.eta:g}, beta = {network.beta:g}, alpha = "
        f"{network.alpha:g}, ridge = {network.ridge:g}. Points: networks, extrapolated to infinite dimension, one "
        "standard error. Dashed: Result 3.1, which does not know the overlap. Solid: the map with overlap."
    )
    return finished(canvas, SLUG, title, caption)
