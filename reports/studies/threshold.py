"""Page: the limit of no ridge on both sides of the interpolation threshold, and how the error diverges at it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.figures.figures import Figure
from giantsteps.reports.measurements.drawing import STYLES, finished, legend, panels, points
from giantsteps.reports.measurements.experiments import Data, Experiment, Measured, studied
from giantsteps.reports.measurements.study import Study, Table, command

SLUG, SEED = "threshold", 77
DIMENSION, SEEDS, RIDGE = 300, 24, 1e-3
CASES: tuple[tuple[str, Model], ...] = (
    (
        "leaky relu/sin",
        Model(activation("leaky_relu(z, 1/5)"), activation("sin"), 1.0, 1.0, RIDGE, spike=1.0, bulk=1.0, alignment=0.8),
    ),
    ("tanh/sin", Model(activation("tanh"), activation("sin"), 1.0, 1.0, RIDGE, spike=1.0, bulk=1.0, alignment=0.8)),
    (
        "atan/sign",
        Model(activation("atan"), activation("sign"), 1.0, 1.0, RIDGE, spike=1.5, bulk=1.2, alignment=0.9, noise=0.2),
    ),
)
ALPHAS = (0.25, 0.5, 0.75, 0.9, 1.0, 1.1, 1.5, 2.0, 4.0)
EXPERIMENTS = tuple(
    Experiment(f"{case}, alpha {alpha:g}", model.changed(alpha=alpha), DIMENSION, SEEDS, stream=k)
    for case, model in CASES
    for k, alpha in enumerate(ALPHAS)
)
RIDGES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
GAPS = (0.1, 0.03, 0.01, 0.004, 0.001)


@dataclass(frozen=True)
class Divergence:
    """One model: errors at the threshold over RIDGES, and without ridge at distances GAPS on both sides."""

    case: str
    at_threshold: tuple[float, ...]
    below: tuple[float, ...]
    above: tuple[float, ...]
    refused: str

    @property
    def exponents(self) -> tuple[float, ...]:
        """-d log error/d log ridge between neighbouring ridges."""
        return _slopes(RIDGES, self.at_threshold)

    @property
    def fitted(self) -> float:
        """The exponent of the ridge, fitted over the last three ridges."""
        return -float(np.polyfit(np.log(RIDGES[-3:]), np.log(self.at_threshold[-3:]), 1)[0])

    @property
    def approach(self) -> tuple[float, float]:
        """The exponents of |alpha - beta| without ridge, below and above, fitted over the last three gaps."""
        below, above = (
            -float(np.polyfit(np.log(GAPS[-3:]), np.log(errors[-3:]), 1)[0]) for errors in (self.below, self.above)
        )
        return below, above


def _slopes(x: Sequence[float], errors: Sequence[float]) -> tuple[float, ...]:
    logs = [(float(np.log(a)), float(np.log(e))) for a, e in zip(x, errors, strict=True)]
    return tuple(-(f - e) / (b - a) for (a, e), (b, f) in pairwise(logs))


def divergences() -> tuple[Divergence, ...]:
    """Solve every model along its way to the threshold."""
    found = []
    for case, model in CASES:
        try:
            solve(model.changed(ridge=0.0))
            refused = ""
        except ModelError as reason:
            refused = str(reason)
        found.append(
            Divergence(
                case,
                tuple(solve(model.changed(ridge=ridge)).test_error for ridge in RIDGES),
                tuple(solve(model.changed(alpha=1.0 - gap, ridge=0.0)).test_error for gap in GAPS),
                tuple(solve(model.changed(alpha=1.0 + gap, ridge=0.0)).test_error for gap in GAPS),
                refused,
            )
        )
    return tuple(found)


def study() -> Study | None:
    """The page."""
    return studied(
        SLUG, EXPERIMENTS, lambda data: (data, divergences()), lambda found: page(*found), lambda found: drawn(*found)
    )


def page(data: Data, found: Sequence[Divergence]) -> Study:
    """The page from samples and solutions: every number in the text is computed from them."""
    z = [(abs(z), name) for name, *_, z in measured_rows(data)]
    text = (
        "Without ridge the readout interpolates the samples when alpha < beta and cannot when alpha > beta. The solver "
        "takes the limit ridge -> 0+ itself on both sides: below the threshold V is 1/ridge times a finite number and "
        "the equations are solved for that number, above it V is finite.",
        f"At alpha = beta the limit diverges. {_refused(found)} With a ridge the error is finite and grows as the "
        "ridge shrinks: " + "; ".join(_exponent(one) for one in found) + ". " + _half(found),
        "Without ridge, towards the threshold: "
        + "; ".join(
            f"{one.case} grows like $|\\alpha - \\beta|^{{-{one.approach[0]:.3f}}}$ from below and "
            f"$|\\alpha - \\beta|^{{-{one.approach[1]:.3f}}}$ from above"
            for one in found
        )
        + f" (fitted between distances {GAPS[-3]:g} and {GAPS[-1]:g}).",
        f"Spiked features at d = {DIMENSION} with ridge {RIDGE:g} show the peak; the largest deviation from the theory "
        f"is {max(z)[0]:.1f} standard errors ({max(z)[1]}).",
    )
    table = Table(
        "Test error at alpha = beta against the ridge, and the exponent between neighbouring ridges",
        ("model", *(f"{ridge:.0e}" for ridge in RIDGES), "exponents", "fitted to the last three"),
        tuple(
            (
                one.case,
                *(f"{error:.4g}" for error in one.at_threshold),
                ", ".join(f"{x:.3f}" for x in one.exponents),
                f"{one.fitted:.3f}",
            )
            for one in found
        ),
    )
    return Study(
        "threshold",
        "No ridge: the interpolation threshold",
        text,
        (table, _measured_table(data)),
        (),
        command(SLUG, "simulate"),
    )


def _refused(found: Sequence[Divergence]) -> str:
    count = sum(bool(one.refused) for one in found)
    if count == len(found):
        return "There the solver refuses a ridge of zero and says why."
    return f"There the solver refuses a ridge of zero in {count} of {len(found)} models."


def _exponent(one: Divergence) -> str:
    return f"{one.case} like $\\lambda^{{-{one.fitted:.3f}}}$ (fitted over {RIDGES[-3]:.0e} to {RIDGES[-1]:.0e})"


# How far a fitted exponent may be from 1/2 and still be called 1/2; the corrections are of relative order sqrt(ridge).
CLOSE = 0.005


def _half(found: Sequence[Divergence]) -> str:
    close = [one.case for one in found if abs(one.fitted - 0.5) < CLOSE]
    far = [one for one in found if abs(one.fitted - 0.5) >= CLOSE]
    start = f"That is 1/2 within {CLOSE:g} for {', '.join(close)}." if close else "None of them is 1/2 yet."
    if not far:
        return start
    falling = [one.case for one in far if one.exponents[-1] < max(one.exponents)]
    return (
        f"{start} {', '.join(one.case for one in far)} {'is' if len(far) == 1 else 'are'} not there at ridge "
        f"{RIDGES[-1]:.0e}; the exponent is falling in {len(falling)} of {len(far)}: where the features saturate along "
        "the spike, samples far out have next to no variance, $1 + V$ needs a smaller ridge there, and the limit is "
        "reached late."
    )


def measured_rows(data: Data) -> list[tuple[str, str, float, float, Measured, float]]:
    """(name, case, alpha, theory, measurement, deviation in standard errors)."""
    rows = []
    for experiment in EXPERIMENTS:
        case, alpha = experiment.name.split(", alpha ")
        assert isinstance(experiment.subject, Model)
        theory = solve(experiment.subject).test_error
        found = Measured.of(data[experiment.name]["test_error"])
        rows.append((experiment.name, case, float(alpha), theory, found, found.z(theory)))
    return rows


def _measured_table(data: Data) -> Table:
    return Table(
        f"Spiked features at d = {DIMENSION}, beta = 1, ridge {RIDGE:g}, mean over {SEEDS}",
        ("model", "alpha", "theory", "measured", "deviation, s.e."),
        tuple(
            (case, f"{alpha:g}", f"{theory:.4f}", str(found), f"{z:+.1f}")
            for _, case, alpha, theory, found, z in measured_rows(data)
        ),
    )


def drawn(data: Data, found: Sequence[Divergence]) -> Figure:
    """Left the peak for several ridges with measurements; right the divergence at the threshold."""
    canvas, (left, right) = panels(2, width=10.0)
    case, model = CASES[0]
    alphas = np.unique(np.concatenate([np.geomspace(0.2, 5.0, 49), 1.0 + np.linspace(-0.05, 0.05, 11)]))
    for style, ridge in enumerate((0.1, RIDGE, 0.0)):
        curve = [
            solve(model.changed(alpha=float(a), ridge=ridge)).test_error if ridge or abs(a - 1.0) > 1e-6 else np.nan
            for a in alphas
        ]
        label = rf"$\lambda = {ridge:g}$" if ridge else r"$\lambda\to 0^+$"
        left.plot(alphas, curve, color=STYLES[style][0], linestyle=STYLES[style][2], lw=1.7, label=label)
    rows = [(alpha, m) for _, name, alpha, _, m, _ in measured_rows(data) if name == case]
    points(left, [alpha for alpha, _ in rows], [m for _, m in rows], 1)
    left.set(xscale="log", yscale="log", ylim=(0.15, 30.0), xlabel=r"$\alpha$ (width $\beta = 1$)", ylabel="test error")
    left.set_xticks([0.25, 0.5, 1.0, 2.0, 4.0], ["0.25", "0.5", "1", "2", "4"])
    left.minorticks_off()
    left.set_title(case)
    legend(left)
    for style, one in enumerate(found):
        right.plot(
            RIDGES, one.at_threshold, color=STYLES[style][0], marker=STYLES[style][1], ms=4.5,
            linestyle=STYLES[style][2], lw=1.5, label=one.case,
        )  # fmt: skip
    guide = found[0].at_threshold[0] * 0.5 * np.sqrt(RIDGES[0] / np.array(RIDGES))
    right.plot(RIDGES, guide, color="#333333", lw=0.9, linestyle=":", label=r"$\lambda^{-1/2}$")
    right.set(xscale="log", yscale="log", xlabel=r"ridge $\lambda$, at $\alpha = \beta$", ylabel="test error")
    legend(right)
    title = "The interpolation threshold"
    caption = (
        f"Left: test error of {case} against alpha at three ridges, the last the limit from above; points: spiked "
        f"features at d = {DIMENSION} with ridge {RIDGE:g}, mean over {SEEDS} with one standard error. Right: the "
        "error at alpha = beta as the ridge shrinks."
    )
    return finished(canvas, SLUG, title, caption)
