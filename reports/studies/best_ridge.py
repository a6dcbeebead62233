"""Page: the best ridge. Several minima, and minima at infinity: how often, over random models. Theory alone."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise

import numpy as np

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bounds.ridge import best_ridge, upper_bound
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.figures.figures import Figure
from giantsteps.reports.measurements.drawing import STYLES, finished, legend, panels
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
    activation("relu"), activation("relu"), alpha=3.256, beta=1.562, ridge=0.1, spike=2.029, bulk=1.243, alignment=1.0,
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
        activation(STUDENTS[rng.integers(len(STUDENTS))]),
        activation(TARGETS[rng.integers(len(TARGETS))]),
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
    best = best_ridge(random_model(index))
    ridge = None if best.at_infinity else float(f"{best.ridge:.6g}")
    return Found(ridge, len(best.minima), best.at_zero, best.converged)


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
    """How many of the first models of the scan give the stored answer again, ridges to 1e-4."""
    return sum(_same(found_at(index), found[index]) for index in range(min(CHECKED, len(found))))


def _same(one: Found, other: Found) -> bool:
    if one.ridge is None or other.ridge is None:
        return one.ridge == other.ridge
    # A golden section locates a flat minimum to about 1e-7 of its place, and the error is flat to 1e-14 there.
    return one.minima == other.minima and abs(one.ridge - other.ridge) <= 1e-4 * other.ridge


def study() -> Study | None:
    """The page."""
    found = scan()
    if len(found) < COUNT:
        return None
    return replace(page(found, repeated(found)), figures=(drawn(found),))


def page(found: Sequence[Found], again: int) -> Study:
    """The page from the scan: every number in the text is computed."""
    settled = [one for one in found if one.converged]
    infinite = [one for one in settled if one.ridge is None]
    several = [one for one in settled if one.minima > 1]
    both = sum(one.ridge is None for one in several)
    zero = sum(one.at_zero for one in settled)
    best = best_ridge(TWO_MINIMA)
    limit = upper_bound(TWO_MINIMA)
    share = len(infinite) / len(settled)
    # A share of n models has this standard error.
    spread = math.sqrt(share * (1.0 - share) / len(settled))
    least = min(best.minima, key=lambda minimum: minimum.error)
    text = (
        "The test error along the ridge need not be unimodal, and its infimum need not be at a finite ridge. "
        f"A relu student with a relu target (alpha = {TWO_MINIMA.alpha:g}, beta = {TWO_MINIMA.beta:g}, r = "
        f"{TWO_MINIMA.spike:g}, c = {TWO_MINIMA.bulk:g}, gamma = 1, bias 0.7) has {len(best.minima)} minima: "
        + ", ".join(f"{minimum.error:.6f} at ridge {minimum.at:.5g}" for minimum in best.minima)
        + f"; the lower one is at {least.at:.5g}, and the limit of infinite ridge is {limit:.6f}. A search that goes "
        "downhill from a small ridge ends in the other one, so all dips of a scan are refined.",
        f"Over {len(found)} random models (students {', '.join(STUDENTS)}; targets {', '.join(TARGETS)}; alpha and "
        "beta from 0.2 to 5, r up to 3, c from 0.5 to 2, any alignment, a bias in half of them, label noise 0 or 0.3; "
        f"seeded) {len(infinite)} have the optimum at infinite ridge, {100 * share:.1f} +- {100 * spread:.1f} %: there "
        f"no finite ridge does better than the upper bound. {len(several)} have more than one minimum "
        f"({both} of them with the optimum at infinity all the same), and in {zero} the error still falls at the "
        "smallest ridge tried, 1e-6. "
        + (
            f"All {len(found)} converged."
            if len(settled) == len(found)
            else f"{len(found) - len(settled)} did not converge and are left out."
        )
        + f" {again} of the first {min(CHECKED, len(found))} gave the stored answer again when this page was made.",
        _who(found),
    )
    rows = tuple(
        (f"{minimum.at:.6g}", f"{minimum.error:.8f}", f"{solve(TWO_MINIMA.changed(ridge=minimum.at)).test_error:.8f}")
        for minimum in best.minima
    )
    table = Table(
        "The two minima of the relu model: place, error by the scan, error solved again there",
        ("ridge", "test error", "solved again"),
        (*rows, ("infinite", f"{limit:.8f}", "the upper bound")),
    )
    return Study("best-ridge", "The best ridge: several minima, and none", text, (table, _table(found)))


def _who(found: Sequence[Found]) -> str:
    """Which pairs of student and target have their optimum at infinity."""
    counts: dict[str, int] = {}
    for index, one in enumerate(found):
        if one.converged and one.ridge is None:
            model = random_model(index)
            name = f"{model.activation.expression}, {model.target.expression}"
            counts[name] = counts.get(name, 0) + 1
    if not counts:
        return "No pair of student and target has its optimum at infinity here."
    listed = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    told = "; ".join(f"`{name}`: {n}" for name, n in listed)
    return f"Student and target of the optima at infinity, and how many there are: {told}."


def _table(found: Sequence[Found]) -> Table:
    """Best ridges by decade."""
    edges = (0.0, 1e-5, 1e-2, 1e-1, 1.0, 10.0, 100.0, LARGE_RIDGE, math.inf)
    finite = [one.ridge for one in found if one.converged and one.ridge is not None]
    rows = [
        (f"{low:g} to {high:g}", str(sum(low <= ridge < high for ridge in finite))) for low, high in pairwise(edges)
    ]
    rows.append(("infinite", str(sum(one.converged and one.ridge is None for one in found))))
    return Table("Best ridges of the random models", ("ridge", "models"), tuple(rows))


def drawn(found: Sequence[Found]) -> Figure:
    """The error of the relu model along the ridge, and the best ridges of the random models."""
    canvas, (curve, counts) = panels(2, width=10.4, height=3.7)
    errors = [solve(TWO_MINIMA.changed(ridge=float(ridge))).test_error for ridge in RIDGES]
    curve.plot(RIDGES, errors, color=STYLES[0][0], lw=1.8, label="test error")
    curve.axhline(upper_bound(TWO_MINIMA), color=STYLES[1][0], linestyle="--", lw=1.4, label="infinite ridge")
    best = best_ridge(TWO_MINIMA)
    curve.plot(
        [minimum.at for minimum in best.minima], [minimum.error for minimum in best.minima],
        color="#333333", marker="o", ms=5, lw=0, label="minima",
    )  # fmt: skip
    low = min(errors)
    curve.set(xscale="log", xlabel=r"ridge $\lambda$", ylabel="test error", title="relu/relu, two minima")
    curve.set_ylim(low - 0.0005, low + 0.006)
    legend(curve)
    finite = [math.log10(one.ridge) for one in found if one.converged and one.ridge is not None]
    counts.hist(finite, bins=np.arange(-6.0, 6.01, 0.5).tolist(), color=STYLES[0][0], label="finite")
    infinite = sum(one.converged and one.ridge is None for one in found)
    counts.bar([7.0], [infinite], width=0.5, color=STYLES[1][0], label="infinite")
    counts.set_xticks([-6, -4, -2, 0, 2, 4, 6, 7])
    counts.set_xticklabels(["-6", "-4", "-2", "0", "2", "4", "6", r"$\infty$"])
    counts.set(xlabel=r"$\log_{10}$ of the best ridge", ylabel="models", title=f"{len(found)} random models")
    legend(counts, loc="upper left")
    title = "The best ridge"
    caption = (
        "Left: the test error along the ridge of a relu student with bias 0.7 and a relu target, alignment 1. "
        "Right: the best ridges of random models; the last bar is those whose infimum is at infinite ridge."
    )
    return finished(canvas, SLUG, title, caption)
