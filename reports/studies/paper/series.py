"""What a figure plots, read back from its data, and a statement of the text beside it: seen there, or not."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from giantsteps.reports.figures.canvas import Figure
from giantsteps.reports.measurements.study import Statement

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Series:
    """One line or row of points of a panel; `error` is one standard error, nan where nothing was measured."""

    x: Array
    y: Array
    error: Array

    def at(self, x: Array) -> Array:
        """The line between its points: at one of them, that point."""
        return np.interp(x, self.x, self.y)


Plotted = Mapping[tuple[int, str], Series]


def plotted(figure: Figure) -> Plotted:
    """Every series of a figure by its panel and its name, from the CSV that stands beside it."""
    rows: dict[tuple[int, str], list[tuple[float, float, float]]] = {}
    for row in csv.DictReader(figure.data.splitlines()):
        where = int(row["panel"]), row["series"]
        rows.setdefault(where, []).append((float(row["x"]), float(row["y"]), float(row["standard_error"] or "nan")))
    return {where: Series(*np.array(points).T) for where, points in rows.items()}


def agreement(pairs: Sequence[tuple[Series, Series]], says: str, source: str, most: float = 0.05) -> Statement:
    """Whether points follow lines as the eye sees it: none is off by more than the share `most` of the largest value
    drawn, and by more than three standard errors.
    """
    height = max(float(np.max(np.abs(series.y))) for pair in pairs for series in pair)
    off = np.concatenate([points.y - line.at(points.x) for points, line in pairs]) / height
    z = np.concatenate([(points.y - line.at(points.x)) / points.error for points, line in pairs])
    beyond = np.abs(z) > 3.0
    worst = float(np.max(np.abs(off)))
    return Statement(
        says,
        source,
        not bool(np.any((np.abs(off) > most) & beyond)),
        f"{len(z)} points, the furthest {worst:.1%} of the largest value off; {int(np.sum(beyond))} beyond three "
        f"standard errors (seen: none is beyond both {most:.0%} and three)",
    )


def alike(pairs: Sequence[tuple[Series, Series]], says: str, source: str) -> Statement:
    """Whether points have the sign of lines wherever a line is further from zero than two standard errors of a point.

    A gap below that has a sign by chance.
    """
    agree, sure = 0, 0
    for points, line in pairs:
        gap = line.at(points.x)
        clear = np.abs(gap) > 2.0 * points.error
        sure += int(np.sum(clear))
        agree += int(np.sum(np.sign(gap[clear]) == np.sign(points.y[clear])))
    return Statement(
        says,
        source,
        0 < agree == sure,
        f"{agree} of {sure} differences that can be told from zero have its sign"
        if sure
        else "no difference can be told from zero at this many samples",
    )
