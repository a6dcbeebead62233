"""giantsteps solve --certify and --digits: what is printed, refusals and exit codes."""

from __future__ import annotations

import json

import pytest

from giantsteps.reports.command_line.cli import run as giantsteps

MODEL = ["solve", "--activation", "sign", "--target", "sin", "--alpha", "1.5", "--beta", "1", "--ridge", "0.1",
         "--spike", "1", "--bulk", "1", "--alignment", "0.8", "--quiet"]  # fmt: skip


def changed(name: str, value: str) -> list[str]:
    args = list(MODEL)
    args[args.index(name) + 1] = value
    return args


def test_the_certificate_is_in_the_json(capfd: pytest.CaptureFixture[str]) -> None:
    assert giantsteps([*MODEL, "--certify", "--digits", "30", "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    certificate, digits = found["certificate"], found["any_precision"]
    assert certificate["status"] == "certified"
    assert certificate["digits"] >= 20
    assert certificate["only_solution_by"] == "one-solution.T"
    assert 0.0 < certificate["contraction"] < 1.0
    for name in ("V1", "V2"):
        low, high = map(float, certificate["box"][name])
        assert low < float(digits[name]) < high
    # [mid +/- rad]: the first fifteen digits are those of both other computations.
    middle = certificate["test_error"].strip("[]").split(" +/- ")[0]
    assert middle.startswith(digits["test_error"][:17])
    assert float(middle) == pytest.approx(found["test_error"], rel=1e-13)
    assert set(certificate["enclosures"]) >= {"m", "zeta", "psi", "q1", "q2", "training_error"}


def test_people_read_it_too(capfd: pytest.CaptureFixture[str]) -> None:
    assert giantsteps([*MODEL, "--certify"]) == 0
    said = capfd.readouterr().out
    for words in ("the only solution, in the box", "box of V1", "contraction factor", "digits certain", "+/-"):
        assert words in said


def test_no_certificate_is_said_and_is_exit_code_3(capfd: pytest.CaptureFixture[str]) -> None:
    args = changed("--ridge", "0")
    assert giantsteps([*args, "--certify", "--digits", "20"]) == 3
    said = capfd.readouterr().out
    assert "not certified: certificates need a positive ridge" in said
    assert "not reached: digits require ridge > 0" in said
    assert giantsteps([*args, "--certify", "--json"]) == 3
    certificate = json.loads(capfd.readouterr().out)["certificate"]
    assert certificate["status"].startswith("not certified: ")
    assert (certificate["box"], certificate["test_error"], certificate["digits"]) == (None, None, 0)
    assert certificate["only_solution_by"] is None


def test_digits_that_are_not_reached_are_exit_code_3_beside_a_certificate(capfd: pytest.CaptureFixture[str]) -> None:
    # Without a spike the absolute value has no linear part, mu1 = 0: certified, but not to many digits.
    even = changed("--activation", "abs")
    even[even.index("--spike") + 1] = "0"
    assert giantsteps([*even, "--certify", "--digits", "20"]) == 3
    said = capfd.readouterr().out
    assert "not reached: digits require an activation with a part" in said
    assert "digits certain" in said


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([*changed("--alpha", "1,2"), "--certify"], ("--certify", "sweep over alpha", "for example")),
        ([*MODEL, "--loss", "logistic", "--certify"], ("--certify", "--loss logistic", "square")),
        ([*MODEL, "--bias", "learned", "--digits", "50"], ("--digits", "--bias learned")),
        ([*MODEL, "--digits", "5"], ("--digits", "from 16 to 300", "for example --digits 50")),
    ],
)
def test_unusable_input_is_refused_in_one_sentence(
    args: list[str], words: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    assert giantsteps(args) == 2
    said = capfd.readouterr().err
    assert all(word in said for word in words)
    assert len(said.strip().splitlines()) == 1


def test_solution_digits_and_certificate_are_one_table(capfd: pytest.CaptureFixture[str]) -> None:
    assert giantsteps([*changed("--activation", "tanh"), "--certify", "--digits", "20"]) == 0
    names = ("test error, 20 digits", "training error, 20 digits", "status", "box of V1", "certificate")
    lines = [line for line in capfd.readouterr().out.splitlines() if line.startswith(names)]
    assert len(lines) == len(names)
    width = len("training error, 20 digits") + 2  # the widest name and two spaces
    assert all(line[:width].endswith("  ") and line[width] != " " for line in lines)
