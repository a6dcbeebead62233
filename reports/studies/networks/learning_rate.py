"""Page: the learning rate of least test error, by the paper's theory, the network's own, and simulated networks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bounds.results import BestEta
from giantsteps.numerics.bounds.ridge import best_eta
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.command_line.console import estimate_text
from giantsteps.reports.figures.figures import Figure
from giantsteps.reports.measurements.drawing import STYLES, finished, legend, panels, points
from giantsteps.reports.measurements.experiments import Data, Experiment, Measured, studied
from giantsteps.reports.measurements.study import Study, Table, command

SLUG, SEED = "learning_rate", 74
DIMENSION, SEEDS = 600, 20


class Setting(NamedTuple):
    """A network, by name, and the learning rates at which it is measured."""

    name: str
    network: Network
    etas: tuple[float, ...]


def _setting(
    student: str, target: str, ratios: tuple[float, float], ridge: float, etas: tuple[float, ...], *, alpha0: float,
    noise: float = 0.0,
) -> Setting:  # fmt: skip
    """A network by the names of its activation and target; `ratios` are alpha and beta."""
    made = Network(activation(student), activation(target), *ratios, ridge, alpha0=alpha0, eta=1.0, noise=noise)
    return Setting(f"{student}/{target}", made, etas)


CASES = (
    _setting("tanh", "tanh", (1.5, 1.0), 0.01, (0.5, 1.0, 1.5, 2.0, 3.0, 4.5, 6.5, 9.0, 12.0), alpha0=4.0),
    _setting("tanh", "sin", (1.5, 1.0), 0.1, (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.5, 8.0), alpha0=2.0, noise=0.1),
    _setting("erf", "sign", (2.0, 1.0), 0.05, (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.5, 8.0, 12.0), alpha0=2.0),
    _setting("atan", "hardtanh", (1.0, 0.5), 0.05, (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.5, 6.5, 9.0), alpha0=8.0),
)


def name_of(case: str, eta: float) -> str:
    """The key of one experiment."""
    return f"{case}, eta {eta:g}"


EXPERIMENTS = tuple(
    Experiment(name_of(case, eta), replace(network, eta=eta), DIMENSION, SEEDS)
    for case, network, etas in CASES
    for eta in etas
)


THEORIES = ("isotropic", "network")
# One theory's choice is called better where the errors that the networks then have differ by more than this share.
VISIBLE = 0.02


class Vertex(NamedTuple):
    """The bottom of the parabola in log eta through the least of some points and its neighbours."""

    eta: float
    error: float


@dataclass(frozen=True)
class Case:
    """One network: both theories' best rates, and what simulated networks say."""

    setting: Setting
    measured: tuple[Measured, ...]
    best: dict[str, BestEta]
    found: Vertex
    found_error: Vertex
    coarse: dict[str, Vertex]

    @property
    def z(self) -> dict[str, float]:
        """Log of the measured best rate over each theory's, read off the same grid, in standard errors."""
        spread = self.found_error.eta / self.found.eta
        return {theory: float(np.log(self.found.eta / self.coarse[theory].eta)) / spread for theory in THEORIES}


def vertex(etas: Sequence[float], errors: Sequence[float]) -> Vertex:
    """The vertex; at an end of the grid the end itself."""
    k = int(np.argmin(errors))
    if k in (0, len(etas) - 1):
        return Vertex(float(etas[k]), float(errors[k]))
    x, y = np.log(etas[k - 1 : k + 2]), np.asarray(errors[k - 1 : k + 2])
    a, b, c = np.polyfit(x - x[1], y, 2)
    return Vertex(float(np.exp(x[1] - b / (2 * a))), float(c - b * b / (4 * a)))


def cases_of(data: Data) -> tuple[Case, ...]:
    """Every network with its theories; the standard error of the measured vertex by leaving out one seed at a time."""
    found = []
    for setting in CASES:
        name, network, etas = setting
        samples = np.array([data[name_of(name, eta)]["test_error"] for eta in etas])
        rest = [vertex(etas, np.delete(samples, k, axis=1).mean(axis=1).tolist()) for k in range(samples.shape[1])]
        factor = np.sqrt((len(rest) - 1) / len(rest))
        spread = Vertex(*(float(factor * np.sqrt(np.sum((v - v.mean()) ** 2))) for v in np.array(rest).T))
        coarse = {theory: vertex(etas, errors(network, theory, etas)) for theory in THEORIES}
        best = {
            theory: best_eta(
                network.activation, network.target, alpha=network.alpha, beta=network.beta, alpha0=network.alpha0,
                ridge=network.ridge, noise=network.noise, bulk_model=theory, largest=etas[-1], points=13,
            )
            for theory in THEORIES
        }  # fmt: skip
        measured = tuple(Measured.of(row.tolist()) for row in samples)
        found.append(Case(setting, measured, best, vertex(etas, samples.mean(axis=1).tolist()), spread, coarse))
    return tuple(found)


def errors(network: Network, theory: str, etas: Iterable[float], width: float | None = None) -> list[float]:
    """The test errors of a theory at the given learning rates, in the limit or at a width of p neurons."""
    found = [solve(replace(network, eta=float(eta)).model(theory)) for eta in etas]
    return [(one if width is None else one.at_width(width)).test_error for one in found]


def study() -> Study | None:
    """The page."""
    return studied(SLUG, EXPERIMENTS, cases_of, page, drawn)


def page(cases: Sequence[Case]) -> Study:
    """The page from its cases: every number in the text is computed from them."""
    text = (
        "How large should the step be? At fixed ridge the test error has a minimum in the learning rate: a small step "
        "leaves random features, a large one spoils the bulk. Two theories place it: the paper's (isotropic bulk of "
        "equal norms) and the network's own (beyond the paper).",
        " ".join(_sentence(case) for case in cases),
        _verdict(cases),
    )
    table = Table(
        f"The best learning rate at fixed ridge; networks at d = {DIMENSION}, {SEEDS} seeds, shared by all rates; the "
        "vertex of a parabola in log eta through the least point and its neighbours",
        ("network", "paper: eta", "error", "network's own: eta", "error", "measured: eta", "error"),
        tuple(
            (
                case.setting.name,
                *(cell for theory in THEORIES for cell in _cells(case.best[theory])),
                estimate_text(case.found.eta, case.found_error.eta),
                estimate_text(case.found.error, case.found_error.error),
            )
            for case in cases
        ),
    )
    return Study("learning-rate", "The best learning rate", text, (table,), (), command(SLUG, "simulate"))


def _cells(best: BestEta) -> tuple[str, str]:
    at = f"{best.eta:.3g} or more" if best.at_edge else f"{best.eta:.3g}"
    return at, f"{best.test_error:.4f}"


def _sentence(case: Case) -> str:
    usual, own = (case.best[theory] for theory in THEORIES)
    name, z = case.setting.name, case.z
    return (
        f"{name}: the paper's theory puts the least error at eta = {_cells(usual)[0]}, the network's own at "
        f"{_cells(own)[0]}; simulated networks have it at {estimate_text(case.found.eta, case.found_error.eta)}, "
        f"{abs(z['isotropic']):.1f} standard errors from the former and {abs(z['network']):.1f} from the latter (read "
        "off the same grid)."
    )


def cost(case: Case, theory: str) -> float:
    """What choosing eta by a theory costs the network, by its own theory: a share of the least error."""
    rate = case.best[theory].eta
    return errors(case.setting.network, "network", [rate])[0] / case.best["network"].test_error - 1.0


def _verdict(cases: Sequence[Case]) -> str:
    costs = {case.setting.name: cost(case, "isotropic") for case in cases}
    worst = max(costs, key=lambda name: costs[name])
    lower = [case.setting.name for case in cases if case.best["isotropic"].eta < case.best["network"].eta]
    z = [case.z["network"] for case in cases]
    side = f"too small at {len(lower)} of {len(cases)} networks" if lower else "never too small"
    price = "costs nothing that one would see" if costs[worst] < VISIBLE else "has a price"
    return (
        f"The paper's rate is {side}. Choosing by it {price}: the test error rises by at most {100 * costs[worst]:.1f} "
        f"% ({worst}), since the minimum is flat. The network's own theory places the minimum within "
        f"{max(abs(x) for x in z):.1f} standard errors everywhere."
    )


def drawn(cases: Sequence[Case]) -> Figure:
    """Both theories and the measurements over eta, one panel per network."""
    canvas, all_axes = panels(len(cases), width=13.0, height=3.5)
    for axes, case in zip(all_axes, cases, strict=True):
        grid = np.geomspace(case.setting.etas[0], case.setting.etas[-1], 21)
        for style, theory, label in ((1, "isotropic", "isotropic bulk"), (0, "network", "network's own bulk")):
            colour, marker, dash = STYLES[style]
            axes.plot(
                grid, errors(case.setting.network, theory, grid), color=colour, linestyle=dash, lw=1.7, label=label
            )
            best = case.best[theory]
            axes.plot([best.eta], [best.test_error], marker=marker, ms=9, mfc="none", mec=colour, lw=0)
        points(axes, case.setting.etas, case.measured, 4, "networks")
        axes.set(xscale="log", xlabel=r"$\tilde\eta$", title=case.setting.name)
        axes.set_xticks([0.5, 2.0, 8.0], ["0.5", "2", "8"])
        axes.minorticks_off()
    all_axes[0].set_ylabel("test error")
    legend(all_axes[0])
    title = "Test error against the learning rate"
    caption = (
        f"Networks named by student and target at their fixed ridge; points: d = {DIMENSION}, mean over {SEEDS} "
        "networks with one standard error. Lines: the two theories at infinite dimension; open marks: where each is "
        "least."
    )
    return finished(canvas, SLUG, title, caption)
