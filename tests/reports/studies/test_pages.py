"""The pages of the studies: each is made of its samples and can be shown, and its verdict turns when samples move."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from giantsteps.numerics.bounds.results import Minimum
from giantsteps.reports.built_in.studies import STUDIES
from giantsteps.reports.measurements.experiments import FOLDER, Data, Measurement, complete, read, stored
from giantsteps.reports.measurements.study import Study
from giantsteps.reports.page.studies import found_at
from giantsteps.reports.studies import (
    best_ridge,
    bound_functions,
    other_inputs,
    spectrum_sample,
    speed,
    threshold,
    width,
)
from giantsteps.reports.studies.best_ridge import Found
from giantsteps.reports.studies.networks import any_activation, initial_overlap, predicted
from giantsteps.reports.studies.paper.series import plotted
from giantsteps.reports.text.prose import prose
from giantsteps.verify.checks.finite_size import CONFIRMED

MEASURED = {one.slug: one for one in map(found_at, STUDIES) if isinstance(one, Measurement)}


def shown(study: Study) -> str:
    """All text of a page; every cell and paragraph has to be showable, every figure drawn."""
    cells = [cell for table in study.tables for row in (table.columns, *table.rows) for cell in row]
    for text in (*study.text, *cells, *(figure.caption for figure in study.figures)):
        assert "nan" not in text
        prose(text)
    assert study.figures
    assert all("<svg" in figure.svg for figure in study.figures)
    return " | ".join((*study.text, *cells))


def scaled(data: Data, pattern: str, factor: float, observable: str = "test_error") -> Data:
    """The samples with one observable of the experiments of a name multiplied."""
    found = {name: one for name, one in data.items() if re.search(pattern, name) and observable in one}
    assert found
    return data | {name: one | {observable: [factor * x for x in one[observable]]} for name, one in found.items()}


def swapped(data: Data, one: str, other: str) -> Data:
    """The samples under the other's name."""
    exchange = {one: other, other: one}
    return {re.sub(f"{one}|{other}", lambda found: exchange[found[0]], name): found for name, found in data.items()}


@pytest.mark.parametrize("slug", MEASURED)
def test_every_experiment_is_stored_under_a_name_of_its_own(slug: str) -> None:
    study = MEASURED[slug]
    assert complete(stored(slug), study.experiments)
    assert len({experiment.name for experiment in study.experiments}) == len(study.experiments)
    missing = study.experiments[0].name
    assert not complete({name: one for name, one in stored(slug).items() if name != missing}, study.experiments)


CURVE = width.Curve("a problem", (0.5, 0.4) * 4, (0.5, 0.4) * 4)
ROOTS = [tuple(x**-0.5 for x in xs) for xs in (threshold.RIDGES, threshold.GAPS, threshold.GAPS)]
EXACT = threshold.Divergence("exact", *ROOTS)
# What the page says of its samples, and of samples that were moved.
TURNS: dict[str, tuple[Callable[[Data], Study], str, Callable[[Data], Data], str]] = {
    "finite_samples": (
        MEASURED["finite_samples"].page, "14 of 32 are beyond three standard errors",
        partial(scaled, pattern="erf/sign, eta 4", factor=2.0), "15 of 32 are beyond three standard errors",
    ),
    "initial_overlap": (
        MEASURED["initial_overlap"].page, "refuted at 0 of 42 comparisons",
        partial(scaled, pattern="overlap 0.2", factor=1.1, observable="spike"), "refuted at 2 of 42 comparisons",
    ),
    "second_step": (
        MEASURED["second_step"].page, "it does at 35 of 36 points, raises it at 0",
        partial(swapped, one="steps 1", other="steps 2"), "it does at 0 of 36 points",
    ),
    "learning_rate": (
        MEASURED["learning_rate"].page, "within 1.2 standard errors of the best rate",
        partial(scaled, pattern="^tanh/tanh, eta (1.5|2|3|4.5|6.5)$", factor=2.0), "within 438.6 standard errors",
    ),
    "width": (
        partial(width.page, curves=[CURVE]), "sin at eta = 4 wide networks err more | this suite | seen",
        partial(scaled, pattern="tanh/sin, fixed, beta 4$", factor=0.5),
        "sin at eta = 4 wide networks err more | this suite | not seen",
    ),
    "threshold": (
        partial(threshold.page, found=[EXACT]), "2.6 standard errors (leaky relu/sin, alpha 0.25;",
        partial(scaled, pattern="atan/sign, alpha 2", factor=2.0), "standard errors (atan/sign, alpha 2;",
    ),
    "other_inputs": (
        MEASURED["other_inputs"].page, "0 of 12 comparisons are beyond",
        partial(scaled, pattern="uniform dense", factor=1.3), "4 of 12 comparisons are beyond 3.5 standard errors",
    ),
    "vocabulary": (
        MEASURED["vocabulary"].page, "0 of 20 points refuted", partial(scaled, pattern="", factor=1.1),
        "15 of 20 points refuted",
    ),
}  # fmt: skip


@pytest.mark.parametrize("slug", TURNS)
def test_the_verdict_turns_when_samples_move(slug: str) -> None:
    page, before, moved, after = TURNS[slug]
    data = stored(slug)
    usual, other = shown(page(data)), shown(page(moved(data)))
    assert before in usual
    assert before not in other
    assert after in other
    assert after not in usual


def test_the_overlap_page_says_which_of_two_maps_holds() -> None:
    rows = initial_overlap.rows_of(stored("initial_overlap"))
    other = shown(initial_overlap.page_of([replace(row, measured=row.printed) for row in rows]))
    assert "not seen | refuted at" in other
    assert "the test error refuted nowhere" in other


def test_wrong_constants_of_a_law_would_be_seen() -> None:
    data, (case, network) = stored("other_inputs"), list(other_inputs.CASES.items())[2]
    inputs = next(one for one in other_inputs.VARIANTS if one.directions == "sparse")
    found = other_inputs.mapped_of(case, network, inputs, data)
    assert [one.seen for one in other_inputs.map_says([found])] == [False, True]
    assert [one.seen for one in other_inputs.map_says([replace(found, own=found.usual)])] == [False, False]


def test_an_exponent_that_is_not_a_half_is_told() -> None:
    other = replace(EXACT, at_threshold=tuple(ridge**-0.6 for ridge in threshold.RIDGES))
    rows = [threshold.page(stored("threshold"), [one]).tables[0].rows[1] for one in (EXACT, other)]
    assert [row[2] for row in rows] == ["seen", "not seen"]


def test_the_page_of_the_best_ridge_follows_the_scan() -> None:
    finite, infinite = Found(1.0, 1, False, True), Found(None, 0, False, True)
    text = shown(best_ridge.page([finite] * 3 + [infinite], 4))
    assert "1 have the optimum at infinite ridge, 25.0 +- 21.7 %" in text
    assert "0 have more than one minimum" in text
    lost = " ".join(best_ridge.page([replace(finite, converged=False), infinite], 1).text)
    assert "1 did not converge and are left out" in lost
    assert "No pair" in best_ridge.page([finite] * 4, 4).text[-1]


def test_the_page_of_the_bounds_follows_the_scan() -> None:
    count = len(bound_functions.RATES)
    least = Minimum(4.0, 0.1), Minimum(4.0, 0.3)
    inside = bound_functions.Optimum("erf/erf", (0.1,) * count, (0.3,) * count, *least, (0.2,) * 6)
    assert "outside the bounds at 0 of 6" in shown(bound_functions.page([inside]))
    assert "outside the bounds at 1 of 6" in shown(
        bound_functions.page([replace(inside, over_ridge=(0.31, *(0.2,) * 5))])
    )


@pytest.mark.parametrize("name", ["test_error", "m"])
def test_the_trial_of_any_activation_refutes_the_theory_where_samples_move(name: str) -> None:
    data = read(any_activation.ANY_ACTIVATION.folder / predicted.SAMPLES)
    right = any_activation.judged_in(data)
    counts = any_activation.verdicts(right, "network")
    assert f"seen | {counts[CONFIRMED]} CONFIRMED" in shown(any_activation.page(data))
    one = next(j for j in right if j.reports["network"].verdict == CONFIRMED)
    # Off by three times what is tolerated, at every dimension.
    off = 3.0 * (one.reports["network"].comparison(name).tolerance or 0.0)
    runs = data[predicted.KEY][one.entry.drawn.name]
    moved = {d: found | {name: [x + off for x in found[name]]} for d, found in runs.items()}
    text = shown(any_activation.page({predicted.KEY: data[predicted.KEY] | {one.entry.drawn.name: moved}}))
    assert f"refuted: {one.entry.activation} / {one.entry.target}, alpha0" in text


def test_the_spectrum_page_follows_the_sample() -> None:
    sample = json.loads((FOLDER / "spectrum_sample.json").read_text(encoding="utf-8"))
    name = next(iter(spectrum_sample.CASES))
    (row,) = spectrum_sample.rows_of({name: sample[name]})
    stretched = replace(row, bulk=tuple(1.1 * x for x in row.bulk))
    assert row.distance < 0.01 < 0.02 < stretched.distance
    usual, other = (shown(spectrum_sample.page([one])) for one in (row, stretched))
    assert "(Figure 8, whose setting the sources do not print) | Appendix F | seen" in usual
    assert "(Figure 8, whose setting the sources do not print) | Appendix F | not seen" in other
    # The caption states the peak of the drawn line, which the axes cut.
    (figure,) = spectrum_sample.page([row]).figures
    peak = max(plotted(figure)[1, "theory"].y)
    assert f"near zero the density peaks at {peak:.2g} ({name})" in figure.caption


SPEED: dict[str, Any] = json.loads(speed.DATA.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("part", "name", "factor", "what"),
    [
        ("single", "seconds", 1e3, "one point, against the baseline"),
        ("batch", "seconds_per_point", 1e3, "a point of a batch, analytic"),
        ("batch", "residual", 1e9, "largest residual"),
        ("four groups", "seconds", 1e3, "one point with four readout groups"),
    ],
)
def test_a_missed_promise_is_said(part: str, name: str, factor: float, what: str) -> None:
    page = speed.page(SPEED | {part: SPEED[part] | {name: factor * SPEED[part][name]}})
    assert what in page.text[-1]
    assert any(row[0] == what and row[3] == "missed" for row in page.tables[0].rows)


@pytest.mark.parametrize(("name", "factor"), [("seconds", 1e3), ("parameter_error", 1e6), ("converged", 0)])
def test_a_missed_promise_of_a_convex_loss_is_said(name: str, factor: float) -> None:
    entry = SPEED["convex"]["logistic"]
    moved = SPEED["convex"] | {"logistic": entry | {name: factor * entry[name]}}
    before, after = ({bar.what for bar in speed.bars(one) if not bar.met} for one in (SPEED, SPEED | {"convex": moved}))
    (missed,) = after - before
    assert missed.startswith("a convex loss")


def test_promises_are_ratios_of_one_run() -> None:
    found = {bar.what: bar.value for bar in speed.bars(SPEED)}
    seconds = SPEED["baseline"]["seconds"]
    assert found["one point, against the baseline"] == seconds / SPEED["single"]["seconds"]
    assert found["a point of a batch, against the baseline"] == seconds / SPEED["batch"]["seconds_per_point"]
    # Neither clock nor host: what was measured on is cores and versions.
    assert set(SPEED["measured on"]) == {"cores", "python", "numpy"}
