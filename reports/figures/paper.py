"""The paper's Figures 1 and 2 with the settings that the sources print; Figures 3 to 8 are named in `PLACES`.

Points are networks that took a gradient step, not spiked random features; lines are both theories, that of the
isotropic bulk (the paper's) and that of the network's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from onestep.derivations.activations.activation import activation
from onestep.numerics.experiments.simulate import simulate
from onestep.numerics.gaussian.coefficients import conditional_coefficients, hermite_constants, target_moments
from onestep.numerics.models.model import Model
from onestep.numerics.models.network import Network
from onestep.numerics.saddle_point.one_group.batch import solve_batch
from onestep.numerics.saddle_point.solve import solve
from onestep.reports.figures.figures import STYLES, Figure, canvas_of, finish, legend, plain_ticks

Array = NDArray[np.float64]

# Where each figure of the paper stands in the report, by the name of its drawing or of its study.
PLACES = (
    ("Figure 1", "the function along the target", "figure-learned-functions"),
    ("Figure 2", "learning curves by the batch of the step", "figure-learning-curves-of-networks"),
    ("Figure 3", "the functions that realise the bounds", "figure-functions-along-the-spike"),
    ("Figure 4", "learning curves by spike", "figure-learning-curves-by-spike"),
    ("Figure 4", "learning curves by alignment", "figure-learning-curves-by-alignment"),
    ("Figure 5", "the width of the network", "study-width"),
    ("Figure 6", "a vocabulary of readout values", "study-vocabulary"),
    ("Figure 7", "the functions of the bounds", "study-bound-functions"),
    ("Figure 8", "the spectrum of the features", "study-spectrum-sample"),
)


@dataclass(frozen=True)
class Setting:
    """What a panel of Figure 2 is drawn for: student, target, rate of the step and ridge, at width beta = 1."""

    student: str
    target: str
    eta: float
    ridge: float

    def network(self, alpha0: float, alpha: float = 1.0) -> Network:
        """The network that takes the step on alpha0 d samples."""
        student, target = activation(self.student), activation(self.target)
        return Network(student, target, alpha, 1.0, self.ridge, alpha0=alpha0, eta=self.eta)

    def model(self, alpha0: float) -> Model:
        """Its spiked random features: without a spike at alpha0 = 0, and along the target at alpha0 = infinity."""
        student, target = activation(self.student), activation(self.target)
        if 0.0 < alpha0 < np.inf:
            return Model.from_gradient_step(
                student, target, alpha=1.0, beta=1.0, ridge=self.ridge, alpha0=alpha0, eta=self.eta
            )
        along = alpha0 > 0.0
        spike = self.eta * hermite_constants(student).h1 * abs(hermite_constants(target).h1) if along else 0.0
        return Model(student, target, 1.0, 1.0, self.ridge, spike=spike, bulk=1.0, alignment=float(along))

    @property
    def best_linear(self) -> float:
        """The least error of a linear predictor, h2 - h1^2 of an odd target: what no kernel method gets below."""
        constants = hermite_constants(activation(self.target))
        return constants.h2 - constants.h1**2

    def __str__(self) -> str:
        return f"{self.student} learns {self.target}, eta = {self.eta:g}, ridge {self.ridge:g}"


# As the slides print them.
PANELS = (Setting("tanh", "sin", 3.0, 0.1), Setting("tanh", "tanh", 1.0, 0.01))


def learned_functions(
    batches: Sequence[float] = (0.0, 0.5, 2.0, 20.0), alpha: float = 4.0, panel: Setting = PANELS[0]
) -> Figure:
    """Figure 1: the function of the target's direction that the network learns, for several batches of the step."""
    canvas, axes = canvas_of()
    x = np.linspace(-4.0, 4.0, 161)
    for alpha0, (colour, _, dash) in zip(batches, STYLES, strict=False):
        axes.plot(x, along_target(panel.model(alpha0).changed(alpha=alpha), x), color=colour, linestyle=dash, lw=1.8,
                  label=rf"$\alpha_0 = {alpha0:g}$")  # fmt: skip
    axes.plot(x, target_moments(activation(panel.target), 1.0, x)[0], color="#333333", lw=1.0, label="target")
    axes.set(xlabel=r"along the target $\theta\cdot x$", ylabel="mean output of the network")
    legend(axes)
    return finish(
        canvas,
        "learned_functions",
        "Figure 1: what one step lets the network learn",
        f"{panel}, width beta = 1, then a ridge fit on alpha = {alpha:g} samples per dimension: the mean of the output "
        "at a given projection on the target, by the theory of the isotropic bulk. Without a step (alpha0 = 0) it is a "
        "line, with a larger batch it bends after the target.",
        f"learned_functions(alpha={alpha:g})",
        "paper",
    )


def along_target(model: Model, x: Array) -> Array:
    """E[output | theta.x = x]: the output is m mu0(kappa) + zeta kappa mu1(kappa) + psi mu1(kappa) u.

    Here kappa = gamma x + sqrt(1 - gamma^2) w and u = sqrt(1 - gamma^2) x - gamma w for w ~ N(0, 1).
    """
    order, gamma = solve(model).order_parameters, model.alignment
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    across = float(np.sqrt(1.0 - gamma**2))
    kappa, u = (gamma * x[:, None] + across * nodes, across * x[:, None] - gamma * nodes)
    mu0, mu1, _ = conditional_coefficients(model.activation, model.spike, model.bulk, 0.0, kappa.ravel())
    mean, slope = np.reshape(mu0, kappa.shape), np.reshape(mu1, kappa.shape)
    m, zeta, psi = (float(np.ravel(value)[0]) for value in (order.m, order.zeta, order.psi))
    output: Array = (m * mean + (zeta * kappa + psi * u) * slope) @ weights / np.sum(weights)
    return output


def learning_curves_of_networks(
    batches: Sequence[float] = (0.5, 20.0), dimension: int = 240, seeds: int = 4, seed: int = 6
) -> Figure:
    """Figure 2: test error against alpha for several batches, networks beside both theories, for both settings."""
    canvas, *both = canvas_of(columns=len(PANELS))
    alphas = np.geomspace(0.25, 6.0, 31)
    measured = [round(a * dimension) / dimension for a in np.geomspace(0.3, 5.0, 5)]
    said = []
    for axes, panel in zip(both, PANELS, strict=True):
        every = (0.0, *batches, np.inf)
        curves = {alpha0: solve_batch(panel.model(alpha0), alpha=alphas).test_error for alpha0 in every}
        axes.plot(alphas, curves[0.0], color="#333333", lw=1.2, label=r"$\alpha_0 = 0$")
        axes.plot(alphas, curves[np.inf], color="#333333", lw=1.2, ls=":", label=r"$\alpha_0 = \infty$")
        axes.axhline(panel.best_linear, color="black", lw=1.0, ls="--", label="best linear predictor")
        for alpha0, (colour, marker, _) in zip(batches, STYLES, strict=False):
            networks = [panel.network(alpha0, alpha) for alpha in measured]
            found = [simulate(one, dimension=dimension, seeds=seeds, seed=seed).test_error for one in networks]
            own = [solve(one.model("network")).test_error for one in networks]
            axes.plot(alphas, curves[alpha0], color=colour, lw=1.6, label=f"_isotropic theory, alpha0 = {alpha0:g}")
            axes.plot(measured, own, color=colour, lw=1.0, ls="--", label=f"_the network's own, alpha0 = {alpha0:g}")
            axes.errorbar(
                measured, [p.mean for p in found], yerr=[p.standard_error for p in found], color=colour, marker=marker,
                ms=4, lw=0, elinewidth=1.1, capsize=2, label=rf"$\alpha_0 = {alpha0:g}$",
            )  # fmt: skip
        axes.set(xscale="log", xlabel=r"$\alpha = n/d$", ylabel="test error", ylim=(0.0, None), title=str(panel))
        axes.title.set_fontsize(9)
        plain_ticks(axes, (0.5, 1.0, 2.0, 5.0))
        legend(axes)
        said.append(statements(panel, dict(curves)))
    return finish(
        canvas,
        "learning_curves_of_networks",
        "Figure 2: networks after one step, by the batch of the step",
        f"Width beta = 1. Points: networks that took the step at d = {dimension}, mean over {seeds} seeds with one "
        "standard error. Lines in their colour: the theory of the isotropic bulk (whole) and of the network's own bulk "
        f"(dashed). Black: no step, an infinite batch, and the best linear predictor. {' '.join(said)}",
        f"learning_curves_of_networks(dimension={dimension}, seeds={seeds}, seed={seed})",
        "paper",
    )


def statements(panel: Setting, curves: dict[float, Array]) -> str:
    """What the paper's text says of the figure, each decided on the curves: seen, or not."""
    steps = sorted(alpha0 for alpha0 in curves if alpha0 > 0.0)
    ordered = all(np.all(curves[b] <= curves[a] + 1e-12) for a, b in pairwise(steps))
    linear = panel.best_linear
    checks = (
        ("larger batches have lower errors", ordered),
        ("the network at initialisation stays above the best linear predictor", bool(np.min(curves[0.0]) > linear)),
        ("an infinite batch gets below it", bool(np.min(curves[np.inf]) < linear)),
        ("every batch does better than no step", all(bool(np.all(curves[a] < curves[0.0])) for a in steps)),
    )
    return f"{panel}: " + "; ".join(f"{words}: {'seen' if held else 'not seen'}" for words, held in checks) + "."
