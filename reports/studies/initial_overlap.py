"""Page: initial rows with a mutual overlap, where the mapping of Result 3.1 breaks, and what replaces it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtrc

from derivations.activation import activation
from numerics.ensembles import Network
from numerics.overlapping_rows import solve_overlapping, stepped
from numerics.ridge import solve
from reports.console import estimate_text
from reports.figures import Figure
from reports.studies.drawing import STYLES, finished, legend, panels
from reports.studies.experiments import Data, Experiment, studied
from reports.studies.study import Study, Table
from verify.finite_size import fit_line

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
    Experiment(
        name_of(case, overlap, dimension),
        replace(network, overlap=overlap),
        dimension,
        seeds,
        observables=OBSERVED,
        stream=k,
    )
    for case, network in CASES
    for k, overlap in enumerate(OVERLAPS)
    for dimension, seeds in RUNS
)


@dataclass(frozen=True)
class Row:
    """One observable of one network at one overlap: extrapolated measurement, Result 3.1, and the map with overlap."""

    case: str
    overlap: float
    observable: str
    measured: float
    error: float
    printed: float
    ours: float

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
        """How many standard errors the measurement is above Result 3.1."""
        return (self.measured - self.printed) / self.error

    @property
    def z_ours(self) -> float:
        """The same for the map with overlap."""
        return (self.measured - self.ours) / self.error


def rows_of(data: Data) -> tuple[Row, ...]:
    """Measurements extrapolated to infinite dimension (a line in 1/d), beside both maps."""
    rows = []
    for case, network in CASES:
        model = network.model()
        usual = _numbers(solve(model).test_error, model.spike, model.alignment, model.bulk)
        for overlap in OVERLAPS:
            apart = replace(network, overlap=overlap)
            after = stepped(apart)
            ours = _numbers(solve_overlapping(apart).test_error, after.spike, after.alignment, after.bulk)
            for name in OBSERVED:
                samples = [data[name_of(case, overlap, dimension)][name] for dimension, _ in RUNS]
                fit = fit_line([dimension for dimension, _ in RUNS], samples, [0.0] * len(RUNS))
                rows.append(Row(case, overlap, name, fit.intercept, fit.standard_error, usual[name], ours[name]))
    return tuple(rows)


def _numbers(test_error: float, spike: float, alignment: float, bulk: float) -> dict[str, float]:
    return {"test_error": test_error, "spike": spike, "alignment": alignment, "bulk": bulk}


def study() -> Study | None:
    """The page."""
    return studied(SLUG, EXPERIMENTS, rows_of, page, drawn)


LEVEL = 4.0  # standard errors at which a map is said to have failed; 56 comparisons exceed it by chance in 0.4 %


def page(rows: Sequence[Row]) -> Study:
    """The page from its rows: every number in the text is computed from them."""
    mapped = [row for row in rows if row.observable != "test_error"]
    errors = [row for row in rows if row.observable == "test_error"]
    first = " ".join(_breaking(case, rows) for case, _ in CASES)
    worst_map = max(mapped, key=lambda row: abs(row.z_ours))
    held = (
        f"It holds at all {len(mapped)} comparisons of r, c and gamma: the largest deviation is "
        f"{abs(worst_map.z_ours):.1f} standard errors"
        if abs(worst_map.z_ours) <= LEVEL
        else f"It fails at {sum(abs(row.z_ours) > LEVEL for row in mapped)} of {len(mapped)} comparisons of r, c and "
        f"gamma, by up to {abs(worst_map.z_ours):.1f} standard errors"
    )
    largest = max(OVERLAPS)
    last = [row for row in errors if row.overlap == largest]
    text = (
        "Result 3.1 takes initial rows whose overlaps $w_i \\cdot w_j$ are of order $d^{-1/2}$. Here they have a "
        "common "
        "part: $w_i = \\sqrt{\\rho} e + \\sqrt{1-\\rho} u_i$ with one unit vector e and rows u_i uniform on the sphere "
        "orthogonal to it, so that the mean overlap is rho and every row keeps unit length. The networks take one "
        f"gradient step; r, c, gamma and the test error are measured at d = {_list(d for d, _ in RUNS)} and "
        "extrapolated to infinite dimension by a line in 1/d.",
        first,
        "Why it breaks: with overlap the network before the step is not small, it computes a function F(e.x), and the "
        "residual of the step is y - F instead of y; the common part of the rows adds to the spike; and of each "
        "row only "
        "the share $1 - \\rho$ is bulk. Done with these three, the computation of Result 3.1 gives a map of its "
        "own (this "
        f"suite's, not the paper's). {held}.",
        "The test error takes one thing more: the rows of the bulk are not isotropic. Where the activation is curved "
        "at the common part of a neuron's input, the step turns every row by the same random matrix, $u_i \\to (1 + "
        "(\\eta/\\beta) M) u_i$, M the average of $(y - F) K x x^\\top$ over the batch, with K(e.x) the mean second "
        "derivative; the spike has a part along e, the bulk next to none. The test error is computed "
        "with that covariance, but with rows of one norm: without overlap the fluctuations of the norms move it by "
        f"{100 * _norms():.1g} % at most. " + " ".join(_test_error(row) for row in last) + f" {_rest(errors)}",
    )
    return Study(
        "initial-overlap",
        "Initial rows that overlap",
        text,
        tuple(_table(case, rows) for case, _ in CASES),
        (),
        f"python -m benchmarks.{SLUG} simulate",
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
    return f"{case}: Result 3.1 is refuted by more than {LEVEL:g} standard errors in {'; '.join(parts)}."


def _test_error(row: Row) -> str:
    return (
        f"At overlap {row.overlap:g} {row.case} measures {row.measured:.4f} +- {row.error:.4f}: Result 3.1 says "
        f"{row.printed:.4f}, the map with overlap {row.ours:.4f}."
    )


def _rest(errors: Sequence[Row]) -> str:
    """Whether the test errors agree with the map with overlap: all together, since single ones see little."""
    worst = max(errors, key=lambda row: abs(row.off_ours))
    total = sum(row.z_ours**2 for row in errors)
    probability = float(chdtrc(len(errors), total))
    start = (
        f"Over all overlaps the latter is off by at most {100 * abs(worst.off_ours):.1f} %, and its {len(errors)} "
        f"deviates have a sum of squares of {total:.0f}"
    )
    if probability > 1e-3:
        return f"{start}, as they would if it were right (probability {probability:.2g})."
    return (
        f"{start}, which would be met with probability {probability:.0e} if it were right: it is closer, not "
        "exact. Its "
        "rows are of equal norm, as the paper's, and those of a network are not."
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
        ("overlap", "number", "measured", "Result 3.1", "deviation, s.e.", "with overlap", "deviation, s.e."),
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
    return finished(canvas, SLUG, title, caption, f"python -m benchmarks.{SLUG}")
