"""Page: experiments as small as n = 500, d = 200, p = 100 beside the asymptotic theory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.finite_width import at_width
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.figures.figures import Figure
from giantsteps.reports.measurements.drawing import STYLES, finished, legend, panels, points
from giantsteps.reports.measurements.experiments import Data, Experiment, Measured, studied
from giantsteps.reports.measurements.study import Study, Table, command

SLUG, SEED = "finite_samples", 75
SAMPLES, DIMENSION, WIDTH = 500, 200, 100
SEEDS = 200
ALPHA, BETA = SAMPLES / DIMENSION, WIDTH / DIMENSION
RIDGES = (0.001, 0.01, 0.1, 1.0, 10.0)
ETAS = (0.5, 1.0, 2.0, 4.0)
FEATURES: tuple[tuple[str, Model], ...] = (
    (
        "features tanh/sin",
        Model(activation("tanh"), activation("sin"), ALPHA, BETA, 0.1, spike=1.0, bulk=1.0, alignment=0.8),
    ),
    (
        "features erf/erf",
        Model(activation("erf"), activation("erf"), ALPHA, BETA, 0.1, spike=1.7, bulk=1.0, alignment=1.0, noise=0.1),
    ),
    (
        "features relu/sign",
        Model(activation("relu"), activation("sign"), ALPHA, BETA, 0.1, spike=1.0, bulk=1.0, alignment=0.7),
    ),
    (
        "features sign/tanh",
        Model(activation("sign"), activation("tanh"), ALPHA, BETA, 0.1, spike=1.2, bulk=0.8, alignment=0.6),
    ),
)
NETWORKS: tuple[tuple[str, Network], ...] = (
    ("network tanh/tanh", Network(activation("tanh"), activation("tanh"), ALPHA, BETA, 0.1, alpha0=4.0, eta=1.0)),
    ("network erf/sign", Network(activation("erf"), activation("sign"), ALPHA, BETA, 0.1, alpha0=2.0, eta=1.0)),
    ("network atan/sin", Network(activation("atan"), activation("sin"), ALPHA, BETA, 0.1, alpha0=8.0, eta=1.0)),
)
POINTS: tuple[tuple[str, str, Model | Network], ...] = (
    *((case, f"ridge {ridge:g}", replace(model, ridge=ridge)) for case, model in FEATURES for ridge in RIDGES),
    *((case, f"eta {eta:g}", replace(network, eta=eta)) for case, network in NETWORKS for eta in ETAS),
)

EXPERIMENTS = tuple(
    Experiment(f"{case}, {where}", subject, DIMENSION, SEEDS, stream=k)
    for k, (case, where, subject) in enumerate(POINTS)
)


@dataclass(frozen=True)
class Row:
    """One point: the measurement at d = 200, the theory at infinite d, and the theory with its known 1/p term."""

    case: str
    where: str
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
    def scatter(self) -> float:
        """The standard deviation of one experiment, as a share of the theory."""
        return self.measured.spread / self.theory


def rows_of(data: Data) -> tuple[Row, ...]:
    """Every point with its theory; a network is held against its own."""
    found = []
    for case, where, subject in POINTS:
        model = subject.model("network") if isinstance(subject, Network) else subject
        samples = data[f"{case}, {where}"]["test_error"]
        solution = solve(model)
        width = at_width(solution, WIDTH).test_error
        found.append(Row(case, where, Measured.of(samples), solution.test_error, width))
    return tuple(found)


def study() -> Study | None:
    """The page."""
    return studied(SLUG, EXPERIMENTS, rows_of, page, drawn)


def page(rows: Sequence[Row]) -> Study:
    """The page from its rows: every number in the text is computed from them."""
    worst = max(rows, key=lambda row: abs(row.relative))
    typical = median(abs(row.relative) for row in rows)
    scatter = median(row.scatter for row in rows)
    visible = [row for row in rows if abs(row.z) > 3.0]
    above = sum(row.relative > 0.0 for row in rows)
    inside = sum(abs(row.measured.mean - row.theory) < row.measured.spread for row in rows)
    text = (
        f"The theory is about infinite dimension. Here it stands beside experiments with n = {SAMPLES} samples, d = "
        f"{DIMENSION} inputs and p = {WIDTH} neurons: {len(rows)} points, {SEEDS} independent experiments each, the "
        "theory at the same ratios and nothing fitted.",
        f"The means are off by {_share(typical)} at the typical point (median) and by {_share(abs(worst.relative))} at "
        f"the worst ({worst.case}, {worst.where}). {SEEDS} experiments see such differences: {len(visible)} of "
        f"{len(rows)} are beyond three standard errors. One experiment would not: it scatters by {_share(scatter)} "
        f"(median), and at {inside} of {len(rows)} points the mean lies within the standard deviation of a single "
        "experiment around the theory.",
        f"The measured mean is above the theory at {above} points of {len(rows)}. {_cause(rows)}",
    )
    table = Table(
        f"Test errors at n = {SAMPLES}, d = {DIMENSION}, p = {WIDTH} beside the asymptotics",
        (
            "model",
            "at",
            "theory",
            "with the 1/p term",
            "measured mean",
            "deviation",
            "in standard errors",
            "scatter of one experiment",
        ),
        tuple(
            (
                row.case,
                row.where,
                f"{row.theory:.5f}",
                f"{row.at_width:.5f}",
                str(row.measured),
                f"{100 * row.relative:+.1f} %",
                f"{row.z:+.1f}",
                f"{100 * row.scatter:.0f} %",
            )
            for row in rows
        ),
    )
    return Study(
        "finite-samples",
        f"Finite samples: n = {SAMPLES}, d = {DIMENSION}, p = {WIDTH}",
        text,
        (table,),
        (),
        command(SLUG, "simulate"),
    )


def _share(x: float) -> str:
    return f"{100 * x:.1f} %"


def _cause(rows: Sequence[Row]) -> str:
    """How much of the deviation the one known term of order 1/p accounts for."""
    before = sum(abs(row.z) > 3.0 for row in rows)
    after = sum(abs(row.measured.z(row.at_width)) > 3.0 for row in rows)
    worst = max(rows, key=lambda row: abs(row.relative))
    left = worst.measured.mean / worst.at_width - 1.0
    helps = "accounts for most of it" if abs(left) < 0.2 * abs(worst.relative) else "does not account for it"
    return (
        "The limit drops what a uniform readout costs at finite width, the term $m^2/(p \\tau)$. Keeping it leaves "
        f"{after} points beyond three standard errors in place of {before}; at the worst point it {helps}: the theory "
        f"goes from {worst.theory:.5f} to {worst.at_width:.5f}, the measurement is {worst.measured}.{_overshoot(rows)}"
    )


def _overshoot(rows: Sequence[Row]) -> str:
    worse = [row for row in rows if abs(row.measured.z(row.at_width)) > max(3.0, abs(row.z))]
    if not worse:
        return ""
    where = "; ".join(f"{row.case}, {row.where}" for row in worse)
    return f" It is not the only term of its order: at {len(worse)} points it goes beyond the measurement ({where})."


def drawn(rows: Sequence[Row]) -> Figure:
    """Theory as lines, measurements as points; left the features over the ridge, right the networks over eta."""
    canvas, (left, right) = panels(2)
    features = [(case, [replace(model, ridge=float(x)) for x in _grid(RIDGES)]) for case, model in FEATURES]
    networks = [(case, [replace(one, eta=float(x)).model("network") for x in _grid(ETAS)]) for case, one in NETWORKS]
    for axes, cases, at in ((left, features, RIDGES), (right, networks, ETAS)):
        grid = _grid(at)
        for style, (case, models) in enumerate(cases):
            curve = [solve(model).test_error for model in models]
            axes.plot(grid, curve, color=STYLES[style][0], linestyle=STYLES[style][2], lw=1.7)
            points(axes, at, [row.measured for row in rows if row.case == case], style, case)
        axes.set(xscale="log", yscale="log")
        legend(axes, loc="lower left" if axes is left else "center right")
    left.set(xlabel=r"ridge $\lambda$", ylabel="test error")
    right.set(xlabel=r"rescaled learning rate $\tilde\eta$", xticks=ETAS, xticklabels=[f"{x:g}" for x in ETAS])
    right.minorticks_off()
    title = f"Experiments of n = {SAMPLES}, d = {DIMENSION}, p = {WIDTH} beside the asymptotic theory"
    caption = (
        f"Lines: theory at infinite dimension, alpha = {ALPHA:g}, beta = {BETA:g}. Points: mean over {SEEDS} "
        "experiments with one standard error (mostly smaller than the mark). Left: spiked random features, named by "
        "student and target. Right: networks after a gradient step, against their own theory, ridge "
        f"{NETWORKS[0][1].ridge:g}."
    )
    return finished(canvas, SLUG, title, caption)


def _grid(at: Sequence[float]) -> NDArray[np.float64]:
    return np.geomspace(at[0], at[-1], 41)
