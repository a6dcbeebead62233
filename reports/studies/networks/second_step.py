"""Page: test error after one and after two gradient steps, each on a batch of its own, beside the one-step theory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.ridge import solve
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
    """One network at one learning rate after one and after two steps, and the one-step theory; means at the largest
    dimension, and test errors extrapolated from both. `difference`: two steps less one."""

    case: str
    eta: float
    theory: float
    errors: tuple[Measured, ...]
    difference: Measured
    alignments: tuple[Measured, ...]
    extrapolated: tuple[float, ...]

    @property
    def z(self) -> float:
        """Two steps minus one in standard errors, pair by pair: both start from the same network and batch."""
        return self.difference.z(0.0)


def row_of(case: str, eta: float, data: Data) -> Row:
    """From the samples."""
    runs = [experiments_of(case, steps, eta) for steps in (1, 2)]
    one, two = (data[run[-1].name]["test_error"] for run in runs)
    return Row(
        case,
        eta,
        one_step(CASES[case], eta),
        tuple(run[-1].measured(data) for run in runs),
        Measured.of(np.subtract(two, one).tolist()),
        tuple(run[-1].measured(data, "alignment") for run in runs),
        tuple(line_of(data, run).intercept for run in runs),
    )


def one_step(network: Network, eta: float, batches: float = 1.0) -> float:
    """The test error after one step on so many batches together, by the network's own theory."""
    return solve(replace(network, alpha0=batches * network.step.only.alpha0, eta=eta).model("network")).test_error


def page(data: Data) -> Study:
    """The page from the samples."""
    rows = [row_of(case, eta, data) for case in CASES for eta in ETAS]
    helped, hurt = sum(row.z < -3.0 for row in rows), sum(row.z > 3.0 for row in rows)
    own = {case: [row for row in rows if row.case == case] for case in CASES}
    text = (
        "The theory knows one gradient step. Here networks take one or two, by simulation only, each step of the same "
        f"rate on $n_0$ fresh samples; then the readout is fitted as before. Means over {SEEDS} networks at "
        f"d = {LARGEST}, with the network's own one-step theory (at infinite dimension) beside them.",
        f"At {helped} of {len(rows)} points the second step lowers the test error, at {hurt} it raises it "
        f"(by more than three standard errors each), at {len(rows) - helped - hurt} the difference is not "
        f"seen. {'; '.join(_where(case, found) for case, found in own.items())}.",
        " ".join(_best(case, found) for case, found in own.items()),
        _same_samples(own),
        _alignment(rows),
    )
    tables = tuple(_table(case, found) for case, found in own.items())
    return Study(SLUG, "A second gradient step", text, tables, (_figure(own),), command(SLUG))


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
    return (
        f"The alignment of the mean row with the target is higher after the second step at {better} of {len(rows)} "
        f"points; at eta = {min(ETAS):g} it goes from {before:.3f} to {after:.3f} (mean over the {len(CASES)} "
        f"networks). At {beyond} points it is above what Result 3.1 gives for one step on both batches."
    )


def _table(case: str, rows: Sequence[Row]) -> Table:
    network = CASES[case]
    return Table.of(
        f"{case}, alpha0 = {network.alpha0:g}, beta = {network.beta:g}, alpha = {network.alpha:g}, ridge = "
        f"{network.ridge:g}, d = {LARGEST}",
        "eta | one-step theory | one step | two steps | to infinite d: one | two | alignment, one | two",
        (
            f"{row.eta:g} | {row.theory:.4f} | {row.errors[0]} | {row.errors[1]} | {row.extrapolated[0]:.4f} | "
            f"{row.extrapolated[1]:.4f} | {row.alignments[0].mean:.3f} | {row.alignments[1].mean:.3f}"
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
        draw.line(axes, grid, twice, 2, "theory, one step on both batches", lw=1.3)
        for k, label in enumerate(("one step", "two steps")):
            draw.points(axes, ETAS, [row.errors[k] for row in rows], k, label)
        draw.line(axes, ETAS, [row.errors[1].mean for row in rows], 1, ls=":", lw=1.0)
        axes.set(xscale="log", xlabel=r"$\tilde\eta$", title=case)
        axes.set_xticks([0.25, 1.0, 4.0], ["0.25", "1", "4"])
        axes.minorticks_off()
    all_axes[0].set_ylabel("test error")
    canvas.legend(
        *all_axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False, fontsize=9
    )
    caption = (
        f"Test error against the rescaled learning rate, networks at d = {LARGEST}, mean over {SEEDS} with one "
        "standard error. Solid: the network's own theory for one step; dash-dotted: for one step on as many samples as "
        "the two see. Dotted: guide to the eye through the two-step points, for which there is no theory."
    )
    return draw.finished(canvas, SLUG, "One gradient step and two", caption)


STUDY = Measurement(SLUG, 73, EXPERIMENTS, page)
