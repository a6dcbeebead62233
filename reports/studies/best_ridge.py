"""Page: the best ridge. Several minima, and minima at infinity: how often, over random models. Theory alone."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

import numpy as np

from giantsteps.numerics.bounds.best import best
from giantsteps.numerics.bounds.ridge import upper_bound
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.measurements.experiments import FOLDER
from giantsteps.reports.measurements.study import Study, Table

SLUG, SEED, COUNT = "best_ridge", 91, 2000
STUDENTS = ("tanh", "erf", "relu", "sin")
TARGETS = ("tanh", "sin", "sign", "relu", "he(3, z)")
# The scan is stored; so many of its models are solved again when the page is made.
CHECKED = 24
# Beyond this ridge the error is the limit within the rounding of a curve: shown apart in the histogram.
LARGE_RIDGE = 1e4
TWO_MINIMA = Model(
    "relu", "relu", alpha=3.256, beta=1.562, ridge=0.1, spike=2.029, bulk=1.243, alignment=1.0,
    readout=(ReadoutGroup(1.0, 1.0, bias=0.7),),
)  # fmt: skip
RIDGES = np.exp(np.linspace(math.log(1e-3), math.log(1e4), 141))


@dataclass(frozen=True)
class Found:
    """The best ridge of one random model; `ridge` None where it is infinite."""

    ridge: float | None
    minima: int
    at_zero: bool
    converged: bool


def random_model(index: int) -> Model:
    """The model of one place in the scan: each has its own stream, so that any of them can be made again alone."""
    rng = np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=(index,)))
    alpha, beta = np.exp(rng.uniform(math.log(0.2), math.log(5.0), 2))
    bias = float(rng.uniform(-1.0, 1.0)) if rng.random() < 0.5 else 0.0
    return Model(
        STUDENTS[rng.integers(len(STUDENTS))],
        TARGETS[rng.integers(len(TARGETS))],
        alpha=float(alpha),
        beta=float(beta),
        ridge=0.1,
        noise=float(rng.choice((0.0, 0.3))),
        spike=float(rng.uniform(0.0, 3.0)),
        bulk=float(rng.uniform(0.5, 2.0)),
        alignment=float(rng.uniform(-1.0, 1.0)),
        readout=(ReadoutGroup(1.0, 1.0, bias=bias),),
    )


def found_at(index: int) -> Found:
    """The best ridge of one model of the scan."""
    found = best(random_model(index), over="ridge")
    ridge = found.values["ridge"]
    at_zero = ridge == found.scanned["ridge"][0]
    return Found(None if math.isinf(ridge) else float(f"{ridge:.6g}"), len(found.minima), at_zero, found.converged)


def scan() -> tuple[Found, ...]:
    """The stored scan; empty where it is not installed."""
    path = FOLDER / f"{SLUG}.json"
    if not path.is_file():
        return ()
    return tuple(Found(**one) for one in json.loads(path.read_text(encoding="utf-8")))


def store() -> None:
    """Scan all models and write one line for each."""
    lines = (" " + json.dumps(asdict(found_at(index))) for index in range(COUNT))
    (FOLDER / f"{SLUG}.json").write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def repeated(found: Sequence[Found]) -> int:
    """How many of the first models of the scan give the stored answer again."""
    return sum(_same(found_at(index), found[index]) for index in range(min(CHECKED, len(found))))


def _same(one: Found, other: Found) -> bool:
    if one.ridge is None or other.ridge is None:
        return one.ridge == other.ridge
    # Rounding of the slopes tells the place of a flat minimum to about this.
    return one.minima == other.minima and abs(one.ridge - other.ridge) <= 1e-4 * other.ridge


def study() -> Study | None:
    """The page."""
    found = scan()
    return page(found, repeated(found)) if len(found) == COUNT else None


def page(found: Sequence[Found], again: int) -> Study:
    """The page from the scan, so many of whose first models gave the stored answer again."""
    settled = [one for one in found if one.converged]
    infinite = sum(one.ridge is None for one in settled)
    several = [one for one in settled if one.minima > 1]
    dips, limit = best(TWO_MINIMA, over="ridge").minima, upper_bound(TWO_MINIMA)
    share, lost = infinite / len(settled), len(found) - len(settled)
    # A share of n models has this standard error.
    spread = math.sqrt(share * (1.0 - share) / len(settled))
    least, _ = min(dips, key=lambda dip: dip[1])
    minima = ", ".join(f"{error:.6f} at ridge {place['ridge']:.5g}" for place, error in dips)
    text = (
        "The test error along the ridge need not be unimodal, and its infimum need not be at a finite ridge. "
        f"A relu student with a relu target (alpha = {TWO_MINIMA.alpha:g}, beta = {TWO_MINIMA.beta:g}, r = "
        f"{TWO_MINIMA.spike:g}, c = {TWO_MINIMA.bulk:g}, gamma = 1, bias 0.7) has {len(dips)} minima: "
        f"{minima}; the lower one is at {least['ridge']:.5g}, and the limit of infinite ridge is {limit:.6f}. A "
        "descent from a small ridge ends in the other one. The search therefore refines all local minima of a scan.",
        f"Over {len(found)} random models (students {', '.join(STUDENTS)}; targets {', '.join(TARGETS)}; alpha and "
        "beta from 0.2 to 5, r up to 3, c from 0.5 to 2, any alignment, a bias in half of them, label noise 0 or 0.3; "
        f"seeded) {infinite} have the optimum at infinite ridge, {100 * share:.1f} +- {100 * spread:.1f} %: there "
        f"no finite ridge does better than the upper bound. {len(several)} have more than one minimum "
        f"({sum(one.ridge is None for one in several)} of them with the optimum at infinity all the same), and in "
        f"{sum(one.at_zero for one in settled)} the error still falls at the smallest ridge tried, 1e-6. "
        + (f"{lost} did not converge and are left out." if lost else f"All {len(found)} converged.")
        + f" {again} of the first {min(CHECKED, len(found))} gave the stored answer again when this page was made.",
        _who(found),
    )
    table = Table.of(
        "The two minima of the relu model: place, error by the scan, error solved again there",
        "ridge | test error | solved again",
        (
            *(
                f"{place['ridge']:.6g} | {error:.8f} | {solve(TWO_MINIMA.changed(**place)).test_error:.8f}"
                for place, error in dips
            ),
            f"infinite | {limit:.8f} | the upper bound",
        ),
    )
    title = "The best ridge: several minima, and none"
    return Study(SLUG, title, text, (table, _table(found)), (_figure(found),))


def _who(found: Sequence[Found]) -> str:
    """Which pairs of student and target have their optimum at infinity."""
    models = (random_model(index) for index, one in enumerate(found) if one.converged and one.ridge is None)
    counts = Counter(f"{model.activation.expression}, {model.target.expression}" for model in models)
    if not counts:
        return "No pair of student and target has its optimum at infinity here."
    told = "; ".join(f"`{name}`: {n}" for name, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    return f"Student and target of the optima at infinity, and how many there are: {told}."


def _finite(found: Sequence[Found]) -> list[float]:
    return [one.ridge for one in found if one.converged and one.ridge is not None]


def _infinite(found: Sequence[Found]) -> int:
    return sum(one.converged and one.ridge is None for one in found)


def _table(found: Sequence[Found]) -> Table:
    """Best ridges by decade."""
    edges = (0.0, 1e-5, 1e-2, 1e-1, 1.0, 10.0, 100.0, LARGE_RIDGE, math.inf)
    rows = [
        f"{low:g} to {high:g} | {sum(low <= ridge < high for ridge in _finite(found))}" for low, high in pairwise(edges)
    ]
    return Table.of("Best ridges of the random models", "ridge | models", [*rows, f"infinite | {_infinite(found)}"])


def _figure(found: Sequence[Found]) -> draw.Figure:
    """The error of the relu model along the ridge, and the best ridges of the random models."""
    canvas, curve, counts = draw.panels(2, size=(10.4, 3.7))
    errors = [solve(TWO_MINIMA.changed(ridge=float(ridge))).test_error for ridge in RIDGES]
    draw.line(curve, RIDGES, errors, 0, "test error", lw=1.8)
    curve.axhline(upper_bound(TWO_MINIMA), color=draw.STYLES[1][0], linestyle="--", lw=1.4, label="infinite ridge")
    minima = best(TWO_MINIMA, over="ridge").minima
    at, least = [place["ridge"] for place, _ in minima], [error for _, error in minima]
    curve.plot(at, least, color=draw.DARK, marker="o", ms=5, lw=0, label="minima")
    curve.set(xscale="log", xlabel=r"ridge $\lambda$", ylabel="test error", title="relu/relu, two minima")
    curve.set_ylim(min(errors) - 0.0005, min(errors) + 0.006)
    draw.legend(curve)
    finite = [math.log10(ridge) for ridge in _finite(found)]
    counts.hist(finite, bins=np.arange(-6.0, 6.01, 0.5).tolist(), color=draw.STYLES[0][0], label="finite")
    counts.bar([7.0], [_infinite(found)], width=0.5, color=draw.STYLES[1][0], label="infinite")
    counts.set_xticks([-6, -4, -2, 0, 2, 4, 6, 7], ["-6", "-4", "-2", "0", "2", "4", "6", r"$\infty$"])
    counts.set(xlabel=r"$\log_{10}$ of the best ridge", ylabel="models", title=f"{len(found)} random models")
    draw.legend(counts, loc="upper left")
    caption = (
        "Left: test error against the ridge for a relu student with bias 0.7 and a relu target, alignment 1. Right: "
        "best ridges of random models. The last bar counts models whose best ridge is infinite."
    )
    return draw.finished(canvas, SLUG, "The best ridge", caption)
