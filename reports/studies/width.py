"""Page: the test error against the width, at a fixed learning rate and at the best one; the kernel limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product

import numpy as np

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.gaussian.coefficients import conditional_coefficients, hermite_constants
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.figures.figures import Figure
from giantsteps.reports.measurements.drawing import STYLES, finished, legend, panels, points
from giantsteps.reports.measurements.experiments import Data, Experiment, Measured, studied
from giantsteps.reports.measurements.study import Study, Table, command

SLUG, SEED = "width", 76
DIMENSION, SEEDS = 400, 16
CASES: tuple[tuple[str, Network], ...] = (
    ("tanh/sin", Network(activation("tanh"), activation("sin"), 1.5, 1.0, 0.1, alpha0=4.0, eta=4.0)),
    ("erf/sign", Network(activation("erf"), activation("sign"), 2.0, 1.0, 0.1, alpha0=2.0, eta=4.0)),
)
WIDTHS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
# The rate over the width, which fixes spike, bulk and alignment whatever the width is.
RATES = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0)
CHOSEN = {"tanh/sin": 3.0, "erf/sign": 1.5}  # rates over the width at which networks are simulated


def name_of(case: str, how: str, width: float) -> str:
    """The key of one experiment."""
    return f"{case}, {how}, beta {width:g}"


EXPERIMENTS = tuple(
    Experiment(
        name_of(case, how, width),
        replace(network, beta=width, eta=network.eta if how == "fixed" else CHOSEN[case] * width),
        DIMENSION,
        SEEDS,
        stream=k,
    )
    for case, network in CASES
    for how in ("fixed", "scaled")
    for k, width in enumerate(WIDTHS)
)


@dataclass(frozen=True)
class Problem:
    """One problem of the scan: everything but the width and the learning rate."""

    student: str
    target: str
    alpha: float
    alpha0: float
    ridge: float

    @property
    def name(self) -> str:
        """A few words for the text."""
        return f"{self.student}/{self.target}, alpha = {self.alpha:g}, alpha0 = {self.alpha0:g}, ridge = {self.ridge:g}"

    def error(self, width: float, eta: float) -> float:
        """The test error by the network's paper theory (isotropic bulk)."""
        return solve(
            Model.from_gradient_step(
                activation(self.student), activation(self.target), alpha=self.alpha, beta=width, ridge=self.ridge,
                alpha0=self.alpha0, eta=eta, bulk_model="isotropic",
            )
        ).test_error  # fmt: skip


PROBLEMS = tuple(
    Problem(student, target, alpha, alpha0, ridge)
    for (student, target), alpha, alpha0, ridge in product(
        (("tanh", "sin"), ("erf", "sign"), ("atan", "tanh")), (0.5, 2.0), (1.0, 8.0), (0.001, 0.1, 1.0)
    )
)
SCAN = (0.1, 0.3, 0.6, 1.0, 2.0, 4.0, 8.0, 16.0)
FIXED = 4.0


@dataclass(frozen=True)
class Curve:
    """The error along SCAN for one problem: at the fixed rate, and at the best of RATES for every width."""

    problem: Problem
    fixed: tuple[float, ...]
    best: tuple[float, ...]


def scanned(problems: Sequence[Problem] = PROBLEMS, widths: Sequence[float] = SCAN) -> tuple[Curve, ...]:
    """Both curves of every problem; at the best rate spike, bulk and alignment are shared by all widths."""
    curves = []
    for problem in problems:
        fixed = tuple(problem.error(width, FIXED) for width in widths)
        best = tuple(min(problem.error(width, rate * width) for rate in RATES) for width in widths)
        curves.append(Curve(problem, fixed, best))
    return tuple(curves)


# A rise of less than this share is not called one.
VISIBLE = 1e-3


def rises(errors: Sequence[float]) -> list[int]:
    """The steps along the widths at which the error rises."""
    return [k for k, (narrow, wide) in enumerate(pairwise(errors)) if wide > narrow * (1.0 + VISIBLE)]


def kernel_limit(model: Model) -> float:
    """Test error of plain random features as beta -> infinity, in closed form: ridge regression on the inputs.

    (1/p) Phi Phi^T -> mu1^2 c X X^T/d + mu2^2, so that lambda' = (lambda + mu2^2)/(mu1^2 c) is the penalty of a linear
    regression; with k the positive root of k = lambda'/alpha + k/(alpha (1 + k)) and f = 1/(alpha (1 + k)^2),

        error = rest + (h1*^2 (k/(1+k))^2 + f (rest + noise))/(1 - f),   rest = h2* - h1*^2,

    the part of the target that is not linear acting as noise. An independent formula: no spike, no saddle point.
    """
    mu1, mu2 = (float(f[0]) for f in conditional_coefficients(model.activation, 0.0, model.bulk, 0.0, np.zeros(1))[1:])
    penalty = (model.ridge + mu2**2) / (mu1**2 * model.bulk * model.alpha)
    linear = penalty + 1.0 / model.alpha - 1.0
    k = 0.5 * (linear + np.sqrt(linear**2 + 4.0 * penalty))
    target, f = hermite_constants(model.target), 1.0 / (model.alpha * (1.0 + k) ** 2)
    rest = target.h2 - target.h1**2
    return float(rest + ((target.h1 * k / (1.0 + k)) ** 2 + f * (rest + model.noise)) / (1.0 - f))


def study() -> Study | None:
    """The page."""
    return studied(SLUG, EXPERIMENTS, lambda data: data, lambda data: page(data, scanned()), drawn)


def page(data: Data, curves: Sequence[Curve]) -> Study:
    """The page from samples and scan: every number in the text is computed from them."""
    fixed = [curve for curve in curves if rises(curve.fixed)]
    best = [curve for curve in curves if rises(curve.best)]
    lower = sum(curve.best[-1] < curve.best[0] for curve in curves)
    lower_fixed = sum(curve.fixed[-1] < curve.fixed[0] for curve in curves)
    z = [abs(z) for *_, z in measured_rows(data)]
    text = (
        "Appendix C.8 of the paper says that larger networks tend to achieve lower error. At a fixed learning rate eta "
        "the spike r is proportional to 1/beta, so that a wide network has next to no spike; at a rate proportional to "
        "the width, spike, bulk and alignment stay and only the number of features grows.",
        f"A scan of {len(curves)} problems (three pairs of student and target, alpha, alpha0, ridge) over widths from "
        f"{SCAN[0]:g} to {SCAN[-1]:g} decides by the paper's theory. Compared at the two ends, the wide network is "
        f"better in {lower_fixed} of {len(curves)} at the fixed rate {FIXED:g}, and in {lower} of {len(curves)} at the "
        f"best rate for each width. Step by step the error rises somewhere in {len(fixed)} of {len(curves)} at the "
        f"fixed rate and in {len(best)} of {len(curves)} at the best one. "
        + _judgement(len(fixed), len(best), lower, len(curves)),
        _counterexample("At the fixed rate", fixed, "fixed") + " " + _counterexample("At the best rate", best, "best"),
        f"Simulated networks at d = {DIMENSION} follow ({len(z)} points; the largest deviation from the network's own "
        f"theory is {max(z):.1f} standard errors, a theory at infinite dimension). " + _seen(data),
        _kernel(),
    )
    return Study(
        "width",
        "Do larger networks achieve lower error?",
        text,
        (_table(data), _kernel_table()),
        (),
        command(SLUG, "simulate"),
    )


def _judgement(fixed: int, best: int, lower: int, count: int) -> str:
    if best == 0 and fixed == 0:
        return "The statement holds throughout."
    if best == 0:
        return "The statement holds at the best rate and fails at a fixed one."
    tends = "a tendency, as the paper says" if lower > count / 2 else "not even a tendency"
    return f"At the best rate it is {tends}, and not a law."


def _counterexample(where: str, curves: Sequence[Curve], which: str) -> str:
    """The largest rise between two widths of the scan."""
    if not curves:
        return f"{where} there is no counterexample in the scan."

    def climb(curve: Curve) -> tuple[float, int, int]:
        errors = getattr(curve, which)
        pairs = [(errors[j] / errors[i], i, j) for i in range(len(errors)) for j in range(i + 1, len(errors))]
        return max(pairs)

    curve = max(curves, key=lambda one: climb(one)[0])
    _, i, j = climb(curve)
    errors = getattr(curve, which)
    return (
        f"{where} the strongest counterexample is {curve.problem.name}: {errors[i]:.4f} at beta = {SCAN[i]:g} and "
        f"{errors[j]:.4f} at beta = {SCAN[j]:g}."
    )


def measured_rows(data: Data) -> list[tuple[str, str, float, float, Measured, float]]:
    """(case, how, width, theory, measurement, deviation in standard errors) of every simulated point."""
    rows = []
    for experiment in EXPERIMENTS:
        case, how, width = experiment.name.split(", ")
        assert isinstance(experiment.subject, Network)
        theory = solve(experiment.subject.model("network")).test_error
        found = Measured.of(data[experiment.name]["test_error"])
        rows.append((case, how, float(width.split()[1]), theory, found, found.z(theory)))
    return rows


def _seen(data: Data) -> str:
    """Whether the simulations alone show a rise with the width at the fixed rate."""
    parts = []
    for case, network in CASES:
        found = [Measured.of(data[name_of(case, "fixed", width)]["test_error"]) for width in WIDTHS]
        jumps = []
        for (low, narrow), (high, wide) in pairwise(zip(WIDTHS, found, strict=True)):
            jumps.append(
                ((wide.mean - narrow.mean) / float(np.hypot(wide.error, narrow.error)), low, high, narrow, wide)
            )
        z, low, high, narrow, wide = max(jumps, key=lambda jump: jump[0])
        parts.append(
            f"{case} at eta = {network.eta:g} rises from {narrow} at beta = {low:g} to {wide} at {high:g} ({z:.1f} "
            "standard errors)"
            if z > 3.0
            else f"{case} at eta = {network.eta:g} shows no rise beyond three standard errors"
        )
    return "; ".join(parts) + "."


KERNEL = Model(activation("tanh"), activation("sin"), 1.5, 1.0, 0.1, spike=0.0, bulk=1.0, alignment=0.0)


def _kernel() -> str:
    widths = (1.0, 10.0, 100.0, 1e4)
    errors = [solve(KERNEL.changed(beta=width)).test_error for width in widths]
    limit = kernel_limit(KERNEL)
    many = [solve(KERNEL.changed(beta=1e4, alpha=alpha)).test_error for alpha in (10.0, 100.0, 1000.0)]
    target = hermite_constants(KERNEL.target)
    rest = target.h2 - target.h1**2
    return (
        "Without a step, r = 0, an infinite width is the kernel of plain random features. tanh/sin at alpha = "
        f"{KERNEL.alpha:g}: {', '.join(f'{error:.6f}' for error in errors)} at beta = "
        f"{', '.join(f'{width:g}' for width in widths)}; ridge regression on the inputs with the kernel's own penalty "
        f"gives {limit:.6f}, so the saddle point at beta = {widths[-1]:g} is {abs(errors[-1] - limit):.0e} away from "
        "it. With more samples, alpha = 10, 100, 1000, the kernel reaches "
        f"{', '.join(f'{error:.5f}' for error in many)}; the best linear predictor has $h_2^* - (h_1^*)^2$ = "
        f"{rest:.5f}, and no kernel of this kind goes below. " + _ends()
    )


def _ends() -> str:
    """Where a fixed rate ends as the width grows: at r -> 0+, which is another limit than r = 0."""
    case, network = CASES[0]
    end = solve(replace(network, beta=1e4).model("isotropic")).test_error
    limit = kernel_limit(replace(network, eta=0.0).model("isotropic"))
    return (
        f"A fixed rate does not end there: {case} at eta = {network.eta:g} has {end:.4f} at beta = 10,000 where the "
        f"kernel has {limit:.4f}. r tends to 0 but is not 0, the mean of the readout is not regularised, and the "
        "target's linear part along the spike costs nothing (in the limit of infinite dimension, taken first)."
        if abs(end - limit) > 1e-3
        else f"A fixed rate ends there: {end:.4f} beside {limit:.4f}."
    )


def _kernel_table() -> Table:
    rows = []
    for student, target, alpha, ridge in (
        ("tanh", "sin", 1.5, 0.1),
        ("relu", "tanh", 0.5, 0.01),
        ("erf", "sign", 4, 1),
    ):
        model = replace(KERNEL, activation=activation(student), target=activation(target), alpha=alpha, ridge=ridge)
        wide = solve(model.changed(beta=1e4)).test_error
        rows.append((f"{student}/{target}", f"{alpha:g}", f"{ridge:g}", f"{wide:.6f}", f"{kernel_limit(model):.6f}"))
    return Table(
        "Plain random features of infinite width: the saddle point at beta = 10,000 and ridge regression on the inputs",
        ("model", "alpha", "ridge", "saddle point", "closed form"),
        tuple(rows),
    )


def _table(data: Data) -> Table:
    return Table(
        f"Networks at d = {DIMENSION}, mean over {SEEDS}; fixed: eta as in the figure, scaled: eta proportional to "
        "beta",
        ("network", "rate", "beta", "network's own theory", "measured", "deviation, s.e."),
        tuple(
            (case, how, f"{width:g}", f"{theory:.4f}", str(found), f"{z:+.1f}")
            for case, how, width, theory, found, z in measured_rows(data)
        ),
    )


def drawn(data: Data) -> Figure:
    """Error against the width: fixed rates, the rate proportional to the width, the kernel limit."""
    canvas, all_axes = panels(len(CASES), width=10.4)
    widths = np.geomspace(0.08, 30.0, 33)
    for axes, (case, network) in zip(all_axes, CASES, strict=True):
        for style, eta in enumerate((1.0, network.eta)):
            curve = [solve(replace(network, beta=float(w), eta=eta).model("isotropic")).test_error for w in widths]
            axes.plot(
                widths, curve, color=STYLES[style][0], linestyle=STYLES[style][2], lw=1.7,
                label=rf"$\tilde\eta = {eta:g}$",
            )  # fmt: skip
        best = [
            min(
                solve(replace(network, beta=float(w), eta=rate * float(w)).model("isotropic")).test_error
                for rate in RATES
            )
            for w in widths
        ]
        axes.plot(widths, best, color=STYLES[2][0], linestyle=STYLES[2][2], lw=1.7, label=r"best $\tilde\eta$")
        limit = kernel_limit(replace(network, eta=0.0).model("isotropic"))
        axes.axhline(limit, color="#333333", lw=1.0, linestyle=":", label=r"$r = 0$, $\beta\to\infty$")
        for how, style in (("fixed", 1), ("scaled", 2)):
            found = [Measured.of(data[name_of(case, how, width)]["test_error"]) for width in WIDTHS]
            points(axes, WIDTHS, found, style)
        axes.set(xscale="log", xlabel=r"width $\beta = p/d$", title=case)
        axes.set_xticks([0.1, 1.0, 10.0], ["0.1", "1", "10"])
        legend(axes)
    all_axes[0].set_ylabel("test error")
    title = "Test error against the width"
    caption = (
        "Lines: the paper's theory at two fixed rates and at the best of a grid for every width; dotted: the kernel "
        f"limit without a step, in closed form. Points: networks at d = {DIMENSION}, mean over {SEEDS} with one "
        "standard error; squares at the larger fixed rate, triangles at a rate proportional to the width "
        f"({', '.join(f'{case}: {rate:g} beta' for case, rate in CHOSEN.items())})."
    )
    return finished(canvas, SLUG, title, caption)
