"""Page: inputs whose coordinates are not Gaussian, against the Gaussian theory, for dense and for sparse targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.experiments.inputs import DEGREES_OF_FREEDOM, LAWS, Inputs
from giantsteps.numerics.gaussian.coefficients import hermite_constants
from giantsteps.numerics.gaussian.evaluate import compile_numpy
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.command_line.console import estimate_text
from giantsteps.reports.figures.figures import Figure
from giantsteps.reports.measurements.drawing import STYLES, finished, panels
from giantsteps.reports.measurements.experiments import Data, at_sizes, studied
from giantsteps.reports.measurements.study import Study, Table, command
from giantsteps.verify.checks.finite_size import Comparison, Observation, compare, fit_line

Array = NDArray[np.float64]

SLUG, SEED = "other_inputs", 71
RUNS = ((100, 96), (200, 64), (400, 36), (800, 16))
CASES: tuple[tuple[str, Model | Network], ...] = (
    (
        "features tanh/sin",
        Model(activation("tanh"), activation("sin"), 1.5, 1.0, 0.1, spike=1.0, bulk=1.0, alignment=0.8),
    ),
    (
        "features relu/sign",
        Model(activation("relu"), activation("sign"), 2.0, 0.8, 0.2, spike=1.0, bulk=1.0, alignment=0.7),
    ),
    ("network tanh/sin", Network(activation("tanh"), activation("sin"), 1.5, 1.0, 0.1, alpha0=2.0, eta=2.0)),
    ("network erf/sign", Network(activation("erf"), activation("sign"), 2.0, 1.0, 0.1, alpha0=4.0, eta=3.0)),
)
VARIANTS = tuple(Inputs(law, "dense") for law in LAWS) + tuple(Inputs(law, "sparse") for law in LAWS[1:])
MAP = ("spike", "alignment", "bulk")


def name_of(case: str, inputs: Inputs, dimension: int) -> str:
    """The key of one experiment."""
    return f"{case}, {inputs.law} {inputs.directions}, d = {dimension}"


EXPERIMENTS = tuple(
    experiment
    for case, subject in CASES
    for k, inputs in enumerate(VARIANTS)
    for experiment in at_sizes(
        RUNS,
        partial(name_of, case, inputs),
        subject,
        inputs=inputs,
        observables=("test_error", *(MAP if isinstance(subject, Network) else ())),
        stream=k,
    )
)


@dataclass(frozen=True)
class Row:
    """One model with one law of the inputs: the test error extrapolated to infinite d against the Gaussian theory."""

    case: str
    inputs: Inputs
    comparison: Comparison

    @property
    def theory(self) -> float:
        """The Gaussian theory's test error."""
        return float(self.comparison.theory or 0.0)

    @property
    def relative(self) -> float:
        """How far the extrapolated measurement is above the theory, as a share of it."""
        return float(self.comparison.extrapolated or 0.0) / self.theory - 1.0

    @property
    def error(self) -> float:
        """The standard error of that share."""
        return (self.comparison.fit.standard_error if self.comparison.fit else 0.0) / self.theory

    @property
    def z(self) -> float:
        """The deviation in standard errors, as a standard normal deviate."""
        return float(self.comparison.z or 0.0)

    @property
    def pace(self) -> float:
        """b of the line theory + e + b/d, as a share of the theory: what is left at d = 100 is b/100."""
        return (self.comparison.fit.slope if self.comparison.fit else 0.0) / self.theory


def rows_of(data: Data) -> tuple[Row, ...]:
    """Every model and law, extrapolated in 1/d."""
    rows = []
    for case, subject in CASES:
        theory = solve(_model(subject)).test_error
        for inputs in VARIANTS:
            observations = [
                Observation(d, tuple(data[name_of(case, inputs, d)]["test_error"]), theory) for d, _ in RUNS
            ]
            rows.append(Row(case, inputs, compare("test error", observations)))
    return tuple(rows)


def _model(subject: Model | Network) -> Model:
    return subject.model("network") if isinstance(subject, Network) else subject


@dataclass(frozen=True)
class Mapped:
    """r, gamma and c of a network with a sparse target: measured, by Result 3.1, and with the constants of the law."""

    case: str
    law: str
    measured: tuple[tuple[float, float], ...]
    usual: tuple[float, ...]
    own: tuple[float, ...]

    def largest(self, numbers: Sequence[float]) -> float:
        """The largest deviation from three numbers, in standard errors."""
        return max(abs(m - x) / e for (m, e), x in zip(self.measured, numbers, strict=True))


def mapped_of(data: Data) -> tuple[Mapped, ...]:
    """The networks with a sparse target that is not Gaussian along its axis."""
    found = []
    for case, subject in CASES:
        if not isinstance(subject, Network):
            continue
        model = subject.model("isotropic")
        for inputs in VARIANTS:
            if inputs.directions == "dense":
                continue
            lines = [
                fit_line(
                    [d for d, _ in RUNS], [data[name_of(case, inputs, d)][name] for d, _ in RUNS], [0.0] * len(RUNS)
                )
                for name in MAP
            ]
            found.append(
                Mapped(
                    case,
                    inputs.law,
                    tuple((line.intercept, line.standard_error) for line in lines),
                    (model.spike, model.alignment, model.bulk),
                    own_map(subject, inputs.law),
                )
            )
    return tuple(found)


def own_map(network: Network, law: str) -> tuple[float, float, float]:
    """Result 3.1 with E[x g(x)] and E[g(x)^2] over the law of a coordinate in place of h1* and h2*; r, gamma, c.

    For an odd target. All other averages of the step are over dense directions and stay Gaussian.
    """
    nodes, weights = _rule(law)
    labels = np.asarray(compile_numpy(network.target.expression)(nodes))
    first, second = float(weights @ (nodes * labels)), float(weights @ labels**2) + network.noise
    student, rate = hermite_constants(network.activation), network.eta / network.beta
    length = float(np.sqrt(first**2 + second / network.alpha0))
    bulk = 1.0 + rate**2 * second / network.alpha0 * student.h1_check
    return rate * student.h1 * length, first / length, bulk


def _rule(law: str) -> tuple[Array, Array]:
    """Nodes and weights for averages over one coordinate; even counts, so that no node falls on a jump at 0."""
    if law == "rademacher":
        return np.array([-1.0, 1.0]), np.array([0.5, 0.5])
    share = (np.arange(200_000) + 0.5) / 200_000
    if law == "uniform":
        return np.sqrt(3.0) * (2.0 * share - 1.0), np.full(len(share), 1.0 / len(share))
    from scipy.special import stdtrit

    scale = np.sqrt((DEGREES_OF_FREEDOM - 2) / DEGREES_OF_FREEDOM)
    return scale * stdtrit(DEGREES_OF_FREEDOM, share), np.full(len(share), 1.0 / len(share))


def study() -> Study | None:
    """The page."""
    return studied(
        SLUG,
        EXPERIMENTS,
        lambda data: (rows_of(data), mapped_of(data)),
        lambda found: page(*found),
        lambda found: drawn(found[0]),
    )


LEVEL = 3.5  # standard errors; 28 comparisons of a right theory go beyond it in 1.3 % of such studies


def page(rows: Sequence[Row], mapped: Sequence[Mapped]) -> Study:
    """The page from its rows: every number in the text is computed from them."""
    dense = [row for row in rows if row.inputs.directions == "dense" and row.inputs.law != "gaussian"]
    control = [row for row in rows if row.inputs.law == "gaussian"]
    sparse = [row for row in rows if row.inputs.directions == "sparse"]
    off = [row for row in sparse if abs(row.z) > LEVEL]
    worst = max(sparse, key=lambda row: abs(row.relative))
    text = (
        "The theory takes Gaussian inputs. Here the coordinates are independent with mean 0 and variance 1 but "
        f"uniform, +-1 (Rademacher), or Student t with {DEGREES_OF_FREEDOM} degrees of freedom, with target and spike "
        "along dense directions (uniformly random) or along axes (sparse). Spiked features and networks after a step, "
        f"at d = {', '.join(str(d) for d, _ in RUNS)}, the difference from the Gaussian theory extrapolated in 1/d.",
        _dense(dense, control),
        f"Sparse directions: {len(off)} of {len(sparse)} comparisons are beyond {LEVEL:g} standard errors, up to "
        f"{100 * worst.relative:+.0f} % ({worst.case}, {worst.inputs.law}). Along an axis the argument of the target "
        f"keeps the law of a coordinate, and no limit makes it Gaussian. {_spared(sparse)}",
        _map(mapped),
    )
    return Study(
        "other-inputs",
        "Inputs that are not Gaussian",
        text,
        (_table(rows), _map_table(mapped)),
        (),
        command(SLUG, "simulate"),
    )


def _dense(dense: Sequence[Row], control: Sequence[Row]) -> str:
    """Universality, if that is what the data say, and how fast."""
    beyond = [row for row in dense if abs(row.z) > LEVEL]
    largest = max(dense, key=lambda row: abs(row.z))
    size = max(abs(row.relative) + 2.0 * row.error for row in dense)
    if not beyond:
        verdict = (
            f"none of {len(dense)} comparisons is beyond {LEVEL:g} standard errors (the largest is "
            f"{abs(largest.z):.1f}, {largest.case}, {largest.inputs.law}): the difference vanishes as d grows, up to "
            f"the {100 * size:.1f} % that two standard errors leave open"
        )
    else:
        verdict = (
            f"{len(beyond)} of {len(dense)} comparisons are beyond {LEVEL:g} standard errors (the largest is "
            f"{abs(largest.z):.1f}, {largest.case}, {largest.inputs.law}, {100 * largest.relative:+.1f} %): the theory "
            "is not universal here, or d is too small for a line in 1/d"
        )
    paces = "; ".join(
        f"{law} "
        f"{100 * float(np.mean([row.pace for row in (*dense, *control) if row.inputs.law == law])) / RUNS[0][0]:+.1f} %"
        for law in LAWS
    )
    return f"Dense directions: {verdict}. At d = {RUNS[0][0]} the line leaves, on average over the models: {paces}."


def _spared(sparse: Sequence[Row]) -> str:
    inside = [f"{row.case}, {row.inputs.law}" for row in sparse if abs(row.z) <= LEVEL]
    return f"Not seen at {len(inside)} ({'; '.join(inside)})." if inside else "It is seen at all of them."


def _map(mapped: Sequence[Mapped]) -> str:
    usual = sum(one.largest(one.usual) > LEVEL for one in mapped)
    own = sum(one.largest(one.own) > LEVEL for one in mapped)
    largest = max(one.largest(one.own) for one in mapped)
    holds = "holds" if own == 0 else "does not hold everywhere"
    return (
        "How it enters: of the gradient step only $h_1^*$ and $h_2^*$ feel the axis. Result 3.1 with the Gaussian "
        f"values fails in r, gamma or c at {usual} of {len(mapped)} networks with a sparse target; with E[x g(x)] and "
        f"E[g(x)^2] over the law of a coordinate it {holds} (beyond {LEVEL:g} standard errors at {own}, largest "
        f"{largest:.1f}). For +-1 an odd target is linear along its axis, g(x) = g(1) x, and the task another one."
    )


def _table(rows: Sequence[Row]) -> Table:
    return Table(
        f"Test error at infinite d, extrapolated from d = {RUNS[0][0]} to {RUNS[-1][0]}, against the Gaussian theory",
        (
            "model",
            "inputs",
            "directions",
            "Gaussian theory",
            "measured",
            "deviation",
            "in standard errors",
            "left at d = 100",
        ),
        tuple(
            (
                row.case,
                row.inputs.law,
                row.inputs.directions if row.inputs.law != "gaussian" else "any",
                f"{row.theory:.4f}",
                estimate_text(row.theory * (1.0 + row.relative), row.theory * row.error),
                f"{100 * row.relative:+.1f} %",
                f"{row.z:+.1f}",
                f"{row.pace:+.1f} %",
            )
            for row in rows
        ),
    )


def _map_table(mapped: Sequence[Mapped]) -> Table:
    return Table(
        "Networks with a sparse target: (r, gamma, c) at infinite d",
        ("network", "inputs", "measured", "Result 3.1, Gaussian", "with the law's own constants"),
        tuple(
            (
                one.case,
                one.law,
                ", ".join(estimate_text(m, e) for m, e in one.measured),
                ", ".join(f"{x:.4f}" for x in one.usual),
                ", ".join(f"{x:.4f}" for x in one.own),
            )
            for one in mapped
        ),
    )


def drawn(rows: Sequence[Row]) -> Figure:
    """Deviation from the Gaussian theory, one line per model and law: dense left, sparse right."""
    canvas, (left, right) = panels(2, width=9.6, height=4.6)
    for axes, directions, title in ((left, "dense", "dense directions"), (right, "sparse", "sparse directions")):
        own = [row for row in rows if row.inputs.directions == directions]
        places = list(range(len(own)))[::-1]
        for style, law in enumerate(LAWS):
            chosen = [(place, row) for place, row in zip(places, own, strict=True) if row.inputs.law == law]
            axes.errorbar(
                [100 * row.relative for _, row in chosen],
                [place for place, _ in chosen],
                xerr=[200 * row.error for _, row in chosen],
                color=STYLES[style][0], marker=STYLES[style][1], ms=5, lw=0, elinewidth=1.2, capsize=2.5,
                label=law,
            )  # fmt: skip
        axes.axvline(0.0, color="#333333", lw=0.8)
        axes.set_yticks(places, [row.case for row in own], fontsize=7.5)
        axes.set(xlabel="measurement above the Gaussian theory, per cent", title=title)
    canvas.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    title = "Test errors with inputs that are not Gaussian"
    caption = (
        "Spiked random features and networks named by student and target; test error extrapolated from d = "
        f"{RUNS[0][0]} to {RUNS[-1][0]}, above the Gaussian theory, bars of two standard errors. Left: target and "
        "spike along random directions. Right: along axes."
    )
    return finished(canvas, SLUG, title, caption)
