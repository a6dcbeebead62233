"""Figures 4 and 5: learning curves by the spike, by its alignment, and by the width of the network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.one_group.batch import solve_batch
from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.measurements.experiments import Data
from giantsteps.reports.measurements.study import Statement
from giantsteps.reports.studies.paper import settings as at
from giantsteps.reports.studies.paper.curves import ALPHAS, THEORIES, key, learning
from giantsteps.reports.studies.paper.samples import BY_ALIGNMENT, BY_SPIKE, BY_WIDTH, pictured
from giantsteps.reports.studies.paper.series import Plotted, Series, agreement

Array = NDArray[np.float64]


def figure_4(data: Data) -> draw.Figure:
    """Test error against alpha: on the left by the spike strength, on the right by the alignment."""
    canvas, left, right = draw.panels(2)
    key(left, BY_SPIKE, learning(left, BY_SPIKE, data))
    # The spiked features at the ends of the alignment, 0 and 1, that no batch reaches.
    end = Model(
        at.SINE.student, at.SINE.target, 1.0, 1.0, at.SINE.ridge, spike=at.ALIGNED_SPIKE, bulk=1.0, alignment=0.0
    )
    for gamma, dash in ((0.0, ":"), (1.0, "-.")):
        error = solve_batch(end.changed(alignment=gamma), alpha=ALPHAS).test_error
        right.plot(ALPHAS, error, color=draw.DARK, lw=1.2, ls=dash, label=rf"$\gamma = {gamma:g}$")
    right.axhline(at.SINE.best_linear, color="black", lw=1.0, ls="--", label="best linear predictor")
    key(right, BY_ALIGNMENT, learning(right, BY_ALIGNMENT, data), more=3, ncols=2, loc="upper right")
    right.set_ylim(0.0, 0.56)  # the legend above all lines
    left.set_title(rf"by spike, $\gamma = {at.SPIKE_ALIGNMENT:g}$", fontsize=9)
    right.set_title(f"by alignment, $r = {at.ALIGNED_SPIKE:g}$", fontsize=9)
    draw.style_key(canvas, THEORIES)
    bulk = [curve.first.model("isotropic").bulk for curve in (*BY_SPIKE, *BY_ALIGNMENT)]
    return draw.finished(
        canvas,
        "figure_4",
        "Learning curves by spike and by alignment",
        f"Student tanh, target sin, beta = 1, ridge {at.SINE.ridge:g}. Points: networks at d = {at.DIMENSION} whose "
        f"batch and learning rate give this spike and alignment (equation (9)); mean over {at.SEEDS} with one "
        "standard error. At r = 0 there is no step. Coloured lines: theory of the isotropic bulk (solid) with variance "
        f"c = {min(bulk):.2g} to {max(bulk):.2g} after the step, and of the network's own bulk (dashed). Black lines: "
        "spiked features with c = 1 at alignment 0 (dotted) and 1 (dash-dotted), which no finite batch reaches, and "
        "the best linear predictor (dashed).",
    )


def falling(lines: Sequence[Series]) -> tuple[int, int]:
    """At how many of the points each line is below the one before it, and how many there are."""
    below = np.concatenate([after.y < before.y for before, after in pairwise(lines)])
    return int(np.sum(below)), below.size


def says_4(found: Plotted) -> tuple[Statement, ...]:
    """Larger spikes and higher alignments are better; a small spike already helps."""
    spikes = [found[1, f"isotropic theory, r = {spike:g}"] for spike in at.SPIKES]
    alignments = [found[2, f"isotropic theory, gamma = {gamma:g}"] for gamma in at.ALIGNMENTS]
    gain = 1.0 - spikes[1].y / spikes[0].y
    (lower, count), (higher, pairs) = falling(spikes), falling([found[2, r"$\gamma = 0$"], *alignments])
    linear, best = at.SINE.best_linear, found[2, r"$\gamma = 1$"]
    return (
        Statement(
            "larger spikes lead to relatively smaller test errors", "Section 4", lower == count,
            f"at {lower} of {count} points of the lines a larger spike has the lower error",
        ),
        Statement(
            "small spikes already yield errors sizably lower than none", "Section 4", float(np.min(gain)) > 0.05,
            f"r = {at.SPIKES[1]:g} is {np.min(gain):.0%} to {np.max(gain):.0%} lower (seen: by more than 5 % at "
            "all points)",
        ),
        Statement(
            "higher alignments lead to lower test errors", "Section 4", higher == pairs,
            f"at {higher} of {pairs} points of the lines a higher alignment has the lower error",
        ),
        Statement(
            "and escape the linear curse", "Section 4", bool(np.min(best.y) < linear),
            f"{np.min(best.y):.4f} at alignment 1, beside {linear:.4f} of the best linear predictor",
        ),
        agreement(
            [
                *_pairs(found, 1, (f"r = {spike:g}" for spike in at.SPIKES)),
                *_pairs(found, 2, (f"gamma = {gamma:g}" for gamma in at.ALIGNMENTS)),
            ],
            "compelling agreement of theory and simulation", "Section 4",
        ),
    )  # fmt: skip


def _pairs(found: Plotted, panel: int, names: Iterable[str]) -> list[tuple[Series, Series]]:
    """Networks beside the isotropic theory."""
    return [(found[panel, f"networks, {name}"], found[panel, f"isotropic theory, {name}"]) for name in names]


STUDY_4 = pictured(
    4, "learning curves by spike and by alignment", figure_4, says_4,
    "Settings: the sources print neither student, target nor numbers of this figure. Chosen: "
    f"{at.SINE.student} and {at.SINE.target} with ridge {at.SINE.ridge:g} of Figure 2, beta = 1, alignment "
    f"{at.SPIKE_ALIGNMENT:g} on the left and spike {at.ALIGNED_SPIKE:g} on the right.",
)  # fmt: skip


def figure_5(data: Data) -> draw.Figure:
    """Test error against alpha by the width: on the left at one rate, on the right at a rate that grows with it."""
    canvas, *panels = draw.panels(2)
    for axes, (scaled, curves) in zip(panels, BY_WIDTH.items(), strict=True):
        axes.axhline(at.SINE.best_linear, color="black", lw=1.0, ls="--", label="best linear predictor")
        key(axes, curves, learning(axes, curves, data), more=1)
        axes.set_title(rf"$\tilde\eta = {at.SINE.eta:g}" + (r"\,\beta$" if scaled else "$"), fontsize=9)
    draw.style_key(canvas, THEORIES)
    return draw.finished(
        canvas,
        "figure_5",
        "Learning curves by width",
        f"Student tanh, target sin, alpha0 = {at.WIDTH_BATCH:g}, ridge {at.SINE.ridge:g}. Left: one learning rate for "
        "all widths. The spike r is proportional to eta/beta, so wide networks have small spikes. Right: the learning "
        "rate is proportional to the width; spike, bulk and alignment are those of beta = 1. Points: networks at d = "
        f"{at.DIMENSION}, mean over {at.SEEDS} with one standard error. Coloured lines: theory of the isotropic bulk "
        "(solid) and of the network's own bulk (dashed).",
    )


def says_5(found: Plotted) -> tuple[Statement, ...]:
    """Larger networks tend to achieve lower error: by the lines, at both rates."""
    statements = []
    for panel, rate in ((1, "at one rate"), (2, "at a rate in proportion to the width")):
        names = [f"beta = {width:g}" for width in at.WIDTHS]
        lower, count = falling([found[panel, f"isotropic theory, {name}"] for name in names])
        statements += [
            Statement(
                f"larger networks tend to achieve lower error, {rate}", "Appendix C.8", 2 * lower > count,
                f"at {lower} of {count} points of the lines the wider network has the lower error",
            ),
            agreement(_pairs(found, panel, names), f"networks follow the theory, {rate}", "Section 3"),
        ]  # fmt: skip
    return tuple(statements)


STUDY_5 = pictured(
    5, "learning curves by the width of the network", figure_5, says_5,
    f"Settings: {at.SINE}, alpha0 = {at.WIDTH_BATCH:g} as printed for Figure 2. The sources print neither the "
    "setting of this figure nor its widths; beta = "
    f"{', '.join(f'{w:g}' for w in at.WIDTHS)} are chosen. The page on the width scans many settings.",
)  # fmt: skip
