"""Page: the learning rate of least test error, by the paper's theory, the network's own, and simulated networks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np

from giantsteps.numerics.bounds.best import best
from giantsteps.numerics.bounds.results import Best
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.command_line.console import estimate_text
from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.measurements.experiments import Data, Experiment, Measurement, predicted_error
from giantsteps.reports.measurements.study import OURS, Statement, Study, Table, command, stated

SLUG = "learning_rate"
DIMENSION, SEEDS = 600, 20
# Networks with the learning rates at which they are measured.
CASES: dict[str, tuple[Network, tuple[float, ...]]] = {
    "tanh/tanh": (
        Network("tanh", "tanh", 1.5, 1.0, 0.01, alpha0=4.0, eta=1.0), (0.5, 1.0, 1.5, 2.0, 3.0, 4.5, 6.5, 9.0, 12.0)
    ),
    "tanh/sin": (
        Network("tanh", "sin", 1.5, 1.0, 0.1, alpha0=2.0, eta=1.0, noise=0.1),
        (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.5, 8.0),
    ),
    "erf/sign": (
        Network("erf", "sign", 2.0, 1.0, 0.05, alpha0=2.0, eta=1.0), (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.5, 8.0, 12.0)
    ),
    "atan/hardtanh": (
        Network("atan", "hardtanh", 1.0, 0.5, 0.05, alpha0=8.0, eta=1.0),
        (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.5, 6.5, 9.0),
    ),
}  # fmt: skip
EXPERIMENTS = tuple(
    Experiment(f"{case}, eta {eta:g}", replace(network, eta=eta), DIMENSION, SEEDS)
    for case, (network, etas) in CASES.items()
    for eta in etas
)
THEORIES = ("isotropic", "network")
# One theory's choice is called better where the errors that the networks then have differ by more than this share.
VISIBLE = 0.02


class Vertex(NamedTuple):
    """The bottom of the parabola in log eta through the least of some points and its neighbours."""

    eta: float
    error: float


def vertex(etas: Sequence[float], errors: Sequence[float]) -> Vertex:
    """The vertex; at an end of the grid the end itself."""
    k = int(np.argmin(errors))
    if k in (0, len(etas) - 1):
        return Vertex(float(etas[k]), float(errors[k]))
    x, y = np.log(etas[k - 1 : k + 2]), np.asarray(errors[k - 1 : k + 2])
    a, b, c = np.polyfit(x - x[1], y, 2)
    return Vertex(float(np.exp(x[1] - b / (2 * a))), float(c - b * b / (4 * a)))


def measured_vertex(etas: Sequence[float], samples: np.ndarray) -> tuple[Vertex, Vertex]:
    """The vertex of the means of samples (etas, seeds), and its standard error by leaving out one seed at a time."""
    left_out = (np.delete(samples, k, axis=1).mean(axis=1) for k in range(samples.shape[1]))
    rest = np.array([vertex(etas, means.tolist()) for means in left_out])
    factor = np.sqrt((len(rest) - 1) / len(rest))
    spread = Vertex(*(float(factor * np.sqrt(np.sum((v - v.mean()) ** 2))) for v in rest.T))
    return vertex(etas, samples.mean(axis=1).tolist()), spread


def errors(network: Network, theory: str, etas: Iterable[float], width: float | None = None) -> list[float]:
    """The test errors of a theory at the given learning rates, in the limit or at a width of p neurons."""
    found = [replace(network, eta=float(eta)) for eta in etas]
    if width is None:
        return [predicted_error(one, theory) for one in found]
    return [solve(one.model(theory)).at_width(width).test_error for one in found]


@dataclass(frozen=True)
class Case:
    """One network: both theories' best rates, what simulated networks say, and by theory how far the log of their best
    rate is from that of the theory read off the same grid, in standard errors."""

    name: str
    best: dict[str, Best]
    found: Vertex
    error: Vertex
    z: dict[str, float]

    @property
    def measured(self) -> str:
        """The best rate of the simulated networks."""
        return estimate_text(self.found.eta, self.error.eta)


@cache
def best_rates(name: str) -> dict[str, Best]:
    """The best rate of a network by either theory."""
    network, etas = CASES[name]
    return {
        theory: best(replace(network, eta=etas[-1]).model(theory), over="eta", largest=etas[-1], points=13)
        for theory in THEORIES
    }


def case_of(name: str, data: Data) -> Case:
    """One network with its theories."""
    network, etas = CASES[name]
    samples = np.array([data[one.name]["test_error"] for one in EXPERIMENTS if one.name.startswith(f"{name}, ")])
    found, error = measured_vertex(etas, samples)
    coarse = {theory: vertex(etas, errors(network, theory, etas)).eta for theory in THEORIES}
    spread = error.eta / found.eta
    z = {theory: float(np.log(found.eta / coarse[theory])) / spread for theory in THEORIES}
    return Case(name, best_rates(name), found, error, z)


def page(data: Data) -> Study:
    """The page from the samples."""
    cases = [case_of(name, data) for name in CASES]
    text = (
        "How large should the step be? At fixed ridge the test error has a minimum in the learning rate: a small step "
        "leaves random features almost unchanged, a large step adds noise to the bulk. Two theories predict the "
        "minimum: the paper's (isotropic bulk, equal norms) and the network's own (beyond the paper).",
    )
    furthest = {theory: max(abs(case.z[theory]) for case in cases) for theory in THEORIES}
    # What choosing eta by the paper's theory costs a network, by its own theory: a share of the least error.
    costs = {one.name: errors(CASES[one.name][0], "network", [one.best["isotropic"].values["eta"]])[0] for one in cases}
    rises = {one.name: costs[one.name] / one.best["network"].test_error - 1.0 for one in cases}
    worst = max(rises, key=lambda name: rises[name])
    lower = sum(case.best["isotropic"].values["eta"] < case.best["network"].values["eta"] for case in cases)
    statements = (
        *(
            Statement(
                f"the {words} theory predicts the best rate", source, furthest[theory] < 3.0,
                f"within {furthest[theory]:.1f} standard errors of the best rate of simulated networks, in all cases "
                "(on the same grid; seen: below 3)",
            )
            for words, theory, source in (("paper's", "isotropic", "Result 3.3"), ("network's own", "network", OURS))
        ),
        Statement(
            "the best rate of the paper's theory is good enough", OURS, rises[worst] < VISIBLE,
            f"the rate is too small at {lower} of {len(cases)} networks; the test error rises by at most "
            f"{100 * rises[worst]:.1f} % ({worst}), since the minimum is flat (seen: below {VISIBLE:.0%})",
        ),
    )  # fmt: skip
    table = Table.of(
        f"The best learning rate at fixed ridge; networks at d = {DIMENSION}, {SEEDS} seeds, shared by all rates; the "
        "vertex of a parabola in log eta through the least point and its neighbours",
        "network | paper: eta | error | network's own: eta | error | measured: eta | error",
        (
            f"{case.name} | "
            + " | ".join(f"{_place(case.best[theory])} | {case.best[theory].test_error:.4f}" for theory in THEORIES)
            + f" | {case.measured} | {estimate_text(case.found.error, case.error.error)}"
            for case in cases
        ),
    )
    tables = (stated(statements), table)
    return Study(SLUG, "The best learning rate", text, tables, (_figure(cases, data),), command(SLUG))


def _place(found: Best) -> str:
    eta = found.values["eta"]
    return f"{eta:.3g}" + (" or more" if found.at_end and eta > 0.0 else "")


def _figure(cases: Sequence[Case], data: Data) -> draw.Figure:
    """Both theories and the measurements over eta, one panel per network."""
    canvas, *all_axes = draw.panels(len(cases), ylabel="test error")
    for axes, case in zip(all_axes, cases, strict=True):
        network, etas = CASES[case.name]
        grid = np.geomspace(etas[0], etas[-1], 21)
        for style, theory, label in ((1, "isotropic", "isotropic bulk"), (0, "network", "network's own bulk")):
            draw.line(axes, grid, errors(network, theory, grid), style, label)
            colour, marker, _ = draw.STYLES[style]
            least = case.best[theory]
            axes.plot([least.values["eta"]], [least.test_error], marker=marker, ms=9, mfc="none", mec=colour, lw=0)
        own = [one.measured(data) for one in EXPERIMENTS if one.name.startswith(f"{case.name}, ")]
        draw.points(axes, etas, own, 4, "networks")
        axes.set(xscale="log", xlabel=r"rescaled learning rate $\tilde\eta$", title=case.name)
        draw.ticks(axes, (0.5, 2.0, 8.0))
    draw.legend(all_axes[0])
    caption = (
        f"Panels are named by student and target. Points: networks at d = {DIMENSION}, mean over {SEEDS} with one "
        "standard error. Lines: the two theories at infinite dimension. Open marks: the minimum of each line."
    )
    return draw.finished(canvas, SLUG, "Test error against the learning rate", caption)


STUDY = Measurement(SLUG, 74, EXPERIMENTS, page)
