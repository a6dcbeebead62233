"""Every property holds on what the quick profile draws, serves a claim of the ledger, and fails on its plant."""

from __future__ import annotations

import json
import math
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.solution import Solution
from giantsteps.reports.command_line.cli import run as giantsteps
from giantsteps.verify.claims.index import all_claims
from giantsteps.verify.properties.property import THEORY
from giantsteps.verify.properties.run import BY_NAME, PROPERTIES, TIMES, meant, named, run, search

# Drawn within a hundred examples each, without shrinking; most plants are found within ten.
PLANTED = 100


@pytest.mark.parametrize("share", [0.25, pytest.param(1.0, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("name", BY_NAME)
def test_it_holds_on_what_the_quick_profile_draws(name: str, share: float) -> None:
    one = BY_NAME[name]
    found = search(one, math.ceil(share * one.examples))
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
    assert TIMES["thorough"] * sum(one.examples for one in PROPERTIES) >= 1e5


def test_names_are_found_by_their_beginning_and_meant_by_what_is_near() -> None:
    assert named("limits.heavy") == ["limits.heavy-ridge"]
    assert named("nothing") == []
    assert meant("limits.hevy-ridge")[0] == "limits.heavy-ridge"
    assert meant("one-letter") == ["invariances.one-letter-in-a-plane"]
    assert len(meant(" ridge ")) == 3


def test_a_search_is_the_same_again_and_another_with_another_seed() -> None:
    name = "limits.large-batch"
    first, again, other = (run([name], "quick", seed)[0].narrowest_margin for seed in (0, 0, 1))
    assert first == again != other


def test_the_command_searches_by_name_and_leaves_nothing_behind(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert giantsteps(["verify", "--properties", "limits.small-batch", "--json"]) == 0
    out, _ = capfd.readouterr()
    (entry,) = json.loads(out)["properties"]
    assert set(entry) == {"name", "claim", "examples", "narrowest_margin", "outcome", "counterexample"}
    assert (entry["name"], entry["outcome"], entry["counterexample"]) == ("limits.small-batch", "holds", None)
    assert list(tmp_path.iterdir()) == []


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
