"""Page: networks of odd activations, chosen to reach far, beside the isotropic theory and that of their own bulk."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from giantsteps.reports.figures import canvas
from giantsteps.reports.measurements.experiments import read
from giantsteps.reports.measurements.measured_networks import CALIBRATED, DATA, POINTS, Data, judge
from giantsteps.reports.measurements.study import OURS, Statement, Study, Table, stated
from giantsteps.verify.checks.finite_size import Comparison

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
    """One network: the comparisons of its observables with both theories, theory -> observable -> comparison."""

    name: str
    of: Mapping[str, Mapping[str, Comparison]]

    def test(self, theory: str) -> Comparison:
        """That of the test error."""
        return self.of[theory]["test_error"]

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

    def deviates(self, theory: str, names: Sequence[str]) -> list[float]:
        """The deviates of these observables, where the theory has them."""
        found = (self.of[theory].get(name) for name in names)
        return [one.z for one in found if one is not None and one.z is not None]

    def largest(self, theory: str) -> float:
        """The largest deviate of all; chi, no order parameter of the isotropic theory, is not held against that."""
        return max(map(abs, self.deviates(theory, [name for name in self.of[theory] if name != "chi"])))

    @property
    def measured(self) -> float:
        """The test error at infinite d, by the network's theory at finite d."""
        return self.test("network").extrapolated or math.nan

    @property
    def caught(self) -> float:
        """The relative error of a test error that would have been refuted."""
        return (self.test("network").smallest_detectable or math.inf) / self.measured


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
    z = np.array([z for row in rows for z in row.deviates("network", CALIBRATED)])
    furthest = max(abs(row.z("network")) for row in rows)
    off = sum(abs(row.z("isotropic")) > BEYOND for row in rows)
    anywhere = sum(row.largest("isotropic") > BEYOND for row in rows)
    limits = [row.caught for row in rows]
    statements = (
        Statement(
            "the theory of the network's own bulk stands", OURS, bool(np.max(np.abs(z)) < 4.0),
            f"{furthest:.1f} standard errors from the test error at most; {len(z)} deviates in test error, training "
            f"error, m, zeta and q2 are at most {np.max(np.abs(z)):.1f}, their root mean square is "
            f"{np.sqrt(np.mean(z**2)):.2f} (seen: below 4; 1 for a right theory)",
        ),
        Statement(
            "the isotropic theory stands", "Result 3.3", anywhere == 0,
            f"off by more than {BEYOND:g} standard errors in the test error at {off} of {len(rows)} networks, and in "
            f"one or more numbers that it predicts at {anywhere}",
        ),
    )  # fmt: skip
    text = (
        f"{len(rows)} networks after a real gradient step, {reached}, extrapolated to infinite d.",
        "What this does not show. The networks were chosen, not drawn, to reach far (large steps, small and large "
        "batches, a kink, a jump, label noise), so the count of refutations says nothing about a typical network. An "
        f"error of the test error below {min(limits):.0%} to {max(limits):.0%}, by network, would have gone unseen "
        "(with probability 95 per cent a larger one is refuted). All of it is ridge regression with a uniform initial "
        "readout at ratios of order one; deviates of one network depend on each other; and the limit is reached late "
        "after violent steps (d = 400 is not large there).",
    )
    numbers = Table.of(
        "Test errors at infinite d; z is the measurement above each theory in standard errors",
        "network | measured | isotropic, z | network, z | would have caught",
        (
            f"{row.name} | {row.measured:.4g} | {row.z('isotropic'):+.1f} | {row.z('network'):+.1f} | {row.caught:.0%}"
            for row in rows
        ),
    )
    caption = (
        f"{len(rows)} networks after one gradient step, named by student and target, ridge regression of the readout; "
        f"test errors at {reached}, extrapolated to infinite d. {MARKS}"
    )
    figure = drawn_rows(rows, SLUG, "Test errors of real networks against both theories", caption)
    return Study(SLUG, "Networks beside both theories", text, (stated(statements), numbers), (figure,), COMMAND)


def drawn_rows(rows: Sequence[Row], slug: str, title: str, caption: str) -> canvas.Figure:
    """Networks beside both theories: left how far each theory is off, right the deviates."""
    drawing, ratios, deviates = canvas.panels(2, size=(9.7, 0.36 * len(rows) + 1.5), share_y=True)
    places = range(len(rows))
    for theory, shift in zip(THEORIES, (-0.13, 0.13), strict=True):
        colour, marker, label = _STYLES[theory]
        heights = [place + shift for place in places]
        found = [row.off(theory) for row in rows]
        ratios.errorbar(
            [100 * (ratio - 1) for ratio, _ in found], heights, xerr=[200 * error for _, error in found], fmt=marker,
            color=colour, ms=5, lw=1, capsize=2, label=label,
        )  # fmt: skip
        deviates.plot([row.z(theory) for row in rows], heights, marker, color=colour, ms=5, label=label)
    deviates.axvspan(-2, 2, color="#e6eef5", zorder=0)
    for side in (-BEYOND, BEYOND):
        deviates.axvline(side, color="#777777", lw=0.8, ls=":")
    ratios.set_xlabel("theory above measurement, per cent", fontsize=8.5)
    deviates.set_xlabel("measured above theory, standard errors", fontsize=8.5)
    ratios.set_yticks(list(places), [row.name for row in rows], fontsize=8.5)
    deviates.tick_params(labelleft=False)
    ratios.invert_yaxis()
    for axes in (ratios, deviates):
        axes.axvline(0.0, color=canvas.DARK, lw=0.8)
    canvas.legend_outside(drawing, deviates, loc="outside upper right", ncols=2)
    return canvas.finished(drawing, slug, title, caption)
