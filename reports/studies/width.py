"""Page: the test error against the width, at a fixed learning rate and at the best one; the kernel limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, product

import numpy as np

from giantsteps.numerics.gaussian.coefficients import conditional_coefficients, hermite_constants
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.measurements.experiments import Data, Experiment, Measured, Measurement, predicted_error
from giantsteps.reports.measurements.study import OURS, Statement, Study, Table, command, stated

SLUG = "width"
DIMENSION, SEEDS = 400, 16
CASES: dict[str, Network] = {
    "tanh/sin": Network("tanh", "sin", 1.5, 1.0, 0.1, alpha0=4.0, eta=4.0),
    "erf/sign": Network("erf", "sign", 2.0, 1.0, 0.1, alpha0=2.0, eta=4.0),
}
WIDTHS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
# The rate over the width, which fixes spike, bulk and alignment whatever the width is.
RATES = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0)
CHOSEN = {"tanh/sin": 3.0, "erf/sign": 1.5}  # rates over the width at which networks are simulated
EXPERIMENTS = tuple(
    Experiment(
        f"{case}, {how}, beta {width:g}",
        replace(network, beta=width, eta=network.eta if how == "fixed" else CHOSEN[case] * width),
        DIMENSION, SEEDS, stream=k,
    )
    for case, network in CASES.items() for how in ("fixed", "scaled") for k, width in enumerate(WIDTHS)
)  # fmt: skip
# Student and target; alpha, alpha0 and ridge of the scan, its widths and the fixed rate.
PROBLEMS = tuple(
    product(
        (("tanh", "sin"), ("erf", "sign"), ("atan", "tanh")), product((0.5, 2.0), (1.0, 8.0), (0.001, 0.1, 1.0))
    )
)  # fmt: skip
SCAN = (0.1, 0.3, 0.6, 1.0, 2.0, 4.0, 8.0, 16.0)
FIXED = 4.0
# A rise of less than this share is not called one.
VISIBLE = 1e-3
KERNEL = Model("tanh", "sin", 1.5, 1.0, 0.1, spike=0.0, bulk=1.0, alignment=0.0)


@dataclass(frozen=True)
class Curve:
    """The error along SCAN for one problem: at the fixed rate, and at the best of RATES for every width."""

    name: str
    fixed: tuple[float, ...]
    best: tuple[float, ...]


def at_rate(network: Network, width: float, eta: float) -> float:
    """The test error of the paper's theory (isotropic bulk)."""
    return predicted_error(replace(network, beta=width, eta=eta), "isotropic")


def best_over_rates(network: Network, width: float) -> float:
    """The least error over RATES; spike, bulk and alignment are shared by all widths."""
    return min(at_rate(network, width, rate * width) for rate in RATES)


def scanned() -> tuple[Curve, ...]:
    """Both curves of every problem."""
    curves = []
    for (student, target), (alpha, alpha0, ridge) in PROBLEMS:
        network = Network(student, target, alpha, 1.0, ridge, alpha0=alpha0, eta=FIXED)
        name = f"{student}/{target}, alpha = {alpha:g}, alpha0 = {alpha0:g}, ridge = {ridge:g}"
        fixed = tuple(at_rate(network, width, FIXED) for width in SCAN)
        curves.append(Curve(name, fixed, tuple(best_over_rates(network, width) for width in SCAN)))
    return tuple(curves)


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


def page(data: Data, curves: Sequence[Curve] = ()) -> Study:
    """The page from samples and scan."""
    curves = curves or scanned()
    count = len(curves)
    rows = []
    for one in EXPERIMENTS:
        theory, m = predicted_error(one.subject), one.measured(data)
        rows.append((one.name.replace(", ", " | ").replace("beta ", ""), theory, m, m.z(theory)))
    text = (
        "Appendix C.8 of the paper says that larger networks tend to achieve lower error. At a fixed learning rate eta "
        "the spike r is proportional to 1/beta, so that a wide network has next to no spike; at a rate proportional to "
        "the width, spike, bulk and alignment stay and only the number of features grows.",
        f"A scan of {count} problems (three pairs of student and target, alpha, alpha0, ridge) over widths from "
        f"{SCAN[0]:g} to {SCAN[-1]:g} decides by the paper's theory; networks at d = {DIMENSION} stand beside their "
        "own theory. Without a step, r = 0, an infinite width is the kernel of plain random features, ridge regression "
        "on the inputs with a penalty of its own, in closed form.",
    )
    statements = (
        *(_tends(which, curves) for which in ("fixed", "best")),
        Statement(
            "networks follow their own theory", OURS, max(abs(z) for *_, z in rows) < 4.0,
            f"the largest of {len(rows)} deviations is {max(abs(z) for *_, z in rows):.1f} standard errors, from a "
            "theory at infinite dimension (seen: below 4)",
        ),
        *(_shown(case, data) for case in CASES),
        *_kernel(),
    )  # fmt: skip
    table = Table.of(
        f"Networks at d = {DIMENSION}, mean over {SEEDS}; fixed: eta as in the figure, scaled: eta proportional to "
        "beta",
        "network | rate | beta | network's own theory | measured | deviation, s.e.",
        (f"{name} | {theory:.4f} | {m} | {z:+.1f}" for name, theory, m, z in rows),
    )
    title = "Do larger networks achieve lower error?"
    return Study(SLUG, title, text, (stated(statements), table, _kernel_table()), (_figure(data),), command(SLUG))


def _tends(which: str, curves: Sequence[Curve]) -> Statement:
    """Whether the error is lower at the end of the widths in most problems; the largest rise between two widths."""
    errors = {curve.name: getattr(curve, which) for curve in curves}
    lower, risen = sum(one[-1] < one[0] for one in errors.values()), [name for name in errors if rises(errors[name])]
    found = f"the widest is better than the narrowest in {lower} of {len(curves)}; somewhere it rises in {len(risen)}"
    if risen:
        pairs = ((name, i, j) for name in risen for i, j in combinations(range(len(SCAN)), 2))
        name, i, j = max(pairs, key=lambda one: errors[one[0]][one[2]] / errors[one[0]][one[1]])
        low, high = errors[name][i], errors[name][j]
        found += f", most from {low:.4f} at beta = {SCAN[i]:g} to {high:.4f} at {SCAN[j]:g} ({name})"
    rate = f"the fixed rate {FIXED:g}" if which == "fixed" else "the best rate for each width"
    says = f"larger networks tend to achieve lower error, at {rate}"
    return Statement(says, "Appendix C.8", 2 * lower > len(curves), found)


def _measured(data: Data, case: str, how: str) -> list[Measured]:
    return [one.measured(data) for one in EXPERIMENTS if one.name.startswith(f"{case}, {how}")]


def _shown(case: str, data: Data) -> Statement:
    """Whether the simulations alone show a rise with the width at the fixed rate."""
    found = pairwise(zip(WIDTHS, _measured(data, case, "fixed"), strict=True))
    z, low, high, narrow, wide = max(
        (((b.mean - a.mean) / float(np.hypot(b.error, a.error)), low, high, a, b) for (low, a), (high, b) in found),
        key=lambda jump: jump[0],
    )
    return Statement(
        f"{case} at eta = {CASES[case].eta:g} wide networks err more", OURS, z > 3.0,
        f"{narrow} at beta = {low:g} and {wide} at {high:g} are {z:.1f} standard errors apart (seen: more than 3)",
    )  # fmt: skip


def _kernel() -> tuple[Statement, ...]:
    """The limits of infinite width: without a step, with many samples, and at a fixed rate, which tends to r -> 0+."""
    widths, alphas = (1.0, 10.0, 100.0, 1e4), (10.0, 100.0, 1000.0)
    errors = [solve(KERNEL.changed(beta=width)).test_error for width in widths]
    many = [solve(KERNEL.changed(beta=1e4, alpha=alpha)).test_error for alpha in alphas]
    limit, target = kernel_limit(KERNEL), hermite_constants(KERNEL.target)
    linear = target.h2 - target.h1**2
    case, network = next(iter(CASES.items()))
    end = at_rate(network, 1e4, network.step.only.eta)
    other = kernel_limit(replace(network, eta=0.0).model("isotropic"))
    return (
        Statement(
            "without a step an infinite width is the kernel", OURS, abs(errors[-1] - limit) < 1e-4 * limit,
            f"tanh/sin at alpha = {KERNEL.alpha:g}: {', '.join(f'{error:.6f}' for error in errors)} at beta = "
            f"{', '.join(f'{width:g}' for width in widths)}; the closed form is {limit:.6f}",
        ),
        Statement(
            "no kernel of this kind is below the best linear predictor", "Section 4.1", min(many) > linear,
            f"{', '.join(f'{error:.5f}' for error in many)} at alpha = {', '.join(f'{a:g}' for a in alphas)}, beside "
            f"$h_2^* - (h_1^*)^2$ = {linear:.5f}",
        ),
        Statement(
            "a fixed rate does not end at the kernel: r tends to 0 but is not 0, the mean of the readout is not "
            "regularised, and the target's linear part along the spike costs nothing", OURS, abs(end - other) > 1e-3,
            f"{case} at eta = {network.step.only.eta:g} has {end:.4f} at beta = 10,000, the kernel {other:.4f}",
        ),
    )  # fmt: skip


def _kernel_table() -> Table:
    rows = []
    for student, target, alpha, ridge in (
        ("tanh", "sin", 1.5, 0.1),
        ("relu", "tanh", 0.5, 0.01),
        ("erf", "sign", 4, 1),
    ):
        model = Model(student, target, alpha, 1e4, ridge, spike=0.0, bulk=1.0, alignment=0.0)
        error, limit = solve(model).test_error, kernel_limit(model)
        rows.append(f"{student}/{target} | {alpha:g} | {ridge:g} | {error:.6f} | {limit:.6f}")
    return Table.of(
        "Plain random features of infinite width: the saddle point at beta = 10,000 and ridge regression on the inputs",
        "model | alpha | ridge | saddle point | closed form",
        rows,
    )


def _figure(data: Data) -> draw.Figure:
    """Error against the width: fixed rates, the rate proportional to the width, the kernel limit."""
    canvas, *all_axes = draw.panels(len(CASES), ylabel="test error")
    widths = [float(width) for width in np.geomspace(0.08, 30.0, 33)]
    for axes, (case, network) in zip(all_axes, CASES.items(), strict=True):
        for style, eta in enumerate((1.0, network.step.only.eta)):
            draw.line(axes, widths, [at_rate(network, w, eta) for w in widths], style, rf"$\tilde\eta = {eta:g}$")
        draw.line(axes, widths, [best_over_rates(network, w) for w in widths], 2, r"best $\tilde\eta$")
        limit = kernel_limit(replace(network, eta=0.0).model("isotropic"))
        axes.axhline(limit, color=draw.DARK, lw=1.0, linestyle=":", label=r"$r = 0$, $\beta\to\infty$")
        for how, style in (("fixed", 1), ("scaled", 2)):
            draw.points(axes, WIDTHS, _measured(data, case, how), style)
        axes.set(xscale="log", xlabel=r"width $\beta = p/d$", title=case)
        draw.ticks(axes, (0.1, 1.0, 10.0))
        draw.legend(axes)
    caption = (
        "Lines: the paper's theory at two fixed learning rates and at the best rate of a grid for each width. Dotted: "
        f"kernel limit without a step, in closed form. Points: networks at d = {DIMENSION}, mean over {SEEDS} with one "
        "standard error; squares at the larger fixed rate, triangles at a rate proportional to the width "
        f"({', '.join(f'{case}: {rate:g} beta' for case, rate in CHOSEN.items())})."
    )
    return draw.finished(canvas, SLUG, "Test error against the width", caption)


STUDY = Measurement(SLUG, 76, EXPERIMENTS, page)
