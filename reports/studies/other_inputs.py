"""Page: inputs whose coordinates are not Gaussian, against the Gaussian theory, for dense and for sparse targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.experiments.inputs import DEGREES_OF_FREEDOM, LAWS, Inputs
from giantsteps.numerics.gaussian.coefficients import hermite_constants
from giantsteps.numerics.gaussian.evaluate import compile_numpy
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.network import Network
from giantsteps.reports.command_line.console import estimate_text
from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.measurements.experiments import (
    Data,
    Experiment,
    Measurement,
    at_dimensions,
    line_of,
    predicted_error,
)
from giantsteps.reports.measurements.study import OURS, Statement, Study, Table, command, stated
from giantsteps.verify.checks.finite_size import Comparison, Observation, compare

Array = NDArray[np.float64]

SLUG = "other_inputs"
RUNS = ((100, 96), (200, 64), (400, 36), (800, 16))
CASES: dict[str, Model | Network] = {
    "features tanh/sin": Model("tanh", "sin", 1.5, 1.0, 0.1, spike=1.0, bulk=1.0, alignment=0.8),
    "features relu/sign": Model("relu", "sign", 2.0, 0.8, 0.2, spike=1.0, bulk=1.0, alignment=0.7),
    "network tanh/sin": Network("tanh", "sin", 1.5, 1.0, 0.1, alpha0=2.0, eta=2.0),
    "network erf/sign": Network("erf", "sign", 2.0, 1.0, 0.1, alpha0=4.0, eta=3.0),
}
VARIANTS = tuple(Inputs(law, "dense") for law in LAWS) + tuple(Inputs(law, "sparse") for law in LAWS[1:])
MAP = ("spike", "alignment", "bulk")
LEVEL = 3.5  # standard errors; 28 comparisons of a right theory go beyond it in 1.3 % of such studies


def experiments_of(case: str, inputs: Inputs) -> tuple[Experiment, ...]:
    """One model with one law of the inputs, at all dimensions."""
    observables = ("test_error", *(MAP if isinstance(CASES[case], Network) else ()))
    given: dict[str, Any] = {"inputs": inputs, "observables": observables, "stream": VARIANTS.index(inputs)}
    return at_dimensions(f"{case}, {inputs.law} {inputs.directions}", CASES[case], RUNS, **given)


EXPERIMENTS = tuple(one for case in CASES for inputs in VARIANTS for one in experiments_of(case, inputs))


@dataclass(frozen=True)
class Row:
    """One model with one law of the inputs: the test error extrapolated to infinite d against the Gaussian theory.

    `relative`, `error`: how far it is above the theory and its standard error, as shares; `z` as a standard normal
    deviate; `pace`: b of the line theory + e + b/d, as a share, so that b/100 is left at d = 100.
    """

    name: str
    inputs: Inputs
    theory: float
    relative: float
    error: float
    z: float
    pace: float


def row_of(case: str, inputs: Inputs, data: Data) -> Row:
    """Extrapolated in 1/d."""
    theory = predicted_error(CASES[case])
    runs = [Observation(e.dimension, tuple(data[e.name]["test_error"]), theory) for e in experiments_of(case, inputs)]
    found: Comparison = compare("test error", runs)
    assert found.fit is not None
    above = float(found.extrapolated or 0.0) / theory - 1.0
    error, pace = found.fit.standard_error / theory, found.fit.slope / theory
    return Row(case, inputs, theory, above, error, float(found.z or 0.0), pace)


@dataclass(frozen=True)
class Mapped:
    """r, gamma and c of a network with a sparse target: measured, by Result 3.1, and with the constants of the law."""

    name: str
    measured: tuple[tuple[float, float], ...]
    usual: tuple[float, ...]
    own: tuple[float, ...]

    def largest(self, numbers: Sequence[float]) -> float:
        """The largest deviation from three numbers, in standard errors."""
        return max(abs(m - x) / e for (m, e), x in zip(self.measured, numbers, strict=True))


def mapped_of(case: str, network: Network, inputs: Inputs, data: Data) -> Mapped:
    """A network with a sparse target that is not Gaussian along its axis."""
    lines = [line_of(data, experiments_of(case, inputs), name) for name in MAP]
    model = network.model("isotropic")
    measured = tuple((line.intercept, line.standard_error) for line in lines)
    usual = (model.spike, model.alignment, model.bulk)
    return Mapped(f"{case} | {inputs.law}", measured, usual, own_map(network, inputs.law))


def own_map(network: Network, law: str) -> tuple[float, float, float]:
    """Result 3.1 with E[x g(x)] and E[g(x)^2] over the law of a coordinate in place of h1* and h2*; r, gamma, c.

    For an odd target. All other averages of the step are over dense directions and stay Gaussian.
    """
    nodes, weights = _rule(law)
    labels = np.asarray(compile_numpy(network.target.expression)(nodes))
    first, second = float(weights @ (nodes * labels)), float(weights @ labels**2) + network.noise
    (alpha0, eta), student = network.step.only, hermite_constants(network.activation)
    rate, length = eta / network.beta, float(np.sqrt(first**2 + second / alpha0))
    bulk = 1.0 + rate**2 * second / alpha0 * student.h1_check
    return rate * student.h1 * length, first / length, bulk


def _rule(law: str) -> tuple[Array, Array]:
    """Nodes and weights for averages over one coordinate; even counts, so that no node falls on a jump at 0."""
    if law == "rademacher":
        return np.array([-1.0, 1.0]), np.array([0.5, 0.5])
    share = (np.arange(200_000) + 0.5) / 200_000
    weights = np.full(len(share), 1.0 / len(share))
    if law == "uniform":
        return np.sqrt(3.0) * (2.0 * share - 1.0), weights
    from scipy.special import stdtrit

    return np.sqrt((DEGREES_OF_FREEDOM - 2) / DEGREES_OF_FREEDOM) * stdtrit(DEGREES_OF_FREEDOM, share), weights


def page(data: Data) -> Study:
    """The page from the samples."""
    rows = [row_of(case, inputs, data) for case in CASES for inputs in VARIANTS]
    mapped = [
        mapped_of(case, network, inputs, data)
        for case, network in CASES.items()
        if isinstance(network, Network)
        for inputs in VARIANTS
        if inputs.directions == "sparse"
    ]
    text = (
        "The theory assumes Gaussian inputs. Here the coordinates are independent with mean 0 and variance 1 but "
        f"uniform, +-1 (Rademacher), or Student t with {DEGREES_OF_FREEDOM} degrees of freedom, with target and spike "
        "along dense directions (uniformly random) or along axes (sparse). Spiked features and networks after a step "
        f"are measured at d = {', '.join(str(d) for d, _ in RUNS)}; the difference from the Gaussian theory is "
        "extrapolated in 1/d.",
        "Along an axis the argument of the target has the law of one coordinate at any d. In the gradient step only "
        "$h_1^*$ and $h_2^*$ depend on it. For +-1 an odd target is linear along its axis, g(x) = g(1) x, which is a "
        "different task.",
    )
    statements = (
        *(_universal(directions, [row for row in rows if row.inputs.directions == directions])
          for directions in ("dense", "sparse")),
        *map_says(mapped),
    )  # fmt: skip
    table = Table.of(
        f"Test error at infinite d, extrapolated from d = {RUNS[0][0]} to {RUNS[-1][0]}, against the Gaussian theory",
        "model | inputs | directions | Gaussian theory | measured | deviation | in standard errors | left at d = 100",
        (
            f"{row.name} | {row.inputs.law} | {row.inputs.directions if row.inputs.law != 'gaussian' else 'any'} | "
            f"{row.theory:.4f} | {estimate_text(row.theory * (1.0 + row.relative), row.theory * row.error)} | "
            f"{100 * row.relative:+.1f} % | {row.z:+.1f} | {row.pace:+.1f} %"
            for row in rows
        ),
    )
    numbers = Table.of(
        "Networks with a sparse target: (r, gamma, c) at infinite d",
        "network | inputs | measured | Result 3.1, Gaussian | with the law's own constants",
        (
            f"{one.name} | {', '.join(estimate_text(m, e) for m, e in one.measured)} | "
            f"{', '.join(f'{x:.4f}' for x in one.usual)} | {', '.join(f'{x:.4f}' for x in one.own)}"
            for one in mapped
        ),
    )
    tables = (stated(statements), table, numbers)
    return Study(SLUG, "Inputs that are not Gaussian", text, tables, (_figure(rows),), command(SLUG))


def _universal(directions: str, rows: Sequence[Row]) -> Statement:
    """Whether the law of a coordinate plays no part in the limit, and what it leaves at the least dimension."""
    others = [row for row in rows if row.inputs.law != "gaussian"]
    beyond = [row for row in others if abs(row.z) > LEVEL]
    worst, least = max(others, key=lambda row: abs(row.z)), RUNS[0][0]
    laws = dict.fromkeys(row.inputs.law for row in rows)
    paces = {law: np.mean([row.pace for row in rows if row.inputs.law == law]) for law in laws}
    left = "; ".join(f"{law} {100 * pace / least:+.1f} %" for law, pace in paces.items())
    return Statement(
        f"{directions} directions: the Gaussian theory holds", OURS, not beyond,
        f"{len(beyond)} of {len(others)} comparisons are beyond {LEVEL:g} standard errors, the furthest "
        f"{worst.z:+.1f}, {100 * worst.relative:+.1f} % ({worst.name}, {worst.inputs.law}); at d = {least} the line "
        f"leaves, on average over the models: {left}",
    )  # fmt: skip


def map_says(mapped: Sequence[Mapped]) -> list[Statement]:
    """Whether Result 3.1 holds for sparse targets, with Gaussian constants and with the law's own."""
    found = []
    for words, which in (
        ("Result 3.1 holds along an axis", "usual"),
        ("it does with E[x g(x)] and E[g(x)^2] over the law of a coordinate", "own"),
    ):
        off = [one.largest(getattr(one, which)) for one in mapped]
        fails = sum(x > LEVEL for x in off)
        numbers = f"r, gamma or c fail at {fails} of {len(off)} networks, by {max(off):.1f} standard errors at most"
        found.append(Statement(words, OURS, fails == 0, f"{numbers} (seen: none beyond {LEVEL:g})"))
    return found


def _figure(rows: Sequence[Row]) -> draw.Figure:
    """Deviation from the Gaussian theory, one line per model and law: dense left, sparse right."""
    canvas, left, right = draw.panels(2, size=(9.6, 4.6))
    for axes, directions in ((left, "dense"), (right, "sparse")):
        own = [row for row in rows if row.inputs.directions == directions]
        places = {id(row): place for place, row in enumerate(reversed(own))}
        for law, (colour, marker, _) in zip(LAWS, draw.STYLES, strict=False):
            chosen = [row for row in own if row.inputs.law == law]
            axes.errorbar(
                [100 * row.relative for row in chosen], [places[id(row)] for row in chosen],
                xerr=[200 * row.error for row in chosen], color=colour, marker=marker, ms=5, lw=0, elinewidth=1.2,
                capsize=2.5, label=law,
            )  # fmt: skip
        axes.axvline(0.0, color=draw.DARK, lw=0.8)
        axes.set_yticks(list(range(len(own)))[::-1], [row.name for row in own], fontsize=7.5)
        axes.set(xlabel="difference from Gaussian theory, %", title=f"{directions} directions")
    draw.legend_outside(canvas, left)
    caption = (
        "Test error of spiked random features and networks above the Gaussian theory, extrapolated from d = "
        f"{RUNS[0][0]} to {RUNS[-1][0]}, with two standard errors. Cases are named by student and target. Left: target "
        "and spike have random directions. Right: they point along coordinate axes."
    )
    return draw.finished(canvas, SLUG, "Test errors with inputs that are not Gaussian", caption)


STUDY = Measurement(SLUG, 71, EXPERIMENTS, page)
