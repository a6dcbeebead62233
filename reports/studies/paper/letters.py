"""Figure 6: learning curves by the vocabulary of the initial readout, networks beside three theories of their rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.bulk.equivalent import DeterministicEquivalent
from giantsteps.numerics.bulk.orthogonal import orthogonal
from giantsteps.numerics.models.solution import Solution
from giantsteps.numerics.saddle_point.finite_width import at_width
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.measurements.experiments import Data, Measured
from giantsteps.reports.measurements.study import Statement
from giantsteps.reports.studies.paper import settings as at
from giantsteps.reports.studies.paper.curves import DIFFERENCE, ISOTROPIC, OWN, THEORIES, per_cent
from giantsteps.reports.studies.paper.samples import lettered_name, lettered_network, pictured
from giantsteps.reports.studies.paper.series import Plotted, Series, agreement, alike
from giantsteps.reports.studies.vocabulary import VOCABULARIES

Array = NDArray[np.float64]
Letters = tuple[float, ...]

_SMALL, _LARGE = at.LETTER_DIMENSIONS
_EXTRAPOLATED = "networks extrapolated minus isotropic"
# The amounts of data of the networks and those halfway between.
LINE = tuple(float(alpha) for alpha in np.geomspace(at.LETTER_ALPHAS[0], at.LETTER_ALPHAS[-1], 7))
# The paper's theory first: isotropic rows; the network's own rows; orthogonal rows, equation (159).
_LINES = {"isotropic": ISOTROPIC, "own": OWN, "orthogonal": {"ls": ":", "lw": 1.2}}
# Marks of networks at one dimension, beside those of the extrapolation.
_OPEN = {"lw": 0, "ms": 4.5, "mfc": "none"}


@cache
def _solved(
    letters: Letters, theory: str, alpha: float
) -> tuple[Solution, Callable[[float], DeterministicEquivalent] | None]:
    """The solution at infinite d, and the bulk where it is not the model's own."""
    model = lettered_network(letters, 1.0).model("network" if theory == "own" else "isotropic").changed(alpha=alpha)
    bulk = partial(orthogonal, model) if theory == "orthogonal" else None
    return solve(model, bulk=bulk), bulk


def predicted(letters: Letters, theory: str, alphas: Sequence[float], dimension: int = 0) -> Array:
    """The test errors of one theory (alphas,): at infinite d, or at the width p = d of networks of a dimension."""
    found = [_solved(letters, theory, alpha) for alpha in alphas]
    return np.array(
        [(at_width(solution, dimension, bulk) if dimension else solution).test_error for solution, bulk in found]
    )


def measured(data: Data, name: str, dimension: int) -> list[Measured]:
    """The networks of one vocabulary."""
    return [Measured.of(data[lettered_name(name, alpha, dimension)]["test_error"]) for alpha in at.LETTER_ALPHAS]


def extrapolated(small: Measured, large: Measured) -> Measured:
    """The line in 1/d through measurements at d and 2 d, at infinite d: 2 x(2d) - x(d)."""
    mean, error = 2.0 * large.mean - small.mean, float(np.hypot(2.0 * large.error, small.error))
    return Measured(mean, error, float(np.hypot(2.0 * large.spread, small.spread)))


def figure_6(data: Data, vocabularies: Sequence[tuple[str, Letters]] = VOCABULARIES) -> draw.Figure:
    """Test error against alpha by the vocabulary of the initial readout, and how it differs from the theory."""
    canvas, axes, beside = draw.panels(2)
    for style, (name, letters) in enumerate(vocabularies):
        limit = predicted(letters, "isotropic", LINE)
        for theory, dashes in _LINES.items():
            error = predicted(letters, theory, LINE, _LARGE)
            draw.line(axes, LINE, error, style, f"_{theory} theory, {name}", **dashes)
            if theory != "isotropic":
                off = 100.0 * (predicted(letters, theory, LINE) / limit - 1.0)
                draw.line(beside, LINE, off, style, f"_{theory} minus isotropic, {name}", **dashes)
        draw.points(axes, at.LETTER_ALPHAS, measured(data, name, _LARGE), style, name)
        small, large = (
            per_cent(measured(data, name, dimension), predicted(letters, "isotropic", at.LETTER_ALPHAS, dimension))
            for dimension in at.LETTER_DIMENSIONS
        )
        ends = [extrapolated(*pair) for pair in zip(small, large, strict=True)]
        full = draw.points(beside, at.LETTER_ALPHAS, ends, style, f"_{_EXTRAPOLATED}, {name}")
        colour, marker, _ = draw.STYLES[style]
        marks = beside.plot(
            at.LETTER_ALPHAS, [one.mean for one in large], color=colour, marker=marker,
            label=f"_networks minus isotropic, {name}", **_OPEN,
        )  # fmt: skip
        draw.keep_apart(beside, [*full.get_children(), *marks], style, len(vocabularies))
    beside.axhline(0.0, color=draw.DARK, lw=1.0, label="_isotropic theory")
    for one in (axes, beside):
        one.set(xscale="log", xlabel=r"samples per dimension $\alpha = n/d$")
        draw.ticks(one, at.LETTER_ALPHAS)
    axes.set(ylabel="test error", ylim=(0.0, 0.62))  # the legend above all lines
    beside.set(ylabel=DIFFERENCE)
    draw.legend(axes, ncols=3, loc="upper right")
    styles = THEORIES | {
        "theory, orthogonal rows, eq. (159)": _LINES["orthogonal"],
        f"right: networks at d = {_LARGE}": _OPEN | {"marker": "o"},
        "right: extrapolated to infinite d": {"lw": 0, "ms": 4.5, "marker": "o"},
    }
    draw.style_key(canvas, styles)
    return draw.finished(
        canvas,
        "figure_6",
        "Learning curves by the vocabulary of the initial readout",
        f"{at.LETTERED}, alpha0 = {at.LETTER_BATCH:g}, beta = 1, letters in equal parts. Left: networks after the "
        f"step at d = {_LARGE} (points), mean over {at.LETTER_SEEDS} with one standard error. Lines: theory of the "
        "isotropic bulk (solid), of the network's own bulk (dashed) and of orthogonal rows, equation (159) (dotted), "
        "all at the width of the networks. Right: the difference from the isotropic theory, in per cent of it. "
        f"Lines are at infinite d. Open marks are networks at d = {_LARGE}. Full marks are extrapolated in 1/d from "
        f"networks at d = {_SMALL} and {_LARGE}, each compared with the theory at its own width. Marks are shifted "
        "sideways to keep their error bars apart.",
    )


def says_6(found: Plotted) -> tuple[Statement, ...]:
    """More letters learn better, decided for each vocabulary; and which theory the networks follow."""
    letters = {name: values for name, values in VOCABULARIES if (1, name) in found}
    uniform = VOCABULARIES[0][0]
    pairs = [
        (fewer, more)
        for more in letters
        for fewer in letters
        if fewer != more and (fewer == uniform or set(letters[fewer]) < set(letters[more]))
    ]
    ends = {name: found[2, f"{_EXTRAPOLATED}, {name}"] for name in letters}
    gaps = {name: found[2, f"own minus isotropic, {name}"] for name in letters}
    isotropic = {name: replace(gap, y=np.zeros_like(gap.y)) for name, gap in gaps.items()}
    special = {name: found[2, f"orthogonal minus isotropic, {name}"] for name in letters}

    # Two dimensions do not carry that vocabulary to its limit (`late`): it is off whatever the theory.
    others = [name for name in letters if name != at.LATE]

    def follow(lines: dict[str, Series], says: str, source: str, names: Sequence[str]) -> Statement:
        shares = [(_share(ends[name]), _share(lines[name])) for name in names]
        return agreement(shares, f"{says}, extrapolated to infinite d", source)

    return (
        *(_richer(found, fewer, more) for fewer, more in pairs),
        follow(special, "good agreement with equation (159), orthogonal rows", "Appendix D", others),
        follow(isotropic, "networks follow the theory of isotropic rows", "this suite", others),
        *(follow(gaps, f"{name}: networks follow the theory of their own rows", "this suite", [name])
          for name in letters),
        alike(
            [(ends[name], gaps[name]) for name in letters],
            "networks differ from the isotropic theory as the theory of their own bulk does", "this suite",
        ),
    )  # fmt: skip


def _share(series: Series) -> Series:
    """Per cent less the isotropic theory as a multiple of it."""
    return Series(series.x, 1.0 + series.y / 100.0, series.error / 100.0)


def _richer(found: Plotted, fewer: str, more: str) -> Statement:
    """More variability of the initial readout: better feature learning, at every alpha of the lines."""
    before, after = (found[1, f"isotropic theory, {name}"] for name in (fewer, more))
    ratio = after.y / before.y
    first, second = found[1, fewer], found[1, more]
    z = (second.y - first.y) / np.hypot(first.error, second.error)
    return Statement(
        f"more variability of the initial readout is better: {more} beside {fewer}", "Section 4.4",
        bool(np.all(ratio < 1.0)),
        f"{np.min(ratio):.2f} to {np.max(ratio):.2f} times the test error by the lines; networks are lower by more "
        f"than two standard errors at {int(np.sum(z < -2.0))} of {len(z)} alphas, higher at {int(np.sum(z > 2.0))}",
    )  # fmt: skip


def late(data: Data) -> str:
    """How the networks of one vocabulary come to the theory of their own rows as they grow, each at its own width."""
    letters, alphas = dict(VOCABULARIES)[at.LATE], (at.LATE_ALPHA,)
    dimensions = (*at.LETTER_DIMENSIONS, at.LATE_DIMENSION)
    found = [
        per_cent(
            [Measured.of(data[lettered_name(at.LATE, at.LATE_ALPHA, dimension)]["test_error"])],
            predicted(letters, "own", alphas, dimension),
        )[0]
        for dimension in dimensions
    ]
    end = extrapolated(*found[1:])
    return (
        f"Networks of several letters come late to their limit: those of {at.LATE} at alpha = {at.LATE_ALPHA:g} are "
        + ", ".join(f"{one.mean:.0f} +- {one.error:.0f}" for one in found)
        + f" per cent above the theory of their own rows at d = {', '.join(map(str, dimensions))}, and the last two "
        f"extrapolate to {end.mean:.0f} +- {end.error:.0f}. The marks of the figure are extrapolated from the first "
        f"two, too few for {at.LATE}, which is left out of what is said of all."
    )


def settings_6(data: Data) -> str:
    """What the page of Figure 6 says before its statements."""
    model = lettered_network((1.0,), 1.0).model("isotropic")
    return (
        "Settings: the sources print neither the functions nor the numbers of this figure. Chosen as on the page of "
        f"its spiked random features: {at.LETTERED}, beta = 1. There the alignment is 1, as the paper has it, and here "
        f"networks take a step on alpha0 = {at.LETTER_BATCH:g}: alignment {float(model.alignment):.2f}, spike "
        f"{float(model.spike):.2f} and bulk variance {model.bulk:.2f} for the letter 1. {late(data)}"
    )


STUDY_6 = pictured(6, "learning curves by the vocabulary of the initial readout", figure_6, says_6, settings_6)
