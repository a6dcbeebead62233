"""Every extension of the theory beside its own simulation, and whether the deviates look as those of a right theory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from giantsteps.reports.figures import canvas
from giantsteps.reports.measurements import close_basins, learned_basins, measured_networks, network_trial
from giantsteps.reports.measurements.experiments import read
from giantsteps.reports.measurements.models import DATA, ITEMS, LANDMARK, LANDMARK_RUN, MODELS, RUNS, Drawn, Item
from giantsteps.reports.measurements.normal_deviates import (
    LEVEL,
    deviates,
    extreme,
    look_normal,
    normality,
    spread,
    squares,
)
from giantsteps.reports.measurements.study import OURS, Statement, Study, Table, stated
from giantsteps.reports.measurements.theory import landmark
from giantsteps.verify.checks.finite_size import CONFIRMED, INCONCLUSIVE, REFUTED, Report, normal_deviate

Array = NDArray[np.float64]

SLUG = "calibration"
COMMAND = "python -m benchmarks.networks calibration simulate --workers 2"
# Observables whose deviates are counted apart; those of one model depend on each other.
SHOWN = (
    "test_error", "training_error", "m", "zeta", "psi", "q2", "mean_squared_error", "classification_error", "energy",
    "energy_gap", "bias", "chi",
)  # fmt: skip
_VERDICTS = (CONFIRMED, INCONCLUSIVE, REFUTED)


@dataclass(frozen=True)
class Judged:
    """One model of one item with what the protocol said of it."""

    item: Item
    drawn: Drawn
    report: Report


def study() -> Study | None:
    """The page; None where the measurements are not installed."""
    if not DATA.is_file():
        return None
    data, basins = read(DATA), read(learned_basins.DATA)
    judged = [Judged(*found) for found in learned_basins.judged(data, basins)]
    if not judged:
        return None
    found = deviates([j.report.comparisons for j in judged])
    networks = _network_deviates()
    tests = np.array(found["test_error"] + networks)
    dimensions, seeds = (", ".join(map(str, column)) for column in zip(*RUNS, strict=True))
    text = (
        f"Each extension of the theory was simulated on {MODELS} models of its own that were drawn, not chosen: "
        "activation, target, ratios, ridge and the rest come from one seeded generator, drawn once before anything was "
        f"simulated. Every model was measured at d = {dimensions} with {seeds} independent seeds{_more(judged)}, and "
        "the deviation from the theory at the realised ratios was extrapolated in 1/d by the protocol of `giantsteps "
        "compare`. Where a theory is right each deviate $z$ is standard normal, and a model is REFUTED with "
        "probability 1e-3 at most, all its observables together.",
        _rules([j.item for j in judged]),
        *([close_basins.RULE] if basins else []),
        "Readouts with another loss are minima found by SciPy's L-BFGS-B, over the readout for the logistic loss and "
        "over the forces of the dual problem for the others; each comes with a duality gap, under 1e-7 of the energy, "
        "as certificate. A learned bias is learned by every experiment on its own training set. The theory of what is "
        "slow to solve (other losses, two directions) is stored beside the samples; a test solves it again.",
    )
    statements = (
        _verdicts(judged), *close_basins.says(data, basins), _normal(tests, len(networks)), _counted_apart(judged),
        *_others(judged, found),
    )  # fmt: skip
    tables = (
        *(stated(statements), _items_table(judged), _observables_table(found, networks), _models_table(judged)),
        *(*close_basins.tables(basins), *_landmark_table(data)),
    )
    return Study(SLUG, "Is the theory calibrated?", text, tables, (_figure(tests, found),), COMMAND)


def _network_deviates() -> list[float]:
    """The test errors of the trained networks, measured and judged elsewhere, beside their own theory."""
    return [row.z("network") for row in network_trial.judged(read(measured_networks.DATA))]


def _more(judged: Sequence[Judged]) -> str:
    """Which items have more seeds than the others, and why."""
    items = {j.item.key: j.item for j in judged if j.item.times > 1 and j.item in ITEMS}
    listed = ", ".join(f"{item.times} times as many for all models of the item {item.title}" for item in items.values())
    reason = "added because of the scatter of the first measurements, whatever their deviation"
    return f" ({listed}, {reason})" if listed else ""


def _rules(items: Sequence[Item]) -> str:
    rules = {item.title: item.rule for item in items if item.rule}
    listed = "; ".join(f"{title}: {rule}" for title, rule in rules.items())
    return f"A draw was rejected only by a rule that knows the theory and no simulation. {listed}." if listed else ""


def _verdicts(judged: Sequence[Judged]) -> Statement:
    """How many models have which verdict, what refutes, and what an INCONCLUSIVE one would have caught."""
    models, more = ([j for j in judged if (j.item in ITEMS) is own] for own in (True, False))
    found = f"of {len(models)} models of {len({j.item.key for j in models})} items {_counted(models)}"
    found += f"; in the basins of second lowest minima, no items of their own, {_counted(more)}" if more else ""
    noisy = [j for j in judged if j.report.verdict == INCONCLUSIVE]
    caught = [limit for j in noisy if (limit := j.report.comparison("test_error").smallest_detectable) is not None]
    if caught:
        found += (
            f"; INCONCLUSIVE is no pass: errors above {min(caught):.0%} to {max(caught):.0%} of the test error would "
            f"have been caught there, {sum('he(3' in j.drawn.name for j in noisy)} of them have the cubic target, "
            "whose errors have heavy tails"
        )
    open_ = [j for j in noisy if j.report.comparison("test_error").smallest_detectable is None]
    refuted = [j for j in judged if j.report.verdict == REFUTED]
    told = [f"{j.item.title}, {j.drawn.name.split(':')[0]}: {j.report.sentence}" for j in (*refuted, *open_)]
    return Statement("no extension of the theory is refuted", OURS, not refuted, "; ".join([found, *told]))


def _counted(judged: Sequence[Judged]) -> str:
    counts = {verdict: sum(j.report.verdict == verdict for j in judged) for verdict in _VERDICTS}
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items())


def _normal(tests: Array, networks: int) -> Statement:
    """The test errors of all models, and of the networks measured for another page."""
    count = len(tests)
    return Statement(
        "the deviates of the test errors look standard normal", OURS, look_normal(tests),
        f"{count} independent ones, {networks} of them of networks after a real step, measured for another page: mean "
        f"{tests.mean():+.2f}, standard deviation {tests.std(ddof=1):.2f} (expected 0 +- {count**-0.5:.2f} and 1 +- "
        f"{(2 * count) ** -0.5:.2f}); {_tested(tests)} (seen: both above {LEVEL:g}); the largest in size is "
        f"{np.abs(tests).max():.2f}, as large a one is met with probability {extreme(tests):.2g}",
    )  # fmt: skip


def _tested(z: Sequence[float] | Array) -> str:
    """Both tests in words."""
    return (
        f"Kolmogorov and Smirnov's test gives the probability {normality(z):.2g}, and the sum of squares, "
        f"{squares(z):.1f} for {len(z)} degrees of freedom, the two-sided probability {spread(z):.2g}"
    )


def _counted_apart(judged: Sequence[Judged]) -> Statement:
    """The same without the comparisons that confirm nothing, and without second basins."""
    scored = [j for j in judged if j.report.comparison("test_error").z is not None]
    weak = [j for j in scored if j.report.verdict == INCONCLUSIVE]
    again = [j for j in scored if j.item not in ITEMS]
    plain = [
        z for j in scored if j not in weak and j not in again if (z := j.report.comparison("test_error").z) is not None
    ]
    return Statement(
        "and do so without those that support little", OURS, look_normal(plain),
        f"{len(judged) - len(scored)} of {len(judged)} comparisons have no deviate; {len(weak)} other INCONCLUSIVE "
        "ones support little, as where error bars are large a wrong theory has small deviates as well; "
        f"{len(again)} are those of second basins, new noise but no new models; {len(plain)} are left: "
        f"{_tested(plain)}",
    )  # fmt: skip


def _others(judged: Sequence[Judged], found: Mapping[str, list[float]]) -> list[Statement]:
    """Whether the other observables do, each by itself: those of a model depend on its test error and on each other."""
    shown = [name for name in SHOWN if name != "test_error" and len(found.get(name, [])) > 1]
    odd = {name: _odd(name, judged, found[name]) for name in shown if not look_normal(found[name])}
    below = f"{2 * LEVEL * len(shown):.2f} below {LEVEL:g}"
    expected = f"of {len(shown)}, with two tests each, a right theory would leave {below}"
    says = "the deviates of the other observables look standard normal"
    return [Statement(says, OURS, not odd, "; ".join([expected, *odd.values()]))]


def _odd(name: str, judged: Sequence[Judged], z: Sequence[float]) -> str:
    """An observable that does not look standard normal: its tests, its largest deviate, its tests without that item."""
    own = [
        (c.z, j) for j in judged for c in j.report.comparisons if c.z is not None and c.observable.split("[")[0] == name
    ]
    largest, model = max(own, key=lambda pair: abs(pair[0]))
    rest = [deviate for deviate, j in own if j.item.key != model.item.key]
    return (
        f"{name.replace('_', ' ')} does not: {_tested(z)}; the largest, {largest:+.2f}, is that of "
        f"{model.drawn.name.split(':')[0]} ({model.item.title}), one as large among {len(z)} independent ones has "
        f"probability {extreme(z):.2g}; without that item, left out after the fact, {_tested(rest)}"
    )


def _items_table(judged: Sequence[Judged]) -> Table:
    rows = []
    for item in {j.item.key: j.item for j in judged}.values():
        own = [j for j in judged if j.item.key == item.key]
        z = [abs(c.z) for j in own for c in j.report.comparisons if c.z is not None]
        tests = [abs(j.report.comparison("test_error").z or 0.0) for j in own]
        caught = [j.report.comparison("test_error").smallest_detectable or np.inf for j in own]
        verdicts = ", ".join(
            f"{count} {verdict}"
            for verdict in _VERDICTS
            if (count := sum(j.report.verdict == verdict for j in own))
        )  # fmt: skip
        rows.append(
            f"{item.title} | {len(own)} | {verdicts} | {max(tests):.2f} | {max(z):.2f} of {len(z)} | "
            f"{np.median(caught):.1%}"
        )
    return Table.of(
        "The items; the last column is the median over models, in per cent of the test error",
        "item | models | verdicts | largest z, test error | largest z, all | would have caught",
        rows,
    )


def _observables_table(found: Mapping[str, list[float]], networks: list[float]) -> Table:
    rows = []
    for name in SHOWN:
        if len(found.get(name, [])) < 2:
            continue
        z = np.array(found[name])
        rows.append(
            f"{name.replace('_', ' ')} | {len(z)} | {z.mean():+.2f} | {z.std(ddof=1):.2f} | {np.abs(z).max():.2f} | "
            f"{normality(z):.2g} | {squares(z):.1f} | {spread(z):.2g}"
        )
    return Table.of(
        "The deviates by observable, the drawn models only, with the probabilities of Kolmogorov and Smirnov's test "
        "and of the sum of squares. Components of one model (groups, directions) are counted separately and depend on "
        "each other: where an observable has them, the probabilities are a guide, not a test.",
        "observable | deviates | mean | standard deviation | largest | Kolmogorov-Smirnov | sum of squares | "
        "chi-square, two-sided",
        rows,
    )


def _models_table(judged: Sequence[Judged]) -> Table:
    rows = []
    for j in judged:
        c = j.report.comparison("test_error")
        theory, fit = c.theory, c.fit
        if theory is None or fit is None or c.extrapolated is None or c.z is None:
            measured_text, z = "-", "-"
        else:
            measured_text, z = f"{c.extrapolated:.4g} +- {fit.standard_error:.2g}", f"{c.z:+.2f}"
        theory_text = "-" if theory is None else f"{theory:.4g}"
        limit = "-" if c.smallest_detectable is None else f"{c.smallest_detectable:.0%}"
        rows.append(
            f"{j.item.title} | `{j.drawn.name}` | {theory_text} | {measured_text} | {z} | {j.report.verdict} | {limit}"
        )
    return Table.of(
        "Every drawn model: its test error",
        "item | model: activation / target | theory | simulation, d -> infinity | z | verdict | would have caught",
        rows,
    )


def _landmark_table(data: Mapping[str, object]) -> tuple[Table, ...]:
    dimension, seeds = LANDMARK_RUN
    rows = []
    for name, (theory, mean, error) in landmark(data).items():  # type: ignore[arg-type]
        z = normal_deviate((mean - theory) / error, seeds - 1)
        rows.append(f"{name.replace('_', ' ')} | {theory:.5g} | {mean:.5g} +- {error:.2g} | {z:+.2f}")
    if not rows:
        return ()
    model = LANDMARK.theory()
    caption = (
        f"Logistic regression by SciPy's L-BFGS-B at d = {dimension}, {seeds} seeds: student tanh, target sign, "
        f"alpha = {model.alpha:g}, beta = {model.beta:g}, lambda = {model.ridge:g}, spike {model.spike:g}, bulk "
        f"{model.bulk:g}, alignment {model.alignment:g}. The theory keeps its one known term of order 1/p; nothing is "
        "extrapolated."
    )
    return (Table.of(caption, "observable | theory | simulation | z", rows),)


def _figure(tests: Array, found: Mapping[str, list[float]]) -> canvas.Figure:
    from scipy.special import ndtri
    from scipy.stats import beta

    drawing, quantiles, histogram = canvas.panels(2, size=(9.2, 4.0))
    count = len(tests)
    order = np.arange(1, count + 1)
    expected = ndtri((order - 0.5) / count)
    low, high = (ndtri(beta.ppf(level, order, count - order + 1)) for level in (0.025, 0.975))
    quantiles.fill_between(expected, low, high, color="#e6eef5", label="95 % of each order statistic")
    quantiles.plot(expected, expected, color="#333333", lw=0.9)
    quantiles.plot(expected, np.sort(tests), "o", color="#0072B2", ms=4, label="test errors")
    quantiles.set(xlabel="standard normal quantile", ylabel="deviate z")
    quantiles.legend(frameon=False, fontsize=9, loc="upper left")
    rest = np.concatenate([found[name] for name in SHOWN if name in found and name != "test_error"])
    bins = np.linspace(-4.0, 4.0, 17)
    histogram.hist(rest, bins=list(bins), density=True, color="#c9c9c9", label="other observables")
    histogram.hist(tests, bins=list(bins), density=True, histtype="step", color="#0072B2", lw=1.6, label="test errors")
    x = np.linspace(-4.0, 4.0, 200)
    histogram.plot(x, np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi), color="#D55E00", lw=1.4, label="N(0, 1)")
    histogram.set(xlabel="deviate z", ylabel="density")
    histogram.legend(frameon=False, fontsize=9)
    caption = (
        f"Left: the {count} deviates of the test errors against standard normal quantiles. Each sorted deviate lies in "
        "the shaded range with probability 95 %. Right: histograms of these deviates and of the "
        f"{len(rest)} deviates of the other observables, with the standard normal density."
    )
    return canvas.finished(drawing, SLUG, "Deviates of all comparisons", caption)
