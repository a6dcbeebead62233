"""Shell completion: commands, options and what an option takes, asked for in the way that a shell asks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from giantsteps.reports.command_line import completion
from giantsteps.reports.command_line.cli import COMMANDS, cli, named, run
from tests.shared.command_line import in_subprocess


def asked(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: str) -> list[str]:
    """What bash is answered where the cursor is at the end of the words."""
    monkeypatch.setenv(completion.VARIABLE, "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    assert completion.answer(cli) == 0
    out, err = capfd.readouterr()
    assert err == ""
    return [line.partition(",")[2] for line in out.splitlines()]


@pytest.mark.parametrize(
    ("shell", "words", "place"),
    [("bash", None, None), ("bash", "giantsteps so", None), ("zsh", None, "1"), ("bash", "giantsteps so", "x"),
     ("fish", "o", None)],
)  # fmt: skip
def test_half_a_question_is_none(
    monkeypatch: pytest.MonkeyPatch, shell: str, words: str | None, place: str | None
) -> None:
    monkeypatch.setenv(completion.VARIABLE, f"{shell}_complete")
    for name, value in (("COMP_WORDS", words), ("COMP_CWORD", place)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    assert completion.answer(cli) is None


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("giantsteps ", list(COMMANDS)),
        ("giantsteps s", ["solve", "simulate", "spectrum", "sweep"]),
        ("giantsteps --comp", ["--completion"]),
        ("giantsteps --completion z", ["zsh"]),
        ("giantsteps solve --lo", ["--loss"]),
        ("giantsteps solve --loss h", ["hinge", "huber:"]),
        ("giantsteps bounds --bulk-model ", ["network", "isotropic"]),
        ("giantsteps compare --kind e", ["equivalent"]),
        ("giantsteps simulate --inputs s", ["student-t"]),
        ("giantsteps verify --profile t", ["thorough"]),
        ("giantsteps activation tanh --ti", ["--time-limit"]),
        # What plays no part in a spectrum is not offered.
        ("giantsteps spectrum --r", ["--readout", "--rows"]),
        ("giantsteps nothing --f", []),
    ],
)
def test_what_may_follow(
    words: str, expected: list[str], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked(capfd, monkeypatch, words) == expected


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_offered_unless_it_is_hidden(
    name: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {word for p in named(name).params for word in p.opts if not getattr(p, "hidden", False)}  # type: ignore[attr-defined]
    long = {word for word in options if word.startswith("--")}
    assert long
    assert long <= set(asked(capfd, monkeypatch, f"giantsteps {name} --"))


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_the_script_of_a_shell_is_one_that_it_reads(shell: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["--completion", shell]) == 0
    script, _ = capfd.readouterr()
    assert completion.VARIABLE in script
    if program := shutil.which(shell):  # bash is everywhere; the others are read where they are installed
        done = subprocess.run([program, "-n"], input=script, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")


def test_the_program_itself_answers_and_a_shell_that_hangs_up_sees_no_traceback() -> None:
    question = {completion.VARIABLE: "bash_complete", "COMP_WORDS": "giantsteps err", "COMP_CWORD": "1"}
    assert in_subprocess([], **question).stdout == "plain,errata\n"
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing) as gone:
        done = subprocess.run(
            [sys.executable, "-m", "giantsteps"], env=os.environ | question, stdout=gone, stderr=subprocess.PIPE,
            text=True, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (141, "")
