"""Other losses and learned biases on the command line: simulate and compare take them, the rest refuses."""

from __future__ import annotations

import json

import pytest

from reports.cli import run

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


def test_compare_judges_another_loss(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["--dimensions", "50,100,200", "--seeds", "12"]
    # A right theory is refuted with probability 1e-3; few and small samples may leave it undecided.
    assert run(["compare", *MODEL, "--loss", "logistic", *sizes, "--json"]) in (0, 3)
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] in ("CONFIRMED", "INCONCLUSIVE")
    assert set(found["z"]) >= {"test_error", "mean_squared_error", "classification_error", "energy", "m"}
    assert run(["compare", *MODEL, "--bias", "0.3:0.5,-0.3:0.5", *sizes, "--json"]) in (0, 3)
    assert {"m[0]", "m[1]"} <= set(json.loads(capsys.readouterr().out)["z"])


@pytest.mark.parametrize("command", ["bounds", "spectrum"])
def test_commands_of_the_square_loss_say_so(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, *MODEL, "--loss", "hinge"]) == 2
    error = capsys.readouterr().err
    assert "onestep solve, simulate and compare take it" in error
    assert len(error.strip().splitlines()) == 1


def test_what_cannot_be_simulated_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    step = [*MODEL[:10], "--alpha0", "2", "--eta", "1", "--kind", "network"]
    for arguments in (
        ["simulate", *step, "--bias", "learned"],
        ["simulate", *[x if x != "0.1" else "0" for x in MODEL], "--loss", "hinge"],
        ["compare", *MODEL, "--loss", "cubic"],
    ):
        assert run([*arguments]) == 2
        assert len(capsys.readouterr().err.strip().splitlines()) == 1
