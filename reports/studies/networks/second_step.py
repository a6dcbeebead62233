"""Page: test error after one and after two gradient steps, each on a batch of its own, beside the one-step theory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.figures.figures import Figure
from giantsteps.reports.measurements.drawing import STYLES, finished, panels, points
from giantsteps.reports.measurements.experiments import Data, Measured, at_sizes, studied
from giantsteps.reports.measurements.study import Study, Table, command
from giantsteps.verify.checks.finite_size import fit_line

SLUG, SEED = "second_step", 73
RUNS = ((200, 24), (400, 16))
ETAS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
STEPS = (1, 2)
CASES: tuple[tuple[str, Network], ...] = (
    ("tanh/tanh", Network(activation("tanh"), activation("tanh"), 1.5, 1.0, 0.1, alpha0=2.0, eta=1.0)),
    ("tanh/sin", Network(activation("tanh"), activation("sin"), 1.5, 1.0, 0.1, alpha0=2.0, eta=1.0)),
    ("erf/sign", Network(activation("erf"), activation("sign"), 2.0, 1.0, 0.1, alpha0=4.0, eta=1.0)),
    ("tanh/z+he3/3", Network(activation("tanh"), activation("z + he3(z)/3"), 2.0, 1.0, 0.1, alpha0=4.0, eta=1.0)),
)
OBSERVED = ("test_error", "training_error", "spike", "alignment", "bulk")


def name_of(case: str, steps: int, eta: float, dimension: int) -> str:
    """The key of one experiment."""
    return f"{case}, steps {steps}, eta {eta:g}, d = {dimension}"


EXPERIMENTS = tuple(
    experiment
    for case, network in CASES
    for steps in STEPS
    for eta in ETAS
    for experiment in at_sizes(
        RUNS, partial(name_of, case, steps, eta), replace(network, eta=eta, steps=steps), observables=OBSERVED
    )
)


@dataclass(frozen=True)
class Row:
    """One network at one learning rate: what was measured after one and after two steps, and the one-step theory."""

    case: str
    eta: float
    theory: float
    errors: tuple[Measured, Measured]
    difference: Measured
    alignments: tuple[Measured, Measured]
    spikes: tuple[Measured, Measured]
    extrapolated: tuple[float, float]

    @property
    def z(self) -> float:
        """Two steps minus one in standard errors, pair by pair: both start from the same network and batch."""
        return self.difference.z(0.0)


LARGEST = RUNS[-1][0]


def rows_of(data: Data) -> tuple[Row, ...]:
    """Every network and learning rate; means at the largest dimension, and test errors extrapolated from both."""
    rows = []
    for case, network in CASES:
        for eta in ETAS:
            model = replace(network, eta=eta).model("network")
            found = [data[name_of(case, steps, eta, LARGEST)] for steps in STEPS]
            lines = [
                fit_line(
                    [d for d, _ in RUNS],
                    [data[name_of(case, steps, eta, d)]["test_error"] for d, _ in RUNS],
                    [0.0] * len(RUNS),
                ).intercept
                for steps in STEPS
            ]
            errors, alignments, spikes = (
                (Measured.of(found[0][name]), Measured.of(found[1][name]))
                for name in ("test_error", "alignment", "spike")
            )
            difference = Measured.of(np.subtract(found[1]["test_error"], found[0]["test_error"]).tolist())
            theory = solve(model).test_error
            rows.append(Row(case, eta, theory, errors, difference, alignments, spikes, (lines[0], lines[1])))
    return tuple(rows)


def study() -> Study | None:
    """The page."""
    return studied(SLUG, EXPERIMENTS, rows_of, page, drawn)


def page(rows: Sequence[Row]) -> Study:
    """The page from its rows: every number in the text is computed from them."""
    helped = [row for row in rows if row.z < -3.0]
    hurt = [row for row in rows if row.z > 3.0]
    text = (
        "The theory knows one gradient step. Here networks take one or two, by simulation only, each step of the same "
        f"rate on $n_0$ fresh samples; then the readout is fitted as before. Means over {RUNS[-1][1]} networks at "
        f"d = {LARGEST}, with the network's own one-step theory (at infinite dimension) beside them.",
        f"At {len(helped)} of {len(rows)} points the second step lowers the test error, at {len(hurt)} it raises it "
        f"(by more than three standard errors each), at {len(rows) - len(helped) - len(hurt)} the difference is not "
        "seen. " + _where(rows),
        " ".join(_best(case, rows) for case, _ in CASES),
        _same_samples(rows),
        _alignment(rows),
    )
    return Study(
        "second-step",
        "A second gradient step",
        text,
        tuple(_table(case, rows) for case, _ in CASES),
        (),
        command(SLUG, "simulate"),
    )


def _where(rows: Sequence[Row]) -> str:
    """At small rates it helps, at large ones it hurts, if that is what the data say."""
    parts = []
    for case, _ in CASES:
        own = [row for row in rows if row.case == case]
        signs = ["-" if row.z < -3.0 else "+" if row.z > 3.0 else "0" for row in own]
        last_help = max((row.eta for row, sign in zip(own, signs, strict=True) if sign == "-"), default=None)
        first_hurt = min((row.eta for row, sign in zip(own, signs, strict=True) if sign == "+"), default=None)
        helps = f"helps up to eta = {last_help:g}" if last_help is not None else "helps nowhere"
        hurts = f"hurts from eta = {first_hurt:g} on" if first_hurt is not None else "hurts nowhere"
        parts.append(f"{case}: it {helps} and {hurts}")
    return "; ".join(parts) + "."


def _best(case: str, rows: Sequence[Row]) -> str:
    """The least error over the rates that were tried, with one step and with two."""
    own = [row for row in rows if row.case == case]
    one, two = (min(own, key=lambda row: row.errors[k].mean) for k in (0, 1))
    error = float(np.hypot(one.errors[0].error, two.errors[1].error))
    z = one.z if one is two else (two.errors[1].mean - one.errors[0].mean) / error
    verdict = "the same within three standard errors" if abs(z) < 3.0 else f"{z:+.1f} standard errors apart"
    return (
        f"{case}: the least error is {one.errors[0]} with one step (at eta = {one.eta:g}) and {two.errors[1]} with two "
        f"(at eta = {two.eta:g}), {verdict}."
    )


@lru_cache(maxsize=16)
def doubled(network: Network) -> float:
    """The least one-step error over the rates, by the network's own theory, of one step on all 2 n0 samples."""
    rates = np.geomspace(min(ETAS), max(ETAS), 13)
    twice = [replace(network, alpha0=2.0 * network.alpha0, eta=float(eta)) for eta in rates]
    return min(solve(one.model("network")).test_error for one in twice)


def _same_samples(rows: Sequence[Row]) -> str:
    """Whether the gain is more than that of the second batch."""
    parts, wins = [], 0
    for case, network in CASES:
        two = min((row.errors[1] for row in rows if row.case == case), key=lambda error: error.mean)
        once = doubled(network)
        wins += two.mean + 3.0 * two.error < once
        parts.append(f"{case} {once:.4f} against {two}")
    return (
        "Two steps see two batches. One step on both together, at its best rate, would leave (by the network's own "
        f"theory, beside the measured two steps): {'; '.join(parts)}. Two steps do better than that by more than three "
        f"standard errors at {wins} of {len(CASES)} networks"
        + (": the gain is more than that of the samples." if wins == len(CASES) else ".")
    )


def _alignment(rows: Sequence[Row]) -> str:
    small = [row for row in rows if row.eta == min(ETAS)]
    before, after = (float(np.mean([row.alignments[k].mean for row in small])) for k in (0, 1))
    better = sum(row.alignments[1].mean > row.alignments[0].mean for row in rows)
    networks = dict(CASES)
    limits = {
        case: replace(network, alpha0=2.0 * network.alpha0).model("isotropic").alignment for case, network in CASES
    }
    beyond = sum(row.alignments[1].mean - 3.0 * row.alignments[1].error > limits[row.case] for row in rows)
    return (
        f"The alignment of the mean row with the target is higher after the second step at {better} of {len(rows)} "
        f"points; at eta = {min(ETAS):g} it goes from {before:.3f} to {after:.3f} (mean over the {len(networks)} "
        f"networks). At {beyond} points it is above what Result 3.1 gives for one step on both batches."
    )


def _table(case: str, rows: Sequence[Row]) -> Table:
    network = dict(CASES)[case]
    return Table(
        f"{case}, alpha0 = {network.alpha0:g}, beta = {network.beta:g}, alpha = {network.alpha:g}, ridge = "
        f"{network.ridge:g}, d = {LARGEST}",
        ("eta", "one-step theory", "one step", "two steps", "to infinite d: one", "two", "alignment, one", "two"),
        tuple(
            (
                f"{row.eta:g}",
                f"{row.theory:.4f}",
                *(str(error) for error in row.errors),
                *(f"{value:.4f}" for value in row.extrapolated),
                *(f"{one.mean:.3f}" for one in row.alignments),
            )
            for row in rows
            if row.case == case
        ),
    )


def drawn(rows: Sequence[Row]) -> Figure:
    """Test error against the rate with one and two steps, one panel per network."""
    canvas, all_axes = panels(len(CASES), width=13.0, height=3.9)
    grid = np.geomspace(min(ETAS), max(ETAS), 21)
    for axes, (case, network) in zip(all_axes, CASES, strict=True):
        own = [row for row in rows if row.case == case]
        curve = [solve(replace(network, eta=float(eta)).model("network")).test_error for eta in grid]
        axes.plot(grid, curve, color=STYLES[0][0], lw=1.7, label="theory, one step")
        twice = replace(network, alpha0=2.0 * network.alpha0)
        curve = [solve(replace(twice, eta=float(eta)).model("network")).test_error for eta in grid]
        axes.plot(grid, curve, color=STYLES[2][0], linestyle="-.", lw=1.3, label="theory, one step on both batches")
        points(axes, ETAS, [row.errors[0] for row in own], 0, "one step")
        points(axes, ETAS, [row.errors[1] for row in own], 1, "two steps")
        axes.plot(ETAS, [row.errors[1].mean for row in own], color=STYLES[1][0], linestyle=":", lw=1.0)
        axes.set(xscale="log", xlabel=r"$\tilde\eta$", title=case)
        axes.set_xticks([0.25, 1.0, 4.0], ["0.25", "1", "4"])
        axes.minorticks_off()
    all_axes[0].set_ylabel("test error")
    canvas.legend(
        *all_axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False, fontsize=9
    )
    title = "One gradient step and two"
    caption = (
        f"Test error against the rescaled learning rate, networks at d = {LARGEST}, mean over {RUNS[-1][1]} with one "
        "standard error. Solid: the network's own theory for one step; dash-dotted: for one step on as many samples as "
        "the two see. Dotted: guide to the eye through the two-step points, for which there is no theory."
    )
    return finished(canvas, SLUG, title, caption)
