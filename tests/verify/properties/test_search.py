"""The search of properties and its measures: counts, margins, seeds, profiles and the command that is shown."""

from __future__ import annotations

import math
import shlex
import subprocess
import sys
from concurrent.futures import Executor, Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.sweeps.store import Store
from giantsteps.verify.properties import commands, margins, run
from giantsteps.verify.properties.margins import at_most, error_of, near
from giantsteps.verify.properties.property import THEORY, Machine, Property, Theory, plant
from giantsteps.verify.properties.run import BY_NAME, CRASHES, SEED, TIMES, Outcome, Search, Violated, meant, search
from giantsteps.verify.properties.themes.state_machines import (
    a_changed_model_is_one_built_anew,
    a_store_is_whole,
    an_edited_ledger_drifts,
)

# ---- one search ----


def test_the_command_leaves_nothing_behind(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "giantsteps", "verify", "--properties", "limits.narrow"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert (done.returncode, list(tmp_path.iterdir())) == (0, [])


def of(margin: Any, examples: int = 7) -> Property:
    shown = lambda number: f"giantsteps solve --seen {number}"  # noqa: E731
    drawn = st.integers(0, 2**20)
    return Property("toy.name", "A sentence.", "a.claim", drawn, margin, "why", plant("text"), shown, examples)


@pytest.mark.parametrize("margins_", [(0.5, 0.2, 0.9), (0.2,), (0.9, 0.0)])
def test_a_search_keeps_the_narrowest_margin_and_counts_each_example(margins_: tuple[float, ...]) -> None:
    found = Search()
    for margin in margins_:
        found.note("one", margin)
    assert (found.examples, found.narrowest, found.failing) == (len(margins_), min(margins_), None)


@pytest.mark.parametrize("margin", [-1e-9, -math.inf, math.nan])
def test_a_margin_below_zero_or_none_at_all_violates(margin: float) -> None:
    found = Search()
    with pytest.raises(Violated):
        found.note("one", margin)
    assert found.examples == 1
    assert found.failing == ("one", f"the margin is {margin:.3g}")
    with pytest.raises(Violated, match="it broke"):
        found.note("another", margin, "it broke")
    assert found.failing == ("another", "it broke")


def test_what_was_found_stands_field_by_field() -> None:
    seen: list[int] = []

    def margin(number: int, theory: Theory) -> float:
        seen.append(number)
        return 0.25 + number / 2**21

    found = search(of(margin), 9, seed=3)
    assert found == Outcome("toy.name", "A sentence.", "a.claim", len(seen), 0.25 + min(seen) / 2**21, "holds")
    failing = search(of(lambda number, theory: -0.5), 9)
    assert (failing.outcome, failing.narrowest_margin, failing.trouble) == ("fails", -0.5, "the margin is -0.5")
    # Shrunk to the smallest number there is; without shrinking the one that was drawn.
    assert failing.counterexample == "giantsteps solve --seen 0"
    large = search(of(lambda number, theory: 0.5 - (number > 1000)), 60)
    assert large.counterexample == "giantsteps solve --seen 1001"
    assert search(of(lambda number, theory: 0.5 - (number > 1000)), 60, shrunk=False).counterexample not in (
        None, "giantsteps solve --seen 1001")  # fmt: skip


def test_the_theory_on_trial_is_the_one_that_is_given() -> None:
    mine = Theory(atom=lambda model: -1.0)
    assert search(of(lambda number, theory: theory.atom(None)), 3, theory=mine).outcome == "fails"  # type: ignore[arg-type]


@pytest.mark.parametrize("error", CRASHES)
def test_every_sort_of_crash_is_a_failure_with_its_words(error: type[BaseException]) -> None:
    def margin(number: int, theory: Theory) -> float:
        raise error("so")

    found = search(of(margin), 3, shrunk=False)
    assert (found.outcome, found.trouble, found.narrowest_margin) == ("fails", f"{error.__name__}: so", None)
    assert found.examples > 0


def test_a_state_machine_is_shown_with_its_seed_and_steps() -> None:
    shown = run._shown(a_changed_model_is_one_built_anew, "alpha = 2; beta = 3", 5)
    name = "state-machines.a-changed-model-is-one-built-anew"
    assert shown == f"giantsteps verify --properties {name} --seed 5  # alpha = 2; beta = 3"


def test_a_state_machine_draws_what_its_seed_says() -> None:
    drawn: list[int] = []

    def built(theory: Theory, tell: Any) -> type:
        class Toy(RuleBasedStateMachine):
            @rule(number=st.integers(0, 2**40))
            def keep(self, number: int) -> None:
                drawn.append(number)
                tell(0.5, "kept")

        return Toy

    one = Machine("toy.machine", "A sentence.", "a.claim", built, "why", plant("text"), 4)
    found = []
    for seed in (3, 3, 4):
        drawn.clear()
        search(one, 4, seed=seed)
        found.append(tuple(drawn))
    assert found[0]
    assert found[0] == found[1] != found[2]


# ---- several ----


class Here(Executor):
    """Does at once what it is asked, in this process."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def submit(self, work: Any, /, *arguments: Any, **more: Any) -> Future[Any]:
        self.asked.append(arguments)
        done: Future[Any] = Future()
        done.set_result(work(*arguments, **more))
        return done


NAMES = ["limits.narrow", "consistency.digits-agree-with-doubles", "limits.across"]


@pytest.mark.parametrize("executor", [None, Here()], ids=["alone", "workers"])
@pytest.mark.parametrize("profile", TIMES)
def test_each_is_searched_under_its_profile_and_seed_and_answered_in_the_order_asked(
    executor: Here | None, profile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, int, int]] = []

    def answer(one: Property, examples: int, seed: int) -> str:
        asked.append((one.name, examples, seed))
        return f"found of {one.name}"

    monkeypatch.setattr(run, "search", answer)
    heard: list[str] = []
    found = run.run(NAMES, profile, 6, executor, heard.append)
    assert found == [f"found of {name}" for name in NAMES]
    assert sorted(asked) == sorted((name, TIMES[profile] * BY_NAME[name].examples, 6) for name in NAMES)
    assert sorted(heard) == sorted(NAMES)
    run.run(NAMES[:1], profile)
    assert asked[-1][2] == SEED == 0
    if executor is not None:
        examples = [BY_NAME[arguments[0]].examples for arguments in executor.asked[-3:]]
        assert examples == sorted(examples)


def test_a_name_that_is_unknown_is_answered_by_up_to_three_that_have_it_inside() -> None:
    assert len(meant("ridge")) == 3
    assert all("ridge" in name for name in meant(" ridge "))
    assert len(meant("zzzz")) == 1
    assert meant("") != []


# ---- margins ----


def test_what_two_solutions_may_differ_by_is_ten_times_their_estimates_and_their_rounding() -> None:
    one, other = (SimpleNamespace(test_error=e, error_estimate=d) for e, d in ((2.0, 1e-3), (-4.0, 5e-3)))
    assert error_of(one, other) == pytest.approx(0.06, rel=1e-9)
    exact = [SimpleNamespace(test_error=e, error_estimate=0.0) for e in (2.0, -4.0)]
    assert error_of(*exact) == pytest.approx(1e-13 * (3.0 + 5.0), rel=1e-9)


@pytest.mark.parametrize(
    ("given", "margin"),
    [
        ((1.0, 3.0, 0.5, 5.0), 0.5), ((3.0, 1.0, 0.5, 5.0), -0.3), ((1.0, 1.0, 0.0, 1.0), 0.0),
        ((0.0, 9.0, 0.0, 1.0), 1.0), ((0.0, 1.0, 0.0, 0.0), -math.inf), ((0.0, 1.0, 0.0, -1.0), -math.inf),
        ((0.0, math.nan, 0.0, 1.0), -math.inf), ((0.0, math.inf, 0.0, 1.0), -math.inf), ((1.0, 0.5, 1.0), 0.5),
    ],
)  # fmt: skip
def test_room_is_beside_the_scale_and_none_where_there_is_no_number(given: tuple[float, ...], margin: float) -> None:
    assert at_most(*given) == pytest.approx(margin)


def test_nearness_is_the_worst_of_an_array_and_knows_complex_numbers() -> None:
    assert near([1.0, 2.0], [1.1, 2.5], 1.0) == pytest.approx(0.5)
    assert near(1.0 + 1.0j, 1.0, 2.0) == pytest.approx(0.5)
    assert near([], [], 1.0) == 1.0
    assert near(1.0, 1.0, math.inf) == -math.inf
    assert near(math.inf, 1.0, 1.0) == -math.inf


class LeftError(Exception):
    """Raised where a draw would be left."""


def test_what_did_not_converge_says_nothing_and_options_reach_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def leave() -> None:
        raise LeftError

    monkeypatch.setattr(margins.hypothesis, "reject", leave)

    def solve(model: Any, **options: Any) -> Any:
        seen.append((model, options))
        return SimpleNamespace(converged=model == "good")

    theory = Theory(solve=solve)
    assert margins.trusted(theory, "good", refine=2).converged  # type: ignore[arg-type]
    with pytest.raises(LeftError):
        margins.trusted(theory, "bad")  # type: ignore[arg-type]
    assert seen == [("good", {"refine": 2}), ("bad", {})]


# ---- the command ----


def test_a_command_says_each_option_that_has_a_value_whatever_it_is() -> None:
    text = commands.command("solve", "a b", zero=0.0, nothing=None, flag=True, off=False, bulk_model="network")
    assert shlex.split(text) == ["giantsteps", "solve", "a b", "--zero", "0.0", "--flag", "--off", "False",
                                 "--bulk-model", "network"]  # fmt: skip


FIELDS: dict[str, Any] = {"alpha": 1.25, "beta": 2.25, "ridge": 0.375, "noise": 0.5, "spike": -1.5, "bulk": 0.75,
                          "alignment": 0.625}  # fmt: skip


def test_each_field_of_a_model_is_an_option_and_zeros_are_said_but_for_the_noise() -> None:
    common = {"activation": "tanh(z)", "target": "sin(z)"}
    none = dict.fromkeys(("readout", "bulk_model", "rows", "loss"))
    whole = commands.model_options(Model("tanh", "sin", **FIELDS))
    assert whole == common | FIELDS | {"alignment": "0.625"} | none
    for name in ("spike", "ridge"):
        assert commands.model_options(Model("tanh", "sin", **(FIELDS | {name: 0.0})))[name] == 0.0
    assert "noise" not in commands.model_options(Model("tanh", "sin", **(FIELDS | {"noise": 0.0})))
    step = {"alpha": 1.0, "beta": 2.0, "ridge": 0.5, "noise": 0.25, "alpha0": 3.0, "eta": 4.0}
    after = commands.model_options(Model.from_gradient_step(**common, **step, bulk_model="network"))
    assert after == common | step | none | {"bulk_model": "network"}
    assert commands.model_options(Model("tanh", "sin", **FIELDS), alpha="1,2")["alpha"] == "1,2"
    assert commands.model_options(Model("tanh", "sin", **FIELDS, loss="huber:2"))["loss"] == "huber:2"


@pytest.mark.parametrize(
    ("group", "text"),
    [
        (ReadoutGroup(2.0, 1.0), "2.0:1.0"),
        (ReadoutGroup(2.0, 1.0, 0.5), "2.0:1.0:0.5"),
        (ReadoutGroup(2.0, 1.0, None, 0.25), "2.0:1.0::0.25"),
        (ReadoutGroup(2.0, 1.0, 0.5, 0.25), "2.0:1.0:0.5:0.25"),
        (ReadoutGroup(2.0, 1.0, 10.0, 10.0), "2.0:1.0:10.0:10.0"),
        (ReadoutGroup(2.0, 1.0, None, 0.0, further_weights=(3.0,)), "2.0/3.0:1.0"),
    ],
)
def test_a_group_is_said_by_what_it_has(group: ReadoutGroup, text: str) -> None:
    assert commands._readout((group,)) == text
    assert commands._readout((group, group)) == f"{text},{text}"
    assert commands._readout((ReadoutGroup(),)) is None


def test_what_is_swept_stands_in_place_of_the_models_own() -> None:
    model = Model("tanh", "sin", **FIELDS)
    words = shlex.split(commands.swept(model, "ridge", 0.1, 0.25))
    assert words[words.index("--ridge") + 1] == "0.1,0.25"
    assert shlex.split(commands.bounds(model)) == ["giantsteps", "bounds", *shlex.split(commands.solve(model))[2:]]
    given = {"activation": "tanh", "eta": 2.0}
    assert commands.stepped(given, eta="1,2") == "giantsteps solve --activation tanh --eta 1,2 --bulk-model isotropic"
    assert commands.activation("z + 1", bulk=2.0) == "giantsteps activation 'z + 1' --bulk 2.0"


# ---- machines ----


class Adding(Store):
    """A store that writes other numbers than it is given."""

    def add(self, number: int, rows: Any) -> None:
        super().add(number, [(*row[:-1], 1.5 * row[-1] if isinstance(row[-1], float) else row[-1]) for row in rows])


class Counting(Store):
    """A store that counts one row more than it has."""

    @property
    def stored(self) -> int:
        return super().stored + 1


WRONG: dict[str, tuple[Machine, Theory]] = {
    "a field is not taken": (a_changed_model_is_one_built_anew, Theory(changed=lambda model, values: model.changed(
        **{name: value for name, value in values.items() if name != "ridge"}))),
    "a field of the step is not taken": (a_changed_model_is_one_built_anew, Theory(changed=lambda model, values: (
        model if "eta" in values else model.changed(**values)))),
    "all is drift": (an_edited_ledger_drifts, Theory(drift=lambda old, new: ["it drifts"])),
    "nothing is drift": (an_edited_ledger_drifts, Theory(drift=lambda old, new: [])),
    "rounding is drift": (an_edited_ledger_drifts, Theory(drift=lambda old, new: [] if old == new else ["it drifts"])),
    "a lost claim is no drift": (an_edited_ledger_drifts, Theory(drift=lambda old, new: [
        found for found in THEORY.drift(old, new) if "only" not in found])),
    "other rows are stored": (a_store_is_whole, Theory(store=Adding)),
    "rows are counted wrongly": (a_store_is_whole, Theory(store=Counting)),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_a_machine_fails_on_whatever_is_wrong_in_what_it_drives(what: str) -> None:
    machine, theory = WRONG[what]
    found = search(machine, 60, theory=theory, shrunk=False)
    assert found.outcome == "fails"
