"""Page: where on a plane of samples and ridge one gradient step helps, certified cell by cell.

The question has two answers of one sign each, and a line between them; `numerics.certificates.ranges.plane` proves the
sign over whole cells, so that nothing between the points of a grid is left to belief. What it cannot prove is drawn as
uncertain, and its share of the area is stated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from giantsteps.numerics.certificates.ranges.plane import Grid, Signs
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.one_group.batch import solve_batch
from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.figures.canvas import Figure
from giantsteps.reports.measurements.experiments import FOLDER as SAMPLES
from giantsteps.reports.measurements.study import Study, Table

SLUG = "step_helps"
COMMAND = "python -m benchmarks.pages.step_helps"
STORED = SAMPLES.parent / "pages" / "step_helps.json"
STUDENT, TARGET, BETA, ETA, NOISE = "tanh", "sin", 1.0, 3.0, 0.1
BATCHES = (0.25, 0.5, 1.0)
ALPHAS, RIDGES, COLUMNS, ROWS = (0.1, 10.0), (0.01, 10.0), 400, 250

Entry = dict[str, Any]

_LETTERS = {"-": -1, "?": 0, "+": 1}
_COLOURS = ("#0072B2", "#ffffff", "#D55E00")


@cache
def grid() -> Grid:
    """The cells of every panel."""
    return Grid.of(ALPHAS, RIDGES, COLUMNS, ROWS)


@cache
def models(alpha0: float) -> tuple[Model, Model]:
    """After the step and without one, spike, bulk and alignment the doubles that Result 3.1 gives; alpha, ridge any."""

    def at(eta: float) -> Model:
        return Model.from_gradient_step(
            STUDENT,
            TARGET,
            alpha=1.0,
            beta=BETA,
            ridge=0.1,
            alpha0=alpha0,
            eta=eta,
            noise=NOISE,
            bulk_model="isotropic",
        ).as_given()

    return at(ETA), at(0.0)


def row_text(signs: Iterable[int]) -> str:
    """One row of signs as counts and letters: 12-1?387+."""
    letters = {sign: letter for letter, sign in _LETTERS.items()}
    return "".join(f"{len(list(run))}{letters[sign]}" for sign, run in groupby(map(int, signs)))


def row_of(text: str) -> list[int]:
    """The signs of a row. Raises ValueError for another text than `row_text` makes of COLUMNS signs."""
    runs = re.findall(r"([1-9]\d*)([-?+])", text)
    row = [_LETTERS[letter] for count, letter in runs for _ in range(int(count))]
    if len(row) != COLUMNS or row_text(row) != text:
        raise ValueError(f"{text[:40]} is no row of {COLUMNS} signs")
    return row


@dataclass(frozen=True)
class Panel:
    """Certified signs of the test error after the step less that without it, (ROWS, COLUMNS)."""

    alpha0: float
    signs: Signs

    def share(self, *signs: int) -> Fraction:
        """Of the area: every cell is as large as any other on the logarithmic scale."""
        return Fraction(int(np.isin(self.signs, signs).sum()), self.signs.size)

    @property
    def certified(self) -> Fraction:
        """The share of the area that is certified."""
        return self.share(-1, 1)

    def middle(self, sign: int) -> str:
        """The geometric mean of alpha and ridge over the cells of a sign."""
        rows, columns = np.nonzero(self.signs == sign)
        ridge, alpha = (
            float(np.exp(np.mean(np.log(edges[index] * edges[index + 1])) / 2.0))
            for edges, index in ((grid().ridges, rows), (grid().alphas, columns))
        )
        return f"alpha = {alpha:.2g} and ridge {ridge:.2g}"

    def contradicted(self, count: int, rng: np.random.Generator) -> int:
        """How many of so many random points, solved in double precision, have another sign than their cell."""
        places = rng.integers((ROWS, COLUMNS), size=(count, 2))
        shares = rng.random((2, count))
        at = []
        for edges, index, share in zip((grid().ridges, grid().alphas), places.T, shares, strict=True):
            at.append(edges[index] ** (1.0 - share) * edges[index + 1] ** share)
        after, before = (solve_batch(one, alpha=at[1], ridge=at[0]).test_error for one in models(self.alpha0))
        signs = self.signs[places[:, 0], places[:, 1]]
        return int(np.sum((signs != 0) & (np.sign(after - before) != signs)))


def panels_of(entries: Sequence[Entry]) -> tuple[Panel, ...]:
    """Those whose rows are all there."""
    found = []
    for alpha0 in BATCHES:
        rows = {entry["row"]: entry["signs"] for entry in entries if entry["alpha0"] == alpha0}
        if set(rows) == set(range(ROWS)):
            found.append(Panel(alpha0, np.array([row_of(rows[k]) for k in range(ROWS)], dtype=np.int8)))
    return tuple(found)


def stored(path: Path = STORED) -> list[Entry]:
    """The stored rows; none where they are not installed."""
    found: list[Entry] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    return found


def study() -> Study | None:
    """The page; None where rows are missing."""
    found = panels_of(stored())
    return page(found) if len(found) == len(BATCHES) else None


def page(found: Sequence[Panel]) -> Study:
    """The page from its panels."""
    title = "Where one step helps, certified"
    return Study(SLUG, title, text(found), (table(found),), (drawn(found, title),), COMMAND)


def text(found: Sequence[Panel]) -> tuple[str, ...]:
    """What the panels say, and what is proved by them."""
    rng = np.random.default_rng(15)
    points = 3000
    wrong = sum(panel.contradicted(points, rng) for panel in found)
    least = min(found, key=lambda panel: panel.certified)
    hurts = [panel for panel in found if 0 < panel.share(1) < panel.certified]
    said = "; ".join(
        f"at alpha0 = {panel.alpha0:g} it helps on {_percent(panel.share(-1))} of the area and hurts on "
        f"{_percent(panel.share(1))}"
        for panel in found
    )
    closing = "No cell of these planes is shown to be harmed by the step."
    if hurts:
        first, last = hurts[0], found[-1]
        closing = (
            f"The harmful part is {_percent(first.share(1))} of the area at alpha0 = {first.alpha0:g} and "
            f"{_percent(last.share(1))} at {last.alpha0:g}. At alpha0 = {first.alpha0:g} its middle is at "
            f"{first.middle(1)}, that of the helpful part at {first.middle(-1)}: a step on few samples puts noise into "
            "the bulk, and how much of it a readout follows is a matter of its ridge."
        )
    return (
        f"A gradient step on few samples may leave more test error than no step. Where, for {STUDENT} that learns "
        f"{TARGET} (beta = {BETA:g}, eta = {ETA:g}, label noise {NOISE:g}), on a plane of alpha from {ALPHAS[0]:g} to "
        f"{ALPHAS[1]:g} and ridge from {RIDGES[0]:g} to {RIDGES[1]:g}? By the isotropic theory, {said}.",
        closing,
        f"Each plane is {COLUMNS} by {ROWS} cells, and each coloured cell is proved: for all of its points Krawczyk's "
        "test encloses the only saddle point of both models, and the mean value theorem the difference of their test "
        f"errors, which has one sign. Certified is {_percent(least.certified)} of the area at the least; the rest, "
        "drawn white, is the line between the two and its neighbours. What is certain is about the equations at the "
        "spike, bulk and alignment that the step gives in double precision.",
        f"As a check, {points} random points of each plane were solved in double precision: "
        f"{'none contradicts' if wrong == 0 else f'{wrong} contradict'} the sign of its cell.",
    )


def _percent(share: Fraction) -> str:
    """What is proved, and never more than it is."""
    return f"{_hundredths(share):g} per cent"


def _hundredths(share: Fraction) -> float:
    return float(share * 10**4 // 1) / 100.0


def table(found: Sequence[Panel]) -> Table:
    """The shares of the area."""
    rows = []
    for panel in found:
        proved = [_hundredths(panel.share(sign)) for sign in (-1, 1)]
        # What is uncertain is rounded up, as what is proved is rounded down.
        shares = (*proved, 100.0 - sum(proved))
        rows.append((f"{panel.alpha0:g}", *(f"{share:.2f} %" for share in shares)))
    heads = ("alpha0", "step helps", "step hurts", "uncertain")
    return Table("Shares of the area of the plane", heads, tuple(rows))


def drawn(found: Sequence[Panel], title: str) -> Figure:
    """The planes side by side."""
    from matplotlib.colors import ListedColormap

    canvas, *all_axes = draw.panels(len(found), size=(12.6, 3.9))
    for axes, panel in zip(all_axes, found, strict=True):
        axes.imshow(
            panel.signs, cmap=ListedColormap(_COLOURS), vmin=-1, vmax=1, origin="lower", aspect="auto",
            extent=(*np.log10(ALPHAS), *np.log10(RIDGES)), interpolation="nearest",
        )  # fmt: skip
        for axis, ends in ((axes.xaxis, ALPHAS), (axes.yaxis, RIDGES)):
            ticks = np.arange(np.log10(ends[0]), np.log10(ends[1]) + 0.5)
            axis.set_ticks(ticks, [f"{10.0**tick:g}" for tick in ticks])
        axes.set_title(f"alpha0 = {panel.alpha0:g}", fontsize=9)
        axes.set_xlabel("samples alpha")
        axes.grid(False)
    all_axes[0].set_ylabel("ridge")
    caption = (
        f"Where one gradient step (eta = {ETA:g}) leaves less test error than none: proved to help in blue, proved to "
        f"hurt in orange, uncertain in white; {STUDENT} learning {TARGET}, isotropic bulk, both axes logarithmic, "
        f"{COLUMNS} by {ROWS} cells."
    )
    return draw.finished(canvas, SLUG, title, caption)
