"""Page: test error after one and after two gradient steps, each on a batch of its own, beside the theory of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from giantsteps.numerics.models.network import Network
from giantsteps.reports.command_line.console import estimate_text
from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.measurements.experiments import (
    Data,
    Experiment,
    Measured,
    Measurement,
    at_dimensions,
    line_of,
    predicted_error,
)
from giantsteps.reports.measurements.study import OURS, Statement, Study, Table, command, stated

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
    return at_dimensions(f"{case}, steps {steps}, eta {eta:g}", network, RUNS, observables=OBSERVED)


EXPERIMENTS = tuple(
    one for case in CASES for steps in (1, 2) for eta in ETAS for one in experiments_of(case, steps, eta)
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One network at one learning rate after one and after two steps: means at the largest dimension, and the theory.

    theory: of the network's own bulk, after one and after two steps; isotropic: of the isotropic bulk after two.
    difference: two steps less one. limit: the test error after two steps at infinite dimension, from both dimensions,
    and its standard error. aligned: the theory's alignment after two steps.
    """

    eta: float
    theory: tuple[float, float]
    isotropic: float
    errors: tuple[Measured, ...]
    limit: tuple[float, float]
    alignments: tuple[Measured, ...]
    aligned: float
    difference: Measured

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
        eta,
        (one_step(CASES[case], eta), predicted_error(network)),
        predicted_error(network, "isotropic"),
        tuple(run[-1].measured(data) for run in runs),
        (line.intercept, line.standard_error),
        tuple(run[-1].measured(data, "alignment") for run in runs),
        network.model("isotropic").alignment,
        Measured.of(np.subtract(two, one).tolist()),
    )


def one_step(network: Network, eta: float, batches: float = 1.0) -> float:
    """The test error after one step on so many batches together, by the network's own theory."""
    return predicted_error(replace(network, alpha0=batches * network.step.only.alpha0, eta=eta))


def page(data: Data) -> Study:
    """The page from the samples."""
    own = {case: [row_of(case, eta, data) for eta in ETAS] for case in CASES}
    rows = [row for found in own.values() for row in found]
    helped, hurt = sum(row.z < -3.0 for row in rows), sum(row.z > 3.0 for row in rows)
    text = (
        "The paper does not treat a second gradient step. Here networks make one or two steps, each with the same rate "
        f"on $n_0$ fresh samples; then the readout is fitted as before. Means over {SEEDS} networks at d = {LARGEST} "
        "are compared with the network's own theory of one and of two steps at infinite dimension. Two steps are also "
        "compared with one step on both batches, because the gain of the second step may be that of its samples.",
    )
    statements = (
        Statement(
            "a second step lowers the test error", OURS, helped > hurt,
            f"it does at {helped} of {len(rows)} points, raises it at {hurt} (by more than three standard errors "
            f"each), and at {len(rows) - helped - hurt} no difference is seen",
        ),
        *_agreement(own),
        *(_gains(case, found) for case, found in own.items()),
        *_alignment(own),
    )  # fmt: skip
    tables = (stated(statements), *(_table(case, found) for case, found in own.items()))
    return Study(SLUG, "A second gradient step", text, tables, (_figure(own),), command(SLUG))


def _agreement(own: dict[str, list[Row]]) -> tuple[Statement, ...]:
    """How far the theory of two steps is from what was measured, with either bulk."""
    rows = [row for found in own.values() for row in found]
    at = [f"{case}, eta = {row.eta:g}" for case, found in own.items() for row in found]
    scores = np.array([[row.off(row.theory[1]), row.off(row.isotropic)] for row in rows])
    (ours, other), within = np.sqrt(np.mean(scores**2, axis=0)), int(np.sum(np.abs(scores[:, 0]) < 3.0))
    shares = np.array([abs(row.isotropic / row.theory[1] - 1.0) for row in rows])
    gap = max(abs(row.alignments[1].mean - row.aligned) for row in rows)
    return (
        Statement(
            "the network's own theory of two steps holds", OURS, within == len(rows),
            f"test errors, extrapolated by a line in 1/d, are within three standard errors of it at {within} of "
            f"{len(rows)} points (root mean square {ours:.1f}; of the isotropic bulk {other:.1f}); alignments are "
            f"within {gap:.3f} at d = {LARGEST}",
        ),
        Statement(
            "the isotropic bulk gives other test errors", OURS, float(np.max(shares)) > 0.01,
            f"they differ by {float(np.mean(shares)):.1%} on average, by {float(np.max(shares)):.0%} at most "
            f"({at[int(np.argmax(shares))]})",
        ),
    )  # fmt: skip


def _gains(case: str, rows: Sequence[Row]) -> Statement:
    """Two steps at their best rate beside one step at its best, on one batch and, by the theory, on both."""
    last = max((row.eta for row in rows if row.z < -3.0), default=0.0)
    hurts = [row.eta for row in rows if row.z > 3.0]
    one, two = (min(rows, key=lambda row: row.errors[k].mean) for k in (0, 1))
    before, after = one.errors[0], two.errors[1]
    once = min(one_step(CASES[case], float(eta), 2.0) for eta in np.geomspace(min(ETAS), max(ETAS), 13))
    return Statement(
        f"{case}: two steps gain more than their samples", OURS, after.mean + 3.0 * after.error < once,
        f"least error {before} with one step (eta = {one.eta:g}), {after} with two (eta = {two.eta:g}), {once:.4f} "
        f"with one on both batches; the second helps up to eta = {last:g} and hurts "
        f"{f'from {min(hurts):g} on' if hurts else 'nowhere'} (seen: by more than three standard errors)",
    )  # fmt: skip


def _alignment(own: dict[str, list[Row]]) -> tuple[Statement, ...]:
    rows = [row for found in own.values() for row in found]
    small = [row.alignments for row in rows if row.eta == min(ETAS)]
    before, after = (float(np.mean([pair[k].mean for pair in small])) for k in (0, 1))
    better = sum(row.alignments[1].mean > row.alignments[0].mean for row in rows)
    limits = {
        case: replace(network, alpha0=2.0 * network.step.only.alpha0).model("isotropic").alignment
        for case, network in CASES.items()
    }
    beyond = sum(
        row.alignments[1].mean - 3.0 * row.alignments[1].error > limits[case] for case in own for row in own[case]
    )
    return (
        Statement(
            "the mean row is nearer to the target after the second step", OURS, 2 * better > len(rows),
            f"its alignment is higher at {better} of {len(rows)} points; at eta = {min(ETAS):g} it goes from "
            f"{before:.3f} to {after:.3f} (mean over the {len(CASES)} networks)",
        ),
        Statement(
            "two steps align no better than one on both batches", OURS, beyond == 0,
            f"they do at {beyond} of {len(rows)} points, by more than three standard errors",
        ),
    )  # fmt: skip


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
    canvas, *all_axes = draw.panels(len(CASES), ylabel="test error")
    grid = [float(eta) for eta in np.geomspace(min(ETAS), max(ETAS), 21)]
    for axes, (case, rows) in zip(all_axes, own.items(), strict=True):
        once, twice = ([one_step(CASES[case], eta, batches) for eta in grid] for batches in (1.0, 2.0))
        draw.line(axes, grid, once, 0, "theory, one step")
        draw.line(axes, ETAS, [row.theory[1] for row in rows], 1, "theory, two steps")
        draw.line(axes, grid, twice, 2, "theory, one step on both batches", lw=1.3)
        for k, label in enumerate(("one step", "two steps")):
            draw.points(axes, ETAS, [row.errors[k] for row in rows], k, label)
        axes.set(xscale="log", xlabel=r"rescaled learning rate $\tilde\eta$", title=case)
        draw.ticks(axes, (0.25, 1.0, 4.0))
    draw.legend_outside(canvas, all_axes[0])
    caption = (
        f"Points: networks at d = {LARGEST}, mean over {SEEDS} with one standard error. Lines: the network's own "
        "theory for one step (solid), for two steps at the learning rates of the points (dashed), and for one step on "
        "as many samples as two steps use (dash-dotted)."
    )
    return draw.finished(canvas, SLUG, "One gradient step and two", caption)


STUDY = Measurement(SLUG, 73, EXPERIMENTS, page)
