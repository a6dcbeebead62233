"""Both theories against the stored measurements of real networks (benchmarks/networks/network_trial.json), for the
report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from giantsteps.reports.figures import canvas
from giantsteps.reports.figures.files import own_style
from giantsteps.reports.measurements.experiments import read
from giantsteps.reports.measurements.measured_networks import CALIBRATED, DATA, POINTS, judge
from giantsteps.verify.checks.finite_size import Comparison

COMMAND = "python -m benchmarks.networks network_trial simulate"
THEORIES = ("isotropic", "network")
BEYOND = 6.0  # standard errors at which the isotropic theory is said to be refuted
MARKS = (
    "Left: how far each theory is above the measurement, bars of two standard errors. Right: how far the measurement "
    f"is above each theory in standard errors; the band is two, the dotted lines {BEYOND:g}."
)
_STYLES = {"isotropic": ("#D55E00", "s", "isotropic bulk"), "network": ("#0072B2", "o", "the network's own bulk")}


@dataclass(frozen=True)
class Trial:
    """What the stored measurements say: one row per network, all numbers computed from the file."""

    rows: tuple[Row, ...]
    dimensions: tuple[int, int]
    deviates: int
    largest: float
    refuted_by_any: int
    spread: float
    untested: tuple[str, ...]

    @property
    def largest_of_test_errors(self) -> float:
        """The largest deviate of the network's theory among the test errors."""
        return max(abs(row.z("network")) for row in self.rows)

    @property
    def caught(self) -> tuple[float, float]:
        """The least and the largest relative error of a test error that would have been refuted, over the networks."""
        limits = [row.caught for row in self.rows]
        return min(limits), max(limits)

    @property
    def refuted(self) -> tuple[str, ...]:
        """The networks at which the isotropic theory's test error is off by more than six standard errors."""
        return tuple(row.name for row in self.rows if abs(row.z("isotropic")) > BEYOND)


@dataclass(frozen=True)
class Row:
    """One network: the comparisons of its test error with both theories, all of it there where samples decide."""

    name: str
    of: Mapping[str, Comparison]

    def off(self, theory: str) -> tuple[float, float]:
        """A theory over the measurement at infinite d, and the relative standard error times that."""
        one = self.of[theory]
        if one.theory is None or one.extrapolated is None or one.z is None or one.fit is None:
            raise ValueError(f"{self.name}: the stored samples do not decide")
        ratio = one.theory / one.extrapolated
        return ratio, ratio * one.fit.standard_error / one.extrapolated

    def z(self, theory: str) -> float:
        """The deviate of a theory."""
        return self.of[theory].z or 0.0

    @property
    def measured(self) -> float:
        """The test error at infinite d, by the network's theory at finite d."""
        return self.of["network"].extrapolated or math.nan

    @property
    def caught(self) -> float:
        """The relative error of a test error that would have been refuted."""
        return (self.of["network"].smallest_detectable or math.inf) / self.measured


@own_style()
def network_trial() -> tuple[Trial, canvas.Figure] | None:
    """The trial and its figure; None in an installation without the measurements, which come with the sources."""
    if not DATA.is_file():
        return None
    trial = judged()
    return trial, draw(trial)


def judged() -> Trial:
    """Judge the stored samples by both theories, extrapolated in 1/d."""
    data = read(DATA)
    rows, deviates, strongest = [], [], []
    for point in POINTS:
        if point.name not in data:
            continue  # measured later than the file
        found = {theory: judge(point, data[point.name], theory) for theory in THEORIES}
        rows.append(Row(point.name, {theory: found[theory]["test_error"] for theory in THEORIES}))
        deviates += [c.z for name, c in found["network"].items() if name in CALIBRATED and c.z is not None]
        # chi is no order parameter of the isotropic theory, so it is not held against it.
        strongest.append(max(abs(c.z) for k, c in found["isotropic"].items() if c.z is not None and k != "chi"))
    dimensions = [int(d) for row in rows for d in data[row.name]]
    extremes = (min(dimensions), max(dimensions))
    spread = math.sqrt(sum(z * z for z in deviates) / len(deviates))
    largest = max(abs(z) for z in deviates)
    missing = tuple(point.name for point in POINTS if point.name not in data)
    return Trial(
        tuple(rows), extremes, len(deviates), largest, sum(z > BEYOND for z in strongest), spread, missing
    )  # fmt: skip


def draw(trial: Trial) -> canvas.Figure:
    """Theory over measurement, and the deviates, one row per network."""
    title = "Test errors of real networks against both theories"
    caption = (
        f"{len(trial.rows)} networks after one gradient step, named by student and target, ridge regression of the "
        f"readout; test errors at d = {trial.dimensions[0]} to {trial.dimensions[1]}, extrapolated to infinite d. "
        f"{MARKS}"
    )
    return drawn_rows(trial.rows, "network_trial", title, caption, COMMAND)


def drawn_rows(rows: Sequence[Row], slug: str, title: str, caption: str, command: str) -> canvas.Figure:
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
    drawing.legend(*deviates.get_legend_handles_labels(), loc="outside upper right", ncols=2, frameon=False, fontsize=9)
    return canvas.finished(drawing, slug, title, caption, command)
