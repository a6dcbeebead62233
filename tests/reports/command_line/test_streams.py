"""Streams that are full, closed or gone: one sentence and exit code 2, whatever the command; never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shared.command_line import ROOT, WORKED
from tests.shared.sweeping import written

# One command of each kind of output: help, a table, a document written at once, one written item by item, a refusal.
SOLVE = ["solve", *WORKED]
COMMANDS = {
    "help": ["--help"],
    "version": ["--version"],
    "help of a command": ["solve", "--help"],
    "table": SOLVE,
    "document": [*SOLVE, "--json"],
    "listing": [*SOLVE, "--alpha", "0.5:2:300", "--json"],
    "claims": ["claims", "result-3-1.spike-strength"],
}
REFUSED = [*SOLVE, "--ridge", "-1"]


def shell(args: list[str], redirection: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command under bash with a redirection, run to its end."""
    return subprocess.run(
        ["bash", "-c", f'"$@" {redirection}', "bash", sys.executable, "-m", "giantsteps", *args],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | environment,
    )


# Each is a process of its own: two of them always, all of them in the thorough profile.
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in ("help", "listing") else pytest.mark.thorough) for name in COMMANDS],
)
def test_a_full_stdout_is_one_sentence(name: str) -> None:
    done = shell(COMMANDS[name], ">/dev/full")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "standard output cannot be written to (No space left on device)" in done.stderr
    assert "for example" in done.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_stdout_is_noticed_with_and_without_a_buffer(unbuffered: str) -> None:
    done = shell(COMMANDS["help"], ">/dev/full", PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == 2
    assert "No space left on device" in done.stderr


def test_a_closed_stdout_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    for args in (COMMANDS["help"], ["sweep", str(written(tmp_path)), "--out", str(tmp_path / "out")]):
        done = shell(args, ">&-")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "standard output is closed" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.thorough
@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_what_cannot_be_said_on_stderr_changes_nothing_else(redirection: str, tmp_path: Path) -> None:
    whole = shell(COMMANDS["document"], "")
    assert whole.returncode == 0
    done = shell(COMMANDS["document"], redirection)
    assert (done.returncode, done.stdout, done.stderr) == (0, whole.stdout, "")
    assert shell(REFUSED, redirection).returncode == 2
    # A file that is opened where stderr was would be written to by every remark.
    done = shell(["sweep", str(written(tmp_path)), "--out", str(tmp_path / redirection[-3:])], redirection)
    assert done.returncode == 0
    assert "12 points, 0 failed" in done.stdout


def test_an_unheard_refusal_is_a_refusal() -> None:
    assert shell(REFUSED, "2>/dev/full").returncode == 2


@pytest.mark.thorough
def test_nothing_is_left_to_say_it_with() -> None:
    for redirection in ("<&- >&- 2>&-", ">/dev/full 2>/dev/full", ">&- 2>/dev/full"):
        done = shell(COMMANDS["table"], redirection)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


def test_a_stream_that_cannot_spell_a_letter_says_which() -> None:
    # Standard output is strict by default, standard error is not.
    said = "print('\\u03b3'); print('\\u03b3', file=sys.stderr)"
    code = f"import sys; from giantsteps.reports.command_line.machine import streams; streams.prepare(); {said}"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "\\u03b3\n", "\\u03b3\n")


@pytest.mark.thorough
def test_an_encoding_without_the_letter_spells_it() -> None:
    done = shell(["claims", "result-3-1.spike-strength"], "", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()


@pytest.mark.thorough
def test_a_stream_that_fills_up_in_the_middle_is_noticed(tmp_path: Path) -> None:
    # Files may grow to 8 blocks of 1,024 bytes: the first writes succeed, one is cut short, the next one fails.
    target, limited = tmp_path / "listing.json", 'trap "" XFSZ; ulimit -f 8; "$@" >"$0"'
    done = subprocess.run(
        ["bash", "-c", limited, str(target), sys.executable, "-m", "giantsteps", *COMMANDS["listing"]],
        cwd=ROOT, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert target.stat().st_size == 8 * 1024
    assert done.returncode == 2
    assert "standard output cannot be written to (File too large)" in done.stderr
