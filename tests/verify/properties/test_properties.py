"""Every property holds on what the quick profile draws, names a claim of the ledger, and fails on its plant."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from giantsteps.derivations.expressions.parser import parse
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.solution import Solution
from giantsteps.numerics.saddle_point import ridge
from giantsteps.reports.command_line.cli import run as giantsteps
from giantsteps.verify.claims.index import all_claims
from giantsteps.verify.properties import commands
from giantsteps.verify.properties import run as properties
from giantsteps.verify.properties.margins import is_so, near
from giantsteps.verify.properties.property import THEORY, Property, plant
from giantsteps.verify.properties.run import BY_NAME, PROPERTIES, TIMES, Outcome, meant, named, run, search
from giantsteps.verify.properties.strategies import wide
from giantsteps.verify.properties.themes.consistency import an_estimate_is_honest
from giantsteps.verify.properties.themes.language import parity_is_true

# Drawn within a hundred examples each, without shrinking; most plants are found within ten.
PLANTED = 100


@pytest.mark.parametrize("name", BY_NAME)
def test_it_holds_on_what_the_quick_profile_draws(name: str) -> None:
    one = BY_NAME[name]
    found = search(one, one.examples)
    assert (found.outcome, found.counterexample, found.trouble) == ("holds", None, "")
    assert found.narrowest_margin is not None
    assert 0.0 <= found.narrowest_margin <= 1.0


@pytest.mark.parametrize("name", BY_NAME)
def test_it_fails_on_its_plant(name: str) -> None:
    one = BY_NAME[name]
    found = search(one, PLANTED, theory=one.plant.theory, shrunk=False)
    assert found.outcome == "fails", one.plant.text
    assert found.counterexample is not None
    assert shlex.split(found.counterexample)[0] == "giantsteps"


def test_a_parity_that_is_not_decided_says_nothing() -> None:
    # Constant, since z/(z^2 + 1) stays below pi; which the tree does not show.
    assert parity_is_true.margin(parse("Max(pi, z/(z**2 + 1))"), THEORY) == 1.0


@pytest.mark.parametrize("text", ["z**2 + 1", "tanh(z)", "sin(z)**2 + cos(z)**2"])
def test_a_function_with_a_parity_is_not_neither(text: str) -> None:
    said: Any = SimpleNamespace(parity="neither", breakpoints=())
    assert parity_is_true.margin(parse(text), replace(THEORY, analysed=lambda _: said)) < 0.0


@pytest.mark.parametrize("text", ["z + 1", "relu(z - 30)", "1 + exp(-(z - 8)**2*10**6)", "z**2 + 1e-20*z"])
def test_what_hides_its_parity_on_a_grid_is_neither_all_the_same(text: str) -> None:
    assert THEORY.analysed(parse(text)).parity == "neither"
    assert parity_is_true.margin(parse(text), THEORY) == 1.0


def test_an_estimate_is_held_against_finer_rules_than_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    right = ridge.solve

    def solve(model: Model, *, refine: int = 0, **more: Any) -> Solution:
        """Off by a millionth until finer rules are asked for, which its estimate does not say."""
        found = right(model, refine=refine, **more)
        return found if refine else replace(found, test_error=found.test_error + 1e-6)

    monkeypatch.setattr(ridge, "solve", solve)
    model = Model("tanh", "sin", 1.5, 1.0, 0.1, spike=1.0, bulk=1.0, alignment=0.6)
    assert an_estimate_is_honest.margin(model, replace(THEORY, solve=solve)) < 0.0


def test_a_limit_that_is_reached_late_and_from_the_other_side_is_reached_all_the_same() -> None:
    # a/p + b/p^2 with b = -10^8 a: at p = 10^8 they cancel to a thousandth of either.
    late = Model("z*erfc(-z/sqrt(2))/2", "z/sqrt(z**2 + 1)", 0.5, 2.55, 10.0, spike=0.35, bulk=0.5, alignment=0.85)
    limit = THEORY.solve(late)
    off = [p * (limit.at_width(p).test_error - limit.test_error) for p in (1e7, 1e8, 1e9)]
    assert off[0] > 0.0 > off[2]
    assert abs(off[1]) < 0.1 * abs(off[2])
    one = BY_NAME["limits.finite-width"]
    for p in (1e8, 2e8, 1e9):
        assert one.margin((late, p), THEORY) > 0.0

    def widened(found: Solution, width: float) -> Solution:
        at = limit.at_width(width)
        return replace(at, test_error=at.test_error + 1e-4 * width**-0.5)

    rooted = replace(THEORY, solve=lambda model: replace(THEORY.solve(model), widened=widened))
    assert one.margin((late, 1e8), rooted) < 0.0
    assert one.shown((late, 1e8)).endswith("--width 100000000")


@pytest.mark.parametrize("power", [0.5, 0.9, 1.2, 1.5, 3.0])
def test_another_rate_than_the_inverse_of_the_width_is_refuted(power: float) -> None:
    model = Model("tanh", "sin", 1.5, 1.0, 0.1, spike=1.0, bulk=1.0, alignment=0.8)
    limit, one = THEORY.solve(model), BY_NAME["limits.finite-width"]

    def widened(found: Solution, width: float) -> Solution:
        return replace(limit, test_error=limit.test_error + 1e-3 * (width / 1e8) ** -power)

    theory = replace(THEORY, solve=lambda model: replace(limit, widened=widened))
    assert one.margin((model, 1e8), theory) < 0.0 < one.margin((model, 1e8), THEORY)


def test_there_are_many_of_them_and_each_serves_a_claim() -> None:
    known = {claim.id for claim in all_claims()}
    assert len(PROPERTIES) >= 80
    assert len(BY_NAME) == len(PROPERTIES)
    assert {one.claim for one in PROPERTIES} - known == set()
    assert all(one.sentence and one.reason and one.plant.text for one in PROPERTIES)


def test_the_thorough_profile_draws_a_hundred_thousand_examples() -> None:
    assert TIMES["thorough"] * sum(one.examples for one in PROPERTIES) >= 1e5


def test_a_counterexample_is_shrunk_to_a_model_that_a_person_would_type() -> None:
    def margin(model: object, theory: object) -> float:
        return 0.5 - getattr(model, "noise", 0.0)

    one = Property(
        "toy.noise", "The noise is under a half.", "no claim", wide(), margin, "", plant(""), commands.solve, 30
    )
    found = search(one, 100)
    assert found.outcome == "fails"
    options = dict(zip(*[iter(shlex.split(str(found.counterexample))[2:])] * 2, strict=True))
    assert [options[f"--{name}"] for name in ("noise", "alpha", "beta", "ridge")] == ["1.0"] * 4


def test_what_crashes_fails_and_what_is_always_refused_is_undecided() -> None:
    from giantsteps.numerics.models.model import ModelError

    def crashing(model: object, theory: object) -> float:
        raise ZeroDivisionError("by nothing")

    def refusing(model: object, theory: object) -> float:
        raise ModelError("not this one")

    for margin, outcome, trouble in ((crashing, "fails", "ZeroDivisionError: by nothing"), (refusing, "undecided", "")):
        one = Property("toy.crash", "", "", wide(), margin, "", plant(""), commands.solve, 5)
        found = search(one, 5)
        assert (found.outcome, found.trouble) == (outcome, trouble)


def test_margins() -> None:
    assert near(1.0, 1.5, 1.0) == pytest.approx(0.5)
    assert near([1.0, float("nan")], 1.0, 1.0) == -float("inf")
    assert near(0.0, 0.0, 0.0) == 1.0
    assert near(1.0, 0.0, 0.0) == -1.0
    assert (is_so(True), is_so(False)) == (1.0, -1.0)


def test_names() -> None:
    assert named("limits.heavy") == ["limits.heavy-ridge"]
    assert named("nothing") == []
    assert meant("limits.hevy-ridge")[0] == "limits.heavy-ridge"
    assert meant("one-letter") == ["invariances.one-letter-in-a-plane"]


def test_a_search_is_the_same_again_and_another_with_another_seed() -> None:
    name = "limits.large-batch"
    first, again, other = (run([name], "quick", seed)[0].narrowest_margin for seed in (0, 0, 1))
    assert first == again != other


def test_the_command_searches_by_name(capfd: pytest.CaptureFixture[str]) -> None:
    assert giantsteps(["verify", "--properties", "limits.small-batch", "--json"]) == 0
    out, _ = capfd.readouterr()
    (entry,) = json.loads(out)["properties"]
    assert set(entry) == {"name", "claim", "examples", "narrowest_margin", "outcome", "counterexample"}
    assert (entry["name"], entry["outcome"], entry["counterexample"]) == ("limits.small-batch", "holds", None)


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        (("holds", "holds"), 0),
        (("undecided", "holds"), 3),
        (("fails", "holds"), 1),
        (("undecided", "fails"), 1),
        (("fails", "undecided"), 1),
    ],
)
def test_one_property_that_fails_decides(
    outcomes: tuple[str, ...], code: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def found(*_: object) -> list[Outcome]:
        return [Outcome(f"p{k}", "It holds.", "c", 3, 0.5, word, "giantsteps") for k, word in enumerate(outcomes)]

    monkeypatch.setattr(properties, "run", found)
    assert giantsteps(["verify", "--properties", "limits"]) == code
    assert "limits" not in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "named_in_it"),
    [
        (["--properties", "limits.hevy-ridge"], "limits.heavy-ridge"),
        (["--properties", "--seed", "x"], "--seed"),
        (["--seed", "3.5"], "--seed 7"),
        (["--seed", "3", "--export", "rocq", "somewhere"], "--export rocq and --seed"),
        (["--properties", "--export", "rocq", "somewhere"], "--export rocq"),
        (["--properties", "--profile", "slow"], "thorough"),
    ],
)
def test_bad_input_is_one_sentence(arguments: list[str], named_in_it: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert giantsteps(["verify", *arguments]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert named_in_it in err
    assert len(err.splitlines()) == 1
