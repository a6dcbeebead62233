"""giantsteps solve --certify with a range LOW:HIGH: what is printed, refusals and exit codes."""

from __future__ import annotations

import json

import pytest

from giantsteps.reports.command_line.cli import run as giantsteps

FIXED = ["solve", "--activation", "sign", "--target", "sin", "--beta", "1", "--spike", "1", "--bulk", "1",
         "--alignment", "0.8", "--quiet", "--certify"]  # fmt: skip


def test_the_branch_is_in_the_json(capfd: pytest.CaptureFixture[str]) -> None:
    assert giantsteps([*FIXED, "--ridge", "0.1", "--alpha", "1.5:1.52", "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert (found["parameter"], found["certified_fraction"]) == ("alpha", 1.0)
    assert found["only_solution_by"] == "one-solution.T"
    assert found["provenance"]["parameters"]["alpha"] == [1.5, 1.52]
    pieces = found["branch"]
    assert (pieces[0]["interval"][0], pieces[-1]["interval"][1]) == (1.5, 1.52)
    for piece in pieces:
        assert piece["test_error"].startswith("[0.20")
        assert "+/-" in piece["test_error"]
        assert set(piece["box"]) == {"V1", "V2"}


def test_people_read_it_too(capfd: pytest.CaptureFixture[str]) -> None:
    assert giantsteps([*FIXED, "--alpha", "1.5", "--ridge", "0.1:0.101"]) == 0
    said = capfd.readouterr().out
    for words in ("ridge from", "+/-", "certified 1 of the range", "(by one-solution.T)"):
        assert words in said


def test_an_uncertain_piece_is_exit_code_3(capfd: pytest.CaptureFixture[str]) -> None:
    assert giantsteps([*FIXED, "--alpha", "1.5", "--ridge", "0:0.1", "--json"]) == 3
    found = json.loads(capfd.readouterr().out)
    assert (found["certified_fraction"], found["only_solution_by"]) == (0.0, None)
    assert found["branch"][0]["test_error"] is None
    assert "positive ridge" in found["branch"][0]["status"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--alpha", "2:1", "--ridge", "0.1"], "LOW < HIGH"),
        (["--alpha", "1:2", "--ridge", "0.1:0.2"], "it takes one"),
        (["--alpha", "1:2", "--ridge", "0.1", "--digits", "20"], "it takes one point"),
        (["--alpha", "-1:2", "--ridge", "0.1"], "alpha has to be a number > 0"),
        (["--alpha", "1:2", "--ridge", "0.1,0.2"], "takes one point"),
        (["--alpha", "1:2", "--ridge", "0.1", "--loss", "logistic"], "takes the square loss"),
        (["--alpha", "1:2", "--ridge", "0.1", "--time-limit", "0"], "a number of seconds > 0"),
    ],
)
def test_what_is_no_range_is_said(more: list[str], words: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert giantsteps([*FIXED, *more]) == 2
    assert words in capfd.readouterr().err


def test_a_limit_of_time_leaves_the_rest_uncertain(capfd: pytest.CaptureFixture[str]) -> None:
    # The first interval is tried or not, by how fast the clock ticks; the second is not.
    assert giantsteps([*FIXED, "--ridge", "0.1", "--alpha", "0.5:2", "--time-limit", "1e-9", "--json"]) == 3
    found = json.loads(capfd.readouterr().out)
    assert found["certified_fraction"] == 0.0
    assert all("budget" in piece["status"] for piece in found["branch"])


def test_without_a_certificate_a_range_is_a_sweep_without_its_count(capfd: pytest.CaptureFixture[str]) -> None:
    plain = [part for part in FIXED if part != "--certify"]
    assert giantsteps([*plain, "--alpha", "1:2", "--ridge", "0.1"]) == 2
    assert "START:STOP:COUNT" in capfd.readouterr().err
