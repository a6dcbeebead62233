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
from giantsteps.reports.measurements.study import OURS, Statement, Study, Table, command, stated
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
# The step by which an even part is seen.
EVEN_ETA = 2.0


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
    setting = (
        "Which activation learns most from one gradient step, how large should the step be, and when is it better to "
        "make none? The network's own theory answers for any activation. All are compared at equal cost: alpha0 = "
        f"{ALPHA0:g} for the step, alpha = {ALPHA:g} for the readout, width beta = {BETA:g}, label noise {NOISE:g}, a "
        f"ridge of {SHARE:g} times the variance of the activation, and the best learning rate of each. "
        f"Errors are those of networks of width {WIDTH}. All neurons start with the same readout, 1/sqrt(p); "
        "results differ for readouts of both signs (--readout)."
    )
    return Study(
        SLUG,
        "Which activation, which step",
        (setting, missed_plane.text()),
        (stated(says(cases)), table, missed_plane.table(planes)),
        (_figure(cases), missed_plane.figure(planes)),
        command(SLUG),
    )


def says(cases: Sequence[Case]) -> tuple[Statement, ...]:
    """What is said of the cases."""
    hurt = [case for case in cases if case.hurts_from < math.inf]
    short = [
        f"{case.student} / {case.target} ({case.shortest:.4f} in the limit, {case.curve[0]:.4f} at that width; there "
        f"eta = {case.rate} is best)"
        for case in cases
        if case.shortest < case.least
    ]
    own, other = (np.array([z for case in cases for z in case.z(theory)]) for theory in ("network", "isotropic"))
    near, far = (float(np.sqrt(np.mean(z**2))) for z in (own, other))
    odd, mixed = ACTIVATIONS[-2:]
    stretched = {target: [stretch(one, target, EVEN_ETA) for one in (odd, mixed)] for target in TARGETS}
    listed = "; ".join(f"learning {target} {a:.2f} and {b:.2f}" for target, (a, b) in stretched.items())
    return (
        *(_gains(target, [case for case in cases if case.target == target]) for target in TARGETS),
        Statement("a step that is too long is worse than none", OURS, bool(hurt), _harm(hurt, len(cases))),
        Statement(
            "in the limit of infinite width the shortest step has a lower test error than the best step at finite "
            "width, because in the limit arbitrarily short steps find the direction", OURS, bool(short),
            "; ".join(short) or f"at no pair, for eta = {ETAS[0]:g}",
        ),
        Statement(
            "an even part of the activation stretches the bulk along the even part of the target", OURS,
            all(b > a for a, b in stretched.values()),
            f"mean square of the rows along the target over the mean of all directions, for {odd} and {mixed} at eta = "
            f"{EVEN_ETA:g}: {listed}",
        ),
        Statement(
            "networks follow their own theory, not the isotropic one", OURS, near < 2.0 < far,
            f"{near:.1f} and {far:.1f} standard errors away in root mean square at {len(own)} points (d = "
            f"{DIMENSION}, {SEEDS} seeds, nothing extrapolated; seen: below and above 2)",
        ),
    )  # fmt: skip


def _gains(target: str, cases: Sequence[Case]) -> Statement:
    best, last = (extreme(cases, key=lambda case: case.least) for extreme in (min, max))
    gain = max(cases, key=lambda case: 1.0 - case.least / case.plain)
    return Statement(
        f"learning {target}, a step lowers the test error of every activation", OURS,
        all(case.least < case.plain for case in cases),
        f"{best.student} is best: {best.least:.3f} at eta = {best.rate}, from {best.plain:.3f} without a step; "
        f"{last.student} is last with {last.least:.3f}; the step gains {gain.student} most, "
        f"{1.0 - gain.least / gain.plain:.0%} of its error",
    )  # fmt: skip


def _harm(hurt: Sequence[Case], count: int) -> str:
    """How many pairs a long step hurts, how near the best rate, and how much."""
    if not hurt:
        return f"no step up to eta = {ETAS[-1]:g} leaves a larger error than no step"
    worst = max(hurt, key=lambda case: case.curve[-1] / case.plain)
    return (
        f"this holds for {len(hurt)} of {count} pairs up to eta = {ETAS[-1]:g}; the smallest harmful rate is at least "
        f"{min(case.hurts_from / case.eta for case in hurt):.1f} times the best rate; the worst is "
        f"{worst.student} learning {worst.target}: {worst.curve[-1] / worst.plain:.1f} times the error of no step"
    )


def _figure(cases: Sequence[Case]) -> draw.Figure:
    """Test error over eta, one panel per target: lines are the network's own theory, points are networks."""
    canvas, *all_axes = draw.panels(len(TARGETS), ylabel="test error")
    for axes, target in zip(all_axes, TARGETS, strict=True):
        for style, case in enumerate(case for case in cases if case.target == target):
            draw.line(axes, ETAS, case.curve, style, ls="-", lw=1.3)
            axes.axhline(case.plain, color=draw.STYLES[style][0], lw=0.7, ls=":")
            draw.points(axes, MEASURED_ETAS, case.measured, style, case.student if target == TARGETS[0] else "")
        axes.set_xscale("log")
        axes.set_title(f"learning {target}", fontsize=9)
        axes.set_xlabel("learning rate eta")
    draw.legend(all_axes[0])
    caption = (
        f"Test error against the learning rate. Lines: the network's own theory at width {WIDTH}; dotted lines: no "
        f"step. Points: networks at d = {DIMENSION}, mean over {SEEDS} seeds with one standard error."
    )
    return draw.finished(canvas, SLUG, "Which activation, which step", caption)


STUDY = Measurement(SLUG, 90, EXPERIMENTS, page)
