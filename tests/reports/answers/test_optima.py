"""What `giantsteps bounds` prints of optima: certain digits, and what is certified, flat, at an end or estimated."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from giantsteps.numerics.bounds import ridge
from giantsteps.numerics.certificates.minima import certified_minima
from giantsteps.numerics.models.model import ReadoutGroup
from giantsteps.reports.answers.optima import bound_lines, optimum_lines
from giantsteps.reports.command_line.cli import run
from giantsteps.reports.command_line.problems import DONE, InputProblem

CERTIFIED: dict[str, Any] = {
    "eta": 2.0, "bound": 0.5, "certified": True, "bracket": [1.9999999999999, 2.0000000000001],
    "monotone": {"falls_from": 0.123456789, "rises_to": 7.87654321}, "least_on": [0.1, 8.765432198],
    "one_minimum": True, "at_end": False, "varies_by_less_than": None, "tried": [0.1, 9.0], "status": "certified",
}  # fmt: skip
ESTIMATED = CERTIFIED | {
    "certified": False, "bracket": None, "monotone": None, "least_on": None, "one_minimum": None, "at_end": None,
    "status": "estimated: no",
}  # fmt: skip


def test_what_is_printed_stays_certain() -> None:
    best = {
        "eta": 1.0, "test_error": 0.25, "certified": True, "bracket": [0.99912345678912, 1.1],
        "estimated_bracket": None, "upper_bound": CERTIFIED, "lower_bound": ESTIMATED,
    }  # fmt: skip
    assert optimum_lines(best) == [
        "least test error 0.25 at eta = 1: certified local minimum in [0.9991234567, 1.100000001]",
        "least upper bound 0.5 at eta = 2: certified local minimum in [1.999999999, 2.000000001]; "
        "decreasing on [0.123457, 1.99999], increasing on [2.00001, 7.87654]; least on [0.100001, 8.76543]",
        "least lower bound 0.5 at eta = 2: estimated: no (scanned and refined on [0.1, 9])",
    ]


def test_estimates_say_what_they_rest_on() -> None:
    best = {
        "eta": 1.0, "test_error": 0.25, "certified": False, "bracket": None, "status": "estimated: so",
        "estimated_bracket": [0.5, 2.0], "upper_bound": ESTIMATED, "lower_bound": ESTIMATED,
    }  # fmt: skip
    assert optimum_lines(best)[0] == (
        "least test error 0.25 at eta = 1: estimated: so; by the error estimates a local minimum in [0.5, 2]"
    )


def test_ends_and_flat_bounds_are_said() -> None:
    end = CERTIFIED | {
        "spike": 9.0, "bracket": [9.0, 9.0], "at_end": True, "monotone": {"falls_from": 1.0, "rises_to": 9.0},
        "least_on": [0.5, 9.0],
    }  # fmt: skip
    flat = ESTIMATED | {
        "spike": 0.5, "varies_by_less_than": 1e-20,
        "status": "flat: the bound varies by less than 1.0e-20 on the whole interval",
    }  # fmt: skip
    assert bound_lines({"upper_bound": end, "lower_bound": flat}, "spike") == [
        "least upper bound 0.5 at spike = 9: certified decreasing on [1, 9], least on [0.5, 9]: at the end "
        "of what was scanned",
        "least lower bound 0.5 at any spike: certified flat: the bound varies by less than 1.0e-20 on the whole "
        "interval [0.1, 9]",
    ]
    wide = CERTIFIED | {"one_minimum": False}
    assert (
        "certified minimum, perhaps not the only one (too flat to tell) in ["
        in bound_lines({"upper_bound": wide, "lower_bound": wide}, "eta")[1]
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--spike", "1", "--bulk", "1", "--alignment", "1", "--optimise-eta"], "it needs the gradient step"),
        (["--alpha0", "8", "--eta", "1", "--optimise-spike"], "--optimise-spike was given with --alpha0 and --eta"),
        (["--alpha0", "8", "--eta", "1", "--bias", "learned", "--optimise-eta"], "quenched biases"),
    ],
)
def test_what_does_not_go_together_is_refused(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    functions, ratios = ["--activation", "erf", "--target", "erf"], ["--alpha", "2", "--beta", "1", "--ridge", "0.1"]
    assert run(["bounds", *functions, *ratios, *arguments]) == 2
    assert sentence in capsys.readouterr().err


def test_every_search_for_a_rate_is_of_the_model_that_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    noise, groups = 0.5, "1:0.5,-1:0.25,2:0.25"
    words = ["--activation", "tanh", "--target", "sin", "--alpha", "2", "--beta", "1.5", "--ridge", "0.3"]
    step = ["--alpha0", "3", "--eta", "1", "--noise", str(noise), "--readout", groups, "--optimise-eta"]
    own = ["--bulk-model", "network", "--rows", "gaussian"]
    asked: dict[str, dict[str, Any]] = {}

    def least(*functions: Any, **given: Any) -> Any:
        asked["error"] = given
        return SimpleNamespace(eta=1.0, minima=(), to_dict=dict)

    def bounded(*functions: Any, **given: Any) -> Any:
        asked["bounds"] = given
        raise InputProblem("all that was to be seen has been")

    monkeypatch.setattr(ridge, "best_eta", least)
    monkeypatch.setattr(certified_minima, "best_bounds_rate", bounded)
    assert run(["bounds", *words, *step, *own]) == 2
    weights = tuple(ReadoutGroup(weight, share) for weight, share in ((1.0, 0.5), (-1.0, 0.25), (2.0, 0.25)))
    shared = {"alpha0": 3.0, "beta": 1.5, "noise": noise, "bulk_model": "network", "gaussian_rows": True}
    assert asked["bounds"] == {**shared, "groups": weights}
    assert asked["error"] == {**shared, "alpha": 2.0, "ridge": 0.3, "readout": weights}


@pytest.mark.thorough
@pytest.mark.parametrize("readout", [[], ["--readout", "1:0.5,0.5:0.5"], ["--bias", "0.3:0.5,-0.3:0.5"]])
def test_the_command_says_what_is_certified(readout: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    functions, ratios = ["--activation", "erf", "--target", "erf"], ["--alpha", "2", "--beta", "1", "--ridge", "0.1"]
    step = ["--alpha0", "8", "--eta", "1", "--optimise-eta", "--json"]
    assert run(["bounds", *functions, *ratios, *readout, *step]) == DONE
    best = json.loads(capsys.readouterr().out)["best_eta"]
    # The test error is certified for one group only.
    assert best["certified"] is (not readout)
    bracket = best["estimated_bracket"] if readout else best["bracket"]
    assert bracket[0] < best["eta"] < bracket[1]
    for name in ("upper_bound", "lower_bound"):
        bound = best[name]
        assert bound["certified"] is True
        assert bound["monotone"]["falls_from"] < bound["bracket"][0] <= bound["bracket"][1]
        assert bound["bracket"][1] < bound["monotone"]["rises_to"]
        assert abs(bound["eta"] - bound["bracket"][0]) < 1e-5
    lines = optimum_lines(best)
    assert len(lines) == 3
    assert all("decreasing on [" in line and "; least on [" in line for line in lines[1:])


@pytest.mark.thorough
def test_the_command_optimises_the_spike(capsys: pytest.CaptureFixture[str]) -> None:
    functions, ratios = ["--activation", "erf", "--target", "erf"], ["--alpha", "2", "--beta", "1", "--ridge", "0.1"]
    spiked = ["--spike", "1", "--bulk", "1", "--alignment", "1", "--optimise-spike"]
    assert run(["bounds", *functions, *ratios, *spiked, "--json"]) == DONE
    best = json.loads(capsys.readouterr().out)["best_spike"]
    for name in ("upper_bound", "lower_bound"):
        assert best[name]["bracket"][0] <= 3.0**0.5 <= best[name]["bracket"][1]
