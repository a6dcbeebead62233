"""The figures of the report, each one named function of its parameters and a seed.

`giantsteps report` draws them all; any one is redrawn with, for example,

    from giantsteps.reports.figures.figures import learning_curves_by_spike
    open("figure.svg", "w").write(learning_curves_by_spike(seed=1).svg)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bounds.ridge import best_ridge, lower_bound, upper_bound
from giantsteps.numerics.experiments.ridge import Estimate, simulate_ridges
from giantsteps.numerics.experiments.simulate import simulate
from giantsteps.numerics.gaussian.coefficients import conditional_coefficients, target_moments
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.figures.canvas import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]


def learning_curves_by_batch(
    batches: Sequence[float] = (0.5, 1.0, 2.0, 8.0), eta: float = 2.0, ridge: float = 0.1, dimension: int = 300,
    seeds: int = 5, seed: int = 1,
) -> Figure:  # fmt: skip
    """Test error against alpha after one gradient step on n0 = alpha0 d samples (Result 3.1 with Result 3.3)."""

    def curve(alpha0: float, alpha: float) -> Model:
        return Model.from_gradient_step(
            "tanh", "sin", alpha=alpha, beta=1.0, ridge=ridge, alpha0=alpha0, eta=eta, bulk_model="isotropic"
        )

    return _learning_curves(
        "learning_curves_by_batch",
        "Learning curves for several batch sizes",
        {rf"$\alpha_0 = {a:g}$": partial(curve, a) for a in batches},
        f"Student tanh, target sin, one gradient step of rescaled rate {eta:g} on n0 = alpha0 d samples, mapped to "
        f"spiked random features by Result 3.1; width beta = 1, ridge {ridge:g}.",
        (dimension, seeds, seed),
    )


def _tanh_and_sine(spike: float, alignment: float, alpha: float, ridge: float) -> Model:
    """The model of the figures: student tanh, target sin, bulk variance and beta one."""
    return Model("tanh", "sin", alpha, 1.0, ridge, spike=spike, bulk=1.0, alignment=alignment)


def learning_curves_by_spike(
    spikes: Sequence[float] = (0.0, 0.5, 1.0, 2.0), alignment: float = 0.9, ridge: float = 0.1, dimension: int = 300,
    seeds: int = 5, seed: int = 2,
) -> Figure:  # fmt: skip
    """Test error against alpha for several spike strengths; r = 0 is plain random features."""
    return _learning_curves(
        "learning_curves_by_spike",
        "Learning curves for several spikes",
        {f"$r = {r:g}$": partial(_tanh_and_sine, r, alignment, ridge=ridge) for r in spikes},
        f"Student tanh, target sin, alignment {alignment:g}, bulk variance 1, width beta = 1, ridge {ridge:g}; r "
        f"= 0 is plain random features.",
        (dimension, seeds, seed),
    )


def learning_curves_by_alignment(
    alignments: Sequence[float] = (0.0, 0.5, 0.8, 1.0), spike: float = 1.5, ridge: float = 0.1, dimension: int = 300,
    seeds: int = 5, seed: int = 3,
) -> Figure:  # fmt: skip
    """Test error against alpha for several alignments of spike and target."""
    return _learning_curves(
        "learning_curves_by_alignment",
        "Learning curves for several alignments",
        {rf"$\gamma = {g:g}$": partial(_tanh_and_sine, spike, g, ridge=ridge) for g in alignments},
        f"Student tanh, target sin, spike {spike:g}, bulk variance 1, width beta = 1, ridge {ridge:g}.",
        (dimension, seeds, seed),
    )


def _learning_curves(
    name: str, title: str, curves: Mapping[str, Callable[[float], Model]], caption: str, runs: tuple[int, int, int]
) -> Figure:
    """Curves of models by alpha, named by their labels; runs are dimension, seeds and seed of their simulations."""
    dimension, seeds, seed = runs
    canvas, axes = draw.panels()
    # Ratios that round to themselves at the dimension, so that theory and simulation speak of the same problem.
    measured = [round(a * dimension) / dimension for a in np.geomspace(0.25, 6.0, 7)]
    for style, (label, model) in enumerate(curves.items()):
        found = [simulate(model(a), dimension=dimension, seeds=seeds, seed=seed).test_error for a in measured]
        _theory_and_points(axes, np.geomspace(0.2, 8.0, 41), model, measured, found, style, label)
    axes.set(xscale="log", xlabel=r"samples per dimension $\alpha = n/d$", ylabel="test error", ylim=(0.0, None))
    draw.ticks(axes, (0.2, 0.5, 1.0, 2.0, 5.0))
    draw.legend(axes, fontsize=9)
    return draw.finished(
        canvas,
        name,
        title,
        f"{caption} Lines: theory. Points: simulation of spiked random features at d = {dimension}, mean over {seeds} "
        "seeds with one standard error; no fit.",
        f"figures.{name}(dimension={dimension}, seeds={seeds}, seed={seed})",
    )


def _theory_and_points(
    axes: Axes, x: Array, model: Callable[[float], Model], measured: Sequence[float], found: Sequence[Estimate],
    style: int, label: str,
) -> None:  # fmt: skip
    """Theory as a line, simulations as points with one standard error, in one style."""
    theory = [solve(model(float(value))) for value in x]
    draw.line(axes, x, [s.test_error if s.converged else np.nan for s in theory], style, lw=1.8)
    draw.points(axes, measured, found, style, label, size=5)


def functions_along_the_spike(
    student: str = "tanh", target: str = "sin", spike: float = 0.9, bulk: float = 1.0
) -> Figure:
    """mu0, kappa mu1 and mu2 as functions of kappa = v.x, with the target at alignment 1 and its best approximation."""
    kappa = np.linspace(-4.0, 4.0, 401)
    mu0, mu1, mu2 = conditional_coefficients(activation(student), spike, bulk, 0.0, kappa)
    y0 = target_moments(activation(target), 1.0, kappa)[0]
    canvas, axes = draw.panels()
    for style, (label, values) in enumerate(((r"$\mu_0$", mu0), (r"$\kappa\,\mu_1$", kappa * mu1), (r"$\mu_2$", mu2))):
        draw.line(axes, kappa, values, style, label, lw=1.8)
    axes.plot(kappa, y0, color=draw.DARK, lw=1.0, label="target")
    best = projection(np.stack([mu0, kappa * mu1]), np.asarray(y0), np.exp(-(kappa**2) / 2.0))
    draw.line(axes, kappa, best, 3, r"best of $\mu_0$, $\kappa\,\mu_1$", ls=":", lw=2.2)
    axes.set(xlabel=r"projection on the spike $\kappa = v\cdot x$", ylabel="value")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=5, frameon=False, fontsize=9)
    return draw.finished(
        canvas,
        "functions_along_the_spike",
        "What the readout can use along the spike",
        f"Student {student}, spike {spike:g}, bulk variance {bulk:g}: the mean of a feature given kappa (mu0), the "
        f"strength of its linear part (kappa mu1) and of its noise (mu2), with the target {target} at alignment 1 and "
        "its closest combination of mu0 and kappa mu1 under the normal law of kappa, whose distance is the lower bound "
        "on the test error.",
        f"figures.functions_along_the_spike(student={student!r}, target={target!r}, spike={spike:g}, bulk={bulk:g})",
    )


def projection(functions: Array, target: Array, weights: Array) -> Array:
    """The weighted least-squares approximation of ``target`` by rows of ``functions``."""
    root = np.sqrt(weights)
    coefficients = np.linalg.lstsq((functions * root).T, target * root, rcond=None)[0]
    return np.asarray(coefficients @ functions)


def bounds_over_the_ridge(
    alphas: Sequence[float] = (0.5, 1.0, 2.0, 8.0), spike: float = 1.0, alignment: float = 0.9, dimension: int = 300,
    seeds: int = 5, seed: int = 4,
) -> Figure:  # fmt: skip
    """Test error against the ridge between the lower and the upper bound (Section 4.3)."""
    canvas, axes = draw.panels()
    measured = np.geomspace(1e-3, 1.0, 7).tolist()
    for style, alpha in enumerate(alphas):
        model = partial(_tanh_and_sine, spike, alignment, alpha)
        runs = simulate_ridges(model(1.0), measured, dimension=dimension, seeds=seeds, seed=seed)
        found = [run.test_error for run in runs]
        _theory_and_points(axes, np.geomspace(1e-3, 1e3, 49), model, measured, found, style, rf"$\alpha = {alpha:g}$")
    one = _tanh_and_sine(spike, alignment, 1.0, 1.0)
    axes.axhline(upper_bound(one), color=draw.DARK, lw=1.2, linestyle=(0, (6, 3)), label="upper bound")
    axes.axhline(lower_bound(one), color=draw.DARK, lw=1.2, linestyle=(0, (1, 1.5)), label="lower bound")
    axes.set(xscale="log", yscale="log", xlabel=r"ridge $\lambda$", ylabel="test error")
    draw.plain_scale(axes)
    draw.legend(axes, fontsize=9)
    return draw.finished(
        canvas,
        "bounds_over_the_ridge",
        "Test error between its bounds",
        f"Student tanh, target sin, spike {spike:g}, bulk variance 1, alignment {alignment:g}, width beta = 1. Lines: "
        f"theory against the ridge. Points: simulation at d = {dimension}, mean over {seeds} seeds with one standard "
        "error. The least error over the ridge lies between the two bounds; every curve tends to the upper bound as "
        "the ridge grows.",
        f"figures.bounds_over_the_ridge(dimension={dimension}, seeds={seeds}, seed={seed})",
    )


def bounds_over_the_spike(alpha: float = 2.0, alignment: float = 0.9, largest: float = 4.0, points: int = 40) -> Figure:
    """The bounds and the least test error over the ridge, against the spike strength."""
    canvas, axes = draw.panels()
    # r = 0 itself is another problem: an odd activation then has mu0 = 0, and the bounds jump.
    spikes = np.linspace(0.1, largest, points)
    models = [_tanh_and_sine(float(r), alignment, alpha, 1.0) for r in spikes]
    sparse = models[:: max(1, points // 10)]
    draw.line(axes, spikes, [upper_bound(m) for m in models], 1, "upper bound", lw=1.8)
    draw.line(axes, spikes, [lower_bound(m) for m in models], 0, "lower bound", lw=1.8)
    best = [best_ridge(m).test_error for m in sparse]
    draw.line(axes, [m.spike for m in sparse], best, 2, rf"best ridge, $\alpha = {alpha:g}$", marker="^", ms=5, lw=1.4)
    axes.set(
        xlabel=r"spike strength $r$ (the rescaled learning rate, up to a factor)", ylabel="test error", yscale="log"
    )
    draw.plain_scale(axes)
    draw.legend(axes, fontsize=9)
    return draw.finished(
        canvas,
        "bounds_over_the_spike",
        "The bounds against the spike strength",
        f"Student tanh, target sin, bulk variance 1, alignment {alignment:g}, width beta = 1. The least test error "
        f"over the ridge at alpha = {alpha:g} (theory, a scan over the ridge with every dip refined) between the upper "
        "and the lower bound, which depend on neither alpha nor beta. At fixed alpha0 and beta the spike is "
        "proportional to the learning rate.",
        f"figures.bounds_over_the_spike(alpha={alpha:g}, alignment={alignment:g}, largest={largest:g}, "
        f"points={points})",
    )


def all_figures() -> tuple[Callable[[], Figure], ...]:
    """The figures in the order of the report, each to be called without arguments."""
    return (
        functions_along_the_spike, learning_curves_by_spike, learning_curves_by_alignment, learning_curves_by_batch,
        bounds_over_the_ridge, bounds_over_the_spike,
    )  # fmt: skip
