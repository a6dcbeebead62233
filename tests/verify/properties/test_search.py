"""The search of properties: outcomes, the narrowest margin, shrinking, crashes, refusals and state machines."""

from __future__ import annotations

import math
import shlex
from typing import Any

import pytest
from hypothesis import strategies as st

from giantsteps.numerics.models.model import ModelError
from giantsteps.numerics.sweeps.store import Store
from giantsteps.verify.properties import commands
from giantsteps.verify.properties.margins import at_most, near
from giantsteps.verify.properties.property import THEORY, Property, Theory, plant
from giantsteps.verify.properties.run import CRASHES, Outcome, search
from giantsteps.verify.properties.strategies import wide
from giantsteps.verify.properties.themes.state_machines import (
    a_changed_model_is_one_built_anew,
    a_store_is_whole,
    an_edited_ledger_drifts,
)


def of(margin: Any, examples: int = 7) -> Property:
    drawn = st.integers(0, 2**20)
    return Property(
        "toy.name", "A sentence.", "a.claim", drawn, margin, "why", plant("text"), "see {}".format, examples
    )


def test_what_was_found_stands_field_by_field_and_is_shrunk() -> None:
    seen: list[int] = []

    def margin(number: int, theory: Theory) -> float:
        seen.append(number)
        return 0.25 + number / 2**21

    found = search(of(margin), 9, seed=3)
    assert found == Outcome("toy.name", "A sentence.", "a.claim", len(seen), 0.25 + min(seen) / 2**21, "holds")
    failing = search(of(lambda number, theory: -0.5), 9)
    assert (failing.outcome, failing.narrowest_margin, failing.trouble) == ("fails", -0.5, "the margin is -0.5")
    assert failing.counterexample == "see 0"
    assert search(of(lambda number, theory: 0.5 - (number > 1000)), 60).counterexample == "see 1001"
    assert search(of(lambda number, theory: math.nan), 3).outcome == "fails"


def test_a_counterexample_is_shrunk_to_a_model_that_a_person_would_type() -> None:
    def margin(model: Any, theory: object) -> float:
        return 0.5 - float(model.noise)

    one = Property("toy.noise", "It is small.", "no claim", wide(), margin, "", plant(""), commands.solve, 30)
    options = dict(zip(*[iter(shlex.split(str(search(one, 100).counterexample))[2:])] * 2, strict=True))
    assert [options[f"--{name}"] for name in ("noise", "alpha", "beta", "ridge")] == ["1.0"] * 4


@pytest.mark.parametrize(("error", "outcome"), [*((error, "fails") for error in CRASHES), (ModelError, "undecided")])
def test_a_crash_is_a_failure_with_its_words_and_a_refusal_decides_nothing(
    error: type[BaseException], outcome: str
) -> None:
    def margin(number: int, theory: Theory) -> float:
        raise error("so")

    found = search(of(margin), 3, shrunk=False)
    trouble = f"{error.__name__}: so" if outcome == "fails" else ""
    assert (found.outcome, found.trouble, found.narrowest_margin) == (outcome, trouble, None)


@pytest.mark.parametrize(
    ("given", "margin"),
    [
        ((1.0, 3.0, 0.5, 5.0), 0.5), ((3.0, 1.0, 0.5, 5.0), -0.3), ((1.0, 1.0, 0.0, 1.0), 0.0),
        ((0.0, 9.0, 0.0, 1.0), 1.0), ((0.0, 1.0, 0.0, 0.0), -math.inf), ((0.0, math.nan, 0.0, 1.0), -math.inf),
    ],
)  # fmt: skip
def test_room_is_beside_the_scale_and_none_where_there_is_no_number(given: tuple[float, ...], margin: float) -> None:
    assert at_most(*given) == pytest.approx(margin)


@pytest.mark.parametrize(
    ("given", "margin"),
    [
        (([1.0, 2.0], [1.1, 2.5], 1.0), 0.5), ((1.0 + 1.0j, 1.0, 2.0), 0.5), (([], [], 1.0), 1.0),
        (([1.0, math.nan], 1.0, 1.0), -math.inf), ((1.0, 1.0, math.inf), -math.inf), ((0.0, 0.0, 0.0), 1.0),
        ((1.0, 0.0, 0.0), -1.0),
    ],
)  # fmt: skip
def test_nearness_is_the_worst_of_an_array(given: tuple[Any, Any, float], margin: float) -> None:
    assert near(*given) == pytest.approx(margin)


class Adding(Store):
    """A store that writes other numbers than it is given."""

    def add(self, number: int, rows: Any) -> None:
        super().add(number, [(*row[:-1], 1.5 * row[-1] if isinstance(row[-1], float) else row[-1]) for row in rows])


WRONG: dict[str, tuple[Property, Theory]] = {
    "a field is not taken": (a_changed_model_is_one_built_anew, Theory(changed=lambda model, values: model.changed(
        **{name: value for name, value in values.items() if name != "ridge"}))),
    "a field of the step is not taken": (a_changed_model_is_one_built_anew, Theory(changed=lambda model, values: (
        model if "eta" in values else model.changed(**values)))),
    "all is drift": (an_edited_ledger_drifts, Theory(drift=lambda old, new: ["it drifts"])),
    "rounding is drift": (an_edited_ledger_drifts, Theory(drift=lambda old, new: [] if old == new else ["it drifts"])),
    "a lost claim is no drift": (an_edited_ledger_drifts, Theory(drift=lambda old, new: [
        found for found in THEORY.drift(old, new) if "only" not in found])),
    "other rows are stored": (a_store_is_whole, Theory(store=Adding)),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_a_machine_fails_on_whatever_is_wrong_in_what_it_drives(what: str) -> None:
    machine, theory = WRONG[what]
    assert search(machine, 60, theory=theory, shrunk=False).outcome == "fails"
