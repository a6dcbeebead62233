"""Other losses and learned biases on the command line: simulate and compare take them, the rest refuses."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from giantsteps import Model, solve
from giantsteps.reports.command_line.cli import run
from giantsteps.reports.commands.solve import solution_rows

MODEL = [
    "--activation", "tanh", "--target", "sign", "--alpha", "1.5", "--beta", "1", "--ridge", "0.1",
    "--spike", "1", "--bulk", "1", "--alignment", "0.8",
]  # fmt: skip
SMALL = ["--dimension", "40", "--seeds", "2"]


@pytest.mark.parametrize("loss", ["logistic", "hinge", "huber:0.5", "absolute"])
def test_simulate_measures_another_loss(loss: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", *MODEL, "--loss", loss, *SMALL, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"test_error", "training_error", "mean_squared_error", "classification_error", "m", "q2"} <= set(found)
    assert 0.0 < found["classification_error"]["mean"] < 0.5
    assert found["provenance"]["parameters"]["loss"] == loss


def test_simulate_learns_a_bias(capsys: pytest.CaptureFixture[str]) -> None:
    model = ["tanh(z - 1)" if word == "sign" else word for word in MODEL]
    assert run(["simulate", *model, "--bias", "learned", *SMALL, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    # Every experiment has its own: with one bias for both there would be no spread.
    assert found["bias"]["standard_error"] > 0.0


CLOSE = [
    "--activation", "tanh", "--target", "relu", "--alpha", "2.14", "--beta", "1.85", "--ridge", "0.0779", "--noise",
    "0.0274", "--spike", "0.727", "--bulk", "0.909", "--alignment", "0.594", "--bias", "learned",
]  # fmt: skip


def test_a_learned_bias_is_learned_at_every_point_of_a_sweep(capsys: pytest.CaptureFixture[str]) -> None:
    model = ["tanh(z - 1)" if word == "sign" else word for word in MODEL]
    ridge = model.index("--ridge") + 1

    def found(ridges: str) -> list[tuple[float, float]]:
        assert run(["solve", *model[:ridge], ridges, *model[ridge + 1 :], "--bias", "learned", "--json"]) == 0
        answer = json.loads(capsys.readouterr().out)
        return [(one["test_error"], one["learned_bias"]) for one in answer.get("results", [answer])]

    swept = found("0.01,3")
    assert swept == [*found("0.01"), *found("3")]
    assert swept[0][1] != swept[1][1]


def test_simulate_says_in_which_minimum_biases_end(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", *CLOSE, "--dimension", "50", "--seeds", "8", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["basins"]
    assert len(found) == 2
    assert found[0]["bias"] < 0.0 < found[1]["bias"]
    assert sum(one["share"] for one in found) == pytest.approx(1.0)
    assert run(["simulate", *CLOSE, "--dimension", "50", "--seeds", "2"]) == 0
    assert "in their basins" in " ".join(capsys.readouterr().out.split())


def test_compare_names_the_basin(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["--dimensions", "50,100", "--seeds", "8"]
    # A right theory is refuted with probability 1e-3.
    assert run(["compare", *CLOSE, *sizes, "--json"]) in (0, 3)
    found = json.loads(capsys.readouterr().out)
    assert "energy_gap" in found["z"]
    basins = found["basins"]
    assert basins["compared"] == pytest.approx(found["theory"]["bias"])
    assert [share["dimension"] for share in basins["shares"]] == [50, 100]
    assert all(0.3 < share["predicted"] < 0.5 for share in basins["shares"])
    assert run(["compare", *CLOSE, *sizes]) in (0, 3)
    text = " ".join(capsys.readouterr().out.split())
    assert "On the whole line" in text
    assert "energy gap" in text


def test_compare_judges_another_loss(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["--dimensions", "50,100,200", "--seeds", "12"]
    # A right theory is refuted with probability 1e-3; few and small samples may leave it undecided.
    assert run(["compare", *MODEL, "--loss", "logistic", *sizes, "--json"]) in (0, 3)
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] in ("CONFIRMED", "INCONCLUSIVE")
    assert set(found["z"]) >= {"test_error", "mean_squared_error", "classification_error", "energy", "m"}
    assert run(["compare", *MODEL, "--bias", "0.3:0.5,-0.3:0.5", *sizes, "--json"]) in (0, 3)
    assert {"m[0]", "m[1]"} <= set(json.loads(capsys.readouterr().out)["z"])


def test_the_spectrum_is_that_of_the_features_whatever_the_loss(capsys: pytest.CaptureFixture[str]) -> None:
    printed = []
    for loss in ("hinge", "square"):
        assert run(["spectrum", *MODEL, "--loss", loss]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]


def test_what_cannot_be_simulated_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    step = [*MODEL[:10], "--alpha0", "2", "--eta", "1", "--kind", "equivalent"]
    for arguments in (
        ["simulate", *step, "--bias", "learned"],
        ["simulate", *[x if x != "0.1" else "0" for x in MODEL], "--loss", "hinge"],
        ["compare", *MODEL, "--loss", "cubic"],
    ):
        assert run([*arguments]) == 2
        assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_numbers_that_are_infinite_are_said_for_people() -> None:
    # Where the ridge is large kinks of the loss are steps along the spike, and estimates are infinite.
    found = solve(Model("tanh", "sign", alpha=1.5, beta=1, ridge=0.1, spike=1, bulk=1, alignment=0.8, loss="hinge"))
    names = ("mean_squared_error", "classification_error", "energy", "parameter_error")
    for name in names:
        ended = replace(found, converged=False, **{name: -math.inf if name == "energy" else math.inf})
        rows = dict(solution_rows(ended, ended.to_dict()))
        assert rows["loss"] == "hinge"
        assert rows[name.replace("_", " ")] == ("-infinite" if name == "energy" else "infinite")
        assert all(rows[other.replace("_", " ")] != "infinite" for other in names if other != name)
