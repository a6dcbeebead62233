"""Command lines for the tests of the command line: the worked model, and what a run of it printed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from giantsteps.reports.command_line.cli import run

ROOT = Path(__file__).resolve().parent.parent.parent

SPIKED = ["--alpha", "1.5", "--beta", "1", "--ridge", "0.1", "--spike", "1", "--bulk", "1", "--alignment", "0.8"]
WORKED = ["--activation", "tanh(z)", "--target", "sin(z)", *SPIKED]
STEPPED = [
    "--activation", "tanh", "--target", "sign", "--alpha", "0.5", "--beta", "1", "--ridge", "0.1", "--alpha0", "2",
    "--eta", "3",
]  # fmt: skip
# Order parameters of the worked model by another program (Gauss-Hermite, 61 x 81 nodes), to the digits that it printed.
PRINTED = {
    "m": 0.99814, "zeta": 0.02181, "psi": 0.36049, "q1": 0.29554, "q2": 0.30936, "V1": 2.19718, "V2": 4.07012
}  # fmt: skip


def outcome(capfd: pytest.CaptureFixture[str], args: Sequence[str]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of one command line, run in this process."""
    capfd.readouterr()
    code = run(args)
    out, err = capfd.readouterr()
    return code, out, err


def document(capfd: pytest.CaptureFixture[str], args: Sequence[str], code: int = 0) -> dict[str, Any]:
    """The JSON document of a command that ends with ``code``: stdout is that document and nothing else."""
    ended, out, err = outcome(capfd, [*args, "--json"])
    assert (ended, err) == (code, "")
    # Strict JSON: NaN and Infinity are not part of it.
    parsed: dict[str, Any] = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} in the JSON"))
    return parsed


def replaced(name: str, value: str, base: Sequence[str] = WORKED) -> list[str]:
    """The base arguments with the value of one option changed (or the option added)."""
    args = list(base)
    if f"--{name}" in args:
        args[args.index(f"--{name}") + 1] = value
        return args
    return [*args, f"--{name}", value]


def in_subprocess(args: Sequence[str], **environment: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, as a script would run it."""
    return subprocess.run(
        [sys.executable, "-m", "giantsteps", *args],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | environment,
    )


# A refusal takes a few hundred calls, and up to 35,000 where it is the first to load a library; a second of Python has
# millions of them.
MOST_CALLS = 500_000


class Calls:
    """How many functions were called."""

    count = 0


@contextmanager
def counted_calls() -> Iterator[Calls]:
    """Count the calls of Python functions in the block: unlike seconds they do not depend on what else is running."""
    calls, before = Calls(), sys.getprofile()

    def profile(frame: object, event: str, argument: object) -> None:
        if event == "call":
            calls.count += 1

    sys.setprofile(profile)
    try:
        yield calls
    finally:
        sys.setprofile(before)


def refused(capfd: pytest.CaptureFixture[str], args: Sequence[str], *words: str) -> str:
    """The one sentence with which a command line is refused: exit code 2, nothing on stdout, after little work."""
    with counted_calls() as calls:
        code, out, err = outcome(capfd, args)
    assert calls.count < MOST_CALLS
    assert (code, out) == (2, ""), err
    assert err.startswith("giantsteps: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert len(err) < 700
    for word in words:
        assert word in err, err
    return err
