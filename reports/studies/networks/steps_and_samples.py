"""Page: one long or several short gradient steps: their test errors, their limits, and where they diverge.

Theory alone. A fixed number of samples is split over T fresh batches, at the constant rate of least test error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.gaussian.coefficients import hermite_constants
from giantsteps.numerics.gradient_steps.batches import State, batch
from giantsteps.numerics.gradient_steps.recursion import Step, critical_rate, states
from giantsteps.numerics.models.network import Network
from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.measurements.experiments import predicted_error
from giantsteps.reports.measurements.study import OURS, Statement, Study, Table, stated

SLUG = "steps_and_samples"
STEPS, OWN_STEPS = (1, 2, 3, 4, 5), (1, 2, 4)
ETAS = (0.4, 8.0)  # on a grid of 25 rates no network here has a second minimum between these
# Networks with the samples of all their steps, over d, and whether splitting these is said to pay.
CASES: dict[str, tuple[Network, bool]] = {
    "tanh/sin": (Network("tanh", "sin", 1.5, 1.0, 0.1, alpha0=4.0, eta=1.0), True),
    "erf/sign": (Network("erf", "sign", 2.0, 1.0, 0.1, alpha0=8.0, eta=1.0), True),
    "relu/tanh": (Network("relu", "tanh", 1.5, 1.0, 0.1, alpha0=4.0, eta=1.0), False),
    "tanh/tanh, noise 0.5": (Network("tanh", "tanh", 1.5, 1.0, 0.1, alpha0=4.0, eta=1.0, noise=0.5), False),
}
# Pairs whose many steps are followed, for this much rate times steps; the first target is in the family of its student.
FOLLOWED, TIME = (("erf", "erf"), ("erf", "sin"), ("relu", "tanh")), 50.0
# Batches so large that they bring no noise in double precision, and rates on them; rates on batches of FINITE.
INFINITE, SMALL, FINITE, RATES = 1e20, (0.4, 0.2), 2.0, (1.0, 0.5)
# The growth of a spike is seen this far below and above the critical rate, in the last of so many steps.
GROWING, BOUNDED, BATCHES, NEAR, MANY = ("relu", "gelu", "softplus", "z"), ("tanh", "erf"), (0.5, 2.0, 8.0), 0.2, 20
# Pairs whose batch is used twice. The last target has no slope on average: E[g'] = 0.
REUSED = (("tanh", "sin"), ("softplus", "sin"), ("softplus", "he(2, z) + he(3, z)/4"))


@dataclass(frozen=True)
class Split:
    """One case in T steps: the best rate, and there the test errors by both bulks; own is nan where not computed."""

    steps: int
    eta: float
    isotropic: float
    own: float = math.nan


Splits = Mapping[str, Sequence[Split]]
Grown = Mapping[str, tuple[float, float]]  # below and above the critical rate
Pairs = Mapping[str, tuple[State, State]]  # on fresh batches and on one batch


@dataclass(frozen=True)
class Followed:
    """Where many steps of one student end. A misfit is E(y - mu0(kappa))^2/E[g^2].

    best: r, c and misfit of the best approximation mu0(theta.x; r, c). flow: the ends at rates SMALL on infinite
    batches, misfit that of the last. finite: the ends at RATES on batches of FINITE.
    """

    pair: str
    best: tuple[float, float, float]
    flow: tuple[State, ...]
    misfit: float
    finite: tuple[State, ...]


def split_of(once: Network, steps: int) -> Split:
    """The samples of a network with one step in so many steps."""
    from scipy.optimize import minimize_scalar

    network = replace(once, alpha0=once.step.only.alpha0 / steps, steps=steps)
    # The error is flat there: two per cent of eta move it by less than 2e-4 of itself.
    found = minimize_scalar(
        lambda x: predicted_error(replace(network, eta=math.exp(x)), "isotropic"),
        bounds=tuple(map(math.log, ETAS)), method="bounded", options={"xatol": 0.02},
    )  # fmt: skip
    best = replace(network, eta=float(f"{math.exp(found.x):.3g}"))
    own = predicted_error(best) if steps in OWN_STEPS else math.nan
    return Split(steps, best.step.schedule[0].eta, predicted_error(best, "isotropic"), own)


def followed(student: str, target: str) -> Followed:
    """Many steps, and the best approximation of the target by mu0(.; r, c), searched from where they lead."""
    from scipy.optimize import minimize

    sigma, g = activation(student), activation(target)

    def misfit(state: State) -> float:
        seen = batch(sigma, g, state, 0.0)
        return float(seen.weights @ seen.residual_square) / hermite_constants(g).h2

    def end(alpha0: float, rate: float) -> State:
        return states(sigma, g, (Step(alpha0, rate),) * round(TIME / rate), 1.0)[-1].state

    flow = tuple(end(INFINITE, rate) for rate in SMALL)
    start = (flow[-1].spike, math.sqrt(flow[-1].bulk))
    # Over r and sqrt(c). Of many that are as good (of erf students) the nearest, to three digits.
    found = minimize(
        lambda x: misfit(State(x[0], 1.0, x[1] ** 2 + 1e-10)) + 1e-6 * math.dist(x, start) ** 2, start,
        method="Nelder-Mead", options={"xatol": 1e-4, "fatol": 1e-11},
    )  # fmt: skip
    best = (float(found.x[0]), float(found.x[1] ** 2), float(found.fun))
    return Followed(f"{student}/{target}", best, flow, misfit(flow[-1]), tuple(end(FINITE, rate) for rate in RATES))


def critical(student: str, alpha0: float = BATCHES[1]) -> float:
    """The critical rate; infinite for bounded activations."""
    return critical_rate(activation(student), alpha0) or math.nan


def growth_of(student: str, share: float) -> float:
    """r'/r in the last of MANY steps, learning tanh, so much above the critical rate at BATCHES[1]."""
    step = Step(BATCHES[1], (1.0 + share) * critical(student))
    return states(activation(student), activation("tanh"), (step,) * MANY, 1.0)[-1].growth


def reused_of(student: str, target: str) -> tuple[State, State]:
    """The states after two steps at alpha0 = eta = 2 and beta = 1: on fresh batches, and on one batch."""
    network = Network(student, target, 1.5, 1.0, 0.1, alpha0=2.0, eta=2.0, steps=2)
    fresh, same = (replace(network, same_batch=same).model("isotropic") for same in (False, True))
    return State(fresh.spike, fresh.alignment, fresh.bulk), State(same.spike, same.alignment, same.bulk)


def study() -> Study:
    """The page."""
    split = {case: [split_of(network, steps) for steps in STEPS] for case, (network, _) in CASES.items()}
    grown = {student: (growth_of(student, -NEAR), growth_of(student, NEAR)) for student in GROWING}
    reused = {f"{student} / {target}": reused_of(student, target) for student, target in REUSED}
    return page(split, [followed(*pair) for pair in FOLLOWED], grown, reused)


def page(split: Splits, ends: Sequence[Followed], grown: Grown, reused: Pairs) -> Study:
    """The page from its numbers."""
    text = (
        "Is one long step on all samples better, or several short ones? Each row of the first table splits the same "
        "number of samples into T fresh batches, with one rate for all steps: the best by the isotropic bulk. The "
        "readout is fitted afterwards, on fresh samples. Nothing here is simulated.",
        "Several steps descend on the misfit of the best approximation by mu0(kappa; r, c), the output of a network "
        f"with spike r and bulk c. The second table shows where they end after {TIME:g}/eta steps (beta = 1).",
    )
    statements = *(_pays(*one) for one in split.items()), _agree(split), *_ends(ends), _blows_up(grown), *_reuse(reused)
    tables = (stated(statements), _splits(split), _ends_table(ends), _rates(), _reused_table(reused))
    return Study(SLUG, "Several gradient steps on the samples of one", text, tables, (_figure(split),))


def _pays(case: str, found: Sequence[Split]) -> Statement:
    """Whether splitting pays in a case, as said."""
    values = [one.isotropic for one in found]
    says, seen = "one long step is better than two to five", values[0] < min(values[1:])
    if CASES[case][1]:
        says, seen = "every further step lowers the test error", all(x > y for x, y in pairwise(values))
    return Statement(f"{case}: {says}", OURS, seen, f"{', '.join(f'{one:.4f}' for one in values)}, isotropic bulk")


def _agree(split: Splits) -> Statement:
    pairs = [(one, found[0]) for found in split.values() for one in found[1:] if one.steps in OWN_STEPS]
    same = sum((x.own - y.own) * (x.isotropic - y.isotropic) > 0.0 for x, y in pairs)
    return Statement(
        "the network's own bulk and the isotropic bulk agree whether splitting pays", OURS, same == len(pairs),
        f"they do at {same} of {len(pairs)} comparisons with one step (T = {', '.join(map(str, OWN_STEPS[1:]))})",
    )  # fmt: skip


def _ends(ends: Sequence[Followed]) -> tuple[Statement, ...]:
    from scipy.special import lambertw

    perfect, *others = ends
    # The end moves in proportion to the rate, which is halved.
    limit, exact = 2.0 * perfect.flow[1].bulk - perfect.flow[0].bulk, float(lambertw(6.0).real) / 6.0
    gap = max(one.misfit - one.best[2] for one in ends)
    (reached, _), *floors = ([1.0 - state.alignment for state in one.finite] for one in ends)
    listed = "; ".join(f"{one.pair} {x:.1g} and {y:.1g}" for one, (x, y) in zip(others, floors, strict=True))
    return (
        Statement(
            "many small steps on infinite batches reach the best approximation of the family", OURS, gap < 0.001,
            f"their misfit is above it by {gap:.4f} of E[g^2] at most (seen: below 0.001)",
        ),
        Statement(
            f"{perfect.pair} ends at c = W(6)/6, W being Lambert's function", OURS, abs(limit - exact) < 0.002,
            f"c = {limit:.4f} at rate zero by a line through both rates; W(6)/6 = {exact:.4f} (seen: within 0.002)",
        ),
        Statement(
            "on finite batches the alignment tends to 1 where the target is in the family; a misfit keeps a floor, "
            "lower at a smaller rate", OURS, reached < 1e-6 and all(long > short > 1e-6 for long, short in floors),
            f"1 - alignment at eta = {RATES[0]:g} and {RATES[1]:g}: {listed}; {perfect.pair} at most "
            f"{max(reached, 1e-6):.1g} (seen: above 1e-6, and up to it)",
        ),
    )  # fmt: skip


def _blows_up(grown: Grown) -> Statement:
    calm, least = max(one for one, _ in grown.values()), min(one for _, one in grown.values())
    bounded = all(critical(name) == math.inf for name in BOUNDED)
    return Statement(
        f"above the critical rate spikes grow without end; {' and '.join(BOUNDED)} have no such rate", OURS,
        bounded and calm < 1.001 and least > 1.01,
        f"the last of {MANY} steps multiplies the spike by at least {least:.2f} at a rate {NEAR:.0%} above it, by at "
        f"most {calm:.4f} at {NEAR:.0%} below (seen: above 1.01 and below 1.001)",
    )  # fmt: skip


def _reuse(reused: Pairs) -> tuple[Statement, ...]:
    *usual, (last, (fresh, same)) = reused.items()
    listed = "; ".join(f"{pair} {two.alignment:.3f} and {one.alignment:.3f}" for pair, (one, two) in usual)
    return (
        Statement(
            "a second step on the same batch aligns less than one on a fresh batch", OURS,
            all(two.alignment < one.alignment for _, (one, two) in usual), f"alignment {listed}",
        ),
        Statement(
            "where the target has no slope on average only a reused batch starts an alignment", OURS,
            abs(same.alignment) > 0.01 and fresh.alignment == 0.0,
            f"{last}: {same.alignment:.3f}, and {fresh.alignment:g} on fresh batches (seen: beyond 0.01, and zero)",
        ),
    )  # fmt: skip


def _splits(split: Splits) -> Table:
    return Table.of(
        "Test error after T steps at a fixed number of samples of all steps together (beta = 1, ridge 0.1)",
        "network | total alpha0 | alpha | T | best eta | isotropic bulk | own bulk",
        (
            f"{case} | {CASES[case][0].alpha0:g} | {CASES[case][0].alpha:g} | {one.steps} | {one.eta:g} | "
            f"{one.isotropic:.4f} | {f'{one.own:.4f}' if one.steps in OWN_STEPS else ''}"
            for case in split
            for one in split[case]
        ),
    )


def _ends_table(ends: Sequence[Followed]) -> Table:
    return Table.of(
        "The best approximation in the family, and spike, alignment, bulk where many steps end. Misfits are shares of "
        "E[g^2]. Of an erf student only r^2/(1 + 2c) matters: best is the nearest",
        f"student/target | best r, c | its misfit | eta = {SMALL[-1]:g}, infinite batches | "
        f"{' | '.join(f'eta = {rate:g}, alpha0 = {FINITE:g}' for rate in RATES)} | misfit, infinite batches",
        (
            f"{one.pair} | {one.best[0]:.3f}, {one.best[1]:.3f} | {one.best[2]:.4f} | "
            + " | ".join(f"{r:.3f}, {gamma:.4f}, {c:.3f}" for r, gamma, c in (one.flow[-1], *one.finite))
            + f" | {one.misfit:.4f}"
            for one in ends
        ),
    )


def _rates() -> Table:
    return Table.of(
        "Critical rates eta/beta. Rates above them let the spike grow without end; bounded activations have none",
        f"student | {' | '.join(f'alpha0 = {one:g}' for one in BATCHES)} | infinite batches",
        (f"{name} | {' | '.join(f'{critical(name, one):.4g}' for one in (*BATCHES, INFINITE))}" for name in GROWING),
    )


def _reused_table(reused: Pairs) -> Table:
    return Table.of(
        "Two steps at alpha0 = eta = 2, beta = 1: fresh batches, and one batch used twice",
        "student / target | spike, fresh | reused | alignment, fresh | reused | bulk, fresh | reused",
        (f"{k} | {' | '.join(f'{x:.4f} | {y:.4f}' for x, y in zip(*v, strict=True))}" for k, v in reused.items()),
    )


def _figure(split: Splits) -> draw.Figure:
    canvas, *all_axes = draw.panels(len(split), ylabel="test error")
    for axes, (case, found) in zip(all_axes, split.items(), strict=True):
        draw.line(axes, STEPS, [one.isotropic for one in found], 0, "isotropic bulk", marker="o", ms=4.5)
        draw.line(axes, OWN_STEPS, [found[T - 1].own for T in OWN_STEPS], 1, "own bulk", marker="s", ms=4.5)
        axes.set(xlabel="number of steps T", title=case)
        draw.ticks(axes, STEPS)
    draw.legend_outside(canvas, all_axes[0])
    caption = (
        "Test error after T steps on a fixed number of samples. The learning rate is the best one for the isotropic "
        "bulk. Solid: theory of the isotropic bulk. Dashed: theory of the network's own bulk."
    )
    return draw.finished(canvas, SLUG, "One long step or several short ones", caption)
