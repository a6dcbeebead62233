"""Page: experiments as small as n = 500, d = 200, p = 100 beside the asymptotic theory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

import numpy as np

from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.finite_width import at_width
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.measurements.experiments import (
    Data,
    Experiment,
    Measured,
    Measurement,
    own_model,
    predicted_error,
)
from giantsteps.reports.measurements.study import OURS, Statement, Study, Table, command, stated

SLUG = "finite_samples"
SAMPLES, DIMENSION, WIDTH = 500, 200, 100
SEEDS = 200
ALPHA, BETA = SAMPLES / DIMENSION, WIDTH / DIMENSION
RIDGES = (0.001, 0.01, 0.1, 1.0, 10.0)
ETAS = (0.5, 1.0, 2.0, 4.0)
FEATURES: dict[str, Model] = {
    "features tanh/sin": Model("tanh", "sin", ALPHA, BETA, 0.1, spike=1.0, bulk=1.0, alignment=0.8),
    "features erf/erf": Model("erf", "erf", ALPHA, BETA, 0.1, spike=1.7, bulk=1.0, alignment=1.0, noise=0.1),
    "features relu/sign": Model("relu", "sign", ALPHA, BETA, 0.1, spike=1.0, bulk=1.0, alignment=0.7),
    "features sign/tanh": Model("sign", "tanh", ALPHA, BETA, 0.1, spike=1.2, bulk=0.8, alignment=0.6),
}
NETWORKS: dict[str, Network] = {
    "network tanh/tanh": Network("tanh", "tanh", ALPHA, BETA, 0.1, alpha0=4.0, eta=1.0),
    "network erf/sign": Network("erf", "sign", ALPHA, BETA, 0.1, alpha0=2.0, eta=1.0),
    "network atan/sin": Network("atan", "sin", ALPHA, BETA, 0.1, alpha0=8.0, eta=1.0),
}
POINTS: tuple[tuple[str, Model | Network], ...] = (
    *((f"{case}, ridge {x:g}", replace(model, ridge=x)) for case, model in FEATURES.items() for x in RIDGES),
    *((f"{case}, eta {x:g}", replace(network, eta=x)) for case, network in NETWORKS.items() for x in ETAS),
)
EXPERIMENTS = tuple(
    Experiment(name, subject, DIMENSION, SEEDS, stream=k) for k, (name, subject) in enumerate(POINTS)
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One point: the measurement at d = 200, the theory at infinite d, and the theory with its known 1/p term."""

    name: str
    measured: Measured
    theory: float
    at_width: float

    @property
    def relative(self) -> float:
        """How far the measured mean is above the theory, as a share of it."""
        return self.measured.mean / self.theory - 1.0

    @property
    def z(self) -> float:
        """The same in standard errors."""
        return self.measured.z(self.theory)

    @property
    def z_at_width(self) -> float:
        """The same above the theory with its 1/p term."""
        return self.measured.z(self.at_width)

    @property
    def scatter(self) -> float:
        """The standard deviation of one experiment, as a share of the theory."""
        return self.measured.spread / self.theory


def page(data: Data) -> Study:
    """The page from the samples; a network is held against its own theory."""
    rows = []
    for experiment in EXPERIMENTS:
        solution = solve(own_model(experiment.subject))
        width = at_width(solution, WIDTH).test_error
        rows.append(Row(experiment.name, experiment.measured(data), solution.test_error, width))
    worst = max(rows, key=lambda row: abs(row.relative))
    visible = sum(abs(row.z) > 3.0 for row in rows)
    inside = sum(abs(row.measured.mean - row.theory) < row.measured.spread for row in rows)
    text = (
        f"The theory is a limit of infinite dimension. Here it is compared with experiments with n = {SAMPLES} "
        f"samples, d = {DIMENSION} inputs and p = {WIDTH} neurons: {len(rows)} points, {SEEDS} independent experiments "
        "each, the theory at the same ratios, no fit. The limit drops the cost of a uniform readout at finite width, "
        "the term $m^2/(p \\tau)$; a second column keeps it.",
    )
    after = sum(abs(row.z_at_width) > 3.0 for row in rows)
    left = worst.measured.mean / worst.at_width - 1.0
    worse = [row.name for row in rows if abs(row.z_at_width) > max(3.0, abs(row.z))]
    statements = (
        Statement(
            f"{SEEDS} experiments agree with the theory", OURS, visible == 0,
            f"the means differ by {_share(median(abs(row.relative) for row in rows))} (median) and by at most "
            f"{_share(abs(worst.relative))} ({worst.name}), and are above the theory at "
            f"{sum(row.relative > 0.0 for row in rows)}; {visible} of {len(rows)} are beyond three standard errors",
        ),
        Statement(
            "one experiment does not see the difference", OURS, inside == len(rows),
            f"it scatters by {_share(median(row.scatter for row in rows))} (median); at {inside} of {len(rows)} points "
            "the mean lies within the standard deviation of a single experiment around the theory",
        ),
        Statement(
            "the known term of order 1/p is most of the difference at the worst point", OURS,
            abs(left) < 0.2 * abs(worst.relative),
            f"the theory goes from {worst.theory:.5f} to {worst.at_width:.5f}, the measurement is {worst.measured}; "
            f"{after} points are left beyond three standard errors",
        ),
        Statement(
            "and the only one of its order", OURS, not worse,
            f"with it {len(worse)} points go beyond the measurement ({'; '.join(worse)})" if worse else "at all points",
        ),
    )  # fmt: skip
    table = Table.of(
        f"Test errors at n = {SAMPLES}, d = {DIMENSION}, p = {WIDTH} beside the asymptotics",
        "model | at | theory | with the 1/p term | measured mean | deviation | in standard errors | scatter of one "
        "experiment",
        (
            f"{row.name.replace(', ', ' | ')} | {row.theory:.5f} | {row.at_width:.5f} | {row.measured} | "
            f"{100 * row.relative:+.1f} % | {row.z:+.1f} | {100 * row.scatter:.0f} %"
            for row in rows
        ),
    )
    title = f"Finite samples: n = {SAMPLES}, d = {DIMENSION}, p = {WIDTH}"
    return Study(SLUG, title, text, (stated(statements), table), (_figure(rows),), command(SLUG))


def _share(x: float) -> str:
    return f"{100 * x:.1f} %"


def _figure(rows: Sequence[Row]) -> draw.Figure:
    """Theory as lines, measurements as points; left the features over the ridge, right the networks over eta."""
    canvas, left, right = draw.panels(2, size=(9.2, 4.0))
    panels: tuple[tuple[Any, dict[str, Any], str, tuple[float, ...]], ...] = (
        (left, FEATURES, "ridge", RIDGES),
        (right, NETWORKS, "eta", ETAS),
    )
    for axes, cases, name, at in panels:
        grid = np.geomspace(at[0], at[-1], 41)
        for style, (case, subject) in enumerate(cases.items()):
            curve = [predicted_error(replace(subject, **{name: float(x)})) for x in grid]
            draw.line(axes, grid, curve, style)
            draw.points(axes, at, [row.measured for row in rows if row.name.startswith(case)], style, case)
        axes.set(xscale="log", yscale="log")
        draw.legend(axes, loc="lower left" if axes is left else "center right")
    left.set(xlabel=r"ridge $\lambda$", ylabel="test error")
    right.set(xlabel=r"rescaled learning rate $\tilde\eta$", xticks=ETAS, xticklabels=[f"{x:g}" for x in ETAS])
    right.minorticks_off()
    title = f"Experiments of n = {SAMPLES}, d = {DIMENSION}, p = {WIDTH} beside the asymptotic theory"
    caption = (
        f"Lines: theory at infinite dimension, alpha = {ALPHA:g}, beta = {BETA:g}. Points: mean over {SEEDS} "
        "experiments with one standard error (mostly smaller than the mark). Left: spiked random features, named by "
        "student and target. Right: networks after a gradient step and their own theory, ridge "
        f"{next(iter(NETWORKS.values())).ridge:g}."
    )
    return draw.finished(canvas, SLUG, title, caption)


STUDY = Measurement(SLUG, 75, EXPERIMENTS, page)
