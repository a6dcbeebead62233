"""Figures 3 and 7: the functions along the spike that realise the bounds, and the pool that they are taken from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.gaussian.coefficients import conditional_coefficients, target_moments
from giantsteps.numerics.models.network import Network
from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.measurements.experiments import Data
from giantsteps.reports.measurements.study import Statement
from giantsteps.reports.studies.paper import settings as at
from giantsteps.reports.studies.paper.curves import ISOTROPIC, OWN
from giantsteps.reports.studies.paper.functions import along_spike
from giantsteps.reports.studies.paper.samples import BOUNDS, POOL, bound_network, pictured
from giantsteps.reports.studies.paper.series import Plotted, Series

Array = NDArray[np.float64]

_KAPPA = np.linspace(-4.0, 4.0, 321)
_WEIGHT = np.exp(-(_KAPPA**2) / 2.0)
_LABELS = {"upper": r"upper bound: $b\,\mu_0$", "lower": r"lower bound: $b_1\mu_0 + b_2\kappa\mu_1$"}


def projection(functions: Array, target: Array, weights: Array) -> Array:
    """The weighted least-squares approximation of ``target`` by rows of ``functions``."""
    root = np.sqrt(weights)
    coefficients = np.linalg.lstsq((functions * root).T, target * root, rcond=None)[0]
    return np.asarray(coefficients @ functions)


def points_of(which: str) -> str:
    """The label of the networks that come near a bound."""
    alpha, ridge = at.BOUND_READOUTS[which]
    return rf"networks, $\alpha = {alpha:g}$, $\lambda = {ridge:g}$"


def figure_3(data: Data) -> draw.Figure:
    """The target and the functions along the spike that realise both bounds, beside networks that come near them."""
    student, target = activation(at.SINE.student), activation(at.SINE.target)
    mu0, mu1, _ = conditional_coefficients(student, at.BOUND_SPIKE, 1.0, 0.0, _KAPPA)
    goal = np.asarray(target_moments(target, 1.0, _KAPPA)[0])
    best = {
        "upper": projection(mu0[None], goal, _WEIGHT),
        "lower": projection(np.stack([mu0, _KAPPA * mu1]), goal, _WEIGHT),
    }
    canvas, axes = draw.panels()
    axes.plot(_KAPPA, goal, color=draw.DARK, lw=1.0, label="target")
    for style, (which, label) in enumerate(_LABELS.items()):
        draw.line(axes, _KAPPA, best[which], style, label, ls="-", lw=1.6)
        own = along_spike(bound_network(which).model("network"), _KAPPA)
        draw.line(axes, _KAPPA, own, style, f"_own theory, {which}", **OWN)
        found = [BOUNDS[which].measured(data, place) for place in BOUNDS[which].observables]
        draw.points(axes, at.PLACES, found, style, points_of(which))
    axes.set(xlabel=r"projection on the spike $\kappa = v\cdot x$", ylabel="value", ylim=(-1.9, 1.9))
    draw.legend(axes, loc="upper left")
    draw.style_key(canvas, {"function that realises the bound": ISOTROPIC, "theory of the networks": OWN})
    model = bound_network("lower").model("isotropic")
    return draw.finished(
        canvas,
        "figure_3",
        "The functions that realise the bounds",
        f"Student tanh, target sin, r = {at.BOUND_SPIKE:g}, c = gamma = 1. Solid: the closest multiple of mu0 (upper "
        "bound) and the closest combination of mu0 and kappa mu1 (lower bound). Their squared distances from the "
        f"target are the bounds. Points: mean output along the spike of networks at d = {at.DIMENSION} after a step on "
        f"alpha0 = {at.BOUND_BATCH:g} (c = {model.bulk:.3g}, gamma = {model.alignment:.3g}); mean over {at.SEEDS} with "
        "one standard error. One network has a large ridge, the other many samples and a small ridge. Dashed: the "
        "theory of these networks.",
    )


def _apart(one: Series, other: Series) -> float:
    """Root mean square distance of two functions under the normal law, at the points of the first."""
    weight = np.exp(-(one.x**2) / 2.0)
    return float(np.sqrt(weight @ (one.y - other.at(one.x)) ** 2 / weight.sum()))


def says_3(found: Plotted) -> tuple[Statement, ...]:
    """An infinite ridge realises the upper bound; no function of a network is nearer than that of the lower one."""
    target, networks = found[1, "target"], {which: found[1, points_of(which)] for which in _LABELS}
    # A finite ridge leaves the shares alpha/ridge = 0.1 and ridge/(n E[mu0^2]) = 0.13 undone: within a quarter.
    lines = {which: found[1, label] for which, label in _LABELS.items()}
    size = _apart(target, Series(target.x, np.zeros_like(target.y), target.error))
    reached = _apart(networks["upper"], lines["upper"])
    distances = {which: _apart(lines[which], target) for which in _LABELS}
    own = _apart(networks["lower"], target)
    return (
        Statement(
            "the upper bound is achieved at an infinite ridge", "Section 4.3", reached < 0.25 * size,
            f"networks at the large ridge are {reached:.3f} from its function; the target has size {size:.3f} (seen: "
            "within a quarter of it)",
        ),
        Statement(
            "no test error is lower than the distance to the best combination", "Section 4.3",
            own > distances["lower"] - 0.01 * size,
            f"networks with many samples are {own:.3f} from the target, that combination {distances['lower']:.3f}",
        ),
        Statement(
            "the function of the lower bound is the nearer one", "Section 4.3", distances["lower"] < distances["upper"],
            f"{distances['lower']**2:.4f} beside {distances['upper']**2:.4f}, squared",
        ),
    )  # fmt: skip


STUDY_3 = pictured(
    3, "the functions that realise the bounds", figure_3, says_3,
    f"Settings: tanh and sin, r = {at.BOUND_SPIKE:g}, c = gamma = 1, as the slides print them. No network has c = "
    f"gamma = 1: those here come near it by a batch of alpha0 = {at.BOUND_BATCH:g}.",
)  # fmt: skip


def figure_7(data: Data) -> draw.Figure:
    """mu0 and kappa mu1 for several spikes, beside the mean neuron of networks."""
    student = activation(at.SINE.student)
    canvas, *panels = draw.panels(2)
    for style, (spike, experiment) in enumerate(POOL.items()):
        mu0, mu1, _ = conditional_coefficients(student, spike, 1.0, 0.0, _KAPPA)
        for axes, name, line in zip(panels, ("mu0", "kappa mu1"), (mu0, _KAPPA * mu1), strict=True):
            draw.line(axes, _KAPPA, line, style, f"$r = {spike:g}$", lw=1.6)
            found = [experiment.measured(data, f"{name} at {t:g}") for t in at.PLACES]
            draw.points(axes, at.PLACES, found, style, f"_networks, r = {spike:g}")
    for axes, title in zip(panels, (r"$\mu_0(\kappa)$", r"$\kappa\,\mu_1(\kappa)$"), strict=True):
        axes.set(xlabel=r"projection on the spike $\kappa$", ylabel="value")
        axes.set_title(title, fontsize=9)
    draw.legend(panels[0])
    bulk = [one.subject.model("isotropic").bulk for one in POOL.values() if isinstance(one.subject, Network)]
    return draw.finished(
        canvas,
        "figure_7",
        "The pool of functions along the spike",
        "Student tanh. Lines: theory at c = 1 for several spikes r, which the learning rate of the step sets. Points: "
        f"the mean neuron of networks at d = {at.DIMENSION} after a step on alpha0 = {at.BOUND_BATCH:g} (c = "
        f"{bulk[0]:.3g} to {bulk[-1]:.3g}), mean over {at.SEEDS} with one standard error.",
    )


def says_7(found: Plotted) -> tuple[Statement, ...]:
    """As the spike vanishes the pool reduces to linear functions; the neurons of networks follow."""
    bent, apart, size = [], [], []
    for spike in at.POOL_SPIKES:
        for panel in (1, 2):
            line, mean = found[panel, f"$r = {spike:g}$"], found[panel, f"networks, r = {spike:g}"]
            apart.append(_apart(mean, line))
            size.append(_apart(line, Series(line.x, np.zeros_like(line.y), line.error)))
            if panel == 2:
                weight = np.exp(-(line.x**2) / 2.0)
                slope = weight @ (line.x * line.y) / (weight @ line.x**2)
                bent.append(_apart(line, Series(line.x, slope * line.x, line.error)) / size[-1])
    worst = max(a / b for a, b in zip(apart, size, strict=True))
    return (
        Statement(
            "as the spike vanishes the pool reduces to linear functions", "Section 4.3",
            bool(np.all(np.diff(bent) > 0.0)),
            "kappa mu1 is bent by "
            + ", ".join(f"{b:.1%} at r = {r:g}" for b, r in zip(bent, at.POOL_SPIKES, strict=True)),
        ),
        Statement(
            "the mean neuron of a network follows both", "this suite", worst < 0.05,
            f"at most {worst:.1%} of their size apart (seen: below 5 %)",
        ),
    )  # fmt: skip


STUDY_7 = pictured(
    7, "the pool of functions along the spike", figure_7, says_7,
    "Settings: tanh and c = 1. The sources do not print the spikes of this figure; r = "
    f"{', '.join(f'{r:g}' for r in at.POOL_SPIKES)} are chosen.",
)  # fmt: skip
