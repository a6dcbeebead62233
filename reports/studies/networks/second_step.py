"""Page: test error after one and after two gradient steps, each on a batch of its own, beside the theory of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.command_line.console import estimate_text
from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.measurements.experiments import Data, Experiment, Measured, Measurement, line_of
from giantsteps.reports.measurements.study import Study, Table, command

SLUG = "second_step"
RUNS = ((200, 24), (400, 16))
LARGEST, SEEDS = RUNS[-1]
ETAS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
CASES: dict[str, Network] = {
    "tanh/tanh": Network("tanh", "tanh", 1.5, 1.0, 0.1, alpha0=2.0, eta=1.0),
    "tanh/sin": Network("tanh", "sin", 1.5, 1.0, 0.1, alpha0=2.0, eta=1.0),
    "erf/sign": Network("erf", "sign", 2.0, 1.0, 0.1, alpha0=4.0, eta=1.0),
    "tanh/z+he3/3": Network("tanh", "z + he3(z)/3", 2.0, 1.0, 0.1, alpha0=4.0, eta=1.0),
}
OBSERVED = ("test_error", "training_error", "spike", "alignment", "bulk")


def experiments_of(case: str, steps: int, eta: float) -> tuple[Experiment, ...]:
    """One network at one rate after one or two steps, at both dimensions."""
    network = replace(CASES[case], eta=eta, steps=steps)
    return tuple(
        Experiment(f"{case}, steps {steps}, eta {eta:g}, d = {d}", network, d, seeds, observables=OBSERVED)
        for d, seeds in RUNS
    )


EXPERIMENTS = tuple(
    one for case in CASES for steps in (1, 2) for eta in ETAS for one in experiments_of(case, steps, eta)
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One network at one learning rate after one and after two steps: means at the largest dimension, and the theory.

    theory: of the network's own bulk, after one and after two steps; isotropic: of the isotropic bulk after two.
    difference: two steps less one. limits: test errors after two steps at infinite dimension, from both dimensions, and
    the standard error. aligned: the theory's alignment after two steps.
    """

    case: str
    eta: float
    theory: tuple[float, float]
    isotropic: float
    errors: tuple[Measured, ...]
    difference: Measured
    alignments: tuple[Measured, ...]
    limit: tuple[float, float]
    aligned: float

    @property
    def z(self) -> float:
        """Two steps minus one in standard errors, pair by pair: both start from the same network and batch."""
        return self.difference.z(0.0)

    def off(self, theory: float) -> float:
        """How many standard errors the measured limit after two steps is above a theory."""
        return (self.limit[0] - theory) / self.limit[1]


def row_of(case: str, eta: float, data: Data) -> Row:
    """From the samples."""
    runs = [experiments_of(case, steps, eta) for steps in (1, 2)]
    one, two = (data[run[-1].name]["test_error"] for run in runs)
    network, line = replace(CASES[case], eta=eta, steps=2), line_of(data, runs[1])
    return Row(
        case,
        eta,
        (one_step(CASES[case], eta), error_of(network, "network")),
        error_of(network, "isotropic"),
        tuple(run[-1].measured(data) for run in runs),
        Measured.of(np.subtract(two, one).tolist()),
        tuple(run[-1].measured(data, "alignment") for run in runs),
        (line.intercept, line.standard_error),
        network.model("isotropic").alignment,
    )


@cache
def error_of(network: Network, bulk_model: str) -> float:
    """The test error by the theory."""
    return solve(network.model(bulk_model)).test_error


def one_step(network: Network, eta: float, batches: float = 1.0) -> float:
    """The test error after one step on so many batches together, by the network's own theory."""
    return error_of(replace(network, alpha0=batches * network.step.only.alpha0, eta=eta), "network")


def page(data: Data) -> Study:
    """The page from the samples."""
    rows = [row_of(case, eta, data) for case in CASES for eta in ETAS]
    helped, hurt = sum(row.z < -3.0 for row in rows), sum(row.z > 3.0 for row in rows)
    own = {case: [row for row in rows if row.case == case] for case in CASES}
    text = (
        "The paper leaves a second gradient step open. Here networks take one or two, each step of the same rate on "
        f"$n_0$ fresh samples; then the readout is fitted as before. Means over {SEEDS} networks at d = {LARGEST}; "
        "beside them stands the network's own theory of one and of two steps, at infinite dimension.",
        _compared(rows),
        f"At {helped} of {len(rows)} points the second step lowers the test error, at {hurt} it raises it "
        f"(by more than three standard errors each), at {len(rows) - helped - hurt} the difference is not "
        f"seen. {'; '.join(_where(case, found) for case, found in own.items())}.",
        " ".join(_best(case, found) for case, found in own.items()),
        _same_samples(own),
        _alignment(rows),
    )
    tables = tuple(_table(case, found) for case, found in own.items())
    return Study(SLUG, "A second gradient step", text, tables, (_figure(own),), command(SLUG))


def _compared(rows: Sequence[Row]) -> str:
    """How far the theory of two steps is from what was measured, with either bulk."""
    own, isotropic = ([row.off(theory) for row, theory in pairs] for pairs in (
        [(row, row.theory[1]) for row in rows], [(row, row.isotropic) for row in rows],
    ))  # fmt: skip
    shares = [abs(row.isotropic / row.theory[1] - 1.0) for row in rows]
    far = max(rows, key=lambda row: abs(row.isotropic / row.theory[1] - 1.0))
    within = sum(abs(z) < 3.0 for z in own)
    return (
        "Spike, alignment and bulk after the second step follow from those after the first, and the network's own bulk "
        "has a closed form. The measured test errors after two steps, extrapolated to infinite dimension by a line in "
        f"1/d, agree with this theory within three standard errors at {within} of {len(rows)} points (root mean square "
        f"{_rms(own):.1f} standard errors; with the isotropic bulk {_rms(isotropic):.1f}). The test errors with "
        f"either bulk differ by {100.0 * float(np.mean(shares)):.1f} % on average, by {100.0 * max(shares):.0f} % at "
        f"most ({far.case}, eta = {far.eta:g})."
    )


def _rms(values: Sequence[float]) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def _where(case: str, rows: Sequence[Row]) -> str:
    """At small rates it helps, at large ones it hurts, if that is what the data say."""
    last = max((row.eta for row in rows if row.z < -3.0), default=None)
    first = min((row.eta for row in rows if row.z > 3.0), default=None)
    helps = f"helps up to eta = {last:g}" if last is not None else "helps nowhere"
    hurts = f"hurts from eta = {first:g} on" if first is not None else "hurts nowhere"
    return f"{case}: it {helps} and {hurts}"


def _best(case: str, rows: Sequence[Row]) -> str:
    """The least error over the rates that were tried, with one step and with two."""
    one, two = (min(rows, key=lambda row: row.errors[k].mean) for k in (0, 1))
    before, after = one.errors[0], two.errors[1]
    z = one.z if one is two else (after.mean - before.mean) / float(np.hypot(before.error, after.error))
    verdict = "the same within three standard errors" if abs(z) < 3.0 else f"{z:+.1f} standard errors apart"
    return (
        f"{case}: the least error is {before} with one step (at eta = {one.eta:g}) and {after} with two "
        f"(at eta = {two.eta:g}), {verdict}."
    )


def _same_samples(own: dict[str, list[Row]]) -> str:
    """Whether the gain is more than that of the second batch."""
    parts, wins = [], 0
    for case, rows in own.items():
        two = min((row.errors[1] for row in rows), key=lambda error: error.mean)
        once = min(one_step(CASES[case], float(eta), 2.0) for eta in np.geomspace(min(ETAS), max(ETAS), 13))
        wins += two.mean + 3.0 * two.error < once
        parts.append(f"{case} {once:.4f} against {two}")
    return (
        "Two steps see two batches. One step on both together, at its best rate, would leave (by the network's own "
        f"theory, beside the measured two steps): {'; '.join(parts)}. Two steps do better than that by more than three "
        f"standard errors at {wins} of {len(CASES)} networks"
        + (": the gain is more than that of the samples." if wins == len(CASES) else ".")
    )


def _alignment(rows: Sequence[Row]) -> str:
    small = [row.alignments for row in rows if row.eta == min(ETAS)]
    before, after = (float(np.mean([pair[k].mean for pair in small])) for k in (0, 1))
    better = sum(row.alignments[1].mean > row.alignments[0].mean for row in rows)
    limits = {
        case: replace(network, alpha0=2.0 * network.step.only.alpha0).model("isotropic").alignment
        for case, network in CASES.items()
    }
    beyond = sum(row.alignments[1].mean - 3.0 * row.alignments[1].error > limits[row.case] for row in rows)
    gap = max(abs(row.alignments[1].mean - row.aligned) for row in rows)
    return (
        f"The alignment of the mean row with the target is higher after the second step at {better} of {len(rows)} "
        f"points; at eta = {min(ETAS):g} it goes from {before:.3f} to {after:.3f} (mean over the {len(CASES)} "
        f"networks). At {beyond} points it is above what Result 3.1 gives for one step on both batches. The largest "
        f"difference from the theory of two steps is {gap:.3f}."
    )


def _table(case: str, rows: Sequence[Row]) -> Table:
    network = CASES[case]
    return Table.of(
        f"{case}, alpha0 = {network.alpha0:g}, beta = {network.beta:g}, alpha = {network.alpha:g}, ridge = "
        f"{network.ridge:g}, d = {LARGEST}",
        "eta | one step | theory | two steps | to infinite d | theory | isotropic | alignment, one | two | theory",
        (
            f"{row.eta:g} | {row.errors[0]} | {row.theory[0]:.4f} | {row.errors[1]} | {estimate_text(*row.limit)} | "
            f"{row.theory[1]:.4f} | {row.isotropic:.4f} | {row.alignments[0].mean:.3f} | "
            f"{row.alignments[1].mean:.3f} | {row.aligned:.3f}"
            for row in rows
        ),
    )


def _figure(own: dict[str, list[Row]]) -> draw.Figure:
    """Test error against the rate with one and two steps, one panel per network."""
    canvas, *all_axes = draw.panels(len(CASES), size=(13.0, 3.9))
    grid = [float(eta) for eta in np.geomspace(min(ETAS), max(ETAS), 21)]
    for axes, (case, rows) in zip(all_axes, own.items(), strict=True):
        once, twice = ([one_step(CASES[case], eta, batches) for eta in grid] for batches in (1.0, 2.0))
        draw.line(axes, grid, once, 0, "theory, one step")
        draw.line(axes, ETAS, [row.theory[1] for row in rows], 1, "theory, two steps")
        draw.line(axes, grid, twice, 2, "theory, one step on both batches", lw=1.3)
        for k, label in enumerate(("one step", "two steps")):
            draw.points(axes, ETAS, [row.errors[k] for row in rows], k, label)
        axes.set(xscale="log", xlabel=r"$\tilde\eta$", title=case)
        axes.set_xticks([0.25, 1.0, 4.0], ["0.25", "1", "4"])
        axes.minorticks_off()
    all_axes[0].set_ylabel("test error")
    canvas.legend(
        *all_axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False, fontsize=9
    )
    caption = (
        f"Test error against the rescaled learning rate, networks at d = {LARGEST}, mean over {SEEDS} with one "
        "standard error. Solid: the network's own theory for one step; dashed: for two steps, at the rates of the "
        "points; dash-dotted: for one step on as many samples as the two see."
    )
    return draw.finished(canvas, SLUG, "One gradient step and two", caption)


STUDY = Measurement(SLUG, 73, EXPERIMENTS, page)
