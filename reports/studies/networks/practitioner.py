"""Page: what the network's own theory says to a person who trains: activation, step, and when the step hurts.

All errors are at a finite width. In the limit of infinite width even the shortest step gives the direction.
Activations are compared at equal cost: one batch, one sample, one width, and a ridge that is one share of the variance
of the activation, so that its scale does not matter; the learning rate is each one's best.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bulk.network_law import network_law
from giantsteps.numerics.bulk.resolvent import Frame, forms
from giantsteps.numerics.gaussian.coefficients import hermite_constants
from giantsteps.numerics.models.documents import WIDTH
from giantsteps.numerics.models.gradient_step import even_part
from giantsteps.numerics.models.network import Network
from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.measurements.experiments import Data, Experiment, Measured, Measurement
from giantsteps.reports.measurements.study import Study, Table, command
from giantsteps.reports.studies.networks import missed_plane
from giantsteps.reports.studies.networks.learning_rate import THEORIES, errors, vertex

SLUG = "practitioner"
ACTIVATIONS = ("relu", "gelu", "silu", "softplus", "tanh", "tanh(z) + 0.2*he(2, z)")
TARGETS = ("sin", "relu", "z + he(2, z)/2")
ALPHA0, ALPHA, BETA, NOISE = 4.0, 2.0, 1.0, 0.1
# The ridge as a share of the variance of the activation.
SHARE = 0.1
ETAS = tuple(float(f"{eta:.3g}") for eta in np.geomspace(0.1, 32.0, 14))
DIMENSION, SEEDS, MEASURED_ETAS = 400, 8, (0.5, 2.0, 8.0)


def ridge_of(name: str) -> float:
    """SHARE times the variance of sigma(z), to three digits."""
    sigma = activation(name)
    return float(f"{SHARE * (hermite_constants(sigma).h2 - even_part(sigma).mean ** 2):.3g}")


def network_of(student: str, target: str, eta: float = 1.0) -> Network:
    """The network of this page."""
    return Network(
        student, target, alpha=ALPHA, beta=BETA, ridge=ridge_of(student), alpha0=ALPHA0, eta=eta, noise=NOISE
    )  # fmt: skip


EXPERIMENTS = tuple(
    Experiment(f"{student} / {target}, eta {eta:g}", network_of(student, target, eta), DIMENSION, SEEDS)
    for target in TARGETS
    for student in ACTIVATIONS
    for eta in MEASURED_ETAS
)


@dataclass(frozen=True)
class Case:
    """One activation that learns one target: test errors of the network's own theory over ETAS, and of no step, at
    WIDTH. `shortest`: in the limit of infinite width, after the step ETAS[0]. `theory`: at the width of the measured
    networks.
    """

    student: str
    target: str
    curve: tuple[float, ...]
    plain: float
    eta: float
    least: float
    measured: tuple[Measured, ...]
    theory: dict[str, tuple[float, ...]]
    shortest: float

    @property
    def hurts_from(self) -> float:
        """The learning rate beyond the best one from which the test error is above that of no step; inf: none here."""
        after = [k for k, eta in enumerate(ETAS) if eta > self.eta and self.curve[k] > self.plain]
        if not after:
            return math.inf
        k = after[0]
        low, high = (self.eta, self.least) if k == 0 or ETAS[k - 1] < self.eta else (ETAS[k - 1], self.curve[k - 1])
        share = (self.plain - high) / (self.curve[k] - high)
        return float(low * (ETAS[k] / low) ** share)

    @property
    def rate(self) -> str:
        """The best learning rate, as text."""
        return f"{self.eta:.2g}" + (" or less" if self.eta <= ETAS[0] else "")

    @property
    def row(self) -> str:
        """Its row of the table."""
        from_ = f"{self.hurts_from:.2g}" if self.hurts_from < math.inf else f"above {ETAS[-1]:g}"
        return (
            f"{self.target} | {self.student} | {self.plain:.4f} | {self.rate} | {self.least:.4f} | "
            f"{self.least / self.plain - 1.0:+.0%} | {from_}"
        )

    def z(self, theory: str) -> list[float]:
        """Measured above a theory, in standard errors, at each measured rate."""
        return [m.z(value) for m, value in zip(self.measured, self.theory[theory], strict=True)]


def case_of(student: str, target: str, data: Data) -> Case:
    """Both theories and the measurements of one case; the best rate by a parabola in log eta, and the error there."""
    network = network_of(student, target)
    curve = errors(network, "network", ETAS, WIDTH)
    eta = min(vertex(ETAS, curve).eta, ETAS[-1])
    return Case(
        student, target, tuple(curve), errors(network, "isotropic", [0.0], WIDTH)[0], eta,
        errors(network, "network", [eta], WIDTH)[0],
        tuple(one.measured(data) for one in EXPERIMENTS if one.name.startswith(f"{student} / {target}, ")),
        {theory: tuple(errors(network, theory, MEASURED_ETAS, BETA * DIMENSION)) for theory in THEORIES},
        errors(network, "network", ETAS[:1])[0],
    )  # fmt: skip


def stretch(student: str, target: str, eta: float) -> float:
    """theta.B theta/c: how much longer the rows of the bulk are along the target than in the mean direction."""
    network = network_of(student, target, eta)
    law = network_law(network.activation, network.target, network.alpha0, eta, network.beta, network.noise)
    frame = Frame.of(np.array([[1.0, 0.0, 0.0, 0.0]]))
    # (1 - H)/g at g = 0 is B.
    found = forms(law, 0.0, frame, frame.sums @ law.labels.over(0.0, 0.0)[:, 0])
    return float(found.filled(0, 0)) / law.bulk


def page(data: Data) -> Study:
    """The page from the samples."""
    cases = tuple(case_of(student, target, data) for target in TARGETS for student in ACTIVATIONS)
    planes = [missed_plane.plane_of(student) for student in missed_plane.ACTIVATIONS]
    table = Table.of(
        f"Test errors at width {WIDTH} by the network's own theory: of plain random features, and after the best step",
        "target | activation | no step | best eta | error there | change | hurts from eta",
        (case.row for case in cases),
    )
    return Study(
        SLUG,
        "Which activation, which step",
        (*text_of(cases), missed_plane.text(planes)),
        (table, missed_plane.table(planes)),
        (_figure(cases), missed_plane.figure(planes)),
        command(SLUG),
    )


def text_of(cases: Sequence[Case]) -> tuple[str, ...]:
    """What is said of the cases."""
    return (
        "Which activation learns most from one gradient step, how large should the step be, and when is no step "
        "better? The network's own theory answers for any activation. They are compared at equal cost: alpha0 = "
        f"{ALPHA0:g} for the step, alpha = {ALPHA:g} for the readout, width beta = {BETA:g}, label noise {NOISE:g}, a "
        f"ridge of {SHARE:g} times the variance of the activation, and the best learning rate of each. "
        f"Errors are those of networks of width {WIDTH}. All neurons start with the same readout, 1/sqrt(p); "
        "readouts of both signs (--readout) make another network.",
        " ".join(_best_text(target, [case for case in cases if case.target == target]) for target in TARGETS),
        _hurt_text(cases),
        _short_text(cases),
        _even_text(),
        _measured_text(cases),
    )


def _best_text(target: str, cases: Sequence[Case]) -> str:
    order = sorted(cases, key=lambda case: case.least)
    best, last = order[0], order[-1]
    gain = max(cases, key=lambda case: 1.0 - case.least / case.plain)
    return (
        f"Learning {target}, {best.student} is best: {best.least:.3f} at eta = {best.rate}, from {best.plain:.3f} "
        f"without a step; {last.student} is last with {last.least:.3f} at its best. The step gains {gain.student} "
        f"most, {1.0 - gain.least / gain.plain:.0%} of its error."
    )


def _hurt_text(cases: Sequence[Case]) -> str:
    hurt = sorted((case for case in cases if case.hurts_from < math.inf), key=lambda case: case.hurts_from)
    if not hurt:
        return f"No step up to eta = {ETAS[-1]:g} leaves a larger error than no step."
    least = min(case.hurts_from / case.eta for case in hurt)
    worst = max(hurt, key=lambda case: case.curve[-1] / case.plain)
    listed = "; ".join(f"{case.student} / {case.target} from eta = {case.hurts_from:.2g}" for case in hurt)
    return (
        f"A step that is too long leaves more test error than plain random features: so it is for {len(hurt)} of "
        f"{len(cases)} pairs up to eta = {ETAS[-1]:g} ({listed}). The least distance between the best rate and the "
        f"harmful ones is a factor of {least:.1f}. The worst is {worst.student} learning {worst.target}: at eta = "
        f"{ETAS[-1]:g} the error is {worst.curve[-1] / worst.plain:.1f} times that of no step."
    )


def _short_text(cases: Sequence[Case]) -> str:
    short = [
        f"{case.student} / {case.target} ({case.shortest:.4f} in the limit, {case.curve[0]:.4f} at that width; there "
        f"eta = {case.rate} is best)"
        for case in cases
        if case.shortest < case.least
    ]
    if not short:
        return "No pair is better off with the shortest step in the limit of infinite width."
    return (
        "In the limit of infinite width however short a step gives the direction, since the weight that the readout "
        "puts on it is not penalised at that order; at finite width that has a price, the m^2/p of `--width`, and a "
        "step that is too short finds nothing. So the limit promises more for the shortest step than networks of "
        f"width {WIDTH} reach by their best one, here at eta = {ETAS[0]:g}: {', '.join(short)}."
    )


def _even_text() -> str:
    odd, mixed = ACTIVATIONS[-2:]
    rate = 2.0
    listed = "; ".join(
        f"learning {target} {stretch(odd, target, rate):.2f} without and {stretch(mixed, target, rate):.2f} with it"
        for target in TARGETS
    )
    return (
        "An even part of the activation multiplies the rows of the bulk by $1 + \\nu M$, with $M$ the mean of "
        "$Y x x^T$ over the batch, before the noise of the step is added. What the target has of even order makes $M$ "
        "large along it, so that the bulk is stretched there and sees the target; a target without even part leaves "
        "only the scatter of $M$. The mean square of the rows along the target over that in the mean direction, for "
        f"{odd} and {mixed} at eta = {rate:g}: {listed}."
    )


def _measured_text(cases: Sequence[Case]) -> str:
    own, other = (np.array([z for case in cases for z in case.z(theory)]) for theory in ("network", "isotropic"))
    return (
        f"Networks were simulated at {len(own)} of these points (d = {DIMENSION}, {SEEDS} seeds; nothing is "
        f"extrapolated): at their width they are {np.sqrt(np.mean(own**2)):.1f} standard errors from "
        f"the network's own theory in root mean square and {np.sqrt(np.mean(other**2)):.1f} from the isotropic one."
    )


def _figure(cases: Sequence[Case]) -> draw.Figure:
    """Test error over eta, one panel per target: lines are the network's own theory, points are networks."""
    canvas, *all_axes = draw.panels(len(TARGETS), size=(13.0, 4.0))
    for axes, target in zip(all_axes, TARGETS, strict=True):
        for style, case in enumerate(case for case in cases if case.target == target):
            draw.line(axes, ETAS, case.curve, style, ls="-", lw=1.3)
            axes.axhline(case.plain, color=draw.STYLES[style][0], lw=0.7, ls=":")
            draw.points(axes, MEASURED_ETAS, case.measured, style, case.student if target == TARGETS[0] else "")
        axes.set_xscale("log")
        axes.set_title(f"learning {target}", fontsize=9)
        axes.set_xlabel("learning rate eta")
    all_axes[0].set_ylabel("test error")
    draw.legend(all_axes[0])
    caption = (
        f"Test error over the learning rate: lines by the network's own theory at width {WIDTH}, dotted lines without "
        f"a step, points are networks at d = {DIMENSION} with {SEEDS} seeds and bars of one standard error."
    )
    return draw.finished(canvas, SLUG, "Which activation, which step", caption)


STUDY = Measurement(SLUG, 90, EXPERIMENTS, page)
