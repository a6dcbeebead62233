"""Page: the limit of no ridge on both sides of the interpolation threshold, and how the error diverges at it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.measurements.experiments import Data, Experiment, Measured, Measurement, predicted_error
from giantsteps.reports.measurements.study import OURS, Statement, Study, Table, command, stated

SLUG = "threshold"
DIMENSION, SEEDS, RIDGE = 300, 24, 1e-3
CASES: dict[str, Model] = {
    "leaky relu/sin": Model("leaky_relu(z, 1/5)", "sin", 1.0, 1.0, RIDGE, spike=1.0, bulk=1.0, alignment=0.8),
    "tanh/sin": Model("tanh", "sin", 1.0, 1.0, RIDGE, spike=1.0, bulk=1.0, alignment=0.8),
    "atan/sign": Model("atan", "sign", 1.0, 1.0, RIDGE, spike=1.5, bulk=1.2, alignment=0.9, noise=0.2),
}
ALPHAS = (0.25, 0.5, 0.75, 0.9, 1.0, 1.1, 1.5, 2.0, 4.0)
EXPERIMENTS = tuple(
    Experiment(f"{case}, alpha {alpha:g}", model.changed(alpha=alpha), DIMENSION, SEEDS, stream=k)
    for case, model in CASES.items()
    for k, alpha in enumerate(ALPHAS)
)
RIDGES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
GAPS = (0.1, 0.03, 0.01, 0.004, 0.001)
# How far a fitted exponent may be from 1/2 and still be called 1/2; the corrections are of relative order sqrt(ridge).
CLOSE = 0.005


def fitted(x: Sequence[float], errors: Sequence[float]) -> float:
    """The exponent -d log error/d log x, fitted over the last three points."""
    return -float(np.polyfit(np.log(x[-3:]), np.log(errors[-3:]), 1)[0])


@dataclass(frozen=True)
class Divergence:
    """One model: errors at the threshold over RIDGES, and without ridge at distances GAPS below and above it."""

    case: str
    at_threshold: tuple[float, ...]
    below: tuple[float, ...]
    above: tuple[float, ...]

    @property
    def exponents(self) -> tuple[float, ...]:
        """-d log error/d log ridge between neighbouring ridges."""
        logs = np.log(RIDGES), np.log(self.at_threshold)
        return tuple(float(-(f - e) / (b - a)) for (a, b), (e, f) in zip(*map(pairwise, logs), strict=True))

    @property
    def exponent(self) -> float:
        """That of the ridge."""
        return fitted(RIDGES, self.at_threshold)


def divergence(case: str, model: Model) -> Divergence:
    """One model along its way to the threshold."""
    sides = (
        tuple(solve(model.changed(alpha=1.0 + sign * gap, ridge=0.0)).test_error for gap in GAPS) for sign in (-1, 1)
    )
    return Divergence(case, tuple(solve(model.changed(ridge=ridge)).test_error for ridge in RIDGES), *sides)


def refuses(model: Model) -> bool:
    """Whether no ridge at the threshold is refused."""
    try:
        solve(model.changed(ridge=0.0))
    except ModelError:
        return True
    return False


def page(data: Data, found: Sequence[Divergence] = ()) -> Study:
    """The page from samples and solutions."""
    found = found or tuple(divergence(case, model) for case, model in CASES.items())
    rows = []
    for experiment in EXPERIMENTS:
        theory, m = predicted_error(experiment.subject), experiment.measured(data)
        rows.append((experiment, theory, m, m.z(theory)))
    largest, where = max((abs(z), experiment.name) for experiment, *_, z in rows)
    refused = sum(map(refuses, CASES.values()))
    text = (
        "Without ridge the readout interpolates the samples if alpha < beta, and cannot if alpha > beta. The solver "
        "takes the limit ridge -> 0+ on both sides. Below the threshold V is a finite number divided by the ridge, and "
        "the equations are solved for that number; above it V is finite. At alpha = beta the limit diverges; with a "
        "ridge the error is finite and grows as the ridge shrinks. If the features saturate along the spike, samples "
        "far out have almost no variance, and the limit is reached only at a much smaller ridge.",
    )
    statements = (
        Statement(
            "the solver refuses a ridge of zero at the threshold, and says why", OURS, refused == len(CASES),
            f"in {refused} of {len(CASES)} models",
        ),
        *map(_half, found),
        Statement(
            f"spiked features at d = {DIMENSION} with ridge {RIDGE:g} show the peak", OURS, largest < 4.0,
            f"the largest deviation from the theory is {largest:.1f} standard errors ({where}; seen: below 4)",
        ),
    )  # fmt: skip
    ends = Table.of(
        "Test error at alpha = beta against the ridge, and the exponent between neighbouring ridges",
        f"model | {' | '.join(f'{ridge:.0e}' for ridge in RIDGES)} | exponents | fitted to the last three",
        (
            f"{one.case} | {' | '.join(f'{error:.4g}' for error in one.at_threshold)} | "
            f"{', '.join(f'{x:.3f}' for x in one.exponents)} | {one.exponent:.3f}"
            for one in found
        ),
    )
    measured = Table.of(
        f"Spiked features at d = {DIMENSION}, beta = 1, ridge {RIDGE:g}, mean over {SEEDS}",
        "model | alpha | theory | measured | deviation, s.e.",
        (f"{one.name.replace(', alpha', ' |')} | {theory:.4f} | {m} | {z:+.1f}" for one, theory, m, z in rows),
    )
    case = next(iter(CASES))
    figure = _figure(case, [m for one, _, m, _ in rows if one.name.startswith(case)], found)
    title = "No ridge: the interpolation threshold"
    return Study(SLUG, title, text, (stated(statements), ends, measured), (figure,), command(SLUG))


def _half(one: Divergence) -> Statement:
    """The exponents of the divergence, in the ridge at the threshold and in the distance from it without a ridge."""
    return Statement(
        f"{one.case} diverges like one over the root of the ridge", OURS, abs(one.exponent - 0.5) < CLOSE,
        f"like $\\lambda^{{-{one.exponent:.3f}}}$ from {RIDGES[-3]:.0e} to {RIDGES[-1]:.0e} (seen: 1/2 within "
        f"{CLOSE:g}); without ridge like $|\\alpha - \\beta|^{{-{fitted(GAPS, one.below):.3f}}}$ from below and "
        f"$|\\alpha - \\beta|^{{-{fitted(GAPS, one.above):.3f}}}$ from above, between distances {GAPS[-3]:g} and "
        f"{GAPS[-1]:g}",
    )  # fmt: skip


def _figure(case: str, measured: Sequence[Measured], found: Sequence[Divergence]) -> draw.Figure:
    """Left the peak for several ridges with measurements; right the divergence at the threshold."""
    canvas, left, right = draw.panels(2, size=(10.0, 4.0))
    alphas = np.unique(np.concatenate([np.geomspace(0.2, 5.0, 49), 1.0 + np.linspace(-0.05, 0.05, 11)]))
    for style, ridge in enumerate((0.1, RIDGE, 0.0)):
        curve = [
            predicted_error(CASES[case].changed(alpha=float(a), ridge=ridge))
            if ridge or abs(a - 1.0) > 1e-6
            else np.nan
            for a in alphas
        ]
        draw.line(left, alphas, curve, style, rf"$\lambda = {ridge:g}$" if ridge else r"$\lambda\to 0^+$")
    draw.points(left, ALPHAS, measured, 1)
    left.set(xscale="log", yscale="log", ylim=(0.15, 30.0), xlabel=r"$\alpha$ (width $\beta = 1$)", ylabel="test error")
    draw.ticks(left, (0.25, 0.5, 1.0, 2.0, 4.0))
    left.minorticks_off()
    left.set_title(case)
    for style, one in enumerate(found):
        draw.line(right, RIDGES, one.at_threshold, style, one.case, marker=draw.STYLES[style][1], ms=4.5, lw=1.5)
    guide = found[0].at_threshold[0] * 0.5 * np.sqrt(RIDGES[0] / np.array(RIDGES))
    right.plot(RIDGES, guide, color=draw.DARK, lw=0.9, linestyle=":", label=r"$\lambda^{-1/2}$")
    right.set(xscale="log", yscale="log", xlabel=r"ridge $\lambda$, at $\alpha = \beta$", ylabel="test error")
    draw.legend(left)
    draw.legend(right)
    caption = (
        f"Left: test error of {case} against alpha at two ridges and in the limit of ridge 0. Points: spiked features "
        f"at d = {DIMENSION} with ridge {RIDGE:g}, mean over {SEEDS} with one standard error. Right: test error at "
        "alpha = beta against the ridge."
    )
    return draw.finished(canvas, SLUG, "The interpolation threshold", caption)


STUDY = Measurement(SLUG, 77, EXPERIMENTS, page)
