"""Page: networks of odd activations, chosen to reach far, beside the isotropic theory and that of their own bulk."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from giantsteps.reports.figures import canvas
from giantsteps.reports.measurements.experiments import read
from giantsteps.reports.measurements.measured_networks import DATA, POINTS, Data, judge
from giantsteps.reports.measurements.normal_deviates import deviates, look_normal, normality, spread
from giantsteps.reports.measurements.study import OURS, Statement, Study, Table, stated
from giantsteps.verify.checks.finite_size import CONFIRMED, INCONCLUSIVE, REFUTED, Comparison, Report

SLUG = "network_trial"
COMMAND = "python -m benchmarks.networks network_trial simulate"
THEORIES = ("isotropic", "network")
BEYOND = 6.0  # standard errors at which the isotropic theory is said to be refuted
MARKS = (
    "Left: how far each theory is above the measurement, bars of two standard errors. Right: how far the measurement "
    f"is above each theory in standard errors; the band is two, the dotted lines {BEYOND:g}."
)
_STYLES = {"isotropic": ("#D55E00", "s", "isotropic bulk"), "network": ("#0072B2", "o", "the network's own bulk")}


@dataclass(frozen=True)
class Row:
    """One network: what the finite-size protocol says of each theory."""

    name: str
    reports: Mapping[str, Report]
    more: str = ""  # of its name, for the table

    def test(self, theory: str) -> Comparison:
        """The comparison of its test error."""
        return self.reports[theory].comparison("test_error")

    def off(self, theory: str) -> tuple[float, float]:
        """A theory's test error over the measurement at infinite d, and the relative standard error times that."""
        one = self.test(theory)
        if one.theory is None or one.extrapolated is None or one.z is None or one.fit is None:
            raise ValueError(f"{self.name}: the stored samples do not decide")
        ratio = one.theory / one.extrapolated
        return ratio, ratio * one.fit.standard_error / one.extrapolated

    def z(self, theory: str) -> float:
        """The deviate of its test error."""
        return self.test(theory).z or 0.0

    def largest(self, theory: str) -> float:
        """The largest deviate of what decides."""
        return max(abs(one.z or 0.0) for one in self.reports[theory].comparisons)


def stands(rows: Sequence[Row], theory: str, source: str) -> Statement:
    """The verdicts on a theory, its deviates, and what the protocol says where the network's own is refuted."""
    reports = [row.reports[theory] for row in rows]
    counts = Counter(report.verdict for report in reports)
    listed = ", ".join(f"{counts[verdict]} {verdict}" for verdict in (CONFIRMED, INCONCLUSIVE, REFUTED))
    found = deviates([report.comparisons for report in reports])
    tests = np.array(found["test_error"])
    squares = ", ".join(f"{name.replace('_', ' ')} {np.sqrt(np.mean(np.square(z))):.2g}" for name, z in found.items())
    refuted = [f"{row.name}: {row.reports[theory].sentence}" for row in rows if row.reports[theory].verdict == REFUTED]
    return Statement(
        f"the theory of {'their own' if theory == 'network' else 'an isotropic'} bulk stands", source, not refuted,
        f"{listed}; its deviates are at most {max(abs(z) for zs in found.values() for z in zs):.1f} in size, in the "
        f"test error at {sum(abs(row.z(theory)) > BEYOND for row in rows)} networks and in anything at "
        f"{sum(row.largest(theory) > BEYOND for row in rows)} beyond {BEYOND:g}; root mean squares {squares} (1 +- "
        f"{(2 * len(tests)) ** -0.5:.2f} for a right theory); its test errors "
        f"{'look' if look_normal(tests) else 'do not look'} standard normal (Kolmogorov and Smirnov "
        f"{normality(tests):.2g}, sum of squares {spread(tests):.2g})"
        + (f"; refuted: {'; '.join(refuted)}" if refuted and theory == "network" else ""),
    )  # fmt: skip


def numbers(rows: Sequence[Row]) -> Table:
    """Test errors by both theories and as measured, and the verdicts."""

    def shown(value: float | None, digits: str) -> str:
        return "" if value is None else format(value, digits)

    tests = [(row, row.test("isotropic"), row.test("network")) for row in rows]
    return Table.of(
        "Test errors by both theories and as measured, extrapolated; the deviate of the network's own theory, the "
        "largest of the isotropic one over what decides; the relative error of a test error that would have been "
        "caught; verdicts",
        "network | isotropic | own | measured | z of own | largest z of isotropic | caught | own bulk | isotropic bulk",
        (
            f"{row.name}{row.more} | {shown(other.theory, '.4g')} | {shown(own.theory, '.4g')} | "
            f"{shown(own.extrapolated, '.4g')} | {shown(own.z, '+.1f')} | {row.largest('isotropic'):.1f} | "
            f"{shown(own.smallest_detectable, '.0%')} | {row.reports['network'].verdict} | "
            f"{row.reports['isotropic'].verdict}"
            for row, other, own in tests
        ),
    )


def judged(data: Data) -> list[Row]:
    """The stored networks by both theories, extrapolated in 1/d."""
    measured = [(point, data[point.name]) for point in POINTS if point.name in data]
    return [Row(point.name, {one: judge(point, runs, one) for one in THEORIES}) for point, runs in measured]


def study() -> Study | None:
    """The page; None in an installation without the measurements, which come with the sources."""
    data: Data = read(DATA)
    return page(judged(data)) if data else None


def page(rows: Sequence[Row]) -> Study:
    """The page from the networks."""
    sizes = [dimension for point in POINTS for dimension, _ in point.runs]
    reached = f"d = {min(sizes)} to {max(sizes)}"
    limits = [row.test("network").smallest_detectable or math.inf for row in rows]
    statements = (stands(rows, "network", OURS), stands(rows, "isotropic", "Result 3.3"))
    text = (
        f"{len(rows)} networks after a real gradient step, {reached}, extrapolated to infinite d.",
        "What this does not show. The networks were chosen, not drawn, to reach far (large steps, small and large "
        "batches, a kink, a jump, label noise), so the count of refutations says nothing about a typical network. An "
        f"error of the test error below {min(limits):.0%} to {max(limits):.0%}, by network, would have gone unseen "
        "(with probability 95 per cent a larger one is refuted). All of it is ridge regression with a uniform initial "
        "readout at ratios of order one; deviates of one network depend on each other; and the limit is reached late "
        "after violent steps (d = 400 is not large there).",
    )
    caption = (
        f"{len(rows)} networks after one gradient step, named by student and target, ridge regression of the readout; "
        f"test errors at {reached}, extrapolated to infinite d. {MARKS}"
    )
    figure = drawn_rows(rows, SLUG, "Test errors of real networks against both theories", caption)
    return Study(SLUG, "Networks beside both theories", text, (stated(statements), numbers(rows)), (figure,), COMMAND)


def drawn_rows(rows: Sequence[Row], slug: str, title: str, caption: str) -> canvas.Figure:
    """Networks beside both theories: left how far each theory is off, right the deviates."""
    drawing, ratios, scores = canvas.panels(2, size=(9.7, 0.36 * len(rows) + 1.5), share_y=True)
    places = range(len(rows))
    for theory, shift in zip(THEORIES, (-0.13, 0.13), strict=True):
        colour, marker, label = _STYLES[theory]
        heights = [place + shift for place in places]
        found = [row.off(theory) for row in rows]
        ratios.errorbar(
            [100 * (ratio - 1) for ratio, _ in found], heights, xerr=[200 * error for _, error in found], fmt=marker,
            color=colour, ms=5, lw=1, capsize=2, label=label,
        )  # fmt: skip
        scores.plot([row.z(theory) for row in rows], heights, marker, color=colour, ms=5, label=label)
    scores.axvspan(-2, 2, color="#e6eef5", zorder=0)
    for side in (-BEYOND, BEYOND):
        scores.axvline(side, color="#777777", lw=0.8, ls=":")
    ratios.set_xlabel("theory above measurement, %", fontsize=8.5)
    scores.set_xlabel("measured above theory, standard errors", fontsize=8.5)
    ratios.set_yticks(list(places), [row.name for row in rows], fontsize=8.5)
    scores.tick_params(labelleft=False)
    ratios.invert_yaxis()
    for axes in (ratios, scores):
        axes.axvline(0.0, color=canvas.DARK, lw=0.8)
    canvas.legend_outside(drawing, scores, loc="outside upper right", ncols=2)
    return canvas.finished(drawing, slug, title, caption)
