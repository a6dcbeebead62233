"""Shell completion: commands, options and what an option takes, asked for in the way that a shell asks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from giantsteps.reports.command_line import completion
from giantsteps.reports.command_line.cli import COMMANDS, cli, run
from giantsteps.reports.command_line.problems import BROKEN_PIPE


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
    [
        ("bash", None, None),
        ("bash", "giantsteps so", None),
        ("zsh", None, "1"),
        ("bash", "giantsteps so", "x"),
        ("fish", "o", None),
    ],
)
def test_half_a_question_is_none(
    monkeypatch: pytest.MonkeyPatch, shell: str, words: str | None, place: str | None
) -> None:
    monkeypatch.setenv(completion.VARIABLE, f"{shell}_complete")
    for name, value in (("COMP_WORDS", words), ("COMP_CWORD", place)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    assert completion.answer(cli) is None


def test_a_shell_that_hangs_up_sees_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = os.environ | {completion.VARIABLE: "zsh_complete", "COMP_WORDS": "giantsteps so", "COMP_CWORD": "1"}
    reading, writing = os.pipe()
    os.close(reading)
    try:
        asked = subprocess.run(
            [sys.executable, "-m", "giantsteps"],
            env=environment,
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(writing)
    assert asked.stderr == ""
    assert asked.returncode == BROKEN_PIPE


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


def test_every_option_of_every_command_is_offered_unless_it_is_hidden(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in COMMANDS:
        options = {word for p in cli.named(name).params for word in p.opts if not getattr(p, "hidden", False)}  # type: ignore[attr-defined]
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


def test_the_program_itself_answers() -> None:
    environment = {completion.VARIABLE: "bash_complete", "COMP_WORDS": "giantsteps err", "COMP_CWORD": "1", "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-m", "giantsteps"], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "plain,errata\n"


def test_another_shell_gets_a_sentence(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["--completion", "tcsh"]) == 2
    assert "accepted are bash, zsh, fish" in capfd.readouterr().err
