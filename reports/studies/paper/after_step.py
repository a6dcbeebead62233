"""Figures 1 and 2: what a network learns after its step, along the target and in test error, by the batch."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.gaussian.coefficients import target_moments
from giantsteps.numerics.saddle_point.one_group.batch import solve_batch
from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.measurements.experiments import Data
from giantsteps.reports.measurements.study import Statement
from giantsteps.reports.studies.paper import settings as at
from giantsteps.reports.studies.paper.curves import ALPHAS, ISOTROPIC, OWN, THEORIES, key, learning
from giantsteps.reports.studies.paper.functions import along_target
from giantsteps.reports.studies.paper.samples import BY_BATCH, LEARNED, pictured
from giantsteps.reports.studies.paper.series import Plotted, Series, agreement, alike

Array = NDArray[np.float64]

_WITH_STEP = at.BATCHES[1:]


def figure_1(data: Data) -> draw.Figure:
    """The function of the target's direction that the network learns, for several batches of the step."""
    canvas, axes = draw.panels()
    x = np.linspace(-3.0, 3.0, 121)
    axes.plot(x, target_moments(activation(at.SINE.target), 1.0, x)[0], color=draw.DARK, lw=1.0, label="target")
    for style, (alpha0, experiment) in enumerate(LEARNED.items()):
        network = at.SINE.network(alpha0, at.LEARNING_ALPHA)
        for bulk, name, dashes in (("isotropic", "isotropic", ISOTROPIC), ("network", "own", OWN)):
            label = f"_{name} theory, alpha0 = {alpha0:g}"
            draw.line(axes, x, along_target(network.model(bulk), x), style, label, **dashes)
        found = [experiment.measured(data, place) for place in experiment.observables]
        draw.points(axes, at.PLACES, found, style, rf"$\alpha_0 = {alpha0:g}$")
    axes.set(xlabel=r"projection on the target $\theta\cdot x$", ylabel="mean output of the network")
    draw.legend(axes)
    draw.style_key(canvas, THEORIES)
    return draw.finished(
        canvas,
        "figure_1",
        "What one step lets the network learn",
        f"{at.SINE}, beta = 1, then a ridge fit on alpha = {at.LEARNING_ALPHA:g} samples per dimension. The figure "
        f"shows the mean output at a given projection on the target. Points: networks at d = {at.DIMENSION}, averaged "
        f"exactly over all other directions; mean over {at.SEEDS} with one standard error. Coloured lines: theory of "
        "the isotropic bulk (solid) and of the network's own bulk (dashed).",
    )


def says_1(found: Plotted) -> tuple[Statement, ...]:
    """From a line without a step to an accurate function with a large batch."""
    target = found[1, "target"]
    weight = np.exp(-(target.x**2) / 2.0)
    lines = {alpha0: found[1, f"isotropic theory, alpha0 = {alpha0:g}"] for alpha0 in at.BATCHES}
    away = {a: float(np.sqrt(weight @ (line.y - target.y) ** 2 / weight.sum())) for a, line in lines.items()}
    start, size = lines[0.0], float(weight @ target.y**2 / weight.sum())
    bent = float(np.max(np.abs(start.y - np.polyval(np.polyfit(start.x, start.y, 1), start.x))))
    nearer = all(away[b] < away[a] for a, b in pairwise(at.BATCHES))
    distances = ", ".join(f"{away[a]:.3f} at alpha0 = {a:g}" for a in at.BATCHES)
    # Where the output is next to nothing a share of it says nothing: all is measured against the target's size.
    gaps = [
        float(np.max(np.abs(found[1, rf"$\alpha_0 = {a:g}$"].y - lines[a].at(np.array(at.PLACES))))) for a in at.BATCHES
    ]  # fmt: skip
    largest = _WITH_STEP[-1]
    return (
        Statement("without a step the function is linear", "Section 2", bent < 1e-6, f"{bent:.0e} from a line"),
        Statement(
            "with more data in the step it moves to the target", "Section 2", nearer, f"root mean squares {distances}"
        ),
        Statement(
            "at a large batch it is an accurate approximation", "Section 2", away[largest] ** 2 < 0.05 * size,
            f"of the target's square along theta {1.0 - away[largest] ** 2 / size:.1%} is explained at alpha0 = "
            f"{largest:g}, {1.0 - away[0.0] ** 2 / size:.1%} without a step (seen: above 95 %)",
        ),
        Statement(
            "networks follow the theory", "Section 3", max(gaps) < 0.05,
            f"at most {max(gaps):.3f} apart, beside a target of size 1 (seen: below 0.05)",
        ),
    )  # fmt: skip


STUDY_1 = pictured(
    1, "the function that a network learns along its target", figure_1, says_1,
    f"Settings: {at.SINE}, as the sources print them ({at.SINE.printed}). They do not print alpha, beta and the "
    f"other batches of this figure: alpha = {at.LEARNING_ALPHA:g}, beta = 1 and alpha0 = "
    f"{', '.join(f'{a:g}' for a in at.BATCHES)} are chosen.",
)  # fmt: skip


def figure_2(data: Data) -> draw.Figure:
    """Test error against alpha for several batches of the step: a row for each setting, the differences beside."""
    canvas, *panels = draw.panels(2 * len(at.PANELS))
    for panel, axes, beside in zip(at.PANELS, panels[::2], panels[1::2], strict=True):
        infinite = solve_batch(panel.aligned, alpha=ALPHAS).test_error
        axes.plot(ALPHAS, infinite, color=draw.DARK, lw=1.2, ls=":", label=r"$\alpha_0 = \infty$")
        axes.axhline(panel.best_linear, color="black", lw=1.0, ls="--", label="best linear predictor")
        curves = BY_BATCH[panel.name]
        shown = learning(axes, curves, data, beside)
        axes.set_title(panel.title, fontsize=9)
        if panel is at.PANELS[1]:  # the one with room for it
            key(axes, curves, shown, more=2, loc="upper right")
    draw.style_key(canvas, THEORIES)
    return draw.finished(
        canvas,
        "figure_2",
        "Networks after one step, by the batch of the step",
        f"Width beta = 1. Left: test error. Points: networks after the step at d = {at.DIMENSION}, mean over "
        f"{at.SEEDS} with one standard error. Coloured lines: theory of the isotropic bulk (solid) and of the "
        "network's own bulk (dashed). Black lines: an infinite batch (dotted) and the best linear predictor (dashed). "
        "Right: the difference of networks and own theory from the isotropic theory, in per cent of the isotropic "
        "theory. Points on the right are shifted sideways to keep their error bars apart.",
    )


def says_2(found: Plotted) -> tuple[Statement, ...]:
    """Of every panel: larger batches are better, no step is above the linear predictor, a step gets below it."""
    statements = []
    for number, panel in enumerate(at.PANELS):
        left, right = 2 * number + 1, 2 * number + 2
        lines = {a: found[left, f"isotropic theory, alpha0 = {a:g}"] for a in at.BATCHES}
        networks = {a: found[left, f"networks, alpha0 = {a:g}"] for a in at.BATCHES}
        infinite = found[left, r"$\alpha_0 = \infty$"]
        statements += [
            *_by_batch(panel, lines, networks, infinite),
            *_beside_linear(panel, lines[0.0], infinite),
            agreement(
                [(networks[a], lines[a]) for a in at.BATCHES], f"{panel.name}: excellent agreement with networks",
                "Section 3",
            ),
            _alike(panel, found, right),
        ]  # fmt: skip
    return tuple(statements)


def _by_batch(
    panel: at.Setting, lines: dict[float, Series], networks: dict[float, Series], infinite: Series
) -> tuple[Statement, ...]:
    """Larger batches: among each other, at infinity, and beside no step at all."""
    none, least = lines[0.0], _WITH_STEP[0]
    falls = [bool(np.all(lines[b].y < lines[a].y)) for a, b in pairwise(_WITH_STEP)]
    lowest = all(bool(np.all(infinite.y < line.y)) for line in lines.values())
    above = none.x[lines[least].y > none.y]
    before, after = networks[0.0], networks[least]
    z = (after.y - before.y) / np.hypot(after.error, before.error)
    where = f"above no step from alpha = {above[0]:.2g} on" if above.size else "below no step at every alpha"
    return (
        Statement(
            f"{panel.name}: larger batches have lower errors", "Section 4.1", all(falls),
            f"{sum(falls)} of {len(falls)} steps from one batch to the next lower it at every alpha",
        ),
        Statement(
            f"{panel.name}: the lowest error is that of an infinite batch", "Section 4.1", lowest,
            f"{infinite.y[-1]:.4f} at alpha = {infinite.x[-1]:g}",
        ),
        Statement(
            f"{panel.name}: a step on few samples is better than none, as monotony in alpha0 would have it",
            "slides, risk bounds", above.size == 0,
            f"alpha0 = {least:g} is {where} by the theory; networks are above by more than two standard errors at "
            f"{int(np.sum(z > 2.0))} of {len(z)} alphas and below at {int(np.sum(z < -2.0))}",
        ),
    )  # fmt: skip


def _beside_linear(panel: at.Setting, none: Series, infinite: Series) -> tuple[Statement, ...]:
    """A network at initialisation above the best linear predictor, one with a trained first layer below."""
    linear = panel.best_linear
    below = infinite.x[infinite.y < linear]
    return (
        Statement(
            f"{panel.name}: at initialisation the error is above the best linear predictor", "Section 4.1",
            bool(np.min(none.y) > linear), f"{np.min(none.y):.4f} at least, beside {linear:.4f}",
        ),
        Statement(
            f"{panel.name}: a trained first layer gets below it", "Section 4.1", bool(below.size),
            f"with an infinite batch from alpha = {below[0]:.2g} on" if below.size else "nowhere",
        ),
    )  # fmt: skip


def _alike(panel: at.Setting, found: Plotted, right: int) -> Statement:
    """Networks lie on that side of the isotropic theory on which the theory of their own bulk does."""
    pairs = [
        (
            found[right, f"networks minus isotropic, alpha0 = {alpha0:g}"],
            found[right, f"own minus isotropic, alpha0 = {alpha0:g}"],
        )
        for alpha0 in _WITH_STEP
    ]
    words = "networks differ from the isotropic theory as the theory of their own bulk does"
    return alike(pairs, f"{panel.name}: {words}", "this suite")


STUDY_2 = pictured(
    2, "learning curves by the batch of the step", figure_2, says_2,
    "Settings: " + "; ".join(f"{panel} ({panel.printed})" for panel in at.PANELS) + ". The other batches are "
    f"chosen, and so are beta = 1 and the range of alpha. The least batch, alpha0 = {_WITH_STEP[0]:g}, is below "
    "one sample for every direction of the inputs.",
)  # fmt: skip
